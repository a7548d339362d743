//! Connections: made, and accepted.
//!
//! In a serial recording a connection within the machine is made at once, by a thread that keeps the turn: else it would be up to the kernel when the thread is
//! back. Only what has to wait is done without the turn.

use core::ffi::c_int;

use deadheat_wire::Op;

use super::channel::{self, Behind, channel};
use super::descriptor::{is_ready, on_descriptor};
use super::{ends, number, real};
use crate::hooks::{caller, trampoline};
use crate::record::event;
use crate::record::{Mode, mode};
use crate::{serial, sys, threads};

trampoline! {
    "accept" => accept;
    "accept4" => accept4;
    "connect" => connect;
}

/// How a descriptor was opened.
pub fn flags(fd: c_int) -> c_int {
    let args = [fd as usize, libc::F_GETFL as usize, 0, 0, 0, 0];
    sys::call(libc::SYS_fcntl, args) as c_int
}

fn set_flags(fd: c_int, flags: c_int) {
    let args = [fd as usize, libc::F_SETFL as usize, flags as usize, 0, 0, 0];
    sys::call(libc::SYS_fcntl, args);
}

/// Connects; tried without waiting first.
fn connecting(fd: c_int, real: impl Fn() -> c_int) -> c_int {
    if !threads::visible() || mode() != Mode::Serial {
        return real();
    }
    serial::point();
    let flags = flags(fd);
    if flags < 0 || flags & libc::O_NONBLOCK != 0 {
        return real();
    }
    set_flags(fd, flags | libc::O_NONBLOCK);
    let result = real();
    set_flags(fd, flags);
    // SAFETY: the C library's own address of the thread's error number.
    let error = unsafe { *libc::__errno_location() };
    match (result, error) {
        // Under way, and there already: the second call says so.
        (-1, libc::EINPROGRESS) if is_ready(fd, libc::POLLOUT) => real(),
        (-1, libc::EINPROGRESS | libc::EAGAIN) => serial::away_for_outside(real),
        _ => result,
    }
}

/// A call that takes in a connection, with a number of its own.
fn accepting(fd: c_int, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    serial::gate(Op::Receive, 0, 0, pc);
    let (new, from) = on_descriptor(fd, libc::POLLIN, pc, || {
        let before = ends::quiet();
        let new = real();
        (new, ends::accepted(new, before))
    });
    if new >= 0 {
        event::sync(Op::Receive, from.unwrap_or_else(|| channel(fd)), pc);
        channel::wake(channel(fd));
        number::got(new, pc);
    } else {
        channel::found_nothing(channel(fd), pc);
    }
    new
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

unsafe extern "C" fn accept(fd: c_int, address: usize, size: usize) -> c_int {
    accepting(fd, caller(), || unsafe { real::accept(fd, address, size) })
}

unsafe extern "C" fn accept4(fd: c_int, address: usize, size: usize, flags: c_int) -> c_int {
    accepting(fd, caller(), || unsafe {
        real::accept4(fd, address, size, flags)
    })
}

unsafe extern "C" fn connect(fd: c_int, address: usize, size: u32) -> c_int {
    let pc = caller();
    ends::connecting(fd);
    channel::send_from(Behind::number(fd), pc);
    let result = connecting(fd, || unsafe { real::connect(fd, address, size) });
    channel::wake(channel(fd));
    result
}
