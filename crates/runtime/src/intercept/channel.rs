//! Channels in the kernel: what is behind a descriptor, as an object that threads send to and receive from.
//!
//! Both ends of a pipe are one channel (they share their inode); all sockets are one, and so are all of `eventfd`, `epoll` and their
//! kin, which orders more than it must and never too little. Where it is known who has both ends ([`ends`]), an end of a socket has a channel of its own, and
//! whoever reads at the other receives only what was sent there. A pipe that another process may have an end of is one with all sockets.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use deadheat_wire::{CHANNELS_END, Op, SIGNAL_CHANNELS};

use super::ends;
use crate::record::{Mode, event, handler, mode};
use crate::{serial, sys, threads};

/// Inodes of the channels seen so far, in the order of their first use: the same in every serial
/// run, which the inodes themselves are not.
pub const MOST_CHANNELS: usize = 480;
static CHANNELS: [AtomicU64; MOST_CHANNELS] = [const { AtomicU64::new(0) }; MOST_CHANNELS];

/// The sockets' number, in the page that no object lies in; the others follow.
const SOCKETS: usize = 64;
const _: () = assert!(SOCKETS + 8 * MOST_CHANNELS < CHANNELS_END);
/// The number of what has no other end.
pub const NOBODY: usize = 56;
/// What those wait for who wait for any of several descriptors.
pub const ANY: usize = 48;

/// A channel that nobody sends on, for this thread and few others.
pub fn nowhere(thread: u32) -> usize {
    8 + thread as usize % 5 * 8
}

/// Behind them those of numbers, then those of ends, up to the first address that the system lets a program have. What is beyond the last shares, which
/// orders more than it must.
const NUMBERS: usize = CHANNELS_END;
const SIGNALS: usize = SIGNAL_CHANNELS.start;
const ENDS: usize = SIGNAL_CHANNELS.end;
const ALL: usize = 65536;

/// The channel of a descriptor's number.
pub fn of_number(fd: c_int) -> usize {
    NUMBERS + fd as usize % ((SIGNALS - NUMBERS) / 8) * 8
}

/// How many channels signals have.
const MOST_SIGNALS: usize = (ENDS - SIGNALS) / 8;
static SENT_ON: [AtomicU64; MOST_SIGNALS / 64] = [const { AtomicU64::new(0) }; MOST_SIGNALS / 64];

/// The channel of a signal to a thread, by its number plus one, or to the process (0).
pub fn of_signal(number: u32, signal: c_int) -> usize {
    const APART: usize = 67;
    SIGNALS + (number as usize * APART + signal as usize) % MOST_SIGNALS * 8
}

/// The running thread sends a signal: what it did before is before whatever accepts it.
pub fn send_signal(number: u32, signal: c_int, pc: usize) {
    let channel = of_signal(number, signal);
    let index = (channel - SIGNALS) / 8;
    SENT_ON[index / 64].fetch_or(1 << (index % 64), Ordering::AcqRel);
    serial::gate(Op::Send, channel, 0, pc);
    send(channel, pc);
}

/// A call that does not wait has found nothing at a channel: what the thread does next depends on that. Live detection has no use for it.
pub fn found_nothing(channel: usize, pc: usize) {
    // SAFETY: the C library's own address of the thread's error number.
    let error = unsafe { *libc::__errno_location() };
    if matches!(error, libc::EAGAIN | libc::ENOMSG) {
        looked_in_vain(channel, pc);
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = error };
    }
}

/// The same of one that says so itself.
pub fn looked_in_vain(channel: usize, pc: usize) {
    if threads::visible() && threads::were_several() && mode() == Mode::Serial {
        event::sync(Op::ReceiveRefused, channel, pc);
    }
}

/// Whether something was sent on a signal's channel.
pub fn was_sent_on(channel: usize) -> bool {
    let index = (channel - SIGNALS) / 8;
    SENT_ON[index / 64].load(Ordering::Acquire) & 1 << (index % 64) != 0
}

/// The own channel of an end of a socket.
pub fn of_end(number: usize) -> usize {
    ENDS + number % ((ALL - ENDS) / 8) * 8
}

/// What is behind a descriptor. Small: what is copied by a call of `memcpy` would be recorded.
#[derive(Clone, Copy)]
pub struct Behind {
    /// Its inode.
    pub inode: u64,
    /// The device of that.
    pub device: u64,
    kind: u32,
}

