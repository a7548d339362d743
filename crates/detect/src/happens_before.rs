//! Happens-before: messages, and the order of each lock's holders, of all locks or some.
//!
//! A lock that is taken follows all earlier releases of it, but two that hold it for reading do not
//! order each other. A lock whose owner ended without giving it back (a robust mutex) follows the
//! owner's end.

use deadheat_trace::{Addr, LockId, Op, Step, SyncId, ThreadId};

use crate::{Messages, VectorClock};

/// The clocks of all threads by happens-before.
#[derive(Clone, Debug, Default)]
pub(crate) struct HappensBefore {
    messages: Messages<VectorClock>,
    locks: Vec<LockClock>,
}

#[derive(Clone, Debug, Default)]
struct LockClock {
    /// Who holds it, not for reading.
    owner: Option<ThreadId>,
    /// The last release by an owner.
    released: VectorClock,
    /// All releases by readers since.
    read_released: VectorClock,
}

impl HappensBefore {
    /// The next step. Whether its thread must [advance](HappensBefore::advance) behind it.
    #[inline]
    pub fn step(&mut self, step: &Step) -> bool {
        self.step_with(step, |_| true)
    }

    /// The same; only the locks that `orders` says order their holders.
    #[inline]
    pub fn step_with(&mut self, step: &Step, orders: impl FnOnce(LockId) -> bool) -> bool {
        let sent = self.messages.step(step);
        match step.event.op() {
            Op::Read | Op::Write => sent,
            _ if step.event.is_lock_op() && !orders(step.event.lock()) => sent,
            _ => self.locks(step) || sent,
        }
    }

    /// The first half of an atomic access: what it receives.
    #[inline]
    pub fn receive(&mut self, step: &Step) {
        self.messages.receive(step);
    }

    /// The second half: whether its thread must advance.
    pub fn send(&mut self, step: &Step) -> bool {
        self.messages.send(step)
    }

    /// See [`Messages::ignore_atomics_at`].
    pub fn ignore_atomics_at(&mut self, addr: Addr) {
        self.messages.ignore_atomics_at(addr);
    }

    /// What a thread knows.
    #[inline]
    pub fn clock(&self, thread: ThreadId) -> &VectorClock {
        self.messages.clock(thread)
    }

    /// The same, to be changed.
    pub fn clock_mut(&mut self, thread: ThreadId) -> &mut VectorClock {
        self.messages.clock_mut(thread)
    }

    /// What a thread does from here on is not in what it has sent so far.
    #[inline]
    pub fn advance(&mut self, thread: ThreadId) {
        self.messages.advance(thread);
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        let clocks = |lock: &LockClock| lock.released.memory() + lock.read_released.memory();
        let locks: usize = self.locks.iter().map(clocks).sum();
        self.messages.memory() + locks + self.locks.capacity() * size_of::<LockClock>()
    }

    fn locks(&mut self, step: &Step) -> bool {
        let event = &step.event;
        let thread = event.thread();
        match event.op() {
            Op::Acquire => {
                let lock = lock(&mut self.locks, event.lock());
                let before = lock.owner.replace(thread).filter(|owner| *owner != thread);
                let mine = self.messages.clock_mut(thread);
                mine.join(&lock.released);
                mine.join(&lock.read_released);
                if let Some(owner) = before {
                    let left = self.messages.clock(owner).clone();
                    self.messages.clock_mut(thread).join(&left);
                }
                false
            }
            Op::ReadAcquire => {
                let lock = lock(&mut self.locks, event.lock());
                self.messages.clock_mut(thread).join(&lock.released);
                false
            }
            Op::Release => {
                let lock = lock(&mut self.locks, event.lock());
                lock.owner = None;
                lock.released.copy_from(self.messages.clock(thread));
                lock.read_released.clear();
                true
            }
            Op::ReadRelease => {
                let lock = lock(&mut self.locks, event.lock());
                lock.read_released.join(self.messages.clock(thread));
                true
            }
            Op::Init | Op::Destroy => {
                let SyncId(id) = event.sync();
                if let Some(lock) = self.locks.get_mut(id as usize) {
                    *lock = LockClock::default();
                }
                false
            }
            _ => false,
        }
    }
}

fn lock(locks: &mut Vec<LockClock>, id: LockId) -> &mut LockClock {
    if id.index() >= locks.len() {
        locks.resize_with(id.index() + 1, LockClock::default);
    }
    &mut locks[id.index()]
}
