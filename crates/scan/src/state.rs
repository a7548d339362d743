//! What is known at a place of a function, relative to its beginning: which locks are held, since when, and what has
//! happened.
//!
//! Some of it holds on all ways there, some on at least one; where ways meet, the first is what they have in common, the second all of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::ValueId;
use crate::model::Mode;
use crate::moment::Moment;
use crate::path::{PathId, Site};

/// A lock that is held.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Held {
    /// Which.
    pub lock: PathId,
    /// Its class of memory, if it has one.
    pub target: Option<(u32, i64)>,
    /// How.
    pub mode: Mode,
    /// How many times.
    pub depth: u32,
    /// Where it was taken.
    pub at: Site,
    /// Its acquisition history: the locks that were surely taken since (and perhaps given back).
    pub since: BTreeSet<PathId>,
}

/// A lock that may have been given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Released {
    /// Which, if that is known.
    pub lock: Option<PathId>,
    /// Its class of memory, if it has one.
    pub target: Option<(u32, i64)>,
}

impl Released {
    /// Whether it may be a lock that somebody holds.
    pub fn may_be(&self, held: &Held) -> bool {
        match (self.target, held.target) {
            _ if self.lock == Some(held.lock) => true,
            (Some(own), Some(other)) => own == other,
            (None, _) => self.lock.is_none(),
            (Some(_), None) => false,
        }
    }
}

/// Something that orders threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    /// What runs once has run.
    Once(PathId),
    /// A condition was waited for.
    Waited(PathId),
    /// A condition was announced.
    Signalled(PathId),
    /// A barrier was passed.
    Passed(PathId),
    /// Any of these, of too many to list them.
    Anything,
}

/// How many locks and facts are told apart. Functions that call each other through ever longer pointers would have no end of them.
const MOST: usize = 32;

/// Says less about what may have been given back, if there is too much of it: any lock of the same class.
pub fn bound_released(released: &mut BTreeSet<Released>) {
    if released.len() > MOST {
        let classes = released.iter().map(|one| Released {
            lock: one.lock.filter(|_| one.target.is_none()),
            ..*one
        });
        *released = classes.collect();
    }
    if released.len() > MOST {
        *released = BTreeSet::from([Released {
            lock: None,
            target: None,
        }]);
    }
}

/// Says less about what may have happened, if that is too much.
pub fn bound_maybe(maybe: &mut BTreeSet<Fact>) {
    if maybe.len() > MOST {
        *maybe = BTreeSet::from([Fact::Anything]);
    }
}

/// Says less about what has surely happened.
pub fn bound_sure<T: Copy + Ord>(sure: &mut BTreeSet<T>) {
    while sure.len() > MOST {
        sure.pop_last();
    }
}

/// What is known at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Locks that are surely held, taken since the function's beginning; sorted.
    pub held: Vec<Held>,
    /// Locks that may have been given back that the function had not taken.
    pub released: BTreeSet<Released>,
    /// Locks that were surely taken since the function's beginning.
    pub acquired: BTreeSet<PathId>,
    /// Whether a condition may have been waited for: a lock that callers hold was given back meanwhile, and taken again.
    pub has_waited: bool,
    /// Threads that may have been created since, and may still run, with where their handles are, if that is known.
    pub live: BTreeMap<Site, Option<PathId>>,
    /// Handles of threads that were surely waited for.
    pub joined: BTreeSet<PathId>,
    /// Parameters that are handles of threads that were surely waited for.
    pub joined_parameters: BTreeSet<u32>,
    /// What has surely happened.
    pub after: BTreeSet<Fact>,
    /// What may have happened.
    pub maybe: BTreeSet<Fact>,
    /// What the function has allocated and surely nobody else knows.
    pub fresh: BTreeSet<ValueId>,
}

impl State {
    /// What is known when a function is entered in this moment.
    pub fn of(moment: &Moment) -> Self {
        State {
            held: moment.held.clone(),
            released: moment.released.clone(),
            acquired: moment.acquired.clone(),
            has_waited: moment.has_waited,
            live: moment.live.iter().map(|site| (*site, None)).collect(),
            after: moment.after.clone(),
            maybe: moment.maybe.clone(),
            ..State::default()
        }
    }

    /// Says less where there is too much to say.
    pub fn bound(&mut self) {
        bound_released(&mut self.released);
        bound_maybe(&mut self.maybe);
        bound_sure(&mut self.acquired);
        bound_sure(&mut self.after);
        bound_sure(&mut self.joined);
    }

