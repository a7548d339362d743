//! What a function does to threads, locks and shared memory, in its own terms: its summary, which every call of it puts into the
//! terms of the caller.
//!
//! This is the second idea of the paper (exploiting locality by summaries), with locksets relative to a function's beginning: what a caller
//! holds is added when the summary is used.

use std::collections::BTreeSet;

use crate::ir::{FunctionId, Mark, ValueId};
use crate::model::Mode;
use crate::path::{Base, PathId, Paths, Site};
use crate::points::Target;
use crate::state::{Fact, Held, Released, State};

/// What a function does.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// What it does to memory, locks and conditions, also in what it calls and in threads that it creates.
    pub deeds: Vec<Deed>,
    /// What is known when it returns; `None` if it does not.
    pub exit: Option<State>,
    /// What it returns, if that is always the same address.
    pub result: Option<PathId>,
    /// Whether what it returns was allocated there, and nobody else knows it.
    pub returns_fresh: bool,
    /// Which parameters it makes known to others.
    pub escapes: Vec<bool>,
    /// Threads that it creates.
    pub spawned: BTreeSet<Site>,
    /// Addresses that it puts into what its parameters point at: where, and which.
    pub put: Vec<(PathId, PathId)>,
}

/// Something that matters to other threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// What.
    pub what: What,
    /// Where.
    pub site: Site,
    /// The address, if it is known.
    pub path: Option<PathId>,
    /// The class of memory.
    pub target: Option<Target>,
    /// Locks that are held.
    pub held: Vec<Held>,
    /// Locks of the caller that may have been given back before.
    pub released: BTreeSet<Released>,
    /// Locks that were surely taken before, since the function began.
    pub acquired: BTreeSet<PathId>,
    /// Whether a condition may have been waited for before, since the function began.
    pub has_waited: bool,
    /// Threads that may run at that time, created by the one that does this.
    pub live: BTreeSet<Site>,
    /// What has surely happened before.
    pub after: BTreeSet<Fact>,
    /// What may have happened before.
    pub maybe: BTreeSet<Fact>,
    /// The threads, one created by the other, in the last of which this happens. Empty: in the one that runs the function.
    pub chain: Vec<Site>,
    /// The calls and creations of threads on the way, from the function to here.
    pub calls: Vec<Site>,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// Memory is accessed.
    Access {
        /// Whether it is written.
        writes: bool,
        /// How many bytes; 0 if that is not known.
        size: u64,
        /// Whether it may happen together with others.
        mark: Mark,
    },
    /// A lock is taken, while the locks are held that are told.
    Lock(Mode),
    /// A condition is announced.
    Signal,
    /// A barrier is passed.
    Barrier,
}

/// Which paths a callee's parameters are in the caller.
pub struct Arguments<'a> {
    /// The function that is called.
    pub callee: FunctionId,
    /// Its parameters.
    pub paths: &'a [Option<PathId>],
    /// Which address is stored at a path of the caller, if anybody knows.
    pub read: &'a dyn Fn(&mut Paths, PathId) -> Option<PathId>,
}

/// Nobody knows which addresses are stored anywhere.
pub fn unread(_: &mut Paths, _: PathId) -> Option<PathId> {
    None
}

