//! Timers of the program that end in a signal: `alarm`, `setitimer`, `timer_create`. In a serial
//! recording they run on the scheduler's time, as all clocks do: a timer fires after so many steps,
//! or when every thread waits and it is the first to be due.

use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::signals;
use crate::intercept::channel;
use crate::sys;

/// The first three are those of `setitimer`; the others are made.
pub const MADE: usize = 3;
const MOST: usize = 64;

/// A timer. All zero: free.
struct Timer {
    is_made: AtomicU32,
    /// The step at which it fires; 0 if it is not armed.
    due: AtomicU64,
    /// In steps; 0: once.
    interval: AtomicU64,
    signal: AtomicI32,
    value: AtomicUsize,
    /// The number of the thread that it is for, plus one; 0: the process.
    thread: AtomicU32,
}

static TIMERS: [Timer; MOST] = [const {
    Timer {
        is_made: AtomicU32::new(0),
        due: AtomicU64::new(0),
        interval: AtomicU64::new(0),
        signal: AtomicI32::new(0),
        value: AtomicUsize::new(0),
        thread: AtomicU32::new(0),
    }
}; MOST];
/// How many are armed.
static ARMED: AtomicU32 = AtomicU32::new(0);

/// What a timer is set to: when it fires next, from now on, and then how often; in steps. Zero: not
/// at all.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Setting {
    /// Until it fires.
    pub left: u64,
    /// From then on.
    pub interval: u64,
}

/// Sets a timer at a step; what it was set to.
pub fn set(index: usize, now: u64, new: Setting) -> Setting {
    let old = get(index, now);
    let timer = &TIMERS[index];
    let due = match new.left {
        0 => 0,
        left => now + left,
    };
    let was = timer.due.swap(due, Ordering::Relaxed);
    timer.interval.store(new.interval, Ordering::Relaxed);
    match (was, due) {
        (0, 1..) => ARMED.fetch_add(1, Ordering::Relaxed),
        (1.., 0) => ARMED.fetch_sub(1, Ordering::Relaxed),
        _ => 0,
    };
    old
}

/// What a timer is set to.
pub fn get(index: usize, now: u64) -> Setting {
    let timer = &TIMERS[index];
    let left = match timer.due.load(Ordering::Relaxed) {
        0 => 0,
        due => due.saturating_sub(now).max(1),
    };
    let interval = timer.interval.load(Ordering::Relaxed);
    Setting { left, interval }
}

/// Says what a timer does when it fires.
pub fn describe(index: usize, signal: i32, value: usize, thread: u32) {
    let timer = &TIMERS[index];
    timer.signal.store(signal, Ordering::Relaxed);
    timer.value.store(value, Ordering::Relaxed);
    timer.thread.store(thread, Ordering::Relaxed);
}

/// Makes a timer; `None` if there are too many.
pub fn make() -> Option<usize> {
    let is_free = |index: &usize| {
        TIMERS[*index]
            .is_made
            .compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    };
    (MADE..MOST).find(is_free)
}

/// Whether there is such a timer.
pub fn exists(index: usize) -> bool {
    (MADE..MOST).contains(&index) && TIMERS[index].is_made.load(Ordering::Relaxed) != 0
}

/// Removes it.
pub fn remove(index: usize) {
    set(index, 0, Setting::default());
    TIMERS[index].is_made.store(0, Ordering::Relaxed);
}

/// Whether the kernel's own timer of `alarm` is armed.
pub fn is_real_armed() -> bool {
    let mut now = [0u64; 4];
    let place = &raw mut now as usize;
    sys::call(libc::SYS_getitimer, [0, place, 0, 0, 0, 0]) == 0 && (now[2] | now[3]) != 0
}

/// The step at which the first one fires; `u64::MAX` if none does.
pub fn first() -> u64 {
    if ARMED.load(Ordering::Relaxed) == 0 {
        return u64::MAX;
    }
    let due = |timer: &Timer| match timer.due.load(Ordering::Relaxed) {
        0 => u64::MAX,
        due => due,
    };
    TIMERS.iter().map(due).min().unwrap_or(u64::MAX)
}

/// Fires those that are due.
#[inline]
pub fn fire(now: u64) {
    if ARMED.load(Ordering::Relaxed) != 0 {
        fire_due(now);
    }
}

/// Lets the armed timer fire whose signal goes to a channel, if there is one, whenever it is due.
pub fn fire_for(channel: usize, now: u64) {
    if ARMED.load(Ordering::Relaxed) == 0 {
        return;
    }
    let is_it = |timer: &&Timer| {
        let thread = timer.thread.load(Ordering::Relaxed);
        let goes_to = channel::of_signal(thread, timer.signal.load(Ordering::Relaxed));
        timer.due.load(Ordering::Relaxed) != 0 && goes_to == channel
    };
    if let Some(timer) = TIMERS.iter().find(is_it)
        && !signals::is_pending(channel)
    {
        timer.due.fetch_min(now.max(1), Ordering::Relaxed);
        fire_due(now.max(1));
    }
}

#[cold]
fn fire_due(now: u64) {
    for (index, timer) in TIMERS.iter().enumerate() {
        let due = timer.due.load(Ordering::Relaxed);
        if due == 0 || due > now {
            continue;
        }
        let interval = timer.interval.load(Ordering::Relaxed);
        let next = match interval {
            0 => 0,
            _ => due + (now - due) / interval * interval + interval,
        };
        timer.due.store(next, Ordering::Relaxed);
        if next == 0 {
            ARMED.fetch_sub(1, Ordering::Relaxed);
        }
        let code = match index {
            0..MADE => libc::SI_KERNEL,
            _ => libc::SI_TIMER,
        };
        let signal = timer.signal.load(Ordering::Relaxed);
        if signal != 0 {
            let mut info = signals::Info::of(signal, code, 0, 0, 0);
            info.0[3] = timer.value.load(Ordering::Relaxed) as u64;
            signals::fired(timer.thread.load(Ordering::Relaxed), signal, &info);
        }
    }
}

/// In a forked process none is armed.
pub fn restart_in_child() {
    for timer in &TIMERS {
        timer.due.store(0, Ordering::Relaxed);
        timer.is_made.store(0, Ordering::Relaxed);
    }
    ARMED.store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_fires_when_it_is_due_and_then_every_interval() {
        let index = make().unwrap();
        let setting = |left, interval| Setting { left, interval };
        assert_eq!(set(index, 100, setting(50, 20)), Setting::default());
        assert_eq!(get(index, 120), setting(30, 20));
        assert!(first() <= 150);
        fire(149);
        assert_eq!(get(index, 149), setting(1, 20));
        fire(195);
        assert_eq!(get(index, 195), setting(15, 20));
        assert_eq!(set(index, 200, Setting::default()), setting(10, 20));
        assert_eq!(get(index, 200).left, 0);
        remove(index);
        assert!(!exists(index));
    }
}
