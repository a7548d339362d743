//! Who has done what to which lock, condition, semaphore, barrier, channel or futex in the run as it stands.
//!
//! A run is exact about who was woken by whom: waiters stand in the order in which they came, and a transition says which of them it
//! woke. So it is about barriers: whoever leaves does so because of the last one of its own round.

use deadheat_trace::Op;
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

/// The last that arrived in the round of a barrier that this thread was last in.
fn last_of_round(entries: &[Entry], slot: usize) -> Option<Spot> {
    let arrivals = || {
        entries
            .iter()
            .filter(|entry| entry.deed.op == Op::BarrierEnter)
    };
    let own = arrivals().rposition_of(|entry| entry.slot == slot)?;
    let mut last = None;
    for (number, entry) in arrivals().enumerate().skip(own) {
        if number > own && entry.deed.value == 0 {
            break;
        }
        last = Some(entry.spot);
    }
    last
}

/// Where in a row the last one of a kind stands.
trait LastPosition: Iterator + Sized {
    fn rposition_of(self, wanted: impl Fn(&Self::Item) -> bool) -> Option<usize> {
        self.enumerate()
            .filter(|(_, item)| wanted(item))
            .map(|(number, _)| number)
            .last()
    }
}

impl<I: Iterator> LastPosition for I {}
