//! The order that threads make by sending to each other: everything but locks and plain memory.
//!
//! | sends | receives |
//! |---|---|
//! | `Fork` | all of the new thread |
//! | all of a thread | its `Join` |
//! | `Notify`, `NotifyAll` | the `Wake` of every thread that waits there: between its `Wait` and its `Wake` (as in the hybrid paper) |
//! | every `BarrierEnter` of a round | every `BarrierExit` of the same round |
//! | `Post`, `Send` | every later `Take`, `Receive` of the same object |
//! | atomic accesses and fences | see [`atomics`] |
//!
//! `Timeout`, spurious or not, receives nothing; futexes order nothing that the atomics around them do
//! not. Which of several waiters a `Notify` woke the trace does not say, nor which `Post` a `Take` used:
//! all are taken, which is more order than there was and so never a race too much.
//!
//! Behind a gap ([`Op::Lost`]) anything may have been sent in between: all that stands before it
//! counts as ordered before all that stands behind.
//!
//! What is carried is up to the method: [`Clock`]. The clocks of all threads live here.

mod atomics;
mod barriers;

use deadheat_trace::{Addr, Event, Op, Step, SyncId, ThreadId};
use rustc_hash::FxHashMap;

use self::atomics::Atomics;
use self::barriers::Barrier;
use crate::VectorClock;

/// What a message carries, and a thread has.
pub trait Clock: Default + Clone {
    /// The clock of a thread that has received nothing.
    fn start(thread: ThreadId) -> Self;

    /// Takes over what another knows.
    fn join(&mut self, other: &Self);

    /// Becomes the same as another, in the memory that is there.
    fn copy_from(&mut self, other: &Self);

    /// What the thread does from here on is not in what it has sent so far.
    fn advance(&mut self, thread: ThreadId);

    /// How many bytes it holds outside itself.
    fn memory(&self) -> usize;
}

impl Clock for VectorClock {
    fn start(thread: ThreadId) -> Self {
        let mut clock = VectorClock::new();
        clock.set(thread, 1);
        clock
    }

    #[inline]
    fn join(&mut self, other: &Self) {
        VectorClock::join(self, other);
    }

    #[inline]
    fn copy_from(&mut self, other: &Self) {
        VectorClock::copy_from(self, other);
    }

    #[inline]
    fn advance(&mut self, thread: ThreadId) {
        self.set(thread, self.get(thread).saturating_add(1));
    }

    fn memory(&self) -> usize {
        VectorClock::memory(self)
    }
}

/// The clocks of all threads, and the messages that are under way. What sends and what receives: see the file.
///
/// ```
/// use deadheat_detect::{Clock, Messages, VectorClock};
/// use deadheat_trace::{ThreadId, text};
///
/// let trace = text::parse("T0|w(x)|1\nT0|fork(T1)|2\nT1|r(x)|3\n")?;
/// let mut messages = Messages::<VectorClock>::new();
/// for step in &trace.steps {
///     let sent = messages.step(step);
///     if sent {
///         messages.advance(step.event.thread());
///     }
/// }
/// assert_eq!(messages.clock(ThreadId(0)).times(), [2]);
/// assert_eq!(messages.clock(ThreadId(1)).times(), [1, 1]);
/// # Ok::<(), text::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Messages<C> {
    clocks: Vec<C>,
    /// What semaphores and channels hold.
    sent: FxHashMap<SyncId, C>,
    barriers: FxHashMap<SyncId, Barrier<C>>,
    /// Who waits at a condition.
    waiting: FxHashMap<SyncId, Vec<Waiter<C>>>,
    atomics: Atomics<C>,
}

#[derive(Clone, Debug)]
struct Waiter<C> {
    thread: ThreadId,
    /// What was sent since it waits.
    sent: C,
}

impl<C: Clock> Default for Messages<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Clock> Messages<C> {
    /// Nothing has happened.
    pub fn new() -> Self {
        Messages {
            clocks: Vec::new(),
            sent: FxHashMap::default(),
            barriers: FxHashMap::default(),
            waiting: FxHashMap::default(),
            atomics: Atomics::default(),
        }
    }

    /// The next step: every step of a trace is shown, also those that send nothing. What its thread
    /// receives is in the thread's clock afterwards.
    ///
    /// Whether it sends: what was sent includes the step itself, so the thread must
    /// [advance](Messages::advance) before its next step (and after whatever is asked about this one).
    #[inline]
    #[must_use]
    pub fn step(&mut self, step: &Step) -> bool {
        self.receive(step);
        self.send(step)
    }

    /// The first half of a step: what an atomic read receives. For methods that order more by a
    /// read than messages do, which must happen before it sends.
    #[inline]
    pub fn receive(&mut self, step: &Step) {
        let event = &step.event;
        self.know(event.thread());
        if matches!(event.op(), Op::AtomicRead | Op::AtomicRmw) {
            let mine = &mut self.clocks[event.thread().index()];
            self.atomics.receive(event, mine);
        }
    }

    /// The second half: everything else.
    #[inline]
    #[must_use]
    pub fn send(&mut self, step: &Step) -> bool {
        match step.event.op() {
            Op::Read | Op::Write | Op::ExternalWrite => false,
            Op::Enter | Op::Leave | Op::Branch | Op::Exit => false,
            op => self.message(step, op),
        }
    }

    /// The clock of a thread that was shown.
    #[inline]
    pub fn clock(&self, thread: ThreadId) -> &C {
        &self.clocks[thread.index()]
    }

    /// The same, to be changed by what else a method takes as order.
    #[inline]
    pub fn clock_mut(&mut self, thread: ThreadId) -> &mut C {
        &mut self.clocks[thread.index()]
    }

