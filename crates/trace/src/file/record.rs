//! From the words of a block to steps.

use deadheat_wire::word::{self, ext};
use deadheat_wire::{Op, Order};

use super::blocks::Block;
use super::code::CodeMap;
use super::objects::Objects;
use crate::{Addr, Event, Pc, Step, Tables, ThreadId};

/// The largest piece that a range without values is cut into.
const LARGEST_PIECE: u64 = 32 * 1024;

/// What the records of a stream refer to.
#[derive(Clone, Debug)]
pub(super) struct Context {
    pub code: CodeMap,
    pub objects: Objects,
    pub tables: Tables,
}

/// A place in a block. All but the context; cheap to make, one per stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    words: Vec<u64>,
    next: usize,
    /// The *last pc*.
    pc: u64,
    thread: ThreadId,
    values: bool,
    /// The rest of an access that is several steps.
    rest: Option<Rest>,
}

#[derive(Clone, Copy, Debug)]
struct Rest {
    op: Op,
    addr: u64,
    bytes: u64,
    /// Where its values are, if it has them.
    values: Option<usize>,
    pc: Pc,
}

/// What a cursor finds.
pub(super) enum Found {
    Step(Step),
    /// The end of the block.
    End,
    /// Words that make no sense: the rest of the block is lost.
    Nonsense,
}

impl Cursor {
    /// At the start of a block with these words.
    pub fn new(block: &Block, words: Vec<u64>) -> Self {
        Cursor {
            words,
            next: 0,
            pc: block.pc,
            thread: ThreadId(block.thread.min(Event::MAX_THREAD)),
            values: block.values,
            rest: None,
        }
    }

    /// The thread of the next step.
    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    /// Whether there is nothing left.
    pub fn is_done(&self) -> bool {
        self.rest.is_none() && self.next >= self.words.len()
    }

    /// The sequence number of the next record, if it has one.
    #[inline]
    pub fn next_seq(&mut self) -> Option<u64> {
        if self.rest.is_some() {
            return None;
        }
        while let Some(&first) = self.words.get(self.next) {
            match word::tag(first) {
                word::PC => {
                    self.pc = word::addr(first);
                    self.next += 1;
                }
                word::SYNC => return self.words.get(self.next + 1).map(|second| second >> 24),
                _ => return None,
            }
        }
        None
    }

    /// The next step.
    #[inline]
    pub fn next(&mut self, context: &mut Context) -> Found {
        if let Some(rest) = self.rest {
            return self.next_piece(rest);
        }
        loop {
            let Some(&first) = self.words.get(self.next) else { return Found::End };
            let kind = word::tag(first);
            let addr = word::addr(first);
            match kind {
                1..=10 => return self.access(kind, first, addr, context),
                word::ENTER => {
                    self.next += 1;
                    let delta = word::detail(first);
                    self.pc = match delta {
                        0 => addr,
                        _ => addr.wrapping_add(delta).wrapping_sub(word::PC_BIAS),
                    };
                    return self.plain(Op::Enter, context.code.pc(addr));
                }
                word::LEAVE => {
                    self.next += 1;
                    self.pc = addr;
                    return self.plain(Op::Leave, context.code.pc(addr));
                }
                word::PC => {
                    self.next += 1;
                    self.pc = addr;
                }
                word::SYNC => return self.sync(first, context),
                word::EXT => {
                    if let Some(found) = self.extension(first, context) {
                        return found;
                    }
                }
                _ => return Found::Nonsense,
            }
        }
    }

    fn plain(&self, op: Op, pc: Pc) -> Found {
        Found::Step(Step::new(Event::new(self.thread, op, 0, pc)))
    }

    #[inline]
    fn access(&mut self, kind: u64, first: u64, addr: u64, context: &mut Context) -> Found {
        self.pc = self.pc.wrapping_add(word::detail(first)).wrapping_sub(word::PC_BIAS);
        let pc = context.code.pc(self.pc);
        let op = if kind < word::WRITE1 { Op::Read } else { Op::Write };
        let size_code = (kind - 1) % 5;
        self.next += 1;
        if !self.values {
            let size = 1 << size_code;
            return Found::Step(Step::new(Event::access(self.thread, op, Addr(addr), size, pc)));
        }
        if size_code == 4 {
            let rest = Rest { op, addr, bytes: 16, values: Some(self.next), pc };
            self.next += 2;
            return self.next_piece(rest);
        }
        let Some(&value) = self.words.get(self.next) else { return Found::Nonsense };
        self.next += 1;
        let event = Event::access(self.thread, op, Addr(addr), 1 << size_code, pc);
        Found::Step(with_value(event, op, value))
    }

