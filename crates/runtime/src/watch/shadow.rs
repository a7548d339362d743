//! Shadow memory: for every eight bytes of the program four cells, at a place that one
//! multiplication finds.
//!
//! A cell says who accessed which of the eight bytes, when, how, and from where. Cells are read
//! and written whole and without locks: two threads that meet in one may lose one of the two,
//! which can only make a race be found later.

mod at_once;
mod whole;

use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

pub use at_once::{can_enter_at_once, enter_at_once, is_said};
pub use whole::{enter_whole, place_of_whole};

use super::clock::Clock;
use super::slots::SLOTS;
use crate::sys;

/// Cells for each eight bytes.
const CELLS: usize = 4;
/// Where the shadow begins. With its 64 TiB it ends below all addresses that Linux gives to
/// position-independent programs, and begins above those of others.
const BASE: usize = 0x1000_0000_0000;
/// The bits of an address that find its cells. Programs, heaps, libraries and stacks lie apart in
/// them.
const ADDRESS: usize = 0x0FFF_FFFF_FFF8;
const SPAN: usize = (ADDRESS + 8) * CELLS;
const PAGE: usize = 4096;

/// Reserves the addresses; the error number if the system refuses. No memory is used until it is
/// touched, and none of it goes into core dumps.
pub fn reserve() -> Result<(), isize> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let got = sys::call(
        libc::SYS_mmap,
        [
            BASE,
            SPAN,
            protection as usize,
            flags as usize,
            usize::MAX,
            0,
        ],
    );
    if got != BASE as isize {
        return Err(if got < 0 { -got } else { libc::EEXIST as isize });
    }
    advise(BASE, SPAN, libc::MADV_DONTDUMP);
    Ok(())
}

/// How much of the shadow is used for each byte of the program, if not four cells for each eight.
static USED: AtomicUsize = AtomicUsize::new(CELLS);

/// From now on there is one word for four bytes ([`word`]), not cells.
pub fn use_words() {
    USED.store(2, Ordering::Relaxed);
}

/// From now on there is one state for four bytes ([`state`]), not cells.
pub fn use_states() {
    USED.store(1, Ordering::Relaxed);
}

/// The bits of an address that find its word.
const WORD_ADDRESS: usize = ADDRESS | 4;

/// The word of the four bytes around an address, where there are no cells.
#[inline(always)]
pub fn word(addr: usize) -> *const AtomicU64 {
    (BASE + (addr & WORD_ADDRESS) * 2) as *const AtomicU64
}

/// Where the states begin. There is one of four bytes for each four bytes of the program. It lies a page off
/// from what it is for: without that a sort took 1.4 times as long on an AMD EPYC, as if a cache that goes by
/// some bits of an address did not keep both.
pub const STATES: usize = BASE + PAGE;
/// The bits of an address that find its state, if it has no lower ones.
pub const STATE_ADDRESS: usize = WORD_ADDRESS | 3;
/// Behind the states: see [`earlier`].
const EARLIER: usize = STATES + STATE_ADDRESS + 1;

/// The state of the four bytes around an address, where there are no cells.
#[inline(always)]
pub fn state(addr: usize) -> *const AtomicU32 {
    (STATES + (addr & WORD_ADDRESS)) as *const AtomicU32
}

/// What belongs to some states. It is forgotten when there is reason to.
#[inline(always)]
pub fn earlier(addr: usize) -> *const AtomicU64 {
    (EARLIER + (addr & WORD_ADDRESS) * 2) as *const AtomicU64
}

fn advise(start: usize, bytes: usize, advice: i32) {
    sys::call(libc::SYS_madvise, [start, bytes, advice as usize, 0, 0, 0]);
}

/// The cells of eight bytes.
#[repr(align(32))]
pub struct Cells([AtomicU64; CELLS]);

const _: () = assert!(size_of::<Cells>() == 8 * CELLS);

