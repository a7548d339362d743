//! What keeps two accesses apart: a lock that both hold, the histories of their locks (theorem 7 of the paper), or an order.

use crate::analysis::Analysis;
use crate::model::Mode;
use crate::path::PathId;
use crate::state::Fact;
use crate::summary::{Deed, What};

use super::alias::is_same_lock;
use super::threads::Together;

/// Whether both hold the same lock, one of them alone.
pub fn is_locked(analysis: &mut Analysis, one: &Deed, other: &Deed, way: Together) -> bool {
    for left in &one.held {
        for right in &other.held {
            let alone = left.mode == Mode::Write || right.mode == Mode::Write;
            if alone && is_same_lock(analysis, [one, other], [left.lock, right.lock], way) {
                return true;
            }
        }
    }
    false
}

/// Whether the two places cannot be reached together: each has taken, since it took its own lock, the one that the other holds. Whoever was
/// second had to wait for the other to give it back.
pub fn is_inconsistent(
    analysis: &mut Analysis,
    one: &Deed,
    other: &Deed,
    way: Together,
) -> Option<[PathId; 2]> {
    for left in &one.held {
        for right in &other.held {
            let is_alone = left.mode == Mode::Write && right.mode == Mode::Write;
            if !is_alone {
                continue;
            }
            let deeds = [one, other];
            let mut met = |mine: &[PathId], theirs: PathId| {
                mine.iter()
                    .any(|lock| is_same_lock(analysis, deeds, [*lock, theirs], way))
            };
            let since: Vec<PathId> = left.since.iter().copied().collect();
            let until: Vec<PathId> = right.since.iter().copied().collect();
            if met(&since, right.lock) && met(&until, left.lock) {
                return Some([left.lock, right.lock]);
            }
        }
    }
    None
}

/// What orders two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Nothing.
    None,
    /// A condition that may also be announced by others.
    Perhaps(PathId),
    /// Something that runs once, a barrier, or a condition that nobody else announces.
    Sure,
}

/// Whether one comes before the other, whatever the schedule.
pub fn order(analysis: &Analysis, all: &[Deed], one: &Deed, other: &Deed) -> Order {
    let found =
        [(one, other), (other, one)].map(|(first, second)| before(analysis, all, first, second));
    match found {
        [Order::Sure, _] | [_, Order::Sure] => Order::Sure,
        [Order::Perhaps(path), _] | [_, Order::Perhaps(path)] => Order::Perhaps(path),
        _ => Order::None,
    }
}

fn before(analysis: &Analysis, all: &[Deed], first: &Deed, second: &Deed) -> Order {
    let mut perhaps = Order::None;
    for fact in &second.after {
        match *fact {
            Fact::Once(flag) if first.held.iter().any(|held| held.lock == flag) => {
                return Order::Sure;
            }
            Fact::Waited(condition) if !first.maybe.contains(&Fact::Signalled(condition)) => {
                let signals = all
                    .iter()
                    .filter(|deed| deed.what == What::Signal && deed.path == Some(condition));
                let mut mine = 0;
                let mut others = 0;
                for signal in signals {
                    match signal.chain == first.chain {
                        true => mine += 1,
                        false => others += 1,
                    }
                }
                let is_single = first
                    .chain
                    .iter()
                    .all(|site| !analysis.spawns[site].is_multiple);
                match (mine, others) {
                    (0, _) => {}
                    (_, 0) if is_single => return Order::Sure,
                    _ => perhaps = Order::Perhaps(condition),
                }
            }
            Fact::Passed(barrier) if !first.maybe.contains(&Fact::Passed(barrier)) => {
                let mut passes = all
                    .iter()
                    .filter(|deed| deed.what == What::Barrier && deed.path == Some(barrier));
                if passes.any(|pass| pass.chain == first.chain) {
                    return Order::Sure;
                }
            }
            _ => {}
        }
    }
    perhaps
}
