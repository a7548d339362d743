//! Shadow memory: for every eight bytes of the program four cells, at a place that one
//! multiplication finds.
//!
//! A cell says who accessed which of the eight bytes, when, how, and from where. Cells are read
//! and written whole and without locks: two threads that meet in one may lose one of the two,
//! which can only make a race be found later.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::sys;

/// Cells for each eight bytes.
pub const CELLS: usize = 4;
/// Where the shadow begins. With its 64 TiB it ends below all addresses that Linux gives to
/// position-independent programs, and above those of others.
const BASE: usize = 0x1000_0000_0000;
/// The bits of an address that find its cells. Programs, heaps, libraries and stacks lie apart in
/// them.
const ADDRESS: usize = 0x0FFF_FFFF_FFF8;
const SPAN: usize = (ADDRESS + 8) * CELLS;

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

/// The cells of the eight bytes around an address.
#[inline(always)]
pub fn cells(addr: usize) -> *const [AtomicU64; CELLS] {
    (BASE + (addr & ADDRESS) * CELLS) as *const [AtomicU64; CELLS]
}

/// Forgets all accesses to `bytes` bytes from `addr` on.
pub fn clear(addr: usize, bytes: usize) {
    const PAGE: usize = 4096;
    /// From here on the kernel is faster.
    const LARGE: usize = 256 * 1024;
    if bytes == 0 {
        return;
    }
    let start = cells(addr) as usize;
    let len = ((addr + bytes - 1) >> 3).wrapping_sub(addr >> 3) * 8 * CELLS + 8 * CELLS;
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
}

/// Forgets all accesses.
pub fn clear_all() {
    advise(BASE, SPAN, libc::MADV_DONTNEED);
}

/// A cell. Zero is empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cell(pub u64);

const CONTEXT: u64 = (1 << 20) - 1;
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
/// cell, else any. Bytes that are accessed one after the other by the same code share a cell.
///
/// # Safety
/// `cells` are in the shadow.
#[inline(always)]
pub unsafe fn enter(
    cells: *const [AtomicU64; CELLS],
    new: Cell,
    clock: &[u32; super::slots::SLOTS],
    luck: &mut u32,
) -> Option<Cell> {
    // SAFETY: as the caller says.
    let cells = unsafe { &*cells };
    let mut racing = None;
    let mut stored = false;
    let slot = new.slot();
    for cell in cells {
        let old = Cell(cell.load(Ordering::Relaxed));
        if old.0 == 0 {
            if !stored {
                cell.store(new.0, Ordering::Relaxed);
            }
            return racing;
        }
        if old.slot() == slot {
            if (old.0 ^ new.0) & !MASK == 0 {
                // The same code in the same epoch.
                if new.0 & !old.0 & MASK == 0 {
                    return racing;
                }
                if !stored {
                    cell.store(old.0 | new.0, Ordering::Relaxed);
                    stored = true;
                }
            } else if !stored && new.covers(old) {
                cell.store(new.0, Ordering::Relaxed);
                stored = true;
            } else if old.covers(new) && old.time() == new.time() {
                return racing;
            }
            continue;
        }
        if !old.meets(new) {
            continue;
        }
        // A cell torn out of a dropped shadow is zero; a slot is always in range.
        if clock[slot_in_range(old)] >= old.time() {
            if !stored && new.covers(old) {
                cell.store(new.0, Ordering::Relaxed);
                stored = true;
            }
        } else if old.conflicts(new) {
            racing = Some(old);
        }
    }
    if !stored {
        *luck = luck.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        cells[(*luck >> 30) as usize % CELLS].store(new.0, Ordering::Relaxed);
    }
    racing
}

