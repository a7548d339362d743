//! Functions of the C library that read and write the program's memory for it.
//!
//! gcc calls them as they are, clang by names of its own. They also serve the runtime itself:
//! the compiler turns its copies into calls of `memcpy`, which is why they work before anything
//! is looked up, and why what the runtime does is told apart from what the program does.

use core::arch::asm;
use core::ffi::{c_char, c_int};

use super::real;
use crate::hooks::{caller, trampoline};
use crate::local::local;
use crate::record::event;
use crate::serial;

trampoline! {
    "memcpy" => memcpy;
    "__tsan_memcpy" => memcpy;
    "memmove" => memmove;
    "__tsan_memmove" => memmove;
    "memset" => memset;
    "__tsan_memset" => memset;
    "mempcpy" => mempcpy;
    "bcopy" => bcopy;
    "bzero" => bzero;
    "memcmp" => memcmp;
    "bcmp" => memcmp;
    "strlen" => strlen;
    "strcmp" => strcmp;
    "strncmp" => strncmp;
    "strcpy" => strcpy;
    "stpcpy" => stpcpy;
    "strncpy" => strncpy;
    "strcat" => strcat;
    "strdup" => strdup;
    "__memcpy_chk" => memcpy_chk;
    "__memmove_chk" => memmove_chk;
    "__memset_chk" => memset_chk;
    "__mempcpy_chk" => mempcpy_chk;
}

/// Copies upwards, byte by byte as far as anyone can tell.
unsafe fn copy_up(to: usize, from: usize, length: usize) {
    // SAFETY: the caller's ranges; the direction flag is clear by the ABI.
    unsafe {
        asm!("rep movsb", inout("rcx") length => _, inout("rdi") to => _, inout("rsi") from => _,
             options(nostack, preserves_flags));
    }
}

/// Copies downwards, for ranges that overlap.
unsafe fn copy_down(to: usize, from: usize, length: usize) {
    // SAFETY: the caller's ranges, not empty; the direction flag is put back.
    unsafe {
        asm!("std", "rep movsb", "cld", inout("rcx") length => _,
             inout("rdi") to + length - 1 => _, inout("rsi") from + length - 1 => _,
             options(nostack));
    }
}

/// Whether the real functions can be called: the runtime has started.
fn ready() -> bool {
    // SAFETY: the thread's own state; a thread has a record only after the start.
    unsafe { !(*local()).thread.is_null() }
}

unsafe extern "C" fn memcpy(to: usize, from: usize, length: usize) -> usize {
    let pc = caller();
    event::range(false, from, length, pc);
    event::range(true, to, length, pc);
    // SAFETY: (here and below) the arguments are the program's own, for this very function.
    unsafe {
        if ready() {
            real::memcpy(to, from, length);
        } else {
            copy_up(to, from, length);
        }
    }
    serial::settle(); // It is done, not only announced.
    to
}

unsafe extern "C" fn memmove(to: usize, from: usize, length: usize) -> usize {
    let pc = caller();
    event::range(false, from, length, pc);
    event::range(true, to, length, pc);
    // SAFETY: see `memcpy`.
    unsafe {
        if ready() {
            real::memmove(to, from, length);
        } else if to <= from || to >= from + length {
            copy_up(to, from, length);
        } else {
            copy_down(to, from, length);
        }
    }
    serial::settle(); // It is done, not only announced.
    to
}

unsafe extern "C" fn memset(to: usize, byte: c_int, length: usize) -> usize {
    event::range(true, to, length, caller());
    // SAFETY: see `memcpy`.
    unsafe {
        if ready() {
            real::memset(to, byte, length);
        } else {
            asm!("rep stosb", inout("rcx") length => _, inout("rdi") to => _,
                 in("al") byte as u8, options(nostack, preserves_flags));
        }
    }
    serial::settle(); // It is done, not only announced.
    to
}

unsafe extern "C" fn mempcpy(to: usize, from: usize, length: usize) -> usize {
    // SAFETY: see `memcpy`.
    unsafe { memcpy(to, from, length) + length }
}

unsafe extern "C" fn bcopy(from: usize, to: usize, length: usize) {
    // SAFETY: see `memcpy`.
    unsafe { memmove(to, from, length) };
}

unsafe extern "C" fn bzero(to: usize, length: usize) {
    // SAFETY: see `memcpy`.
    unsafe { memset(to, 0, length) };
}

/// How many bytes two ranges have in common, and how the next two compare.
unsafe fn compare(left: usize, right: usize, length: usize, text: bool) -> (usize, c_int) {
    for i in 0..length {
        // SAFETY: the caller's ranges; in text nothing behind the closing zero is read.
        let (a, b) = unsafe {
            (
                ((left + i) as *const u8).read_volatile(),
                ((right + i) as *const u8).read_volatile(),
            )
        };
        if a != b {
            return (i, c_int::from(a) - c_int::from(b));
        }
        if text && a == 0 {
            return (i, 0);
        }
    }
    (length, 0)
}

fn read_both(left: usize, right: usize, length: usize, pc: usize) {
    event::range(false, left, length, pc);
    event::range(false, right, length, pc);
}

