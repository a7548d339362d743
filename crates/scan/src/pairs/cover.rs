//! Which accesses say nothing new: on every way to them the same thread has done the same before, under no more locks.
//!
//! This is the paper's weaker-than relation by acquisition histories, with covers along every way. It looks within one function
//! and one context of it; nothing is dropped, what is covered is ranked lower.

use rustc_hash::FxHashMap;

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
    let has_locks = first.moment.held.iter().all(|held| {
        let there = second
            .moment
            .held
            .iter()
            .find(|there| there.lock == held.lock);
        there.is_some_and(|there| held.mode <= there.mode && held.since.is_subset(&there.since))
    });
    first.site != second.site
        && first.site.function == second.site.function
        && first.path.is_some()
        && first.path == second.path
        && long == wide
        && first.chain == second.chain
        && first.calls == second.calls
        && first.moment.after == second.moment.after
        && first.moment.live == second.moment.live
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
    // By the statement on the other side, and the path and function on this one: the pairs and their sides.
    let mut alike: FxHashMap<_, Vec<(usize, usize)>> = FxHashMap::default();
    let key = |pair: &Pair, side: usize| {
        let (own, partner) = (&pair.deeds[side], &pair.deeds[1 - side]);
        (partner.site, own.path, own.site.function)
    };
    for (number, pair) in pairs.iter().enumerate() {
        for side in [0, 1] {
            alike
                .entry(key(pair, side))
                .or_default()
                .push((number, side));
        }
    }
    for (number, pair) in pairs.iter().enumerate() {
        for side in [0, 1] {
            let own = &pair.deeds[side];
            let weaker: Vec<(usize, Site)> = alike[&key(pair, side)]
                .iter()
                .filter(|(other, _)| *other != number)
                .map(|(other, side)| (*other, &pairs[*other].deeds[*side]))
                .filter(|(_, deed)| is_weaker(deed, own))
                .map(|(other, deed)| (other, deed.site))
                .collect();
            let sites: Vec<Site> = weaker.iter().map(|(_, site)| *site).collect();
            let function = analysis.program.function(own.site.function);
            if !sites.is_empty() && is_covered(function, own.site, &sites) {
                covered[number] = Some(weaker[0].0);
            }
        }
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Block, BlockId, Operand, Terminator};

    fn at(block: u32, statement: u32) -> Site {
        Site {
            block,
            statement,
            ..Site::default()
        }
    }

    /// Either 1 or 2, then 3.
    fn diamond() -> Function {
        let terminators = [
            Terminator::Branch {
                condition: Operand::Other,
                then: BlockId(1),
                otherwise: BlockId(2),
            },
            Terminator::Goto(BlockId(3)),
            Terminator::Goto(BlockId(3)),
            Terminator::Return(None),
        ];
        let blocks = terminators.map(|terminator| Block {
            statements: Vec::new(),
            terminator,
        });
        Function {
            blocks: blocks.into(),
            ..Function::default()
        }
    }

    #[test]
    fn every_way_must_lead_through_one_of_them() {
        let function = diamond();
        assert!(!is_covered(&function, at(3, 0), &[at(1, 0)]));
        assert!(is_covered(&function, at(3, 0), &[at(1, 0), at(2, 5)]));
        assert!(is_covered(&function, at(3, 0), &[at(0, 9)]));
        assert!(is_covered(&function, at(3, 4), &[at(3, 3)]));
        assert!(!is_covered(&function, at(3, 3), &[at(3, 4)]));
    }
}
