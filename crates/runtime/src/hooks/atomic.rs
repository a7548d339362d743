//! Atomic accesses and fences.
//!
//! The compiler replaces each by a call, so the operation is done here. In a parallel recording
//! operation and sequence number are one step, under one of many spin locks chosen by address:
//! the order in the trace is then the order in which the operations took effect. All are done
//! sequentially consistent; the trace has the order that the program asked for. A compare-exchange that
//! fails is a read with its failure order.

use core::sync::atomic::{
    AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst, compiler_fence, fence,
};

use deadheat_wire::{Op, Order, word};

use super::{caller, trampoline};
use crate::local::{Inside, local};
use crate::record::event::{self, Sync};
use crate::record::{Mode, mode, next_seq};
use crate::sys::Spin;
use crate::{serial, threads, watch};

/// Spin locks of a cache line each.
#[repr(align(64))]
struct Stripe(Spin);
static STRIPES: [Stripe; 256] = [const { Stripe(Spin::new()) }; 256];

fn stripe(addr: usize) -> &'static Spin {
    let hash = (addr as u64 >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
    &STRIPES[hash as usize].0
}

/// What an atomic operation did to memory.
struct Done {
    op: Op,
    /// The memory order, as compilers number them.
    order: i32,
    read: u128,
    written: u128,
}

fn halves(value: u128) -> [u64; 2] {
    [value as u64, (value >> 64) as u64]
}

/// Records an exchange of a word, with release order, that code without hooks does next.
pub fn announce_exchange(addr: usize, written: u32, pc: usize) {
    const RELEASE: i32 = 3;
    perform_at(pc, addr, size_of::<u32>(), || Done {
        op: Op::AtomicRmw,
        order: RELEASE,
        // SAFETY: the caller says that the word is there.
        read: u128::from(unsafe { (*(addr as *const AtomicU32)).load(SeqCst) }),
        written: written.into(),
    });
}

/// Does an operation of `size` bytes and records it.
#[inline]
fn perform(addr: usize, size: usize, operation: impl FnOnce() -> Done) -> Done {
    perform_at(caller(), addr, size, operation)
}

/// The same at this place.
#[inline]
fn perform_at(pc: usize, addr: usize, size: usize, operation: impl FnOnce() -> Done) -> Done {
    if !threads::visible() || watch::is_simple() {
        return operation();
    }
    let record = |done: &Done| Sync {
        order: Order::from_number((done.order & 0x7FFF) as u8),
        size_code: word::size_code(size),
        ..Sync::new(done.op, addr, pc)
    };
    match mode() {
        Mode::Serial => {
            serial::point_before(Op::AtomicRead, addr, size, pc);
            let done = operation();
            serial::sync(&record(&done), halves(done.read), halves(done.written));
            done
        }
        Mode::Watch => {
            let _inside = Inside::enter();
            watch::before_atomic();
            let lock = stripe(addr);
            lock.lock();
            let done = operation();
            let racing = watch::atomic(&record(&done), size);
            lock.unlock();
            if !watch::report_atomic(racing) {
                // SAFETY: the thread's own state, which `visible` has found attached.
                unsafe { event::next_segment(local()) };
            }
            done
        }
        _ => {
            let lock = stripe(addr);
            lock.lock();
            let done = operation();
            let seq = next_seq();
            lock.unlock();
            record(&done).record_at(seq);
            done
        }
    }
}

trait Cell {
    type Value: Copy + PartialEq;
    fn swap_if(&self, old: Self::Value, new: Self::Value) -> Result<Self::Value, Self::Value>;
    fn get(&self) -> Self::Value;
    fn set(&self, value: Self::Value);
}

/// Applies `change`; what was there before.
fn update<C: Cell>(cell: &C, change: impl Fn(C::Value) -> C::Value) -> C::Value {
    let mut seen = cell.get();
    loop {
        match cell.swap_if(seen, change(seen)) {
            Ok(old) => return old,
            Err(now) => seen = now,
        }
    }
}

