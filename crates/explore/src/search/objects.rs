//! Who has done what to which lock, condition, semaphore, barrier, channel or futex in the run as it stands.
//!
//! A run is exact about who was woken by whom: waiters stand in the order in which they came, and a transition says which of them it
//! woke. So it is about barriers: whoever leaves does so because of the last one of its own round.

use deadheat_trace::Op;
use deadheat_wire::UNCOUNTED;
use rustc_hash::FxHashMap;

use super::{
    clocks::Clock,
    dependence::{self, Relation, awakens, falls_asleep, gives_lock, takes_lock, wakes_up},
    execution::Deed,
    memory::Spot,
};

/// What one thread did to the object.
pub(super) struct Entry {
    pub(super) spot: Spot,
    pub(super) slot: usize,
    pub(super) deed: Deed,
    /// Which waiter was woken, of how many that could have been.
    pub(super) variant: (u32, u32),
    /// How often the thread holds the lock after it.
    held: u32,
}

impl Entry {
    /// The thread had the lock before and has it still: nobody else can notice.
    fn is_inner(&self) -> bool {
        (takes_lock(self.deed.op) && self.held > 1) || (gives_lock(self.deed.op) && self.held > 0)
    }
}

/// Whether a later operation may need what an earlier entry is part of: a transition that sends something and then
/// receives (whoever does something once finds it done) is a sender.
fn feeds(entries: &[Entry], earlier: usize, later: Op) -> bool {
    let event = entries[earlier].spot.event;
    let same = entries[..=earlier].iter().rev();
    same.take_while(|entry| entry.spot.event == event)
        .any(|entry| dependence::feeds(entry.deed.op, later))
}

/// How often a thread holds a lock.
fn held(entries: &[Entry], slot: usize) -> u32 {
    let own = entries.iter().rev().find(|entry| entry.slot == slot);
    own.map_or(0, |entry| entry.held)
}

/// All objects that threads have met at.
#[derive(Default)]
pub(super) struct Objects {
    entries: FxHashMap<u64, Vec<Entry>>,
}

impl Objects {
    /// Enters an operation.
    pub(super) fn enter(&mut self, spot: Spot, slot: usize, deed: &Deed, variant: (u32, u32)) {
        let entries = self.entries.entry(deed.object).or_default();
        let before = held(entries, slot);
        entries.push(Entry {
            spot,
            slot,
            deed: *deed,
            variant,
            held: if takes_lock(deed.op) {
                before + 1
            } else if gives_lock(deed.op) {
                before.saturating_sub(1)
            } else {
                before
            },
        });
    }

    /// Takes the last entry of an object back.
    pub(super) fn leave(&mut self, object: u64) {
        if let Some(entries) = self.entries.get_mut(&object) {
            entries.pop();
        }
    }

    /// Shows all that an operation of a thread depends on, as far as nothing that is shown or known stands between.
    pub(super) fn before(
        &self,
        slot: usize,
        deed: &Deed,
        known: &Clock,
        show: &mut impl FnMut(Spot, Relation),
    ) {
        let Some(entries) = self.entries.get(&deed.object) else {
            return;
        };
        let mut deed = *deed;
        if wakes_up(deed.op) {
            let wait = entries
                .iter()
                .rev()
                .find(|entry| entry.slot == slot && falls_asleep(entry.deed.op));
            deed.tried |= wait.is_some_and(|wait| wait.deed.tried);
        }
        if wakes_up(deed.op)
            && let Some(waker) = waker(entries, slot)
        {
            let relation = if deed.tried {
                Relation::Race
            } else {
                Relation::Cause
            };
            show(waker, relation);
            return;
        }
        // Nobody woke it.
        deed.tried |= wakes_up(deed.op);
        if deed.op == Op::BarrierExit {
            if let Some(last) = last_of_round(entries, slot) {
                show(last, Relation::Cause);
            }
            return;
        }
        let has = held(entries, slot);
        if (takes_lock(deed.op) && has > 0) || (gives_lock(deed.op) && has > 1) {
            return;
        }
        for (number, entry) in entries.iter().enumerate().rev() {
            if entry.is_inner() {
                continue;
            }
            let knows = entry.slot == slot || known.knows(entry.slot, entry.spot.event as usize);
            let mut relation = Relation::None;
            if entry.slot != slot {
                relation = dependence::relation(&entry.deed, &deed);
                if relation != Relation::None {
                    show(entry.spot, relation);
                }
            }
            let races = matches!(relation, Relation::Race | Relation::Contention);
            let settled = knows || (races && !feeds(entries, number, deed.op));
            if settled && dependence::shuts(entry.deed.op) {
                return;
            }
        }
    }

