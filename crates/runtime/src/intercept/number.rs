//! Numbers of descriptors: opening and closing them.
//!
//! The kernel gives out a number only after whoever had it has given it back, so giving back sends and
//! getting receives, on a channel that is the number's own. Whoever reads from a pipe or a socket notices that its other end is
//! closed: that is a message, too.
//!
//! Folders, and what the C library opens for itself, are not seen.

use core::ffi::{c_int, c_void};

use deadheat_wire::Op;

use super::channel::{self, Behind};
use super::fifo::{self, Opening};
use super::{ends, file_change, file_lock, real, stream};
use crate::hooks::{caller, trampoline};
use crate::record::event;
use crate::serial;
use crate::serial::explore::server;

trampoline! {
    "close" => close;
    "close_range" => close_range;
    "shutdown" => shutdown;
    "open" => open;
    "open64" => open64;
    "openat" => openat;
    "openat64" => openat64;
    "creat" => creat;
    "fdopen" => fdopen;
    "fopen" => fopen;
    "fopen64" => fopen64;
    "socket" => socket;
    "socketpair" => socketpair;
    "pipe" => pipe;
    "pipe2" => pipe2;
    "dup" => dup;
    "dup2" => dup2;
    "dup3" => dup3;
    "fcntl" => fcntl;
    "fcntl64" => fcntl64;
    "eventfd" => eventfd;
    "timerfd_create" => timerfd_create;
    "memfd_create" => memfd_create;
    "epoll_create" => epoll_create;
    "epoll_create1" => epoll_create1;
}

/// The running thread was given a number, if it is one.
pub fn got(fd: c_int, pc: usize) {
    if fd >= 0 {
        event::sync(Op::Receive, channel::of_number(fd), pc);
    }
}

/// A call that answers a number.
pub fn getting(pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    serial::gate(Op::Receive, 0, 0, pc);
    let fd = real();
    got(fd, pc);
    fd
}

/// A call that opens a file, and maybe makes it.
fn opening(folder: c_int, path: usize, flags: c_int, pc: usize, real: impl Fn() -> c_int) -> c_int {
    let fifo = Opening::begin(folder, path, flags, pc);
    let fd = getting(pc, || {
        file_change::changing(pc, || Opening::call(fifo, pc, real))
    });
    fifo.inspect(|fifo| fifo.end(pc));
    fd
}

/// A call that fills in two numbers.
fn getting_two(pc: usize, numbers: *const c_int, real: impl FnOnce() -> c_int) -> c_int {
    serial::gate(Op::Receive, 0, 0, pc);
    let result = real();
    if result == 0 {
        // SAFETY: the call has succeeded.
        for fd in unsafe { both(numbers) } {
            got(fd, pc);
        }
    }
    result
}

/// # Safety
/// There are two numbers.
unsafe fn both(numbers: *const c_int) -> [c_int; 2] {
    // SAFETY: as the caller says.
    unsafe { [numbers.read(), numbers.add(1).read()] }
}

/// A call that makes a pipe.
fn making_pipe(pc: usize, numbers: *const c_int, real: impl FnOnce() -> c_int) -> c_int {
    server::has_in_common();
    getting_two(pc, numbers, || {
        let before = ends::quiet();
        let result = real();
        if result == 0 {
            // SAFETY: the call has succeeded.
            ends::made_pipe(unsafe { numbers.read() }, before);
        }
        result
    })
}

/// A call that opens a stream.
fn getting_stream(pc: usize, real: impl FnOnce() -> *mut c_void) -> *mut c_void {
    serial::gate(Op::Receive, 0, 0, pc);
    let stream = file_change::changing(pc, real);
    got(number_of(stream), pc);
    stream
}

