//! What a function does, as it is gathered: each thing once, and of accesses only those that say something new.
//!
//! An access that is done in a weaker moment than the same one in another context is the one to keep: whoever races with the other races
//! with it. This is the paper's abstraction of contexts, done early.

use rustc_hash::FxHashMap;

use crate::moment::Moments;
use crate::path::{PathId, Site};
use crate::points::Target;
use crate::summary::{Deed, What};

/// How many deeds a summary may have. Beyond that those of one statement are made one.
const MOST_DEEDS: usize = 3000;

/// What tells deeds apart, but for their moments.
type Key = (Site, What, Option<PathId>, Option<Target>, Vec<Site>);

/// Deeds that are gathered.
#[derive(Default)]
pub(super) struct Deeds {
    all: Vec<Deed>,
    /// Those that differ in their moments only.
    alike: FxHashMap<Key, Vec<usize>>,
    /// The first of each statement and thread.
    first: FxHashMap<(Site, What, Vec<Site>), usize>,
}

impl Deeds {
    /// Adds one, unless it says nothing new. Whether there are so many that it was made one with another.
    pub fn add(&mut self, deed: Deed, moments: &mut Moments) -> bool {
        let key = (
            deed.site,
            deed.what,
            deed.path,
            deed.target,
            deed.chain.clone(),
        );
        let alike = self.alike.entry(key).or_default();
        let is_access = matches!(deed.what, What::Access { .. });
        for known in alike.iter() {
            let known = &self.all[*known].moment;
            if std::rc::Rc::ptr_eq(known, &deed.moment)
                || is_access && known.is_weaker(&deed.moment)
            {
                return false;
            }
        }
        if is_access {
            let stronger = |known: &&usize| deed.moment.is_weaker(&self.all[**known].moment);
            if let Some(stronger) = alike.iter().find(stronger).copied() {
                self.all[stronger] = deed;
                return false;
            }
        }
        let first = (deed.site, deed.what, deed.chain.clone());
        let next = self.all.len();
        let first = *self.first.entry(first).or_insert(next);
        if next >= MOST_DEEDS && first != next {
            let known = &mut self.all[first];
            if known.path != deed.path {
                known.path = None;
            }
            let mut moment = (*known.moment).clone();
            moment.meet(&deed.moment);
            known.moment = moments.keep(moment);
            return true;
        }
        alike.push(next);
        self.all.push(deed);
        false
    }

    /// All of them.
    pub fn all(self) -> Vec<Deed> {
        self.all
    }
}
