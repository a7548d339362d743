//! May two accesses touch the same memory?

use crate::analysis::{Analysis, overlap};
use crate::ir::LayoutId;
use crate::members::{self, Members};
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
pub(super) fn is_common(analysis: &Analysis, base: Base, deeds: [&Deed; 2], way: Together) -> bool {
    let function = match base {
        Base::Local(function, _) | Base::Value(function, _) => function,
        Base::Heap(site) => site.function,
        Base::Parameter(_) => return true,
        Base::Global(_) | Base::Named(_) => return true,
        Base::Given(layout) => return !analysis.members.is_owned(LayoutId(layout)),
        Base::Own(_) => return false,
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

/// Whether an access is of a local variable whose address nobody has stored: another call from outside has no way to it.
fn is_hidden(analysis: &Analysis, deed: &Deed) -> bool {
    let Some(path) = deed.path else {
        return false;
    };
    match analysis.paths.origin(path) {
        Base::Local(function, local) => {
            !analysis.paths.loads(path) && !analysis.published.contains(&(function, local))
        }
        _ => false,
    }
}

/// Whether two accesses may touch the same memory.
pub fn same(analysis: &mut Analysis, one: &Deed, other: &Deed, way: Together) -> Same {
    let (What::Access { size: long, .. }, What::Access { size: wide, .. }) = (one.what, other.what)
    else {
        return Same::Never;
    };
    if way == Together::Strangers && [one, other].iter().any(|deed| is_hidden(analysis, deed)) {
        return Same::Never;
    }
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
        // What belongs to one thread may be reached by others in another way.
        let is_sole = |base| matches!(base, Base::Own(_));
        if !loads && is_exact(from) && is_exact(to) && is_sole(from) == is_sole(to) {
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

/// Whether the classes of memory and the types say that two accesses may touch the same.
pub fn may_overlap(analysis: &Analysis, one: &Deed, other: &Deed) -> bool {
    let (What::Access { size: long, .. }, What::Access { size: wide, .. }) = (one.what, other.what)
    else {
        return false;
    };
    let (Some(left), Some(right)) = (one.target, other.target) else {
        return false;
    };
    let points = &analysis.points;
    if left.class != right.class || !overlap(points.range(left, long), points.range(right, wide)) {
        return false;
    }
    let members = &analysis.members;
    let [first, second] = [one, other].map(|deed| members.at(deed.site, deed.writes()));
    match (first, second) {
        (Some(_), None) | (None, Some(_)) if analysis.model.has_types() => {
            // What is accessed without a type is a member if the way there says so.
            let of_path = |deed: &Deed, size| {
                let path = deed.path?;
                Members::on_path(analysis, path, size)
            };
            let (mine, theirs) = (of_path(one, long), of_path(other, wide));
            let (first, second) = (first.or(mine.as_ref()), second.or(theirs.as_ref()));
            first.is_some()
                && second.is_some()
                && members::may_be_same(analysis.program, (first, long), (second, wide))
        }
        (Some(_), None) if is_no_structure(analysis, other) => false,
        (None, Some(_)) if is_no_structure(analysis, one) => false,
        _ => members::may_be_same(analysis.program, (first, long), (second, wide)),
    }
}

/// Whether an access is of a global variable that is no structure and has none.
fn is_no_structure(analysis: &Analysis, deed: &Deed) -> bool {
    let Some(path) = deed.path else {
        return false;
    };
    match analysis.paths.origin(path) {
        Base::Global(global) => {
            let global = analysis.program.global(global);
            global.layout.is_none() && !analysis.paths.loads(path)
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

pub(super) fn has_elements(analysis: &Analysis, path: PathId) -> bool {
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
