//! Robust mutexes of a thread that ends: whoever takes one next is told that its owner died, and
//! that is an order.

use super::lock;
use crate::record::{Mode, mode};
use crate::sys;

/// No list is longer for the kernel.
const MOST: usize = 2048;
/// How far glibc's entry of the list is behind the beginning of its mutex.
const ENTRY: usize = 32;

/// The running thread, whose own kernel thread has this number, ends. Says of every robust mutex
/// that it holds that it leaves it behind.
///
/// # Safety
/// The thread is known, and runs nothing of the program's any more.
pub unsafe fn bequeath(tid: u32) {
    if !matches!(mode(), Mode::Serial | Mode::Parallel | Mode::Watch) {
        return;
    }
    let (mut head, mut bytes) = (0usize, 0usize);
    let places = [&raw mut head as usize, &raw mut bytes as usize];
    let args = [tid as usize, places[0], places[1], 0, 0, 0];
    if sys::call(libc::SYS_get_robust_list, args) != 0 || head == 0 {
        return;
    }
    // SAFETY: the list that glibc keeps for the thread; entries lie in mutexes that it holds, which
    // are the program's memory.
    unsafe {
        let mut entry = (head as *const usize).read_volatile();
        for _ in 0..MOST {
            if entry == head || entry == 0 {
                break;
            }
            lock::bequeathed((entry & !1) - ENTRY, 0);
            entry = ((entry & !1) as *const usize).read_volatile();
        }
    }
}
