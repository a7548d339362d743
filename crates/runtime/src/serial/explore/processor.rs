//! Copies run on one processor.
//!
//! Only one thread runs at a time. Where the next one is another kernel thread (one that is born, or ends), or another process, it would wait until a
//! processor that sleeps has woken up, or until one that works for somebody else is free; on the same processor it goes on at once. Programs that
//! ask are told what they would be told otherwise, see `intercept::affinity`.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::sys;

/// Words of a set of processors, a bit for each.
const WORDS: usize = 16;
/// Larger sets are not touched.
pub const BYTES: usize = WORDS * 8;

/// Where the program may run, if it was asked to stay somewhere.
static ALLOWED: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];
static STAYS: AtomicBool = AtomicBool::new(false);

/// From here on the kernel thread that runs this, and all that it makes, stay on the processor that they are on.
pub fn stay() {
    let mut allowed = [0u64; WORDS];
    let place = &raw mut allowed as usize;
    if sys::call(libc::SYS_sched_getaffinity, [0, BYTES, place, 0, 0, 0]) <= 0 {
        return;
    }
    let mut here = 0u32;
    sys::call(libc::SYS_getcpu, [&raw mut here as usize, 0, 0, 0, 0, 0]);
    let count: u32 = allowed.iter().map(|word| word.count_ones()).sum();
    let mut one = [0u64; WORDS];
    let Some(word) = one.get_mut(here as usize / 64) else {
        return;
    };
    *word = 1 << (here % 64);
    if count > 1 && set(&one) {
        for (known, word) in ALLOWED.iter().zip(allowed) {
            known.store(word, Ordering::Relaxed);
        }
        STAYS.store(true, Ordering::Release);
    }
}

/// The opposite, for a moment: another processor may have less to do.
pub fn roam() {
    if let Some(allowed) = allowed() {
        set(&allowed);
        STAYS.store(false, Ordering::Release);
    }
}

/// Where the program could run, if it stays somewhere.
pub fn allowed() -> Option<[u64; WORDS]> {
    STAYS.load(Ordering::Acquire).then(|| {
        let mut allowed = [0; WORDS];
        for (word, known) in allowed.iter_mut().zip(&ALLOWED) {
            *word = known.load(Ordering::Relaxed);
        }
        allowed
    })
}

/// The program decides where it runs.
pub fn leave_to_program() {
    STAYS.store(false, Ordering::Release);
}

fn set(processors: &[u64; WORDS]) -> bool {
    let place = processors.as_ptr() as usize;
    sys::call(libc::SYS_sched_setaffinity, [0, BYTES, place, 0, 0, 0]) == 0
}
