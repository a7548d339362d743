//! Plain accesses: most of what there is.

use deadheat_wire::Op;
use deadheat_wire::word;

use super::{Cursor, First, Found, Repeat, Rest};
use crate::file::code::Locator;
use crate::file::context::Context;
use crate::{Addr, Event, Pc, Step};

/// The largest piece that a range without values is cut into.
const LARGEST_PIECE: u64 = 32 * 1024;

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
    let op = Op::Lost;
    let mut kinds = [Kind {
        op,
        size: 0,
        mask: 0,
    }; 16];
    let mut code = 0;
    while code < 5 {
        let (size, mask) = (1 << code, mask(1 << code));
        let op = Op::Read;
        kinds[word::READ1 as usize + code] = Kind { op, size, mask };
        let op = Op::Write;
        kinds[word::WRITE1 as usize + code] = Kind { op, size, mask };
        code += 1;
    }
    kinds
};

/// The bits of a value of this many bytes; a larger one comes in words.
pub(super) const fn mask(bytes: u64) -> u64 {
    if bytes < 8 {
        (1 << (bytes * 8)) - 1
    } else {
        u64::MAX
    }
}

/// A pc after the delta in a word.
#[inline]
pub(super) fn moved(pc: u64, word: u64) -> u64 {
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

impl<'a> Cursor<'a> {
    /// The next step, if it is a plain access in code near that of the last one: most are.
    /// `None` says nothing about what else there is.
    #[inline]
    pub fn next_plain(&mut self, code: &Locator<'_>) -> Option<Step> {
        self.plain(|address| code.near(address))
    }

    /// The next step, if it is a plain access, one step only, and `locate` knows its code.
    #[inline]
    pub(super) fn plain(&mut self, locate: impl FnOnce(u64) -> Option<Pc>) -> Option<Step> {
        if self.half != 0 {
            let step = self.half_step(self.half, locate)?;
            self.half = 0;
            return Some(step);
        }
        let (mut first, mut behind) = match self.words.split_first() {
            Some((&first, behind)) => (first, behind),
            None => self.once_more()?,
        };
        let Kind { op, size, mask } = KINDS[word::tag(first) as usize];
        if size == 0 {
            if self.values {
                return None;
            }
            if !word::is_pair(first) {
                (first, behind) = self.repeat(first, behind)?;
            }
            let step = self.half_step(first & word::HALF_MASK, locate)?;
            self.half = first >> word::HALF_BITS;
            self.words = behind;
            return Some(step);
        }
        let (address, addr) = (moved(self.pc, first), word::addr(first));
        let step = |pc| Step::new(Event::access(self.thread, op, Addr(addr), size, pc));
        if self.values {
            let (&value, behind) = behind.split_first()?;
            if size == 16 {
                return None;
            }
            let step = with_value(step(locate(address)?), op, value & mask);
            (self.words, self.pc) = (behind, address);
            return Some(step);
        }
        let step = step(locate(address)?);
        self.words = behind;
        self.arrive(address, addr);
        Some(step)
    }

    /// Starts the repetition that a record stands for; `None` if it is another record or makes no
    /// sense.
    #[inline(never)]
    fn repeat(&mut self, record: u64, behind: &'a [u64]) -> Option<(u64, &'a [u64])> {
        if word::tag(record) != word::EXT || word::detail(record) != word::ext::REPEAT {
            return None;
        }
        let (distance, count) = word::split_repeat(record);
        let end = self.block.len() - behind.len() - 1;
        let start = end.checked_sub(usize::try_from(distance).ok()?)?;
        let pairs = self.block.get(start..end)?;
        if count == 0 || pairs.is_empty() || !pairs.iter().all(|pair| word::is_full_pair(*pair)) {
            return None;
        }
        self.repeat = Some(Repeat {
            pairs,
            left: count as usize,
            behind,
        });
        self.once_more()
    }

    /// At the end of the words: starts the next time around of a repetition, or goes on behind it.
    #[inline]
    fn once_more(&mut self) -> Option<(u64, &'a [u64])> {
        let repeat = self.repeat.as_mut()?;
        if repeat.left == 0 {
            self.words = repeat.behind;
            self.repeat = None;
        } else {
            let length = repeat.left.min(repeat.pairs.len());
            self.words = &repeat.pairs[..length];
            repeat.left -= length;
        }
        let (&first, behind) = self.words.split_first()?;
        Some((first, behind))
    }

    /// The access in half a pair.
    #[inline]
    fn half_step(&mut self, half: u64, locate: impl FnOnce(u64) -> Option<Pc>) -> Option<Step> {
        let (pc_delta, addr_delta) = word::half_deltas(half);
        let address = self.pc.wrapping_add(pc_delta);
        let last = self.addrs[word::pc_slot(address)];
        let addr = last.wrapping_add(addr_delta) & word::ADDR_MASK;
        let Kind { op, size, .. } = KINDS[word::half_kind(half) as usize];
        let event = Event::access(self.thread, op, Addr(addr), size, locate(address)?);
        self.arrive(address, addr);
        Some(Step::new(event))
    }

    /// The access that was read last is the one before from now on. (Only pairs look back at
    /// addresses, and they stand in blocks without values.)
    #[inline]
    fn arrive(&mut self, pc: u64, addr: u64) {
        self.pc = pc;
        self.addrs[word::pc_slot(pc)] = addr;
    }

    /// An access of sixteen bytes with their values: two steps. Anything else that comes here
    /// lacks its values.
    pub(super) fn sixteen_bytes(
        &mut self,
        first: u64,
        behind: &'a [u64],
        context: &mut Context<'_>,
    ) -> Found {
        let Kind { op, size, .. } = KINDS[word::tag(first) as usize];
        let Some((values, behind)) = behind.split_at_checked(2).filter(|_| size == 16) else {
            return Found::Malformed;
        };
        self.pc = moved(self.pc, first);
        self.next_piece(Rest {
            op,
            addr: word::addr(first),
            bytes: 16,
            pc: context.code.pc(self.pc),
            values: Some(values),
            behind,
        })
    }

    /// The next step of an access that is several.
    pub(super) fn next_piece(&mut self, mut rest: Rest<'a>) -> Found {
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
}
