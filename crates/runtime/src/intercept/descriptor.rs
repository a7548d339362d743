//! Calls that may block in the kernel: files, pipes, sockets.
//!
//! What arrives through a descriptor was sent before: a write sends on the [`channel`] behind it
//! and a read receives.
//!
//! In a serial recording a call that would block gives up the turn for as long as it takes.

use core::ffi::c_int;

use deadheat_wire::Op;
use deadheat_wire::inputs::kind;

use super::channel::{self, Behind, channel};
use super::room::Room;
use super::{connect, ends, file_change, real, signal, spawn, thread};
use crate::hooks::{caller, trampoline};
use crate::inputs;
use crate::record::event::{self, Sync};
use crate::record::{Mode, mode};
use crate::serial::endings::Kind;
use crate::serial::{Limit, Waited};
use crate::{serial, sys, threads};

trampoline! {
    "read" => read;
    "write" => write;
    "readv" => readv;
    "writev" => writev;
    "recv" => recv;
    "send" => send;
    "recvfrom" => recvfrom;
    "sendto" => sendto;
    "recvmsg" => recvmsg;
    "sendmsg" => sendmsg;
    "eventfd_read" => eventfd_read;
    "eventfd_write" => eventfd_write;
    "timerfd_settime" => timerfd_settime;
}

/// Whether the call would return at once.
pub fn is_ready(fd: c_int, events: i16) -> bool {
    let mut entry = libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    sys::call(libc::SYS_poll, [&raw mut entry as usize, 1, 0, 0, 0, 0]) != 0
}

/// Makes a call that may block: as it is, or without the turn.
pub fn blocking<R>(real: impl FnOnce() -> R) -> R {
    if threads::visible() && mode() == Mode::Serial {
        serial::away(real)
    } else {
        real()
    }
}

/// What a call answers that a signal handler has ended.
pub trait Interrupted {
    /// The answer; `errno` says why.
    const ANSWER: Self;
}

impl Interrupted for isize {
    const ANSWER: isize = -1;
}

impl Interrupted for c_int {
    const ANSWER: c_int = -1;
}

impl Interrupted for usize {
    const ANSWER: usize = 0;
}

impl Interrupted for (c_int, Option<usize>) {
    const ANSWER: (c_int, Option<usize>) = (-1, None);
}

impl Interrupted for () {
    const ANSWER: () = ();
}

/// Whether nobody but threads of this process can end a wait on a descriptor: it is a pipe with all
/// of its ends here.
fn is_own_pipe(fd: c_int) -> bool {
    let Some(behind) = Behind::number(fd) else {
        return false;
    };
    let is_pipe = behind.has_other_end() && !behind.is_socket();
    is_pipe
        && connect::flags(fd) & libc::O_NONBLOCK == 0
        && ends::receives_from(behind.identity()).is_some()
}

/// A call on a descriptor: which, and whether it waits.
#[derive(Clone, Copy)]
pub struct On {
    fd: c_int,
    /// Whether the call itself says that it does not wait.
    never_waits: bool,
}

impl From<c_int> for On {
    fn from(fd: c_int) -> Self {
        On {
            fd,
            never_waits: false,
        }
    }
}

impl On {
    /// A call on a socket, with its flags.
    fn flagged(fd: c_int, flags: c_int) -> Self {
        On {
            fd,
            never_waits: flags & libc::MSG_DONTWAIT != 0,
        }
    }

    fn waits(self) -> bool {
        !self.never_waits && connect::flags(self.fd) & libc::O_NONBLOCK == 0
    }
}

/// When a wait ends, however often it is looked in between.
#[derive(Clone, Copy)]
struct End(Option<u64>);

impl End {
    fn of(limit: Limit) -> Self {
        match limit {
            Limit::None => End(None),
            Limit::After(time) => End(Some(serial::time().saturating_add(time))),
        }
    }

    fn left(self) -> Limit {
        match self.0 {
            None => Limit::None,
            Some(end) => Limit::After(end.saturating_sub(serial::time())),
        }
    }
}

/// How long a call that never waits is put off as long as others can run, in nanoseconds of the program's time: one of them
/// may be about to send.
const A_WHILE: u64 = 100_000;

