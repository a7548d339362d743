//! The calls that led to an operation, so that the tool can name the program's own line where code
//! of a library does something: `store` of an atomic, `lock` of a mutex.
//!
//! Calls form a tree: an entry of the board's table is a call site below another entry. A site that
//! is on the way to the root already leads back to its entry, so recursion adds nothing.

use deadheat_wire::explore::{Call, MOST_CALLS, effect};

use super::board::Shared;
use crate::local::local;
use crate::threads::Thread;

/// How many entries are looked at before the table counts as full.
const MOST_TRIES: usize = 64;

/// The number of the calls that the running thread is in; 0 if that is not known.
pub fn led_to(me: *mut Thread, board: Shared) -> u16 {
    // SAFETY: the running thread's own state. Its shadow stack has a sentinel below, with the
    // highest stack pointer there is; what lies between that and `frame` is in use.
    unsafe {
        let local = local();
        if (*local).thread != me {
            return 0;
        }
        let top = (*local).frame.sub(1);
        // Entries are kept as one more than they are: 0 is not known yet.
        let mut known = top;
        while (*known).sp != usize::MAX && (*known).node == 0 {
            known = known.sub(1);
        }
        let mut above = ((*known).node as u32).saturating_sub(1);
        while known != top {
            known = known.add(1);
            let Some(call) = enter(board, (*known).caller as u64, above) else {
                board.board().effects |= effect::CALLS;
                return 0;
            };
            above = call;
            (*known).node = above as usize + 1;
        }
        above as u16
    }
}

/// The entry of a call, which is made if there is none yet; `None` if there is no room.
fn enter(board: Shared, site: u64, above: u32) -> Option<u32> {
    let mut outer = above;
    while outer != 0 {
        let call = board.call(outer as usize);
        if call.site == site {
            return Some(outer);
        }
        outer = call.above;
    }
    let hash = (site ^ u64::from(above) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for number in 0..MOST_TRIES {
        let index = ((hash >> 32) as usize + number) % MOST_CALLS;
        if index == 0 {
            continue;
        }
        let call = board.call(index);
        if call.site == 0 {
            // The site comes last: should the process die, the entry is free or whole.
            call.above = above;
            core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::Release);
            call.site = site;
        }
        if call.site == site && call.above == above {
            return Some(index as u32);
        }
    }
    None
}

const _: () = assert!(size_of::<Call>() == 16);
