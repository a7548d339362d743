//! Schedulable happens-before races: Mathur, Kini and Viswanathan, "What Happens-After the First
//! Race?" (OOPSLA 2018).
//!
//! Happens-before, and behind each read also the write that it reads from: then a race can be
//! brought about without changing what was read before it. So every race is real, not just the first.
//! A read's own write comes before what follows the read; the two may race themselves.
//!
//! Which write a read reads from is told by the trace's order: this method is for traces whose order of
//! accesses is the one that happened ([`Mode::Serial`](deadheat_trace::Mode::Serial)).
//!
//! Deviations: as in `hb.rs`. Atomic reads, too, come after the write that they read from, whatever
//! their order: so a race is one of interleavings. And a write's clock is kept as its thread's clock at
//! the last message that the thread received, which many writes share, and the thread's own time.

use std::rc::Rc;

use deadheat_trace::{EventIndex, Op, Step, Tables, ThreadId};
use smallvec::SmallVec;

use crate::accesses::Accesses;
use crate::blocks::{Blocks, Change};
use crate::happens_before::HappensBefore;
use crate::{Access, Detector, Epoch, Race, Races, Shadow, VectorClock};

/// The detector.
#[derive(Default)]
pub struct Shb {
    order: HappensBefore,
    shadow: Shadow<Cell>,
    blocks: Blocks,
    /// What each thread knows of others, as long as it receives nothing.
    known: Vec<Option<Rc<VectorClock>>>,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    accesses: Accesses,
    written: Option<Written>,
}

/// The last write.
#[derive(Clone, Debug)]
struct Written {
    at: Epoch,
    /// What its thread knew of others.
    known: Rc<VectorClock>,
}

impl Shb {
    /// At the start of a trace.
    pub fn new() -> Self {
        Self::default()
    }

    /// An atomic access receives, then reads, and only then sends: what it sends includes what it
    /// read.
    fn atomic(&mut self, access: Access, step: &Step, races: &mut Races) {
        let (thread, op) = (access.event.thread(), access.event.op());
        self.order.receive(step);
        self.forget_known(thread);
        if op.reads() {
            self.read(access, races);
        }
        let sent = self.order.send(step);
        if op.writes() {
            self.write(access, races, !op.reads());
        }
        if sent || op.writes() {
            self.order.advance(thread);
        }
    }

    /// Anything but an access.
    fn other(&mut self, access: Access, step: &Step, races: &mut Races) {
        let event = &step.event;
        let sent = self.order.step(step);
        // It may have received.
        self.forget_known(event.thread());
        match event.op() {
            Op::Fork => self.forget_known(event.peer()),
            Op::Lost => self.known.clear(),
            Op::Alloc | Op::Free => self.memory_event(access, step, races),
            Op::ExternalWrite => {
                let (addr, size) = (event.addr(), event.size());
                self.shadow.access(addr, size, |cell| cell.written = None);
            }
            _ => {}
        }
        if sent {
            self.order.advance(event.thread());
        }
    }

    fn read(&mut self, access: Access, races: &mut Races) {
        let event = &access.event;
        let mut received: SmallVec<[Written; 1]> = SmallVec::new();
        let clock = self.order.clock(event.thread());
        self.shadow.access(event.addr(), event.size(), |cell| {
            add(cell, access, clock, races);
            // Who knows the write knows what its thread knew there.
            if let Some(written) = &cell.written
                && !clock.covers(written.at)
            {
                received.push(written.clone());
            }
        });
        if !received.is_empty() {
            let clock = self.order.clock_mut(event.thread());
            for Written { at, known } in received {
                clock.join(&known);
                let writer = ThreadId(at.thread);
                clock.set(writer, clock.get(writer).max(at.time));
            }
            self.forget_known(event.thread());
        }
    }

    fn write(&mut self, access: Access, races: &mut Races, check: bool) {
        let event = &access.event;
        let thread = event.thread();
        let clock = self.order.clock(thread);
        if thread.index() >= self.known.len() {
            self.known.resize(thread.index() + 1, None);
        }
        let known = self.known[thread.index()].get_or_insert_with(|| Rc::new(clock.clone()));
        let at = Epoch {
            thread: thread.0,
            time: clock.get(thread),
        };
        self.shadow.access(event.addr(), event.size(), |cell| {
            if check {
                add(cell, access, clock, races);
            }
            match &mut cell.written {
                Some(written) if Rc::ptr_eq(&written.known, known) => written.at = at,
                written => {
                    *written = Some(Written {
                        at,
                        known: Rc::clone(known),
                    });
                }
            }
        });
    }

    fn forget_known(&mut self, thread: ThreadId) {
        if let Some(known) = self.known.get_mut(thread.index()) {
            *known = None;
        }
    }

    fn memory_event(&mut self, access: Access, step: &Step, races: &mut Races) {
        let clock = self.order.clock(access.event.thread());
        match self.blocks.step(step) {
            Some(Change::New(addr, size)) => self.shadow.forget(addr, size, |_| {}),
            Some(Change::Gone(addr, size)) => self
                .shadow
                .revisit(addr, size, |cell| add(cell, access, clock, races)),
            None => {}
        }
    }
}

#[inline]
fn add(cell: &mut Cell, access: Access, clock: &VectorClock, races: &mut Races) {
    cell.accesses.add(access, clock, &mut |first| {
        races.add(Race {
            first,
            second: access,
        });
    });
}

impl Detector for Shb {
    #[inline]
    fn step(&mut self, index: EventIndex, step: &Step, _tables: &Tables, races: &mut Races) {
        let event = step.event;
        let access = Access { index, event };
        match event.op() {
            Op::Read => {
                self.order.receive(step);
                self.read(access, races);
            }
            Op::Write => {
                self.order.receive(step);
                self.write(access, races, true);
                self.order.advance(event.thread());
            }
            op if op.is_atomic() => self.atomic(access, step, races),
            _ => self.other(access, step, races),
        }
    }

    fn memory(&self) -> usize {
        // What writes share is shared out among them.
        let shared = |written: &Written| {
            let clock = size_of::<VectorClock>() + written.known.memory();
            clock / Rc::strong_count(&written.known)
        };
        let cell = |cell: &Cell| cell.accesses.memory() + cell.written.as_ref().map_or(0, shared);
        let cells: usize = self.shadow.states().map(cell).sum();
        self.order.memory() + self.shadow.memory() + cells + self.blocks.memory()
    }
}
