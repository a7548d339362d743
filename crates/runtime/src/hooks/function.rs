//! Entry and exit of functions, and the call that announces an instrumented object file.

use core::arch::naked_asm;

use crate::record::{self, event};

/// The compiler passes the pc of the call; ours is in the function's own code.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn __tsan_func_entry(_caller: usize) {
    naked_asm!(
        ".cfi_startproc",
        "mov rsi, [rsp]",
        "mov rdx, rsp",
        "jmp {0}",
        ".cfi_endproc",
        sym enter
    )
}

unsafe extern "C" fn enter(caller: usize, callee: usize, sp: usize) {
    // SAFETY: called at a function's entry.
    unsafe { event::enter(caller, callee, sp) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn __tsan_func_exit() {
    naked_asm!(".cfi_startproc", "mov rdi, rsp", "jmp {0}", ".cfi_endproc", sym leave)
}

unsafe extern "C" fn leave(sp: usize) {
    // SAFETY: called at a function's exit.
    unsafe { event::leave(sp) }
}

/// Called by a constructor in every instrumented object file.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __tsan_init() {
    record::start();
}

/// The program's first constructor and last destructor. (Libraries' constructors run before,
/// and their destructors after.)
#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array.00000")]
static FIRST: extern "C" fn() = {
    extern "C" fn first() {
        record::start();
    }
    first
};

#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".fini_array.00000")]
static LAST: extern "C" fn() = {
    extern "C" fn last() {
        crate::process::ends();
    }
    last
};
