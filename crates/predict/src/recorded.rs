//! The deadlock in which a recorded run has itself ended: who waits at what, and who of them holds the others up.
//!
//! Nothing needs a proof here, as it has happened: all threads that have not ended wait, and the schedule is that of the recording. What is
//! left to say is what it is about. A cycle of locks and joins is one deadlock, whoever else waits for its threads. Waits for a condition, a
//! semaphore, a barrier or a futex name nobody who would end them; all of them together are one, with those who wait for a lock that one of
//! these waiters holds, for they may be the ones. Of several threads that wait at the same place in the program one is shown.

use std::collections::BTreeMap;

use deadheat_trace::{Event, EventIndex, LockId, Op, Pc, SyncId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Hold;

/// A thread that has not ended.
#[derive(Default)]
struct Thread {
    /// Its last event.
    last: Option<(EventIndex, Event)>,
    held: FxHashMap<(LockId, bool), u32>,
    ended: bool,
}

impl Thread {
    /// The lock that it waits for, if it does.
    fn wanted(&self, lock_at: &dyn Fn(SyncId) -> Option<LockId>) -> Option<(LockId, Hold)> {
        let (_, event) = self.last?;
        match event.op() {
            Op::Request => Some((event.lock(), Hold::Write)),
            Op::ReadRequest => Some((event.lock(), Hold::Read)),
            Op::FutexWait => {
                let lock = lock_at(event.sync())?;
                // Who has it for reading can but want to read again.
                let reads = self.held.get(&(lock, true)).is_some_and(|times| *times > 0);
                Some((lock, if reads { Hold::Read } else { Hold::Write }))
            }
            _ => None,
        }
    }
}

/// A deadlock in which a run has ended: the events with which its threads have begun to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The waits that hold each other up.
    pub core: Vec<(EventIndex, Event)>,
    /// Those who wait for them.
    pub bystanders: Vec<(EventIndex, Event)>,
}

/// Follows a trace to know in what it ends.
///
/// ```
/// use deadheat_predict::Ending;
/// use deadheat_trace::{EventIndex, text};
///
/// let trace = text::parse("T0|fork(T1)|1\nT1|begin|2\nT1|acq(m)|3\nT0|acq(n)|4\nT1|req(n)|5\nT0|req(m)|6\n")?;
/// let mut ending = Ending::default();
/// for (at, step) in (0..).zip(&trace.steps) {
///     assert!(ending.deadlocks(&|_| None).is_empty());
///     ending.step(EventIndex(at), &step.event);
/// }
/// let found = ending.deadlocks(&|_| None);
/// assert_eq!(found[0].core.iter().map(|(at, _)| at.0).collect::<Vec<u64>>(), [5, 4]);
/// # Ok::<(), text::ParseError>(())
/// ```
#[derive(Default)]
pub struct Ending {
    threads: BTreeMap<ThreadId, Thread>,
    /// Nobody knows who holds and waits for what.
    has_gaps: bool,
}

impl Ending {
    /// The next event, and where it stands.
    pub fn step(&mut self, at: EventIndex, event: &Event) {
        let thread = self.threads.entry(event.thread()).or_default();
        thread.last = Some((at, *event));
        match event.op() {
            Op::Lost => self.has_gaps = true,
            Op::End => thread.ended = true,
            Op::Acquire | Op::ReadAcquire => {
                let is_read = event.op() == Op::ReadAcquire;
                *thread.held.entry((event.lock(), is_read)).or_default() += 1;
            }
            Op::Release | Op::ReadRelease => {
                let is_read = event.op() == Op::ReadRelease;
                let times = thread.held.entry((event.lock(), is_read)).or_default();
                *times = times.saturating_sub(1);
            }
            _ => {}
        }
    }

    /// The deadlocks in which it ends here; none if a thread does not wait. `lock_at` knows the locks whose word a futex is.
    pub fn deadlocks(&self, lock_at: &dyn Fn(SyncId) -> Option<LockId>) -> Vec<Ended> {
        match Waits::of(self, lock_at) {
            Some(waits) => waits.deadlocks(),
            None => Vec::new(),
        }
    }
}

