//! Channels in the kernel: what is behind a descriptor, as an object that threads send to and receive from.
//!
//! Both ends of a pipe are one channel (they share their inode); all sockets are one, and so are all of `eventfd`, `epoll` and their
//! kin, which orders more than it must and never too little.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering};

use deadheat_wire::Op;

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
const NOBODY: usize = 56;

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

/// The same for one whose status is known.
pub fn channel_of(status: &libc::stat) -> usize {
    if status.st_mode & libc::S_IFMT == libc::S_IFSOCK {
        return SOCKETS;
    }
    let inode = status.st_ino ^ status.st_dev << 40 | 1 << 63;
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

/// The channel on which somebody notices that a descriptor is closed. What is closed may be something else when the program is run again (its
/// output, say), and the events must not: there is always one.
pub fn channel_of_end(status: &libc::stat) -> usize {
    match status.st_mode & libc::S_IFMT {
        libc::S_IFIFO | libc::S_IFSOCK => channel_of(status),
        _ => NOBODY,
    }
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