unsafe extern "C" fn memcmp(left: usize, right: usize, length: usize) -> c_int {
    let pc = caller();
    // SAFETY: see `memcpy`.
    unsafe {
        if ready() {
            read_both(left, right, length, pc);
            return real::memcmp(left, right, length);
        }
        compare(left, right, length, false).1
    }
}

/// The length of a C string, without the C library.
unsafe fn length_of(text: usize) -> usize {
    let mut length = 0;
    // SAFETY: the caller's C string. The read is volatile so that the loop is not turned into a
    // call of `strlen`, which is ours.
    while unsafe { ((text + length) as *const u8).read_volatile() } != 0 {
        length += 1;
    }
    length
}

unsafe extern "C" fn strlen(text: usize) -> usize {
    let pc = caller();
    // SAFETY: see `memcpy`.
    unsafe {
        if !ready() {
            return length_of(text);
        }
        let length = real::strlen(text);
        event::range(false, text, length + 1, pc);
        length
    }
}

unsafe extern "C" fn strcmp(left: usize, right: usize) -> c_int {
    // SAFETY: see `memcpy`.
    unsafe { strncmp_from(left, right, usize::MAX, caller()) }
}

unsafe extern "C" fn strncmp(left: usize, right: usize, length: usize) -> c_int {
    // SAFETY: see `memcpy`.
    unsafe { strncmp_from(left, right, length, caller()) }
}

unsafe fn strncmp_from(left: usize, right: usize, length: usize, pc: usize) -> c_int {
    // SAFETY: see `memcpy`.
    unsafe {
        let (common, result) = compare(left, right, length, true);
        read_both(left, right, common.saturating_add(1).min(length), pc);
        result
    }
}

unsafe extern "C" fn strcpy(to: usize, from: usize) -> usize {
    let pc = caller();
    // SAFETY: see `memcpy`.
    unsafe { copy_text(to, from, pc) };
    to
}

unsafe extern "C" fn stpcpy(to: usize, from: usize) -> usize {
    let pc = caller();
    // SAFETY: see `memcpy`.
    to + unsafe { copy_text(to, from, pc) }
}

unsafe fn copy_text(to: usize, from: usize, pc: usize) -> usize {
    // SAFETY: see `memcpy`.
    unsafe {
        let length = length_of(from);
        event::range(false, from, length + 1, pc);
        event::range(true, to, length + 1, pc);
        copy_up(to, from, length + 1);
        serial::settle();
        length
    }
}

unsafe extern "C" fn strncpy(to: usize, from: usize, length: usize) -> usize {
    let pc = caller();
    // SAFETY: see `memcpy`.
    unsafe {
        let mut taken = 0;
        while taken < length && ((from + taken) as *const u8).read_volatile() != 0 {
            taken += 1;
        }
        event::range(false, from, (taken + 1).min(length), pc);
        event::range(true, to, length, pc);
        copy_up(to, from, taken);
        asm!("rep stosb", inout("rcx") length - taken => _, inout("rdi") to + taken => _,
             in("al") 0u8, options(nostack, preserves_flags));
    }
    serial::settle();
    to
}

unsafe extern "C" fn strcat(to: usize, from: usize) -> usize {
    let pc = caller();
    // SAFETY: see `memcpy`.
    unsafe {
        let end = length_of(to);
        event::range(false, to, end + 1, pc);
        copy_text(to + end, from, pc);
    }
    to
}

unsafe extern "C" fn strdup(text: usize) -> *mut c_char {
    unsafe extern "C" {
        fn malloc(size: usize) -> *mut c_char;
    }
    let pc = caller();
    // SAFETY: see `memcpy`.
    unsafe {
        let copy = malloc(length_of(text) + 1);
        if !copy.is_null() {
            copy_text(copy as usize, text, pc);
        }
        copy
    }
}

// Fortified ones check the size of what is written to. What is too long is left to the C library, which
// ends the program.

unsafe extern "C" {
    fn __chk_fail() -> !;
}

unsafe extern "C" fn memcpy_chk(to: usize, from: usize, length: usize, size: usize) -> usize {
    // SAFETY: see `memcpy`.
    unsafe {
        match length <= size {
            true => memcpy(to, from, length),
            false => __chk_fail(),
        }
    }
}

unsafe extern "C" fn memmove_chk(to: usize, from: usize, length: usize, size: usize) -> usize {
    // SAFETY: see `memcpy`.
    unsafe {
        match length <= size {
            true => memmove(to, from, length),
            false => __chk_fail(),
        }
    }
}

unsafe extern "C" fn memset_chk(to: usize, byte: c_int, length: usize, size: usize) -> usize {
    // SAFETY: see `memcpy`.
    unsafe {
        match length <= size {
            true => memset(to, byte, length),
            false => __chk_fail(),
        }
    }
}

unsafe extern "C" fn mempcpy_chk(to: usize, from: usize, length: usize, size: usize) -> usize {
    // SAFETY: see `memcpy`.
    unsafe {
        match length <= size {
            true => mempcpy(to, from, length),
            false => __chk_fail(),
        }
    }
}
