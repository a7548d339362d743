//! Backtraces. Rust's standard library turns each frame into text within this call, reading the
//! program's debug information with millions of copies that say nothing about the program.

use core::ffi::{c_int, c_void};

use crate::hooks::trampoline;
use crate::local::local;

trampoline! { "_Unwind_Backtrace" => backtrace; }

type Visit = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
type Backtrace = unsafe extern "C" fn(Visit, *mut c_void) -> c_int;

/// What the unwinder answers when it cannot go on.
const FATAL: c_int = 3;

unsafe extern "C" fn backtrace(visit: Visit, argument: *mut c_void) -> c_int {
    // SAFETY: the name ends with a zero byte; what is found under it is that function, and its
    // arguments are the program's own; the thread's own state.
    unsafe {
        // Looked up each time: the unwinder's library may be loaded late.
        let real = libc::dlsym(libc::RTLD_NEXT, c"_Unwind_Backtrace".as_ptr());
        if real.is_null() {
            return FATAL;
        }
        let real: Backtrace = core::mem::transmute(real);
        (*local()).backtraces += 1;
        let result = real(visit, argument);
        (*local()).backtraces -= 1;
        result
    }
}
