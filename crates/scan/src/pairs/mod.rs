//! Pairs of accesses that nothing keeps apart: the warnings.
//!
//! As in the paper, a pair needs disjoint locksets and consistent acquisition histories; beyond it, the two must be able to happen at the same
//! time, touch the same memory as far as anybody knows, and be ordered by nothing else.

mod alias;
mod circles;
mod cover;
pub mod deadlocks;
mod done;
mod groups;
mod protect;
pub mod ruled_out;
mod same_lock;
mod semaphores;
mod threads;

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::Analysis;
use crate::ir::Mark;
use crate::path::{PathId, Site};
use crate::summary::{Deed, What};

pub use alias::Same;
pub(crate) use cover::is_covered;
pub use done::{Done, Root, all};
use groups::Group;
pub use protect::Order;
pub use threads::Together;

/// A pair of accesses that may race.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The accesses.
    pub deeds: [Rc<Deed>; 2],
    /// How sure it is that they touch the same memory.
    pub same: Same,
    /// A condition that may order them.
    pub condition: Option<PathId>,
    /// In how many contexts they were found.
    pub contexts: usize,
    /// Whether another pair says the same: on every way to one of them the same was done before.
    pub is_covered: bool,
}

/// How many pairs were left at each stage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Pairs with disjoint locksets.
    pub disjoint: usize,
    /// Those of them that the histories of locks rule out.
    pub inconsistent: usize,
    /// Those that something else orders.
    pub ordered: usize,
    /// Those that another one covers.
    pub covered: usize,
    /// In how many classes of memory there were so many contexts that they were not told apart.
    pub merged: usize,
}

/// Which pairs are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All.
    All,
    /// For each access one with every set of accesses that are alike: where many do the same, not each with each.
    EachPlace,
}

/// All pairs that may race, one for each two statements.
pub fn find(analysis: &mut Analysis, done: &[Done], wanted: Wanted) -> (Vec<Pair>, Counts) {
    let covered: FxHashSet<*const Deed> = done
        .iter()
        .flat_map(|done| cover::covered(analysis, &done.accesses))
        .collect();
    let mut search = Search {
        done,
        wanted,
        covered,
        found: BTreeMap::new(),
        best: FxHashMap::default(),
        counts: Counts::default(),
    };
    for mut buckets in groups::buckets(analysis, done, &search.covered) {
        let (pairs, is_too_much) = groups::pairs(analysis, &mut buckets, may_touch);
        search.counts.merged += usize::from(is_too_much);
        for [left, right] in pairs {
            search.pair_all(analysis, &buckets[left].0, &buckets[right].0);
        }
    }
    (search.found.into_values().collect(), search.counts)
}

/// How sure a pair is: whether nothing covers it, whether it is the same memory, whether no condition may order it.
type Surety = (bool, Same, bool);

struct Search<'d> {
    done: &'d [Done],
    wanted: Wanted,
    /// Accesses that say nothing new, by where they are kept.
    covered: FxHashSet<*const Deed>,
    found: BTreeMap<(Site, Site), Pair>,
    /// How sure the surest pair is that a statement is in, if not all are wanted.
    best: FxHashMap<(Site, What), Option<Surety>>,
    counts: Counts,
}

