//! Entering a plain access with all four cells in one register.
//!
//! What there is to do depends on the data, so branches would be guessed wrong: all cells are read,
//! changed and written back at once. Besides what [`enter`](super::enter) does, the bytes of the new access are
//! taken out of all earlier ones that it stands for: those that are ordered before it and no stronger.
//! Whatever races with such a byte later races with the new access too. So old accesses vanish by
//! themselves, byte by byte, and four cells go a long way.
//!
//! Two threads that write back at the same time may lose what one of them entered, or bring back what
//! the other took out. Both are accesses that happened: a race may be missed, none is invented.

use core::arch::asm;
use core::arch::x86_64::*;

use super::{ATOMIC, CELLS, Cell, Cells, MASK, SLOT_SHIFT, TIME_SHIFT, WRITE, any, is_ordered};
use crate::watch::clock::Clock;

/// All bits of one of the cells, and none of the others.
static LANES: [[u64; CELLS]; CELLS] = [[!0, 0, 0, 0], [0, !0, 0, 0], [0, 0, !0, 0], [0, 0, 0, !0]];

#[target_feature(enable = "avx2")]
#[inline]
fn lane(at: usize) -> __m256i {
    // SAFETY: as large as that; no alignment is asked for.
    unsafe { _mm256_loadu_si256(LANES[at % CELLS].as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn all(bits: u64) -> __m256i {
    _mm256_set1_epi64x(bits as i64)
}

#[target_feature(enable = "avx2")]
#[inline]
fn are_zero(lanes: __m256i) -> __m256i {
    _mm256_cmpeq_epi64(lanes, _mm256_setzero_si256())
}

/// Whether one of this very epoch says as much as a plain access already. The context does not matter.
///
/// # Safety
/// As for `enter`; the processor has AVX2.
#[target_feature(enable = "avx2")]
#[inline]
pub unsafe fn is_said(cells: *const Cells, new: Cell) -> bool {
    // SAFETY: as the caller says.
    let old = unsafe { load(cells) };
    let mine = all(new.0);
    let lacking = _mm256_and_si256(_mm256_andnot_si256(old, mine), all(MASK | WRITE));
    let weaker = _mm256_or_si256(lacking, _mm256_and_si256(old, all(ATOMIC)));
    let earlier = _mm256_srli_epi64::<{ TIME_SHIFT as i32 }>(_mm256_xor_si256(old, mine));
    let said = are_zero(_mm256_or_si256(weaker, earlier));
    _mm256_testz_si256(said, said) == 0
}

/// Enters a plain access that is not said already. False: it races with an earlier one, and was not
/// entered; [`enter`](super::enter) finds out with which.
///
/// # Safety
/// As for `enter`; the processor has AVX2 and BMI1.
#[target_feature(enable = "avx2,bmi1")]
#[inline]
pub unsafe fn enter_at_once<const IS_WRITE: bool>(
    cells: *const Cells,
    new: Cell,
    clock: &Clock,
    luck: &mut u32,
) -> bool {
    // SAFETY: as the caller says.
    let old = unsafe { load(cells) };
    let which = |lanes: __m256i| _mm256_movemask_pd(_mm256_castsi256_pd(lanes)) as u32;
    let mine = all(new.0);
    let differs = _mm256_xor_si256(old, mine);

    // Those of other threads to the same bytes: are they ordered before this one?
    let own = are_zero(_mm256_srli_epi64::<{ SLOT_SHIFT as i32 }>(differs));
    let bytes = _mm256_and_si256(mine, all(MASK));
    let apart = are_zero(_mm256_and_si256(old, bytes));
    let mut others = which(_mm256_or_si256(own, apart)) ^ 0xF;
    // A read stands for reads only.
    let mut covered = if IS_WRITE {
        bytes
    } else {
        _mm256_and_si256(bytes, are_zero(_mm256_and_si256(old, all(WRITE))))
    };
    while others != 0 {
        let at = others.trailing_zeros() as usize % CELLS;
        // Read once more: quicker than out of the register. It may have changed meanwhile, as if the
        // other had been earlier.
        // SAFETY: as the caller says.
        let other = Cell(unsafe { (*cells).0[at].load(core::sync::atomic::Ordering::Relaxed) });
        if !is_ordered(other, clock) {
            if IS_WRITE || other.writes() {
                return false;
            }
            covered = _mm256_andnot_si256(lane(at), covered);
        }
        others &= others - 1;
    }

    // What it stands for is taken out; a cell without bytes is free.
    let left = _mm256_andnot_si256(covered, old);
    let free = are_zero(_mm256_and_si256(left, all(MASK)));
    let left = _mm256_andnot_si256(free, left);
    // The same code's go together. (Found without a detour: the next byte of a loop waits for it.)
    let same = are_zero(_mm256_andnot_si256(all(MASK), differs));
    let place = if which(same) != 0 {
        same
    } else {
        match which(free) {
            0 => {
                // SAFETY: as the caller says.
                let place = unsafe { &(*cells).0[any(luck)] };
                place.store(new.0, core::sync::atomic::Ordering::Relaxed);
                return true;
            }
            free => lane(free.trailing_zeros() as usize),
        }
    };
    let entered = _mm256_and_si256(mine, place);
    // SAFETY: as the caller says.
    unsafe { store(cells, _mm256_or_si256(left, entered)) };
    true
}

/// Reads all cells. The instruction itself, because to the compiler this is no atomic access; to the
/// processor it is one for every cell, as it is aligned.
///
/// # Safety
/// `cells` are in the shadow; the processor has AVX.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load(cells: *const Cells) -> __m256i {
    let read;
    // SAFETY: as the caller says; the type gives the alignment.
    unsafe {
        asm!("vmovdqa {0}, [{1}]", out(ymm_reg) read, in(reg) cells,
            options(nostack, preserves_flags, readonly));
    }
    read
}

/// Writes all cells, in the same way.
///
/// # Safety
/// As for `load`.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn store(cells: *const Cells, written: __m256i) {
    // SAFETY: as for `load`.
    unsafe {
        asm!("vmovdqa [{1}], {0}", in(ymm_reg) written, in(reg) cells,
            options(nostack, preserves_flags));
    }
}

/// Whether the processor can do what [`enter_at_once`] needs, and the system saves what it uses.
pub fn can_enter_at_once() -> bool {
    const OSXSAVE_AND_AVX: u32 = 1 << 27 | 1 << 28;
    const BMI1_AND_AVX2: u32 = 1 << 3 | 1 << 5;
    const SSE_AND_AVX_STATE: u32 = 0b110;
    if __cpuid(1).ecx & OSXSAVE_AND_AVX != OSXSAVE_AND_AVX {
        return false;
    }
    let saved: u32;
    // SAFETY: the system has enabled the instruction, as the bit just asked for says; it only reads.
    unsafe {
        asm!("xgetbv", in("ecx") 0, out("eax") saved, out("edx") _,
            options(nomem, nostack, preserves_flags));
    }
    saved & SSE_AND_AVX_STATE == SSE_AND_AVX_STATE
        && __cpuid_count(7, 0).ebx & BMI1_AND_AVX2 == BMI1_AND_AVX2
}
