//! What threads got from the system in a recorded run, for a run that is to be the same: what the tool
//! writes and the runtime follows.
//!
//! ```text
//! file := InputsHeader InputsThread* InputsValue*
//! ```
//!
//! Everything is little-endian, so that the file can be mapped and used as it is. Values stand thread by
//! thread, each thread's in the order in which it got them.
//!
//! Threads are named by *keys* that are the same in every schedule: a thread's number depends on who creates threads
//! first, its key only on its creator's key and on how many threads that one has created before.
//!
//! Random numbers are not among the values: the n-th of a thread follows from the seed, its key and n.

/// The variable that names the file.
pub const INPUTS: &str = "DEADHEAT_INPUTS";
/// The first eight bytes of the file.
pub const MAGIC: [u8; 8] = *b"DHINPUTS";
/// Its version.
pub const VERSION: u32 = 1;
/// The note in the trace of a run that was to be given them again, and whose threads asked for something else.
pub const OTHER: &str = "threads got other values from the system than in the recorded run";

/// What a value is. In a recording it is the operand of [`INPUT`](crate::word::ext::INPUT).
pub mod kind {
    /// `getpid`.
    pub const PROCESS: u32 = 1;
    /// `getppid`.
    pub const PARENT: u32 = 2;
    /// `gettid`.
    pub const KERNEL_THREAD: u32 = 3;
    /// A process that was forked.
    pub const FORKED: u32 = 4;
    /// A process whose end was waited for.
    pub const ENDED: u32 = 5;
    /// `sched_getcpu`.
    pub const PROCESSOR: u32 = 6;
    /// `getrusage`: the most memory that was in use.
    pub const MEMORY: u32 = 7;
    /// `rand` and its relatives, whose state all threads share.
    pub const SHARED_RANDOM: u32 = 8;
    /// A random number of the system's, where they do not follow from the seed.
    pub const RANDOM: u32 = 9;
    /// How many bytes `read` gave of the standard input.
    pub const READ: u32 = 10;
    /// The seed of random numbers, where it is not the schedule's: in a recording of a run that was to be the same
    /// as another. No thread asks for it.
    pub const SEED: u32 = 11;
    /// A clock, in nanoseconds: this and its number; see [`clock`].
    pub const CLOCK: u32 = 0x100;

    /// The kind of a clock's value. Those without a number of their own are one kind.
    pub const fn clock(number: i32) -> u32 {
        if number >= 0 && number < 0xFF {
            CLOCK + number as u32
        } else {
            CLOCK + 0xFF
        }
    }
}

/// The head of the file.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputsHeader {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`].
    pub version: u32,
    /// How many threads.
    pub threads: u32,
    /// The seed of random numbers.
    pub seed: u64,
    /// How many values.
    pub values: u64,
}

/// A thread.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputsThread {
    /// Its key.
    pub key: u64,
    /// Its first value.
    pub first: u64,
    /// How many it has.
    pub count: u64,
}

/// A value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputsValue {
    /// What the thread got.
    pub value: u64,
    /// What it is: see [`kind`].
    pub kind: u32,
    /// Not used.
    pub reserved: u32,
}

const _: () = assert!(size_of::<InputsHeader>() == 32);
const _: () = assert!(size_of::<InputsThread>() == 24);
const _: () = assert!(size_of::<InputsValue>() == 16);

/// The key of the first thread.
pub const FIRST_THREAD: u64 = 0;

/// The key of a thread that was created as its parent's `nth`, from 0.
pub const fn child(parent: u64, nth: u64) -> u64 {
    number(parent, nth)
}

/// The `nth` random number of a thread, from 0.
pub const fn random(seed: u64, key: u64, nth: u64) -> u64 {
    number(seed ^ key, nth)
}

/// SplitMix64.
const fn number(seed: u64, index: u64) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut mixed = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(STEP));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_and_threads_have_numbers_of_their_own() {
        // The first of SplitMix64's published numbers for seed 1234567.
        let first = random(1_234_567, FIRST_THREAD, 0);
        assert_eq!(first, 6_457_827_717_110_365_317);
        assert_ne!(random(0, FIRST_THREAD, 0), random(1, FIRST_THREAD, 0));
        assert_ne!(random(0, FIRST_THREAD, 0), random(0, FIRST_THREAD, 1));
        let other = child(FIRST_THREAD, 0);
        assert_ne!(random(0, FIRST_THREAD, 0), random(0, other, 0));
    }

    #[test]
    fn keys_differ() {
        let mut keys = vec![FIRST_THREAD];
        for parent in 0..100 {
            let parent = keys[parent];
            keys.extend((0..100).map(|nth| child(parent, nth)));
        }
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all);
    }

    #[test]
    fn clocks_have_kinds() {
        assert_eq!((kind::clock(0), kind::clock(11)), (0x100, 0x10B));
        assert_eq!((kind::clock(-6), kind::clock(999)), (0x1FF, 0x1FF));
    }
}
