//! Opening a FIFO: who opens one end waits until somebody opens the other.
//!
//! Whoever opens it sends before, and receives once it is open: of two that have waited for each other, each
//! knows what the other has done before. In a serial recording the scheduler waits, and lets both go on.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};

use deadheat_wire::Op;

use super::channel::{self, Other};
use super::descriptor::failed;
use super::{ends, real, thread};
use crate::hooks::trampoline;
use crate::record::{Mode, event, mode};
use crate::serial::endings::Kind;
use crate::serial::explore::server;
use crate::serial::{Limit, Waited};
use crate::{serial, sys, threads};

trampoline! {
    "mkfifo" => mkfifo;
    "mkfifoat" => mkfifoat;
    "mknod" => mknod;
    "mknodat" => mknodat;
}

// Copies of the program would meet in it.
// SAFETY of all calls below: the arguments are the program's own, for this very function.

unsafe extern "C" fn mkfifo(path: usize, mode: u32) -> c_int {
    server::has_in_common();
    // SAFETY: see above.
    unsafe { real::mkfifo(path, mode) }
}

unsafe extern "C" fn mkfifoat(folder: c_int, path: usize, mode: u32) -> c_int {
    server::has_in_common();
    // SAFETY: see above.
    unsafe { real::mkfifoat(folder, path, mode) }
}

unsafe extern "C" fn mknod(path: usize, mode: u32, device: u64) -> c_int {
    server::has_in_common();
    // SAFETY: see above.
    unsafe { real::mknod(path, mode, device) }
}

unsafe extern "C" fn mknodat(folder: c_int, path: usize, mode: u32, device: u64) -> c_int {
    server::has_in_common();
    // SAFETY: see above.
    unsafe { real::mknodat(folder, path, mode, device) }
}

/// Which FIFO a path leads to, if it is one.
fn at(folder: c_int, path: usize) -> Option<u64> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    let place = status.as_mut_ptr() as usize;
    let args = [folder as usize, path, place, 0, 0, 0];
    if sys::call(libc::SYS_newfstatat, args) < 0 {
        return None;
    }
    // SAFETY: filled in by the system.
    let status = unsafe { status.assume_init_ref() };
    (status.st_mode & libc::S_IFMT == libc::S_IFIFO)
        .then(|| ends::identity(status.st_ino, status.st_dev))
}

/// The two sides of a FIFO.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Reads = 0,
    Writes = 1,
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Reads => Side::Writes,
            Side::Writes => Side::Reads,
        }
    }
}

/// Who has come to a FIFO in a serial recording, by its channel: how many to each side, and how many of them
/// wait.
struct Visitors {
    came: [AtomicU32; 2],
    wait: [AtomicU32; 2],
}

static VISITORS: [Visitors; channel::MOST_CHANNELS + 1] = [const {
    Visitors {
        came: [const { AtomicU32::new(0) }; 2],
        wait: [const { AtomicU32::new(0) }; 2],
    }
}; channel::MOST_CHANNELS + 1];

/// Somebody opens an end of a FIFO.
#[derive(Clone, Copy)]
pub struct Opening {
    folder: c_int,
    path: usize,
    channel: usize,
    /// The side that is opened and waits for the other.
    meets: Option<Side>,
}

impl Opening {
    /// A file is about to be opened: what the program has named may be a FIFO.
    pub fn begin(folder: c_int, path: usize, flags: c_int, pc: usize) -> Option<Opening> {
        let fifo = threads::visible().then(|| at(folder, path)).flatten();
        let fifo = fifo.filter(|_| flags & libc::O_PATH == 0)?;
        let channel = channel::of_other(Other::Opening, fifo);
        serial::point_before(Op::Send, channel, 0, pc);
        event::sync(Op::Send, channel, pc);
        let waits = flags & libc::O_NONBLOCK == 0;
        let (sides, meets): (&[Side], _) = match flags & libc::O_ACCMODE {
            libc::O_WRONLY => (&[Side::Writes], waits.then_some(Side::Writes)),
            libc::O_RDONLY => (&[Side::Reads], waits.then_some(Side::Reads)),
            _ => (&[Side::Reads, Side::Writes], None),
        };
        let opening = Opening {
            folder,
            path,
            channel,
            meets,
        };
        for side in sides {
            opening.visitors().came[*side as usize].fetch_add(1, Ordering::Relaxed);
        }
        channel::wake(channel);
        Some(opening)
    }

