//! Where a search for a suspected race begins: the first phase of *prefix* (Shacham, Sagiv, Schuster 2007).
//!
//! A warning says that a location is not protected by one lock. From the access that broke the discipline the trace is scanned for another access
//! that could be its partner; the state just before the earlier one of the two is where the search begins ([`partners`]). What
//! happened behind it and cannot depend on it is added ([`extend`], the paper's figure 8), which makes the search shorter and sometimes
//! leads to the race itself.
//!
//! Beyond the paper: the scan also goes forward (its figure 7, which it leaves open), and the extension knows conditions,
//! semaphores, barriers, read-write locks and joins: what a thread that is left behind would have done to them makes them as unusable as a
//! location that it would have written.

use std::collections::{HashMap, HashSet};

use deadheat_trace::{Event, LockId, Op, ThreadId};

/// An access, and the locks that its thread holds there.
struct Access {
    index: usize,
    locks: Vec<LockId>,
}

/// Who could be the partner of the access at `index`: pairs of positions, in the order of the trace. The paper's five conditions: the same location, different
/// threads, a write among them, not both atomic, no lock in common. The last access before comes first, then the first one behind.
pub fn partners(events: &[Event], index: usize) -> Vec<(usize, usize)> {
    let Some(own) = events.get(index) else {
        return Vec::new();
    };
    let mut held: HashMap<ThreadId, Vec<LockId>> = HashMap::new();
    let mut accesses: Vec<Access> = Vec::new();
    for (index, event) in events.iter().enumerate() {
        let locks = held.entry(event.thread()).or_default();
        match event.op() {
            Op::Acquire | Op::ReadAcquire => locks.push(event.lock()),
            Op::Release | Op::ReadRelease => {
                if let Some(at) = locks.iter().rposition(|lock| *lock == event.lock()) {
                    locks.remove(at);
                }
            }
            op if op.is_access() && event.overlaps(own) => accesses.push(Access {
                index,
                locks: locks.clone(),
            }),
            _ => {}
        }
    }
    let Some(at) = accesses.iter().position(|access| access.index == index) else {
        return Vec::new();
    };
    let is_partner = |other: &&Access| {
        let disjoint = !other
            .locks
            .iter()
            .any(|lock| accesses[at].locks.contains(lock));
        disjoint && events[other.index].conflicts_with(own)
    };
    let before = accesses[..at].iter().rev().find(is_partner);
    let behind = accesses[at..].iter().find(is_partner);
    let before = before.map(|other| (other.index, index));
    let behind = behind.map(|other| (index, other.index));
    before.into_iter().chain(behind).collect()
}

/// How far the others can go while the thread of an access stands before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// What happens behind the trace's beginning, which ends before the access: how many events of which thread.
    pub schedule: Vec<(ThreadId, u64)>,
    /// An access that conflicts with it is next there: a race, unless something was overlooked.
    pub race: Option<usize>,
}

/// Adds what others did between the access at `first` and the event at `last`, as far as it does not depend on what its thread would have
/// done.
pub fn extend(events: &[Event], first: usize, last: usize) -> Extension {
    let mut extending = Extending::at(events, first);
    for index in first..=last.min(events.len().saturating_sub(1)) {
        let event = &events[index];
        if extending.is_left_behind(event.thread()) {
            extending.missed(event);
        } else if event.conflicts_with(&events[first]) {
            extending.found.race = Some(index);
            break;
        } else if extending.depends(event) {
            extending.left_behind.insert(event.thread());
            extending.missed(event);
        } else {
            extending.happens(event);
        }
    }
    extending.found
}

/// The state of an extension.
struct Extending {
    /// Threads that cannot go on: the access's own, and those that depend on one.
    left_behind: HashSet<ThreadId>,
    /// Bytes that one of them would have written.
    bytes: HashSet<u64>,
    /// Locks and other objects that one of them would have used.
    locks: HashSet<LockId>,
    objects: HashSet<u64>,
    /// Who has which lock.
    owners: HashMap<LockId, Vec<ThreadId>>,
    /// Threads that were created and threads that have ended.
    created: HashSet<ThreadId>,
    ended: HashSet<ThreadId>,
    found: Extension,
}

