//! States that were left with all that follows from them seen, so that a run that comes to one of them again is cut off there.
//!
//! Follows Yang, Chen, Gopalakrishnan and Kirby, *Efficient Stateful Dynamic Partial Order Reduction* (SPIN 2008): what was done from a state is
//! kept as a graph, from which a later visit learns what lies ahead of it ([`super::cutting`] says what for). What a state was left with depends on
//! how it was come to in two ways. Threads that slept there (Godefroid 1996) did not go first, so a later visit needs at least the
//! same threads to sleep. And turns may have been put off for want of preemptions; then a later visit needs as few of them left, and the same
//! thread before it.
//!
//! A state is known by what threads have done and were told ([`super::states`]). What they tell each other in other ways is not in it:
//! through code without instrumentation, or the order in which they print. So it is compared what comes of the rest
//! of a run that is cut off, which is executed anyway: if that ends in a state that nobody came to, or in one that others
//! came to with another outcome, states do not say everything about the program, and the search begins again without cuts.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{execution::Deed, states::Key};

/// Whether a run that comes to a state that is known is cut off there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Revisits {
    /// It is.
    Cut,
    /// It is not: what follows is looked at again.
    #[default]
    Explore,
}

/// How a state is come to.
#[derive(Clone, Debug, Default)]
pub(super) struct Visit {
    /// Who need not go first.
    pub(super) sleep: Vec<u32>,
    /// How many preemptions there may still be, if that is bounded.
    pub(super) spare: Option<u32>,
    /// Who went before.
    pub(super) before: Option<u32>,
}

/// A transition from a state: what was done, and the state behind it.
#[derive(Clone, Copy)]
pub(super) struct Step {
    what: u32,
    to: Option<Key>,
}

/// What a state was left with.
struct Left {
    visit: Visit,
    /// Turns were put off, here or in what follows.
    put_off: bool,
    steps: Box<[Step]>,
}

impl Left {
    /// Whether there is nothing to be seen by another visit.
    fn covers(&self, visit: &Visit) -> bool {
        let bounded = self.put_off
            && !(self.visit.before == visit.before
                && match (self.visit.spare, visit.spare) {
                    (Some(then), Some(now)) => then >= now,
                    (then, _) => then.is_none(),
                });
        !bounded
            && self
                .visit
                .sleep
                .iter()
                .all(|thread| visit.sleep.contains(thread))
    }
}

#[derive(Default)]
struct Known {
    lefts: Vec<Left>,
    /// All that was done from here on, once somebody has asked.
    ahead: Option<Rc<[u32]>>,
}

/// What a visit to a state that is known finds.
pub(super) struct Revisit {
    /// All that was done from there on.
    pub(super) ahead: Rc<[u32]>,
    /// Turns were put off.
    pub(super) put_off: bool,
    /// Nothing that can follow was left out.
    pub(super) whole: bool,
}

/// All states that were left.
#[derive(Default)]
pub(super) struct Visited {
    states: FxHashMap<Key, Known>,
    steps: usize,
    /// What threads do, each once.
    deeds: Vec<(u32, Box<[Deed]>)>,
    numbers: FxHashMap<(u32, Box<[Deed]>), u32>,
    /// The states that runs ended in, with their outcomes.
    ends: FxHashMap<Key, u64>,
}

impl Visited {
    /// A transition of a thread, which leads to this state unless it is only what the thread was about to do.
    pub(super) fn step(&mut self, thread: u32, deeds: &[Deed], to: Option<Key>) -> Step {
        let plain = |deed: &Deed| Deed {
            pc: 0,
            own: 0,
            value: 0,
            ..*deed
        };
        let what: (u32, Box<[Deed]>) = (thread, deeds.iter().map(plain).collect());
        let next = self.deeds.len() as u32;
        let what = *self.numbers.entry(what).or_insert_with_key(|what| {
            self.deeds.push(what.clone());
            next
        });
        Step { what, to }
    }

    /// What stands for such a number.
    pub(super) fn deeds(&self, what: u32) -> (u32, &[Deed]) {
        let (thread, deeds) = &self.deeds[what as usize];
        (*thread, deeds)
    }

    /// All that can follow from a state was seen.
    pub(super) fn leave(&mut self, key: Key, visit: Visit, put_off: bool, steps: Vec<Step>) {
        self.steps += steps.len();
        let left = Left {
            visit,
            put_off,
            steps: steps.into(),
        };
        let known = self.states.entry(key).or_default();
        known
            .lefts
            .retain(|old| !(left.covers(&old.visit) && (!left.put_off || old.put_off)));
        known.lefts.push(left);
        known.ahead = None;
    }

    /// Whether a state was left, and nothing new is to be seen from there.
    pub(super) fn find(&mut self, key: Key, visit: &Visit) -> Option<Revisit> {
        let known = self.states.get(&key)?;
        let left = known.lefts.iter().find(|left| left.covers(visit))?;
        let put_off = left.put_off;
        let whole = !put_off && left.visit.sleep.is_empty();
        let ahead = match &known.ahead {
            Some(ahead) => ahead.clone(),
            None => self.look_ahead(key),
        };
        Some(Revisit {
            ahead,
            put_off,
            whole,
        })
    }

    /// All that was done from a state on.
    fn look_ahead(&mut self, key: Key) -> Rc<[u32]> {
        let mut all: FxHashSet<u32> = FxHashSet::default();
        let mut been: FxHashSet<Key> = FxHashSet::default();
        let mut todo = vec![key];
        while let Some(key) = todo.pop() {
            let Some(known) = self.states.get(&key) else {
                continue;
            };
            if let Some(ahead) = &known.ahead {
                all.extend(ahead.iter());
                continue;
            }
            for step in known.lefts.iter().flat_map(|left| &left.steps) {
                all.insert(step.what);
                todo.extend(step.to.filter(|to| been.insert(*to)));
            }
        }
        let mut all: Vec<u32> = all.into_iter().collect();
        all.sort_unstable();
        let ahead: Rc<[u32]> = all.into();
        if let Some(known) = self.states.get_mut(&key) {
            known.ahead = Some(ahead.clone());
        }
        ahead
    }

    /// A run has ended in this state, with this outcome. Says whether that fits what is known.
    pub(super) fn end(&mut self, key: Key, outcome: u64, known: bool) -> bool {
        let is_new = !self.ends.contains_key(&key);
        *self.ends.entry(key).or_insert(outcome) == outcome && !(known && is_new)
    }

    /// How many bytes it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.states.capacity() * (size_of::<(Key, Known)>() + 1)
            + self.states.len() * (size_of::<Left>() + 16)
            + self.steps * size_of::<Step>()
            + self.deeds.len() * 3 * size_of::<Deed>()
            + self.ends.capacity() * size_of::<(Key, u64)>()
    }
}
