//! The words of an events block.
//!
//! Every record starts with a word whose top four bits are its tag and whose low 47 bits are an
//! address (user space ends at 2^47); the 13 bits between depend on the tag:
//!
//! ```text
//! tag      13 bits                       47 bits         further words
//! Read*    pc - last pc + 4096           address         values, in a block with values
//! Write*   pc - last pc + 4096           address         values, in a block with values
//! ENTER    callee - caller + 4096, or 0  caller's pc
//! LEAVE    0                             caller's pc
//! PC       0                             pc
//! SYNC     op 6, order 3, size 3, +1     object          seq 40 | pc delta 24; operand or values
//! EXT      kind                          operand         see `ext`
//! ```
//!
//! A word with tag 0 is a *pair*: two accesses near the one before, in 30 bits each, the earlier
//! in the lower half: kind 4, pc - last pc + 256 in 9, address - last address + 65536 in 17. The
//! *last address* is that of the last access in the block whose pc has the same [`pc_slot`], and
//! 0 if there is none: code that walks through several arrays in turn stays near in each. A
//! pair's upper half may be empty (0). In a block with values there are no pairs.
//!
//! Loops lay the same pairs down again and again. An EXT record of kind [`ext::REPEAT`] stands for
//! them: its operand is a distance in 31 bits and a count in the lower 16. The words in that
//! distance before it, full pairs all of them, follow once more, in a circle, `count` words in all.
//!
//! The *last pc* is the program counter of the record before; the block's header has it for the
//! first one. ENTER sets it to the callee's pc where that fits into 13 bits and to the caller's
//! otherwise; LEAVE sets it to the caller's. A pc too far away for its delta is announced by a PC
//! word. So a block is decoded without knowing any other.
//!
//! No record's first word is zero: a zero word is the end of what a killed program had written.

use crate::op::{Op, Order};

/// The bits of an address.
pub const ADDR_BITS: u32 = 47;
/// Masks the address out of a word.
pub const ADDR_MASK: u64 = (1 << ADDR_BITS) - 1;
/// Masks the 13 bits between tag and address, shifted down.
pub const DETAIL_MASK: u64 = (1 << 13) - 1;
/// What is added to a pc delta of an access.
pub const PC_BIAS: u64 = 1 << 12;
/// One more than the largest biased pc delta of an access.
pub const PC_SPAN: u64 = 1 << 13;
/// What is added to a pc delta in the second word of SYNC and of ranges.
pub const WIDE_PC_BIAS: u64 = 1 << 23;
/// One more than the largest biased pc delta there.
pub const WIDE_PC_SPAN: u64 = 1 << 24;
/// The bits of half a pair.
pub const HALF_BITS: u32 = 30;
/// Masks the lower half of a pair.
pub const HALF_MASK: u64 = (1 << HALF_BITS) - 1;
/// What is added to a pc delta in a pair.
pub const HALF_PC_BIAS: u64 = 1 << 8;
/// One more than the largest biased pc delta in a pair.
pub const HALF_PC_SPAN: u64 = 1 << 9;
/// What is added to an address delta in a pair.
pub const HALF_ADDR_BIAS: u64 = 1 << 16;
/// One more than the largest biased address delta in a pair.
pub const HALF_ADDR_SPAN: u64 = 1 << 17;
/// The largest sequence number and range length.
pub const MAX_SEQ: u64 = (1 << 40) - 1;

/// Tag of a one-byte read; two, four, eight and sixteen bytes follow.
pub const READ1: u64 = 1;
/// Tag of a one-byte write; two, four, eight and sixteen bytes follow.
pub const WRITE1: u64 = 6;
/// Tag of a function's entry.
pub const ENTER: u64 = 11;
/// Tag of a function's exit.
pub const LEAVE: u64 = 12;
/// Tag of an absolute pc.
pub const PC: u64 = 13;
/// Tag of a synchronisation, allocation or other event with a sequence number.
pub const SYNC: u64 = 14;
/// Tag of everything else.
pub const EXT: u64 = 15;

/// The kinds of EXT records.
pub mod ext {
    /// A read of a range: address; then length 40 | pc delta 24; then values if [`VALUES`] is set.
    pub const RANGE_READ: u64 = 1;
    /// A write of a range, likewise.
    pub const RANGE_WRITE: u64 = 2;
    /// The operand is the thread that runs from here on (serial recordings).
    pub const SWITCH: u64 = 3;
    /// The operand is how many events are missing here.
    pub const LOST: u64 = 4;
    /// The full pairs before it once more: see [`repeat`](super::repeat).
    pub const REPEAT: u64 = 5;
    /// What a thread got from the system: a kind ([`inputs::kind`](crate::inputs::kind)); then the value. In
    /// blocks with values only.
    pub const INPUT: u64 = 6;
    /// A range's contents follow, in words, the last one padded with zeros.
    pub const VALUES: u64 = 1 << 8;
}

