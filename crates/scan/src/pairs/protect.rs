//! What keeps two accesses apart: a lock that both hold, the histories of their locks (theorem 7 of the paper), or an order.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::analysis::Analysis;
use crate::model::Mode;
use crate::path::{Base, PathId, Site};
use crate::state::{Fact, Held};
use crate::summary::{Deed, What};

use super::Done;
use super::same_lock::is_same_lock;
use super::threads::Together;

/// Whether both hold the same lock, one of them alone.
pub fn is_locked(analysis: &mut Analysis, one: &Deed, other: &Deed, way: Together) -> bool {
    for left in &one.moment.held {
        for right in &other.moment.held {
            let alone = left.mode == Mode::Write || right.mode == Mode::Write;
            let locks = [left.lock, right.lock];
            let is_same = alone
                && (is_same_class(analysis, left, right)
                    || is_same_lock(analysis, [one, other], locks, way));
            if is_same {
                return true;
            }
        }
    }
    false
}

/// Whether two locks are the same member of the same type, if the model says that this is enough.
pub fn is_same_class(analysis: &Analysis, left: &Held, right: &Held) -> bool {
    let members = [left, right].map(|held| analysis.members.at(held.at, false));
    match members {
        [Some(one), Some(other)] if analysis.model.has_lock_classes() => one.is_same_class(other),
        _ => false,
    }
}

/// Whether the two places cannot be reached together: each has taken, since it took its own lock, the one that the other holds. Whoever was
/// second had to wait for the other to give it back.
pub fn is_inconsistent(
    analysis: &mut Analysis,
    one: &Deed,
    other: &Deed,
    way: Together,
) -> Option<[PathId; 2]> {
    for left in &one.moment.held {
        for right in &other.moment.held {
            let is_alone = left.mode == Mode::Write && right.mode == Mode::Write;
            if !is_alone || left.since.is_empty() || right.since.is_empty() {
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
pub fn order(analysis: &Analysis, done: &Done, one: &Deed, other: &Deed) -> Order {
    let found =
        [(one, other), (other, one)].map(|(first, second)| before(analysis, done, first, second));
    match found {
        [Order::Sure, _] | [_, Order::Sure] => Order::Sure,
        [Order::Perhaps(path), _] | [_, Order::Perhaps(path)] => Order::Perhaps(path),
        _ => Order::None,
    }
}

fn before(analysis: &Analysis, done: &Done, first: &Deed, second: &Deed) -> Order {
    let mut perhaps = Order::None;
    // What is waited for may have been there before.
    let maybe = &first.moment.maybe;
    let may_be_over = |fact: Fact| maybe.contains(&fact) || maybe.contains(&Fact::Anything);
    for fact in &second.moment.after {
        match *fact {
            Fact::Once(flag) if first.moment.held.iter().any(|held| held.lock == flag) => {
                return Order::Sure;
            }
            Fact::Waited(condition) if !may_be_over(Fact::Signalled(condition)) => {
                let announced = || done.signals.iter().filter(|deed| deed.what == What::Signal);
                let target = announced().find(|deed| deed.path == Some(condition));
                let target = target.and_then(|deed| deed.target);
                let mut mine = 0;
                let mut others = 0;
                for signal in announced() {
                    let is_it = signal.path == Some(condition);
                    match signal.chain == first.chain {
                        true => mine += usize::from(is_it),
                        // One that nobody can name may be it as well.
                        false => {
                            let is_unknown = signal.path.is_none_or(|path| {
                                let base = analysis.paths.origin(path);
                                analysis.paths.loads(path) || matches!(base, Base::Value(..))
                            });
                            let may_be = target.is_some() && signal.target == target;
                            others += usize::from(is_it || is_unknown && may_be);
                        }
                    }
                }
                let is_single = !done.is_parallel
                    && first
                        .chain
                        .iter()
                        .all(|site| !analysis.spawns[site].is_multiple);
                match (mine, others) {
                    (0, _) => {}
                    (_, 0) if is_single => return Order::Sure,
                    _ => perhaps = Order::Perhaps(condition),
                }
            }
            Fact::Passed(barrier)
                if !may_be_over(Fact::Passed(barrier))
                    && is_for_all(analysis, done, barrier, first) =>
            {
                return Order::Sure;
            }
            _ => {}
        }
    }
    perhaps
}

/// Whether nobody passes a barrier without the thread of a deed: it comes there, and no more threads do than have to. Of those that
/// are created in a loop it is taken that they are as many.
fn is_for_all(analysis: &Analysis, done: &Done, barrier: PathId, deed: &Deed) -> bool {
    let passes: Vec<&Rc<Deed>> = done
        .signals
        .iter()
        .filter(|pass| pass.what == What::Barrier && pass.path == Some(barrier))
        .collect();
    let chains: BTreeSet<&[Site]> = passes.iter().map(|pass| &pass.chain[..]).collect();
    let mut created = chains.iter().flat_map(|chain| chain.iter());
    let is_known = created.all(|site| !analysis.spawns[site].is_multiple);
    let target = passes.first().and_then(|pass| pass.target);
    let count = target.and_then(|target| analysis.semaphores.get(&target).copied().flatten());
    let is_enough = match count {
        Some(count) if is_known => chains.len() as i64 <= count,
        _ => true,
    };
    is_enough && chains.contains(&deed.chain[..])
}
