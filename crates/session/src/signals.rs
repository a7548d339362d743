//! Signals that ask to stop, and who gets them.
//!
//! Deadheat outlives the program so that it can close its books: a signal that would end it is
//! handed on instead. What comes from the terminal has reached the program already and is only
//! survived.
//!
//! A command that keeps what it finds ([`keep_findings`]) hears of them, too. While the user's program
//! runs, the first signal ends the program, the second does so whatever it thinks of it, and what was
//! recorded is looked at. After that, the first signal ends the search, and what is known is
//! reported; the second ends everything at once.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

use crate::scratch;

/// The program that gets the signals; 0 while there is none.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// Whether that is the run that the user has asked for, and not one more of ours.
static IS_USERS: AtomicBool = AtomicBool::new(false);
/// A signal that came before there was a program; 0 if none did.
static EARLY: AtomicI32 = AtomicI32::new(0);
/// Whether the command reports what it knows when it is stopped.
static KEEPS: AtomicBool = AtomicBool::new(false);
/// How many signals have come since the last [`take`].
static ASKED: AtomicU32 = AtomicU32::new(0);
/// Whether to stop: for those who look at it themselves.
pub static STOP: AtomicBool = AtomicBool::new(false);

const HANDED_ON: [i32; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];

/// How long a program may take to end when it was asked to.
pub const GRACE: Duration = Duration::from_secs(2);
/// What the process ends with when it was asked twice, as if by Ctrl-C.
const ENDED: i32 = 130;

/// From now on signals stop what is done, and not this process.
pub fn keep_findings() {
    KEEPS.store(true, Ordering::SeqCst);
    handle();
}

/// Whether [`keep_findings`] holds.
pub fn are_kept() -> bool {
    KEEPS.load(Ordering::SeqCst)
}

/// Whether the user wants to stop.
#[inline]
pub fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Whether the user has asked to stop; from now on it is as if not.
pub fn take() -> bool {
    ASKED.store(0, Ordering::SeqCst);
    STOP.swap(false, Ordering::SeqCst)
}

/// From now until [`Watch::end`], signals do not end this process. (They reach a program that is
/// started now in their usual way: handlers do not survive the start of a program.)
pub struct Watch {
    before: [libc::sigaction; HANDED_ON.len()],
    is_users: bool,
}

/// Has our handler called; what was there before.
fn handle() -> [libc::sigaction; HANDED_ON.len()] {
    // SAFETY: an all-zero sigaction is a valid one (default action, empty mask).
    let mut before: [libc::sigaction; HANDED_ON.len()] = unsafe { std::mem::zeroed() };
    for (signal, old) in HANDED_ON.into_iter().zip(&mut before) {
        // SAFETY: as above; the handler has the signature that SA_SIGINFO asks for and calls
        // async-signal-safe functions only; both structures live through the call.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = hand_on as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &action, old);
        }
    }
    before
}

impl Watch {
    /// Begins. `is_users`: for the run that the user has asked for.
    pub fn begin(is_users: bool) -> Self {
        Watch {
            before: handle(),
            is_users,
        }
    }

    /// Names the program that gets the signals.
    pub fn child(&self, process: u32) {
        IS_USERS.store(self.is_users, Ordering::SeqCst);
        CHILD.store(process as i32, Ordering::SeqCst);
        let early = EARLY.swap(0, Ordering::SeqCst);
        if early != 0 {
            // SAFETY: kill has no memory-safety requirement; the process is our child and not
            // yet waited for, so the number is its.
            unsafe { libc::kill(process as i32, early) };
        }
    }

    /// Ends; call it when the program has been waited for.
    pub fn end(self) {
        CHILD.store(0, Ordering::SeqCst);
        for (signal, old) in HANDED_ON.into_iter().zip(&self.before) {
            // SAFETY: `old` is what the system gave us for this signal.
            unsafe { libc::sigaction(signal, old, std::ptr::null_mut()) };
        }
    }
}

extern "C" fn hand_on(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system passes a valid siginfo to a handler with SA_SIGINFO.
    let from_terminal = unsafe { (*info).si_code } > 0;
    let child = CHILD.load(Ordering::SeqCst);
    let keeps = KEEPS.load(Ordering::SeqCst);
    let is_first = ASKED.fetch_add(1, Ordering::SeqCst) == 0;
    let is_users = IS_USERS.load(Ordering::SeqCst);
    STOP.store(true, Ordering::SeqCst);
    if child == 0 {
        if !keeps {
            EARLY.store(signal, Ordering::SeqCst);
        }
    } else if keeps && (!is_users || !is_first) {
        // SAFETY: kill is async-signal-safe; see `Watch::child` for the number.
        unsafe { libc::kill(child, libc::SIGKILL) };
    } else if !from_terminal {
        // SAFETY: as above.
        unsafe { libc::kill(child, signal) };
    }
    if keeps && !is_first && (child == 0 || !is_users) {
        scratch::end_in_handler();
        // SAFETY: it ends the process, without running anything that the signal has interrupted.
        unsafe { libc::_exit(ENDED) };
    }
}
