//! A place of the run as it stands: which turns are to be given there, which have been, and which need not be.

use super::{
    bounds::interrupts,
    execution::{Deed, Transition, Turn},
    path::{Arrival, turn},
    races::Race,
    states::Key,
    tree::{Branch, Would},
    visited::Step,
};

/// The thread that has the turn.
#[derive(Clone, Copy)]
pub(super) struct Current {
    pub(super) turn: Turn,
    pub(super) variants: u32,
    /// How many of the variants are still to be tried, if it is known how many there are.
    pub(super) left: Option<u32>,
    /// Its transition ended the program.
    pub(super) ends: bool,
}

/// A place of the run as it stands.
pub(super) struct Node {
    /// Who was given the turn by the program's own rule, if it was left to choose.
    pub(super) default: Option<u32>,
    pub(super) current: Option<Current>,
    /// What is still to be run from here.
    pub(super) tree: Vec<Branch>,
    /// Threads of whom one is to be given the turn, if one can take it; and if none can, what is known of those that wait.
    pub(super) owed: Option<(Vec<u32>, Vec<Later>)>,
    /// Who need not go on here.
    pub(super) sleep: Vec<Would>,
    /// Who has been given the turn, and need not be again.
    pub(super) done: Vec<Would>,
    /// All threads are to be given the turn because one could not take it.
    pub(super) desperate: bool,
    /// How many preemptions there are before it, and whether the present turn is one.
    pub(super) preemptions: u32,
    pub(super) preempts: bool,
    /// The state there, if all that follows from it will have been seen when the node is left.
    pub(super) key: Option<Key>,
    /// What was done from here.
    pub(super) steps: Vec<Step>,
    /// Turns were put off, here or in what follows.
    pub(super) put_off: bool,
}

impl Node {
    /// A node behind the transition of another one. If it was not left to the program who goes on there, nobody is the default.
    pub(super) fn behind(parent: Option<(&Node, &Transition)>, default: Option<u32>) -> Node {
        let mut sleep = Vec::new();
        let mut preemptions = 0;
        let mut put_off = false;
        if let Some((parent, transition)) = parent {
            let all = parent.sleep.iter().chain(&parent.done);
            sleep.extend(
                all.filter(|would| would.is_apart(transition.thread, &transition.deeds))
                    .cloned(),
            );
            preemptions = parent.preemptions + u32::from(parent.preempts);
            // Not all was seen of what those did who sleep.
            put_off = parent.put_off && !sleep.is_empty();
        }
        Node {
            default,
            current: None,
            tree: Vec::new(),
            owed: None,
            sleep,
            done: Vec::new(),
            desperate: false,
            preemptions,
            preempts: false,
            key: None,
            steps: Vec::new(),
            put_off,
        }
    }

    /// Whether a thread need not go on here.
    pub(super) fn sleeps(&self, thread: u32) -> bool {
        self.sleep.iter().any(|would| would.thread == thread)
    }

    /// All who have been given the turn here, or before in another order.
    pub(super) fn seen(&self) -> impl Iterator<Item = &Would> {
        self.sleep.iter().chain(&self.done)
    }

    /// The transition that a thread was given the turn for has happened.
    pub(super) fn happened(&mut self, transition: &Transition) {
        self.owed = None;
        let left = self.current.and_then(|current| current.left);
        self.current = Some(Current {
            turn: turn(transition),
            variants: transition.variants,
            left: left.or(transition.variants.checked_sub(1)),
            ends: false,
        });
    }

    /// The next variant of the present turn. If there is none, that turn, which was this transition, is done with.
    pub(super) fn next_variant(&mut self, transition: Option<&Transition>) -> Option<Branch> {
        let current = self.current.as_mut()?;
        if let Some(left) = current.left.filter(|left| *left > 0) {
            current.left = Some(left - 1);
            current.turn.variant = (current.turn.variant + 1) % current.variants;
            let turn = current.turn;
            return Some(Branch {
                turn,
                ..Branch::alone(turn.thread)
            });
        }
        if let Some(transition) = transition {
            // What ends the program commutes with nothing: it is seen here, and nowhere behind.
            let deeds = (!current.ends).then(|| transition.deeds[..].into());
            self.done.push(Would {
                thread: transition.thread,
                deeds,
            });
        }
        self.current = None;
        None
    }

    /// What else is to be run from here, where this thread went before; with the number of preemptions up to its end.
    pub(super) fn next_branch(&mut self, before: Option<u32>) -> Option<(Branch, u32)> {
        loop {
            let branch = if self.tree.is_empty() {
                Branch::alone(self.owed.as_mut()?.0.pop()?)
            } else {
                self.tree.remove(0)
            };
            let thread = branch.turn.thread;
            if self.seen().any(|would| would.thread == thread) {
                continue;
            }
            self.preempts = match self.default {
                Some(default) => interrupts(before, default, thread),
                None => before.is_some_and(|before| before != thread),
            };
            let cost = u32::from(self.preempts) + preemptions_within(&branch);
            return Some((branch, self.preemptions + cost));
        }
    }

    /// A thread is given the turn.
    pub(super) fn give(&mut self, turn: Turn) {
        self.current = Some(Current {
            turn,
            variants: 1,
            left: None,
            ends: false,
        });
    }
}

/// How many of the turns behind the first are taken from a thread that goes on later: about as many as are preemptions.
fn preemptions_within(branch: &Branch) -> u32 {
    let row = branch.first_row();
    let interrupted = |number: &usize| {
        let before = row[*number - 1].turn.thread;
        row[*number].turn.thread != before
            && row[*number..].iter().any(|one| one.turn.thread == before)
    };
    (1..row.len()).filter(interrupted).count() as u32
}

/// A transition of the run, or one that was to come when it was over, that races with earlier ones.
pub(super) struct Later {
    pub(super) thread: u32,
    /// Where it stands, or what it was to be.
    pub(super) deeds: Result<usize, Vec<Deed>>,
    pub(super) arrival: Arrival,
    pub(super) races: Vec<Race>,
}