/// Makes a call on a descriptor; only if it would block is the turn given up.
pub fn on_descriptor<R: Interrupted>(
    on: impl Into<On>,
    events: i16,
    pc: usize,
    real: impl FnOnce() -> R,
) -> R {
    let on = on.into();
    let fd = on.fd;
    if !threads::visible() || mode() != Mode::Serial {
        return real();
    }
    // Who sends has said so before, and nobody comes between that and the data.
    if events & libc::POLLIN != 0 {
        serial::point_before_others(Op::Receive, channel(fd), pc);
    }
    if is_ready(fd, events) {
        return real();
    }
    if !on.waits() {
        put_off(fd, events, pc);
        return real();
    }
    let end = End::of(time_limit(fd, events));
    // As long as others can run, one of them may be the other end.
    while !is_ready(fd, events) {
        let is_own = is_own_pipe(fd);
        if is_own && !serial::is_searched() {
            // A schedule that ends in this wait ends here.
            serial::gate(Op::Take, channel(fd), 0, pc);
        }
        let (kind, unended) = match is_own {
            true => (
                Kind::OwnDescriptor,
                Some(Sync::new(Op::TakeRequest, channel(fd), pc)),
            ),
            false => (Kind::Descriptor, None),
        };
        match serial::wait_to_retry(channel(fd), kind, end.left(), unended) {
            // The kernel waits for as long once more, for the world outside.
            Waited::TimedOut if !serial::is_enforced() => return serial::away_for_outside(real),
            Waited::TimedOut => {
                failed(libc::EAGAIN);
                return R::ANSWER;
            }
            Waited::Idle if !is_own => return serial::away_for_outside(real),
            Waited::Interrupted => {
                // SAFETY: the C library's own address of the thread's error number.
                unsafe { *libc::__errno_location() = libc::EINTR };
                return R::ANSWER;
            }
            Waited::Cancelled => thread::act_on_cancellation(pc),
            _ => {}
        }
    }
    real()
}

/// For how long the kernel lets a call on a socket wait.
fn time_limit(fd: c_int, events: i16) -> Limit {
    let option = match events & libc::POLLIN {
        0 => libc::SO_SNDTIMEO,
        _ => libc::SO_RCVTIMEO,
    };
    let mut time = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    let mut size = size_of::<libc::timeval>();
    let (place, size) = (&raw mut time as usize, &raw mut size as usize);
    let socket = libc::SOL_SOCKET as usize;
    let args = [fd as usize, socket, option as usize, place, size, 0];
    let answer = sys::call(libc::SYS_getsockopt, args);
    let micros = time.tv_sec.max(0) as u64 * 1_000_000 + time.tv_usec.max(0) as u64;
    match answer == 0 && micros > 0 {
        true => Limit::After(micros * 1000),
        false => Limit::None,
    }
}

/// Before a call that never waits, and that would fail now: others go first, for a while. (Whoever asks over and over would keep them from
/// what is asked for.) A search takes the failure for what it is.
pub fn put_off(fd: c_int, events: i16, pc: usize) {
    if serial::is_searched() || serial::is_enforced() {
        return;
    }
    let end = End::of(Limit::After(A_WHILE));
    while !is_ready(fd, events) {
        match serial::wait_to_retry(channel(fd), Kind::Descriptor, end.left(), None) {
            Waited::Woken => {}
            Waited::Cancelled => thread::act_on_cancellation(pc),
            _ => return,
        }
    }
}

/// Tries something until it is done, in a serial recording: `attempt` never blocks and answers `None`
/// if it would. `block` is the whole call: only the world outside can bring it about. It is told
/// whether the time is up in an enforced schedule, which has time pass as it likes; otherwise the kernel
/// waits for that, too. `restarts`: whether handlers that are installed so let it begin anew.
pub fn trying<R: Interrupted>(
    channel: usize,
    limit: Limit,
    restarts: bool,
    attempt: impl Fn() -> Option<R>,
    block: impl FnOnce(bool) -> R,
) -> R {
    let end = End::of(limit);
    loop {
        if let Some(result) = attempt() {
            return result;
        }
        match serial::wait_to_retry(channel, Kind::Descriptor, end.left(), None) {
            Waited::TimedOut if serial::is_enforced() => return block(true),
            Waited::Woken => {}
            Waited::Restarted if restarts => {}
            Waited::Interrupted | Waited::Restarted => {
                failed(libc::EINTR);
                return R::ANSWER;
            }
            _ => return serial::away_for_outside(|| block(false)),
        }
    }
}