    /// What a thread does from here on is not in what it has sent so far.
    #[inline]
    pub fn advance(&mut self, thread: ThreadId) {
        self.clocks[thread.index()].advance(thread);
    }

    /// A thread comes after all that another one has done so far.
    pub fn follow(&mut self, thread: ThreadId, other: ThreadId) {
        let pair = [thread.index(), other.index()];
        if let Ok([mine, theirs]) = self.clocks.get_disjoint_mut(pair) {
            mine.join(theirs);
        }
    }

    /// How many threads have clocks.
    pub fn threads(&self) -> usize {
        self.clocks.len()
    }

    /// From now on atomic accesses at this address send and receive nothing: it is the word of a
    /// lock, and a method wants no order from locks. Until the memory is handed out anew.
    pub fn ignore_atomics_at(&mut self, addr: Addr) {
        self.atomics.ignore(addr);
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        let clock = |clock: &C| size_of::<C>() + clock.memory();
        let waiters = self.waiting.values().flatten();
        self.clocks.iter().map(clock).sum::<usize>()
            + self.sent.values().map(clock).sum::<usize>()
            + self.barriers.values().map(Barrier::memory).sum::<usize>()
            + waiters.map(|waiter| clock(&waiter.sent)).sum::<usize>()
            + self.atomics.memory()
    }

    fn message(&mut self, step: &Step, op: Op) -> bool {
        let event = &step.event;
        let (thread, object) = (event.thread(), event.sync());
        match op {
            Op::AtomicWrite | Op::AtomicRmw => {
                let mine = &self.clocks[thread.index()];
                return self.atomics.send(event, mine);
            }
            Op::Fence => {
                let mine = &mut self.clocks[thread.index()];
                return self.atomics.fence(event, mine);
            }
            Op::Fork => return self.fork(event),
            Op::Join => self.join(event),
            Op::Wait => self.wait(thread, object),
            Op::Wake | Op::Timeout => self.stop_waiting(op, thread, object),
            Op::Notify | Op::NotifyAll => return self.notify(thread, object),
            Op::BarrierEnter => {
                let barrier = self.barriers.entry(object).or_default();
                barrier.enter(thread, &self.clocks[thread.index()]);
                return true;
            }
            Op::BarrierExit => {
                if let Some(barrier) = self.barriers.get_mut(&object) {
                    barrier.exit(thread, &mut self.clocks[thread.index()]);
                }
            }
            Op::Post | Op::Send => {
                let sent = self.sent.entry(object).or_default();
                sent.join(&self.clocks[thread.index()]);
                return true;
            }
            Op::Take | Op::Receive => {
                if let Some(sent) = self.sent.get(&object) {
                    self.clocks[thread.index()].join(sent);
                }
            }
            Op::Init => {
                self.forget(object);
                if let Some(count) = step.written() {
                    self.barriers.insert(object, Barrier::of(count));
                }
            }
            Op::Destroy => self.forget(object),
            Op::Alloc => {
                let size = step.written().unwrap_or(0);
                self.atomics.forget(event.addr(), size);
            }
            Op::Lost => self.lose(),
            _ => {}
        }
        false
    }

    /// The new thread has done nothing yet: what it receives is there before its first step.
    fn fork(&mut self, event: &Event) -> bool {
        let (parent, child) = (event.thread(), event.peer());
        if parent == child || child.0 > Event::MAX_THREAD {
            return false;
        }
        self.know(child);
        if let Ok([parent, child]) = self
            .clocks
            .get_disjoint_mut([parent.index(), child.index()])
        {
            child.join(parent);
        }
        true
    }

    /// The other thread has done its last step.
    fn join(&mut self, event: &Event) {
        let (mine, ended) = (event.thread().index(), event.peer().index());
        if let Ok([mine, ended]) = self.clocks.get_disjoint_mut([mine, ended]) {
            mine.join(ended);
        }
    }

    fn wait(&mut self, thread: ThreadId, condition: SyncId) {
        let waiting = self.waiting.entry(condition).or_default();
        waiting.retain(|waiter| waiter.thread != thread);
        waiting.push(Waiter {
            thread,
            sent: C::default(),
        });
    }

    fn stop_waiting(&mut self, op: Op, thread: ThreadId, condition: SyncId) {
        let Some(waiting) = self.waiting.get_mut(&condition) else {
            return;
        };
        if let Some(at) = waiting.iter().position(|waiter| waiter.thread == thread) {
            let waiter = waiting.swap_remove(at);
            if op == Op::Wake {
                self.clocks[thread.index()].join(&waiter.sent);
            }
        }
    }

    fn notify(&mut self, thread: ThreadId, condition: SyncId) -> bool {
        let Some(waiting) = self.waiting.get_mut(&condition) else {
            return false;
        };
        for waiter in waiting.iter_mut() {
            waiter.sent.join(&self.clocks[thread.index()]);
        }
        !waiting.is_empty()
    }

    fn forget(&mut self, object: SyncId) {
        self.sent.remove(&object);
        self.barriers.remove(&object);
        self.waiting.remove(&object);
    }

    fn lose(&mut self) {
        let mut all = C::default();
        for clock in &self.clocks {
            all.join(clock);
        }
        for (thread, clock) in self.clocks.iter_mut().enumerate() {
            clock.join(&all);
            clock.advance(ThreadId(thread as u32));
        }
    }

    /// A thread has its clock from now on, if it is not known yet.
    #[inline]
    pub fn know(&mut self, thread: ThreadId) {
        if thread.index() >= self.clocks.len() {
            self.appear(thread);
        }
    }

    #[cold]
    fn appear(&mut self, thread: ThreadId) {
        let first = self.clocks.len() as u32;
        let new = (first..=thread.0).map(|thread| C::start(ThreadId(thread)));
        self.clocks.extend(new);
    }
}

#[cfg(test)]
mod tests;
