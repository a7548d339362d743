//! Shadow memory: for every eight bytes of the program two cells, at a place that one
//! multiplication finds, and two more elsewhere that are used when those do not suffice.
//!
//! A cell says who accessed which of the eight bytes, when, how, and from where. Cells are read
//! and written whole and without locks: two threads that meet in one may lose one of the two,
//! which can only make a race be found later.

use core::sync::atomic::{AtomicU64, Ordering};

use super::clock::Clock;
use super::slots::SLOTS;
use crate::sys;

/// Cells for each eight bytes, in each of the two parts.
const CELLS: usize = 2;
/// Where the shadow begins. With its two parts of 32 TiB it ends below all addresses that Linux gives
/// to position-independent programs, and begins above those of others.
const BASE: usize = 0x1000_0000_0000;
/// The bits of an address that find its cells. Programs, heaps, libraries and stacks lie apart in
/// them.
const ADDRESS: usize = 0x0FFF_FFFF_FFF8;
const PART: usize = (ADDRESS + 8) * CELLS;
const SPAN: usize = 2 * PART;

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

fn advise(start: usize, bytes: usize, advice: i32) {
    sys::call(libc::SYS_madvise, [start, bytes, advice as usize, 0, 0, 0]);
}

/// The cells of eight bytes.
pub type Cells = [AtomicU64; CELLS];

/// The cells of the eight bytes around an address.
#[inline(always)]
pub fn cells(addr: usize) -> *const Cells {
    (BASE + (addr & ADDRESS) * CELLS) as *const Cells
}

/// Forgets all accesses to `bytes` bytes from `addr` on. (The second part is cleared when it is
/// used anew.)
pub fn clear(addr: usize, bytes: usize) {
    const PAGE: usize = 4096;
    /// From here on the kernel is faster.
    const LARGE: usize = 128 * 1024;
    if bytes == 0 {
        return;
    }
    let start = cells(addr) as usize;
    let len = ((addr + bytes - 1) >> 3).wrapping_sub(addr >> 3) * 8 * CELLS + 8 * CELLS;
    if start + len > BASE + PART {
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
}

/// Forgets all accesses.
pub fn clear_all() {
    advise(BASE, SPAN, libc::MADV_DONTNEED);
}

/// A cell. Zero is empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cell(pub u64);

const CONTEXT: u64 = (1 << super::context::BITS) - 1;
/// In the first part's cells: there are more in the second part.
const MORE: u64 = 1 << 19;
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

    /// Whether whatever conflicts with `other` conflicts with this one, too.
    #[inline(always)]
    const fn covers(self, other: Cell) -> bool {
        // No byte, no write of the other's is missing; nor is the other plain and this one atomic.
        (other.0 & !self.0 & (MASK | WRITE)) == 0 && self.0 & !other.0 & ATOMIC == 0
    }
}

/// Enters an access and answers an earlier one that it races with, if there is one.
///
/// An access takes the place of one that it covers and that is ordered before it, else an empty
/// cell, else that of the thread's own former access to some of the bytes, else any: then that one
/// goes to the second part. Bytes that are accessed one after the other by the same code share a
/// cell.
///
/// # Safety
/// `cells` are in the shadow's first part.
#[inline(always)]
pub unsafe fn enter(cells: *const Cells, new: Cell, clock: &Clock, luck: &mut u32) -> Option<Cell> {
    // SAFETY: as the caller says.
    let [first, second] = unsafe { &*cells };
    let (a, b) = (
        Cell(first.load(Ordering::Relaxed)),
        Cell(second.load(Ordering::Relaxed)),
    );
    // Most memory is one thread's.
    if b.0 == 0 && (a.0 ^ new.0) >> SLOT_SHIFT == 0 {
        let is_same_code = (a.0 ^ new.0) & !MASK == 0;
        if is_same_code || new.covers(a) {
            let both = if is_same_code { a.0 | new.0 } else { new.0 };
            first.store(both, Ordering::Relaxed);
        } else if a.time() != new.time() || !a.covers(new) {
            second.store(new.0, Ordering::Relaxed);
        }
        return None;
    }
    if a.0 == 0 {
        first.store(new.0, Ordering::Relaxed);
        if b.0 == 0 {
            return None;
        }
    }
    // SAFETY: as the caller says.
    unsafe { enter_shared(cells, [a, b], new, clock, luck) }
}

