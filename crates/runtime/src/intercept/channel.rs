//! Channels in the kernel: what is behind a descriptor, as an object that threads send to and receive from.
//!
//! Both ends of a pipe are one channel (they share their inode); all sockets are one, and so are all of `eventfd`, `epoll` and their
//! kin, which orders more than it must and never too little. Each end of a socket has one more, on which it sends, too: whoever reads at an end whose
//! other end is known ([`ends`]) receives only what was sent there.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering};

use deadheat_wire::Op;

use super::ends;
use crate::record::{event, handler};
use crate::{serial, sys, threads};

/// Inodes of the channels seen so far, in the order of their first use: the same in every serial
/// run, which the inodes themselves are not.
const MOST_CHANNELS: usize = 480;
static CHANNELS: [AtomicU64; MOST_CHANNELS] = [const { AtomicU64::new(0) }; MOST_CHANNELS];

/// The sockets' number, in the page that no object lies in; the others follow.
const SOCKETS: usize = 64;
const _: () = assert!(SOCKETS + 8 * MOST_CHANNELS < serial::CHANNELS_END);
/// The number of what has no other end.
pub const NOBODY: usize = 56;

/// Behind them those of numbers, then those of ends, up to the first address that the system lets a program have. What is beyond the last shares, which
/// orders more than it must.
const NUMBERS: usize = serial::CHANNELS_END;
const ENDS: usize = 32768;
const ALL: usize = 65536;

/// The channel of a descriptor's number.
pub fn of_number(fd: c_int) -> usize {
    NUMBERS + fd as usize % ((ENDS - NUMBERS) / 8) * 8
}

/// The own channel of an end of a socket.
pub fn of_end(number: usize) -> usize {
    ENDS + number % ((ALL - ENDS) / 8) * 8
}

/// What the system says about a descriptor; `None` if there is none of this number.
pub fn status(fd: c_int) -> Option<libc::stat> {
    // SAFETY: plain numbers.
    let mut status: libc::stat = unsafe { core::mem::zeroed() };
    let result = sys::call(
        libc::SYS_fstat,
        [fd as usize, &raw mut status as usize, 0, 0, 0, 0],
    );
    (result >= 0).then_some(status)
}

/// A number for the channel behind a descriptor.
pub fn channel(fd: c_int) -> usize {
    status(fd).map_or(SOCKETS, |status| channel_of(&status))
}

/// What tells what is behind a descriptor from everything else.
pub fn identity(status: &libc::stat) -> u64 {
    ends::identity(status.st_ino, status.st_dev)
}

/// The same if it is a socket.
pub fn socket_identity(fd: c_int) -> Option<u64> {
    status(fd).filter(is_socket).map(|status| identity(&status))
}

fn is_socket(status: &libc::stat) -> bool {
    status.st_mode & libc::S_IFMT == libc::S_IFSOCK
}

/// The same for one whose status is known.
pub fn channel_of(status: &libc::stat) -> usize {
    if is_socket(status) {
        return SOCKETS;
    }
    let inode = identity(status);
    for (index, known) in CHANNELS.iter().enumerate() {
        let found = match known.compare_exchange(0, inode, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => inode,
            Err(found) => found,
        };
        if found == inode {
            return SOCKETS + 8 * (index + 1);
        }
    }
    SOCKETS // More than there is room for: all the others are one channel, too.
}

/// Whether somebody notices that a descriptor is closed.
pub fn has_other_end(status: &libc::stat) -> bool {
    matches!(
        status.st_mode & libc::S_IFMT,
        libc::S_IFIFO | libc::S_IFSOCK
    )
}

/// The running thread sends what can be noticed at the other end of a descriptor.
pub fn send_from(status: Option<&libc::stat>, pc: usize) {
    let own = status.filter(|status| is_socket(status));
    if let Some(own) = own.and_then(|status| ends::sends_on(identity(status))) {
        send(own, pc);
    }
    send(status.map_or(SOCKETS, channel_of), pc);
}

/// The channel on which everything was sent that arrives at a descriptor.
pub fn received_at(fd: c_int) -> usize {
    let Some(status) = status(fd) else {
        return SOCKETS;
    };
    let known = is_socket(&status)
        .then(|| ends::receives_from(identity(&status)))
        .flatten();
    known.unwrap_or_else(|| channel_of(&status))
}

/// The running thread sends on a channel.
pub fn send(channel: usize, pc: usize) {
    if threads::visible() {
        event::sync(Op::Send, channel, pc);
    } else {
        handler::keep(Op::Send, channel, pc);
    }
}

/// Something has changed: whoever waits for the channel looks again.
pub fn wake(channel: usize) {
    if threads::visible() {
        serial::wake(channel, usize::MAX);
    }
}
