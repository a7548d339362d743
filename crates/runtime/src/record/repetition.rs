//! Loops lay down the same pairs again and again: all but the first time around is one word.
//!
//! Whether a pair starts another time around is asked of one place only: the last pair whose later
//! access was by the same code. If the same word stands there, after the same two, and nothing but
//! full pairs since, a REPEAT record takes its place, and each pair that goes on in the circle is
//! counted there. The two are asked for because most words that stand there once more by chance do
//! not go on: a record that counts to one or two saves nothing, and readers are slower with it.

use core::sync::atomic::{Ordering, compiler_fence};

use deadheat_wire::word;

/// What the last words of a buffer repeat.
#[repr(C)]
pub struct Repetition {
    /// Behind the last full pair or REPEAT record.
    behind: *mut u64,
    /// From here up to `behind` there are full pairs only.
    pairs: *mut u64,
    /// The pair with which the REPEAT record before `behind` goes on; null if that is no such
    /// record, or one that does not go on.
    next: *mut u64,
    /// The first pair of its circle, which ends where the record stands.
    first: *mut u64,
}

impl Repetition {
    /// At the start of a block.
    pub const fn none() -> Self {
        Repetition {
            behind: core::ptr::null_mut(),
            pairs: core::ptr::null_mut(),
            next: core::ptr::null_mut(),
            first: core::ptr::null_mut(),
        }
    }

    /// Lays down a full pair whose lower half stands at `at`, the last word before the cursor
    /// `cur`. `last` is the last full pair of the same code in this block, if there is any.
    ///
    /// # Safety
    /// The words from the block's start up to `cur` are there; `last` was null at the start of the
    /// block and has been set here alone since.
    #[inline(always)]
    pub unsafe fn lay(&mut self, pair: u64, at: *mut u64, cur: &mut *mut u64, last: &mut *mut u64) {
        // SAFETY: `next` is null or one of the words from `first` up to the record before `at`.
        // `last`, if it and the two words before it are not before `pairs`, and these three, are
        // full pairs before `at`.
        unsafe {
            if self.behind != at {
                self.pairs = at;
                self.next = core::ptr::null_mut();
            } else if !self.next.is_null() {
                if *self.next == pair {
                    return self.count(at, cur);
                }
                self.next = core::ptr::null_mut();
            }
            self.behind = *cur;
            let before = core::mem::replace(last, at);
            // One question instead of three: the answer is mostly no, so it is foreseen.
            let differs =
                || (*before ^ pair) | (*before.sub(1) ^ *at.sub(1)) | (*before.sub(2) ^ *at.sub(2));
            if before < self.pairs.wrapping_add(2) || differs() != 0 {
                return at.write(pair);
            }
            at.write(word::repeat(at.offset_from(before) as u64, 1));
            self.first = before;
            self.next = before;
            self.advance(at);
            self.pairs = *cur;
        }
    }

    /// Counts a pair in the record before `at` and takes its lower half back.
    ///
    /// Whoever looks from outside finds the pair's lower half, or nothing of it, or all of it in the
    /// count: never both the half and the count, which would be an access that never was.
    ///
    /// # Safety
    /// The record is there and goes on; `at` is the last word before `cur`.
    #[inline(always)]
    unsafe fn count(&mut self, at: *mut u64, cur: &mut *mut u64) {
        // SAFETY: as the caller says.
        unsafe {
            let record = at.sub(1);
            *cur = at;
            compiler_fence(Ordering::Release);
            at.write(0);
            compiler_fence(Ordering::Release);
            *record += 1;
            if *record & word::MAX_REPEAT == word::MAX_REPEAT {
                self.next = core::ptr::null_mut();
            } else {
                self.advance(record);
            }
        }
    }

    /// Goes to the next pair of the circle that ends at `record`.
    #[inline(always)]
    fn advance(&mut self, record: *mut u64) {
        let next = self.next.wrapping_add(1);
        self.next = if next == record { self.first } else { next };
    }
}
