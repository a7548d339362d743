//! Are two locks surely the same?

use crate::analysis::Analysis;
use crate::ir::FunctionId;
use crate::path::{Base, PathId, Step};
use crate::summary::Deed;

use super::alias::{has_elements, is_common};
use super::threads::Together;

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
        Base::Parameter(_) | Base::Own(_) => false,
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
        // Any part of an element is as good as all of it.
        let last = to_data
            .iter()
            .rposition(|step| matches!(step, Step::Element(..)));
        let to_element = last.map_or(to_data, |last| &to_data[..=last]);
        (is_near && follows).then(|| (nameless(to_element), nameless(to_lock)))
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
