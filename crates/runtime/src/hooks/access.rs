//! Reads and writes of memory.

use core::arch::naked_asm;

use deadheat_wire::word::{READ1, WRITE1};

use crate::local::{FILTER, FILTER_MASK, NO_FILTER, OWNED, SEGMENT, SETTLED, WRITES};
use crate::record::event;
use crate::watch::{DISREGARDED, FLAGGED, STATE_ADDRESS, STATES};

/// Returns from a hook if the state of the access's one or two words (at `rcx + rax`) is one of the four that it
/// does not change: the thread's own (in `$owned`), flagged, shared and settled in two ways. All registers
/// are as wide as the states together.
#[rustfmt::skip]
macro_rules! compare_state {
    ($state:literal, $telling:literal, $owned:literal) => {
        concat!(
            "mov ", $state, ", [rcx + rax]\n",
            "cmp ", $state, ", ", $owned, "\n",
            "jne 5f\n",
            "ret\n",
            "5:\n",
            "cmp ", $state, ", {flagged}\n",
            "jne 5f\n",
            "ret\n",
            "5:\n",
            "mov ", $telling, ", ", $state, "\n",
            ".if {disregarded}\n",
            "and rax, ~(1 << {disregarded})\n",
            ".if {shift} > 2\n",
            "btr rax, {disregarded} + 32\n",
            ".endif\n",
            ".endif\n",
            "cmp ", $telling, ", fs:[r8 + {settled}]\n",
            "jne 5f\n",
            "ret\n",
            "5:\n",
            "cmp ", $telling, ", fs:[r8 + {settled} + 8]\n",
            "jne 4f\n",
            "ret\n",
        )
    };
}

/// Exports `$name(addr)`. An access that stands in the thread's filter is done with after sixteen
/// instructions; any other goes on to `miss`, with the return address and what the filter lacks. In the
/// simple mode of watching there is no filter: the state of the memory itself is as near. `$loose` are
/// the bits of an address that show that it may lie across two words of four bytes.
macro_rules! access_hooks {
    ($($name:literal $kind:expr, $shift:literal, $loose:literal;)*) => { $(const _: () = {
        #[cfg_attr(not(test), unsafe(export_name = $name))]
        #[unsafe(naked)]
        #[allow(dead_code)]
        unsafe extern "C" fn entry(_addr: usize) {
            naked_asm!(
                ".cfi_startproc",
                "mov r8, qword ptr [rip + deadheat_local@GOTTPOFF]",
                "mov rdx, fs:[r8 + {owned}]",
                "test rdx, rdx",
                "jne 3f",
                "lea r9, [rip + {no_filter}]",
                "mov rax, fs:[r8 + {segment}]",
                "add r9, fs:[r8 + {filter}]",
                "movabs rcx, {kind}",
                "mov rdx, rdi",
                "or rax, rdi",
                "shr rdx, {shift}",
                "or rax, rcx",
                "and rdx, fs:[r8 + {mask}]",
                "cmp [r9 + rdx * 8 + {salt}], rax",
                "jne 2f",
                "ret",
                "2:",
                "lea rdx, [r9 + rdx * 8 + {salt}]",
                "mov rcx, rax",
                "mov rsi, [rsp]",
                "jmp {miss}",
                ".p2align 6",
                "3:",
                "movabs rax, {state_address}",
                "movabs rcx, {states}",
                ".if {loose}",
                "test dil, {loose}",
                "jne 4f",
                ".endif",
                "and rax, rdi",
                ".if {shift} > 3",
                "mov r9, [rcx + rax]",
                "cmp [rcx + rax + 8], r9",
                "jne 4f",
                ".endif",
                ".if {shift} > 2",
                compare_state!("r9", "rax", "rdx"),
                ".else",
                compare_state!("r9d", "eax", "edx"),
                ".endif",
                "4:",
                "mov rsi, [rsp]",
                "jmp {miss_simply}",
                ".cfi_endproc",
                owned = const OWNED,
                no_filter = sym NO_FILTER,
                segment = const SEGMENT,
                filter = const FILTER,
                kind = const ($kind + $shift as u64) << 60,
                shift = const $shift,
                mask = const FILTER_MASK,
                salt = const if $kind < WRITE1 { 0 } else { WRITES * 8 },
                miss = sym miss,
                state_address = const if $shift < 2 { STATE_ADDRESS & !3 } else { STATE_ADDRESS },
                states = const STATES,
                loose = const $loose,
                settled = const SETTLED + 16 * ($kind >= WRITE1) as usize,
                disregarded = const if $kind < WRITE1 { DISREGARDED } else { 0 },
                flagged = const FLAGGED,
                miss_simply = sym miss_simply,
            )
        }
        unsafe extern "C" fn miss(addr: usize, pc: usize, entry: *mut u64, stands: u64) {
            // SAFETY: the compiler calls it before the access that it describes.
            unsafe {
                event::access::<{ $kind + $shift as u64 }, $shift>(addr, pc, entry, stands)
            }
        }
        unsafe extern "C" fn miss_simply(addr: usize, pc: usize) {
            // SAFETY: as in `miss`.
            unsafe { event::access_simply::<{ $kind + $shift as u64 }, $shift>(addr, pc) }
        }
    };)* };
}