/// A call that opens a file's stream. That of a FIFO is made of a descriptor.
fn opening_stream(
    path: usize,
    mode: usize,
    pc: usize,
    real: impl FnOnce() -> *mut c_void,
) -> *mut c_void {
    let flags = unsafe { fifo::flags_of_mode(mode) };
    let Some(fifo) = Opening::begin(libc::AT_FDCWD, path, flags, pc) else {
        return getting_stream(pc, real);
    };
    // What the C library does beside opening it has events of its own, and needs the turn.
    let stream = getting_stream(pc, || {
        let open = || unsafe { real::open(path, flags, 0) };
        match Opening::call(Some(fifo), pc, open) {
            fd @ 0.. => unsafe { real::fdopen(fd, mode) },
            _ => core::ptr::null_mut(),
        }
    });
    fifo.end(pc);
    stream
}

fn number_of(stream: *mut c_void) -> c_int {
    match stream.is_null() {
        true => -1,
        // SAFETY: a stream of the program.
        false => unsafe { libc::fileno(stream.cast()) },
    }
}

/// A call that gives back a number.
pub fn giving_back(fd: c_int, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    let Some(behind) = Behind::number(fd) else {
        return real();
    };
    serial::gate(Op::Send, channel::of_number(fd), 0, pc);
    stream::descriptor_changes();
    file_lock::closing(fd, behind, pc);
    channel::send(channel::of_number(fd), pc);
    let result = ending(behind, pc, || {
        ends::closed(behind.identity());
        match behind.is_stored() {
            true => file_change::changing(pc, real),
            false => real(),
        }
    });
    file_lock::closed(behind);
    stream::descriptor_changes();
    result
}

