//! All orders, one run for each: to check cleverer ways against, and for programs that are small enough.

use super::{
    bounds::interrupts,
    execution::{Ending, Execution, Turn},
    findings::Findings,
    journal::{Beginning, Journal, left_behind},
    path,
    policy::{Learned, Policy, Trial},
};

/// A place of the run as it stands.
struct Node {
    default: u32,
    current: Turn,
    variants: u32,
    todo: Vec<u32>,
    preemptions: u32,
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
                continue;
            }
            node.current = Turn { thread, variant: 0 };
            node.variants = 1;
            return Some(node.current);
        }
        None
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
                return Some(Trial { turns, last: 0 });
            }
            self.nodes.pop();
        }
        None
    }

    fn learn(&mut self, execution: Execution, findings: &mut Findings) -> Learned {
        let begin = self.journal.path.len();
        if let Ending::Refused(at) = execution.ending {
            return if at == begin && !self.nodes.is_empty() {
                Learned::Refused
            } else {
                Learned::Different
            };
        }
        let strays = self.nodes.last().is_some_and(|node| {
            execution
                .transitions
                .get(begin)
                .is_none_or(|came| path::turn(came) != node.current)
        });
        if strays
            || matches!(
                self.journal.begin(&execution.transitions),
                Beginning::Different
            )
        {
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
        let mut rest = execution;
        for (place, transition) in std::mem::take(&mut rest.transitions)
            .into_iter()
            .enumerate()
            .skip(begin)
        {
            let threads = there.pop().unwrap_or_default();
            let turn = path::turn(&transition);
            if self.nodes.len() == place {
                let preemptions = place.checked_sub(1).map_or(0, |place| {
                    let parent = &self.nodes[place];
                    parent.preemptions + self.cost(place, parent.current.thread)
                });
                self.nodes.push(Node {
                    default: turn.thread,
                    current: turn,
                    variants: transition.variants,
                    todo: threads
                        .into_iter()
                        .filter(|&thread| thread != turn.thread)
                        .collect(),
                    preemptions,
                });
            } else {
                self.nodes[place].variants = transition.variants;
            }
            let (arrival, _) = self.journal.step(&transition, findings);
            self.journal.enter(transition, &arrival);
        }
        for pending in left_behind(&rest, self.nodes.last().map(|node| node.current.thread)) {
            if let Some(deed) = pending.deed {
                self.journal.look(pending.thread, &[deed], findings);
            }
        }
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
        self.nodes.len() * size_of::<Node>() + self.journal.bytes()
    }
}