/// The cells of the eight bytes around an address.
#[inline(always)]
pub fn cells(addr: usize) -> *const Cells {
    (BASE + (addr & ADDRESS) * CELLS) as *const Cells
}

/// Forgets all accesses to `bytes` bytes from `addr` on.
pub fn clear(addr: usize, bytes: usize) {
    /// From here on the kernel is faster.
    const LARGE: usize = 128 * 1024;
    if bytes == 0 {
        return;
    }
    let used = USED.load(Ordering::Relaxed);
    let base = if used == 1 { STATES } else { BASE };
    let start = base + (addr & ADDRESS) * used;
    let len = (((addr + bytes - 1) >> 3).wrapping_sub(addr >> 3) + 1) * 8 * used;
    if start + len > BASE + SPAN {
        return;
    }
    let zero = |from: usize, to: usize| {
        // SAFETY: within the shadow. The instruction, because a loop would become a call of
        // `memset`, which is one of the stand-ins.
        unsafe {
            core::arch::asm!("rep stosq", inout("rcx") (to - from) / 8 => _,
                inout("rdi") from => _, in("rax") 0u64, options(nostack, preserves_flags));
        }
    };
    if len < LARGE {
        return zero(start, start + len);
    }
    let (first, last) = (start.next_multiple_of(PAGE), (start + len) & !(PAGE - 1));
    zero(start, first);
    advise(first, last - first, libc::MADV_DONTNEED);
    zero(last, start + len);
    if used == 1 {
        let [from, to] = [first, last].map(|end| EARLIER + (end - STATES) * 2);
        advise(from, to - from, libc::MADV_DONTNEED);
    }
}

/// Forgets all accesses.
pub fn clear_all() {
    advise(BASE, SPAN, libc::MADV_DONTNEED);
}

/// A cell. Zero is empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cell(pub u64);

const CONTEXT: u64 = (1 << super::context::BITS) - 1;
const ATOMIC: u64 = 1 << 20;
const WRITE: u64 = 1 << 21;
const MASK_SHIFT: u32 = 22;
const MASK: u64 = 0xFF << MASK_SHIFT;
const TIME_SHIFT: u32 = 30;
const TIME: u64 = 0xFF_FFFF << TIME_SHIFT;
const SLOT_SHIFT: u32 = 54;

impl Cell {
    /// A slot and its time, as cells have them.
    pub const fn epoch(slot: usize, time: u32) -> u64 {
        (slot as u64) << SLOT_SHIFT | (time as u64) << TIME_SHIFT
    }

    /// An access to the bytes in `mask` of the eight.
    #[inline(always)]
    pub const fn new(epoch: u64, mask: u8, write: bool, atomic: bool, context: u32) -> Self {
        Cell(
            epoch
                | (mask as u64) << MASK_SHIFT
                | (write as u64) << 21
                | (atomic as u64) << 20
                | context as u64 & CONTEXT,
        )
    }

    /// The same access with a context; it has none yet.
    #[inline(always)]
    pub const fn at(self, context: u32) -> Self {
        Cell(self.0 | context as u64 & CONTEXT)
    }

    /// Whose it is.
    #[inline(always)]
    pub const fn slot(self) -> usize {
        (self.0 >> SLOT_SHIFT) as usize
    }

    /// When it was.
    #[inline(always)]
    pub const fn time(self) -> u32 {
        ((self.0 & TIME) >> TIME_SHIFT) as u32
    }

    /// Which bytes.
    pub const fn mask(self) -> u8 {
        ((self.0 & MASK) >> MASK_SHIFT) as u8
    }

    /// Whether it writes.
    pub const fn writes(self) -> bool {
        self.0 & WRITE != 0
    }

    /// Whether it is atomic.
    pub const fn is_atomic(self) -> bool {
        self.0 & ATOMIC != 0
    }

    /// Where it was.
    pub const fn context(self) -> u32 {
        (self.0 & CONTEXT) as u32
    }

