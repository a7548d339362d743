//! What is known when something is done, and the way there, each kept once: a function does most of what it does in a few such moments, and a call
//! puts each of them into the caller's terms only once.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::path::{PathId, Site};
use crate::state::{Fact, Held, Released, State, bound_maybe, bound_released, bound_sure};

/// What is known when something is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Moment {
    /// Locks that are held; sorted.
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
}

impl Moment {
    /// That of a state.
    pub fn of(state: &State) -> Self {
        Moment {
            held: state.held.clone(),
            released: state.released.clone(),
            acquired: state.acquired.clone(),
            has_waited: state.has_waited,
            live: state.live.keys().copied().collect(),
            after: state.after.clone(),
            maybe: state.maybe.clone(),
        }
    }

    /// Whether nothing keeps an access in this moment apart from others that does not do so in that one: who races with that one races with
    /// this.
    pub fn is_weaker(&self, than: &Moment) -> bool {
        let has_locks = self.held.iter().all(|held| {
            let there = than.held.iter().find(|there| there.lock == held.lock);
            there.is_some_and(|there| held.mode <= there.mode && held.since.is_subset(&there.since))
        });
        has_locks
            && self.has_waited >= than.has_waited
            && covers_released(&self.released, &than.released)
            && self.acquired.is_subset(&than.acquired)
            && self.live.is_superset(&than.live)
            && self.after.is_subset(&than.after)
            && (self.maybe.contains(&Fact::Anything) || self.maybe.is_superset(&than.maybe))
    }

    /// What is known of both.
    pub fn meet(&mut self, other: &Moment) {
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

/// Whether what may have been given back includes all of these, or classes of them.
fn covers_released(one: &BTreeSet<Released>, other: &BTreeSet<Released>) -> bool {
    let unknown = Released {
        lock: None,
        target: None,
    };
    let is_covered = |released: &Released| {
        let class = Released {
            lock: None,
            ..*released
        };
        one.contains(released) || one.contains(&class)
    };
    one.contains(&unknown) || other.iter().all(is_covered)
}

/// All moments, each once: two that are equal are the same one.
#[derive(Default)]
pub struct Moments(FxHashSet<Rc<Moment>>);

impl Moments {
    /// The one that is equal to this.
    pub fn keep(&mut self, mut moment: Moment) -> Rc<Moment> {
        bound_released(&mut moment.released);
        bound_maybe(&mut moment.maybe);
        bound_sure(&mut moment.acquired);
        bound_sure(&mut moment.after);
        if let Some(known) = self.0.get(&moment) {
            return Rc::clone(known);
        }
        let kept = Rc::new(moment);
        self.0.insert(Rc::clone(&kept));
        kept
    }
}

/// The calls and creations of threads on the way from a function to something that is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way(Option<Rc<Link>>);

#[derive(Debug, PartialEq, Eq)]
struct Link {
    site: Site,
    rest: Way,
}

impl Way {
    /// The same from the function that calls at `site`.
    pub fn from(&self, site: Site) -> Way {
        let rest = self.clone();
        Way(Some(Rc::new(Link { site, rest })))
    }

    /// All of them, outermost first.
    pub fn iter(&self) -> impl Iterator<Item = &Site> {
        let mut at = self.0.as_deref();
        std::iter::from_fn(move || {
            let link = at?;
            at = link.rest.0.as_deref();
            Some(&link.site)
        })
    }
}
