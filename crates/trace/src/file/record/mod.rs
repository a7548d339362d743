//! From the words of a block to steps.

use deadheat_wire::word::{self, ext};
use deadheat_wire::{BlockHeader, Op, Order, TRIED};

mod access;

use access::{mask, moved};

use super::context::Context;
use crate::{Addr, Event, Pc, Step, ThreadId};

/// A place in a block.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    /// The words that follow; none while something else comes first. While pairs are repeated,
    /// what is left of them this time around.
    words: &'a [u64],
    repeat: Option<Repeat<'a>>,
    /// All words of the block.
    block: &'a [u64],
    /// The upper half of the pair before them; 0 if there is none.
    half: u64,
    /// The *last pc*.
    pc: u64,
    thread: ThreadId,
    values: bool,
    first: First<'a>,
    /// The last step that was found is the taking or giving of a lock that is made of atomics.
    made_up: bool,
    /// The *last addresses*.
    addrs: [u64; word::PC_SLOTS],
}

/// What comes before the next record.
#[derive(Clone, Copy, Debug)]
enum First<'a> {
    Nothing,
    /// A gap must be announced; the words behind it.
    Gap(&'a [u64]),
    /// An access that is several steps is under way.
    Rest(Rest<'a>),
    /// These steps belong to the record before; the words behind it.
    Steps([Option<Step>; 2], &'a [u64]),
}

/// The rest of an access that is several steps.
#[derive(Clone, Copy, Debug)]
struct Rest<'a> {
    op: Op,
    addr: u64,
    bytes: u64,
    pc: Pc,
    /// Its values, as far as there are any.
    values: Option<&'a [u64]>,
    /// The words behind it.
    behind: &'a [u64],
}

/// Pairs that are repeated.
#[derive(Clone, Copy, Debug)]
struct Repeat<'a> {
    /// Once around.
    pairs: &'a [u64],
    /// How many pairs follow behind the time around that is under way.
    left: usize,
    /// The words behind the record.
    behind: &'a [u64],
}

/// What comes next in a block.
pub(super) enum Found {
    Step(Step),
    /// A synchronisation with this sequence number: see [`Cursor::sync`].
    Sync(u64),
    /// The end of the block.
    End,
    /// Words that make no sense: the rest of the block is lost.
    Malformed,
}

impl<'a> Cursor<'a> {
    /// At the start of a block.
    pub fn new(header: &BlockHeader, words: &'a [u64]) -> Self {
        Cursor {
            words,
            block: words,
            pc: header.pc,
            values: header.has_values(),
            ..Cursor::at_end(ThreadId(header.thread))
        }
    }

    /// At the end of a block whose last events were this thread's.
    pub fn at_end(thread: ThreadId) -> Self {
        Cursor {
            words: &[],
            repeat: None,
            block: &[],
            half: 0,
            pc: 0,
            thread,
            values: false,
            first: First::Nothing,
            made_up: false,
            addrs: [0; word::PC_SLOTS],
        }
    }

    /// The thread of the next step.
    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    /// Whether the last step that was found is not in the block.
    pub fn is_made_up(&self) -> bool {
        self.made_up
    }

    /// How many words of the block have not been read.
    pub fn words_left(&self) -> usize {
        match self.first {
            First::Nothing => self.repeat.map_or(self.words, |repeat| repeat.behind).len(),
            First::Gap(behind) | First::Rest(Rest { behind, .. }) | First::Steps(_, behind) => {
                behind.len()
            }
        }
    }

    /// The step that says that events are missing here.
    pub fn lost(&self) -> Step {
        Step::new(Event::new(self.thread, Op::Lost, 0, Pc::UNKNOWN))
    }

    /// Makes that the next step. At the start of a block only.
    pub fn announce_gap(&mut self) {
        self.first = First::Gap(std::mem::take(&mut self.words));
    }

    /// What comes next, whatever it is.
    pub fn next(&mut self, context: &mut Context<'_>) -> Found {
        self.made_up = false;
        match self.first {
            First::Nothing => {}
            First::Gap(behind) => {
                (self.words, self.first) = (behind, First::Nothing);
                return Found::Step(self.lost());
            }
            First::Rest(rest) => return self.next_piece(rest),
            First::Steps([step, next], behind) => {
                self.first = match next {
                    Some(_) => First::Steps([next, None], behind),
                    None => First::Nothing,
                };
                if next.is_none() {
                    self.words = behind;
                }
                if let Some(step) = step {
                    self.made_up = !step.event.op().is_atomic();
                    return Found::Step(step);
                }
            }
        }
        loop {
            if let Some(step) = self.plain(|address| Some(context.code.pc(address))) {
                return Found::Step(step);
            }
            let Some((&first, behind)) = self.words.split_first() else {
                return Found::End;
            };
            let addr = word::addr(first);
            match word::tag(first) {
                1..=10 if self.values => return self.sixteen_bytes(first, behind, context),
                word::ENTER => {
                    self.pc = match word::detail(first) {
                        0 => addr,
                        _ => moved(addr, first),
                    };
                    return self.function(Op::Enter, addr, behind, context);
                }
                word::LEAVE => {
                    self.pc = addr;
                    return self.function(Op::Leave, addr, behind, context);
                }
                word::PC => {
                    self.pc = addr;
                    self.words = behind;
                }
                word::SYNC => {
                    return match behind.first() {
                        Some(second) => Found::Sync(word::split_numbered(*second).0),
                        None => Found::Malformed,
                    };
                }
                word::EXT => {
                    if let Some(found) = self.extension(first, context) {
                        return found;
                    }
                }
                _ => return Found::Malformed,
            }
        }
    }

