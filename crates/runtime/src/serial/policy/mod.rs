//! Who runs next. Mechanism asks, policy answers; one file each.

mod pct;
mod points;
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

    /// The running thread has come to a place that the tool has listed; whether it is to be asked for the next at once.
    fn reached(&mut self, thread: Candidate) -> bool {
        let _ = thread;
        false
    }

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
    /// See [`points`].
    Points(points::Points),
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
            4 => Chosen::Points(points::Points::new(seed, depth)),
            _ => Chosen::Random(random::RandomWalk::new(seed)),
        }
    }

    /// The policy behind it.
    pub fn get(&mut self) -> &mut dyn Policy {
        match self {
            Chosen::Random(policy) => policy,
            Chosen::Pct(policy) => policy,
            Chosen::RoundRobin(policy) => policy,
            Chosen::Points(policy) => policy,
            Chosen::RunToBlock(policy) => policy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::Thread;

    /// Records that are only looked at for their numbers and priorities.
    fn threads(count: u32) -> Vec<*mut Thread> {
        (0..count)
            .map(|id| {
                // SAFETY: zeroed memory is a valid record.
                let mut thread = unsafe { Box::<Thread>::new_zeroed().assume_init() };
                thread.id = id;
                Box::into_raw(thread)
            })
            .collect()
    }

    /// The numbers of those chosen, each one going on from the last.
    fn choices(policy: &mut dyn Policy, ready: &[*mut Thread], count: usize) -> Vec<usize> {
        let mut current = 0;
        let mut next = || {
            current = policy.next(ready, Some(current));
            current
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn the_same_seed_makes_the_same_choices() {
        for policy in 0..5 {
            let ready = threads(5);
            let run = |seed| {
                for thread in &ready {
                    // SAFETY: our own records.
                    unsafe { (**thread).task.priority = 0 };
                }
                let mut chosen = Chosen::from_options(policy, seed, 3, 100);
                choices(chosen.get(), &ready, 200)
            };
            assert_eq!(run(1), run(1), "policy {policy}");
            if policy < 2 || policy == 4 {
                assert_ne!(run(1), run(2), "policy {policy}");
            }
        }
    }

    #[test]
    fn random_walks_reach_everybody_and_round_robin_goes_round() {
        let ready = threads(4);
        let walk = choices(Chosen::from_options(0, 7, 0, 0).get(), &ready, 100);
        assert!((0..4).all(|thread| walk.contains(&thread)));
        let round = choices(Chosen::from_options(2, 0, 0, 0).get(), &ready, 6);
        assert_eq!(round, [1, 2, 3, 0, 1, 2]);
    }

    #[test]
    fn run_to_block_stays_but_not_for_ever() {
        let ready = threads(3);
        let mut chosen = Chosen::from_options(3, 0, 0, 0);
        let stay = choices(chosen.get(), &ready, 1000);
        assert!(stay.iter().all(|thread| *thread == 0));
        chosen.get().used_up();
        assert_eq!(
            chosen.get().next(&ready, Some(0)),
            1,
            "a spinning thread lets others go"
        );
        assert_eq!(
            chosen.get().next(&ready, None),
            0,
            "the lowest number, if none is running"
        );
    }

    #[test]
    fn pct_changes_its_mind_depth_minus_one_times() {
        let ready = threads(4);
        for (depth, changes) in [(1, 0), (2, 1), (4, 3)] {
            for thread in &ready {
                // SAFETY: our own records.
                unsafe { (**thread).task.priority = 0 };
            }
            let mut chosen = Chosen::from_options(1, 5, depth, 1000);
            let run = choices(chosen.get(), &ready, 1100);
            let seen = run.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(seen <= changes, "depth {depth}: {seen} switches");
        }
        chosen_falls_when_it_yields(&ready);
    }

    #[test]
    fn whoever_reaches_a_point_lets_others_go_first() {
        let ready = threads(3);
        let mut chosen = Chosen::from_options(4, 5, 0, 0);
        let first = chosen.get().next(&ready, None);
        assert!((0..100).all(|_| chosen.get().next(&ready, Some(first)) == first));
        assert!(chosen.get().reached(ready[first]), "no coin is tossed");
        let second = chosen.get().next(&ready, Some(first));
        assert!(second != first && chosen.get().reached(ready[second]));
        let third = chosen.get().next(&ready, Some(second));
        assert!(third != first && third != second);
        assert!(chosen.get().reached(ready[third]));
        let again = chosen.get().next(&ready, Some(third));
        assert_eq!(again, first, "whoever has waited longest is next");
        let mut seldom = Chosen::from_options(4, 5, 4, 0);
        let falls = (0..1600).filter(|_| seldom.get().reached(ready[0])).count();
        assert!((50..200).contains(&falls), "one of sixteen: {falls}");
    }

    fn chosen_falls_when_it_yields(ready: &[*mut Thread]) {
        let mut chosen = Chosen::from_options(1, 5, 1, 1000);
        let first = chosen.get().next(ready, None);
        chosen.get().yielded(ready[first]);
        assert_ne!(chosen.get().next(ready, Some(first)), first);
    }
}
