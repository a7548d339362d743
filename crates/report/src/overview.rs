//! A whole trace in a few figures, for plots: what happened when, who waited for which lock, how much each thread did.
//!
//! The trace is read once. What is kept grows with the number of its locks and threads, not with its length: slices
//! are put together in pairs whenever there are too many.

use std::collections::BTreeMap;

use deadheat_trace::{EventIndex, LockId, Op, Steps, SyncId, Tables, ThreadId};
use serde::{Deserialize, Serialize};

use crate::Names;

/// The most slices: when there are as many, each two become one.
const SLICES: usize = 128;

/// How many locks are told, and how many threads.
const LOCKS: usize = 40;
const THREADS: usize = 256;

/// Threads that are told apart among those that took a lock.
const TAKERS: usize = 64;

/// A trace in a few figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    /// How many events it has.
    pub events: u64,
    /// The trace in slices of the same number of events.
    pub slices: Vec<Slice>,
    /// Its locks, those that are waited for most first.
    pub locks: Vec<LockUse>,
    /// Its threads, by their numbers.
    pub threads: Vec<ThreadUse>,
}

/// What happened in one slice of the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// Accesses to memory.
    pub accesses: u64,
    /// Synchronisation.
    pub syncs: u64,
    /// How often another thread went on.
    pub switches: u64,
}

/// How a lock was used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockUse {
    /// Its name.
    pub name: String,
    /// How often it was taken.
    pub taken: u64,
    /// How often it was taken by another thread than the one before.
    pub handed_over: u64,
    /// How often a thread asked for it while another held it.
    pub waited: u64,
    /// How many threads took it.
    pub threads: u64,
}

/// What a thread did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadUse {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Its first event.
    pub first: u64,
    /// Its last event.
    pub last: u64,
    /// Its accesses to memory.
    pub accesses: u64,
    /// Its synchronisation.
    pub syncs: u64,
}

impl Overview {
    /// Of the rest of a trace, with the names that the program's files give.
    ///
    /// ```
    /// use deadheat_report::Overview;
    /// let trace = deadheat_trace::text::parse("T0|acq(m)|1\nT0|w(x)|2\nT0|rel(m)|3\n")?;
    /// let Ok(overview) = Overview::of(&mut trace.stream());
    /// assert_eq!((overview.events, overview.locks[0].taken), (3, 1));
    /// # Ok::<(), deadheat_trace::text::ParseError>(())
    /// ```
    pub fn of<S: Steps>(steps: &mut S) -> Result<Overview, S::Error> {
        let mut counter = Counter::default();
        while let Some(step) = steps.next_step()? {
            let index = steps.last_index().unwrap_or(EventIndex(counter.events));
            counter.event(
                index,
                step.event.thread(),
                step.event.op(),
                step.event.lock(),
            );
        }
        Ok(counter.finish(steps.tables()))
    }
}

/// What is kept while a trace is read.
#[derive(Default)]
struct Counter {
    events: u64,
    slices: Vec<Slice>,
    /// How many events a slice has, as a power of two.
    width: u32,
    last: Option<ThreadId>,
    locks: BTreeMap<LockId, OneLock>,
    threads: BTreeMap<ThreadId, ThreadUse>,
}

#[derive(Default)]
struct OneLock {
    told: LockUse,
    last: Option<ThreadId>,
    takers: Vec<ThreadId>,
}

impl Counter {
    fn event(&mut self, index: EventIndex, thread: ThreadId, op: Op, lock: LockId) {
        let (access, sync) = (u64::from(op.is_access()), u64::from(synchronises(op)));
        let switch = u64::from(self.last.is_some_and(|last| last != thread));
        self.last = Some(thread);
        self.add(Slice {
            accesses: access,
            syncs: sync,
            switches: switch,
        });
        let one = self.threads.entry(thread).or_insert_with(|| ThreadUse {
            number: thread.0,
            first: index.0,
            ..ThreadUse::default()
        });
        one.last = index.0;
        one.accesses += access;
        one.syncs += sync;
        match op {
            Op::Acquire | Op::ReadAcquire => self.locks.entry(lock).or_default().take(thread),
            Op::Request | Op::ReadRequest | Op::Refused | Op::ReadRefused => {
                self.locks.entry(lock).or_default().told.waited += 1;
            }
            _ => {}
        }
    }

    /// Adds an event to its slice.
    fn add(&mut self, event: Slice) {
        let at = (self.events >> self.width) as usize;
        self.events += 1;
        if at == self.slices.len() && at == SLICES {
            self.slices = self.slices.chunks(2).map(together).collect();
            self.width += 1;
            self.slices.push(event);
        } else if at == self.slices.len() {
            self.slices.push(event);
        } else if let Some(slice) = self.slices.get_mut(at) {
            *slice = together(&[*slice, event]);
        }
    }

