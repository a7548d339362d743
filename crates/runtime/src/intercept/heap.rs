//! The heap: a block is an object between its allocation and its release.
//!
//! The C library's internal names are called directly: looking up `malloc` through the loader
//! would allocate.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use deadheat_wire::Op;

use super::{real, spare};
use crate::hooks::{caller, trampoline};
use crate::record::event::{self, Sync};
use crate::{serial, threads};

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

trampoline! {
    "malloc" => malloc;
    "calloc" => calloc;
    "realloc" => realloc;
    "reallocarray" => reallocarray;
    "memalign" => memalign;
    "aligned_alloc" => memalign;
    "posix_memalign" => posix_memalign;
    "valloc" => valloc;
    "pvalloc" => pvalloc;
    "free" => free;
    "cfree" => free;
    "malloc_usable_size" => usable_size;
}

/// Whether the program has asked how much of a block it may use. From then on blocks are as large as that: it may use what it has not asked
/// for, where others have been before.
static USES_ALL: AtomicBool = AtomicBool::new(false);

fn allocated(block: *mut c_void, size: usize, pc: usize) -> *mut c_void {
    if !block.is_null() && threads::visible() {
        let size = match USES_ALL.load(Ordering::Relaxed) {
            // SAFETY: a block of the program.
            true => unsafe { real::malloc_usable_size(block as usize) },
            false => size,
        };
        Sync::new(Op::Alloc, block as usize, pc)
            .with(size as u64)
            .record();
    }
    block
}

unsafe extern "C" fn usable_size(block: *mut c_void) -> usize {
    let pc = caller();
    if block.is_null() || spare::is_spare(block) {
        return 0;
    }
    // SAFETY: a block of the program.
    let size = unsafe { real::malloc_usable_size(block as usize) };
    if !USES_ALL.swap(true, Ordering::Relaxed) {
        // Most likely it was allocated for this: it is once more, as a whole.
        allocated(block, size, pc);
    }
    size
}

/// A block is about to be given back: an access to all of it, where an enforced schedule may stop the thread.
fn before_free(block: *mut c_void, pc: usize) {
    if serial::is_enforced() {
        // SAFETY: a block of the program.
        let size = unsafe { real::malloc_usable_size(block as usize) };
        serial::point_before(Op::Free, block as usize, size, pc);
    }
}

unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    let pc = caller();
    let block = spare::take(size);
    if !block.is_null() {
        return block;
    }
    // SAFETY: (here and below) the arguments are the program's own, for this very function.
    allocated(unsafe { __libc_malloc(size) }, size, pc)
}

unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let pc = caller();
    let block = spare::take(count.saturating_mul(size));
    if !block.is_null() {
        return block;
    }
    // SAFETY: see `malloc`. A product that overflows makes `calloc` fail.
    allocated(
        unsafe { __libc_calloc(count, size) },
        count.wrapping_mul(size),
        pc,
    )
}

unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    let pc = caller();
    if spare::is_spare(block) || block.is_null() && spare::is_lent() {
        // SAFETY: see `malloc`; the old block is spare.
        unsafe {
            let larger = malloc(size);
            if !larger.is_null() && !block.is_null() {
                spare::copy(block, larger, size);
            }
            return larger;
        }
    }
    if !block.is_null() {
        before_free(block, pc);
        event::sync(Op::Free, block as usize, pc);
    }
    // SAFETY: see `malloc`.
    let moved = unsafe { __libc_realloc(block, size) };
    if moved.is_null() && size != 0 && !block.is_null() && threads::visible() {
        // It failed: the old block lives on.
        // SAFETY: a block of the program.
        let size = unsafe { real::malloc_usable_size(block as usize) };
        return {
            allocated(block, size, pc);
            moved
        };
    }
    allocated(moved, size, pc)
}

unsafe extern "C" fn reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: see `malloc`.
        Some(size) => unsafe { realloc(block, size) },
        None => {
            // SAFETY: the C library's own address of the thread's error number.
            unsafe { *libc::__errno_location() = libc::ENOMEM };
            core::ptr::null_mut()
        }
    }
}

unsafe extern "C" fn memalign(alignment: usize, size: usize) -> *mut c_void {
    let pc = caller();
    // SAFETY: see `malloc`.
    allocated(unsafe { __libc_memalign(alignment, size) }, size, pc)
}

unsafe extern "C" fn posix_memalign(
    block: *mut *mut c_void,
    alignment: usize,
    size: usize,
) -> c_int {
    let pc = caller();
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    // SAFETY: see `malloc`; `block` is where the program wants the answer.
    unsafe {
        let found = allocated(__libc_memalign(alignment, size), size, pc);
        if found.is_null() {
            return libc::ENOMEM;
        }
        *block = found;
    }
    0
}

unsafe extern "C" fn valloc(size: usize) -> *mut c_void {
    let pc = caller();
    // SAFETY: see `malloc`.
    allocated(unsafe { __libc_memalign(4096, size) }, size, pc)
}

unsafe extern "C" fn pvalloc(size: usize) -> *mut c_void {
    let pc = caller();
    let size = size.next_multiple_of(4096);
    // SAFETY: see `malloc`.
    allocated(unsafe { __libc_memalign(4096, size) }, size, pc)
}

unsafe extern "C" fn free(block: *mut c_void) {
    if spare::is_spare(block) {
        return;
    }
    if !block.is_null() {
        let pc = caller();
        before_free(block, pc);
        event::sync(Op::Free, block as usize, pc);
    }
    // SAFETY: see `malloc`.
    unsafe { __libc_free(block) }
}
