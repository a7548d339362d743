//! What is known at a place of a function, relative to its beginning: which locks are held, since when, and what has
//! happened.
//!
//! Some of it holds on all ways there, some on at least one; where ways meet, the first is what they have in common, the second all of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::ValueId;
use crate::model::Mode;
use crate::path::{PathId, Site};
use crate::points::Target;

/// A lock that is held.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
}

/// What is known at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Locks that are surely held, taken since the function's beginning; sorted.
    pub held: Vec<Held>,
    /// Locks that may have been given back that the function had not taken.
    pub released: BTreeSet<PathId>,
    /// Locks that were surely taken since the function's beginning.
    pub acquired: BTreeSet<PathId>,
    /// Threads that may have been created since, and may still run, with where their handles are, if that is known.
    pub live: BTreeMap<Site, Option<PathId>>,
    /// Handles of threads that were surely waited for.
    pub joined: BTreeSet<PathId>,
    /// What has surely happened.
    pub after: BTreeSet<Fact>,
    /// What may have happened.
    pub maybe: BTreeSet<Fact>,
    /// What the function has allocated and surely nobody else knows.
    pub fresh: BTreeSet<ValueId>,
}

impl State {
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
        self.joined.retain(|handle| other.joined.contains(handle));
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
    pub fn unlock(&mut self, lock: Option<PathId>, target: Option<Target>) {
        let own = self.held.iter().position(|held| Some(held.lock) == lock);
        if let Some(own) = own {
            self.held[own].depth -= 1;
            if self.held[own].depth == 0 {
                self.held.remove(own);
            }
            return;
        }
        let target = target.map(|target| (target.class.number(), target.offset));
        self.held
            .retain(|held| target.is_some() && held.target != target);
        self.released.extend(lock);
    }
}
