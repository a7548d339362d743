//! How much a warning deserves to be looked at, with the reasons by name.

use crate::analysis::Analysis;
use crate::habits::{Habits, Usual};
use crate::ir::Mark;
use crate::model::Model;
use crate::pairs::{Pair, Same};
use crate::summary::{Deed, What};

/// Something that speaks for a warning or against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// How much: above 0 for it, below against it.
    pub weight: i32,
    /// In words.
    pub told: String,
}

/// The reasons for a warning's rank.
pub fn reasons(analysis: &mut Analysis, habits: &Habits, pair: &Pair) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut add = |weight: i32, told: String| reasons.push(Reason { weight, told });
    let [one, other] = &pair.deeds;
    let members = [one, other].map(|deed| analysis.members.at(deed.site, deed.writes()).cloned());
    match (pair.same, &members) {
        (Same::Surely, _) => add(2, "both accesses are of the same variable".to_owned()),
        (Same::Elements, _) => add(
            -1,
            "the accesses are of elements of the same array, which may be different ones"
                .to_owned(),
        ),
        (_, [Some(left), Some(right)]) if analysis.model.has_types() && left == right => {
            let name = analysis.members.name(analysis.program, left);
            let name = name.unwrap_or_else(|| "the same member".to_owned());
            add(
                0,
                format!("both accesses are of {name}, perhaps of different ones"),
            );
        }
        _ => add(
            -2,
            "the memory is reached through pointers that may point at different things".to_owned(),
        ),
    }
    if let Some(usual) = habits.usual(analysis, [one, other])
        && usual.times * 2 > usual.count
    {
        let Usual {
            lock, times, count, ..
        } = usual;
        // An exception to a rule that others keep.
        let is_rule = times >= 3 && !usual.by_both;
        let weight = if is_rule { 4 } else { 2 };
        add(weight, format!("{times} of {count} accesses hold {lock}"));
    }
    for (word, weight, is_it) in [
        (
            "is of statistics",
            -3,
            Model::is_counter as fn(&Model, &str) -> bool,
        ),
        (
            "belongs to one thread at a time, as a rule",
            -3,
            Model::is_owned,
        ),
    ] {
        let mut layouts = members.iter().flatten().flat_map(|member| &member.within);
        let found = layouts.find_map(|(layout, _)| {
            let layout = analysis.program.layouts.get(layout.index())?;
            is_it(analysis.model, &layout.name).then(|| layout.name.clone())
        });
        if let Some(name) = found {
            add(weight, format!("{name} {word}"));
        }
    }
    for (word, weight, is_it) in [
        (
            "makes something new, by its name",
            -3,
            Model::is_making as fn(&Model, &str) -> bool,
        ),
        (
            "does away with something, by its name",
            -2,
            Model::is_ending,
        ),
    ] {
        let on_way = |deed: &Deed| {
            let mut sites = deed.calls.iter().chain([&deed.site]);
            sites.find_map(|site| {
                let name = &analysis.program.function(site.function).shown;
                is_it(analysis.model, name).then(|| name.clone())
            })
        };
        if let Some(name) = on_way(one).or_else(|| on_way(other)) {
            add(weight, format!("{name} {word}"));
        }
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
