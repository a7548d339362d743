//! `longjmp` and its like: functions, waits and signal handlers that are left.

use core::arch::asm;
use core::ffi::c_int;

use crate::hooks::trampoline;
use crate::intercept::real;
use crate::local::local;
use crate::record::{Mode, event, mode};
use crate::serial::signals;
use crate::{serial, threads};

trampoline! {
    "longjmp" => longjmp;
    "siglongjmp" => siglongjmp;
    "_longjmp" => underscore_longjmp;
    "__longjmp_chk" => checked_longjmp;
}

// SAFETY of all calls of real functions below: the arguments are the program's own.

/// Leaves the functions, and the signal handler, that a jump leaves. glibc keeps the stack
/// pointer in the buffer's seventh word, mangled by a secret of the thread's.
unsafe fn before_jump(buffer: usize) {
    if mode() == Mode::Off {
        return;
    }
    // SAFETY: the program's jump buffer; the offset of the secret is part of glibc's ABI.
    let sp = unsafe {
        let mangled = *(buffer as *const u64).add(6);
        let secret: u64;
        asm!("mov {}, fs:[0x30]", out(reg) secret, options(nostack, readonly, pure));
        (mangled.rotate_right(17) ^ secret) as usize
    };
    if unsafe { leave_handler(sp) } && serial::is_green() {
        unsafe { fit_mask(buffer) };
    }
    if threads::visible() {
        // The function that called `setjmp` had its entry hook called with a stack pointer of
        // at least that less one word; everything that it called, two words less or lower.
        event::abandon_frames(sp - 16);
    }
}

/// A jump to `sp` out of a signal handler: it will not return to `run_handler`, nor to what the
/// handler interrupted. A jump within the handler stays between here and where it began.
unsafe fn leave_handler(sp: usize) -> bool {
    // SAFETY: the thread's own state.
    unsafe {
        let local = local();
        let here = &raw const local as usize;
        if (*local).handlers != 0 && !(here..(*local).handler_frame).contains(&sp) {
            (*local).handlers = 0;
            (*local).inside = 0;
            threads::reopen_mine();
            serial::leave_wait();
            return true;
        }
    }
    false
}

/// A jump out of a handler puts back the mask of a kernel thread that other threads use as well: it
/// must be the one that fits now. If it puts none back, what the handler's run has blocked stays
/// blocked for the thread.
unsafe fn fit_mask(buffer: usize) {
    const MASK_WAS_SAVED: usize = 64;
    const SAVED_MASK: usize = 72;
    let now = signals::mask();
    // SAFETY: the program's jump buffer, with glibc's layout.
    unsafe {
        let is_saved = ((buffer + MASK_WAS_SAVED) as *const c_int).read() != 0;
        if serial::is_at_home() {
            return;
        }
        let fitting = signals::carrier_mask();
        if is_saved {
            ((buffer + SAVED_MASK) as *mut u64).write(fitting);
        } else if let Some(mask) = serial::own_mask() {
            serial::set_own_mask(mask | now & !fitting);
        }
    }
}

unsafe extern "C" fn longjmp(buffer: usize, value: c_int) -> usize {
    unsafe {
        before_jump(buffer);
        real::longjmp(buffer, value)
    }
}

unsafe extern "C" fn siglongjmp(buffer: usize, value: c_int) -> usize {
    unsafe {
        before_jump(buffer);
        real::siglongjmp(buffer, value)
    }
}

unsafe extern "C" fn underscore_longjmp(buffer: usize, value: c_int) -> usize {
    unsafe {
        before_jump(buffer);
        real::_longjmp(buffer, value)
    }
}

unsafe extern "C" fn checked_longjmp(buffer: usize, value: c_int) -> usize {
    unsafe {
        before_jump(buffer);
        real::__longjmp_chk(buffer, value)
    }
}
