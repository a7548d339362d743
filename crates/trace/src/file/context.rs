//! What the records of all streams refer to, as it changes along the way.

use std::sync::Arc;

use super::code::Locator;
use super::facts::thread_entry;
use super::objects::Objects;
use super::trace_file::TraceFile;
use crate::hash::FastMap;
use crate::{Op, Pc, Role, Roles, Tables, ThreadId};

/// Code, objects and threads.
#[derive(Clone, Debug)]
pub(super) struct Context<'a> {
    pub code: Locator<'a>,
    pub objects: Objects,
    pub tables: Arc<Tables>,
    /// The largest number that a thread can have.
    pub last_thread: u32,
    /// What places do to locks, if that is asked for.
    pub calls: Option<Calls>,
}

/// The functions that each thread is in, by where they were called.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    roles: Roles,
    stacks: FastMap<u32, Vec<Pc>>,
}

impl Calls {
    pub fn new(roles: Roles) -> Self {
        Calls {
            roles,
            stacks: FastMap::default(),
        }
    }

    /// A function was entered or left.
    pub fn function(&mut self, thread: ThreadId, op: Op, pc: Pc) {
        let stack = self.stacks.entry(thread.0).or_default();
        match op {
            Op::Enter => stack.push(pc),
            _ => drop(stack.pop()),
        }
    }

    /// How many things it remembers.
    pub fn weight(&self) -> usize {
        self.stacks.values().map(Vec::len).sum()
    }

    /// Events of a thread are missing: nobody knows where it is.
    pub fn forget(&mut self, thread: ThreadId) {
        self.stacks.remove(&thread.0);
    }

    /// What an atomic access of a thread does to a lock.
    fn role(&self, thread: ThreadId, pc: Pc) -> Role {
        let callers = self.stacks.get(&thread.0).into_iter().flatten().rev();
        let places = std::iter::once(&pc).chain(callers);
        let mut roles = places.map(|pc| self.roles.of(*pc));
        roles
            .find(|role| *role != Role::Inner)
            .unwrap_or(Role::None)
    }
}

/// What happens to a lock before and after an access to its word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    pub before: Option<Op>,
    pub after: Option<Op>,
    /// Who took it would not have waited for it.
    pub tried: bool,
}

impl<'a> Context<'a> {
    /// At the start of a recording.
    pub fn new(file: &'a TraceFile) -> Self {
        Context {
            code: Locator::new(&file.code),
            objects: Objects::default(),
            tables: Arc::clone(&file.tables),
            last_thread: file.last_thread,
            calls: file.roles.clone().map(Calls::new),
        }
    }

    /// What a change of a word does to the lock that it is.
    pub fn around(&self, thread: ThreadId, pc: Pc) -> Around {
        let role = self.calls.as_ref().map(|calls| calls.role(thread, pc));
        let (before, after) = match role {
            // Whoever stands before the change of the word stands before the lock.
            Some(Role::Lock | Role::TryLock) => (Some(Op::Acquire), None),
            Some(Role::ReadLock | Role::TryReadLock) => (Some(Op::ReadAcquire), None),
            Some(Role::Unlock) => (None, Some(Op::Release)),
            Some(Role::ReadUnlock) => (None, Some(Op::ReadRelease)),
            Some(Role::Downgrade) => (Some(Op::Release), Some(Op::ReadAcquire)),
            Some(Role::None | Role::Inner) | None => (None, None),
        };
        Around {
            before,
            after,
            tried: matches!(role, Some(Role::TryLock | Role::TryReadLock)),
        }
    }

    /// Makes sure that a thread is in the tables.
    pub fn know(&mut self, thread: ThreadId) {
        if self.tables.threads.len() <= thread.index() {
            thread_entry(Arc::make_mut(&mut self.tables), thread);
        }
    }

    /// Makes sure that a place that copies is in the tables.
    pub fn copies(&mut self, pc: Pc) {
        if !self.tables.copies.contains(&pc) {
            Arc::make_mut(&mut self.tables).copies.insert(pc);
        }
    }

    /// What an event that is no access is about; `None` for operations that do not synchronise
    /// and for threads that cannot be.
    pub fn target(&mut self, op: Op, target: u64, kind: u64, operand: Option<u64>) -> Option<u64> {
        let Context {
            objects, tables, ..
        } = self;
        let id = match op {
            Op::Fork | Op::Join | Op::JoinRequest | Op::Begin | Op::End => {
                let number = u32::try_from(target).ok()?;
                (number <= self.last_thread).then(|| self.know(ThreadId(number)))?;
                return Some(target);
            }
            Op::Alloc => {
                objects.allocated(target, operand.unwrap_or(0));
                return Some(target);
            }
            Op::Free => {
                objects.freed(target);
                return Some(target);
            }
            Op::Read | Op::Write | Op::Enter | Op::Leave | Op::Branch => return None,
            Op::ExternalWrite | Op::Lost => return None,
            Op::Exit => return Some(0),
            Op::Init => objects.initialised(kind, target, tables),
            Op::Destroy => objects.destroyed(kind, target, tables),
            _ => objects.of(op, target, tables),
        };
        Some(id.0.into())
    }
}
