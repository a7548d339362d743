//! Signal handlers of the program, and the masks of its threads.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::hooks::trampoline;
use crate::intercept::real;
use crate::local::local;
use crate::record::{Mode, mode};
use crate::serial::signals::{self, Info};
use crate::{serial, threads, watch};

trampoline! {
    "sigaction" => sigaction;
    "signal" => signal;
    "pthread_sigmask" => pthread_sigmask;
    "sigprocmask" => sigprocmask;
}

// SAFETY of all calls of real functions below: the arguments are the program's own.

/// The program's own signal handlers, by signal.
static HANDLERS: [AtomicUsize; 65] = [const { AtomicUsize::new(0) }; 65];
/// For which signals there is one; which of them let calls begin anew, and which are removed once
/// they run.
static CAUGHT: AtomicU64 = AtomicU64::new(0);
static RESTARTS: AtomicU64 = AtomicU64::new(0);
static ONCE: AtomicU64 = AtomicU64::new(0);

fn set_bit(bits: &AtomicU64, signal: c_int, is_on: bool) {
    match is_on {
        true => bits.fetch_or(signals::bit(signal), Ordering::AcqRel),
        false => bits.fetch_and(!signals::bit(signal), Ordering::AcqRel),
    };
}

fn has_bit(bits: &AtomicU64, signal: c_int) -> bool {
    bits.load(Ordering::Acquire) & signals::bit(signal) != 0
}

/// The program's handler of a signal; 0 if there is none.
pub fn handler_of(signal: c_int) -> usize {
    match has_bit(&CAUGHT, signal) {
        true => HANDLERS[signal as usize].load(Ordering::Acquire),
        false => 0,
    }
}

/// Whether a call that a signal interrupts begins anew.
pub fn restarts(signal: c_int) -> bool {
    has_bit(&RESTARTS, signal)
}

/// Whether there is a handler of a signal that others may send. Faults are no such signals.
pub fn has_handlers() -> bool {
    let faults = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGSYS,
        libc::SIGABRT,
        libc::SIGPIPE,
    ];
    let faults = faults.iter().fold(0, |all, one| all | signals::bit(*one));
    CAUGHT.load(Ordering::Acquire) & !faults != 0
}

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Runs the program's handler, unseen: it may have interrupted a hook between two words, so
/// nothing may be written until it returns.
extern "C" fn run_handler(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let is_known = signals::is_delivering(signal);
    // SAFETY: the kernel passes what it tells about the signal.
    if signals::defers(signal, unsafe { &*info.cast::<Info>() }) {
        return;
    }
    if has_bit(&ONCE, signal) {
        // SAFETY: a plain record; zero is the default action.
        unsafe {
            let default: libc::sigaction = core::mem::zeroed();
            sigaction(signal, &raw const default as usize, 0);
        }
    }
    // SAFETY: the thread's own state, put back as it was; the handler is the program's, which
    // ignores the arguments that it did not ask for.
    unsafe {
        let local = local();
        if (*local).handlers == 0 {
            (*local).handler_frame = &raw const local as usize;
            (*local).interrupted = [(*local).cursor.cur, (*local).cursor.end];
            (*local).interrupted_watcher = (*local).watcher;
        }
        (*local).handlers += 1;
        (*local).cursor.clear();
        (*local).set_watcher(core::ptr::null_mut());
        if !is_known {
            signals::keep_receipt(signal);
        }
        let handler: Handler =
            core::mem::transmute(HANDLERS[signal as usize].load(Ordering::Acquire));
        handler(signal, info, context);
        (*local).handlers -= 1;
        if (*local).handlers == 0 {
            threads::reopen_mine();
            // Nothing of ours was interrupted, so nobody holds a lock here.
            if mode() == Mode::Watch && (*local).inside == 0 {
                watch::after_handler();
            }
        }
    }
}

/// Whether the program handles `SIGABRT`.
pub fn handles_death() -> bool {
    is_handler(HANDLERS[libc::SIGABRT as usize].load(Ordering::Acquire))
}

