//! The parts of `<sanitizer/common_interface_defs.h>` that programs call under any sanitizer.

use core::ffi::{c_char, c_void};

/// Functions that a program may call and that change nothing here.
macro_rules! accepted {
    ($($name:ident)*) => { $(
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[allow(dead_code)]
        extern "C" fn $name() -> usize {
            0
        }
    )* };
}

accepted! {
    __sanitizer_set_report_path __sanitizer_set_report_fd __sanitizer_sandbox_on_notify
    __sanitizer_set_death_callback __sanitizer_print_stack_trace
    __sanitizer_print_memory_profile __sanitizer_install_malloc_and_free_hooks
    __sanitizer_start_switch_fiber __sanitizer_finish_switch_fiber
    __sanitizer_get_current_allocated_bytes __sanitizer_get_heap_size
    __sanitizer_get_free_bytes __sanitizer_get_unmapped_bytes __sanitizer_get_ownership
    __sanitizer_annotate_contiguous_container __sanitizer_purge_allocator
    __sanitizer_acquire_crash_state
}

/// An empty text: places are looked up from the trace, not in the program.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn __sanitizer_symbolize_pc(
    _pc: *const c_void,
    _format: *const c_char,
    out: *mut c_char,
    size: usize,
) {
    if size > 0 {
        // SAFETY: the caller passes a buffer of `size` bytes.
        unsafe { *out = 0 };
    }
}

macro_rules! unaligned {
    ($($load:ident $store:ident $value:ty;)*) => { $(
        #[cfg_attr(not(test), unsafe(no_mangle))]
        unsafe extern "C" fn $load(address: *const $value) -> $value {
            // SAFETY: the caller passes a readable address.
            unsafe { address.read_unaligned() }
        }
        #[cfg_attr(not(test), unsafe(no_mangle))]
        unsafe extern "C" fn $store(address: *mut $value, value: $value) {
            // SAFETY: the caller passes a writable address.
            unsafe { address.write_unaligned(value) }
        }
    )* };
}

unaligned! {
    __sanitizer_unaligned_load16 __sanitizer_unaligned_store16 u16;
    __sanitizer_unaligned_load32 __sanitizer_unaligned_store32 u32;
    __sanitizer_unaligned_load64 __sanitizer_unaligned_store64 u64;
}
