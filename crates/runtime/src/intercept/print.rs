//! `dprintf`: prints to a descriptor, which is a send like any other. What is printed to a stream is in [`super::stream`].
//!
//! It takes any number of arguments: they are left where they are, and the real function is jumped to.

use core::arch::naked_asm;
use core::ffi::c_int;

use super::channel::{self, Behind};
use super::real;
use crate::hooks::{caller, trampoline};

trampoline! {
    "dprintf" => dprintf;
    "__dprintf_chk" => dprintf_chk;
    "vdprintf" => vdprintf;
    "__vdprintf_chk" => vdprintf_chk;
}

/// Defines functions whose first argument is the descriptor: it is said what they do, then the real one does it, with all arguments that there are.
macro_rules! printing {
    ($($name:ident => $address:path;)*) => { $(
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "push rax",
                "sub rsp, 128",
                "movups [rsp], xmm0",
                "movups [rsp + 16], xmm1",
                "movups [rsp + 32], xmm2",
                "movups [rsp + 48], xmm3",
                "movups [rsp + 64], xmm4",
                "movups [rsp + 80], xmm5",
                "movups [rsp + 96], xmm6",
                "movups [rsp + 112], xmm7",
                "call {before}",
                "call {address}",
                "mov r11, rax",
                "movups xmm0, [rsp]",
                "movups xmm1, [rsp + 16]",
                "movups xmm2, [rsp + 32]",
                "movups xmm3, [rsp + 48]",
                "movups xmm4, [rsp + 64]",
                "movups xmm5, [rsp + 80]",
                "movups xmm6, [rsp + 96]",
                "movups xmm7, [rsp + 112]",
                "add rsp, 128",
                "pop rax",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "jmp r11",
                before = sym before_printing,
                address = sym $address,
            )
        }
    )* };
}

printing! {
    dprintf => real::address_of_dprintf;
    dprintf_chk => real::address_of_dprintf_chk;
    vdprintf => real::address_of_vdprintf;
    vdprintf_chk => real::address_of_vdprintf_chk;
}

extern "C" fn before_printing(fd: c_int) {
    let pc = caller();
    channel::send_from(Behind::number(fd), pc);
}