    /// The next step of an access that is several.
    fn next_piece(&mut self, mut rest: Rest) -> Found {
        let most = if rest.values.is_some() { 8 } else { LARGEST_PIECE };
        let size = rest.bytes.min(most);
        let event = Event::access(self.thread, rest.op, Addr(rest.addr), size as u16, rest.pc);
        let step = match rest.values {
            None => Step::new(event),
            Some(at) => {
                let Some(&value) = self.words.get(at) else { return Found::Nonsense };
                rest.values = Some(at + 1);
                with_value(event, rest.op, value)
            }
        };
        rest.addr += size;
        rest.bytes -= size;
        self.rest = (rest.bytes > 0).then_some(rest);
        Found::Step(step)
    }

    fn sync(&mut self, first: u64, context: &mut Context) -> Found {
        let Some(&second) = self.words.get(self.next + 1) else { return Found::Nonsense };
        let Some(length) = word::record_len(first, second, self.values) else {
            return Found::Nonsense;
        };
        let Some(further) = self.words.get(self.next + 2..self.next + length) else {
            return Found::Nonsense;
        };
        let bits = word::detail(first);
        let Some(op) = Op::from_number((bits & 63) as u8) else { return Found::Nonsense };
        let (order, size_code) = (Order::from_number((bits >> 6 & 7) as u8), bits >> 9 & 7);
        let (_, delta) = word::split_numbered(second);
        self.pc = self.pc.wrapping_add_signed(delta) & word::ADDR_MASK;
        let pc = context.code.pc(self.pc);
        let target = word::addr(first);
        let event = if op.is_atomic() {
            Event::atomic(self.thread, op, Addr(target), 1 << size_code.min(4), order, pc)
        } else if op == Op::Fence {
            Event::atomic(self.thread, op, Addr(0), 0, order, pc)
        } else {
            Event::new(self.thread, op, self.target(op, target, size_code, further, context), pc)
        };
        let mut step = Step::new(event);
        match (op, further) {
            // Sixteen bytes do not fit; their values are not kept.
            (Op::AtomicRead, [read]) => step = step.with_read(*read),
            (Op::AtomicRmw, [read, written]) => {
                step = step.with_read(*read).with_written(*written);
            }
            (op, [operand]) if op != Op::AtomicRmw => step = step.with_written(*operand),
            _ => {}
        }
        self.next += length;
        Found::Step(step)
    }

    /// What an event that is no access is about.
    fn target(
        &self,
        op: Op,
        target: u64,
        kind: u64,
        further: &[u64],
        context: &mut Context,
    ) -> u64 {
        let Context { objects, tables, .. } = context;
        match op {
            Op::Fork | Op::Join | Op::Begin | Op::End => target,
            Op::Alloc => {
                objects.allocated(target, further.first().copied().unwrap_or(0));
                target
            }
            Op::Free => {
                objects.freed(target);
                target
            }
            Op::Init => u64::from(objects.initialised(kind, target, tables).0),
            Op::Destroy => u64::from(objects.destroyed(kind, target, tables).0),
            _ => u64::from(objects.of(op, target, tables).0),
        }
    }

    /// Ranges, switches of the thread, gaps; `None` if there is no step to it.
    fn extension(&mut self, first: u64, context: &mut Context) -> Option<Found> {
        let second = self.words.get(self.next + 1).copied().unwrap_or(0);
        let Some(length) = word::record_len(first, second, self.values) else {
            return Some(Found::Nonsense);
        };
        if self.next + length > self.words.len() {
            return Some(Found::Nonsense);
        }
        let at = self.next;
        self.next += length;
        let bits = word::detail(first);
        match bits & 0xFF {
            ext::SWITCH => {
                let thread = word::addr(first);
                if thread > u64::from(Event::MAX_THREAD) {
                    return Some(Found::Nonsense);
                }
                self.thread = ThreadId(thread as u32);
                None
            }
            ext::LOST => {
                let event = Event::new(self.thread, Op::Lost, 0, context.code.pc(self.pc));
                Some(Found::Step(Step::new(event).with_written(word::addr(first))))
            }
            kind => {
                let (bytes, delta) = word::split_numbered(second);
                self.pc = self.pc.wrapping_add_signed(delta) & word::ADDR_MASK;
                let pc = context.code.pc(self.pc);
                let op = if kind == ext::RANGE_WRITE { Op::Write } else { Op::Read };
                let values = (bits & ext::VALUES != 0).then_some(at + 2);
                let addr = word::addr(first);
                (bytes > 0).then(|| self.next_piece(Rest { op, addr, bytes, values, pc }))
            }
        }
    }
}

fn with_value(event: Event, op: Op, value: u64) -> Step {
    let step = Step::new(event);
    if op == Op::Read { step.with_read(value) } else { step.with_written(value) }
}
