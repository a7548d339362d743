//! Condition instances: which notification each wait is for, and which waits there would have been.
//!
//! The paper tells every use of a condition variable from the others, and puts the wait behind the signal that
//! ended it. That of a wait that happened is the first notification since that no other wait has used.
//!
//! A wait that never ran, as what it would have waited for was so already, leaves no event. The paper's
//! instrumentation marks the loops around waits; our traces come from the compilers' own, so we look at what such a
//! loop does instead: holding a lock, it reads something that a notifier has written under the same lock. So
//! a critical section that reads what another thread wrote in its last critical section before it notified
//! (or in the one in which it notified) comes after that section. It is not asked whether there is a loop, nor for
//! which condition: that forbids some schedules that a program has, and allows none that it has not.

use deadheat_trace::{LockId, Op, Step, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::objects::cells;

/// Something that comes before something else in every schedule: positions in the trace.
pub type Edge = (u32, u32);

/// A critical section.
struct Section {
    thread: ThreadId,
    lock: LockId,
    /// Where the lock was taken.
    acquire: u32,
    /// What a waiter's section comes after: set once there is a notification.
    notified_at: Option<u32>,
    release: Option<u32>,
}

/// What the waits of a trace came after, or would have.
pub fn edges(steps: &[Step]) -> Vec<Edge> {
    let mut edges = woken(steps);
    edges.extend(held_already(steps));
    edges
}

/// Notifications before the wake-ups that they brought about.
fn woken(steps: &[Step]) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut waiting: FxHashMap<(ThreadId, u64), u32> = FxHashMap::default();
    // The notifications of each condition: where, and whether one waiter or all.
    let mut givers: FxHashMap<u64, Vec<(u32, bool)>> = FxHashMap::default();
    for (at, step) in steps.iter().enumerate() {
        let (at, condition) = (at as u32, step.event.target());
        let who = (step.event.thread(), condition);
        match step.event.op() {
            Op::Wait => {
                waiting.insert(who, at);
            }
            Op::Timeout => {
                waiting.remove(&who);
            }
            Op::Notify => givers.entry(condition).or_default().push((at, false)),
            Op::NotifyAll => givers.entry(condition).or_default().push((at, true)),
            Op::Wake => {
                let Some(since) = waiting.remove(&who) else {
                    continue;
                };
                let known = givers.entry(condition).or_default();
                let first = known.partition_point(|(giver, _)| *giver < since);
                if let Some(&(giver, serves_all)) = known.get(first) {
                    edges.push((giver, at));
                    if !serves_all {
                        known.remove(first);
                    }
                }
            }
            _ => {}
        }
    }
    edges
}

/// Sections of notifiers before the sections that read what they wrote.
fn held_already(steps: &[Step]) -> Vec<Edge> {
    let notifies = |step: &Step| matches!(step.event.op(), Op::Notify | Op::NotifyAll);
    if !steps.iter().any(notifies) {
        return Vec::new();
    }
    let mut reading = Reading::default();
    for (at, step) in steps.iter().enumerate() {
        reading.step(at as u32, step);
    }
    let sections = &reading.sections;
    let edge = |(from, to): &(u32, u32)| {
        let (from, to) = (&sections[*from as usize], &sections[*to as usize]);
        Some((from.notified_at?, to.acquire)).filter(|(before, after)| before < after)
    };
    reading.seen.iter().filter_map(edge).collect()
}

/// Some of eight bytes (one bit each), and the sections that their writer was in.
type Written = (u8, SmallVec<[u32; 2]>);

#[derive(Default)]
struct Reading {
    sections: Vec<Section>,
    /// The sections that each thread is in.
    open: FxHashMap<ThreadId, Vec<u32>>,
    /// The section that each thread left last.
    left: FxHashMap<ThreadId, u32>,
    /// By eight bytes: in which sections which of them were written last.
    written: FxHashMap<u64, SmallVec<[Written; 1]>>,
    /// Which section has read what was written in which.
    seen: FxHashSet<(u32, u32)>,
}

