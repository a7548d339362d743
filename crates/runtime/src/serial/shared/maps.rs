//! Where it is kept: places that an address leads to without a look. Nothing of them is in memory before
//! it is touched, and core dumps do without.
//!
//! The first is below what `inputs` and `record::leave_out` map, the others are above; all end below
//! the addresses that Linux gives to position-independent programs. Live detection, which has its shadow
//! there, is not on in serial recordings.

use deadheat_wire::shared::{WORD_ADDRESS, word_of};

use super::state::Cell;
use crate::sys;

/// What words held last.
const VALUES: usize = 0x1000_0000_0000;
/// [`Cell`]s.
const CELLS: usize = 0x3000_0000_0000;
/// Which entry of the file of what was found has these 64 words, 0 if none does yet.
const ENTRY_OF: usize = 0x4000_0000_0000;
/// A bit for each word: the recording has it.
const WANTED: usize = 0x4200_0000_0000;
/// How long the block is that begins here, in units of 16 bytes.
const LENGTHS: usize = 0x4400_0000_0000;

const SPAN: usize = WORD_ADDRESS as usize + 8;
const BITS_SPAN: usize = SPAN / 64;
const ENTRY_OF_SPAN: usize = SPAN / 8 / 64 * 4;

/// The unit of [`LENGTHS`].
const UNIT: usize = 16;
const PAGE: usize = 4096;

/// Reserves the addresses; false if the system refuses.
pub fn reserve() -> bool {
    let all = [
        (VALUES, SPAN),
        (CELLS, SPAN),
        (ENTRY_OF, ENTRY_OF_SPAN),
        (WANTED, BITS_SPAN),
        (LENGTHS, SPAN / 4),
    ];
    all.into_iter().all(|(base, bytes)| {
        let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
        let flags = libc::MAP_PRIVATE
            | libc::MAP_ANONYMOUS
            | libc::MAP_NORESERVE
            | libc::MAP_FIXED_NOREPLACE;
        let arguments = [base, bytes, protection, flags as usize, usize::MAX, 0];
        let got = sys::call(libc::SYS_mmap, arguments);
        if got == base as isize {
            let advice = libc::MADV_DONTDUMP as usize;
            sys::call(libc::SYS_madvise, [base, bytes, advice, 0, 0, 0]);
        }
        got == base as isize
    })
}

/// The state of the word at an address.
#[inline(always)]
pub fn cell(addr: usize) -> *mut Cell {
    (CELLS + (addr & WORD_ADDRESS as usize)) as *mut Cell
}

/// What the word at an address held last.
#[inline(always)]
pub fn value(addr: usize) -> *mut u64 {
    (VALUES + (addr & WORD_ADDRESS as usize)) as *mut u64
}

/// How long the block is that begins at an address.
pub fn length(addr: usize) -> *mut u32 {
    (LENGTHS + (addr & WORD_ADDRESS as usize & !(UNIT - 1)) / 4) as *mut u32
}

/// A length in the unit of [`length`].
pub fn units(bytes: usize) -> u32 {
    bytes.div_ceil(UNIT).try_into().unwrap_or(u32::MAX)
}

/// The same in bytes.
pub fn bytes(units: u32) -> usize {
    units as usize * UNIT
}

/// 64 words' bits, and which of them is that of an address.
#[inline(always)]
fn bit(base: usize, addr: usize) -> (*mut u64, u64) {
    let word = word_of(addr as u64) as usize;
    ((base + word / 64 * 8) as *mut u64, 1 << (word % 64))
}

/// Which entry has the 64 words that an address is in, and the number of the first of them.
pub fn entry_of(addr: usize) -> (*mut u32, u64) {
    let index = word_of(addr as u64) / 64;
    ((ENTRY_OF + index as usize * 4) as *mut u32, index)
}

/// Whether the recording is to have a word.
#[inline(always)]
pub fn is_wanted(addr: usize) -> bool {
    let (bits, bit) = bit(WANTED, addr);
    // SAFETY: within what `reserve` has mapped (`Shared::is_on`), by the one thread that has the turn.
    unsafe { *bits & bit != 0 }
}

/// The recording is to have these of 64 words.
pub fn want(index: u64, bits: u64) {
    let at = index as usize * 8;
    if at < BITS_SPAN {
        // SAFETY: as in `is_wanted`.
        unsafe { *((WANTED + at) as *mut u64) |= bits };
    }
}

/// Forgets the states of the words from one up to another.
pub fn clear(from: usize, to: usize) {
    /// From here on the kernel is faster.
    const LARGE: usize = 128 * 1024;
    let (start, end) = (cell(from) as usize, cell(from) as usize + (to - from));
    if end > CELLS + SPAN {
        return;
    }
    let zero = |from: usize, to: usize| {
        // SAFETY: within what is mapped. The instruction, because a loop would become a call of `memset`,
        // which is one of the stand-ins.
        unsafe {
            core::arch::asm!("rep stosq", inout("rcx") (to - from) / 8 => _,
                inout("rdi") from => _, in("rax") 0u64, options(nostack, preserves_flags));
        }
    };
    if end - start < LARGE {
        return zero(start, end);
    }
    let (first, last) = (start.next_multiple_of(PAGE), end & !(PAGE - 1));
    zero(start, first);
    let advice = libc::MADV_DONTNEED as usize;
    sys::call(libc::SYS_madvise, [first, last - first, advice, 0, 0, 0]);
    zero(last, end);
}