impl Search<'_> {
    /// Each group of one kind with each of another, or each two of one kind.
    fn pair_all(&mut self, analysis: &mut Analysis, left: &[Group], right: &[Group]) {
        let is_same = std::ptr::eq(left, right);
        for (at, one) in left.iter().enumerate() {
            let from = if is_same { at } else { 0 };
            for other in &right[from..] {
                self.pair(analysis, one, other);
            }
        }
    }

    /// Two groups, or one with itself.
    fn pair(&mut self, analysis: &mut Analysis, left: &Group, right: &Group) {
        let (one, other) = (&left.deeds[0], &right.deeds[0]);
        if !conflict(one, other) || !alias::may_overlap(analysis, one, other) {
            return;
        }
        let done = &self.done[left.root];
        let ways = match left.root == right.root {
            true => threads::together(&analysis.spawns, done.is_parallel, one, other),
            false => vec![Together::Strangers],
        };
        let times = |left: usize, right: usize, is_same: bool| match is_same {
            true => left * (left + 1) / 2,
            false => left * right,
        };
        let is_same = std::ptr::eq(left, right);
        let pairs = times(left.deeds.len(), right.deeds.len(), is_same);
        for way in ways {
            let same = alias::same(analysis, one, other, way);
            if same == Same::Never || protect::is_locked(analysis, one, other, way) {
                continue;
            }
            self.counts.disjoint += pairs;
            if protect::is_inconsistent(analysis, one, other, way).is_some() {
                self.counts.inconsistent += pairs;
                continue;
            }
            let condition = match protect::order(analysis, done, one, other) {
                Order::Sure => {
                    self.counts.ordered += pairs;
                    continue;
                }
                Order::Perhaps(condition) => Some(condition),
                Order::None => None,
            };
            self.counts.covered += pairs - times(left.open, right.open, is_same);
            self.note(left, right, same, condition);
        }
    }

    /// The pairs of two groups may race.
    fn note(&mut self, left: &Group, right: &Group, same: Same, condition: Option<PathId>) {
        let is_same = std::ptr::eq(left, right);
        let (left, right) = (&left.deeds, &right.deeds);
        if self.wanted == Wanted::EachPlace {
            for at in 0..left.len().max(right.len()) {
                // Two different ones, if there are.
                let next = at + usize::from(is_same);
                let two = [&left[at % left.len()], &right[next % right.len()]];
                let surety = (!self.is_covered(two), same, condition.is_none());
                // Each of them may be in a pair already that is as sure.
                let mut is_new = false;
                for deed in two {
                    let known = self.best.entry((deed.site, deed.what)).or_insert(None);
                    is_new |= *known < Some(surety);
                    *known = (*known).max(Some(surety));
                }
                if is_new {
                    self.add(two, same, condition);
                }
            }
            return;
        }
        for (at, one) in left.iter().enumerate() {
            let from = if is_same { at } else { 0 };
            for other in &right[from..] {
                self.add([one, other], same, condition);
            }
        }
    }

    /// Whether another pair says the same.
    fn is_covered(&self, deeds: [&Rc<Deed>; 2]) -> bool {
        let mut deeds = deeds.into_iter();
        deeds.any(|deed| self.covered.contains(&Rc::as_ptr(deed)))
    }

    fn add(&mut self, [one, other]: [&Rc<Deed>; 2], same: Same, condition: Option<PathId>) {
        let pair = Pair {
            deeds: [Rc::clone(one), Rc::clone(other)],
            same,
            condition,
            contexts: 1,
            is_covered: self.is_covered([one, other]),
        };
        let surety = |pair: &Pair| (pair.same, pair.condition.is_none(), !pair.is_covered);
        let key = (one.site.min(other.site), one.site.max(other.site));
        match self.found.get_mut(&key) {
            Some(known) => {
                let contexts = known.contexts + 1;
                // The surest context speaks for all.
                if surety(known) < surety(&pair) {
                    *known = pair;
                }
                known.contexts = contexts;
            }
            None => {
                self.found.insert(key, pair);
            }
        }
    }
}

/// One of them writes, and one of them should not happen together with others.
fn conflict(one: &Deed, other: &Deed) -> bool {
    match (one.what, other.what) {
        (
            What::Access {
                writes: left,
                mark: first,
                ..
            },
            What::Access {
                writes: right,
                mark: second,
                ..
            },
        ) => (left || right) && (first == Mark::Plain || second == Mark::Plain),
        _ => false,
    }
}

/// Whether accesses to two pieces of memory may touch the same, by their classes and types. Where types are not everything, each two are
/// looked at.
fn may_touch(analysis: &Analysis, one: &Deed, other: &Deed) -> bool {
    let has_type = |deed: &Deed| {
        let member = analysis.members.number(deed.site, deed.writes());
        member.is_some()
    };
    let is_known = has_type(one) && has_type(other);
    !is_known || alias::may_overlap(analysis, one, other)
}
