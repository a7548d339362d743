//! All orders, one run for each: to check cleverer ways against, and for programs that are small enough.

use super::{
    bounds::interrupts,
    execution::{Ending, Execution, Turn},
    findings::Findings,
    journal::{Beginning, Journal, is_own, left_behind},
    path,
    policy::{Learned, Policy, Trial},
    states::Key,
    visited::{Revisit, Visit},
};

/// A place of the run as it stands.
struct Node {
    default: u32,
    current: Turn,
    variants: u32,
    todo: Vec<u32>,
    preemptions: u32,
    /// The state, if all that follows from it will have been seen.
    key: Option<Key>,
    /// Turns were put off, here or in what follows.
    put_off: bool,
}

/// The search.
pub(super) struct Brute {
    journal: Journal,
    nodes: Vec<Node>,
    started: bool,
    bound: Option<u32>,
    put_off: u64,
}

impl Brute {
    /// A search with at most so many preemptions, going on with what a journal has counted.
    pub(super) fn new(mut journal: Journal, bound: Option<u32>) -> Self {
        journal.truncate(0);
        Brute {
            journal,
            nodes: Vec::new(),
            started: false,
            bound,
            put_off: 0,
        }
    }

    fn cost(&self, place: usize, thread: u32) -> u32 {
        let before = place
            .checked_sub(1)
            .map(|place| self.nodes[place].current.thread);
        u32::from(interrupts(before, self.nodes[place].default, thread))
    }

    fn choose(&mut self) -> Option<Turn> {
        let place = self.nodes.len() - 1;
        let node = &mut self.nodes[place];
        if node.current.variant + 1 < node.variants {
            node.current.variant += 1;
            return Some(node.current);
        }
        while let Some(thread) = self.nodes[place].todo.pop() {
            let cost = self.cost(place, thread);
            let node = &mut self.nodes[place];
            if self
                .bound
                .is_some_and(|bound| node.preemptions + cost > bound)
            {
                self.put_off += 1;
                node.put_off = true;
                continue;
            }
            node.current = Turn { thread, variant: 0 };
            node.variants = 1;
            return Some(node.current);
        }
        None
    }

    /// How the state of the run as it stands is come to.
    fn visit(&self, place: usize) -> Visit {
        let before = place.checked_sub(1).map(|place| &self.nodes[place]);
        let preemptions = self.preemptions(place);
        Visit {
            sleep: Vec::new(),
            spare: self.bound.map(|bound| bound.saturating_sub(preemptions)),
            before: before.map(|before| before.current.thread),
        }
    }

    /// How many preemptions there are before a place.
    fn preemptions(&self, place: usize) -> u32 {
        place.checked_sub(1).map_or(0, |place| {
            let before = &self.nodes[place];
            before.preemptions + self.cost(place, before.current.thread)
        })
    }

    /// Leaves the last node, all that follows from it was seen.
    fn leave(&mut self) {
        let place = self.nodes.len() - 1;
        let visit = self.visit(place);
        let Some(node) = self.nodes.pop() else {
            return;
        };
        if let Some(parent) = self.nodes.last_mut() {
            parent.put_off |= node.put_off;
        }
        if let (Some(key), Some(visited)) = (node.key, &mut self.journal.visited) {
            visited.leave(key, visit, node.put_off, Vec::new());
        }
    }

    /// The run has come to a state that is known.
    fn revisit(&mut self, execution: &Execution, place: usize, revisit: &Revisit) -> Learned {
        if revisit.put_off {
            self.put_off += 1;
            if let Some(node) = self.nodes.last_mut() {
                node.put_off = true;
            }
        }
        let rest = &execution.transitions[place..];
        match self.journal.end(rest, execution, revisit.whole) {
            true => Learned::Revisit,
            false => Learned::Hidden,
        }
    }

    /// Not all that follows from the present nodes can be seen.
    fn give_up_states(&mut self) {
        for node in &mut self.nodes {
            node.key = None;
        }
    }
}

impl Policy for Brute {
    fn next(&mut self) -> Option<Trial> {
        if !self.started {
            self.started = true;
            return Some(Trial::default());
        }
        while !self.nodes.is_empty() {
            let place = self.nodes.len() - 1;
            if let Some(turn) = self.choose() {
                self.journal.truncate(place);
                let mut turns = self.journal.path.turns(place);
                turns.push(turn);
                return Some(Trial {
                    turns,
                    repeated: place,
                    last: 0,
                });
            }
            self.leave();
        }
        None
    }

    fn learn(&mut self, execution: Execution, findings: &mut Findings) -> Learned {
        let begin = self.journal.path.len();
        if let Ending::Refused(at) = execution.ending {
            if at == begin && !self.nodes.is_empty() {
                return Learned::Refused;
            }
            self.give_up_states();
            return Learned::Different;
        }
        let strays = self.nodes.last().is_some_and(|node| {
            execution
                .transitions
                .get(begin)
                .is_none_or(|came| path::turn(came) != node.current)
        });
        let beginning = match strays {
            true => Beginning::Different,
            false => self.journal.begin(&execution.transitions),
        };
        if !matches!(beginning, Beginning::Same) {
            self.give_up_states();
        }
        if matches!(beginning, Beginning::Different) {
            return Learned::Different;
        }
        // Who is still there behind each place, the last place first.
        let mut later: Vec<u32> = Vec::new();
        for pending in &execution.pending {
            later.push(pending.thread);
        }
        let mut there = Vec::new();
        for transition in execution.transitions[begin..].iter().rev() {
            if !later.contains(&transition.thread) {
                later.push(transition.thread);
            }
            there.push(later.clone());
        }
        for (place, transition) in execution.transitions.iter().enumerate().skip(begin) {
            let threads = there.pop().unwrap_or_default();
            let turn = path::turn(transition);
            if self.nodes.len() == place {
                let visit = self.visit(place);
                if let Some(revisit) = self.journal.find(&visit) {
                    return self.revisit(&execution, place, &revisit);
                }
                let preemptions = self.preemptions(place);
                let key = Some(self.journal.key());
                self.nodes.push(Node {
                    default: turn.thread,
                    current: turn,
                    variants: transition.variants,
                    todo: threads
                        .into_iter()
                        .filter(|&thread| thread != turn.thread)
                        .collect(),
                    preemptions,
                    key,
                    put_off: false,
                });
            } else {
                self.nodes[place].variants = transition.variants;
            }
            let (arrival, _) = self.journal.step(transition, findings);
            self.journal.enter(transition.clone(), &arrival);
        }
        for pending in left_behind(
            &execution,
            self.nodes.last().map(|node| node.current.thread),
        ) {
            if let Some(deed) = pending.deed {
                self.journal.look(pending.thread, &[deed], findings);
            }
        }
        if !is_own(&execution.ending) {
            self.give_up_states();
        }
        match self.journal.end(&[], &execution, false) {
            true => Learned::Run,
            false => Learned::Hidden,
        }
    }

    fn put_off(&self) -> u64 {
        self.put_off
    }

    fn journal(&self) -> &Journal {
        &self.journal
    }

    fn into_journal(self: Box<Self>) -> Journal {
        self.journal
    }

    fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>() + self.journal.bytes()
    }
}