    /// Shows all that an operation of a thread may race with that is still to come some time, of which the thread will know this when it comes.
    pub(super) fn ahead(
        &self,
        slot: usize,
        deed: &Deed,
        known: &Clock,
        show: &mut impl FnMut(Spot, Relation),
    ) {
        let entries = self
            .entries
            .get(&deed.object)
            .map_or(&[][..], Vec::as_slice);
        for (number, entry) in entries.iter().enumerate().rev() {
            let knows = entry.slot == slot || known.knows(entry.slot, entry.spot.event as usize);
            let relation = dependence::relation(&entry.deed, deed);
            let races = matches!(relation, Relation::Race | Relation::Contention);
            if wakes_up(deed.op) {
                // By whom it will be woken is not known.
                if !knows && (races || awakens(entry.deed.op)) {
                    show(entry.spot, Relation::Race);
                }
                continue;
            }
            if entry.is_inner() {
                continue;
            }
            if !knows && races {
                show(entry.spot, relation);
            }
            let settled = knows || (races && !feeds(entries, number, deed.op));
            if settled && dependence::shuts(entry.deed.op) {
                return;
            }
        }
    }

    /// How many bytes it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        let entries: usize = self.entries.values().map(Vec::capacity).sum();
        entries * size_of::<Entry>() + self.entries.capacity() * size_of::<(u64, Vec<Entry>)>()
    }
}

/// What an operation does to those that wait: who is woken by it.
fn step(waiting: &mut Vec<usize>, entry: &Entry) -> Vec<usize> {
    let op = entry.deed.op;
    if falls_asleep(op) {
        waiting.push(entry.slot);
    } else if wakes_up(op) {
        waiting.retain(|&slot| slot != entry.slot);
    } else if awakens(op) && !waiting.is_empty() {
        let (variant, variants) = entry.variant;
        let one = op == Op::Notify || variants > 1;
        if op == Op::NotifyAll || !one {
            return std::mem::take(waiting);
        }
        return vec![waiting.remove((variant as usize).min(waiting.len() - 1))];
    }
    Vec::new()
}

/// Who woke the thread from its last wait.
fn waker(entries: &[Entry], slot: usize) -> Option<Spot> {
    let mut waiting = Vec::new();
    let mut waker = None;
    for entry in entries {
        if falls_asleep(entry.deed.op) && entry.slot == slot {
            waker = None;
        }
        if step(&mut waiting, entry).contains(&slot) {
            waker = Some(entry.spot);
        }
    }
    waker
}

/// The last that arrived in the round of a barrier that this thread was last in. Where nobody
/// counts who waits, a round is over once somebody leaves it.
fn last_of_round(entries: &[Entry], slot: usize) -> Option<Spot> {
    let mut rounds: Vec<Spot> = Vec::new();
    let mut of_slot: Vec<(usize, usize)> = Vec::new();
    let round_of = |all: &[(usize, usize)], slot| {
        let mut own = all.iter().filter(|(one, _)| *one == slot);
        own.next().map(|(_, round)| *round)
    };
    let mut is_over = true;
    for entry in entries {
        match entry.deed.op {
            Op::BarrierEnter => {
                let is_new = match entry.deed.value {
                    UNCOUNTED => is_over,
                    waiting => waiting == 0,
                };
                match rounds.last_mut() {
                    Some(last) if !is_new => *last = entry.spot,
                    _ => rounds.push(entry.spot),
                }
                is_over = false;
                of_slot.retain(|(one, _)| *one != entry.slot);
                of_slot.push((entry.slot, rounds.len() - 1));
            }
            Op::BarrierExit => {
                let round = round_of(&of_slot, entry.slot);
                is_over |= round.is_some_and(|round| round + 1 == rounds.len());
            }
            _ => {}
        }
    }
    rounds.get(round_of(&of_slot, slot)?).copied()
}

#[cfg(test)]
mod tests {
    use deadheat_trace::Order;

    use super::*;

    /// Threads that come to a barrier that nobody counts at, or leave it (`false`).
    fn entries(steps: &[(usize, bool)]) -> Vec<Entry> {
        let entry = |(event, (slot, comes)): (usize, &(usize, bool))| Entry {
            spot: Spot {
                event: event as u32,
                deed: 0,
            },
            slot: *slot,
            deed: Deed {
                op: match comes {
                    true => Op::BarrierEnter,
                    false => Op::BarrierExit,
                },
                object: 64,
                size: 0,
                order: Order::SeqCst,
                tried: false,
                pc: 0,
                own: 0,
                value: UNCOUNTED,
            },
            variant: (0, 1),
            held: 0,
        };
        steps.iter().enumerate().map(entry).collect()
    }

    #[test]
    fn whoever_leaves_a_barrier_does_so_because_of_the_last_of_its_own_round() {
        let all = entries(&[
            (0, true),
            (1, true),
            (1, false),
            // The second round begins before everybody has left the first one.
            (1, true),
            (0, false),
            (0, true),
            (0, false),
            (1, false),
        ]);
        let last = |events: usize, slot| last_of_round(&all[..events], slot).map(|at| at.event);
        assert_eq!(last(2, 0), Some(1));
        assert_eq!(last(2, 1), Some(1));
        assert_eq!(last(4, 0), Some(1));
        assert_eq!(last(6, 0), Some(5));
        assert_eq!(last(7, 1), Some(5));
    }
}
