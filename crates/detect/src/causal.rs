//! Clocks for relations that are weaker than happens-before and closed under it: what happens before, and
//! what *lies before* by the relation of the method.
//!
//! Locks order by happens-before only; messages order by both. So what lies before something stays so
//! along every happens-before, and everything that happens before a message lies before its receiver: as if
//! the message were written and read in critical sections of a lock of its own. A thread that receives what
//! it has sent itself learns nothing by that, so messages remember who sent what.

use deadheat_trace::ThreadId;
use smallvec::SmallVec;

use crate::{Clock, VectorClock};

/// What a thread has before it; or, without a thread, what is in a message.
#[derive(Clone, Debug, Default)]
pub(crate) struct CausalClocks {
    thread: Option<ThreadId>,
    /// What happens before, with the thread's own time.
    pub happens: VectorClock,
    /// What lies before. The thread's own entry is about its earlier steps too.
    pub lies: VectorClock,
    /// In a message: what happens before it, by sender.
    sent: SmallVec<[(ThreadId, VectorClock); 1]>,
}

/// What a lock hands on from holder to holder.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockClocks {
    /// At the end of the last section for writing.
    written: CausalClocks,
    /// At the ends of sections for reading.
    read: CausalClocks,
}

impl Clock for CausalClocks {
    fn start(thread: ThreadId) -> Self {
        CausalClocks {
            thread: Some(thread),
            happens: VectorClock::start(thread),
            ..CausalClocks::default()
        }
    }

    fn join(&mut self, other: &Self) {
        match other.thread {
            // A message that the thread sent adds to an earlier one, or comes back to the thread.
            Some(sender) if self.thread == Some(sender) => self.follow(other),
            Some(sender) => self.receive(sender, &other.happens),
            None => {}
        }
        for (sender, clock) in &other.sent {
            self.receive(*sender, clock);
        }
    }

    fn copy_from(&mut self, other: &Self) {
        self.thread = other.thread;
        self.happens.copy_from(&other.happens);
        self.lies.copy_from(&other.lies);
        self.sent.clone_from(&other.sent);
    }

    fn advance(&mut self, thread: ThreadId) {
        self.happens.advance(thread);
    }

    fn memory(&self) -> usize {
        let sent = self.sent.iter().map(|(_, clock)| clock.memory());
        self.happens.memory() + self.lies.memory() + sent.sum::<usize>()
    }
}

impl CausalClocks {
    /// Something comes from a sender.
    fn receive(&mut self, sender: ThreadId, clock: &VectorClock) {
        match self.thread {
            Some(thread) if thread == sender => {}
            Some(_) => {
                self.happens.join(clock);
                self.lies.join(clock);
            }
            None => match self.sent.iter_mut().find(|(from, _)| *from == sender) {
                Some((_, sent)) => sent.join(clock),
                None => self.sent.push((sender, clock.clone())),
            },
        }
    }

    /// What lies before a thread, with the thread's own time.
    #[inline]
    pub fn with_own_time(&mut self, thread: ThreadId, ask: impl FnOnce(&VectorClock)) {
        let own = self.lies.get(thread);
        self.lies.set(thread, self.happens.get(thread));
        ask(&self.lies);
        self.lies.set(thread, own);
    }

    /// Comes after a moment with these clocks, by happens-before only.
    #[inline]
    fn follow(&mut self, other: &CausalClocks) {
        self.happens.join(&other.happens);
        self.lies.join(&other.lies);
    }
}

impl LockClocks {
    /// A thread with these clocks takes the lock.
    #[inline]
    pub fn take(&self, shared: bool, clocks: &mut CausalClocks) {
        clocks.follow(&self.written);
        if !shared {
            clocks.follow(&self.read);
        }
    }

    /// A thread with these clocks gives the lock back.
    #[inline]
    pub fn give(&mut self, shared: bool, clocks: &CausalClocks) {
        if shared {
            self.read.follow(clocks);
        } else {
            self.written.copy_from(clocks);
        }
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        self.written.memory() + self.read.memory()
    }
}
