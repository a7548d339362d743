//! Sets of locks, each once: a set is a number, and what was asked about two sets is remembered.

use std::hash::{BuildHasher, Hash};

use rustc_hash::{FxBuildHasher, FxHashMap};

/// A set of numbers in a [`Locksets`] table. The same number is the same set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocksetId(u32);

impl LocksetId {
    /// The set that has nothing in it, in every table.
    pub const EMPTY: LocksetId = LocksetId(0);
}

/// All sets of locks that came up.
///
/// ```
/// use deadheat_detect::{LocksetId, Locksets};
///
/// let mut sets = Locksets::new();
/// let (a, b) = (sets.intern(&[1, 4, 7]), sets.intern(&[4, 9]));
/// let both = sets.intersection(a, b);
/// assert_eq!(sets.locks(both), [4]);
/// assert!(sets.is_subset(both, a) && !sets.are_disjoint(a, b));
/// assert_eq!(sets.intern(&[]), LocksetId::EMPTY);
/// ```
#[derive(Clone, Debug)]
pub struct Locksets {
    /// The locks of all sets, end to end.
    locks: Vec<u32>,
    /// Where each set ends.
    ends: Vec<u32>,
    by_hash: FxHashMap<u64, Vec<LocksetId>>,
    intersections: FxHashMap<(LocksetId, LocksetId), LocksetId>,
}

impl Default for Locksets {
    fn default() -> Self {
        Self::new()
    }
}

impl Locksets {
    /// Only the empty set.
    pub fn new() -> Self {
        let mut sets = Locksets {
            locks: Vec::new(),
            ends: Vec::new(),
            by_hash: FxHashMap::default(),
            intersections: FxHashMap::default(),
        };
        sets.intern(&[]);
        sets
    }

    /// The number of a set, given in ascending order without repetitions.
    pub fn intern(&mut self, locks: &[u32]) -> LocksetId {
        debug_assert!(locks.is_sorted_by(|a, b| a < b));
        let hash = hash_of(locks);
        let known = self.by_hash.get(&hash).into_iter().flatten();
        if let Some(id) = known.copied().find(|id| self.locks(*id) == locks) {
            return id;
        }
        let id = LocksetId(self.ends.len() as u32);
        self.locks.extend_from_slice(locks);
        self.ends.push(self.locks.len() as u32);
        self.by_hash.entry(hash).or_default().push(id);
        id
    }

    /// What is in a set, in ascending order.
    pub fn locks(&self, id: LocksetId) -> &[u32] {
        let start = match id.0 {
            0 => 0,
            number => self.ends[number as usize - 1],
        };
        &self.locks[start as usize..self.ends[id.0 as usize] as usize]
    }

    /// What is in both.
    pub fn intersection(&mut self, a: LocksetId, b: LocksetId) -> LocksetId {
        if a == b {
            return a;
        }
        if a == LocksetId::EMPTY || b == LocksetId::EMPTY {
            return LocksetId::EMPTY;
        }
        let pair = (a.min(b), a.max(b));
        if let Some(known) = self.intersections.get(&pair) {
            return *known;
        }
        let others = self.locks(b);
        let both = self.locks(a).iter().copied();
        let both: Vec<u32> = both
            .filter(|lock| others.binary_search(lock).is_ok())
            .collect();
        let id = self.intern(&both);
        self.intersections.insert(pair, id);
        id
    }

    /// Whether all of the first is in the second.
    pub fn is_subset(&mut self, a: LocksetId, b: LocksetId) -> bool {
        self.intersection(a, b) == a
    }

    /// Whether nothing is in both.
    pub fn are_disjoint(&mut self, a: LocksetId, b: LocksetId) -> bool {
        self.intersection(a, b) == LocksetId::EMPTY
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        (self.locks.capacity() + self.ends.capacity()) * size_of::<u32>()
            + self.by_hash.capacity() * size_of::<(u64, Vec<LocksetId>)>()
            + self.ends.len() * size_of::<LocksetId>()
            + self.intersections.capacity() * size_of::<(LocksetId, LocksetId, LocksetId)>()
    }
}

fn hash_of(locks: &[u32]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    locks.hash(&mut hasher);
    std::hash::Hasher::finish(&hasher)
}