macro_rules! cells {
    ($($atomic:ty, $value:ty;)*) => { $(impl Cell for $atomic {
        type Value = $value;
        #[inline]
        fn swap_if(&self, old: $value, new: $value) -> Result<$value, $value> {
            self.compare_exchange(old, new, SeqCst, SeqCst)
        }
        #[inline]
        fn get(&self) -> $value {
            self.load(SeqCst)
        }
        #[inline]
        fn set(&self, value: $value) {
            self.store(value, SeqCst)
        }
    })* };
}
cells! { AtomicU8, u8; AtomicU16, u16; AtomicU32, u32; AtomicU64, u64; }

/// Sixteen bytes, by the one instruction that there is for them.
struct Atomic128(core::cell::UnsafeCell<u128>);

impl Cell for Atomic128 {
    type Value = u128;
    fn swap_if(&self, old: u128, new: u128) -> Result<u128, u128> {
        let (mut low, mut high) = (old as u64, (old >> 64) as u64);
        let done: u8;
        // SAFETY: the cell is 16 bytes, aligned as the instruction demands (the program's own
        // code would fault otherwise); rbx cannot be named as an operand, so it is swapped by hand, and the
        // others are named so that none of them is rbx.
        unsafe {
            core::arch::asm!(
                "xchg rsi, rbx",
                "lock cmpxchg16b [rdi]",
                "mov rbx, rsi",
                "sete r8b",
                in("rdi") self.0.get(),
                inout("rsi") new as u64 => _,
                out("r8b") done,
                inout("rax") low,
                inout("rdx") high,
                in("rcx") (new >> 64) as u64,
                options(nostack),
            );
        }
        let seen = u128::from(high) << 64 | u128::from(low);
        if done != 0 { Ok(seen) } else { Err(seen) }
    }
    fn get(&self) -> u128 {
        match self.swap_if(0, 0) {
            Ok(seen) | Err(seen) => seen,
        }
    }
    fn set(&self, value: u128) {
        update(self, |_| value);
    }
}

