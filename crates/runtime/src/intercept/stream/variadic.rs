//! Functions of streams that take any number of arguments. Each makes a list of them, as a C compiler would,
//! and calls its sister that takes a list.

use core::arch::naked_asm;

use super::{input, output};
use crate::local::CALLER;

/// Exports `$name`, which has one, two or three arguments before the others, as a function that calls
/// `$target` with the same arguments and the list in the next
/// register. The list is what the System V ABI says: how much of the saved registers is used up, where the
/// arguments on the stack begin, and where
/// the saved registers are.
macro_rules! variadic {
    ($($name:literal, $fixed:literal in $register:literal => $target:path;)*) => { $(const _: () = {
        #[cfg_attr(not(test), unsafe(export_name = $name))]
        #[unsafe(naked)]
        #[allow(dead_code)]
        unsafe extern "C" fn entry() {
            naked_asm!(
                ".cfi_startproc",
                "mov r11, [rsp]",
                "mov r10, qword ptr [rip + deadheat_local@GOTTPOFF]",
                "mov fs:[r10 + {caller}], r11",
                "sub rsp, 216",
                ".cfi_adjust_cfa_offset 216",
                "mov [rsp + 32], rdi",
                "mov [rsp + 40], rsi",
                "mov [rsp + 48], rdx",
                "mov [rsp + 56], rcx",
                "mov [rsp + 64], r8",
                "mov [rsp + 72], r9",
                "movaps [rsp + 80], xmm0",
                "movaps [rsp + 96], xmm1",
                "movaps [rsp + 112], xmm2",
                "movaps [rsp + 128], xmm3",
                "movaps [rsp + 144], xmm4",
                "movaps [rsp + 160], xmm5",
                "movaps [rsp + 176], xmm6",
                "movaps [rsp + 192], xmm7",
                "mov dword ptr [rsp], 8 * {fixed}",
                "mov dword ptr [rsp + 4], 48",
                "lea r11, [rsp + 224]",
                "mov [rsp + 8], r11",
                "lea r11, [rsp + 32]",
                "mov [rsp + 16], r11",
                concat!("mov ", $register, ", rsp"),
                "call {target}",
                "add rsp, 216",
                ".cfi_adjust_cfa_offset -216",
                "ret",
                ".cfi_endproc",
                caller = const CALLER,
                fixed = const $fixed,
                target = sym $target,
            )
        }
    };)* };
}

variadic! {
    "printf", 1 in "rsi" => output::vprintf;
    "fprintf", 2 in "rdx" => output::vfprintf;
    "__printf_chk", 2 in "rdx" => output::vprintf_chk;
    "__fprintf_chk", 3 in "rcx" => output::vfprintf_chk;
    "scanf", 1 in "rsi" => input::vscanf;
    "fscanf", 2 in "rdx" => input::vfscanf;
    "__isoc99_scanf", 1 in "rsi" => input::isoc99_vscanf;
    "__isoc99_fscanf", 2 in "rdx" => input::isoc99_vfscanf;
    "__isoc23_scanf", 1 in "rsi" => input::isoc23_vscanf;
    "__isoc23_fscanf", 2 in "rdx" => input::isoc23_vfscanf;
}
