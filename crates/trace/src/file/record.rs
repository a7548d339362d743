//! From the words of a block to steps.

use deadheat_wire::word::{self, ext};
use deadheat_wire::{BlockHeader, Op, Order};

use super::code::Locator;
use super::context::Context;
use crate::{Addr, Event, Pc, Step, ThreadId};

/// The largest piece that a range without values is cut into.
const LARGEST_PIECE: u64 = 32 * 1024;

/// A place in a block.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    /// The words that follow; none while something else comes first.
    words: &'a [u64],
    /// The upper half of the pair before them; 0 if there is none.
    half: u64,
    /// The *last pc*.
    pc: u64,
    /// The *last addresses*.
    addrs: [u64; word::PC_SLOTS],
    thread: ThreadId,
    values: bool,
    first: First<'a>,
}

/// What comes before the next record.
#[derive(Clone, Copy, Debug, Default)]
enum First<'a> {
    #[default]
    Nothing,
    /// A gap must be announced; the words behind it.
    Gap(&'a [u64]),
    /// An access that is several steps is under way.
    Rest(Rest<'a>),
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

/// What the tag of an access says.
#[derive(Clone, Copy)]
struct Kind {
    op: Op,
    /// In bytes; 0 for the tags of other records.
    size: u16,
    /// The bits of a value of this size.
    mask: u64,
}

const KINDS: [Kind; 16] = {
    let other = Kind {
        op: Op::Lost,
        size: 0,
        mask: 0,
    };
    let mut kinds = [other; 16];
    let mut code = 0;
    while code < 5 {
        let (size, mask) = (1 << code, mask(1 << code));
        let (read, write) = (Op::Read, Op::Write);
        kinds[word::READ1 as usize + code] = Kind {
            op: read,
            size,
            mask,
        };
        kinds[word::WRITE1 as usize + code] = Kind {
            op: write,
            size,
            mask,
        };
        code += 1;
    }
    kinds
};

/// The bits of a value of this many bytes; a larger one comes in words.
const fn mask(bytes: u64) -> u64 {
    if bytes < 8 {
        (1 << (bytes * 8)) - 1
    } else {
        u64::MAX
    }
}

impl Default for Cursor<'_> {
    fn default() -> Self {
        Cursor {
            words: &[],
            half: 0,
            pc: 0,
            addrs: [0; word::PC_SLOTS],
            thread: ThreadId(0),
            values: false,
            first: First::Nothing,
        }
    }
}

impl<'a> Cursor<'a> {
    /// At the start of a block.
    pub fn new(header: &BlockHeader, words: &'a [u64]) -> Self {
        Cursor {
            words,
            half: 0,
            pc: header.pc,
            addrs: [0; word::PC_SLOTS],
            thread: ThreadId(header.thread),
            values: header.has_values(),
            first: First::Nothing,
        }
    }

    /// At the end of a block whose last events were this thread's.
    pub fn at_end(thread: ThreadId) -> Self {
        Cursor {
            thread,
            ..Cursor::default()
        }
    }

    /// The thread of the next step.
    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    /// How many words of the block have not been read.
    pub fn words_left(&self) -> usize {
        match self.first {
            First::Nothing => self.words.len(),
            First::Gap(behind) | First::Rest(Rest { behind, .. }) => behind.len(),
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

    /// The next step, if it is a plain access in code near that of the last one: most are.
    /// `None` says nothing about what else there is.
    #[inline]
    pub fn next_plain(&mut self, code: &Locator<'_>) -> Option<Step> {
        if self.half != 0 {
            let (pc, addr) = self.place_of(self.half);
            let step = self.half_step(self.half, addr, code.near(pc)?);
            self.half = 0;
            self.arrive(pc, addr);
            return Some(step);
        }
        let (&first, mut behind) = self.words.split_first()?;
        if word::is_pair(first) && !self.values {
            let low = first & word::HALF_MASK;
            let (pc, addr) = self.place_of(low);
            let step = self.half_step(low, addr, code.near(pc)?);
            self.half = first >> word::HALF_BITS;
            self.arrive(pc, addr);
            self.words = behind;
            return Some(step);
        }
        let Kind { op, size, mask } = KINDS[word::tag(first) as usize];
        if size == 0 {
            return None;
        }
        let address = moved(self.pc, first);
        let pc = code.near(address)?;
        let event = Event::access(self.thread, op, Addr(word::addr(first)), size, pc);
        let mut step = Step::new(event);
        if self.values {
            let (&value, further) = behind.split_first()?;
            if size == 16 {
                return None;
            }
            step = with_value(step, op, value & mask);
            behind = further;
        }
        self.words = behind;
        self.arrive(address, word::addr(first));
        Some(step)
    }

    /// Where half a pair is, in the code and in memory.
    #[inline]
    fn place_of(&self, half: u64) -> (u64, u64) {
        let (pc, addr) = word::half_deltas(half);
        let pc = self.pc.wrapping_add(pc);
        let last = self.addrs[word::pc_slot(pc)];
        (pc, last.wrapping_add(addr) & word::ADDR_MASK)
    }

    /// The access that was read last is the one before from now on.
    #[inline]
    fn arrive(&mut self, pc: u64, addr: u64) {
        self.pc = pc;
        self.addrs[word::pc_slot(pc)] = addr;
    }

    #[inline]
    fn half_step(&self, half: u64, addr: u64, pc: Pc) -> Step {
        let Kind { op, size, .. } = KINDS[word::half_kind(half) as usize];
        Step::new(Event::access(self.thread, op, Addr(addr), size, pc))
    }

    /// Half a pair whose code is not near that of the access before.
    fn far_half(&mut self, half: u64, context: &mut Context<'_>) -> Found {
        let (pc, addr) = self.place_of(half);
        let step = self.half_step(half, addr, context.code.pc(pc));
        self.arrive(pc, addr);
        Found::Step(step)
    }

    /// What comes next, whatever it is.
    pub fn next(&mut self, context: &mut Context<'_>) -> Found {
        match self.first {
            First::Nothing => {}
            First::Gap(behind) => {
                (self.words, self.first) = (behind, First::Nothing);
                return Found::Step(self.lost());
            }
            First::Rest(rest) => return self.next_piece(rest),
        }
        if self.half != 0 {
            let half = std::mem::take(&mut self.half);
            return self.far_half(half, context);
        }
        loop {
            let Some((&first, behind)) = self.words.split_first() else {
                return Found::End;
            };
            let addr = word::addr(first);
            match word::tag(first) {
                1..=10 => return self.access(first, behind, context),
                0 if word::is_pair(first) && !self.values => {
                    self.words = behind;
                    self.half = first >> word::HALF_BITS;
                    return self.far_half(first & word::HALF_MASK, context);
                }
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
        Found::Step(Step::new(Event::new(self.thread, op, 0, pc)))
    }

    fn access(&mut self, first: u64, behind: &'a [u64], context: &mut Context<'_>) -> Found {
        let Kind { op, size, mask } = KINDS[word::tag(first) as usize];
        let addr = word::addr(first);
        self.arrive(moved(self.pc, first), addr);
        let pc = context.code.pc(self.pc);
        let step = Step::new(Event::access(self.thread, op, Addr(addr), size, pc));
        match (self.values, behind) {
            (false, _) => {
                self.words = behind;
                Found::Step(step)
            }
            (true, [_, _, further @ ..]) if size == 16 => self.next_piece(Rest {
                op,
                addr,
                bytes: 16,
                pc,
                values: Some(behind),
                behind: further,
            }),
            (true, [value, further @ ..]) if size < 16 => {
                self.words = further;
                Found::Step(with_value(step, op, value & mask))
            }
            _ => Found::Malformed,
        }
    }

    /// The next step of an access that is several.
    fn next_piece(&mut self, mut rest: Rest<'a>) -> Found {
        let most = if rest.values.is_some() {
            8
        } else {
            LARGEST_PIECE
        };
        let size = rest.bytes.min(most);
        let event = Event::access(self.thread, rest.op, Addr(rest.addr), size as u16, rest.pc);
        let mut step = Step::new(event);
        if let Some([value, further @ ..]) = rest.values {
            step = with_value(step, rest.op, value & mask(size));
            rest.values = Some(further);
        }
        rest.addr += size;
        rest.bytes -= size;
        (self.words, self.first) = match rest.bytes {
            0 => (rest.behind, First::Nothing),
            _ => (Default::default(), First::Rest(rest)),
        };
        Found::Step(step)
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
            ext::RANGE_READ => Op::Read,
            _ => Op::Write,
        };
        let (bytes, delta) = word::split_numbered(second);
        if addr + bytes > word::ADDR_MASK + 1 {
            return Some(Found::Malformed);
        }
        self.words = behind;
        self.pc = self.pc.wrapping_add_signed(delta);
        let rest = Rest {
            op,
            addr,
            bytes,
            pc: context.code.pc(self.pc),
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
        Some(match (op, &record[2..]) {
            // Sixteen bytes do not fit; their values are not kept.
            (Op::AtomicRead, [read]) => step.with_read(read & mask),
            (Op::AtomicWrite, [written]) => step.with_written(written & mask),
            (Op::AtomicRmw, [read, written]) => {
                step.with_read(read & mask).with_written(written & mask)
            }
            (op, [operand]) if !op.is_atomic() && op != Op::Fence => step.with_written(*operand),
            _ => step,
        })
    }
}

/// A pc after the delta in a word.
#[inline]
fn moved(pc: u64, word: u64) -> u64 {
    pc.wrapping_add(word::detail(word))
        .wrapping_sub(word::PC_BIAS)
}

#[inline]
fn with_value(step: Step, op: Op, value: u64) -> Step {
    if op == Op::Read {
        step.with_read(value)
    } else {
        step.with_written(value)
    }
}
