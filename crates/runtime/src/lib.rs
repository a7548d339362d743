//! The library that is linked into the program under test.
//!
//! It implements the functions that `-fsanitize=thread` makes compilers call ([`hooks`]) and
//! stands in for the C library's thread functions ([`intercept`]), and records what it sees
//! ([`record`]): with all threads running free, or one at a time under a scheduler ([`serial`]). Or
//! it looks for races while the program runs ([`watch`]), and records nothing.
//!
//! Rules on every path that a program's thread takes through here: no allocation (memory comes
//! from `mmap`, ahead of need), no lock that a thread can hold while it is descheduled for long,
//! no panic, no standard library, no touching of `errno`. When recording fails, the program goes
//! on and the user is told once.
#![cfg_attr(not(test), no_std)]
#![cfg_attr(test, allow(dead_code))] // Unit tests export nothing, so much is not called.
#![allow(clippy::missing_safety_doc)] // The exported functions' contracts are the C library's.

mod hooks;
mod inputs;
mod intercept;
mod local;
mod memory;
mod message;
mod options;
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "argued once, at the head of the file"
)]
mod process;
mod record;
mod serial;
mod sys;
mod threads;
mod watch;

/// Its presence marks a program as instrumented; its value is the format version that it writes.
#[unsafe(no_mangle)]
pub static __deadheat_runtime: u32 = deadheat_wire::VERSION;

#[cfg(not(test))]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    let place = info.location();
    message::say(format_args!(
        "a bug in deadheat's runtime at {}:{}; the program is stopped",
        place.map_or("?", |place| place.file()),
        place.map_or(0, |place| place.line()),
    ));
    sys::exit_group(101)
}
