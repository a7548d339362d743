//! What is done somewhere, as it is gathered: each thing once, and of accesses only those that say something new.
//!
//! An access that is done in a weaker moment than the same one in another context is the one to keep: whoever races with the other races
//! with it. This is the paper's abstraction of contexts, done early.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::path::{PathId, Site};
use crate::points::Target;
use crate::summary::{Deed, What};

/// What tells deeds apart, but for their moments.
type Key = (Site, What, Option<PathId>, Option<Target>, Vec<Site>);

/// Deeds that are gathered.
#[derive(Default)]
pub struct Deeds {
    all: Vec<Deed>,
    /// Those that differ in their moments only.
    alike: FxHashMap<Key, Vec<usize>>,
}

impl Deeds {
    /// Adds one, unless it says nothing new.
    pub fn add(&mut self, deed: Deed) {
        let chain = deed.chain.clone();
        let key = (deed.site, deed.what, deed.path, deed.target, chain);
        let alike = self.alike.entry(key).or_default();
        let is_access = matches!(deed.what, What::Access { .. });
        let mut known = alike.iter().map(|known| &self.all[*known].moment);
        if known.any(|known| {
            Rc::ptr_eq(known, &deed.moment) || is_access && known.is_weaker(&deed.moment)
        }) {
            return;
        }
        let stronger = |known: &&usize| deed.moment.is_weaker(&self.all[**known].moment);
        match alike.iter().find(stronger).copied() {
            Some(stronger) if is_access => self.all[stronger] = deed,
            _ => {
                alike.push(self.all.len());
                self.all.push(deed);
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// All of them.
    pub fn all(self) -> Vec<Deed> {
        self.all
    }
}
