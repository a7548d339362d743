//! From positions in a trace to a finding.

use deadheat_trace::{Addr, Event, EventIndex, LockId, Op, SyncId, Tables, ThreadId};

use crate::context::{Block, Context, Contexts, Held, Place};
use crate::finding::{Access, Finding, Frame, Kind, Lock, Memory, Object, Rung, Thread, own_place};
use crate::names::Names;

/// All that is known of a trace, to explain what was found in it.
pub struct Explain<'a> {
    /// Names of places and variables.
    pub names: &'a Names,
    /// The trace's own tables.
    pub tables: &'a Tables,
    /// What surrounded the events.
    pub contexts: &'a Contexts,
}

impl Explain<'_> {
    /// A race between two accesses; `None` if the contexts do not know them.
    pub fn race(
        &self,
        [first, second]: [EventIndex; 2],
        rung: Rung,
        method: &str,
    ) -> Option<Finding> {
        let [a, b] = [self.contexts.get(first)?, self.contexts.get(second)?];
        let accesses = vec![self.access(first, a), self.access(second, b)];
        let mut finding = Finding::new(Kind::Race, rung, method, accesses);
        let start = a.step.event.addr().max(b.step.event.addr());
        let end = end(a).min(end(b));
        finding.object = Some(self.object(start, end.saturating_sub(start.0), a, b));
        Some(finding)
    }

    /// Threads that wait for each other: for each the position of the event at which it takes the
    /// last lock, and that lock. What waits for something else says by itself for what.
    pub fn deadlock(
        &self,
        requests: &[(EventIndex, LockId)],
        rung: Rung,
        method: &str,
    ) -> Option<Finding> {
        let request = |(index, lock): &(EventIndex, LockId)| {
            let context = self.contexts.get(*index)?;
            let mut access = self.access(*index, context);
            let event = &context.step.event;
            let word_of = match event.op() {
                Op::FutexWoken | Op::FutexWait => self.tables.lock_of_word(event.sync()),
                _ => None,
            };
            access.op = match event.op() {
                Op::ReadAcquire | Op::ReadRequest => "read lock",
                Op::Join | Op::JoinRequest => "join",
                Op::Wake | Op::Wait | Op::WakeRequest => "condition",
                Op::Take | Op::TakeRequest => "semaphore",
                Op::BarrierExit | Op::BarrierEnter => "barrier",
                Op::FutexWoken | Op::FutexWait if word_of.is_none() => "futex",
                _ => "lock",
            }
            .to_owned();
            (access.size, access.address) = (0, 0);
            // The lock that it waits for stands by itself; it may be there if it was taken before.
            access.waits_for = Some(match event.op() {
                Op::Join | Op::JoinRequest => self.end_of(event.peer()),
                _ => self.lock(word_of.unwrap_or(*lock), false, None),
            });
            Some(access)
        };
        let accesses: Option<Vec<Access>> = requests.iter().map(request).collect();
        Some(Finding::new(Kind::Deadlock, rung, method, accesses?))
    }

    /// A program that ends as it should not: the last event of the thread that was running.
    pub fn failure(&self, last: EventIndex, rung: Rung, method: &str) -> Option<Finding> {
        let access = self.access(last, self.contexts.get(last)?);
        Some(Finding::new(Kind::Failure, rung, method, vec![access]))
    }

    fn access(&self, index: EventIndex, context: &Context) -> Access {
        let event = &context.step.event;
        let stack = self.stack(&Place {
            pc: event.pc(),
            stack: context.stack.clone(),
        });
        Access {
            thread: self.thread(event.thread()),
            op: op_name(event.op()).to_owned(),
            size: end(context).saturating_sub(event.addr().0),
            address: event.addr().0,
            place: own_place(&stack),
            stack,
            folded: false,
            locks: context.locks.iter().map(|held| self.held(held)).collect(),
            waits_for: None,
            index: Some(index.0),
        }
    }

    fn stack(&self, place: &Place) -> Vec<Frame> {
        let mut frames = self.names.frames(place.pc, self.tables);
        for call in place.stack.calls() {
            frames.extend(self.names.frames(call, self.tables));
        }
        frames
    }

    fn held(&self, held: &Held) -> Lock {
        self.lock(held.lock, held.read, Some(&held.at))
    }

    fn lock(&self, lock: LockId, read: bool, at: Option<&Place>) -> Lock {
        let object = self.tables.syncs.get(lock.index());
        Lock {
            name: self.names.lock(SyncId(lock.0), self.tables),
            address: object.map_or(0, |object| object.addr.0),
            read,
            acquired_at: at.map_or_else(Vec::new, |at| self.stack(at)),
        }
    }

    /// A thread's end, which is waited for like a lock.
    fn end_of(&self, thread: ThreadId) -> Lock {
        Lock {
            name: self.tables.thread_name(thread),
            address: 0,
            read: false,
            acquired_at: Vec::new(),
        }
    }

    fn thread(&self, id: ThreadId) -> Thread {
        let known = self.tables.threads.get(id.index());
        Thread {
            number: id.0,
            name: self.tables.thread_name(id),
            parent: known
                .and_then(|thread| thread.parent)
                .map(|parent| parent.0),
            created_at: match self.contexts.created(id) {
                Some(place) => self.stack(place),
                None => Vec::new(),
            },
        }
    }

    fn object(&self, addr: Addr, size: u64, a: &Context, b: &Context) -> Object {
        let (name, memory) = self.memory(addr, a, b);
        Object {
            name,
            address: addr.0,
            size,
            memory,
        }
    }

    /// What a person calls the memory at an address, by what surrounds an access to it.
    pub fn memory_name(&self, addr: Addr, context: &Context) -> String {
        let (name, memory) = self.memory(addr, context, context);
        match memory {
            Memory::Heap { offset, .. } if offset > 0 => format!("byte {offset} of {name}"),
            _ => name,
        }
    }

    fn memory(&self, addr: Addr, a: &Context, b: &Context) -> (String, Memory) {
        if let Some((name, offset)) = self.tables.variable_at(addr) {
            let name = match offset {
                0 => name.to_owned(),
                _ => format!("{name}+{offset}"),
            };
            return (name, Memory::Variable);
        }
        if let Some(global) = self.names.variable(addr) {
            let memory = Memory::Global {
                variable: global.name,
                offset: global.offset,
                declared: global.declared,
            };
            return (global.shown, memory);
        }
        match a.block.as_ref().or(b.block.as_ref()) {
            Some(block) if self.is_stack(block) => {
                let thread = self.tables.thread_name(block.thread);
                (format!("the stack of {thread}"), Memory::Stack { thread })
            }
            Some(block) => {
                let memory = Memory::Heap {
                    start: block.start.0,
                    length: block.size,
                    offset: addr.0.saturating_sub(block.start.0),
                    thread: self.tables.thread_name(block.thread),
                    allocated_at: self.stack(&block.at),
                };
                (format!("a heap block of {} bytes", block.size), memory)
            }
            None => (format!("{:#x}", addr.0), Memory::Unknown),
        }
    }

    /// A thread's stack is recorded as a block that the thread allocates outside any function.
    fn is_stack(&self, block: &Block) -> bool {
        let is_thread = block.at.stack.calls().next().is_none();
        is_thread && block.size >= 16 * 1024 && self.tables.module_of(block.at.pc).is_none()
    }
}

/// One past the last byte that an event touches.
fn end(context: &Context) -> u64 {
    let event: &Event = &context.step.event;
    match (event.op(), &context.block) {
        (Op::Free, Some(block)) => block.start.0.saturating_add(block.size),
        (Op::Free, None) => u64::MAX,
        _ => event.addr().0.saturating_add(event.size()),
    }
}

/// What a person calls an operation.
pub fn op_name(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::AtomicRead => "atomic read",
        Op::AtomicWrite => "atomic write",
        Op::AtomicRmw => "atomic update",
        Op::ExternalWrite => "write in code without instrumentation",
        Op::Free => "free",
        Op::Acquire | Op::Request => "lock",
        Op::ReadAcquire | Op::ReadRequest => "read lock",
        Op::Exit => "end of the program",
        _ => "event",
    }
}
