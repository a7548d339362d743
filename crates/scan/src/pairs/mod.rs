//! Pairs of accesses that nothing keeps apart: the warnings.
//!
//! As in the paper, a pair needs disjoint locksets and consistent acquisition histories; beyond it, the two must be able to happen at the same
//! time, touch the same memory as far as anybody knows, and be ordered by nothing else.

mod alias;
pub mod cover;
pub mod deadlocks;
mod protect;
pub mod ruled_out;
mod semaphores;
mod threads;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::analysis::Analysis;
use crate::ir::{FunctionId, Mark};
use crate::model::Mode;
use crate::path::{Base, PathId, Site};
use crate::points::ClassId;
use crate::state::{Held, State};
use crate::summary::{Arguments, Deed, What, unread};

pub use alias::Same;
pub use protect::Order;
pub use threads::Together;

/// Where a program, or a part of one, begins.
#[derive(Clone, Debug)]
pub struct Root {
    /// The function.
    pub function: FunctionId,
    /// Whether it may run twice at once.
    pub is_parallel: bool,
    /// Locks that its caller holds, by the numbers of their names.
    pub locks: Vec<u32>,
}

impl Root {
    /// One whose caller holds nothing.
    pub fn of(function: FunctionId, is_parallel: bool) -> Self {
        Root {
            function,
            is_parallel,
            locks: Vec::new(),
        }
    }

    /// What it does. Parameters that point at the same kind of structure point at the same one, and the caller's locks are held.
    pub fn deeds(&self, analysis: &mut Analysis) -> Vec<Deed> {
        let Some(summary) = analysis.summaries[self.function.index()].clone() else {
            return Vec::new();
        };
        let function = analysis.program.function(self.function);
        let parameters = &function.values[..function.parameters as usize];
        let given: Vec<Option<PathId>> = parameters
            .iter()
            .map(|parameter| {
                let layout = parameter.pointee?;
                Some(analysis.paths.base(Base::Given(layout.0)))
            })
            .collect();
        let terms = Arguments {
            callee: self.function,
            paths: &given,
            read: &unread,
        };
        let mut begin = State::default();
        for lock in &self.locks {
            let lock = analysis.paths.base(Base::Named(*lock));
            begin.lock(Held {
                lock,
                target: None,
                mode: Mode::Write,
                depth: 1,
                at: Site {
                    function: self.function,
                    ..Site::default()
                },
                since: Default::default(),
            });
        }
        summary
            .deeds
            .iter()
            .map(|deed| Deed {
                calls: deed.calls.clone(),
                ..terms.deed(&mut analysis.paths, deed, &begin, deed.site)
            })
            .collect()
    }
}

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
}

/// How many deeds of one class are paired at most; beyond that, one of each statement and its locks.
const MOST: usize = 1500;

/// All pairs that may race, one for each two statements.
pub fn find(analysis: &mut Analysis, roots: &[Root]) -> (Vec<Pair>, Counts) {
    let mut counts = Counts::default();
    let mut found: BTreeMap<(Site, Site), Pair> = BTreeMap::new();
    let mut of_root: Vec<Vec<Deed>> = roots.iter().map(|root| root.deeds(analysis)).collect();
    semaphores::without_messages(analysis, &mut of_root);
    let mut classes: BTreeMap<ClassId, Vec<(usize, Rc<Deed>)>> = BTreeMap::new();
    for (number, deeds) in of_root.iter().enumerate() {
        for deed in deeds {
            if let (What::Access { .. }, Some(target)) = (deed.what, deed.target) {
                let all = classes.entry(target.class).or_default();
                all.push((number, Rc::new(deed.clone())));
            }
        }
    }
    for deeds in classes.values_mut() {
        if deeds.len() > MOST {
            thin(deeds);
        }
        for (at, (root, one)) in deeds.iter().enumerate() {
            for (other_root, other) in &deeds[at..] {
                if !conflict(one, other) || !alias::may_overlap(analysis, one, other) {
                    continue;
                }
                let ways = match root == other_root {
                    true => {
                        let is_parallel = roots[*root].is_parallel;
                        threads::together(&analysis.spawns, is_parallel, one, other)
                    }
                    false => vec![Together::Strangers],
                };
                for way in ways {
                    let all = &of_root[*root];
                    judge(analysis, all, [one, other], way, &mut found, &mut counts);
                }
            }
        }
    }
    (found.into_values().collect(), counts)
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

fn judge(
    analysis: &mut Analysis,
    all: &[Deed],
    [one, other]: [&Rc<Deed>; 2],
    way: Together,
    found: &mut BTreeMap<(Site, Site), Pair>,
    counts: &mut Counts,
) {
    let same = alias::same(analysis, one, other, way);
    if same == Same::Never || protect::is_locked(analysis, one, other, way) {
        return;
    }
    counts.disjoint += 1;
    if protect::is_inconsistent(analysis, one, other, way).is_some() {
        counts.inconsistent += 1;
        return;
    }
    let condition = match protect::order(analysis, all, one, other) {
        Order::Sure => {
            counts.ordered += 1;
            return;
        }
        Order::Perhaps(condition) => Some(condition),
        Order::None => None,
    };
    let pair = Pair {
        deeds: [Rc::clone(one), Rc::clone(other)],
        same,
        condition,
        contexts: 1,
    };
    let key = (one.site.min(other.site), one.site.max(other.site));
    match found.get_mut(&key) {
        Some(known) => {
            let contexts = known.contexts + 1;
            // The surest context speaks for all.
            if (known.same, known.condition.is_none()) < (pair.same, pair.condition.is_none()) {
                *known = pair;
            }
            known.contexts = contexts;
        }
        None => {
            found.insert(key, pair);
        }
    }
}

/// Leaves one of each statement, thread and set of locks.
fn thin(deeds: &mut Vec<(usize, Rc<Deed>)>) {
    let mut seen = std::collections::BTreeSet::new();
    deeds.retain(|(root, deed)| {
        let locks: Vec<PathId> = deed.held.iter().map(|held| held.lock).collect();
        seen.insert((*root, deed.site, deed.chain.clone(), locks))
    });
}