macro_rules! atomic_hooks {
    ($bits:literal, $value:ty, $cell:ty) => {
        const _: () = {
            const SIZE: usize = $bits / 8;

            /// # Safety: the program passes the address of an object of this size.
            unsafe fn cell<'a>(addr: usize) -> &'a $cell {
                // SAFETY: the program's own contract with its compiler.
                unsafe { &*(addr as *const $cell) }
            }
            unsafe extern "C" fn load(addr: usize, order: i32) -> $value {
                perform(addr, SIZE, || {
                    // SAFETY: see `cell`.
                    let read = unsafe { cell(addr) }.get();
                    Done {
                        op: Op::AtomicRead,
                        order,
                        read: read as u128,
                        written: 0,
                    }
                })
                .read as $value
            }
            unsafe extern "C" fn store(addr: usize, value: $value, order: i32) {
                perform(addr, SIZE, || {
                    // SAFETY: see `cell`.
                    unsafe { cell(addr) }.set(value);
                    Done {
                        op: Op::AtomicWrite,
                        order,
                        read: 0,
                        written: value as u128,
                    }
                });
            }
            fn modify(addr: usize, order: i32, change: impl Fn($value) -> $value) -> $value {
                perform(addr, SIZE, || {
                    // SAFETY: see `cell`.
                    let read = update(unsafe { cell(addr) }, &change);
                    Done {
                        op: Op::AtomicRmw,
                        order,
                        read: read as u128,
                        written: change(read) as u128,
                    }
                })
                .read as $value
            }
            unsafe extern "C" fn exchange(addr: usize, value: $value, order: i32) -> $value {
                modify(addr, order, |_| value)
            }
            unsafe extern "C" fn fetch_add(addr: usize, value: $value, order: i32) -> $value {
                modify(addr, order, |old| old.wrapping_add(value))
            }
            unsafe extern "C" fn fetch_sub(addr: usize, value: $value, order: i32) -> $value {
                modify(addr, order, |old| old.wrapping_sub(value))
            }
            unsafe extern "C" fn fetch_and(addr: usize, value: $value, order: i32) -> $value {
                modify(addr, order, |old| old & value)
            }
            unsafe extern "C" fn fetch_or(addr: usize, value: $value, order: i32) -> $value {
                modify(addr, order, |old| old | value)
            }
            unsafe extern "C" fn fetch_xor(addr: usize, value: $value, order: i32) -> $value {
                modify(addr, order, |old| old ^ value)
            }
            unsafe extern "C" fn fetch_nand(addr: usize, value: $value, order: i32) -> $value {
                modify(addr, order, |old| !(old & value))
            }
            fn swap_if(
                addr: usize,
                old: $value,
                new: $value,
                [success, failure]: [i32; 2],
            ) -> $value {
                perform(addr, SIZE, || {
                    // SAFETY: see `cell`.
                    match unsafe { cell(addr) }.swap_if(old, new) {
                        Ok(read) => Done {
                            op: Op::AtomicRmw,
                            order: success,
                            read: read as u128,
                            written: new as u128,
                        },
                        Err(read) => Done {
                            op: Op::AtomicRead,
                            order: failure,
                            read: read as u128,
                            written: 0,
                        },
                    }
                })
                .read as $value
            }
            /// gcc's form: `expected` is overwritten on failure; the answer is whether it was there.
            unsafe extern "C" fn compare_exchange(
                addr: usize,
                expected: *mut $value,
                new: $value,
                order: i32,
                failure: i32,
            ) -> i32 {
                // SAFETY: the program passes a valid pointer.
                let old = unsafe { expected.read_unaligned() };
                let pc = caller();
                let seen = swap_if(addr, old, new, [order, failure]);
                if seen != old {
                    // The program's own write, which its compiler leaves to us.
                    event::range(true, expected as usize, SIZE, pc);
                    // SAFETY: as above.
                    unsafe { expected.write_unaligned(seen) };
                }
                i32::from(seen == old)
            }
            /// clang's form: the answer is what was there.
            unsafe extern "C" fn compare_exchange_val(
                addr: usize,
                old: $value,
                new: $value,
                order: i32,
                failure: i32,
            ) -> $value {
                swap_if(addr, old, new, [order, failure])
            }
            trampoline! {
                concat!("__tsan_atomic", $bits, "_load") => load;
                concat!("__tsan_atomic", $bits, "_store") => store;
                concat!("__tsan_atomic", $bits, "_exchange") => exchange;
                concat!("__tsan_atomic", $bits, "_fetch_add") => fetch_add;
                concat!("__tsan_atomic", $bits, "_fetch_sub") => fetch_sub;
                concat!("__tsan_atomic", $bits, "_fetch_and") => fetch_and;
                concat!("__tsan_atomic", $bits, "_fetch_or") => fetch_or;
                concat!("__tsan_atomic", $bits, "_fetch_xor") => fetch_xor;
                concat!("__tsan_atomic", $bits, "_fetch_nand") => fetch_nand;
                concat!("__tsan_atomic", $bits, "_compare_exchange_strong") => compare_exchange;
                concat!("__tsan_atomic", $bits, "_compare_exchange_weak") => compare_exchange;
                concat!("__tsan_atomic", $bits, "_compare_exchange_val") => compare_exchange_val;
            }
        };
    };
}

atomic_hooks!(8, u8, AtomicU8);
atomic_hooks!(16, u16, AtomicU16);
atomic_hooks!(32, u32, AtomicU32);
atomic_hooks!(64, u64, AtomicU64);
atomic_hooks!(128, u128, Atomic128);

trampoline! { "__tsan_atomic_thread_fence" => thread_fence; }

unsafe extern "C" fn thread_fence(order: i32) {
    perform(0, 1, || {
        fence(SeqCst);
        Done {
            op: Op::Fence,
            order,
            read: 0,
            written: 0,
        }
    });
}

/// Orders the compiler only; its call is enough.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __tsan_atomic_signal_fence(_order: i32) {
    compiler_fence(SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bytes_are_swapped_whole() {
        #[repr(align(16))]
        struct Aligned(Atomic128);
        let cell = Aligned(Atomic128(core::cell::UnsafeCell::new(5)));
        assert_eq!(cell.0.swap_if(6, 7), Err(5));
        assert_eq!(cell.0.swap_if(5, u128::MAX - 1), Ok(5));
        assert_eq!(update(&cell.0, |old| old + 1), u128::MAX - 1);
        assert_eq!(cell.0.get(), u128::MAX);
        cell.0.set(1 << 100);
        assert_eq!(cell.0.get(), 1 << 100);
    }
}
