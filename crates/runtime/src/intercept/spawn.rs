//! Calls after which another process may have ends of this one's sockets: it is started with all that is open, or is sent them ([`ends`]).
//!
//! `fork` itself is with the process. What the C library does between beginning and end of these calls is its own business.

use core::ffi::{c_char, c_int, c_void};

use super::{ends, real};
use crate::hooks::trampoline;
use crate::local::Inside;

trampoline! {
    "posix_spawn" => posix_spawn;
    "posix_spawnp" => posix_spawnp;
    "system" => system;
    "popen" => popen;
    "wordexp" => wordexp;
}

/// Whether a message carries descriptors.
///
/// # Safety
/// The program's message, as for `sendmsg`.
pub unsafe fn carries_descriptors(message: usize) -> bool {
    let message = message as *const libc::msghdr;
    // SAFETY: as the caller says.
    unsafe {
        let mut part = libc::CMSG_FIRSTHDR(message);
        while let Some(header) = part.as_ref() {
            if header.cmsg_level == libc::SOL_SOCKET && header.cmsg_type == libc::SCM_RIGHTS {
                return true;
            }
            part = libc::CMSG_NXTHDR(message, part);
        }
    }
    false
}

/// A system call by its number: does it start what shares memory, or do in the dark what others are watched for?
pub fn is_uncertain(number: libc::c_long) -> bool {
    matches!(
        number,
        libc::SYS_clone
            | libc::SYS_clone3
            | libc::SYS_sendmsg
            | libc::SYS_sendmmsg
            | libc::SYS_io_uring_setup
    )
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

unsafe extern "C" fn posix_spawn(
    process: usize,
    path: usize,
    actions: usize,
    attributes: usize,
    arguments: usize,
    environment: usize,
) -> c_int {
    ends::letting_out(|| unsafe {
        real::posix_spawn(process, path, actions, attributes, arguments, environment)
    })
}

unsafe extern "C" fn posix_spawnp(
    process: usize,
    file: usize,
    actions: usize,
    attributes: usize,
    arguments: usize,
    environment: usize,
) -> c_int {
    ends::letting_out(|| unsafe {
        real::posix_spawnp(process, file, actions, attributes, arguments, environment)
    })
}

unsafe extern "C" fn system(command: *const c_char) -> c_int {
    ends::letting_out(|| unsafe { real::system(command) })
}

unsafe extern "C" fn popen(command: *const c_char, kind: *const c_char) -> *mut c_void {
    // What is allocated here `pclose` gives back without the turn: neither is seen.
    let _inside = Inside::enter();
    ends::letting_out(|| unsafe { real::popen(command, kind) })
}

unsafe extern "C" fn wordexp(words: *const c_char, place: usize, flags: c_int) -> c_int {
    ends::letting_out(|| unsafe { real::wordexp(words, place, flags) })
}
