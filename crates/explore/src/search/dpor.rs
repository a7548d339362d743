//! Dynamic partial-order reduction: of all orders that nobody can tell apart, one is run.
//!
//! Follows the *source sets* of Abdulla, Aronis, Jonsson and Sagonas (POPL 2014), with sleep sets (Godefroid 1996). Each place of the run as it stands is a
//! [`Node`]: which threads are to be given the turn there, which have been, and which need not be because what they would do was seen
//! already in another order. Deviations: the program runs on by itself, so a run is judged when it is over, and threads that sleep are only asked
//! to go last ([`super::Manner::last`]); a thread that cannot go on where a race wants it to is answered with all other
//! threads (Flanagan and Godefroid, POPL 2005); whoever was about to do something when the program ended races with its end, and
//! not the other way round, since ending earlier shows nothing that ending later does not show.

use std::rc::Rc;

use deadheat_trace::Op;
use rustc_hash::FxHashSet;

use super::{
    bounds::interrupts,
    dependence::dependent,
    execution::{Deed, Ending, Execution, Transition, Turn},
    findings::Findings,
    journal::{Beginning, Journal, could_go_on, ended_all, left_behind},
    path::Arrival,
    policy::{Learned, Policy, Trial},
    races::{self, Race},
};

/// A thread, and what it would do.
type Sleeper = (u32, Rc<[Deed]>);

/// The turns that show a race the other way round. The first of them is needed, the others make it sure that it is soon seen.
type Row = Vec<Turn>;

/// The thread that has the turn.
#[derive(Clone, Copy)]
struct Current {
    turn: Turn,
    variants: u32,
    /// How many of the variants are still to be tried, if it is known how many there are.
    left: Option<u32>,
    /// Its transition ended the program.
    ends: bool,
}

/// A place of the run as it stands.
struct Node {
    /// Who was given the turn first, by the program's own rule.
    default: u32,
    current: Option<Current>,
    /// All threads that were ever to be given the turn.
    wanted: Vec<u32>,
    /// Those of them that are still to be given it.
    todo: Vec<Row>,
    /// Threads of whom one is to be given the turn, if one can take it.
    owed: Vec<u32>,
    sleep: Vec<Sleeper>,
    done: Vec<Sleeper>,
    /// All threads were wanted already because one could not go on.
    desperate: bool,
    /// How many preemptions there are before it.
    preemptions: u32,
}

impl Node {
    fn sleeps(&self, thread: u32) -> bool {
        self.sleep.iter().any(|(sleeper, _)| *sleeper == thread)
    }

    /// One of these threads is to be given the turn, unless one of them was already, or need not be.
    fn want(&mut self, threads: &[u32], row: impl FnOnce(u32) -> Row) {
        let covered = |thread: &u32| self.wanted.contains(thread) || self.sleeps(*thread);
        if let Some(&first) = threads.first()
            && !threads.iter().any(covered)
        {
            self.wanted.push(first);
            self.todo.push(row(first));
        }
    }
}

/// A row of one thread that is given the turn once.
fn alone(thread: u32) -> Row {
    vec![Turn { thread, variant: 0 }]
}

/// The search.
pub(super) struct Dpor {
    journal: Journal,
    nodes: Vec<Node>,
    started: bool,
    bound: Option<u32>,
    put_off: u64,
    /// Who was asked to go last in this run.
    last: u64,
    /// Not all who sleep could be asked.
    unasked: bool,
    /// The turns that are new in this run.
    row: Row,
    threads: FxHashSet<u32>,
}

impl Dpor {
    /// A search with at most so many preemptions, going on with what a journal has counted.
    pub(super) fn new(mut journal: Journal, bound: Option<u32>) -> Self {
        journal.truncate(0);
        Dpor {
            journal,
            nodes: Vec::new(),
            started: false,
            bound,
            put_off: 0,
            last: 0,
            unasked: false,
            row: Row::new(),
            threads: FxHashSet::default(),
        }
    }

    /// The next turn at the last node.
    fn choose(&mut self) -> Option<Row> {
        let place = self.nodes.len() - 1;
        let before = place
            .checked_sub(1)
            .map(|place| self.journal.path.event(place).transition.thread);
        let node = &mut self.nodes[place];
        if let Some(current) = &mut node.current {
            if let Some(left) = current.left.filter(|left| *left > 0) {
                current.left = Some(left - 1);
                current.turn.variant = (current.turn.variant + 1) % current.variants;
                return Some(vec![current.turn]);
            }
            if !current.ends {
                let deeds = &self.journal.path.event(place).transition.deeds;
                node.done.push((current.turn.thread, deeds[..].into()));
            }
            node.current = None;
        }
        while let Some(mut row) = node.todo.pop().or_else(|| node.owed.pop().map(alone)) {
            let Some(&turn) = row.first() else {
                continue;
            };
            let thread = turn.thread;
            if node.sleeps(thread) {
                continue;
            }
            let cost = u32::from(interrupts(before, node.default, thread));
            if self
                .bound
                .is_some_and(|bound| node.preemptions + cost > bound)
            {
                self.put_off += 1;
                continue;
            }
            node.current = Some(Current {
                turn,
                variants: 1,
                left: None,
                ends: false,
            });
            if self.bound.is_some() {
                row.truncate(1);
            }
            return Some(row);
        }
        None
    }

