//! The functions that `-fsanitize=thread` makes gcc, clang and rustc call, and the public
//! annotations of ThreadSanitizer: whatever links with its runtime links with this one.
//!
//! Hooks need to know where they were called from. A Rust function cannot ask; so each exported
//! symbol is a naked function that passes its return address on and jumps to the real one,
//! either as a further argument ([`access`], [`function`]) or through [`Local::caller`].
//!
//! [`Local::caller`]: crate::local::Local::caller

mod access;
mod annotate;
pub mod atomic;
mod function;
mod sanitizer;

/// Exports `$name` as a naked function that stores its return address in `Local::caller` and
/// jumps to `$target`. Arguments, also on the stack, stay where they are. In unit tests nothing
/// is exported: the test program must keep its own C library.
macro_rules! trampoline {
    ($($name:expr => $target:path;)*) => { $(const _: () = {
        #[cfg_attr(not(test), unsafe(export_name = $name))]
        #[unsafe(naked)]
        #[allow(dead_code)]
        unsafe extern "C" fn entry() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "mov r11, [rsp]",
                "mov r10, qword ptr [rip + deadheat_local@GOTTPOFF]",
                "mov fs:[r10 + {caller}], r11",
                "jmp {target}",
                ".cfi_endproc",
                caller = const $crate::local::CALLER,
                target = sym $target,
            )
        }
    };)* };
}
pub(crate) use trampoline;

/// Who called the intercepted function or hook. Asked first thing: whatever is called from
/// there may overwrite it.
#[inline(always)]
pub fn caller() -> usize {
    // SAFETY: the thread's own state.
    unsafe { (*crate::local::local()).caller }
}
