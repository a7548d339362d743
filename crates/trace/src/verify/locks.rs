//! Who holds which lock.
//!
//! A thread may take a lock that it holds already; it must then give it back as often. A lock
//! whose owner has ended may be taken over: robust mutexes are. Behind a gap in the trace, whoever
//! held a lock before may hold it still or not: then only what certainly holds is asked.

use super::violation::Rule;
use crate::hash::FastMap;
use crate::{LockId, Op, SyncId, ThreadId};

/// The state of all locks.
#[derive(Default)]
pub(super) struct Locks {
    locks: FastMap<u32, Lock>,
    /// Events are missing; a lock without an entry may be held by anyone.
    lost: bool,
}

#[derive(Clone, Default)]
struct Lock {
    /// Who holds it for writing, and how often; if it was taken before a gap, who may.
    owner: Option<ThreadId>,
    count: u32,
    /// The owner, or anyone if there is none, may hold it from before a gap.
    owner_unsure: bool,
    /// Who holds it for reading, and how often.
    readers: Vec<(ThreadId, u32)>,
    /// Who may hold it for reading from before a gap.
    unsure_readers: Unsure,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Unsure {
    #[default]
    Nobody,
    Only(ThreadId),
    Anyone,
}

impl Locks {
    /// An operation on a lock; `ended` says of a thread whether it has come to its end.
    pub fn event(
        &mut self,
        op: Op,
        id: LockId,
        thread: ThreadId,
        ended: impl Fn(ThreadId) -> bool,
    ) -> Option<Rule> {
        let lost = self.lost;
        let lock = self.locks.entry(id.0).or_insert_with(|| Lock {
            owner_unsure: lost,
            unsure_readers: if lost { Unsure::Anyone } else { Unsure::Nobody },
            ..Lock::default()
        });
        match op {
            Op::Acquire => lock.acquire(id, thread, ended),
            Op::Release => lock.release(id, thread),
            Op::ReadAcquire => lock.read_acquire(id, thread, ended),
            Op::ReadRelease => lock.read_release(id, thread),
            _ => None,
        }
    }

    /// The object was initialised or destroyed: if it is a lock, nobody holds it.
    pub fn reset(&mut self, id: SyncId) {
        self.locks.insert(id.0, Lock::default());
    }

    /// Events are missing.
    pub fn lose(&mut self) {
        self.lost = true;
        self.locks.clear();
    }
}

impl Lock {
    fn acquire(
        &mut self,
        id: LockId,
        thread: ThreadId,
        ended: impl Fn(ThreadId) -> bool,
    ) -> Option<Rule> {
        let broken = self.held_by_other(thread, &ended).map_or_else(
            || {
                let readers = self.readers.iter().map(|(reader, _)| *reader);
                let others = readers.filter(|reader| *reader != thread && !ended(*reader));
                Some(Rule::AcquireRead(id, others.min()?))
            },
            |owner| Some(Rule::AcquireHeld(id, owner)),
        );
        if self.owner == Some(thread) {
            self.count += 1;
        } else {
            // Another thread had it in between, or nobody is known to: only in the second case
            // may this thread hold it from before.
            self.owner_unsure &= self.owner.is_none();
            self.owner = Some(thread);
            self.count = 1;
        }
        self.readers.retain(|(reader, _)| *reader == thread);
        self.unsure_readers = match self.unsure_readers {
            Unsure::Only(reader) if reader != thread => Unsure::Nobody,
            Unsure::Nobody => Unsure::Nobody,
            _ => Unsure::Only(thread),
        };
        broken
    }

    fn release(&mut self, id: LockId, thread: ThreadId) -> Option<Rule> {
        if self.owner == Some(thread) && self.count > 0 {
            self.count -= 1;
            if self.count == 0 && !self.owner_unsure {
                self.owner = None;
            }
            return None;
        }
        let unsure = self.owner_unsure && self.owner.is_none_or(|owner| owner == thread);
        let owner = self.owner.filter(|_| self.count > 0);
        if unsure {
            return None;
        }
        *self = Lock::default();
        Some(Rule::ReleaseNotHeld(id, owner))
    }

    fn read_acquire(
        &mut self,
        id: LockId,
        thread: ThreadId,
        ended: impl Fn(ThreadId) -> bool,
    ) -> Option<Rule> {
        let owner = self.held_by_other(thread, ended);
        match self
            .readers
            .iter_mut()
            .find(|(reader, _)| *reader == thread)
        {
            Some((_, count)) => *count += 1,
            None => self.readers.push((thread, 1)),
        }
        owner.map(|owner| Rule::ReadAcquireHeld(id, owner))
    }

    fn read_release(&mut self, id: LockId, thread: ThreadId) -> Option<Rule> {
        let mut readers = self.readers.iter();
        let Some(at) = readers.position(|(reader, _)| *reader == thread) else {
            let unsure = [Unsure::Anyone, Unsure::Only(thread)].contains(&self.unsure_readers);
            return (!unsure).then_some(Rule::ReadReleaseNotHeld(id));
        };
        self.readers[at].1 -= 1;
        if self.readers[at].1 == 0 {
            self.readers.swap_remove(at);
        }
        None
    }

    fn held_by_other(
        &self,
        thread: ThreadId,
        ended: impl Fn(ThreadId) -> bool,
    ) -> Option<ThreadId> {
        self.owner
            .filter(|owner| *owner != thread && self.count > 0 && !ended(*owner))
    }
}