    /// Asks those to go last who will probably sleep behind these turns.
    fn ask(&mut self, place: usize, row: &[Turn]) {
        let path = &self.journal.path;
        let node = &self.nodes[place];
        let mut sleep: Vec<&Sleeper> = node.sleep.iter().chain(&node.done).collect();
        // Whoever is in the row will probably do there what it did behind this place before.
        for (number, turn) in row.iter().enumerate() {
            let own = |other: &&Turn| other.thread == turn.thread;
            let earlier = row[..number].iter().filter(own).count();
            let expected = (place..path.len())
                .map(|place| &path.event(place).transition)
                .filter(|transition| transition.thread == turn.thread)
                .nth(earlier);
            if let Some(Transition { deeds, .. }) = expected {
                sleep.retain(|(thread, would)| {
                    *thread != turn.thread && !dependent((turn.thread, deeds), (*thread, would))
                });
            }
        }
        self.last = 0;
        self.unasked = false;
        for (thread, _) in sleep {
            if *thread < u64::BITS {
                self.last |= 1 << thread;
            } else {
                self.unasked = true;
            }
        }
    }

    /// Who sleeps behind the last transition.
    fn sleepers(&self) -> Vec<Sleeper> {
        let Some(place) = self.journal.path.len().checked_sub(1) else {
            return Vec::new();
        };
        let transition = &self.journal.path.event(place).transition;
        let node = &self.nodes[place];
        node.sleep
            .iter()
            .chain(&node.done)
            .filter(|(thread, deeds)| {
                *thread != transition.thread
                    && !dependent((transition.thread, &transition.deeds), (*thread, deeds))
            })
            .cloned()
            .collect()
    }

    /// A node behind the last transition, where this thread went on by itself.
    fn node(&self, default: u32, sleep: Vec<Sleeper>) -> Node {
        let path = &self.journal.path;
        let preemptions = path.len().checked_sub(1).map_or(0, |place| {
            let before = place
                .checked_sub(1)
                .map(|place| path.event(place).transition.thread);
            let parent = &self.nodes[place];
            let thread = path.event(place).transition.thread;
            parent.preemptions + u32::from(interrupts(before, parent.default, thread))
        });
        Node {
            default,
            current: None,
            wanted: Vec::new(),
            todo: Vec::new(),
            owed: Vec::new(),
            sleep,
            done: Vec::new(),
            desperate: false,
            preemptions,
        }
    }

    /// The rest of the run was seen before. Some thread that does not sleep may have had no turn because it was asked to go last.
    fn cut(&mut self, execution: &Execution, place: usize, sleep: Vec<Sleeper>) {
        let mut node = self.node(execution.transitions[place].thread, sleep);
        let rest = execution.transitions[place..]
            .iter()
            .map(|transition| transition.thread);
        let pending = execution.pending.iter().map(|pending| pending.thread);
        for thread in rest.chain(pending) {
            let asked = thread < u64::BITS && self.last & (1 << thread) != 0;
            if (asked || self.unasked) && !node.sleeps(thread) && !node.owed.contains(&thread) {
                node.owed.push(thread);
            }
        }
        self.nodes.push(node);
    }

    /// The thread that was given the turn at the last node could go on, and then another in the row could not.
    fn shorten(&mut self, len: usize) {
        let mut row = std::mem::take(&mut self.row);
        row.truncate(len);
        if let Some(node) = self.nodes.last_mut() {
            node.current = None;
            node.todo.push(row);
        }
    }

    /// The thread that was given the turn at the last node could not go on.
    fn refused(&mut self) {
        let threads: Vec<u32> = self.threads.iter().copied().collect();
        let Some(node) = self.nodes.last_mut() else {
            return;
        };
        let refused = node.current.take();
        if node.owed.is_empty() && !node.desperate && !node.wanted.is_empty() {
            node.desperate = true;
            for thread in threads {
                if Some(thread) != refused.map(|refused| refused.turn.thread)
                    && !node.wanted.contains(&thread)
                {
                    node.wanted.push(thread);
                    node.todo.push(alone(thread));
                }
            }
        }
    }

    /// Each of these races of a thread's next transition is to be seen the other way round.
    fn reverse(&mut self, thread: u32, arrival: &Arrival, races: &[Race]) {
        let path = &self.journal.path;
        for &Race { event, .. } in races {
            let threads = races::initials(path, arrival, event, thread);
            self.nodes[event].want(&threads, |begins| races::row(path, event, thread, begins));
        }
    }

