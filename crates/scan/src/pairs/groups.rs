//! Accesses that are judged alike, so that each two kinds of them are judged once: first by what they may touch, then by what else is known of them.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::Analysis;
use crate::path::{Base, Site, Step};
use crate::points::Target;
use crate::summary::{Deed, What};

use super::Done;

/// How many pairs of groups of one class of memory are judged, at most. Beyond that, contexts are not told apart.
const MOST: usize = 2_000_000;

/// Accesses that are the same but for their statements: of the same root and thread, to the same memory, in the same moment.
pub struct Group {
    /// What is done from the same root.
    pub root: usize,
    /// The accesses.
    pub deeds: Vec<Rc<Deed>>,
    /// How many of them nothing covers.
    pub open: usize,
}

/// All groups of accesses to one piece of memory, as far as classes and types tell.
pub struct Bucket(pub Vec<Group>);

/// A piece of memory: its class and offset, the member of a structure, the size.
type Piece = (u32, i64, Option<u32>, u64);

/// All accesses, by what they touch.
pub fn buckets(
    analysis: &Analysis,
    done: &[Done],
    covered: &FxHashSet<*const Deed>,
) -> Vec<Vec<Bucket>> {
    let mut pieces: BTreeMap<Piece, Vec<(usize, &Rc<Deed>)>> = BTreeMap::new();
    for (root, done) in done.iter().enumerate() {
        for deed in &done.accesses {
            if let Some(Target { class, offset }) = deed.target {
                let member = analysis.members.number(deed.site, deed.writes());
                let piece = (class.number(), offset, member, deed.what.size());
                pieces.entry(piece).or_default().push((root, deed));
            }
        }
    }
    let mut classes: BTreeMap<u32, Vec<Bucket>> = BTreeMap::new();
    for ((class, ..), accesses) in pieces {
        let groups = grouped(analysis, &accesses, covered);
        classes.entry(class).or_default().push(Bucket(groups));
    }
    classes.into_values().collect()
}

impl Bucket {
    /// One of its accesses.
    pub fn first(&self) -> &Deed {
        &self.0[0].deeds[0]
    }
}

/// The pairs of buckets of a class that may touch the same. If that is too much to judge, contexts are not told apart any more; whether it was.
pub fn pairs(
    analysis: &mut Analysis,
    buckets: &mut [Bucket],
    may_touch: impl Fn(&Analysis, &Deed, &Deed) -> bool,
) -> (Vec<[usize; 2]>, bool) {
    let mut pairs = Vec::new();
    let mut judged = 0usize;
    for left in 0..buckets.len() {
        for right in left..buckets.len() {
            let two = [&buckets[left], &buckets[right]];
            if may_touch(analysis, two[0].first(), two[1].first()) {
                pairs.push([left, right]);
                judged = judged.saturating_add(two[0].0.len() * two[1].0.len());
            }
        }
    }
    let is_too_much = judged > MOST;
    if is_too_much {
        for bucket in buckets {
            bucket.0 = merged(analysis, &bucket.0);
        }
    }
    (pairs, is_too_much)
}

/// Puts accesses together that are judged alike.
fn grouped(
    analysis: &Analysis,
    accesses: &[(usize, &Rc<Deed>)],
    covered: &FxHashSet<*const Deed>,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut numbers = FxHashMap::default();
    for (root, deed) in accesses {
        let apart = match depends_on_way(analysis, deed) {
            true => Rc::as_ptr(deed),
            false => std::ptr::null(),
        };
        let moment = Rc::as_ptr(&deed.moment);
        let key = (*root, deed.path, deed.what, moment, apart);
        let number = *numbers.entry(key).or_insert_with(|| {
            groups.push(Group {
                root: *root,
                deeds: Vec::new(),
                open: 0,
            });
            groups.len() - 1
        });
        groups[number].deeds.push(Rc::clone(deed));
        groups[number].open += usize::from(!covered.contains(&Rc::as_ptr(deed)));
    }
    groups
}

/// Whether the way to an access says which memory it is: what a function has for itself is there for each thread that runs it.
fn depends_on_way(analysis: &Analysis, deed: &Deed) -> bool {
    if analysis.spawns.is_empty() {
        return false;
    }
    let of_path = deed.path.is_some_and(|path| {
        let base = analysis.paths.origin(path);
        let steps = analysis.paths.steps(path);
        matches!(base, Base::Local(..) | Base::Heap(_) | Base::Value(..))
            || steps.iter().any(|step| matches!(step, Step::Own(_)))
    });
    of_path || !deed.chain.is_empty()
}

/// One access for each statement, thread and root: what is known in all contexts.
fn merged(analysis: &mut Analysis, groups: &[Group]) -> Vec<Group> {
    let mut of_statement: BTreeMap<(usize, Site, What, Vec<Site>), Deed> = BTreeMap::new();
    for group in groups {
        for deed in &group.deeds {
            let key = (group.root, deed.site, deed.what, deed.chain.clone());
            let Some(known) = of_statement.get_mut(&key) else {
                of_statement.insert(key, (**deed).clone());
                continue;
            };
            if known.path != deed.path {
                known.path = None;
            }
            if !Rc::ptr_eq(&known.moment, &deed.moment) {
                let mut moment = (*known.moment).clone();
                moment.meet(&deed.moment);
                known.moment = analysis.moments.keep(moment);
            }
        }
    }
    let all = of_statement.into_iter();
    let all: Vec<(usize, Rc<Deed>)> = all
        .map(|((root, ..), deed)| (root, Rc::new(deed)))
        .collect();
    let accesses: Vec<(usize, &Rc<Deed>)> = all.iter().map(|(root, deed)| (*root, deed)).collect();
    grouped(analysis, &accesses, &FxHashSet::default())
}
