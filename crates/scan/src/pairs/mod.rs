//! Pairs of accesses that nothing keeps apart: the warnings.
//!
//! As in the paper, a pair needs disjoint locksets and consistent acquisition histories; beyond it, the two must be able to happen at the same
//! time, touch the same memory as far as anybody knows, and be ordered by nothing else.

mod alias;
mod cover;
pub mod deadlocks;
mod done;
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
use crate::points::ClassId;
use crate::summary::{Deed, What};

pub use alias::Same;
pub(crate) use cover::is_covered;
pub use done::{Done, Root, all};
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
}

/// Which pairs are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All.
    All,
    /// For each access one with every set of accesses that are alike: where many do the same, not each with each.
    EachPlace,
}

/// How many groups of accesses of one class are paired at most; beyond that, one of each statement and its locks.
const MOST: usize = 3000;

/// Accesses that are the same but for their statements: of the same root and thread, to the same memory, in the same moment.
struct Group {
    root: usize,
    deeds: Vec<Rc<Deed>>,
    /// How many of them nothing covers.
    open: usize,
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
        counts: Counts::default(),
    };
    for mut groups in search.groups(analysis).into_values() {
        if groups.len() > MOST {
            thin(&mut groups);
        }
        for (at, one) in groups.iter().enumerate() {
            for other in &groups[at..] {
                search.pair(analysis, one, other);
            }
        }
    }
    (search.found.into_values().collect(), search.counts)
}

struct Search<'d> {
    done: &'d [Done],
    wanted: Wanted,
    /// Accesses that say nothing new, by where they are kept.
    covered: FxHashSet<*const Deed>,
    found: BTreeMap<(Site, Site), Pair>,
    counts: Counts,
}

impl Search<'_> {
    /// Accesses by their classes, those together that are judged alike.
    fn groups(&self, analysis: &Analysis) -> BTreeMap<ClassId, Vec<Group>> {
        let mut classes: BTreeMap<ClassId, Vec<Group>> = BTreeMap::new();
        let mut numbers = FxHashMap::default();
        for (root, done) in self.done.iter().enumerate() {
            for deed in &done.accesses {
                let Some(target) = deed.target else {
                    continue;
                };
                let groups = classes.entry(target.class).or_default();
                // Among threads, what an access touches depends on the way there as well.
                let apart = match analysis.spawns.is_empty() {
                    true => std::ptr::null(),
                    false => Rc::as_ptr(deed),
                };
                let moment = Rc::as_ptr(&deed.moment);
                let member = analysis.members.number(deed.site, deed.writes());
                let key = (root, deed.path, target, deed.what, member, moment, apart);
                let number = *numbers.entry(key).or_insert_with(|| {
                    groups.push(Group {
                        root,
                        deeds: Vec::new(),
                        open: 0,
                    });
                    groups.len() - 1
                });
                groups[number].deeds.push(Rc::clone(deed));
                groups[number].open += usize::from(!self.covered.contains(&Rc::as_ptr(deed)));
            }
        }
        classes
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
                let (one, other) = (&left[at % left.len()], &right[next % right.len()]);
                self.add([one, other], same, condition);
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

    fn add(&mut self, [one, other]: [&Rc<Deed>; 2], same: Same, condition: Option<PathId>) {
        let is_covered = |deed: &Rc<Deed>| self.covered.contains(&Rc::as_ptr(deed));
        let pair = Pair {
            deeds: [Rc::clone(one), Rc::clone(other)],
            same,
            condition,
            contexts: 1,
            is_covered: is_covered(one) || is_covered(other),
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

/// Leaves one of each statement, thread and set of locks.
fn thin(groups: &mut Vec<Group>) {
    let mut seen = FxHashSet::default();
    groups.retain_mut(|group| {
        let root = group.root;
        group.deeds.retain(|deed| {
            let locks: Vec<PathId> = deed.moment.held.iter().map(|held| held.lock).collect();
            seen.insert((root, deed.site, deed.chain.clone(), locks))
        });
        group.open = group.open.min(group.deeds.len());
        !group.deeds.is_empty()
    });
}