    fn visitors(&self) -> &'static Visitors {
        &VISITORS[channel::place(self.channel)]
    }

    /// Makes the call.
    pub fn call(opening: Option<Opening>, pc: usize, real: impl Fn() -> c_int) -> c_int {
        match opening.and_then(|opening| Some((opening, opening.meets?))) {
            Some((opening, side)) if mode() == Mode::Serial => opening.meet(side, pc, real),
            _ => real(),
        }
    }

    /// Waits for the other side. Whoever comes to it lets all go on who wait then, though it may be gone
    /// again before they do.
    fn meet(&self, side: Side, pc: usize, real: impl Fn() -> c_int) -> c_int {
        let Visitors { came, wait } = self.visitors();
        let other = side.other() as usize;
        let before = came[other].load(Ordering::Relaxed);
        let may_go = || {
            wait[other].load(Ordering::Relaxed) > 0
                || came[other].load(Ordering::Relaxed) != before
                || self.is_open(side.other())
        };
        wait[side as usize].fetch_add(1, Ordering::Relaxed);
        let result = loop {
            if may_go() {
                // With both ends open nobody waits.
                let both = self.open(libc::O_RDWR);
                let result = real();
                sys::close(both as i32);
                break result;
            }
            match serial::wait_to_retry(self.channel, Kind::Descriptor, Limit::None, None) {
                Waited::Idle => break serial::away_for_outside(&real),
                Waited::Interrupted => break failed(libc::EINTR),
                Waited::Cancelled => {
                    wait[side as usize].fetch_sub(1, Ordering::Relaxed);
                    thread::act_on_cancellation(pc);
                    wait[side as usize].fetch_add(1, Ordering::Relaxed);
                }
                _ => {}
            }
        };
        wait[side as usize].fetch_sub(1, Ordering::Relaxed);
        result
    }

    fn open(&self, flags: c_int) -> isize {
        let flags = (flags | libc::O_NONBLOCK | libc::O_CLOEXEC) as usize;
        let args = [self.folder as usize, self.path, flags, 0, 0, 0];
        sys::call(libc::SYS_openat, args)
    }

    /// Whether somebody has this side open.
    fn is_open(&self, side: Side) -> bool {
        match side {
            // Without somebody who reads, opening it to write is refused.
            Side::Reads => {
                let fd = self.open(libc::O_WRONLY);
                if fd >= 0 {
                    sys::close(fd as i32);
                }
                fd >= 0
            }
            // Without somebody who writes there is an end of what can be read; what is there is left there.
            Side::Writes => {
                let mut ends = [-1; 2];
                let place = &raw mut ends as usize;
                sys::call(
                    libc::SYS_pipe2,
                    [place, libc::O_CLOEXEC as usize, 0, 0, 0, 0],
                );
                let from = self.open(libc::O_RDONLY);
                let how = libc::SPLICE_F_NONBLOCK as usize;
                let args = [from as usize, ends[1] as usize, 1, how, 0, 0];
                let read = sys::call(libc::SYS_tee, args);
                for fd in [from as i32, ends[0], ends[1]] {
                    sys::close(fd);
                }
                read > 0 || read == -(libc::EAGAIN as isize)
            }
        }
    }

    /// It is open.
    pub fn end(self, pc: usize) {
        if self.meets.is_some() {
            serial::gate(Op::Receive, self.channel, 0, pc);
            event::sync(Op::Receive, self.channel, pc);
        }
    }
}

/// The flags that a stream's file is opened with.
///
/// # Safety
/// `mode` is a string, as for `fopen`.
pub unsafe fn flags_of_mode(mode: usize) -> c_int {
    // SAFETY: as the caller says.
    let mode = unsafe { core::ffi::CStr::from_ptr(mode as *const _) }.to_bytes();
    let access = match mode.first() {
        _ if mode.contains(&b'+') => libc::O_RDWR,
        Some(b'r') => libc::O_RDONLY,
        _ => libc::O_WRONLY,
    };
    match mode.contains(&b'e') {
        true => access | libc::O_CLOEXEC,
        false => access,
    }
}
