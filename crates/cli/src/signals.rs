//! Signals while a program is being recorded.
//!
//! Deadheat outlives the program so that it can close its books: a signal that would end it is
//! handed on instead. What comes from the terminal has reached the program already and is only
//! survived.

use std::sync::atomic::{AtomicI32, Ordering};

/// The program that gets the signals; 0 while there is none.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// A signal that came before there was a program; 0 if none did.
static EARLY: AtomicI32 = AtomicI32::new(0);

const HANDED_ON: [i32; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];

/// From now until [`Watch::end`], signals do not end this process. (They reach a program that is
/// started now in their usual way: handlers do not survive the start of a program.)
pub struct Watch {
    before: [libc::sigaction; HANDED_ON.len()],
}

impl Watch {
    /// Begins.
    pub fn begin() -> Self {
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
        Watch { before }
    }

    /// Names the program that gets the signals.
    pub fn child(&self, process: u32) {
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
    if child == 0 {
        EARLY.store(signal, Ordering::SeqCst);
    } else if !from_terminal {
        // SAFETY: kill is async-signal-safe; see `Watch::child` for the number.
        unsafe { libc::kill(child, signal) };
    }
}
