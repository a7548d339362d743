//! Who runs next. Mechanism asks, policy answers; one file each.

mod pct;
mod random;
mod round_robin;
mod run_to_block;

use crate::threads::Thread;

/// A thread that could run, as a policy sees it.
pub type Candidate = *mut Thread;

/// What a policy decides. `ready` is never empty; `current` is the index of the running thread
/// in it, if that can go on.
pub trait Policy {
    /// Who runs next, as an index into `ready`.
    fn next(&mut self, ready: &[Candidate], current: Option<usize>) -> usize;

    /// After how many accesses it wants to be asked again; at synchronisation it always is.
    fn slice(&mut self) -> u64;

    /// Which of several waiters is woken first; they stand in the order in which they came.
    fn waiter(&mut self, waiters: usize) -> usize {
        let _ = waiters;
        0
    }

    /// The running thread has come to the end of its slice.
    fn used_up(&mut self) {}

    /// The running thread said that it has nothing to do.
    fn yielded(&mut self, thread: Candidate) {
        let _ = thread;
    }
}

/// Numbers that look random and repeat with the seed (SplitMix64).
pub struct Random(u64);

impl Random {
    /// Starts from a seed.
    pub const fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// The policy that the options name.
#[allow(clippy::large_enum_variant, reason = "there is one, in a static")]
pub enum Chosen {
    /// See [`random`].
    Random(random::RandomWalk),
    /// See [`pct`].
    Pct(pct::Pct),
    /// See [`round_robin`].
    RoundRobin(round_robin::RoundRobin),
    /// See [`run_to_block`].
    RunToBlock(run_to_block::RunToBlock),
}

impl Chosen {
    /// By number, as in the table of options.
    pub fn from_options(policy: u64, seed: u64, depth: u64, length: u64) -> Self {
        match policy {
            1 => Chosen::Pct(pct::Pct::new(seed, depth, length)),
            2 => Chosen::RoundRobin(round_robin::RoundRobin),
            3 => Chosen::RunToBlock(run_to_block::RunToBlock::default()),
            _ => Chosen::Random(random::RandomWalk::new(seed)),
        }
    }

    /// The policy behind it.
    pub fn get(&mut self) -> &mut dyn Policy {
        match self {
            Chosen::Random(policy) => policy,
            Chosen::Pct(policy) => policy,
            Chosen::RoundRobin(policy) => policy,
            Chosen::RunToBlock(policy) => policy,
        }
    }
}