impl Behind {
    /// What the system says about a descriptor; `None` if there is none of this number.
    pub fn number(fd: c_int) -> Option<Self> {
        let mut status = MaybeUninit::<libc::stat>::uninit();
        let args = [fd as usize, status.as_mut_ptr() as usize, 0, 0, 0, 0];
        if sys::call(libc::SYS_fstat, args) < 0 {
            return None;
        }
        // SAFETY: filled in by the system.
        let status = unsafe { status.assume_init_ref() };
        Some(Behind {
            inode: status.st_ino,
            device: status.st_dev,
            kind: status.st_mode & libc::S_IFMT,
        })
    }

    /// What tells it from everything else.
    pub fn identity(&self) -> u64 {
        ends::identity(self.inode, self.device)
    }

    /// Whether it is a socket.
    pub fn is_socket(&self) -> bool {
        self.kind == libc::S_IFSOCK
    }

    /// Whether it lies on a disk, or would if it were not in memory: nobody waits for it.
    pub fn is_stored(&self) -> bool {
        matches!(self.kind, libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK)
    }

    /// Whether somebody notices that it is closed.
    pub fn has_other_end(&self) -> bool {
        self.is_socket() || self.kind == libc::S_IFIFO
    }
}

/// A number for the channel behind a descriptor.
pub fn channel(fd: c_int) -> usize {
    Behind::number(fd).map_or(SOCKETS, channel_of)
}

/// The same where it is known what is there.
pub fn channel_of(behind: Behind) -> usize {
    match behind.is_socket() {
        true => SOCKETS,
        false => channel_with(behind.identity()),
    }
}

/// The channel of something that has this identity.
fn channel_with(identity: u64) -> usize {
    for (index, known) in CHANNELS.iter().enumerate() {
        let found = match known.compare_exchange(0, identity, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => identity,
            Err(found) => found,
        };
        if found == identity {
            return SOCKETS + 8 * (index + 1);
        }
    }
    SOCKETS // More than there is room for: all the others are one channel, too.
}

/// Where the channel of something that has an identity stands among these; 0 for the one of all others.
pub fn place(channel: usize) -> usize {
    (channel - SOCKETS) / 8
}

/// What has a channel and is no descriptor, or has another one beside its descriptor's.
#[derive(Clone, Copy)]
pub enum Other {
    /// A System V message queue.
    Messages = 1,
    /// A set of System V semaphores: who waits for any of them.
    Semaphores = 2,
    /// One of them: it was raised.
    Raised = 3,
    /// The same: it was lowered.
    Lowered = 4,
    /// A file's locks, each held by an open file.
    FileLock = 5,
    /// What is done when the dynamic linker has loaded a library.
    Libraries = 6,
    /// The room in something bounded, see [`super::room`].
    Room = 7,
    /// Who opens a FIFO.
    Opening = 8,
    /// A System V object was removed.
    Removed = 9,
    /// Who waits for a System V object.
    Waits = 10,
}

/// The channel of something of this kind, with a number of its own among these.
pub fn of_other(kind: Other, number: u64) -> usize {
    channel_with((kind as u64) << 56 | number & ((1 << 56) - 1))
}

/// The running thread sends what can be noticed at the other end of a descriptor.
pub fn send_from(behind: Option<Behind>, pc: usize) {
    match behind.and_then(|behind| ends::sends_on(behind.identity())) {
        Some(own) => {
            send(own, pc);
            send(SOCKETS, pc);
        }
        None => send(behind.map_or(SOCKETS, channel_of), pc),
    }
}

/// The channel on which everything was sent that arrives at a descriptor.
pub fn received_at(fd: c_int) -> usize {
    let Some(behind) = Behind::number(fd) else {
        return SOCKETS;
    };
    let identity = behind.identity();
    match ends::receives_from(identity) {
        Some(own) => own,
        None if ends::sends_on(identity).is_some() => SOCKETS,
        None => channel_of(behind),
    }
}

/// Whether something was sent that other processes may have.
static IS_OUTSIDE: AtomicBool = AtomicBool::new(false);

/// The running thread does something that other processes notice.
pub fn send_outside(pc: usize) {
    serial::gate(Op::Send, SOCKETS, 0, pc);
    send(SOCKETS, pc);
}

/// The running thread has noticed what another process has done, such as that it has ended: that may come of
/// whatever was sent to other processes.
pub fn receive_from_outside(pc: usize) {
    if IS_OUTSIDE.load(Ordering::Acquire) {
        serial::gate(Op::Receive, SOCKETS, 0, pc);
        event::sync(Op::Receive, SOCKETS, pc);
    }
}

/// The running thread sends on a channel.
pub fn send(channel: usize, pc: usize) {
    if channel == SOCKETS {
        IS_OUTSIDE.store(true, Ordering::Release);
    }
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
        serial::wake(ANY, usize::MAX);
    }
}
