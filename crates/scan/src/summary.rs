//! What a function does to threads, locks and shared memory, in its own terms: its summary, which every call of it puts into the
//! terms of the caller.
//!
//! This is the second idea of the paper (exploiting locality by summaries), with locksets relative to a function's beginning: what a caller
//! holds is added when the summary is used.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ir::{FunctionId, Mark, ValueId};
use crate::model::Mode;
use crate::moment::{Moment, Moments, Way};
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
    /// What is known then.
    pub moment: Rc<Moment>,
    /// The threads, one created by the other, in the last of which this happens. Empty: in the one that runs the function.
    pub chain: Vec<Site>,
    /// The way from the function to here.
    pub calls: Way,
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
    /// A function is called that does too much to be told here.
    Enter(FunctionId),
}

impl What {
    /// How many bytes are accessed; 0 if that is not known.
    pub fn size(self) -> u64 {
        match self {
            What::Access { size, .. } => size,
            _ => 0,
        }
    }
}

/// A call of a function: what the callee's terms mean in the caller's.
pub struct Arguments<'a> {
    /// The function that is called.
    callee: FunctionId,
    /// Its parameters.
    given: &'a [Option<PathId>],
    /// Which address is stored at a path of the caller, if anybody knows.
    read: &'a dyn Fn(&mut Paths, PathId) -> Option<PathId>,
    /// Paths that have been put into the caller's terms.
    known: FxHashMap<PathId, Option<PathId>>,
    /// Moments that have been, in the same thread or in one that is created: those of the callee are kept anyhow, so their addresses stay.
    moments: FxHashMap<(*const Moment, bool), Rc<Moment>>,
}

/// Nobody knows which addresses are stored anywhere.
pub fn unread(_: &mut Paths, _: PathId) -> Option<PathId> {
    None
}

impl<'a> Arguments<'a> {
    /// A call with these arguments; `read` tells which address is stored at a path of the caller, if anybody knows.
    pub fn new(
        callee: FunctionId,
        given: &'a [Option<PathId>],
        read: &'a dyn Fn(&mut Paths, PathId) -> Option<PathId>,
    ) -> Self {
        Arguments {
            callee,
            given,
            read,
            known: FxHashMap::default(),
            moments: FxHashMap::default(),
        }
    }

    /// A path of the callee in the caller's terms.
    pub fn path(&mut self, paths: &mut Paths, path: PathId) -> Option<PathId> {
        if let Some(known) = self.known.get(&path) {
            return *known;
        }
        let (given, callee) = (self.given, self.callee);
        let mut of = |paths: &mut Paths, base| match base {
            Base::Parameter(number) => {
                let given = given.get(number as usize).copied().flatten();
                let unnamed = Base::Value(callee, ValueId(number));
                Some(given.unwrap_or_else(|| paths.base(unnamed)))
            }
            other => Some(paths.base(other)),
        };
        let found = paths.rebuild(path, &mut of, self.read);
        self.known.insert(path, found);
        found
    }

    fn set(&mut self, paths: &mut Paths, set: &BTreeSet<PathId>) -> BTreeSet<PathId> {
        let all = set.iter().filter_map(|path| self.path(paths, *path));
        all.collect()
    }

    fn released(&mut self, paths: &mut Paths, released: &BTreeSet<Released>) -> BTreeSet<Released> {
        let all = released.iter().map(|one| Released {
            lock: one.lock.and_then(|lock| self.path(paths, lock)),
            ..*one
        });
        all.collect()
    }

    /// Locks in the caller's terms. What cannot be named is not held.
    fn held(&mut self, paths: &mut Paths, held: &[Held]) -> Vec<Held> {
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
    fn facts(&mut self, paths: &mut Paths, facts: &BTreeSet<Fact>) -> BTreeSet<Fact> {
        let mut all = BTreeSet::new();
        for fact in facts {
            let (path, again): (PathId, fn(PathId) -> Fact) = match *fact {
                Fact::Once(path) => (path, Fact::Once),
                Fact::Waited(path) => (path, Fact::Waited),
                Fact::Signalled(path) => (path, Fact::Signalled),
                Fact::Passed(path) => (path, Fact::Passed),
                Fact::Anything => {
                    all.insert(Fact::Anything);
                    continue;
                }
            };
            all.extend(self.path(paths, path).map(again));
        }
        all
    }

    /// What is known at a place of the callee, in the caller's terms.
    pub fn state(&mut self, paths: &mut Paths, state: &State) -> State {
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
    pub fn deed(
        &mut self,
        (paths, moments): (&mut Paths, &mut Moments),
        deed: &Deed,
        state: &State,
        site: Site,
    ) -> Deed {
        let path = deed.path.and_then(|path| self.path(paths, path));
        let is_same_thread = deed.chain.is_empty();
        let key = (Rc::as_ptr(&deed.moment), is_same_thread);
        let moment = match self.moments.get(&key) {
            Some(known) => Rc::clone(known),
            None => {
                let moment = self.moment(paths, &deed.moment, state, is_same_thread);
                let moment = moments.keep(moment);
                self.moments.insert(key, Rc::clone(&moment));
                moment
            }
        };
        Deed {
            path,
            moment,
            calls: deed.calls.from(site),
            chain: deed.chain.clone(),
            ..*deed
        }
    }

    /// A moment of the callee as one of the caller.
    fn moment(
        &mut self,
        paths: &mut Paths,
        moment: &Moment,
        state: &State,
        is_same_thread: bool,
    ) -> Moment {
        let mut next = Moment {
            held: self.held(paths, &moment.held),
            released: self.released(paths, &moment.released),
            acquired: self.set(paths, &moment.acquired),
            has_waited: moment.has_waited,
            live: moment.live.clone(),
            after: self.facts(paths, &moment.after),
            maybe: self.facts(paths, &moment.maybe),
        };
        next.after.extend(&state.after);
        next.maybe.extend(&state.maybe);
        if is_same_thread {
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
    /// Whether memory is written.
    pub fn writes(&self) -> bool {
        matches!(self.what, What::Access { writes: true, .. })
    }
}
