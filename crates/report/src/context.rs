//! What surrounded some events of a trace: the calls that led there, the locks that were held and
//! where each was taken, the block of memory and where it was allocated.
//!
//! Detectors keep positions only; this reads the trace once more and stops at those. Stacks are
//! linked from the inside out, so that remembering one costs nothing.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use deadheat_trace::{Addr, Event, EventIndex, Extents, LockId, Op, Pc, Step, ThreadId};
use rustc_hash::{FxHashMap, FxHasher};

/// A chain of calls, innermost first.
#[derive(Clone, Debug, Default)]
pub struct Stack(Option<Rc<Call>>);

#[derive(Debug)]
struct Call {
    from: Pc,
    outer: Stack,
}

impl Drop for Call {
    /// Deep stacks are taken down one by one, not by recursion.
    fn drop(&mut self) {
        let mut next = self.outer.0.take();
        while let Some(call) = next {
            next = match Rc::try_unwrap(call) {
                Ok(mut call) => call.outer.0.take(),
                Err(_) => None,
            };
        }
    }
}

impl Stack {
    /// Where each function was called from, innermost first.
    pub fn calls(&self) -> impl Iterator<Item = Pc> + '_ {
        std::iter::successors(self.0.as_deref(), |call| call.outer.0.as_deref())
            .map(|call| call.from)
    }

    fn push(&mut self, from: Pc) {
        let outer = std::mem::take(self);
        self.0 = Some(Rc::new(Call { from, outer }));
    }

    fn pop(&mut self) {
        if let Some(call) = self.0.take() {
            *self = call.outer.clone();
        }
    }
}

/// A place with the calls that led there.
#[derive(Clone, Debug)]
pub struct Place {
    /// The place.
    pub pc: Pc,
    /// The calls.
    pub stack: Stack,
}

/// A lock that is held.
#[derive(Clone, Debug)]
pub struct Held {
    /// Which.
    pub lock: LockId,
    /// Whether for reading only.
    pub read: bool,
    /// Where it was taken.
    pub at: Place,
    times: u32,
}

/// A heap block, or a stack.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its first byte.
    pub start: Addr,
    /// How long it is.
    pub size: u64,
    /// Who allocated it.
    pub thread: ThreadId,
    /// Where.
    pub at: Place,
}

/// What surrounded an event.
#[derive(Clone, Debug)]
pub struct Context {
    /// The event.
    pub step: Step,
    /// The calls that led there.
    pub stack: Stack,
    /// The locks that its thread held, in the order of their taking.
    pub locks: Vec<Held>,
    /// The block that its address lies in.
    pub block: Option<Block>,
}

/// Follows a trace and remembers what surrounds the events that are asked for.
#[derive(Debug, Default)]
pub struct Contexts {
    wanted: Vec<EventIndex>,
    next: usize,
    threads: FxHashMap<ThreadId, ThreadState>,
    /// The blocks that are alive, by the numbers of their makers.
    blocks: Extents<u32>,
    makers: Makers,
    found: FxHashMap<EventIndex, Context>,
    created: FxHashMap<ThreadId, Place>,
}

/// Who makes blocks, and where, each once: few make millions.
#[derive(Debug, Default)]
struct Makers {
    all: Vec<(ThreadId, Place)>,
    by_hash: FxHashMap<u64, u32>,
}

impl Makers {
    fn number(&mut self, thread: ThreadId, place: Place) -> u32 {
        let mut hasher = FxHasher::default();
        (thread, place.pc).hash(&mut hasher);
        place.stack.calls().for_each(|call| call.hash(&mut hasher));
        let next = self.all.len() as u32;
        let number = *self.by_hash.entry(hasher.finish()).or_insert(next);
        let is_same = |(who, at): &(ThreadId, Place)| {
            *who == thread && at.pc == place.pc && at.stack.calls().eq(place.stack.calls())
        };
        if self.all.get(number as usize).is_some_and(is_same) {
            return number;
        }
        self.all.push((thread, place));
        next
    }
}

#[derive(Debug, Default)]
struct ThreadState {
    stack: Stack,
    locks: Vec<Held>,
}