/// The C library's way to answer an error number.
pub fn failed(error: c_int) -> c_int {
    unsafe { *libc::__errno_location() = error };
    -1
}

/// A call that takes in data; `written` are the bytes it may fill.
pub fn receiving(
    on: impl Into<On>,
    pc: usize,
    written: [usize; 2],
    real: impl FnOnce() -> isize,
) -> isize {
    let on = on.into();
    let fd = on.fd;
    let room = Room::of_descriptor(fd);
    if let Some(room) = room {
        serial::gate(Op::Send, room.channel(), 0, pc);
        room.leave(channel::received_at(fd), pc);
    }
    serial::gate(Op::Receive, channel(fd), 0, pc);
    let result = on_descriptor(on, libc::POLLIN, pc, real);
    if result >= 0 {
        event::sync(Op::Receive, channel::received_at(fd), pc);
        event::range(true, written[0], written[1].min(result as usize), pc);
        room.inspect(|room| room.leave(channel::received_at(fd), pc));
        // Whoever waits to write may have room now.
        channel::wake(channel(fd));
    } else {
        serial::looks_outside();
        channel::found_nothing(channel::received_at(fd), pc);
    }
    result
}

/// A call that sends data; `read` are the bytes that it takes.
pub fn sending(
    on: impl Into<On>,
    pc: usize,
    read: [usize; 2],
    real: impl FnOnce() -> isize,
) -> isize {
    event::range(false, read[0], read[1], pc);
    sending_bytes(on, pc, read[1], real)
}

/// The same of so many bytes, wherever they are.
pub fn sending_bytes(
    on: impl Into<On>,
    pc: usize,
    bytes: usize,
    real: impl FnOnce() -> isize,
) -> isize {
    let on = on.into();
    let fd = on.fd;
    let behind = Behind::number(fd);
    let taken = Room::behind(fd, behind).map(|room| room.take(bytes));
    taken.inspect(|taken| taken.find(pc));
    channel::send_from(behind, pc);
    let write = || on_descriptor(on, libc::POLLOUT, pc, real);
    let result = match behind.is_some_and(|behind| behind.is_stored()) {
        true => file_change::changing(pc, write),
        false => write(),
    };
    if let Some(taken) = taken {
        if result < 0 {
            // SAFETY: the C library's own address of the thread's error number.
            taken.failed(unsafe { *libc::__errno_location() });
            channel::found_nothing(taken.channel(), pc);
        }
        taken.find(pc);
    }
    channel::wake(channel(fd));
    result
}

/// How many bytes a message has.
///
/// # Safety
/// A message of the program.
pub unsafe fn bytes_of_message(message: usize) -> usize {
    // SAFETY: as the caller says.
    unsafe {
        let message = (message as *const libc::msghdr).read_unaligned();
        bytes_of(message.msg_iov as usize, message.msg_iovlen)
    }
}