/// The same when there is more than one access already.
///
/// # Safety
/// As for `enter`.
#[inline(never)]
unsafe fn enter_shared(
    cells: *const Cells,
    old: [Cell; CELLS],
    new: Cell,
    clock: &Clock,
    luck: &mut u32,
) -> Option<Cell> {
    // Empty, or accesses whose place can be taken; in the order of preference.
    let (mut same_code, mut covered, mut empty, mut partly) = (None, None, None, None);
    let (mut racing, mut contained) = (None, false);
    for (at, cell) in old.into_iter().enumerate() {
        if cell.0 == 0 {
            empty = Some(at);
        } else if (cell.0 ^ new.0) >> SLOT_SHIFT == 0 {
            if (cell.0 ^ new.0) & !(MASK | MORE) == 0 {
                same_code = Some(at);
            } else if new.covers(cell) {
                covered = Some(at);
            } else if cell.time() == new.time() && cell.covers(new) {
                contained = true;
            } else if cell.meets(new) && new.0 & WRITE >= cell.0 & WRITE {
                partly = Some(at);
            }
        } else if cell.meets(new) {
            if is_ordered(cell, clock) {
                if new.covers(cell) {
                    covered = Some(at);
                }
            } else if cell.conflicts(new) {
                racing = Some(cell);
            }
        }
    }
    let more = (old[0].0 | old[1].0) & MORE;
    if more != 0 {
        // SAFETY: as the caller says.
        racing = racing.or(unsafe { racing_in_second(cells, new, clock) });
    }
    if contained {
        return racing;
    }
    // SAFETY: as the caller says.
    let places = unsafe { &*cells };
    let put = |at: usize, bits: u64| places[at].store(bits | more, Ordering::Relaxed);
    if let Some(at) = same_code {
        put(at, old[at].0 | new.0);
    } else if let Some(at) = covered.or(empty).or(partly) {
        put(at, new.0);
    } else {
        *luck = luck.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let at = (*luck >> 31) as usize;
        // SAFETY: as the caller says.
        unsafe { move_to_second(cells, old[at], more == 0, *luck >> 30 & 1) };
        places[at].store(new.0 | MORE, Ordering::Relaxed);
    }
    racing
}

/// Whether an access is known to come before what a thread does now.
#[inline(always)]
fn is_ordered(cell: Cell, clock: &Clock) -> bool {
    clock[cell.slot() % SLOTS] >= cell.time()
}

/// The cells in the second part.
fn second_part(cells: *const Cells) -> *const Cells {
    (cells as usize + PART) as *const Cells
}

/// # Safety
/// As for `enter`.
unsafe fn racing_in_second(cells: *const Cells, new: Cell, clock: &Clock) -> Option<Cell> {
    // SAFETY: as the caller says.
    let more = unsafe { &*second_part(cells) };
    more.iter().find_map(|cell| {
        let cell = Cell(cell.load(Ordering::Relaxed));
        let races = cell.meets(new)
            && (cell.0 ^ new.0) >> SLOT_SHIFT != 0
            && cell.conflicts(new)
            && !is_ordered(cell, clock);
        races.then_some(cell)
    })
}

/// # Safety
/// As for `enter`.
#[cold]
unsafe fn move_to_second(cells: *const Cells, old: Cell, is_first: bool, at: u32) {
    // SAFETY: as the caller says.
    let more = unsafe { &*second_part(cells) };
    if is_first {
        // What is there is from another life of this memory.
        more[1].store(0, Ordering::Relaxed);
        return more[0].store(old.0 & !MORE, Ordering::Relaxed);
    }
    more[at as usize % CELLS].store(old.0 & !MORE, Ordering::Relaxed);
}

