//! How much a warning deserves to be looked at, with the reasons by name.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::analysis::Analysis;
use crate::ir::Mark;
use crate::pairs::{Done, Pair, Same};
use crate::path::PathId;
use crate::summary::What;

/// Something that speaks for a warning or against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// How much: above 0 for it, below against it.
    pub weight: i32,
    /// In words.
    pub told: String,
}

/// How many of the accesses to a variable hold which lock.
#[derive(Default)]
pub struct Habits {
    of_variable: BTreeMap<PathId, (usize, BTreeMap<PathId, usize>)>,
}

impl Habits {
    /// Looks at all that the program does to memory.
    pub fn of(analysis: &mut Analysis, done: &[Done]) -> Self {
        let mut habits = Habits::default();
        for done in done {
            let mut seen = FxHashSet::default();
            for deed in &done.accesses {
                let Some(path) = deed.path else {
                    continue;
                };
                if !seen.insert((deed.site, path)) {
                    continue;
                }
                let variable = analysis.paths.plain(path);
                let locks: Vec<PathId> = deed.moment.held.iter().map(|held| held.lock).collect();
                let (count, by_lock) = habits.of_variable.entry(variable).or_default();
                *count += 1;
                for lock in locks {
                    *by_lock.entry(analysis.paths.plain(lock)).or_default() += 1;
                }
            }
        }
        habits
    }

    /// The lock that most accesses to a variable hold, with how many of how many.
    fn usual(&self, variable: PathId) -> Option<(PathId, usize, usize)> {
        let (count, by_lock) = self.of_variable.get(&variable)?;
        let (lock, times) = by_lock.iter().max_by_key(|(_, times)| **times)?;
        Some((*lock, *times, *count))
    }
}

/// The reasons for a warning's rank.
pub fn reasons(analysis: &mut Analysis, habits: &Habits, pair: &Pair) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut add = |weight: i32, told: String| reasons.push(Reason { weight, told });
    let [one, other] = &pair.deeds;
    match pair.same {
        Same::Surely => add(2, "both accesses are of the same variable".to_owned()),
        Same::Elements => add(
            -1,
            "the accesses are of elements of the same array, which may be different ones"
                .to_owned(),
        ),
        _ => add(
            -2,
            "the memory is reached through pointers that may point at different things".to_owned(),
        ),
    }
    let variable = one
        .path
        .or(other.path)
        .map(|path| analysis.paths.plain(path));
    if let Some((lock, times, count)) = variable.and_then(|variable| habits.usual(variable))
        && times * 2 > count
    {
        let name = analysis.lock_name(lock);
        add(2, format!("{times} of {count} accesses hold {name}"));
    }
    if one.moment.held.is_empty() && other.moment.held.is_empty() {
        add(0, "neither side holds a lock".to_owned());
    }
    if let Some(condition) = pair.condition {
        let name = analysis.name(condition);
        add(
            -3,
            format!("{name} may order them: one waits for it, the other announces it"),
        );
    }
    for deed in &pair.deeds {
        match deed.what {
            What::Access {
                mark: Mark::Atomic, ..
            } => add(-1, "one side is atomic".to_owned()),
            What::Access {
                mark: Mark::Volatile,
                ..
            } => add(-1, "one side is volatile".to_owned()),
            _ => {}
        }
    }
    let writes = pair
        .deeds
        .iter()
        .filter(|deed| matches!(deed.what, What::Access { writes: true, .. }));
    if writes.count() == 2 {
        add(1, "both sides write".to_owned());
    }
    if pair.is_covered {
        add(
            -3,
            "on every way there the same thread has done the same before, under no more locks"
                .to_owned(),
        );
    }
    reasons
}

/// The sum of the reasons.
pub fn rank(reasons: &[Reason]) -> i32 {
    reasons.iter().map(|reason| reason.weight).sum()
}
