//! Memory that stands in for the program's heap while the C library answers a question of ours.
//!
//! Some of its answers take memory for a moment. A thread's first block makes an arena for it, which is work for the kernel that a thread
//! that allocates nothing need not cause, and moves the program's own blocks.

use core::ffi::c_void;

use crate::local::local;

/// How many words are lent.
const WORDS: usize = 128;
/// The alignment of blocks.
const ALIGNMENT: usize = 16;

/// Does something during which the running thread's blocks are spare memory, as long as there is some. None of them may outlive it.
pub fn lent<R>(action: impl FnOnce() -> R) -> R {
    let mut memory = [0u64; WORDS];
    let start = (&raw mut memory as usize).next_multiple_of(ALIGNMENT);
    // SAFETY: the thread's own state.
    unsafe {
        (*local()).spare = [start, &raw const memory as usize + size_of_val(&memory)];
        let answer = action();
        (*local()).spare = [0; 2];
        answer
    }
}

/// A zeroed block; null if none is lent, or it is too large.
#[inline]
pub fn take(size: usize) -> *mut c_void {
    // SAFETY: the thread's own state.
    let [next, end] = unsafe { &mut (*local()).spare };
    if *end == 0 || size > *end - *next {
        return core::ptr::null_mut();
    }
    let block = *next;
    *next = (block + size).next_multiple_of(ALIGNMENT).min(*end);
    block as *mut c_void
}

/// Copies what a spare block holds, or more that is spare, into a block of this size.
///
/// # Safety
/// The first is spare, the second as long as it is said to be and not null.
pub unsafe fn copy(block: *mut c_void, to: *mut c_void, size: usize) {
    // SAFETY: the thread's own state; the spare memory ends there.
    unsafe {
        let known = (*local()).spare[1] - block as usize;
        core::ptr::copy(block.cast::<u8>(), to.cast(), size.min(known));
    }
}

/// Whether there is any.
#[inline]
pub fn is_lent() -> bool {
    // SAFETY: the thread's own state.
    unsafe { (*local()).spare[1] != 0 }
}

/// Whether a block is a spare one, which nobody gives back.
#[inline]
pub fn is_spare(block: *mut c_void) -> bool {
    // SAFETY: the thread's own state.
    let [next, end] = unsafe { (*local()).spare };
    end != 0 && (block as usize) < next && block as usize + WORDS * 8 >= end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_spare_only_while_they_are_lent() {
        assert!(take(16).is_null());
        let first = lent(|| {
            let first = take(40);
            assert!(!first.is_null() && is_spare(first));
            // SAFETY: as long as was asked for.
            unsafe { first.cast::<u8>().write_bytes(7, 40) };
            let mut copied = [0u8; 40];
            // SAFETY: as long as it is.
            unsafe { copy(first, (&raw mut copied).cast(), 40) };
            assert_eq!(copied, [7; 40]);
            assert!(take(WORDS * 8).is_null());
            let other = [0u8; 8];
            assert!(!is_spare((&raw const other).cast_mut().cast()));
            first
        });
        assert!(!is_spare(first));
    }
}
