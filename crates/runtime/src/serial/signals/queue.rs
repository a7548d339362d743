//! Signals that wait for a thread to handle them.
//!
//! A handler that the kernel calls at any time puts entries in, so slots are claimed one by one,
//! without a lock. Only the thread that has the turn takes entries out.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::threads::Thread;

/// What the kernel tells about a signal: a `siginfo_t`.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct Info(pub [u64; 16]);

impl Info {
    /// Of nothing.
    pub const fn new() -> Self {
        Info([0; 16])
    }

    /// As a sender would have it: the signal, what kind of sending it was, who sent it, and a
    /// value.
    pub fn of(signal: i32, code: i32, process: u32, user: u32, value: u64) -> Self {
        let mut info = Info::new();
        info.0[0] = signal as u32 as u64;
        info.0[1] = code as u32 as u64;
        info.0[2] = u64::from(process) | u64::from(user) << 32;
        info.0[3] = value;
        info
    }

    /// What kind of sending it was.
    pub fn code(&self) -> i32 {
        self.0[1] as u32 as i32
    }
}

const MOST: usize = 256;
const FREE: u32 = 0;
const BUSY: u32 = 1;
const FULL: u32 = 2;

/// A pending signal.
pub struct Entry {
    state: AtomicU32,
    order: AtomicU64,
    target: AtomicPtr<Thread>,
    signal: AtomicI32,
    channel: AtomicUsize,
    info: UnsafeCell<Info>,
}

// SAFETY: whoever claims a slot has its information alone until it is full; then nobody changes it.
unsafe impl Sync for Entry {}

/// All slots.
pub static QUEUE: [Entry; MOST] = [const {
    Entry {
        state: AtomicU32::new(FREE),
        order: AtomicU64::new(0),
        target: AtomicPtr::new(core::ptr::null_mut()),
        signal: AtomicI32::new(0),
        channel: AtomicUsize::new(0),
        info: UnsafeCell::new(Info::new()),
    }
}; MOST];
static COUNT: AtomicU32 = AtomicU32::new(0);
static ORDER: AtomicU64 = AtomicU64::new(1);

impl Entry {
    /// Who it is for; null: any thread that wants it.
    pub fn target(&self) -> *mut Thread {
        self.target.load(Ordering::Relaxed)
    }

    /// Says who it is for.
    pub fn set_target(&self, thread: *mut Thread) {
        self.target.store(thread, Ordering::Relaxed);
    }

    /// Which signal it is.
    pub fn signal(&self) -> i32 {
        self.signal.load(Ordering::Relaxed)
    }

    /// The channel on which its sender has sent; 0 if that was not a thread of this process.
    pub fn channel(&self) -> usize {
        self.channel.load(Ordering::Relaxed)
    }

    /// What the kernel, or the sender, tells about it.
    pub fn info(&self) -> Info {
        // SAFETY: it is full, see above.
        unsafe { *self.info.get() }
    }

    /// Gives the slot back.
    pub fn free(&self) {
        if self.state.swap(FREE, Ordering::AcqRel) == FULL {
            COUNT.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn is_full(&self) -> bool {
        self.state.load(Ordering::Acquire) == FULL
    }
}

/// Puts a signal in. One of the old kinds that is there already is not put in twice, as in the
/// kernel.
pub fn put(target: *mut Thread, signal: i32, info: &Info, channel: usize) {
    const FIRST_QUEUED: i32 = 32;
    let is_same =
        |entry: &&Entry| entry.is_full() && entry.signal() == signal && entry.target() == target;
    if signal < FIRST_QUEUED && QUEUE.iter().any(|entry| is_same(&entry)) {
        return;
    }
    let claim = |entry: &&Entry| {
        entry
            .state
            .compare_exchange(FREE, BUSY, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    };
    if let Some(entry) = QUEUE.iter().find(claim) {
        entry.target.store(target, Ordering::Relaxed);
        entry.signal.store(signal, Ordering::Relaxed);
        entry.channel.store(channel, Ordering::Relaxed);
        entry
            .order
            .store(ORDER.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        // SAFETY: the slot is claimed.
        unsafe { *entry.info.get() = *info };
        entry.state.store(FULL, Ordering::Release);
        COUNT.fetch_add(1, Ordering::Release);
    }
}

/// Whether there is none.
#[inline]
pub fn is_empty() -> bool {
    COUNT.load(Ordering::Relaxed) == 0
}

/// Calls `action` for each.
pub fn each(mut action: impl FnMut(&Entry)) {
    if !is_empty() {
        QUEUE
            .iter()
            .filter(|entry| entry.is_full())
            .for_each(&mut action);
    }
}

/// Takes out the first that is looked for: the signal, what is told about it, and its sender's
/// channel. Lower numbers go first, as in the kernel; of the same number, the older.
pub fn take(is_wanted: impl Fn(&Entry) -> bool) -> Option<(i32, Info, usize)> {
    if is_empty() {
        return None;
    }
    let all = QUEUE
        .iter()
        .filter(|entry| entry.is_full() && is_wanted(entry));
    let first = all.min_by_key(|entry| (entry.signal(), entry.order.load(Ordering::Relaxed)))?;
    let taken = (first.signal(), first.info(), first.channel());
    first.free();
    Some(taken)
}

/// Empties the count, after all slots were given back.
pub fn restart() {
    COUNT.store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_signals_are_kept_once_and_new_ones_in_order() {
        let one = core::ptr::dangling_mut::<Thread>();
        let value = |value| Info::of(1, -1, 2, 3, value);
        put(one, 10, &value(1), 64);
        put(one, 10, &value(2), 64);
        put(one, 34, &value(3), 0);
        put(one, 34, &value(4), 0);
        put(core::ptr::null_mut(), 10, &value(5), 0);
        let take =
            || take(|entry| entry.target() == one).map(|(signal, info, _)| (signal, info.0[3]));
        assert_eq!(take(), Some((10, 1)));
        assert_eq!(take(), Some((34, 3)));
        assert_eq!(take(), Some((34, 4)));
        assert_eq!(take(), None);
        assert!(!is_empty());
        each(Entry::free);
        assert!(is_empty());
    }
}