    /// A function's entry or exit.
    #[inline]
    fn function(
        &mut self,
        op: Op,
        caller: u64,
        behind: &'a [u64],
        context: &mut Context<'_>,
    ) -> Found {
        self.words = behind;
        let pc = context.code.pc(caller);
        if let Some(calls) = &mut context.calls {
            calls.function(self.thread, op, pc);
        }
        Found::Step(Step::new(Event::new(self.thread, op, 0, pc)))
    }

    /// Ranges, switches of the thread, gaps; `None` if there is no step to it.
    fn extension(&mut self, first: u64, context: &mut Context<'_>) -> Option<Found> {
        let second = self.words.get(1).copied().unwrap_or(0);
        let length = word::record_len(first, second, self.values);
        let Some((record, behind)) = length.and_then(|n| self.words.split_at_checked(n)) else {
            return Some(Found::Malformed);
        };
        let (addr, bits) = (word::addr(first), word::detail(first));
        let op = match bits & 0xFF {
            ext::SWITCH if addr > context.last_thread.into() => return Some(Found::Malformed),
            ext::SWITCH => {
                self.words = behind;
                self.thread = ThreadId(addr as u32);
                context.know(self.thread);
                return None;
            }
            ext::LOST => {
                self.words = behind;
                return Some(Found::Step(self.lost().with_written(addr)));
            }
            // See `TraceFile::inputs`.
            ext::INPUT => {
                self.words = behind;
                return None;
            }
            // Those that make sense are plain accesses.
            ext::REPEAT => return Some(Found::Malformed),
            ext::RANGE_READ => Op::Read,
            _ => Op::Write,
        };
        let (bytes, delta) = word::split_numbered(second);
        if addr + bytes > word::ADDR_MASK + 1 {
            return Some(Found::Malformed);
        }
        self.words = behind;
        self.pc = self.pc.wrapping_add_signed(delta);
        let pc = context.code.pc(self.pc);
        context.copies(pc);
        let rest = Rest {
            op,
            addr,
            bytes,
            pc,
            values: (bits & ext::VALUES != 0).then_some(&record[2..]),
            behind,
        };
        (bytes > 0).then(|| self.next_piece(rest))
    }

    /// The synchronisation that was found; `None` if it makes no sense.
    pub fn sync(&mut self, context: &mut Context<'_>) -> Option<Step> {
        let [first, second, ..] = *self.words else {
            return None;
        };
        let length = word::record_len(first, second, self.values)?;
        let (record, behind) = self.words.split_at_checked(length)?;
        let bits = word::detail(first);
        let op = Op::from_number((bits & 63) as u8)?;
        let order = Order::from_number((bits >> 6 & 7) as u8);
        let (size_code, target) = (bits >> 9 & 7, word::addr(first));
        let address = self.pc.wrapping_add_signed(word::split_numbered(second).1);
        let pc = context.code.pc(address);
        let event = if op.is_atomic() {
            let size = (size_code <= 4).then_some(1 << size_code)?;
            Event::atomic(self.thread, op, Addr(target), size, order, pc)
        } else if op == Op::Fence {
            Event::atomic(self.thread, op, Addr(0), 0, order, pc)
        } else {
            let operand = record.get(2).copied();
            let target = context.target(op, target, size_code, operand)?;
            Event::new(self.thread, op, target, pc)
        };
        let step = Step::new(event);
        let mask = mask(1 << size_code);
        self.words = behind;
        self.pc = address;
        let step = match (op, &record[2..]) {
            // Sixteen bytes do not fit; their values are not kept.
            (Op::AtomicRead, [read]) => step.with_read(read & mask),
            (Op::AtomicWrite, [written]) => step.with_written(written & mask),
            (Op::AtomicRmw, [read, written]) => {
                step.with_read(read & mask).with_written(written & mask)
            }
            (op, [operand]) if !op.is_atomic() && op != Op::Fence => step.with_written(*operand),
            _ => step,
        };
        if op != Op::AtomicRmw || context.calls.is_none() {
            return Some(step);
        }
        Some(self.with_lock(step, target, context))
    }

    /// The first of the steps that a change of a lock's word is; the others follow.
    fn with_lock(&mut self, step: Step, word: u64, context: &mut Context<'_>) -> Step {
        let (thread, pc) = (self.thread, step.event.pc());
        let around = context.around(thread, pc);
        let mut lock = |op: Op| {
            let target = context.target(op, word, 0, None)?;
            Some(Step::new(Event::new(thread, op, target, pc)))
        };
        let before = around.before.and_then(&mut lock);
        let before = before.map(|taken| match around.tried {
            true => taken.with_written(TRIED),
            false => taken,
        });
        let after = around.after.and_then(&mut lock);
        let rest = match before {
            Some(_) => [Some(step), after],
            None => [after, None],
        };
        if rest[0].is_some() {
            self.first = First::Steps(rest, std::mem::take(&mut self.words));
        }
        self.made_up = before.is_some();
        before.unwrap_or(step)
    }
}
