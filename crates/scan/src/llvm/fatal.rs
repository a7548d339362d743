//! Errors after which LLVM ends the process.
//!
//! Some broken modules are not refused but make LLVM give up, and it cannot be asked to go on. All that can be done is to say it as
//! other errors are said, and to end with their exit code instead of a signal.

use std::ffi::{CStr, c_char};
use std::sync::Once;

use llvm_sys::error_handling::LLVMInstallFatalErrorHandler;

/// With which code the process ends: that of a program that cannot be read.
const UNREADABLE: i32 = 3;

/// From now on, the process says why it ends if LLVM gives up.
pub(super) fn explain() {
    static ONCE: Once = Once::new();
    // SAFETY: the handler is installed once, and does not return.
    ONCE.call_once(|| unsafe { LLVMInstallFatalErrorHandler(Some(give_up)) });
}

extern "C" fn give_up(reason: *const c_char) {
    // SAFETY: LLVM gives a text that ends with a zero.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
    eprintln!("deadheat-scan: error: LLVM gave up: {reason}");
    std::process::exit(UNREADABLE);
}
