//! Random numbers from the system. In a serial recording they follow from the seed: the same in
//! every run. (Rust's hash tables are seeded by them, and so what is done in which order.)

use core::ffi::{c_int, c_uint};
use core::sync::atomic::{AtomicU64, Ordering};

use super::real;
use crate::hooks::{caller, trampoline};
use crate::record::{Mode, event, mode};
use crate::{options, threads};

trampoline! {
    "getrandom" => getrandom;
    "getentropy" => getentropy;
    "arc4random" => arc4random;
    "arc4random_buf" => arc4random_buf;
    "arc4random_uniform" => arc4random_uniform;
}

/// How many numbers were drawn.
static DRAWN: AtomicU64 = AtomicU64::new(0);

/// Whether the program is to see the seed's numbers.
fn is_seeded() -> bool {
    options::RANDOM.get() == 0 && mode() == Mode::Serial && threads::visible()
}

/// The next of them.
fn draw() -> u64 {
    number(options::SEED.get(), DRAWN.fetch_add(1, Ordering::Relaxed))
}

/// The numbers of a seed: SplitMix64.
fn number(seed: u64, index: u64) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut mixed = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(STEP));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Fills memory of the program with the seed's numbers; false if it is to see the system's.
pub fn fill(place: usize, length: usize, pc: usize) -> bool {
    if !is_seeded() {
        return false;
    }
    event::range(true, place, length, pc);
    for at in (0..length).step_by(size_of::<u64>()) {
        let bytes = draw().to_le_bytes();
        let count = bytes.len().min(length - at);
        // SAFETY: the program wants these bytes written, as by the function that it called.
        unsafe {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), (place + at) as *mut u8, count);
        }
    }
    true
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

unsafe extern "C" fn getrandom(place: usize, length: usize, flags: c_uint) -> isize {
    let pc = caller();
    if fill(place, length, pc) {
        return length as isize;
    }
    unsafe { real::getrandom(place, length, flags) }
}

unsafe extern "C" fn getentropy(place: usize, length: usize) -> c_int {
    let pc = caller();
    if length <= 256 && fill(place, length, pc) {
        return 0;
    }
    unsafe { real::getentropy(place, length) }
}

unsafe extern "C" fn arc4random() -> u32 {
    match is_seeded() {
        true => draw() as u32,
        false => unsafe { real::arc4random() },
    }
}

unsafe extern "C" fn arc4random_buf(place: usize, length: usize) {
    let pc = caller();
    if !fill(place, length, pc) {
        unsafe { real::arc4random_buf(place, length) };
    }
}

unsafe extern "C" fn arc4random_uniform(bound: u32) -> u32 {
    match is_seeded() {
        // The high bits of a product are spread evenly, but for less than one in four billion.
        true => (((draw() >> 32) * u64::from(bound)) >> 32) as u32,
        false => unsafe { real::arc4random_uniform(bound) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_have_numbers_of_their_own() {
        // The first of SplitMix64's published numbers for seed 1234567.
        assert_eq!(number(1_234_567, 0), 6_457_827_717_110_365_317);
        assert_ne!(number(0, 0), number(1, 0));
        assert_ne!(number(0, 0), number(0, 1));
    }
}
