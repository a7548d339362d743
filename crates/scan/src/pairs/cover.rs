//! Which accesses say nothing new: on every way to them the same thread has done the same before, under no more locks.
//!
//! This is the paper's weaker-than relation by acquisition histories, with covers along every way. It looks within one function
//! and one context of it; nothing is dropped, what is covered is ranked lower.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::analysis::Analysis;
use crate::ir::{Function, Mark};
use crate::moment::Moment;
use crate::path::Site;
use crate::summary::{Deed, What};

/// Whether the first access is weaker than the second: whoever races with the second races with the first.
fn is_weaker(first: &Deed, second: &Deed) -> bool {
    let (
        What::Access {
            writes,
            size: long,
            mark,
        },
        What::Access {
            writes: writes_too,
            size: wide,
            mark: other,
        },
    ) = (first.what, second.what)
    else {
        return false;
    };
    first.site != second.site
        && first.site.function == second.site.function
        && first.path.is_some()
        && first.path == second.path
        && long == wide
        && (mark == other || mark == Mark::Plain)
        && (writes || !writes_too)
        && first.chain == second.chain
        && first.calls == second.calls
        && first.moment.live == second.moment.live
        && has_no_more(&first.moment, &second.moment)
}

/// Whether no more locks are held than in another moment, and nothing more is known to have happened before.
fn has_no_more(one: &Moment, other: &Moment) -> bool {
    let has_locks = one.held.iter().all(|held| {
        let there = other.held.iter().find(|there| there.lock == held.lock);
        there.is_some_and(|there| held.mode <= there.mode && held.since.is_subset(&there.since))
    });
    has_locks && one.after == other.after
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

/// The accesses of a root that others cover, by where they are kept.
pub fn covered(analysis: &Analysis, accesses: &[Rc<Deed>]) -> Vec<*const Deed> {
    let mut alike: FxHashMap<_, Vec<&Rc<Deed>>> = FxHashMap::default();
    let key = |deed: &Rc<Deed>| {
        let chain = deed.chain.clone();
        (deed.path, deed.site.function, deed.what.size(), chain)
    };
    for deed in accesses.iter().filter(|deed| deed.path.is_some()) {
        alike.entry(key(deed)).or_default().push(deed);
    }
    let mut covered = Vec::new();
    for alike in alike.values() {
        for own in alike {
            let weaker = alike.iter().filter(|deed| is_weaker(deed, own));
            let sites: Vec<Site> = weaker.map(|deed| deed.site).collect();
            let function = analysis.program.function(own.site.function);
            if !sites.is_empty() && is_covered(function, own.site, &sites) {
                covered.push(Rc::as_ptr(own));
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