access_hooks! {
    "__tsan_read1" READ1, 0, 0;
    "__tsan_read2" READ1, 1, 0;
    "__tsan_read4" READ1, 2, 0;
    "__tsan_read8" READ1, 3, 0;
    "__tsan_read16" READ1, 4, 0;
    "__tsan_write1" WRITE1, 0, 0;
    "__tsan_write2" WRITE1, 1, 0;
    "__tsan_write4" WRITE1, 2, 0;
    "__tsan_write8" WRITE1, 3, 0;
    "__tsan_write16" WRITE1, 4, 0;
    "__tsan_unaligned_read2" READ1, 1, 1;
    "__tsan_unaligned_read4" READ1, 2, 3;
    "__tsan_unaligned_read8" READ1, 3, 3;
    "__tsan_unaligned_read16" READ1, 4, 3;
    "__tsan_unaligned_write2" WRITE1, 1, 1;
    "__tsan_unaligned_write4" WRITE1, 2, 3;
    "__tsan_unaligned_write8" WRITE1, 3, 3;
    "__tsan_unaligned_write16" WRITE1, 4, 3;
    "__tsan_volatile_read1" READ1, 0, 0;
    "__tsan_volatile_read2" READ1, 1, 0;
    "__tsan_volatile_read4" READ1, 2, 0;
    "__tsan_volatile_read8" READ1, 3, 0;
    "__tsan_volatile_read16" READ1, 4, 0;
    "__tsan_volatile_write1" WRITE1, 0, 0;
    "__tsan_volatile_write2" WRITE1, 1, 0;
    "__tsan_volatile_write4" WRITE1, 2, 0;
    "__tsan_volatile_write8" WRITE1, 3, 0;
    "__tsan_volatile_write16" WRITE1, 4, 0;
    "__tsan_unaligned_volatile_read2" READ1, 1, 1;
    "__tsan_unaligned_volatile_read4" READ1, 2, 3;
    "__tsan_unaligned_volatile_read8" READ1, 3, 3;
    "__tsan_unaligned_volatile_read16" READ1, 4, 3;
    "__tsan_unaligned_volatile_write2" WRITE1, 1, 1;
    "__tsan_unaligned_volatile_write4" WRITE1, 2, 3;
    "__tsan_unaligned_volatile_write8" WRITE1, 3, 3;
    "__tsan_unaligned_volatile_write16" WRITE1, 4, 3;
    "__tsan_vptr_read" READ1, 3, 0;
}