    fn finish(self, tables: &Tables) -> Overview {
        let names = Names::of(tables);
        let mut locks: Vec<(LockId, LockUse)> = self
            .locks
            .into_iter()
            .map(|(id, lock)| (id, lock.finish()))
            .collect();
        locks.sort_by_key(|(id, lock)| {
            let most = (lock.waited, lock.handed_over, lock.taken);
            (std::cmp::Reverse(most), *id)
        });
        let named = |(id, lock): (LockId, LockUse)| LockUse {
            name: names.lock(SyncId(id.0), tables),
            ..lock
        };
        let threads = self.threads.into_iter().take(THREADS);
        Overview {
            events: self.events,
            slices: self.slices,
            locks: locks.into_iter().take(LOCKS).map(named).collect(),
            threads: threads
                .map(|(id, thread)| ThreadUse {
                    name: tables.thread_name(id),
                    ..thread
                })
                .collect(),
        }
    }
}

impl OneLock {
    fn take(&mut self, thread: ThreadId) {
        self.told.taken += 1;
        self.told.handed_over += u64::from(self.last.is_some_and(|last| last != thread));
        self.last = Some(thread);
        if self.takers.len() < TAKERS && !self.takers.contains(&thread) {
            self.takers.push(thread);
        }
    }

    fn finish(self) -> LockUse {
        LockUse {
            threads: self.takers.len() as u64,
            ..self.told
        }
    }
}

fn together(slices: &[Slice]) -> Slice {
    let add = |sum: Slice, slice: &Slice| Slice {
        accesses: sum.accesses + slice.accesses,
        syncs: sum.syncs + slice.syncs,
        switches: sum.switches + slice.switches,
    };
    slices.iter().fold(Slice::default(), add)
}

/// Whether an operation is synchronisation.
fn synchronises(op: Op) -> bool {
    let is_other = matches!(
        op,
        Op::Enter | Op::Leave | Op::Branch | Op::Alloc | Op::Free | Op::Lost | Op::Exit
    );
    !is_other && !op.is_access()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_trace::text;

    fn overview(text: &str) -> Overview {
        let trace = text::parse(text).unwrap();
        let Ok(overview) = Overview::of(&mut trace.stream());
        overview
    }

    #[test]
    fn locks_and_threads_are_counted() {
        let found = overview(
            "T0|fork(T1)|1\nT0|acq(m)|2\nT0|w(x)|3\nT1|req(m)|4\nT0|rel(m)|5\n\
             T1|acq(m)|6\nT1|r(x)|7\nT1|rel(m)|8\nT1|acq(other)|9\nT1|rel(other)|10\n",
        );
        assert_eq!(found.events, 10);
        let locks: Vec<_> = found.locks.iter().map(|lock| &*lock.name).collect();
        assert_eq!(locks, ["m", "other"], "the one that is waited for first");
        let m = &found.locks[0];
        assert_eq!((m.taken, m.handed_over, m.waited, m.threads), (2, 1, 1, 2));
        let [first, second] = &found.threads[..] else {
            panic!("two threads: {:?}", found.threads);
        };
        assert_eq!(
            (first.first, first.last, first.accesses, first.syncs),
            (0, 4, 1, 3)
        );
        assert_eq!(
            (second.first, second.last, second.accesses, second.syncs),
            (3, 9, 1, 5)
        );
        assert_eq!(found.slices.len(), 10);
        let switches: u64 = found.slices.iter().map(|slice| slice.switches).sum();
        assert_eq!(switches, 3);
    }

    #[test]
    fn long_traces_have_few_slices_and_nothing_is_lost() {
        for events in [1, 127, 128, 129, 255, 256, 257, 1000, 5000] {
            let lines: Vec<String> = (0..events)
                .map(|i| match i % 3 {
                    0 => format!("T{}|acq(m)|1\n", i % 2),
                    1 => format!("T{}|w(x)|2\n", i % 2),
                    _ => format!("T{}|r(x)|2\n", i % 2),
                })
                .collect();
            let found = overview(&lines.concat());
            assert!(found.slices.len() <= SLICES, "{events}");
            assert!(found.slices.len() >= (SLICES / 2).min(events), "{events}");
            let sum = together(&found.slices);
            assert_eq!(sum.accesses + sum.syncs, events as u64);
            assert_eq!(sum.switches, events as u64 - 1);
        }
    }

    #[test]
    fn a_trace_of_nothing() {
        assert_eq!(overview(""), Overview::default());
    }
}
