//! Calls that carry from one descriptor to another, carry many messages at once, or check a buffer's size before they do what others do.

use core::ffi::{c_int, c_uint};

use deadheat_wire::Op;

use super::connect::flags;
use super::descriptor::{
    self, bytes_of, bytes_of_message, on_descriptor, receiving, sending_bytes,
};
use super::room::Room;
use super::{channel, ends, real, spawn};
use crate::hooks::{caller, trampoline};
use crate::record::event;
use crate::{serial, sys};

trampoline! {
    "sendfile" => sendfile;
    "sendfile64" => sendfile;
    "splice" => splice;
    "tee" => tee;
    "vmsplice" => vmsplice;
    "sendmmsg" => sendmmsg;
    "recvmmsg" => recvmmsg;
    "__read_chk" => read_chk;
    "__recv_chk" => recv_chk;
    "__recvfrom_chk" => recvfrom_chk;
}

/// Waits until there is something to carry, unless nobody is to wait.
fn wait_for_input(fd: c_int, may_wait: bool) {
    let mut entry = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let limit: c_int = match may_wait && flags(fd) & libc::O_NONBLOCK == 0 {
        true => -1,
        false => 0,
    };
    let args = [&raw mut entry as usize, 1, limit as usize, 0, 0, 0];
    sys::call(libc::SYS_poll, args);
}

/// What is carried was sent before, and whoever receives it knows of both. So it is waited for: what comes is received before it is sent on.
fn carrying(
    [from, to]: [c_int; 2],
    bytes: usize,
    may_wait: bool,
    pc: usize,
    real: impl FnOnce() -> isize,
) -> isize {
    let room = Room::of_descriptor(from);
    Room::leaving(room, || channel::received_at(from), pc);
    match may_wait {
        true => on_descriptor(from, libc::POLLIN, pc, || wait_for_input(from, true)),
        false => serial::point(),
    }
    event::sync(Op::Receive, channel::received_at(from), pc);
    let result = sending_bytes(to, pc, bytes, real);
    room.inspect(|room| room.leave(channel::received_at(from), pc));
    channel::wake(channel::channel(from));
    result
}

/// What is moved into a pipe has pages of its own, as many as it had elsewhere.
fn paged(bytes: usize) -> usize {
    const PAGE: usize = 4096;
    bytes.saturating_add(2 * PAGE)
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

unsafe extern "C" fn sendfile(to: c_int, from: c_int, offset: usize, count: usize) -> isize {
    carrying([from, to], count, true, caller(), || unsafe {
        real::sendfile(to, from, offset, count)
    })
}

unsafe extern "C" fn splice(
    from: c_int,
    from_offset: usize,
    to: c_int,
    to_offset: usize,
    length: usize,
    flags: c_uint,
) -> isize {
    let may_wait = flags & libc::SPLICE_F_NONBLOCK == 0;
    carrying([from, to], paged(length), may_wait, caller(), || unsafe {
        real::splice(from, from_offset, to, to_offset, length, flags)
    })
}

unsafe extern "C" fn tee(from: c_int, to: c_int, length: usize, flags: c_uint) -> isize {
    let may_wait = flags & libc::SPLICE_F_NONBLOCK == 0;
    carrying([from, to], paged(length), may_wait, caller(), || unsafe {
        real::tee(from, to, length, flags)
    })
}

/// Sends to an end of a pipe that can be written to, and receives from the other.
unsafe extern "C" fn vmsplice(fd: c_int, pieces: usize, count: usize, how: c_uint) -> isize {
    let (pc, real) = (caller(), || unsafe {
        real::vmsplice(fd, pieces, count, how)
    });
    match flags(fd) & libc::O_ACCMODE {
        libc::O_RDONLY => receiving(fd, pc, [0, 0], real),
        _ => {
            let bytes = unsafe { bytes_of(pieces, count) };
            sending_bytes(fd, pc, paged(bytes), real)
        }
    }
}

unsafe extern "C" fn sendmmsg(fd: c_int, messages: usize, count: c_uint, flags: c_int) -> c_int {
    let pc = caller();
    let each = (0..count as usize).map(|index| messages + index * size_of::<libc::mmsghdr>());
    let sizes = each
        .clone()
        .map(|message| unsafe { bytes_of_message(message) });
    let bytes = sizes.fold(0, usize::saturating_add);
    let send = || {
        sending_bytes(fd, pc, bytes, || unsafe {
            real::sendmmsg(fd, messages, count, flags) as isize
        }) as c_int
    };
    match each
        .clone()
        .any(|message| unsafe { spawn::carries_descriptors(message) })
    {
        true => ends::letting_out(send),
        false => send(),
    }
}

unsafe extern "C" fn recvmmsg(
    fd: c_int,
    messages: usize,
    count: c_uint,
    flags: c_int,
    timeout: usize,
) -> c_int {
    receiving(fd, caller(), [0, 0], || unsafe {
        real::recvmmsg(fd, messages, count, flags, timeout) as isize
    }) as c_int
}

// What is too long is left to the C library, which ends the program.

unsafe extern "C" fn read_chk(fd: c_int, buffer: usize, length: usize, size: usize) -> isize {
    match length <= size {
        true => unsafe { descriptor::read(fd, buffer, length) },
        false => unsafe { real::__read_chk(fd, buffer, length, size) },
    }
}

unsafe extern "C" fn recv_chk(
    fd: c_int,
    buffer: usize,
    length: usize,
    size: usize,
    flags: c_int,
) -> isize {
    match length <= size {
        true => unsafe { descriptor::recv(fd, buffer, length, flags) },
        false => unsafe { real::__recv_chk(fd, buffer, length, size, flags) },
    }
}

unsafe extern "C" fn recvfrom_chk(
    fd: c_int,
    buffer: usize,
    length: usize,
    size: usize,
    flags: c_int,
    address: usize,
    address_size: usize,
) -> isize {
    receiving(fd, caller(), [buffer, length.min(size)], || unsafe {
        real::__recvfrom_chk(fd, buffer, length, size, flags, address, address_size)
    })
}