impl Extending {
    /// Just before the access at `first`.
    fn at(events: &[Event], first: usize) -> Self {
        let mut extending = Extending {
            left_behind: HashSet::new(),
            bytes: HashSet::new(),
            locks: HashSet::new(),
            objects: HashSet::new(),
            owners: HashMap::new(),
            created: HashSet::new(),
            ended: HashSet::new(),
            found: Extension {
                schedule: Vec::new(),
                race: None,
            },
        };
        for event in &events[..first] {
            extending.happens(event);
        }
        extending.found.schedule.clear();
        if let Some(event) = events.get(first) {
            extending.left_behind.insert(event.thread());
        }
        // Whoever has begun was created, even if the trace does not say by whom.
        let begun = events[..first].iter().map(Event::thread);
        extending.created.extend(begun);
        extending
    }

    fn is_left_behind(&self, thread: ThreadId) -> bool {
        self.left_behind.contains(&thread)
    }

    fn bytes_of(event: &Event) -> std::ops::Range<u64> {
        event.target()..event.target() + event.size()
    }

    /// A thread that is left behind does not do this.
    fn missed(&mut self, event: &Event) {
        if event.op().writes() {
            self.bytes.extend(Self::bytes_of(event));
        } else if event.is_lock_op() {
            self.locks.insert(event.lock());
        } else if is_object(event.op()) {
            self.objects.insert(event.target());
        }
    }

    /// Whether an event depends on somebody who is left behind.
    fn depends(&self, event: &Event) -> bool {
        let thread = event.thread();
        match event.op() {
            Op::Begin => !self.created.contains(&thread),
            Op::Join => !self.ended.contains(&event.peer()),
            Op::Acquire | Op::ReadAcquire => {
                let owners = self.owners.get(&event.lock());
                owners.is_some_and(|owners| owners.iter().any(|owner| *owner != thread))
            }
            Op::Refused | Op::ReadRefused => self.locks.contains(&event.lock()),
            op if op.reads() => Self::bytes_of(event).any(|byte| self.bytes.contains(&byte)),
            op if is_object(op) => self.objects.contains(&event.target()),
            _ => false,
        }
    }

    fn happens(&mut self, event: &Event) {
        let thread = event.thread();
        match event.op() {
            Op::Fork => {
                self.created.insert(event.peer());
            }
            Op::End => {
                self.ended.insert(thread);
            }
            Op::Acquire | Op::ReadAcquire => {
                self.owners.entry(event.lock()).or_default().push(thread);
            }
            Op::Release | Op::ReadRelease => {
                if let Some(owners) = self.owners.get_mut(&event.lock())
                    && let Some(at) = owners.iter().position(|owner| *owner == thread)
                {
                    owners.swap_remove(at);
                }
            }
            op if op.writes() => {
                for byte in Self::bytes_of(event) {
                    self.bytes.remove(&byte);
                }
            }
            _ => {}
        }
        match self.found.schedule.last_mut() {
            Some((last, count)) if *last == thread => *count += 1,
            _ => self.found.schedule.push((thread, 1)),
        }
    }
}

/// Whether it uses an object that is neither memory nor a lock nor a thread.
fn is_object(op: Op) -> bool {
    matches!(
        op,
        Op::Wait
            | Op::Wake
            | Op::Timeout
            | Op::Notify
            | Op::NotifyAll
            | Op::BarrierEnter
            | Op::BarrierExit
            | Op::Post
            | Op::Take
            | Op::TakeRefused
            | Op::Send
            | Op::Receive
            | Op::ReceiveRefused
            | Op::FutexWait
            | Op::FutexWoken
            | Op::FutexWake
            | Op::Init
            | Op::Destroy
    )
}