impl Arguments<'_> {
    /// A path of the callee in the caller's terms.
    pub fn path(&self, paths: &mut Paths, path: PathId) -> Option<PathId> {
        let mut of = |paths: &mut Paths, base| match base {
            Base::Parameter(number) => {
                let given = self.paths.get(number as usize).copied().flatten();
                let unnamed = Base::Value(self.callee, ValueId(number));
                Some(given.unwrap_or_else(|| paths.base(unnamed)))
            }
            other => Some(paths.base(other)),
        };
        paths.rebuild(path, &mut of, self.read)
    }

    fn set(&self, paths: &mut Paths, set: &BTreeSet<PathId>) -> BTreeSet<PathId> {
        let all = set.iter().filter_map(|path| self.path(paths, *path));
        all.collect()
    }

    fn released(&self, paths: &mut Paths, released: &BTreeSet<Released>) -> BTreeSet<Released> {
        let all = released.iter().map(|one| Released {
            lock: one.lock.and_then(|lock| self.path(paths, lock)),
            ..*one
        });
        all.collect()
    }

    /// Locks in the caller's terms. What cannot be named is not held.
    pub fn held(&self, paths: &mut Paths, held: &[Held]) -> Vec<Held> {
        let mut all: Vec<Held> = Vec::new();
        for one in held {
            if let Some(lock) = self.path(paths, one.lock) {
                all.push(Held {
                    lock,
                    since: self.set(paths, &one.since),
                    ..one.clone()
                });
            }
        }
        all.sort_by_key(|held| held.lock);
        all
    }

    /// Facts in the caller's terms.
    pub fn facts(&self, paths: &mut Paths, facts: &BTreeSet<Fact>) -> BTreeSet<Fact> {
        let mut all = BTreeSet::new();
        for fact in facts {
            let (path, again): (PathId, fn(PathId) -> Fact) = match *fact {
                Fact::Once(path) => (path, Fact::Once),
                Fact::Waited(path) => (path, Fact::Waited),
                Fact::Signalled(path) => (path, Fact::Signalled),
                Fact::Passed(path) => (path, Fact::Passed),
            };
            all.extend(self.path(paths, path).map(again));
        }
        all
    }

    /// What is known at a place of the callee, in the caller's terms.
    pub fn state(&self, paths: &mut Paths, state: &State) -> State {
        State {
            held: self.held(paths, &state.held),
            released: self.released(paths, &state.released),
            acquired: self.set(paths, &state.acquired),
            live: state
                .live
                .iter()
                .map(|(site, handle)| (*site, handle.and_then(|path| self.path(paths, path))))
                .collect(),
            has_waited: state.has_waited,
            joined: self.set(paths, &state.joined),
            joined_parameters: BTreeSet::new(),
            after: self.facts(paths, &state.after),
            maybe: self.facts(paths, &state.maybe),
            fresh: BTreeSet::new(),
        }
    }

    /// A deed of the callee as one of the caller, which calls it at `site` in this state.
    pub fn deed(&self, paths: &mut Paths, deed: &Deed, state: &State, site: Site) -> Deed {
        let mut next = Deed {
            path: deed.path.and_then(|path| self.path(paths, path)),
            held: self.held(paths, &deed.held),
            released: self.released(paths, &deed.released),
            acquired: self.set(paths, &deed.acquired),
            after: self.facts(paths, &deed.after),
            maybe: self.facts(paths, &deed.maybe),
            calls: std::iter::once(site)
                .chain(deed.calls.iter().copied())
                .collect(),
            ..deed.clone()
        };
        next.after.extend(&state.after);
        next.maybe.extend(&state.maybe);
        if next.chain.is_empty() {
            next.live.extend(state.live.keys());
            for held in &state.held {
                if next.released.iter().any(|released| released.may_be(held)) {
                    continue;
                }
                let mut held = held.clone();
                if next.has_waited {
                    held.since.clear();
                }
                held.since.extend(&next.acquired);
                held.since.remove(&held.lock);
                match next.held.iter_mut().find(|one| one.lock == held.lock) {
                    Some(one) => one.mode = one.mode.max(held.mode),
                    None => next.held.push(held),
                }
            }
            next.held.sort_by_key(|held| held.lock);
            next.released.extend(&state.released);
            if !next.has_waited {
                next.acquired.extend(&state.acquired);
            }
            next.has_waited |= state.has_waited;
        }
        next
    }
}

impl Deed {
    /// Whether another deed is the same, but for the way there.
    pub fn is_like(&self, other: &Deed) -> bool {
        self.what == other.what
            && self.site == other.site
            && self.path == other.path
            && self.chain == other.chain
            && self.held == other.held
            && self.released == other.released
            && self.acquired == other.acquired
            && self.has_waited == other.has_waited
            && self.live == other.live
            && self.after == other.after
            && self.maybe == other.maybe
    }

    /// Makes one of two: what is known of both.
    pub fn merge(&mut self, other: &Deed) {
        if self.path != other.path {
            self.path = None;
        }
        self.held.retain_mut(|held| {
            let there = other.held.iter().find(|there| there.lock == held.lock);
            let Some(there) = there else {
                return false;
            };
            held.mode = held.mode.min(there.mode);
            held.since.retain(|lock| there.since.contains(lock));
            true
        });
        self.released.extend(&other.released);
        self.acquired.retain(|lock| other.acquired.contains(lock));
        self.has_waited |= other.has_waited;
        self.live.extend(&other.live);
        self.after.retain(|fact| other.after.contains(fact));
        self.maybe.extend(&other.maybe);
    }
}