/// How many bytes there are in pieces.
///
/// # Safety
/// So many pieces of the program.
pub unsafe fn bytes_of(pieces: usize, count: usize) -> usize {
    // SAFETY: as the caller says.
    let piece = |index| unsafe { (pieces as *const libc::iovec).add(index).read_unaligned() };
    let bytes = (0..count).map(|index| piece(index).iov_len);
    bytes.fold(0, usize::saturating_add)
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

pub unsafe extern "C" fn read(fd: c_int, buffer: usize, length: usize) -> isize {
    let pc = caller();
    if fd != libc::STDIN_FILENO {
        signal::before_read(fd);
        let seen = match signal::is_signal_file(fd) {
            true => [0, 0],
            false => [buffer, length],
        };
        let result = receiving(fd, pc, seen, || unsafe { real::read(fd, buffer, length) });
        signal::after_read(fd, buffer, result, pc);
        return result;
    }
    let result = match inputs::expected(kind::READ) {
        Some(then) if then > 0 => {
            let length = length.min(then as usize);
            receiving(fd, pc, [buffer, length], || unsafe {
                read_all(fd, buffer, length)
            })
        }
        _ => receiving(fd, pc, [buffer, length], || unsafe {
            real::read(fd, buffer, length)
        }),
    };
    if result >= 0 {
        inputs::keep(kind::READ, result as u64);
    }
    result
}

/// Reads so many bytes, in whatever pieces they come; fewer at the end of the file only.
unsafe fn read_all(fd: c_int, buffer: usize, length: usize) -> isize {
    let mut got = 0;
    while got < length {
        match unsafe { real::read(fd, buffer + got, length - got) } {
            more @ 1.. => got += more as usize,
            failed if got == 0 => return failed,
            _ => break,
        }
    }
    got as isize
}

unsafe extern "C" fn write(fd: c_int, buffer: usize, length: usize) -> isize {
    sending(fd, caller(), [buffer, length], || unsafe {
        real::write(fd, buffer, length)
    })
}

unsafe extern "C" fn readv(fd: c_int, pieces: usize, count: c_int) -> isize {
    receiving(fd, caller(), [0, 0], || unsafe {
        real::readv(fd, pieces, count)
    })
}

unsafe extern "C" fn writev(fd: c_int, pieces: usize, count: c_int) -> isize {
    let bytes = unsafe { bytes_of(pieces, count.max(0) as usize) };
    sending_bytes(fd, caller(), bytes, || unsafe {
        real::writev(fd, pieces, count)
    })
}

pub unsafe extern "C" fn recv(fd: c_int, buffer: usize, length: usize, flags: c_int) -> isize {
    receiving(
        On::flagged(fd, flags),
        caller(),
        [buffer, length],
        || unsafe { real::recv(fd, buffer, length, flags) },
    )
}

unsafe extern "C" fn send(fd: c_int, buffer: usize, length: usize, flags: c_int) -> isize {
    sending(
        On::flagged(fd, flags),
        caller(),
        [buffer, length],
        || unsafe { real::send(fd, buffer, length, flags) },
    )
}

unsafe extern "C" fn recvfrom(
    fd: c_int,
    buffer: usize,
    length: usize,
    flags: c_int,
    address: usize,
    size: usize,
) -> isize {
    receiving(
        On::flagged(fd, flags),
        caller(),
        [buffer, length],
        || unsafe { real::recvfrom(fd, buffer, length, flags, address, size) },
    )
}

unsafe extern "C" fn sendto(
    fd: c_int,
    buffer: usize,
    length: usize,
    flags: c_int,
    address: usize,
    size: u32,
) -> isize {
    sending(
        On::flagged(fd, flags),
        caller(),
        [buffer, length],
        || unsafe { real::sendto(fd, buffer, length, flags, address, size) },
    )
}

unsafe extern "C" fn recvmsg(fd: c_int, message: usize, flags: c_int) -> isize {
    receiving(On::flagged(fd, flags), caller(), [0, 0], || unsafe {
        real::recvmsg(fd, message, flags)
    })
}

unsafe extern "C" fn sendmsg(fd: c_int, message: usize, flags: c_int) -> isize {
    let pc = caller();
    let bytes = unsafe { bytes_of_message(message) };
    let send = || {
        sending_bytes(On::flagged(fd, flags), pc, bytes, || unsafe {
            real::sendmsg(fd, message, flags)
        })
    };
    match unsafe { spawn::carries_descriptors(message) } {
        true => ends::letting_out(send),
        false => send(),
    }
}

/// A counter in the kernel: adding to it sends, taking from it receives. The C library's functions make the
/// calls themselves.
unsafe extern "C" fn eventfd_read(fd: c_int, value: usize) -> c_int {
    let pc = caller();
    let size = size_of::<u64>();
    let result = receiving(fd, pc, [value, size], || unsafe {
        real::read(fd, value, size)
    });
    if result == size as isize { 0 } else { -1 }
}

unsafe extern "C" fn eventfd_write(fd: c_int, value: u64) -> c_int {
    let pc = caller();
    let result = sending_bytes(fd, pc, size_of::<u64>(), || unsafe {
        real::write(fd, &raw const value as usize, size_of::<u64>())
    });
    if result == size_of::<u64>() as isize {
        0
    } else {
        -1
    }
}

/// Whoever reads that the time has come knows who set it.
unsafe extern "C" fn timerfd_settime(fd: c_int, flags: c_int, new: usize, old: usize) -> c_int {
    let pc = caller();
    serial::gate(Op::Send, channel(fd), 0, pc);
    channel::send_from(Behind::number(fd), pc);
    let result = unsafe { real::timerfd_settime(fd, flags, new, old) };
    channel::wake(channel(fd));
    result
}
