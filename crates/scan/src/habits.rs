//! Which locks accesses to a variable usually hold.
//!
//! A statement counts once, and holds what it holds on all ways to it. Where the [model](crate::model) says that locks of the same member of the same type
//! are one, variables are counted by their members as well.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::analysis::Analysis;
use crate::ir::LayoutId;
use crate::members::Member;
use crate::model::Mode;
use crate::pairs::Done;
use crate::path::{PathId, Site};
use crate::state::Held;
use crate::summary::{Deed, What};

/// A variable or a lock: the same in all contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    /// A member of a type of structure.
    Member(LayoutId, i64),
    /// Whatever has this path.
    Path(PathId),
}

/// How many of the accesses to a variable hold which lock.
#[derive(Default)]
pub struct Habits {
    of_variable: BTreeMap<Key, Accesses>,
}

/// The accesses to a variable.
#[derive(Default)]
struct Accesses {
    count: usize,
    /// How many hold a lock, with one of its names.
    by_lock: BTreeMap<Key, (usize, PathId)>,
}

/// The lock that accesses to a variable usually hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usual {
    /// The lock's name.
    pub lock: String,
    /// How many accesses hold it.
    pub times: usize,
    /// How many there are.
    pub count: usize,
    /// Whether both accesses of the pair that was asked for hold it.
    pub by_both: bool,
}

impl Habits {
    /// Looks at all that the program does to memory.
    pub fn of(analysis: &mut Analysis, done: &[Done]) -> Self {
        let mut by_site: FxHashMap<(Site, Key), Vec<(Key, PathId)>> = FxHashMap::default();
        for done in done {
            for deed in &done.accesses {
                let Some(variable) = variable(analysis, deed) else {
                    continue;
                };
                let locks = locks(analysis, &deed.moment.held);
                let known = by_site
                    .entry((deed.site, variable))
                    .or_insert_with(|| locks.clone());
                known.retain(|(lock, _)| locks.iter().any(|(other, _)| other == lock));
            }
        }
        let mut habits = Habits::default();
        for ((_, variable), locks) in by_site {
            let accesses = habits.of_variable.entry(variable).or_default();
            accesses.count += 1;
            for (lock, name) in locks {
                let (times, known) = accesses.by_lock.entry(lock).or_insert((0, name));
                *times += 1;
                // The same name whatever comes first.
                *known = name.min(*known);
            }
        }
        habits
    }

    /// The lock that most accesses to the variable of a pair hold.
    pub fn usual(&self, analysis: &mut Analysis, deeds: [&Deed; 2]) -> Option<Usual> {
        let variable = deeds
            .into_iter()
            .find_map(|deed| variable(analysis, deed))?;
        let Accesses { count, by_lock } = self.of_variable.get(&variable)?;
        let (lock, (times, name)) = by_lock.iter().max_by_key(|(_, (times, _))| *times)?;
        let mut holds = |deed: &Deed| {
            let held = locks(analysis, &deed.moment.held);
            held.iter().any(|(held, _)| held == lock)
        };
        let by_both = deeds.into_iter().all(&mut holds);
        Some(Usual {
            lock: match *lock {
                Key::Member(layout, offset) => analysis.program.member_name(layout, offset),
                Key::Path(_) => analysis.lock_name(*name),
            },
            times: *times,
            count: *count,
            by_both,
        })
    }
}

/// The variable that a deed accesses.
fn variable(analysis: &mut Analysis, deed: &Deed) -> Option<Key> {
    let What::Access { writes, .. } = deed.what else {
        return None;
    };
    let member = analysis.members.at(deed.site, writes);
    let member = member.filter(|_| analysis.model.has_lock_classes());
    let place = member.and_then(Member::outermost);
    match place {
        Some((layout, offset)) => Some(Key::Member(layout, offset)),
        None => deed.path.map(|path| Key::Path(analysis.paths.plain(path))),
    }
}

/// Locks that are held alone, with their names.
fn locks(analysis: &mut Analysis, held: &[Held]) -> Vec<(Key, PathId)> {
    let alone = held.iter().filter(|held| held.mode == Mode::Write);
    alone
        .map(|held| {
            let member = analysis.members.at(held.at, false);
            let member = member.filter(|_| analysis.model.has_lock_classes());
            let place = member.and_then(Member::outermost);
            let plain = analysis.paths.plain(held.lock);
            match place {
                Some((layout, offset)) => (Key::Member(layout, offset), plain),
                None => (Key::Path(plain), plain),
            }
        })
        .collect()
}