/// All threads that have not ended.
struct Waits {
    /// Where each has begun to wait.
    events: Vec<(EventIndex, Event)>,
    /// Whom each waits for: who holds the lock that it wants, or who is to end.
    waits_for: Vec<Vec<usize>>,
    /// Which of these each waits for because of a lock.
    locked_by: Vec<Vec<usize>>,
}

impl Waits {
    /// `None` if somebody does not wait, or it is not known whether.
    fn of(ending: &Ending, lock_at: &dyn Fn(SyncId) -> Option<LockId>) -> Option<Self> {
        if ending.has_gaps {
            return None;
        }
        let threads = ending.threads.iter().filter(|(_, thread)| !thread.ended);
        let threads: BTreeMap<ThreadId, &Thread> = threads.map(|(id, it)| (*id, it)).collect();
        let ids: Vec<ThreadId> = threads.keys().copied().collect();
        let mut waits = Waits {
            events: Vec::new(),
            waits_for: Vec::new(),
            locked_by: Vec::new(),
        };
        let all_wanted: Vec<Option<(LockId, Hold)>> = threads
            .values()
            .map(|thread| thread.wanted(lock_at))
            .collect();
        for (thread, wanted) in threads.values().zip(&all_wanted) {
            let (at, event) = thread.last?;
            if !begins_to_wait(event.op()) {
                return None;
            }
            let is_wanted = |(lock, is_read): &(LockId, bool)| {
                wanted.is_some_and(|(wanted, hold)| {
                    wanted == *lock && (hold == Hold::Write || !is_read)
                })
            };
            let holds = |other: &Thread| {
                let mut held = other.held.iter().filter(|(_, times)| **times > 0);
                held.any(|(lock, _)| is_wanted(lock))
            };
            // Who reads waits for the writers, too, that came before.
            let is_first = |other: &Option<(LockId, Hold)>| {
                let reads = wanted.filter(|(_, hold)| *hold == Hold::Read);
                let lock = reads.map(|(lock, _)| lock);
                matches!((other, lock), (Some((theirs, Hold::Write)), Some(lock)) if *theirs == lock)
            };
            let others = threads.values().copied().zip(&all_wanted).enumerate();
            let holders = others.filter(|(_, (other, wish))| holds(other) || is_first(wish));
            let locked_by: Vec<usize> = holders.map(|(at, _)| at).collect();
            let mut waits_for = locked_by.clone();
            if event.op() == Op::JoinRequest {
                waits_for.extend(ids.iter().position(|id| *id == event.peer()));
            }
            waits.events.push((at, event));
            waits.waits_for.push(waits_for);
            waits.locked_by.push(locked_by);
        }
        Some(waits)
    }

    /// One for each cycle, and one of all who wait for what nobody gives.
    fn deadlocks(&self) -> Vec<Ended> {
        let mut found: Vec<Vec<usize>> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for waiter in 0..self.events.len() {
            match self.cycle_of(waiter) {
                Some(cycle) if cycle[0] == waiter => found.push(cycle),
                Some(_) => {}
                None if self.waits_for[waiter].is_empty() => open.push(waiter),
                None => {}
            }
        }
        if !open.is_empty() {
            found.push(self.with_those_behind(open));
        }
        let standstill = |core: Vec<usize>| {
            let mut places: FxHashSet<Pc> = FxHashSet::default();
            let is_new = |waiter: &&usize| places.insert(self.events[**waiter].1.pc());
            // Each of a cycle is shown: without one of them it would be none.
            let shown: Vec<usize> = match self.waits_for[core[0]].is_empty() {
                true => core.iter().filter(is_new).copied().collect(),
                false => core,
            };
            let others = (0..self.events.len()).filter(|waiter| !shown.contains(waiter));
            Ended {
                bystanders: others.map(|waiter| self.events[waiter]).collect(),
                core: shown.iter().map(|waiter| self.events[*waiter]).collect(),
            }
        };
        found.into_iter().map(standstill).collect()
    }

    /// All whom a thread waits for, directly or not.
    fn reached_from(&self, waiter: usize) -> Vec<usize> {
        let mut reached: Vec<usize> = self.waits_for[waiter].clone();
        let mut looked = 0;
        while let Some(next) = reached.get(looked).copied() {
            looked += 1;
            for other in &self.waits_for[next] {
                if !reached.contains(other) {
                    reached.push(*other);
                }
            }
        }
        reached.sort_unstable();
        reached.dedup();
        reached
    }