/// A read that is followed by a write of the same place, announced as one: both are recorded.
macro_rules! read_write_hooks {
    ($($name:literal $shift:literal;)*) => { $(const _: () = {
        #[cfg_attr(not(test), unsafe(export_name = $name))]
        #[unsafe(naked)]
        #[allow(dead_code)]
        unsafe extern "C" fn entry(_addr: usize) {
            naked_asm!(".cfi_startproc", "mov rsi, [rsp]", "jmp {0}", ".cfi_endproc", sym hook)
        }
        unsafe extern "C" fn hook(addr: usize, pc: usize) {
            // SAFETY: the compiler calls it before the accesses that it describes.
            unsafe {
                event::access_unfiltered::<{ READ1 + $shift as u64 }, $shift>(addr, pc);
                event::access_unfiltered::<{ WRITE1 + $shift as u64 }, $shift>(addr, pc);
            }
        }
    };)* };
}

read_write_hooks! {
    "__tsan_read_write1" 0;
    "__tsan_read_write2" 1;
    "__tsan_read_write4" 2;
    "__tsan_read_write8" 3;
    "__tsan_read_write16" 4;
    "__tsan_unaligned_read_write2" 1;
    "__tsan_unaligned_read_write4" 2;
    "__tsan_unaligned_read_write8" 3;
    "__tsan_unaligned_read_write16" 4;
}

/// Exports `$name` with two arguments: the return address becomes the third.
macro_rules! pair_hooks {
    ($($name:literal => $hook:ident;)*) => { $(const _: () = {
        #[cfg_attr(not(test), unsafe(export_name = $name))]
        #[unsafe(naked)]
        #[allow(dead_code)]
        unsafe extern "C" fn entry(_first: usize, _second: usize) {
            naked_asm!(".cfi_startproc", "mov rdx, [rsp]", "jmp {0}", ".cfi_endproc", sym $hook)
        }
    };)* };
}

pair_hooks! {
    "__tsan_vptr_update" => vptr_update;
    "__tsan_read_range" => read_range;
    "__tsan_write_range" => write_range;
    "__tsan_external_read" => external_read;
    "__tsan_external_write" => external_write;
}

/// A constructor or destructor sets the table of virtual functions. Setting it to what it is
/// does not change anything and does not count, as in ThreadSanitizer.
unsafe extern "C" fn vptr_update(addr: usize, value: usize, pc: usize) {
    // SAFETY: the compiler calls it before it writes to `addr`.
    unsafe {
        if *(addr as *const usize) != value {
            event::access_unfiltered::<{ WRITE1 + 3 }, 3>(addr, pc);
        }
    }
}

unsafe extern "C" fn read_range(addr: usize, length: usize, pc: usize) {
    event::range(false, addr, length, pc);
}

unsafe extern "C" fn write_range(addr: usize, length: usize, pc: usize) {
    event::range(true, addr, length, pc);
}

/// The `_pc` variants get the program counter from their caller; they do not look into the filter.
macro_rules! access_pc_hooks {
    ($($name:ident $kind:expr, $shift:literal;)*) => { $(
        #[cfg_attr(not(test), unsafe(no_mangle))]
        unsafe extern "C" fn $name(addr: usize, pc: usize) {
            // SAFETY: the compiler calls it before the access that it describes.
            unsafe { event::access_unfiltered::<{ $kind + $shift as u64 }, $shift>(addr, pc) }
        }
    )* };
}

access_pc_hooks! {
    __tsan_read1_pc READ1, 0;
    __tsan_read2_pc READ1, 1;
    __tsan_read4_pc READ1, 2;
    __tsan_read8_pc READ1, 3;
    __tsan_read16_pc READ1, 4;
    __tsan_write1_pc WRITE1, 0;
    __tsan_write2_pc WRITE1, 1;
    __tsan_write4_pc WRITE1, 2;
    __tsan_write8_pc WRITE1, 3;
    __tsan_write16_pc WRITE1, 4;
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn __tsan_read_range_pc(addr: usize, length: usize, pc: usize) {
    event::range(false, addr, length, pc);
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn __tsan_write_range_pc(addr: usize, length: usize, pc: usize) {
    event::range(true, addr, length, pc);
}

unsafe extern "C" fn external_read(addr: usize, caller_pc: usize, _pc: usize) {
    event::range(false, addr, 1, caller_pc);
}

unsafe extern "C" fn external_write(addr: usize, caller_pc: usize, _pc: usize) {
    event::range(true, addr, 1, caller_pc);
}