    /// Two ways meet. Whether this one has changed.
    pub fn meet(&mut self, other: &State) -> bool {
        let before = self.clone();
        self.held.retain_mut(|held| {
            let there = other.held.iter().find(|there| there.lock == held.lock);
            let Some(there) = there else {
                return false;
            };
            held.mode = held.mode.min(there.mode);
            held.depth = held.depth.min(there.depth);
            held.since.retain(|lock| there.since.contains(lock));
            true
        });
        self.released.extend(&other.released);
        self.acquired.retain(|lock| other.acquired.contains(lock));
        for (site, handle) in &other.live {
            let known = self.live.entry(*site).or_insert(*handle);
            if *known != *handle {
                *known = None;
            }
        }
        self.has_waited |= other.has_waited;
        self.joined.retain(|handle| other.joined.contains(handle));
        self.joined_parameters
            .retain(|parameter| other.joined_parameters.contains(parameter));
        self.after.retain(|fact| other.after.contains(fact));
        self.maybe.extend(&other.maybe);
        self.fresh.retain(|value| other.fresh.contains(value));
        *self != before
    }

    /// A lock is taken.
    pub fn lock(&mut self, held: Held) {
        for other in &mut self.held {
            if other.lock != held.lock {
                other.since.insert(held.lock);
            }
        }
        self.acquired.insert(held.lock);
        match self.held.iter_mut().find(|one| one.lock == held.lock) {
            Some(one) => {
                one.depth += 1;
                one.mode = one.mode.max(held.mode);
            }
            None => {
                self.held.push(held);
                self.held.sort_by_key(|held| held.lock);
            }
        }
    }

    /// A lock is given back. If it is not known to be held, any that may be the same one is not held any more.
    pub fn unlock(&mut self, released: Released) {
        let mut held = self.held.iter();
        let own = held.position(|held| Some(held.lock) == released.lock);
        if let Some(own) = own {
            self.held[own].depth -= 1;
            if self.held[own].depth == 0 {
                self.held.remove(own);
            }
            return;
        }
        self.held.retain(|held| !released.may_be(held));
        self.released.insert(released);
    }

    /// A condition is waited for: its lock is given back, and taken again. Nobody knows any more what was taken since.
    pub fn wait(&mut self) {
        for held in &mut self.held {
            held.since.clear();
        }
        self.acquired.clear();
        self.has_waited = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{Base, Paths};

    fn paths() -> [PathId; 3] {
        let mut paths = Paths::default();
        [0, 1, 2].map(|number| paths.base(Base::Named(number)))
    }

    fn held(lock: PathId, class: u32) -> Held {
        Held {
            lock,
            target: Some((class, 0)),
            mode: Mode::Write,
            depth: 1,
            at: Site::default(),
            since: BTreeSet::new(),
        }
    }

    fn names(state: &State) -> Vec<PathId> {
        state.held.iter().map(|held| held.lock).collect()
    }

    #[test]
    fn where_ways_meet_the_common_locks_are_held() {
        let [a, b, c] = paths();
        let (mut one, mut other) = (State::default(), State::default());
        one.lock(held(a, 0));
        one.lock(held(b, 1));
        other.lock(held(a, 0));
        other.lock(held(c, 2));
        assert!(one.meet(&other));
        assert_eq!(names(&one), [a]);
        // b was taken on one way only.
        assert!(one.held[0].since.is_empty());
        assert_eq!(one.acquired, BTreeSet::from([a]));
        assert!(!one.meet(&other));
    }

    #[test]
    fn histories_tell_what_was_taken_since() {
        let [a, b, _] = paths();
        let mut state = State::default();
        state.lock(held(a, 0));
        state.lock(held(b, 1));
        state.unlock(Released {
            lock: Some(b),
            target: Some((1, 0)),
        });
        assert_eq!(names(&state), [a]);
        assert_eq!(state.held[0].since, BTreeSet::from([b]));
        state.wait();
        assert!(state.held[0].since.is_empty() && state.has_waited);
    }

    #[test]
    fn what_may_be_the_same_lock_is_not_held_any_more() {
        let [a, b, c] = paths();
        let mut state = State::default();
        state.lock(held(a, 0));
        state.lock(held(b, 1));
        let other = Released {
            lock: Some(c),
            target: Some((0, 0)),
        };
        state.unlock(other);
        assert_eq!(names(&state), [b]);
        assert!(state.released.contains(&other));
        let any = Released {
            lock: None,
            target: None,
        };
        state.unlock(any);
        assert!(state.held.is_empty());
    }

    #[test]
    fn a_lock_taken_twice_is_given_back_twice() {
        let [a, ..] = paths();
        let mut state = State::default();
        let once = Released {
            lock: Some(a),
            target: Some((0, 0)),
        };
        state.lock(held(a, 0));
        state.lock(held(a, 0));
        state.unlock(once);
        assert_eq!(names(&state), [a]);
        state.unlock(once);
        assert!(state.held.is_empty() && state.released.is_empty());
    }
}