/// The same for a plain access, all cells at once and almost without branches.
///
/// # Safety
/// As for `enter`; the processor has AVX2.
#[target_feature(enable = "avx2")]
#[inline]
pub unsafe fn enter_at_once<const IS_WRITE: bool>(
    cells: *const [AtomicU64; CELLS],
    new: Cell,
    clock: &[u32; super::slots::SLOTS],
    luck: &mut u32,
) -> Option<Cell> {
    use core::arch::x86_64::*;
    let all = |bits: u64| _mm256_set1_epi64x(bits as i64);
    let zero = _mm256_setzero_si256();
    let which = |equal: __m256i| _mm256_movemask_pd(_mm256_castsi256_pd(equal)) as u32;
    let are_zero = |bits: __m256i| which(_mm256_cmpeq_epi64(bits, zero));
    // SAFETY: as the caller says. Each cell is read whole, whatever others write meanwhile: the
    // processor reads aligned words so.
    let (cells, old) = unsafe { (&*cells, _mm256_load_si256(cells.cast())) };
    let mine = all(new.0);
    let differs = _mm256_xor_si256(old, mine);
    let same_code = are_zero(_mm256_and_si256(differs, all(!MASK)));
    let own = are_zero(_mm256_srli_epi64::<{ SLOT_SHIFT as i32 }>(differs));
    let now = are_zero(_mm256_srli_epi64::<{ TIME_SHIFT as i32 }>(differs));
    // What the new one has and the old one has not, and the other way around.
    let lacks = _mm256_andnot_si256(old, mine);
    let has_more = _mm256_andnot_si256(mine, old);
    let contained = now & are_zero(_mm256_and_si256(lacks, all(MASK | WRITE)));
    let plain = are_zero(_mm256_and_si256(old, all(ATOMIC)));
    if contained & plain != 0 {
        return None;
    }
    let covered = are_zero(_mm256_and_si256(has_more, all(MASK | WRITE)));
    let meets = !are_zero(_mm256_and_si256(_mm256_and_si256(old, mine), all(MASK)));
    let conflicts = if IS_WRITE {
        0xF
    } else {
        !are_zero(_mm256_and_si256(old, all(WRITE)))
    };
    let empty = are_zero(old);
    let mut racing = None;
    let mut ordered = 0;
    let mut open = meets & conflicts & !own & 0xF;
    while open != 0 {
        let at = open.trailing_zeros() as usize % CELLS;
        open &= open - 1;
        let cell = Cell(cells[at].load(Ordering::Relaxed));
        if clock[slot_in_range(cell)] >= cell.time() {
            ordered |= 1 << at;
        } else if cell.meets(new) && cell.conflicts(new) {
            racing = Some(cell);
        }
    }
    let at = if same_code != 0 {
        let cell = &cells[same_code.trailing_zeros() as usize % CELLS];
        let now = cell.load(Ordering::Relaxed);
        // Another thread may have taken it just now.
        let still = (now ^ new.0) & !MASK == 0;
        cell.store(if still { now | new.0 } else { new.0 }, Ordering::Relaxed);
        return racing;
    } else if own & covered != 0 {
        own & covered
    } else if ordered & covered != 0 {
        ordered & covered
    } else if empty != 0 {
        empty
    } else {
        *luck = luck.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        1 << (*luck >> 30)
    };
    cells[at.trailing_zeros() as usize % CELLS].store(new.0, Ordering::Relaxed);
    racing
}

/// Whether the processor can do that.
pub fn is_wide() -> bool {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    let os = __cpuid(1).ecx;
    const OSXSAVE_AND_AVX: u32 = 1 << 27 | 1 << 28;
    if os & OSXSAVE_AND_AVX != OSXSAVE_AND_AVX {
        return false;
    }
    // SAFETY: the system has enabled the instruction, as the bit just asked for says.
    let saved = unsafe { xgetbv() };
    saved & 6 == 6 && __cpuid_count(7, 0).ebx & 1 << 5 != 0
}

/// Which registers the system saves.
///
/// # Safety
/// The processor has the instruction, and the system allows it.
unsafe fn xgetbv() -> u32 {
    let low: u32;
    // SAFETY: as the caller says; it only reads.
    unsafe {
        core::arch::asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") _,
            options(nomem, nostack, preserves_flags));
    }
    low
}

/// Whether one of the last accesses to the eight bytes around an address was atomic.
pub fn has_atomic(addr: usize) -> bool {
    // SAFETY: every address of the program has cells.
    let cells = unsafe { &*cells(addr) };
    cells
        .iter()
        .any(|cell| cell.load(Ordering::Relaxed) & ATOMIC != 0)
}

/// Ten bits: within a clock.
#[inline(always)]
const fn slot_in_range(cell: Cell) -> usize {
    cell.slot() % super::slots::SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::slots::SLOTS;

    fn plain(slot: usize, time: u32, mask: u8, write: bool) -> Cell {
        Cell::new(Cell::epoch(slot, time), mask, write, false, 5)
    }

    fn run(accesses: &[Cell], clock: &[u32; SLOTS]) -> (Option<Cell>, [Cell; CELLS]) {
        let cells = [const { AtomicU64::new(0) }; CELLS];
        let mut racing = None;
        for &access in accesses {
            // SAFETY: cells of the same form.
            racing = unsafe { enter(&cells, access, clock, &mut 1) };
        }
        (racing, cells.map(|cell| Cell(cell.into_inner())))
    }

    #[test]
    fn parts_of_a_cell_come_out_as_they_went_in() {
        let cell = Cell::new(Cell::epoch(1023, 0xFF_FFFF), 0x81, true, false, 0xF_FFFF);
        assert_eq!((cell.slot(), cell.time()), (1023, 0xFF_FFFF));
        assert_eq!((cell.mask(), cell.context()), (0x81, 0xF_FFFF));
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
    fn full_cells_give_way() {
        let accesses: Vec<Cell> = (1..6).map(|slot| plain(slot, 9, 1, false)).collect();
        let (_, cells) = run(&accesses, &[0; SLOTS]);
        assert!(cells.contains(&accesses[4]));
    }

    // One test: the reservation is the program's.
    #[test]
    fn the_shadow_is_there_and_can_be_cleared() {
        assert_eq!(reserve(), Ok(()));
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