    /// Whether two touch the same byte.
    #[inline(always)]
    const fn meets(self, other: Cell) -> bool {
        self.0 & other.0 & MASK != 0
    }

    /// Whether two that meet would race if nothing ordered them.
    #[inline(always)]
    const fn conflicts(self, other: Cell) -> bool {
        (self.0 | other.0) & WRITE != 0 && self.0 & other.0 & ATOMIC == 0
    }
}

/// Enters an access and answers an earlier one that it races with, if there is one.
///
/// An access takes the place of one that it covers and that is ordered before it, or an empty cell;
/// else that of the thread's own former access to some of the bytes; else any. Bytes that are accessed
/// one after the other by the same code share a cell.
///
/// # Safety
/// `cells` are in the shadow.
#[inline(never)]
pub unsafe fn enter(cells: *const Cells, new: Cell, clock: &Clock, luck: &mut u32) -> Option<Cell> {
    // SAFETY: as the caller says.
    let Cells(places) = unsafe { &*cells };
    let (mut on, mut free, mut partly, mut racing) = (None, None, None, None);
    for place in places.iter().rev() {
        let old = Cell(place.load(Ordering::Relaxed));
        let met = Met::of(old, new, clock);
        if met.goes_on {
            on = Some((place, old));
        }
        if met.is_free {
            free = Some(place);
        }
        if met.is_partly_free {
            partly = Some(place);
        }
        if met.races {
            racing = Some(old);
        }
    }
    match (on, free.or(partly)) {
        (Some((place, old)), _) => place.store(old.0 | new.0 & MASK, Ordering::Relaxed),
        (None, Some(place)) => place.store(new.0, Ordering::Relaxed),
        (None, None) => places[any(luck)].store(new.0, Ordering::Relaxed),
    }
    racing
}

/// One of the cells, by luck.
#[inline(always)]
fn any(luck: &mut u32) -> usize {
    *luck = luck.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*luck >> 30) as usize % CELLS
}

/// What a new access finds in a cell.
struct Met {
    /// It is the thread's own in the same epoch and covers the new one, or is the same code's: then
    /// the bytes are added.
    goes_on: bool,
    /// Its place can be taken.
    is_free: bool,
    /// The same, but what it says about other bytes is lost.
    is_partly_free: bool,
    /// It is a race.
    races: bool,
}

impl Met {
    #[inline(always)]
    fn of(old: Cell, new: Cell, clock: &Clock) -> Self {
        let differs = old.0 ^ new.0;
        let own = differs >> SLOT_SHIFT == 0;
        // The thread's own, and empty cells, are.
        let ordered = is_ordered(old, clock);
        let meets = old.meets(new);
        let (lost, atomic_for_plain) = (old.0 & !new.0, new.0 & !old.0 & ATOMIC);
        let is_no_weaker = (lost & WRITE) | atomic_for_plain == 0;
        let is_now = differs >> TIME_SHIFT == 0;
        let missing = new.0 & !old.0 & (MASK | WRITE) | old.0 & !new.0 & ATOMIC;
        let goes_on = (differs & !MASK == 0) | (is_now & (missing == 0));
        Met {
            goes_on,
            is_free: (ordered & (lost & (MASK | WRITE) | atomic_for_plain == 0)) | (old.0 == 0),
            is_partly_free: own & meets & is_no_weaker,
            races: !ordered & meets & old.conflicts(new),
        }
    }
}

/// Whether an access is known to come before what a thread does now.
#[inline(always)]
fn is_ordered(cell: Cell, clock: &Clock) -> bool {
    clock[cell.slot() % SLOTS] >= cell.time()
}

/// Whether one of the last accesses to the eight bytes around an address was atomic.
pub fn has_atomic(addr: usize) -> bool {
    // SAFETY: every address of the program has cells.
    let Cells(cells) = unsafe { &*cells(addr) };
    cells
        .iter()
        .any(|cell| cell.load(Ordering::Relaxed) & ATOMIC != 0)
}

#[cfg(test)]
mod tests;