/// A call after which the other end of a pipe or socket may find nothing more to read. What is closed may be something else when the program is run
/// again (its output, say), and the events must not: there is always one, and one more only for ends that the program has made itself.
fn ending(behind: Behind, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    if !behind.has_other_end() {
        channel::send(channel::NOBODY, pc);
        return real();
    }
    channel::send_from(Some(behind), pc);
    let result = real();
    channel::wake(channel::channel_of(behind));
    result
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

unsafe extern "C" fn close(fd: c_int) -> c_int {
    giving_back(fd, caller(), || unsafe { real::close(fd) })
}

/// Gives back all that are in use, one after the other as far as others can tell.
unsafe extern "C" fn close_range(first: u32, last: u32, flags: u32) -> c_int {
    const CLOSE_RANGE_CLOEXEC: u32 = 4;
    const MOST: u32 = 1 << 16;
    let pc = caller();
    if flags & CLOSE_RANGE_CLOEXEC == 0 {
        for fd in first..=last.min(first.saturating_add(MOST)) {
            giving_back(fd as c_int, pc, || 0);
        }
    }
    unsafe { real::close_range(first, last, flags) }
}

unsafe extern "C" fn shutdown(fd: c_int, how: c_int) -> c_int {
    let (pc, real) = (caller(), || unsafe { real::shutdown(fd, how) });
    serial::gate(Op::Send, 0, 0, pc);
    match Behind::number(fd) {
        Some(behind) => ending(behind, pc, real),
        None => real(),
    }
}

// Those with an optional last argument are always handed one: what is not asked for is not looked at.

unsafe extern "C" fn open(path: usize, flags: c_int, mode: u32) -> c_int {
    opening(libc::AT_FDCWD, path, flags, caller(), || unsafe {
        real::open(path, flags, mode)
    })
}

unsafe extern "C" fn open64(path: usize, flags: c_int, mode: u32) -> c_int {
    opening(libc::AT_FDCWD, path, flags, caller(), || unsafe {
        real::open64(path, flags, mode)
    })
}

unsafe extern "C" fn openat(folder: c_int, path: usize, flags: c_int, mode: u32) -> c_int {
    opening(folder, path, flags, caller(), || unsafe {
        real::openat(folder, path, flags, mode)
    })
}

unsafe extern "C" fn openat64(folder: c_int, path: usize, flags: c_int, mode: u32) -> c_int {
    opening(folder, path, flags, caller(), || unsafe {
        real::openat64(folder, path, flags, mode)
    })
}

unsafe extern "C" fn creat(path: usize, mode: u32) -> c_int {
    opening(libc::AT_FDCWD, path, libc::O_WRONLY, caller(), || unsafe {
        real::creat(path, mode)
    })
}

/// A stream writes when it likes: what it was told to is known, when it does is not.
unsafe extern "C" fn fdopen(fd: c_int, mode: usize) -> *mut c_void {
    ends::forget(fd);
    unsafe { real::fdopen(fd, mode) }
}

unsafe extern "C" fn fopen(path: usize, mode: usize) -> *mut c_void {
    let pc = caller();
    opening_stream(path, mode, pc, || unsafe { real::fopen(path, mode) })
}

unsafe extern "C" fn fopen64(path: usize, mode: usize) -> *mut c_void {
    let pc = caller();
    opening_stream(path, mode, pc, || unsafe { real::fopen64(path, mode) })
}

unsafe extern "C" fn socket(family: c_int, kind: c_int, protocol: c_int) -> c_int {
    getting(caller(), || {
        let before = ends::quiet();
        let fd = unsafe { real::socket(family, kind, protocol) };
        ends::made(fd, before);
        fd
    })
}

unsafe extern "C" fn socketpair(
    family: c_int,
    kind: c_int,
    protocol: c_int,
    numbers: *mut c_int,
) -> c_int {
    let pc = caller();
    server::has_in_common();
    getting_two(pc, numbers, || {
        let before = ends::quiet();
        let result = unsafe { real::socketpair(family, kind, protocol, numbers) };
        if result == 0 {
            let [one, other] = unsafe { both(numbers) };
            ends::made(one, before);
            ends::made(other, before);
            ends::connected(one, other);
        }
        result
    })
}

unsafe extern "C" fn pipe(numbers: *mut c_int) -> c_int {
    making_pipe(caller(), numbers, || unsafe { real::pipe(numbers) })
}

unsafe extern "C" fn pipe2(numbers: *mut c_int, flags: c_int) -> c_int {
    making_pipe(caller(), numbers, || unsafe { real::pipe2(numbers, flags) })
}

unsafe extern "C" fn dup(fd: c_int) -> c_int {
    getting(caller(), || unsafe { real::dup(fd) })
}

/// Gives back the new number first, if it is in use.
unsafe extern "C" fn dup2(fd: c_int, new: c_int) -> c_int {
    let pc = caller();
    let result = giving_back(new, pc, || unsafe { real::dup2(fd, new) });
    got(result, pc);
    result
}

/// As `dup2`.
unsafe extern "C" fn dup3(fd: c_int, new: c_int, flags: c_int) -> c_int {
    let pc = caller();
    let result = giving_back(new, pc, || unsafe { real::dup3(fd, new, flags) });
    got(result, pc);
    result
}

unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    let pc = caller();
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => {
            getting(pc, || unsafe { real::fcntl(fd, command, argument) })
        }
        _ => unsafe {
            file_lock::through_fcntl(fd, command, argument, pc, |command| {
                real::fcntl(fd, command, argument)
            })
        },
    }
}

unsafe extern "C" fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int {
    let pc = caller();
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => {
            getting(pc, || unsafe { real::fcntl64(fd, command, argument) })
        }
        _ => unsafe {
            file_lock::through_fcntl(fd, command, argument, pc, |command| {
                real::fcntl64(fd, command, argument)
            })
        },
    }
}

unsafe extern "C" fn eventfd(value: u32, flags: c_int) -> c_int {
    server::has_in_common();
    getting(caller(), || unsafe { real::eventfd(value, flags) })
}

unsafe extern "C" fn timerfd_create(clock: c_int, flags: c_int) -> c_int {
    getting(caller(), || unsafe { real::timerfd_create(clock, flags) })
}

unsafe extern "C" fn memfd_create(name: usize, flags: u32) -> c_int {
    getting(caller(), || unsafe { real::memfd_create(name, flags) })
}

unsafe extern "C" fn epoll_create(size: c_int) -> c_int {
    getting(caller(), || unsafe { real::epoll_create(size) })
}

unsafe extern "C" fn epoll_create1(flags: c_int) -> c_int {
    getting(caller(), || unsafe { real::epoll_create1(flags) })
}