/// The size code (0 to 4) of an access of 1, 2, 4, 8 or 16 bytes.
#[inline]
pub const fn size_code(bytes: usize) -> u64 {
    bytes.trailing_zeros() as u64
}

/// The other way round.
#[inline]
pub const fn size_of_code(size_code: u64) -> usize {
    1 << (size_code & 7)
}

/// How many value words an access of this size code has.
#[inline]
pub const fn value_words(size_code: u64) -> usize {
    if size_code >= 4 { 2 } else { 1 }
}

/// The word of an access: `kind` is a tag from [`READ1`] or [`WRITE1`] plus the size code,
/// `pc_delta` is biased by [`PC_BIAS`].
#[inline]
pub const fn access(kind: u64, pc_delta: u64, addr: u64) -> u64 {
    kind << 60 | pc_delta << ADDR_BITS | addr & ADDR_MASK
}

/// How many last addresses are kept.
pub const PC_SLOTS: usize = 64;

/// Which of the last addresses belongs to a pc.
#[inline]
pub const fn pc_slot(pc: u64) -> usize {
    (pc >> 2) as usize % PC_SLOTS
}

/// Half a pair; `pc_delta` and `addr_delta` are biased.
#[inline]
pub const fn half(kind: u64, pc_delta: u64, addr_delta: u64) -> u64 {
    kind | pc_delta << 4 | addr_delta << 13
}

/// The kind of half a pair: a tag from [`READ1`] on, if it is one.
#[inline]
pub const fn half_kind(half: u64) -> u64 {
    half & 15
}

/// The unbiased pc and address deltas of half a pair, as numbers to add with wrap-around.
#[inline]
pub const fn half_deltas(half: u64) -> (u64, u64) {
    let pc = half >> 4 & (HALF_PC_SPAN - 1);
    let addr = half >> 13 & (HALF_ADDR_SPAN - 1);
    (
        pc.wrapping_sub(HALF_PC_BIAS),
        addr.wrapping_sub(HALF_ADDR_BIAS),
    )
}

/// Whether a word with tag 0 is a pair: its lower half is an access, its upper one another or
/// empty.
#[inline]
pub const fn is_pair(word: u64) -> bool {
    let (low, high) = (half_kind(word), word >> HALF_BITS);
    tag(word) == 0
        && low >= READ1
        && low < ENTER
        && (high == 0 || (half_kind(high) >= READ1 && half_kind(high) < ENTER))
}

/// Whether a word is a pair of two accesses.
#[inline]
pub const fn is_full_pair(word: u64) -> bool {
    is_pair(word) && word >> HALF_BITS != 0
}

/// The bits of a repetition's count.
const REPEAT_COUNT_BITS: u32 = 16;
/// The most words that one record repeats. So few, because what a damaged file seems to repeat
/// must be read to its end; a loop that goes on needs another record now and then.
pub const MAX_REPEAT: u64 = (1 << REPEAT_COUNT_BITS) - 1;

/// The words in this distance before it, in a circle, `count` of them. One more is this word plus
/// one, up to [`MAX_REPEAT`].
///
/// ```
/// use deadheat_wire::word;
/// assert_eq!(word::split_repeat(word::repeat(3, 7) + 1), (3, 8));
/// ```
#[inline]
pub const fn repeat(distance: u64, count: u64) -> u64 {
    tagged(EXT, ext::REPEAT, distance << REPEAT_COUNT_BITS | count)
}

/// Distance and count of a [`repeat`] word.
#[inline]
pub const fn split_repeat(word: u64) -> (u64, u64) {
    (addr(word) >> REPEAT_COUNT_BITS, word & MAX_REPEAT)
}

/// A word with a tag and an address, and `detail` between.
#[inline]
pub const fn tagged(tag: u64, detail: u64, addr: u64) -> u64 {
    tag << 60 | (detail & DETAIL_MASK) << ADDR_BITS | addr & ADDR_MASK
}

/// The detail bits of a SYNC record; `operand` says that an operand word follows.
#[inline]
pub const fn sync_detail(op: Op, order: Order, size_code: u64, operand: bool) -> u64 {
    op as u64 | (order as u64) << 6 | size_code << 9 | (operand as u64) << 12
}

/// A number of 40 bits and a pc delta biased by [`WIDE_PC_BIAS`]: the second word of SYNC and
/// of ranges.
#[inline]
pub const fn numbered(number: u64, pc_delta: u64) -> u64 {
    (number & MAX_SEQ) << 24 | pc_delta & (WIDE_PC_SPAN - 1)
}

/// The parts of a [`numbered`] word: number and unbiased pc delta.
#[inline]
pub const fn split_numbered(word: u64) -> (u64, i64) {
    (
        word >> 24,
        (word & (WIDE_PC_SPAN - 1)) as i64 - WIDE_PC_BIAS as i64,
    )
}

/// The tag of a word.
#[inline]
pub const fn tag(word: u64) -> u64 {
    word >> 60
}