    /// What all threads were about to do where the rest of a run was cut off. One that waits for a lock would have had its race later.
    fn look_at_waiting(&mut self, execution: &Execution, place: usize, findings: &mut Findings) {
        let mut seen = Vec::new();
        for transition in &execution.transitions[place..] {
            // Who is created only behind that place is not there yet.
            let created = transition.deeds.iter().filter(|deed| deed.op == Op::Fork);
            seen.extend(created.filter_map(|deed| u32::try_from(deed.object).ok()));
            if !seen.contains(&transition.thread) {
                seen.push(transition.thread);
                let (arrival, races) = self.journal.step(transition, findings);
                self.reverse(transition.thread, &arrival, &races);
            }
        }
        for pending in &execution.pending {
            if let Some(deed) = pending.deed
                && !seen.contains(&pending.thread)
            {
                let (arrival, races) = self.journal.look(pending.thread, &[deed], findings);
                self.reverse(pending.thread, &arrival, &races);
            }
        }
    }

    /// What the threads that have not ended were about to do.
    fn look_at_pending(&mut self, execution: &Execution, findings: &mut Findings) {
        let Some(last) = self.journal.path.len().checked_sub(1) else {
            return;
        };
        let ends = ended_all(&execution.ending);
        let culprit = self.journal.path.event(last).transition.thread;
        for pending in left_behind(execution, Some(culprit)) {
            if let Some(deed) = pending.deed {
                let (arrival, races) = self.journal.look(pending.thread, &[deed], findings);
                self.reverse(pending.thread, &arrival, &races);
            }
            if ends && could_go_on(pending) {
                self.nodes[last].want(&[pending.thread], alone);
            }
        }
        if ends && let Some(current) = &mut self.nodes[last].current {
            current.ends = true;
        }
    }
}

impl Policy for Dpor {
    fn next(&mut self) -> Option<Trial> {
        if !self.started {
            self.started = true;
            return Some(Trial::default());
        }
        while !self.nodes.is_empty() {
            let place = self.nodes.len() - 1;
            if let Some(row) = self.choose() {
                self.ask(place, &row);
                self.journal.truncate(place);
                let mut turns = self.journal.path.turns(place);
                turns.extend(&row);
                self.row = row;
                let last = self.last;
                return Some(Trial { turns, last });
            }
            self.nodes.pop();
        }
        None
    }

    fn learn(&mut self, mut execution: Execution, findings: &mut Findings) -> Learned {
        let begin = self.journal.path.len();
        if let Ending::Refused(at) = execution.ending {
            if at > begin && at < begin + self.row.len() {
                self.shorten(at - begin);
                return Learned::Refused;
            }
            self.refused();
            return if at == begin && !self.nodes.is_empty() {
                Learned::Refused
            } else {
                Learned::Different
            };
        }
        let asked = self.nodes.last().and_then(|node| node.current);
        let came = execution.transitions.get(begin);
        let strays = asked
            .is_some_and(|asked| came.is_none_or(|came| super::path::turn(came) != asked.turn));
        if strays
            || matches!(
                self.journal.begin(&execution.transitions),
                Beginning::Different
            )
        {
            if let Some(node) = self.nodes.last_mut() {
                node.current = None;
            }
            return Learned::Different;
        }
        for place in begin..execution.transitions.len() {
            let thread = execution.transitions[place].thread;
            self.threads.insert(thread);
            if self.nodes.len() == place {
                let sleep = self.sleepers();
                if sleep.iter().any(|(sleeper, _)| *sleeper == thread) {
                    // Who was made to go said nothing of the others.
                    self.unasked |= place < begin + self.row.len();
                    self.cut(&execution, place, sleep);
                    self.look_at_waiting(&execution, place, findings);
                    return Learned::Seen;
                }
                let mut node = self.node(thread, sleep);
                node.wanted.push(thread);
                self.nodes.push(node);
            }
            let transition = std::mem::replace(
                &mut execution.transitions[place],
                Transition {
                    thread,
                    variant: 0,
                    variants: 1,
                    deeds: Vec::new(),
                },
            );
            let node = &mut self.nodes[place];
            // One that was owed is here, the others are not needed.
            if node.owed.contains(&thread) || node.wanted.is_empty() {
                node.wanted.push(thread);
            }
            node.owed.clear();
            let left = node.current.and_then(|current| current.left);
            node.current = Some(Current {
                turn: super::path::turn(&transition),
                variants: transition.variants,
                left: left.or(transition.variants.checked_sub(1)),
                ends: false,
            });
            let (arrival, races) = self.journal.step(&transition, findings);
            self.reverse(thread, &arrival, &races);
            self.journal.enter(transition, &arrival);
        }
        self.look_at_pending(&execution, findings);
        Learned::Run
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
        let sleepers: usize = self
            .nodes
            .iter()
            .map(|node| node.sleep.capacity() + node.done.capacity())
            .sum();
        self.nodes.len() * size_of::<Node>()
            + sleepers * (size_of::<Sleeper>() + size_of::<Deed>())
            + self.journal.bytes()
    }
}