#[cfg(test)]
mod tests {
    use deadheat_trace::text;

    use super::*;

    fn events(trace: &str) -> Vec<Event> {
        let trace = text::parse(trace).expect("the test's own trace");
        trace.steps.iter().map(|step| step.event).collect()
    }

    /// The paper's figure 6: no race, and nobody to pair the warning (T1 reads x with ly only) with.
    const FIGURE_6: &str = "T0|acq(lx)|1\nT0|acq(ly)|2\nT0|r(y)|3\nT0|w(x)|4\nT0|rel(ly)|5\nT0|rel(lx)|6\n\
        T1|acq(lx)|7\nT1|w(x)|8\nT1|rel(lx)|9\nT1|acq(ly)|10\nT1|r(x)|11\nT1|w(y)|12\nT1|rel(ly)|13\n";
    /// Its figure 7: the partner comes later.
    const FIGURE_7: &str = "T1|acq(lx)|1\nT1|acq(ly)|2\nT1|r(x)|3\nT1|w(y)|4\nT1|rel(ly)|5\nT1|rel(lx)|6\n\
        T0|acq(lx)|7\nT0|acq(ly)|8\nT0|r(x)|9\nT0|w(y)|10\nT0|rel(ly)|11\nT0|rel(lx)|12\n\
        T1|acq(lx)|13\nT1|w(x)|14\nT1|rel(lx)|15\nT1|acq(ly)|16\nT1|r(x)|17\nT1|w(y)|18\nT1|rel(ly)|19\n\
        T0|acq(lx)|20\nT0|w(x)|21\nT0|rel(lx)|22\n";

    #[test]
    fn figure_6_has_no_partner() {
        let events = events(FIGURE_6);
        let warning = 10;
        assert_eq!(events[warning].op(), Op::Read);
        assert_eq!(partners(&events, warning), []);
    }

    #[test]
    fn figure_7_has_one_ahead_which_the_extension_reaches() {
        let events = events(FIGURE_7);
        let (warning, later) = (16, 20);
        assert_eq!(partners(&events, warning), [(warning, later)]);
        let extension = extend(&events, warning, later);
        assert_eq!(extension.race, Some(later));
        assert_eq!(extension.schedule, [(events[later].thread(), 1)]);
    }

    #[test]
    fn whoever_needs_what_is_left_behind_is_left_behind() {
        // T0 stands before its write of x, with m held. T1 reads y, which T0 would have written; T2 wants m; T3 does neither.
        let text = "T0|acq(m)|1\nT0|w(x)|2\nT0|w(y)|3\nT1|r(y)|4\nT1|w(x)|5\nT2|acq(m)|6\nT2|w(x)|7\n\
                    T3|w(z)|8\nT3|r(z)|9\nT3|w(x)|10\n";
        let events = events(text);
        let extension = extend(&events, 1, 9);
        assert_eq!(extension.race, Some(9));
        assert_eq!(extension.schedule, [(ThreadId(3), 2)]);
        // A location that somebody else has written since can be read.
        let text = "T0|w(x)|1\nT0|w(y)|2\nT1|w(y)|3\nT2|r(y)|4\nT2|r(x)|5\n";
        let extension = extend(&self::events(text), 0, 4);
        assert_eq!(extension.race, Some(4));
    }

    #[test]
    fn joins_wait_for_those_who_are_left_behind() {
        let text = "T0|fork(T1)|1\nT0|fork(T2)|2\nT1|w(x)|3\nT1|w(z)|4\nT2|w(q)|5\nT0|join(T1)|6\nT0|r(x)|7\n";
        let events = events(text);
        let extension = extend(&events, 2, 6);
        assert_eq!(extension.race, None);
        assert_eq!(extension.schedule, [(ThreadId(2), 1)]);
    }
}
