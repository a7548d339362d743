//! What is still to be run from one place: a tree of turns, each branch of which shows a race the other way round.
//!
//! The *wakeup trees* of Abdulla, Aronis, Jonsson and Sagonas (POPL 2014). A [`Row`] is what their paper calls `v`: all that follows the earlier transition of
//! a race and does not happen after it, then the later one. A row that differs from a branch only in the order of transitions that have
//! nothing to do with each other is not put in again.

use std::rc::Rc;

use super::{
    clocks::Clock,
    dependence::dependent,
    execution::{Deed, Turn},
    path::{Arrival, Path, turn},
};

/// A thread, and what it would do. If that is not known, it may be anything.
#[derive(Clone)]
pub(super) struct Would {
    pub(super) thread: u32,
    pub(super) deeds: Option<Rc<[Deed]>>,
}

impl Would {
    /// Whether it has nothing to do with what another thread does.
    pub(super) fn is_apart(&self, thread: u32, deeds: &[Deed]) -> bool {
        self.thread != thread
            && self
                .deeds
                .as_ref()
                .is_some_and(|own| !dependent((self.thread, own), (thread, deeds)))
    }
}

/// A turn that is to be given, and what then.
#[derive(Clone)]
pub(super) struct Branch {
    pub(super) turn: Turn,
    pub(super) would: Would,
    pub(super) children: Vec<Branch>,
}

impl Branch {
    /// A thread is given the turn once, whatever it does.
    pub(super) fn alone(thread: u32) -> Branch {
        Branch {
            turn: Turn { thread, variant: 0 },
            would: Would {
                thread,
                deeds: None,
            },
            children: Vec::new(),
        }
    }

    /// The turns down to the first leaf.
    pub(super) fn first_row(&self) -> Vec<&Branch> {
        let mut row = vec![self];
        while let Some(next) = row.last().and_then(|last| last.children.first()) {
            row.push(next);
        }
        row
    }

    /// Leaves only so many turns of the first row.
    pub(super) fn cut_off(&mut self, len: usize) {
        let mut branch = self;
        for _ in 1..len {
            if branch.children.is_empty() {
                return;
            }
            branch = &mut branch.children[0];
        }
        branch.children.clear();
    }

    /// How many bytes it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        let deeds = self.would.deeds.as_ref().map_or(0, |deeds| deeds.len());
        size_of::<Branch>()
            + deeds * size_of::<Deed>()
            + self.children.iter().map(Branch::bytes).sum::<usize>()
    }
}

/// How many turns of a row are kept. What comes behind them is found again from there, at worst in more runs than it takes.
const LONGEST_ROW: usize = 256;

/// What shows a race the other way round.
pub(super) struct Row<'a> {
    path: &'a Path,
    /// What stands in it of the run as it stands.
    places: Vec<usize>,
    /// Which of those are still in it; before `begin` there are none.
    there: Vec<bool>,
    begin: usize,
    /// The thread of the later transition, which comes last, and what it does.
    thread: u32,
    deeds: &'a [Deed],
    /// What the later transition knows of the row.
    known: Clock,
    last_is_there: bool,
    /// More may follow that is not known: who does not stand in the row may not go before it.
    open: bool,
}

impl<'a> Row<'a> {
    /// The row for a race of the transition at `event` with one that has this arrival.
    pub(super) fn new(
        path: &'a Path,
        event: usize,
        thread: u32,
        deeds: &'a [Deed],
        arrival: &Arrival,
        open: bool,
    ) -> Self {
        let places: Vec<usize> = (event + 1..path.len())
            .filter(|&place| !path.happens_before(event, place))
            .collect();
        let mut known = arrival.base.clone();
        for one in &arrival.predecessors {
            if one.event > event && !path.happens_before(event, one.event) {
                known.join(&path.event(one.event).clock);
            }
        }
        Row {
            path,
            there: vec![true; places.len()],
            begin: 0,
            places,
            thread,
            deeds,
            known,
            last_is_there: true,
            open,
        }
    }

    /// The row for a race of the transition at `event` with one that is still to come, as far as it is known: what stands in the
    /// run. There may be nothing.
    pub(super) fn open(path: &'a Path, event: usize) -> Option<Self> {
        let places: Vec<usize> = (event + 1..path.len())
            .filter(|&place| !path.happens_before(event, place))
            .collect();
        (!places.is_empty()).then(|| Row {
            path,
            there: vec![true; places.len()],
            begin: 0,
            places,
            thread: u32::MAX,
            deeds: &[],
            known: Clock::default(),
            last_is_there: false,
            open: true,
        })
    }

    fn rest(&self) -> impl Iterator<Item = usize> + Clone {
        (self.begin..self.places.len())
            .filter(|&number| self.there[number])
            .map(|number| self.places[number])
    }

    /// Takes the thread's first transition out, if the row can begin with it. Says whether it may go before the row: because of that, or because it
    /// has nothing to do with it.
    fn lead(&mut self, would: &Would) -> bool {
        let own = (self.begin..self.places.len()).find(|&number| {
            self.there[number]
                && self.path.event(self.places[number]).transition.thread == would.thread
        });
        if let Some(number) = own {
            let clock = &self.path.event(self.places[number]).clock;
            let first = !self
                .rest()
                .take_while(|&place| place < self.places[number])
                .any(|place| clock.knows(self.path.event(place).slot, place));
            if first {
                self.there[number] = false;
                while self.there.get(self.begin) == Some(&false) {
                    self.begin += 1;
                }
            }
            return first;
        }
        if would.thread == self.thread && self.last_is_there {
            let first = !self
                .rest()
                .any(|place| self.known.knows(self.path.event(place).slot, place));
            if first {
                self.last_is_there = false;
            }
            return first;
        }
        !self.open
            && self.rest().all(|place| {
                let other = &self.path.event(place).transition;
                would.is_apart(other.thread, &other.deeds)
            })
            && (!self.last_is_there || would.is_apart(self.thread, self.deeds))
    }

    /// Whether one of these may go before the row, and so has been seen before it.
    pub(super) fn is_led_by<'b>(&mut self, all: impl IntoIterator<Item = &'b Would>) -> bool {
        all.into_iter().any(|would| self.lead(would))
    }

    /// Puts the row into a tree, unless it is there.
    pub(super) fn put_into(mut self, mut branches: &mut Vec<Branch>) {
        loop {
            let matching = (0..branches.len()).find(|&number| self.lead(&branches[number].would));
            match matching {
                Some(number) if branches[number].children.is_empty() => return,
                Some(number) => branches = &mut branches[number].children,
                None => break,
            }
        }
        let mut chain: Vec<(Turn, Would)> = self
            .rest()
            .take(LONGEST_ROW)
            .map(|place| {
                let one = &self.path.event(place).transition;
                let would = Would {
                    thread: one.thread,
                    deeds: Some(one.deeds[..].into()),
                };
                (turn(one), would)
            })
            .collect();
        if self.last_is_there && chain.len() < LONGEST_ROW {
            let (thread, variant) = (self.thread, 0);
            let deeds = Some(self.deeds.into());
            chain.push((Turn { thread, variant }, Would { thread, deeds }));
        }
        let mut branch: Option<Branch> = None;
        for (turn, would) in chain.into_iter().rev() {
            branch = Some(Branch {
                turn,
                would,
                children: branch.into_iter().collect(),
            });
        }
        branches.extend(branch);
    }
}