impl Reading {
    fn step(&mut self, at: u32, step: &Step) {
        let event = &step.event;
        let thread = event.thread();
        match event.op() {
            Op::Acquire | Op::ReadAcquire => {
                self.open
                    .entry(thread)
                    .or_default()
                    .push(self.sections.len() as u32);
                self.sections.push(Section {
                    thread,
                    lock: event.lock(),
                    acquire: at,
                    notified_at: None,
                    release: None,
                });
            }
            Op::Release | Op::ReadRelease => {
                let open = self.open.entry(thread).or_default();
                let is_it = |section: &u32| self.sections[*section as usize].lock == event.lock();
                if let Some(place) = open.iter().rposition(is_it) {
                    let section = open.remove(place);
                    self.sections[section as usize].release = Some(at);
                    self.left.insert(thread, section);
                }
            }
            Op::Notify | Op::NotifyAll => self.notify(at, thread),
            op if op.is_access() => {
                let open = self.open.get(&thread).map_or(&[][..], Vec::as_slice);
                let start = event.addr().0;
                for (cell, mask) in cells(start, start + event.size()) {
                    if op.reads()
                        && !open.is_empty()
                        && let Some(writers) = self.written.get(&cell)
                    {
                        let of_these = writers.iter().filter(|(bytes, _)| bytes & mask != 0);
                        let pairs = of_these
                            .flat_map(|(_, sections)| sections)
                            .flat_map(|from| open.iter().map(move |to| (*from, *to)));
                        let is_news = |(from, to): &(u32, u32)| {
                            let (from, to) =
                                (&self.sections[*from as usize], &self.sections[*to as usize]);
                            from.lock == to.lock && from.thread != to.thread
                        };
                        self.seen.extend(pairs.filter(is_news));
                    }
                    if op.writes() {
                        let known = self.written.entry(cell).or_default();
                        known.iter_mut().for_each(|(bytes, _)| *bytes &= !mask);
                        known.retain(|(bytes, _)| *bytes != 0);
                        if !open.is_empty() {
                            known.push((mask, open.iter().copied().collect()));
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// A thread notifies: the sections that it is in hold what it notifies of, or if it is in none, the last one.
    fn notify(&mut self, at: u32, thread: ThreadId) {
        let open = self.open.get(&thread).filter(|open| !open.is_empty());
        let left = self.left.get(&thread);
        let of = match open {
            Some(open) => open.as_slice(),
            None => left.map_or(&[][..], std::slice::from_ref),
        };
        for section in of {
            let section = &mut self.sections[*section as usize];
            // A wait that would have been ends when the section is over, not when somebody says so.
            let since = section.release.unwrap_or(at);
            section.notified_at.get_or_insert(since);
        }
    }
}

#[cfg(test)]
mod tests {
    use deadheat_trace::text;

    use super::*;

    fn edges_of(trace: &str) -> Vec<Edge> {
        let mut edges = edges(&text::parse(trace).unwrap().steps);
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    #[test]
    fn a_notification_is_before_the_wait_that_it_ended() {
        let trace = "T0|acq(m)|1\nT0|rel(m)|2\nT0|wait(c)|3\n\
            T1|notify(c)|4\nT1|notify(c)|5\nT0|wake(c)|6\nT0|acq(m)|7\n";
        assert_eq!(edges_of(trace), [(3, 5)]);
    }

    #[test]
    fn a_wait_that_never_ran_is_seen_by_what_was_read() {
        let inside = "T1|acq(m)|1\nT1|w(x)|2\nT1|notify(c)|3\nT1|rel(m)|4\n\
            T0|acq(m)|5\nT0|r(x)|6\nT0|rel(m)|7\n";
        assert_eq!(edges_of(inside), [(2, 4)]);
        let outside = "T1|acq(m)|1\nT1|w(x)|2\nT1|rel(m)|3\n\
            T0|acq(m)|4\nT0|r(x)|5\nT0|rel(m)|6\nT1|notify(c)|7\n";
        assert_eq!(edges_of(outside), [(2, 3)]);
    }

    #[test]
    fn neighbours_of_what_was_notified_of_say_nothing() {
        // Two flags in one word: what is read was written in the first section, not in the second.
        let trace = "T1|acq(m)|1\nT1|w(x:1)|2\nT1|notify(c)|3\nT1|rel(m)|4\n\
            T1|acq(m)|5\nT1|w(x+1:1)|6\nT1|notify(c)|7\nT1|rel(m)|8\n\
            T0|acq(m)|9\nT0|r(x:1)|10\nT0|rel(m)|11\n";
        assert_eq!(edges_of(trace), [(2, 8)]);
    }

    #[test]
    fn sections_that_nobody_notified_of_may_change_places() {
        let trace = "T1|acq(m)|1\nT1|w(x)|2\nT1|rel(m)|3\n\
            T0|acq(m)|4\nT0|r(x)|5\nT0|rel(m)|6\nT0|notify(c)|7\n";
        assert_eq!(edges_of(trace), []);
    }
}