/// Whether one of the last accesses to the eight bytes around an address was atomic.
pub fn has_atomic(addr: usize) -> bool {
    // SAFETY: every address of the program has cells.
    let [a, b] = unsafe { &*cells(addr) };
    let both = a.load(Ordering::Relaxed) | b.load(Ordering::Relaxed);
    both & (ATOMIC | MORE) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(slot: usize, time: u32, mask: u8, write: bool) -> Cell {
        Cell::new(Cell::epoch(slot, time), mask, write, false, 5)
    }

    /// The last access's race, and what the first part has then.
    fn run(accesses: &[Cell], clock: &Clock) -> (Option<Cell>, [Cell; CELLS]) {
        let _ = reserve();
        static NEXT: AtomicU64 = AtomicU64::new(0x100_0000);
        let cells = cells(NEXT.fetch_add(8, Ordering::Relaxed) as usize);
        let mut racing = None;
        for &access in accesses {
            // SAFETY: in the shadow.
            racing = unsafe { enter(cells, access, clock, &mut 1) };
        }
        // SAFETY: as above.
        let kept = unsafe { &*cells };
        (
            racing,
            [0, 1].map(|at| Cell(kept[at].load(Ordering::Relaxed))),
        )
    }

    #[test]
    fn parts_of_a_cell_come_out_as_they_went_in() {
        let cell = Cell::new(Cell::epoch(1023, 0xFF_FFFF), 0x81, true, false, 0x7_FFFF);
        assert_eq!((cell.slot(), cell.time()), (1023, 0xFF_FFFF));
        assert_eq!((cell.mask(), cell.context()), (0x81, 0x7_FFFF));
        assert!(cell.writes() && !cell.is_atomic());
    }

    #[test]
    fn unordered_conflicts_race_and_others_do_not() {
        let mut clock = [0; SLOTS];
        let (old, new) = (plain(1, 7, 0x0F, true), plain(2, 1, 0x08, false));
        assert!(run(&[old, new], &clock).0 == Some(old));
        clock[1] = 7;
        assert!(run(&[old, new], &clock).0.is_none());
        clock[1] = 6;
        assert!(run(&[old, new], &clock).0 == Some(old));
        let elsewhere = plain(2, 1, 0x10, true);
        assert!(run(&[old, elsewhere], &clock).0.is_none());
        let read = plain(1, 7, 0x0F, false);
        assert!(run(&[read, new], &clock).0.is_none());
        let atomic = |slot| Cell::new(Cell::epoch(slot, 9), 0x0F, true, true, 5);
        assert!(run(&[atomic(1), atomic(2)], &clock).0.is_none());
        assert!(run(&[atomic(1), new], &clock).0 == Some(atomic(1)));
    }

    #[test]
    fn an_access_takes_the_place_of_what_it_covers() {
        let mut clock = [0; SLOTS];
        clock[1] = 7;
        let old = plain(1, 7, 0x0F, false);
        let (write, read) = (plain(2, 1, 0xFF, true), plain(2, 1, 0xFF, false));
        assert!(run(&[old, write], &clock).1[0] == write);
        assert!(run(&[old, read], &clock).1[0] == read);
        let old = plain(1, 7, 0x0F, true);
        let kept = run(&[old, read], &clock).1;
        assert!(kept[0] == old && kept[1] == read);
        // Bytes by the same code share a cell.
        let bytes: Vec<Cell> = (0..8).map(|i| plain(3, 4, 1 << i, false)).collect();
        let kept = run(&bytes, &clock).1;
        assert!(kept[0] == plain(3, 4, 0xFF, false) && kept[1].0 == 0);
    }

    #[test]
    fn what_does_not_fit_is_still_raced_with() {
        let reads: Vec<Cell> = (1..5).map(|slot| plain(slot, 9, 1, false)).collect();
        for known in 1..5 {
            // The writer knows all readers but one.
            let mut clock = [9; SLOTS];
            clock[known] = 8;
            let mut accesses = reads.clone();
            accesses.push(plain(7, 1, 1, true));
            let racing = run(&accesses, &clock).0.map(Cell::slot);
            assert_eq!(racing, Some(known));
        }
    }

    #[test]
    fn what_was_in_the_second_part_before_does_not_come_back() {
        let _ = reserve();
        let (addr, clock) = (0x200_0000, [0; SLOTS]);
        let run = |slots: core::ops::Range<usize>, write| {
            // SAFETY: in the shadow.
            slots.fold(None, |_, slot| unsafe {
                enter(cells(addr), plain(slot, 9, 1, write), &clock, &mut 1)
            })
        };
        assert!(run(1..5, false).is_none());
        clear(addr, 8);
        // Three readers, of which one goes to the second part, and the first one writes.
        let mut known = [0; SLOTS];
        (known[11], known[12], known[13]) = (9, 9, 9);
        assert!(run(11..14, false).is_none());
        // SAFETY: in the shadow.
        let racing = unsafe { enter(cells(addr), plain(11, 10, 1, true), &known, &mut 1) };
        assert!(racing.is_none());
    }

    // One test: the reservation is the program's.
    #[test]
    fn the_shadow_is_there_and_can_be_cleared() {
        let _ = reserve(); // Another test may have done so.
        assert_eq!(reserve(), Err(libc::EEXIST as isize));
        let block = vec![0u64; 100_000];
        let addr = |i: usize| &raw const block[i] as usize;
        // SAFETY: the shadow of memory that exists.
        let first = |i: usize| unsafe { &(*cells(addr(i)))[0] };
        for i in 0..block.len() {
            first(i).store(1, Ordering::Relaxed);
        }
        clear(addr(10), 8 * 5);
        let is_set = |i: usize| first(i).load(Ordering::Relaxed) == 1;
        assert!(is_set(9) && !is_set(10) && !is_set(14) && is_set(15));
        clear(addr(20) + 3, 8);
        assert!(is_set(19) && !is_set(20) && !is_set(21) && is_set(22));
        clear(addr(30), 8 * 90_000);
        assert!(is_set(29) && (30..90_030).all(|i| !is_set(i)) && is_set(90_030));
        clear_all();
        assert!(!is_set(0));
    }
}
