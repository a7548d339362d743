//! Which accesses say nothing new: on every way to them the same thread has done the same before, under no more locks.
//!
//! This is the paper's weaker-than relation by acquisition histories, with covers along every way. It looks within one function
//! and one context of it; nothing is dropped, what is covered is ranked lower.

use std::rc::Rc;

use crate::analysis::Analysis;
use crate::ir::Function;
use crate::path::Site;
use crate::summary::{Deed, What};

use super::Pair;

/// Whether the first access is weaker than the second: whoever races with the second races with the first.
fn is_weaker(first: &Deed, second: &Deed) -> bool {
    let writes = |deed: &Deed| matches!(deed.what, What::Access { writes: true, .. });
    let (What::Access { size: long, .. }, What::Access { size: wide, .. }) =
        (first.what, second.what)
    else {
        return false;
    };
    let has_locks = first.held.iter().all(|held| {
        let there = second.held.iter().find(|there| there.lock == held.lock);
        there.is_some_and(|there| held.mode <= there.mode && held.since.is_subset(&there.since))
    });
    first.site != second.site
        && first.site.function == second.site.function
        && first.path.is_some()
        && first.path == second.path
        && long == wide
        && first.chain == second.chain
        && first.calls == second.calls
        && first.after == second.after
        && first.live == second.live
        && has_locks
        && (writes(first) || writes(first) == writes(second))
}

/// Whether every way from the function's beginning to a statement leads through one of these.
pub(crate) fn is_covered(function: &Function, at: Site, by: &[Site]) -> bool {
    let mut seen = vec![false; function.blocks.len()];
    let mut work = vec![0usize];
    while let Some(block) = work.pop() {
        if std::mem::replace(&mut seen[block], true) {
            continue;
        }
        let here = by.iter().filter(|site| site.block as usize == block);
        let first = here.map(|site| site.statement).min();
        if at.block as usize == block && first.is_none_or(|first| first > at.statement) {
            return false;
        }
        if first.is_none() {
            let next = function.blocks[block].terminator.successors();
            work.extend(next.into_iter().map(|next| next.index()));
        }
    }
    true
}

/// For each pair whether another one says the same: that pair's number.
pub fn covers(analysis: &Analysis, pairs: &[Pair]) -> Vec<Option<usize>> {
    let mut covered = vec![None; pairs.len()];
    for (number, pair) in pairs.iter().enumerate() {
        for side in [0, 1] {
            let own = &pair.deeds[side];
            let partner = &pair.deeds[1 - side];
            let weaker: Vec<(usize, Rc<Deed>)> = pairs
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != number)
                .flat_map(|(other, there)| {
                    let sides = [(0, 1), (1, 0)].into_iter();
                    sides.filter_map(move |(mine, theirs)| {
                        let is_same = there.deeds[theirs].site == partner.site;
                        is_same.then(|| (other, Rc::clone(&there.deeds[mine])))
                    })
                })
                .filter(|(_, deed)| is_weaker(deed, own))
                .collect();
            let sites: Vec<Site> = weaker.iter().map(|(_, deed)| deed.site).collect();
            let function = analysis.program.function(own.site.function);
            if !sites.is_empty() && is_covered(function, own.site, &sites) {
                covered[number] = Some(weaker[0].0);
            }
        }
    }
    covered
}