impl Contexts {
    /// Will remember these.
    pub fn of(wanted: impl IntoIterator<Item = EventIndex>) -> Self {
        let mut wanted: Vec<EventIndex> = wanted.into_iter().collect();
        wanted.sort_unstable();
        wanted.dedup();
        Contexts {
            wanted,
            ..Contexts::default()
        }
    }

    /// What surrounded an event that was asked for and has been seen.
    pub fn get(&self, index: EventIndex) -> Option<&Context> {
        self.found.get(&index)
    }

    /// Whether what surrounds an event is known; if not, nothing but the event is from now on. That is for those who have not read all of the
    /// trace.
    pub fn supply(&mut self, index: EventIndex, event: Event) -> bool {
        let known = self.found.contains_key(&index);
        if !known {
            let context = Context {
                step: Step::new(event),
                stack: Stack::default(),
                locks: Vec::new(),
                block: None,
            };
            self.found.insert(index, context);
        }
        known
    }

    /// Where a thread was created.
    pub fn created(&self, thread: ThreadId) -> Option<&Place> {
        self.created.get(&thread)
    }

    /// The next step of the trace.
    pub fn step(&mut self, index: EventIndex, step: &Step) {
        if self.wanted.get(self.next) == Some(&index) {
            self.next += 1;
            self.found.insert(index, self.now(step));
        }
        let event = &step.event;
        let op = event.op();
        if op.is_access() {
            return;
        }
        let state = self.threads.entry(event.thread()).or_default();
        match op {
            Op::Enter => state.stack.push(event.pc()),
            Op::Leave => state.stack.pop(),
            Op::Lost => *state = ThreadState::default(),
            Op::Acquire | Op::ReadAcquire => state.take(event),
            Op::Release | Op::ReadRelease => state.give_back(event),
            Op::Fork => {
                let place = state.place(event);
                self.created.insert(event.peer(), place);
            }
            Op::Alloc => {
                let maker = self.makers.number(event.thread(), state.place(event));
                let bytes = step.written().unwrap_or(0);
                self.blocks.insert(event.addr().0, bytes, maker);
            }
            Op::Free => drop(self.blocks.remove(event.addr().0)),
            _ => {}
        }
    }

    /// The locks that a thread holds, in the order of their taking.
    pub fn held(&self, thread: ThreadId) -> &[Held] {
        let state = self.threads.get(&thread);
        state.map_or(&[], |state| &state.locks)
    }

    /// What surrounds the step that is about to come.
    pub fn now(&self, step: &Step) -> Context {
        let event = &step.event;
        let state = self.threads.get(&event.thread());
        let block = self.blocks.before(event.addr().0);
        let block = block.filter(|block| event.addr().0 - block.start < block.bytes.max(1));
        let block = block.map(|block| {
            let (thread, at) = &self.makers.all[block.what as usize];
            Block {
                start: Addr(block.start),
                size: block.bytes,
                thread: *thread,
                at: at.clone(),
            }
        });
        Context {
            step: *step,
            stack: state.map(|state| state.stack.clone()).unwrap_or_default(),
            locks: state.map(|state| state.locks.clone()).unwrap_or_default(),
            block,
        }
    }
}

impl ThreadState {
    fn place(&self, event: &Event) -> Place {
        Place {
            pc: event.pc(),
            stack: self.stack.clone(),
        }
    }

    fn take(&mut self, event: &Event) {
        let read = event.op() == Op::ReadAcquire;
        let mut held = self.locks.iter_mut();
        let again = held.find(|held| held.lock == event.lock() && held.read == read);
        match again {
            Some(held) => held.times += 1,
            None => {
                let at = self.place(event);
                self.locks.push(Held {
                    lock: event.lock(),
                    read,
                    at,
                    times: 1,
                });
            }
        }
    }

    fn give_back(&mut self, event: &Event) {
        let read = event.op() == Op::ReadRelease;
        let mut held = self.locks.iter_mut();
        if let Some(at) = held.position(|held| held.lock == event.lock() && held.read == read) {
            self.locks[at].times -= 1;
            if self.locks[at].times == 0 {
                self.locks.remove(at);
            }
        }
    }
}