/// The detail bits of a word.
#[inline]
pub const fn detail(word: u64) -> u64 {
    word >> ADDR_BITS & DETAIL_MASK
}

/// The address of a word.
#[inline]
pub const fn addr(word: u64) -> u64 {
    word & ADDR_MASK
}

/// How many words the record that starts with `first` has, or `None` if `first` starts none.
/// `second` is the word after it (needed for ranges only), `values` whether the block has values.
///
/// ```
/// use deadheat_wire::word;
/// let read4 = word::access(word::READ1 + 2, word::PC_BIAS, 0x1000);
/// assert_eq!(word::record_len(read4, 0, false), Some(1));
/// assert_eq!(word::record_len(read4, 0, true), Some(2));
/// assert_eq!(word::record_len(0, 0, false), None);
/// ```
#[inline]
pub const fn record_len(first: u64, second: u64, values: bool) -> Option<usize> {
    match tag(first) {
        0 => {
            if is_pair(first) && !values {
                Some(1)
            } else {
                None
            }
        }
        kind @ 1..=10 => Some(
            1 + if values {
                value_words((kind - 1) % 5)
            } else {
                0
            },
        ),
        ENTER | LEAVE | PC => Some(1),
        SYNC => {
            let bits = detail(first);
            let Some(op) = Op::from_number((bits & 63) as u8) else {
                return None;
            };
            let extra = if op.is_atomic() && values {
                value_words(bits >> 9 & 7) * if matches!(op, Op::AtomicRmw) { 2 } else { 1 }
            } else {
                (bits >> 12 & 1) as usize
            };
            Some(2 + extra)
        }
        _ => {
            let bits = detail(first);
            match bits & 0xFF {
                ext::RANGE_READ | ext::RANGE_WRITE => {
                    let length = (second >> 24) as usize;
                    if bits & ext::VALUES == 0 {
                        Some(2)
                    } else if length > crate::MAX_RANGE_VALUES {
                        None
                    } else {
                        Some(2 + length.div_ceil(8))
                    }
                }
                ext::SWITCH | ext::LOST => Some(1),
                ext::REPEAT if !values => Some(1),
                ext::INPUT if values => Some(2),
                _ => None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back() {
        let w = access(WRITE1 + 3, PC_BIAS + 17, 0x7FFF_FFFF_FFF8);
        assert_eq!(
            (tag(w), detail(w), addr(w)),
            (9, PC_BIAS + 17, 0x7FFF_FFFF_FFF8)
        );
        let w = tagged(
            SYNC,
            sync_detail(Op::AtomicRmw, Order::SeqCst, 4, false),
            0x10,
        );
        assert_eq!(detail(w) & 63, Op::AtomicRmw as u64);
        assert_eq!(record_len(w, 0, true), Some(6));
        assert_eq!(record_len(w, 0, false), Some(2));
        assert_eq!(
            split_numbered(numbered(MAX_SEQ, WIDE_PC_BIAS - 5)),
            (MAX_SEQ, -5)
        );
    }

    #[test]
    fn halves_of_a_pair_come_back() {
        let low = half(WRITE1 + 4, HALF_PC_SPAN - 1, 0);
        let high = half(READ1, 0, HALF_ADDR_SPAN - 1);
        let pair = low | high << HALF_BITS;
        assert_eq!(tag(pair), 0);
        assert!(is_pair(low) && is_pair(pair) && !is_pair(0));
        assert!(!is_pair(high << HALF_BITS) && !is_pair(low | 15 << HALF_BITS));
        assert_eq!(half_kind(pair & HALF_MASK), WRITE1 + 4);
        assert_eq!(
            half_deltas(pair & HALF_MASK),
            (255, 0u64.wrapping_sub(65536))
        );
        assert_eq!(
            half_deltas(pair >> HALF_BITS),
            (0u64.wrapping_sub(256), 65535)
        );
        assert_eq!(
            (record_len(pair, 0, false), record_len(pair, 0, true)),
            (Some(1), None)
        );
    }

    #[test]
    fn repetitions_come_back() {
        let furthest = (crate::MAX_BLOCK_BYTES / 8) as u64;
        let full = repeat(furthest, MAX_REPEAT);
        assert_eq!(split_repeat(full), (furthest, MAX_REPEAT));
        assert_eq!((tag(full), detail(full)), (EXT, ext::REPEAT));
        assert_eq!(repeat(1, MAX_REPEAT - 1) + 1, repeat(1, MAX_REPEAT));
        assert_eq!(
            (record_len(full, 0, false), record_len(full, 0, true)),
            (Some(1), None)
        );
        let half = half(READ1, 0, 0);
        assert!(is_full_pair(half | half << HALF_BITS) && !is_full_pair(half));
        assert!(!is_full_pair(full) && !is_full_pair(half | 15 << HALF_BITS));
    }

    #[test]
    fn no_record_starts_with_zero() {
        for kind in 1..=15u64 {
            assert_ne!(tagged(kind, 0, 0), 0);
        }
    }
}
