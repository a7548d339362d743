//! Which locks each thread holds.

use deadheat_trace::{Event, EventIndex, LockId, Op, Pc, ThreadId};
use smallvec::SmallVec;

/// A lock in a thread's hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Which.
    pub lock: LockId,
    /// It is held for reading: others may hold it for reading as well.
    pub shared: bool,
    /// Where it was taken (the first time, if it was taken again since).
    pub since: EventIndex,
    /// The place in the program where that was.
    pub pc: Pc,
    /// How often it must be given back.
    times: u32,
}

/// What a step did to the locks that its thread holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing: it is about something else, or about a lock that is held several times.
    None,
    /// The thread holds one more.
    Taken(Held),
    /// The thread holds one less.
    Given(Held),
}

/// The locks that each thread holds, in the order in which they were taken.
///
/// A lock that is taken again counts how often. A release of what is not held does nothing.
///
/// ```
/// use deadheat_detect::HeldLocks;
/// use deadheat_trace::{EventIndex, ThreadId, text};
///
/// let trace = text::parse("T0|acq(m)|1\nT0|acq(m)|2\nT0|rdlock(n)|3\nT0|rel(m)|4\n")?;
/// let mut locks = HeldLocks::default();
/// for (index, step) in trace.steps.iter().enumerate() {
///     locks.step(EventIndex(index as u64), &step.event);
/// }
/// let held = locks.of(ThreadId(0));
/// assert_eq!((held.len(), held[0].since), (2, EventIndex(0)));
/// assert!(!held[0].shared && held[1].shared);
/// # Ok::<(), deadheat_trace::text::ParseError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct HeldLocks {
    threads: Vec<SmallVec<[Held; 4]>>,
}

impl HeldLocks {
    /// The next step.
    #[inline]
    pub fn step(&mut self, index: EventIndex, event: &Event) -> Change {
        match event.op() {
            Op::Acquire => self.take(index, event, false),
            Op::ReadAcquire => self.take(index, event, true),
            Op::Release => self.give(event, false),
            Op::ReadRelease => self.give(event, true),
            _ => Change::None,
        }
    }

    /// What a thread holds.
    #[inline]
    pub fn of(&self, thread: ThreadId) -> &[Held] {
        self.threads
            .get(thread.index())
            .map_or(&[], SmallVec::as_slice)
    }

    /// A thread has ended; what it still held, nobody holds any more.
    pub fn end(&mut self, thread: ThreadId) -> SmallVec<[Held; 4]> {
        self.threads
            .get_mut(thread.index())
            .map(std::mem::take)
            .unwrap_or_default()
    }

    fn take(&mut self, index: EventIndex, event: &Event, shared: bool) -> Change {
        let (thread, lock) = (event.thread().index(), event.lock());
        if thread >= self.threads.len() {
            self.threads.resize_with(thread + 1, SmallVec::new);
        }
        let held = &mut self.threads[thread];
        let same = |held: &&mut Held| held.lock == lock && held.shared == shared;
        if let Some(again) = held.iter_mut().find(same) {
            again.times += 1;
            return Change::None;
        }
        let taken = Held {
            lock,
            shared,
            since: index,
            pc: event.pc(),
            times: 1,
        };
        held.push(taken);
        Change::Taken(taken)
    }

    fn give(&mut self, event: &Event, shared: bool) -> Change {
        let Some(held) = self.threads.get_mut(event.thread().index()) else {
            return Change::None;
        };
        let same = |held: &Held| held.lock == event.lock() && held.shared == shared;
        let Some(at) = held.iter().rposition(same) else {
            return Change::None;
        };
        held[at].times -= 1;
        if held[at].times > 0 {
            return Change::None;
        }
        Change::Given(held.remove(at))
    }
}