/// Whether a handler is one to stand in for: not one of the special values.
fn is_handler(handler: usize) -> bool {
    handler > 1 && handler != usize::MAX
}

unsafe extern "C" fn sigaction(signal: c_int, new: usize, old: usize) -> c_int {
    let index = signal as usize;
    if mode() == Mode::Off || index == 0 || index >= HANDLERS.len() {
        return unsafe { real::sigaction(signal, new, old) };
    }
    let before = HANDLERS[index].load(Ordering::Acquire);
    unsafe {
        let mut wrapped;
        let mut passed = new;
        if new != 0 {
            wrapped = *(new as *const libc::sigaction);
            if is_handler(wrapped.sa_sigaction) {
                if wrapped.sa_flags & libc::SA_ONSTACK != 0 {
                    signals::stack::is_wanted_for(signal);
                }
                HANDLERS[index].store(wrapped.sa_sigaction, Ordering::Release);
                // One that is put off is called twice by the kernel, and removed when it runs.
                wrapped.sa_flags &= !libc::SA_RESETHAND;
                wrapped.sa_sigaction = run_handler as *const () as usize;
                passed = &raw const wrapped as usize;
            }
        }
        let result = real::sigaction(signal, passed, old);
        if result == 0 && old != 0 {
            let old = old as *mut libc::sigaction;
            if (*old).sa_sigaction == run_handler as *const () as usize {
                (*old).sa_sigaction = before;
            }
        }
        if result != 0 {
            HANDLERS[index].store(before, Ordering::Release);
        } else if new != 0 {
            serial::sets_handler();
            let new = &*(new as *const libc::sigaction);
            let is_caught = is_handler(new.sa_sigaction);
            set_bit(&CAUGHT, signal, is_caught);
            set_bit(&RESTARTS, signal, new.sa_flags & libc::SA_RESTART != 0);
            let once = is_caught && new.sa_flags & libc::SA_RESETHAND != 0;
            set_bit(&ONCE, signal, once);
        }
        result
    }
}

unsafe extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    unsafe {
        let mut new: libc::sigaction = core::mem::zeroed();
        let mut old: libc::sigaction = core::mem::zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        match sigaction(signal, &raw const new as usize, &raw mut old as usize) {
            0 => old.sa_sigaction,
            _ => libc::SIG_ERR,
        }
    }
}

unsafe extern "C" fn pthread_sigmask(how: c_int, new: usize, old: usize) -> c_int {
    match serial::own_mask() {
        Some(mask) => unsafe { change_mask(mask, how, new, old) },
        None => unsafe { real::pthread_sigmask(how, new, old) },
    }
}

unsafe extern "C" fn sigprocmask(how: c_int, new: usize, old: usize) -> c_int {
    let Some(mask) = serial::own_mask() else {
        return unsafe { real::sigprocmask(how, new, old) };
    };
    match unsafe { change_mask(mask, how, new, old) } {
        0 => 0,
        error => {
            unsafe { *libc::__errno_location() = error };
            -1
        }
    }
}

/// Changes which signals the running thread does not want, where the kernel does not know; an error
/// number.
unsafe fn change_mask(now: u64, how: c_int, new: usize, old: usize) -> c_int {
    let wanted = match new {
        0 => None,
        place => Some(unsafe { (place as *const u64).read_unaligned() }),
    };
    let changed = match (wanted, how) {
        (None, _) => None,
        (Some(set), libc::SIG_BLOCK) => Some(now | set),
        (Some(set), libc::SIG_UNBLOCK) => Some(now & !set),
        (Some(set), libc::SIG_SETMASK) => Some(set),
        _ => return libc::EINVAL,
    };
    if old != 0 {
        unsafe { (old as *mut [u64; 16]).write_unaligned([0; 16]) };
        unsafe { (old as *mut u64).write_unaligned(now) };
    }
    changed.inspect(|mask| {
        serial::set_own_mask(*mask);
    });
    0
}
