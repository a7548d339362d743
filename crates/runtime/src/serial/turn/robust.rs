//! Robust mutexes of a thread that ends in a copy of the program.
//!
//! The kernel passes them on when a thread ends, but knows the owner by the number of its kernel thread, and that is another one in a copy
//! than the one that glibc has written into the mutex. So it is done here, in the kernel's way.

use core::sync::atomic::{AtomicU32, Ordering};

/// How the kernel marks the word of a mutex.
const OWNER_DIED: u32 = 0x4000_0000;
const WAITERS: u32 = 0x8000_0000;
const OWNER: u32 = 0x3FFF_FFFF;
/// No list is longer for the kernel.
const MOST: usize = 2048;

/// Marks the mutexes in a list as those of a dead owner. `head` is where glibc keeps the list that the kernel is told of: the first entry,
/// how far a word is from its entry, and an entry that is being changed.
///
/// # Safety
/// It is the list of a thread with this number that does nothing any more.
pub unsafe fn pass_on(head: usize, owner: u32) {
    // SAFETY: as the caller says: entries lie in mutexes that the thread holds, which are the program's memory.
    unsafe {
        let offset = ((head + 8) as *const isize).read_volatile();
        let mut entry = (head as *const usize).read_volatile();
        for _ in 0..MOST {
            if entry == head || entry == 0 {
                break;
            }
            let place = (entry & !1).wrapping_add_signed(offset);
            let word = &*(place as *const AtomicU32);
            let held = word.load(Ordering::Acquire);
            if held & OWNER == owner {
                word.store(held & WAITERS | OWNER_DIED, Ordering::Release);
            }
            entry = ((entry & !1) as *const usize).read_volatile();
        }
    }
}
