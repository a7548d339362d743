//! May two accesses touch the same memory, and are two locks surely the same?

use crate::analysis::{Analysis, overlap};
use crate::ir::FunctionId;
use crate::path::{Base, PathId, Site, Step};
use crate::summary::{Deed, What};

use super::threads::{Together, level};

/// How sure it is that two accesses touch the same memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Same {
    /// They do not.
    Never,
    /// Through pointers that may point at the same.
    Perhaps,
    /// Some elements of the same array.
    Elements,
    /// The same variable.
    Surely,
}

/// Whether the memory at a path is one of a kind for two deeds: not one for each thread.
fn is_common(analysis: &Analysis, base: Base, deeds: [&Deed; 2], way: Together) -> bool {
    let function = match base {
        Base::Local(function, _) | Base::Value(function, _) => function,
        Base::Heap(site) => site.function,
        Base::Parameter(_) => return true,
        Base::Global(_) | Base::Given(_) | Base::Named(_) => return true,
    };
    let depth = |deed: &Deed| level(&analysis.spawns, deed, function);
    let [one, other] = deeds.map(depth);
    let shared = match way {
        Together::Apart(common) => common,
        Together::Twins(number) => number,
        Together::Strangers => return false,
    };
    match (one, other) {
        (Some(one), Some(other)) => one == other && one <= shared,
        // What a callee that has returned left behind.
        _ => true,
    }
}

/// What belongs to one of several threads that were created at the same place is not another's.
fn is_own(analysis: &Analysis, path: PathId, deed: &Deed, way: Together) -> bool {
    let Together::Twins(number) = way else {
        return false;
    };
    let site: Site = deed.chain[number];
    let steps = analysis.paths.steps(path);
    // An element whose number is what the thread was given.
    let spawn = &analysis.spawns[&site];
    let is_thread = deed.chain.len() == number + 1 && deed.calls.iter().last() == Some(&site);
    if is_thread && spawn.has_number {
        let given = Some((deed.site.function, crate::ir::ValueId(0)));
        let mine = |step: &Step| matches!(step, Step::Element(_, index) if *index == given);
        let at = steps.iter().position(mine);
        if at.is_some_and(|at| !steps[at..].contains(&Step::Load)) {
            return true;
        }
    }
    let own = steps.iter().position(|step| *step == Step::Own(site));
    own.is_some_and(|at| !steps[at..].contains(&Step::Load))
}

/// Whether a creator makes ready what its next thread is given, while those before it have theirs: the access is before the creation, in
/// each round of the loop that creates them.
fn is_prepared(
    analysis: &Analysis,
    (theirs, thread): (PathId, &Deed),
    (path, creator): (PathId, &Deed),
) -> bool {
    let mut at = theirs;
    let given = loop {
        match analysis.paths.last(at) {
            Some((before, Step::Own(site))) => break (before, site),
            Some((_, Step::Load)) | None => return false,
            Some((before, _)) => at = before,
        }
    };
    let (given, spawn) = given;
    let is_child = thread.chain.len() == creator.chain.len() + 1
        && thread.chain.starts_with(&creator.chain)
        && thread.chain.last() == Some(&spawn);
    let mut at = Some(path);
    let mut is_part = false;
    while let Some(now) = at {
        is_part |= now == given;
        at = match analysis.paths.last(now) {
            Some((_, Step::Load)) | None => None,
            Some((before, _)) => Some(before),
        };
    }
    // In the creator's own frame, or in what it calls from there.
    let mut on_way = creator.calls.iter().chain([&creator.site]);
    let site = on_way.find(|site| site.function == spawn.function);
    is_child && is_part && site.is_some_and(|site| is_before(analysis, *site, spawn))
}

/// Whether a statement is not reached from another one without beginning another round of the loop around it.
fn is_before(analysis: &Analysis, site: Site, other: Site) -> bool {
    let shape = &analysis.calls.shapes[site.function.index()];
    let Some(around) = shape.loop_around(other.block) else {
        return false;
    };
    let around = &shape.loops[around as usize];
    if !around.blocks[site.block as usize] {
        return false;
    }
    if site.block == other.block {
        return site.statement < other.statement;
    }
    let function = analysis.program.function(site.function);
    let mut seen = vec![false; function.blocks.len()];
    let mut work = vec![other.block as usize];
    while let Some(block) = work.pop() {
        for next in function.blocks[block].terminator.successors() {
            let next = next.index();
            if next == around.head || !around.blocks[next] || seen[next] {
                continue;
            }
            seen[next] = true;
            work.push(next);
        }
    }
    !seen[site.block as usize]
}

