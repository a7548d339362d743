//! The recorder: from hooks to blocks on disk.
//!
//! * [`cursor`]: writes the words of events into a buffer.
//! * [`repetition`]: leaves out what loops repeat.
//! * [`stream`]: a buffer's life: full, written as a block, empty again.
//! * [`file`]: the trace on disk, and the live file that outlives a killed program.
//! * [`room`]: how much may still be written.
//! * [`stop`]: why a recording stops before the program ends.
//! * [`facts`]: modules, threads and notes.
//! * [`handler`]: what signal handlers did.
//! * [`leave_out`]: which accesses the user does not want; [`points`] where others are to go first; both are [`listed`].
//! * [`event`]: what hooks and intercepted functions call; knows both modes.

mod cursor;
pub mod event;
pub mod facts;
mod file;
pub mod handler;
mod leave_out;
mod listed;
pub mod points;
mod repetition;
mod room;
mod stop;
mod stream;
#[cfg(test)]
mod tests;

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

pub use cursor::Cursor;
pub use file::stop as stop_early;
pub use stop::Stop;
pub use stream::{BlockCopy, Stream};

use crate::local::{Inside, local};
use crate::{inputs, intercept, message, options, serial, sys, threads, watch};

/// What the runtime is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Nothing: the program runs as without us.
    Off,
    /// Recording with all threads running free.
    Parallel,
    /// Recording with one thread at a time.
    Serial,
    /// Looking for races, with all threads running free; nothing is recorded.
    Watch,
}

static MODE: AtomicU32 = AtomicU32::new(0);
static SEQUENCE: AtomicU64 = AtomicU64::new(1);

/// What the runtime is doing now.
#[inline(always)]
pub fn mode() -> Mode {
    match MODE.load(Ordering::Relaxed) {
        0 => Mode::Off,
        1 => Mode::Parallel,
        2 => Mode::Serial,
        _ => Mode::Watch,
    }
}

/// The next number in the order of synchronisation.
#[inline(always)]
pub fn next_seq() -> u64 {
    SEQUENCE.fetch_add(1, Ordering::Relaxed)
}

/// Starts the runtime, once; every later call returns at once.
pub fn start() {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    if STARTED.load(Ordering::Acquire) == 0 && STARTED.swap(1, Ordering::AcqRel) == 0 {
        start_now();
    }
}

/// Reading the options takes much of the stack, which callers of [`start`] need not touch.
#[cold]
#[inline(never)]
fn start_now() {
    let _inside = Inside::enter();
    intercept::resolve();
    if let Some(path) = options::read() {
        begin(path);
    }
}

/// Starts a recording in this process.
fn begin(path: &'static [u8]) {
    let wanted = match options::MODE.get() {
        0 => Mode::Parallel,
        1 => Mode::Serial,
        _ => Mode::Watch,
    };
    if wanted == Mode::Serial {
        serial::shared::load_wanted();
    }
    let begun = match wanted {
        Mode::Watch => watch::start(path),
        _ => file::create(path, wanted == Mode::Serial),
    };
    if !begun {
        return;
    }
    facts::go_to_report(wanted == Mode::Watch);
    if wanted == Mode::Serial && file::is_at(path) {
        inputs::load();
        leave_out::load();
        points::load();
    }
    threads::adopt_first();
    if wanted == Mode::Serial {
        serial::start();
    }
    facts::modules();
    intercept::thread::arm_exit_key();
    MODE.store(wanted as u32, Ordering::Release);
    threads::attach_first(wanted);
    inputs::tell_seed();
}

/// The recording has been closed for good, and threads still take turns: see [`close`].
static HAS_ENDED: AtomicBool = AtomicBool::new(false);

/// Whether nothing is recorded any more though threads take turns.
pub fn has_ended() -> bool {
    HAS_ENDED.load(Ordering::Acquire)
}

/// The running thread is about to end the process. That is a step like any other: threads that
/// have not ended may come before it.
pub fn before_end(pc: usize) {
    match mode() {
        _ if has_ended() => {}
        Mode::Serial => serial::before_end(pc),
        Mode::Watch => watch::enforce::before_end(),
        _ => {}
    }
}

/// The program ends itself in the running thread: the recording is closed.
pub fn end_of_program(pc: usize) {
    before_end(pc);
    close("the program ended", true);
}

/// Writes out what all threads have buffered and marks the recording as closed, or as going on
/// behind another program's image if `reason` says so. What the process does after its end, such as
/// destructors of libraries, is not recorded; but it may wait for other threads, so they go on taking turns.
pub fn close(reason: &str, for_good: bool) {
    if mode() == Mode::Off || has_ended() {
        return;
    }
    let _inside = Inside::enter();
    if for_good {
        serial::cut_short(false);
        if serial::explore::server::copy() != 0 {
            // A copy has no recording of its own.
            go_on_unrecorded();
            return;
        }
        facts::modules();
    }
    if mode() == Mode::Watch {
        if for_good {
            watch::finish();
        }
    } else {
        if for_good && inputs::mismatches() > 0 {
            facts::note(deadheat_wire::inputs::OTHER);
        }
        threads::flush_all();
        serial::flush(for_good);
        file::end(reason, for_good);
    }
    if for_good {
        go_on_unrecorded();
        // SAFETY: the thread's own state.
        unsafe { (*local()).cursor.clear() };
        threads::stop_watching();
    }
}

/// Nothing more is recorded. Threads that take turns go on doing so if there are several.
fn go_on_unrecorded() {
    if mode() == Mode::Serial && serial::goes_on_unrecorded() {
        HAS_ENDED.store(true, Ordering::Release);
    } else {
        MODE.store(0, Ordering::Release);
    }
}

/// The program becomes one whose copies run: they have no recording of their own.
pub fn leave_to_copies() {
    file::forget();
}

/// Stops recording before the program ends. The program goes on.
pub(crate) fn fail(why: Stop) {
    // First of all: no thread may record what happened behind an event that is lost.
    if mode() == Mode::Parallel {
        MODE.store(0, Ordering::Release);
    }
    static SAID: AtomicU32 = AtomicU32::new(0);
    if SAID.swap(1, Ordering::Relaxed) == 0 {
        message::say(format_args!(
            "recording stopped: {why}; the program goes on, what was written can be read{}",
            why.advice()
        ));
    }
}

/// In a new process after `fork`: a recording of its own, with the calling thread only.
pub fn restart_in_child() {
    let before = if has_ended() { Mode::Off } else { mode() };
    MODE.store(0, Ordering::Release);
    // SAFETY: the thread's own state; it must not write into buffers shared with the parent.
    unsafe { (*local()).cursor.clear() };
    let begun = match before {
        Mode::Off => false,
        Mode::Watch => watch::restart_in_child(),
        _ => file::create_for_child(sys::getpid()),
    };
    if !begun {
        // SAFETY: the thread's own state.
        unsafe { (*local()).set_watcher(core::ptr::null_mut()) };
        return;
    }
    SEQUENCE.store(1, Ordering::Relaxed);
    intercept::mapping::unlock();
    inputs::unload();
    threads::only_me();
    if before == Mode::Serial {
        serial::restart_in_child();
    }
    facts::modules();
    MODE.store(before as u32, Ordering::Release);
    threads::attach_first(before);
}
