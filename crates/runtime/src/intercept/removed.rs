//! System V objects that are removed while threads wait for them.
//!
//! The kernel tells whoever waits that the object was removed (`EIDRM`), and whoever comes later that there is
//! none (`EINVAL`). In serial runs nobody waits in the kernel, so the first of these has to be made of the
//! second; and as it matters when a wait began, its beginning is an event: it looks for the removal in vain.
//! `semctl` can ask how many wait, so each beginning is also sent to whoever does.

use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

use deadheat_wire::Op;

use super::channel::{self, MOST_CHANNELS, Other};
use super::descriptor::failed;
use crate::record::event;

/// How many threads wait, by the places of the channels that they wait for.
static WAITING: [AtomicU32; MOST_CHANNELS + 1] = [const { AtomicU32::new(0) }; MOST_CHANNELS + 1];

/// How many threads wait for what is sent on a channel.
pub fn waiting_for(channel: usize) -> u32 {
    WAITING[channel::place(channel)].load(Ordering::Acquire)
}

/// The channel of an object's removal.
pub fn removal_of(kind: Other, object: c_int) -> usize {
    numbered(Other::Removed, kind, object)
}

/// The channel on which threads tell that they wait for an object.
pub fn waits_for(kind: Other, object: c_int) -> usize {
    numbered(Other::Waits, kind, object)
}

fn numbered(what: Other, kind: Other, object: c_int) -> usize {
    channel::of_other(what, (kind as u64) << 32 | u64::from(object as u32))
}

fn errno() -> c_int {
    // SAFETY: the C library's own address of the thread's error number.
    unsafe { *libc::__errno_location() }
}

/// A call that may have to wait for an object. Channels are few, so those of the object are only taken when needed.
pub struct Wait {
    kind: Other,
    object: c_int,
    wanted: usize,
    pc: usize,
    has_begun: Cell<bool>,
}

impl Wait {
    /// One for an object of a kind, until something is sent on a channel.
    pub fn new(kind: Other, object: c_int, wanted: usize, pc: usize) -> Self {
        Wait {
            kind,
            object,
            wanted,
            pc,
            has_begun: Cell::new(false),
        }
    }

    fn count(&self) -> &'static AtomicU32 {
        &WAITING[channel::place(self.wanted)]
    }

    /// The answer of a call that was not to wait; `None` if it would have had to, and does so from now on.
    pub fn unless(&self, would_wait: c_int, result: isize) -> Option<isize> {
        if result >= 0 {
            return Some(result);
        }
        match errno() {
            error if error == would_wait => {
                if !self.has_begun.replace(true) {
                    self.count().fetch_add(1, Ordering::AcqRel);
                    channel::looked_in_vain(removal_of(self.kind, self.object), self.pc);
                    channel::send(waits_for(self.kind, self.object), self.pc);
                }
                None
            }
            libc::EINVAL if self.has_begun.get() => Some(failed(libc::EIDRM) as isize),
            _ => Some(result),
        }
    }

    /// The call has this result: if it is that the object was removed, that was before.
    pub fn end(self, result: isize) {
        if self.has_begun.get() {
            self.count().fetch_sub(1, Ordering::AcqRel);
        }
        if result >= 0 {
            return;
        }
        let error = errno();
        if matches!(error, libc::EIDRM | libc::EINVAL) {
            let removal = removal_of(self.kind, self.object);
            event::sync(Op::Receive, removal, self.pc);
            failed(error);
        }
    }
}