/// Whether two accesses may touch the same memory.
pub fn same(analysis: &mut Analysis, one: &Deed, other: &Deed, way: Together) -> Same {
    let (What::Access { size: long, .. }, What::Access { size: wide, .. }) = (one.what, other.what)
    else {
        return Same::Never;
    };
    if let (Some(left), Some(right)) = (one.path, other.path) {
        if is_own(analysis, left, one, way) && is_own(analysis, right, other, way) {
            return Same::Never;
        }
        if is_prepared(analysis, (left, one), (right, other))
            || is_prepared(analysis, (right, other), (left, one))
        {
            return Same::Never;
        }
        let (left, right) = (analysis.paths.plain(left), analysis.paths.plain(right));
        let [from, to] = [left, right].map(|path| analysis.paths.origin(path));
        let loads = analysis.paths.loads(left) || analysis.paths.loads(right);
        let is_exact = |base| !matches!(base, Base::Value(..) | Base::Parameter(_));
        if !loads && is_exact(from) && is_exact(to) {
            if from != to || !is_common(analysis, from, [one, other], way) {
                return Same::Never;
            }
            let found = places(analysis, (left, long), (right, wide));
            return match found {
                Same::Elements if !may_overlap(analysis, one, other) => Same::Never,
                found => found,
            };
        }
        if left == right && is_common(analysis, from, [one, other], way) {
            let sure = analysis.paths.loads(left) && is_exact(from);
            return match sure {
                true => Same::Surely,
                false => Same::Perhaps,
            };
        }
    }
    match may_overlap(analysis, one, other) {
        true => Same::Perhaps,
        false => Same::Never,
    }
}

/// Whether the classes of memory say that two accesses may touch the same.
pub fn may_overlap(analysis: &Analysis, one: &Deed, other: &Deed) -> bool {
    let (What::Access { size: long, .. }, What::Access { size: wide, .. }) = (one.what, other.what)
    else {
        return false;
    };
    match (one.target, other.target) {
        (Some(left), Some(right)) => {
            let points = &analysis.points;
            let ranges = (points.range(left, long), points.range(right, wide));
            left.class == right.class && overlap(ranges.0, ranges.1)
        }
        _ => false,
    }
}

/// Two places in the same object.
fn places(analysis: &Analysis, (left, long): (PathId, u64), (right, wide): (PathId, u64)) -> Same {
    if left == right && !has_elements(analysis, left) {
        return Same::Surely;
    }
    let [one, other] = [left, right].map(|path| flat(analysis, path));
    match (one, other) {
        ((from, None), (to, None)) => match overlap((from, long), (to, wide)) {
            true => Same::Surely,
            false => Same::Never,
        },
        // Elements of the same size: it is their fields that matter.
        ((from, Some(stride)), (to, Some(other))) if stride == other && stride > 1 => {
            let stride = stride as i64;
            let (from, to) = (from.rem_euclid(stride), to.rem_euclid(stride));
            match overlap((from, long), (to, wide)) {
                true => Same::Elements,
                false => Same::Never,
            }
        }
        ((from, Some(stride)), (to, None)) | ((to, None), (from, Some(stride))) if stride > 1 => {
            let stride = stride as i64;
            let (from, to) = (from.rem_euclid(stride), to.rem_euclid(stride));
            let fits = long == 0 || wide == 0 || overlap((from, long), (to, wide));
            match fits {
                true => Same::Elements,
                false => Same::Never,
            }
        }
        _ => Same::Elements,
    }
}

fn has_elements(analysis: &Analysis, path: PathId) -> bool {
    let steps = analysis.paths.steps(path);
    steps.iter().any(|step| matches!(step, Step::Element(..)))
}

/// The sum of all fields, and the size of the elements if there are some on the way (of the innermost).
fn flat(analysis: &Analysis, path: PathId) -> (i64, Option<u64>) {
    let (mut offset, mut stride) = (0i64, None);
    for step in analysis.paths.steps(path) {
        match step {
            Step::Field(by) => offset = offset.saturating_add(by),
            Step::Element(size, _) => {
                stride = Some(stride.map_or(size, |known: u64| known.min(size)))
            }
            Step::Load | Step::Own(_) => {}
        }
    }
    (offset, stride)
}