    /// The threads that wait for each other, if this is one of them and they wait for nobody else; in their order.
    fn cycle_of(&self, waiter: usize) -> Option<Vec<usize>> {
        let reached = self.reached_from(waiter);
        let is_back = |other: &usize| self.reached_from(*other).contains(&waiter);
        (reached.contains(&waiter) && reached.iter().all(is_back)).then_some(reached)
    }

    /// Waiters, and behind them those who wait for a lock that one of them holds, directly or not.
    fn with_those_behind(&self, mut waiters: Vec<usize>) -> Vec<usize> {
        let mut looked = 0;
        while let Some(holder) = waiters.get(looked).copied() {
            looked += 1;
            for (other, locked_by) in self.locked_by.iter().enumerate() {
                if locked_by.contains(&holder) && !waiters.contains(&other) {
                    waiters.push(other);
                }
            }
        }
        waiters
    }
}

/// Whether a thread whose last event this is waits.
fn begins_to_wait(op: Op) -> bool {
    matches!(
        op,
        Op::Request
            | Op::ReadRequest
            | Op::JoinRequest
            | Op::TakeRequest
            | Op::WakeRequest
            | Op::Wait
            | Op::BarrierEnter
            | Op::FutexWait
    )
}

#[cfg(test)]
mod tests {
    use deadheat_trace::text;

    use super::*;

    fn cores(trace: &str) -> Vec<Vec<u32>> {
        let mut ending = Ending::default();
        for (at, step) in (0..).zip(&text::parse(trace).unwrap().steps) {
            ending.step(EventIndex(at), &step.event);
        }
        let found = ending.deadlocks(&|_| None).into_iter();
        let positions = found.map(|still| still.core.iter().map(|(at, _)| at.0 as u32).collect());
        positions.collect()
    }

    const CREATED: &str = "T0|fork(T1)|1\nT0|fork(T2)|2\nT1|begin|3\nT2|begin|4\n";

    #[test]
    fn a_wait_that_nobody_ends_is_without_those_who_join() {
        let trace = "T1|acq(m)|5\nT1|rel(m)|6\nT1|wait(c)|6\nT2|end|7\nT0|joinreq(T1)|8\n";
        assert_eq!(cores(&format!("{CREATED}{trace}")), [[6]]);
    }

    #[test]
    fn who_waits_for_a_waiters_lock_is_shown() {
        let trace = "T1|acq(m)|5\nT1|takereq(s)|6\nT2|req(m)|7\nT0|joinreq(T1)|8\n";
        assert_eq!(cores(&trace_of(trace)), [[5, 6]]);
    }

    #[test]
    fn one_of_many_at_one_place_is_enough() {
        let trace = "T1|benter(b)|5\nT2|benter(b)|5\nT0|joinreq(T1)|8\n";
        assert_eq!(cores(&trace_of(trace)), [[4]]);
    }

    #[test]
    fn cycles_are_told_apart_from_those_behind() {
        let trace = "T1|acq(m)|5\nT1|req(m)|6\nT2|req(m)|7\nT0|joinreq(T2)|8\n";
        assert_eq!(cores(&trace_of(trace)), [[5]]);
    }

    #[test]
    fn who_reads_again_waits_for_a_writer() {
        let trace = "T1|rdlock(m)|5\nT2|req(m)|6\nT1|rdreq(m)|7\nT0|joinreq(T2)|8\n";
        assert_eq!(cores(&trace_of(trace)), [[6, 5]]);
    }

    #[test]
    fn who_runs_may_end_it() {
        let trace = "T1|wait(c)|5\nT2|w(x)|6\nT0|joinreq(T1)|8\n";
        assert!(cores(&trace_of(trace)).is_empty());
        let lost = "T1|wait(c)|5\nT2|lost|6\nT2|wait(c)|5\nT0|joinreq(T1)|8\n";
        assert!(cores(&trace_of(lost)).is_empty());
    }

    fn trace_of(rest: &str) -> String {
        format!("{CREATED}{rest}")
    }
}
