//! Random numbers. In a serial recording those of the system follow from the seed and the thread: the same in
//! every run and every schedule. (Rust's hash tables are seeded by them, and so what is done in which order.) Those
//! that all threads draw from one sequence are inputs of the threads that drew them.

use core::ffi::{c_int, c_long, c_uint};

use deadheat_wire::inputs::kind;

use super::real;
use crate::hooks::{caller, trampoline};
use crate::record::event;
use crate::{inputs, options, sys};

trampoline! {
    "getrandom" => getrandom;
    "getentropy" => getentropy;
    "arc4random" => arc4random;
    "arc4random_buf" => arc4random_buf;
    "arc4random_uniform" => arc4random_uniform;
    "rand" => rand;
    "random" => random;
    "lrand48" => lrand48;
    "mrand48" => mrand48;
    "drand48" => drand48;
}

/// The next random number of the running thread, in a serial recording.
fn draw() -> u64 {
    if options::RANDOM.get() == 0 {
        return inputs::draw();
    }
    inputs::take(kind::RANDOM, || {
        let mut number = 0u64;
        let place = &raw mut number as usize;
        sys::call(libc::SYS_getrandom, [place, size_of::<u64>(), 0, 0, 0, 0]);
        number
    })
}

/// Fills memory of the program with random numbers; false if that is the system's business.
pub fn fill(place: usize, length: usize, pc: usize) -> bool {
    if !inputs::kept() {
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
    match inputs::kept() {
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
    match inputs::kept() {
        // The high bits of a product are spread evenly, but for less than one in four billion.
        true => (((draw() >> 32) * u64::from(bound)) >> 32) as u32,
        false => unsafe { real::arc4random_uniform(bound) },
    }
}

unsafe extern "C" fn rand() -> c_int {
    inputs::take(kind::SHARED_RANDOM, || unsafe { real::rand() } as u64) as c_int
}

unsafe extern "C" fn random() -> c_long {
    inputs::take(kind::SHARED_RANDOM, || unsafe { real::random() } as u64) as c_long
}

unsafe extern "C" fn lrand48() -> c_long {
    inputs::take(kind::SHARED_RANDOM, || unsafe { real::lrand48() } as u64) as c_long
}

unsafe extern "C" fn mrand48() -> c_long {
    inputs::take(kind::SHARED_RANDOM, || unsafe { real::mrand48() } as u64) as c_long
}

unsafe extern "C" fn drand48() -> f64 {
    let bits = inputs::take(kind::SHARED_RANDOM, || unsafe { real::drand48() }.to_bits());
    f64::from_bits(bits)
}