/// Whether two locks are the same, if the accesses touch the same memory.
pub fn is_same_lock(
    analysis: &mut Analysis,
    [one, other]: [&Deed; 2],
    [left, right]: [PathId; 2],
    way: Together,
) -> bool {
    let (left, right) = (analysis.paths.plain(left), analysis.paths.plain(right));
    let base = analysis.paths.origin(left);
    let is_unique = left == right
        && !has_elements(analysis, left)
        && !matches!(base, Base::Value(..))
        && is_common(analysis, base, [one, other], way)
        && is_single(analysis, base)
        && is_near_given(analysis, base, [one, other])
        && is_steady(analysis, left);
    if is_unique {
        return true;
    }
    let (Some(data), Some(there)) = (one.path, other.path) else {
        return false;
    };
    let (data, there) = (analysis.paths.plain(data), analysis.paths.plain(there));
    is_relative(analysis, (data, left), (there, right))
}

/// Whether a base stands for one object only.
fn is_single(analysis: &Analysis, base: Base) -> bool {
    let once = |function: FunctionId| analysis.calls.runs_once(function);
    match base {
        Base::Global(_) | Base::Named(_) | Base::Given(_) => true,
        // Each caller of an entry may give another one.
        Base::Parameter(_) => false,
        Base::Local(function, _) => once(function),
        Base::Heap(site) => analysis.calls.is_once(site),
        Base::Value(..) => false,
    }
}

/// What callers of an entry hand over is taken for one object for what is reached from there. To a global variable each may bring another lock.
fn is_near_given(analysis: &Analysis, base: Base, deeds: [&Deed; 2]) -> bool {
    let is_given = |path: PathId| matches!(analysis.paths.origin(path), Base::Given(_));
    let mut data = deeds.iter().map(|deed| deed.path);
    !matches!(base, Base::Given(_)) || data.all(|path| path.is_some_and(is_given))
}

/// Whether what is read on the way is the same each time: a global pointer is, if it is set once. What pointers in structures hold is taken to
/// stay.
fn is_steady(analysis: &mut Analysis, path: PathId) -> bool {
    let Base::Global(global) = analysis.paths.origin(path) else {
        return true;
    };
    let mut offset = 0;
    for step in analysis.paths.steps(path) {
        match step {
            Step::Field(by) => offset += by,
            Step::Load => {
                let whole = analysis.points.of_global(global);
                let target = analysis.points.shifted(whole, offset);
                if analysis.stores.has_none(target) {
                    return true;
                }
                return match analysis.stores.only(target) {
                    Some(stored) => stored.site.is_none_or(|site| analysis.calls.is_once(site)),
                    None => false,
                };
            }
            Step::Element(..) | Step::Own(_) => return true,
        }
    }
    true
}

/// Whether both locks lie at the same place beside the data: in the same structure, or at the same index of another array.
fn is_relative(
    analysis: &Analysis,
    (data, lock): (PathId, PathId),
    (there, right): (PathId, PathId),
) -> bool {
    let origins = |paths: [PathId; 2]| paths.map(|path| analysis.paths.origin(path));
    let shape = |bases: [PathId; 2]| -> Option<(Vec<Step>, Vec<Step>)> {
        let [data, lock] = bases;
        let (to_data, to_lock) = (analysis.paths.steps(data), analysis.paths.steps(lock));
        let common = match origins(bases) {
            [Base::Global(own), Base::Global(other)] if own != other => {
                if to_lock.contains(&Step::Load) {
                    return None;
                }
                0
            }
            [own, other] if own != other => return None,
            _ => {
                let common = to_data.iter().zip(&to_lock);
                common.take_while(|(one, other)| one == other).count()
            }
        };
        let (to_data, to_lock) = (&to_data[common..], &to_lock[common..]);
        // From the data's address there is a way back only if no address was read on the way there.
        let is_near = !to_data.contains(&Step::Load);
        let indices = |steps: &[Step]| -> Vec<Step> {
            let all = steps
                .iter()
                .filter(|step| matches!(step, Step::Element(_, Some(_))));
            all.copied().collect()
        };
        let known = indices(to_data);
        let follows = indices(to_lock).iter().all(|step| {
            let Step::Element(_, index) = step else {
                return false;
            };
            known
                .iter()
                .any(|known| matches!(known, Step::Element(_, there) if there == index))
        });
        (is_near && follows).then(|| (nameless(to_data), nameless(to_lock)))
    };
    match (shape([data, lock]), shape([there, right])) {
        (Some(one), Some(other)) => {
            // In arrays of their own, both must be the same ones.
            let are_near = |[data, lock]: [Base; 2]| data == lock;
            let (mine, theirs) = (origins([data, lock]), origins([there, right]));
            one == other && (mine == theirs || are_near(mine) && are_near(theirs))
        }
        _ => false,
    }
}

fn nameless(steps: &[Step]) -> Vec<Step> {
    let nameless = steps.iter().map(|step| match step {
        Step::Element(stride, _) => Step::Element(*stride, None),
        other => *other,
    });
    nameless.collect()
}
