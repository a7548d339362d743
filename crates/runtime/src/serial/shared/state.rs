//! What is known of a word of memory: whether every schedule has its conflicting accesses in one order.
//!
//! Of all accesses so far the state keeps two moments. It is exact for memory that one thread has at a
//! time, and for memory that several only read; of those it keeps when the last one did. What it is not
//! sure of is shared: what one thread writes after several have read it, unless it comes after all that
//! any thread did by then.

use super::order::{MOMENT_BITS, Moment, Order, THREADS_BITS, Threads};

/// A word's state, and which of its bytes have a known value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell(pub u64);

/// Nobody has accessed it since it is what it is.
const NEW: u64 = 0;
/// All writes are before the end of the first moment, all accesses before that of the second.
const ONE: u64 = 1;
/// Threads that are not ordered read it; all writes are before the end of the first moment, and all accesses
/// before the end of the epoch that stands in the place of the second. Who read it is kept as well.
const READ: u64 = 2;
/// Its conflicting accesses are not ordered.
const SHARED: u64 = 3;

const TAG: u64 = 3;
const FIRST: u32 = 2;
const SECOND: u32 = FIRST + MOMENT_BITS;
const READERS: u32 = SECOND + MOMENT_BITS;
const KNOWN: u32 = READERS + THREADS_BITS;
const MOMENT: u64 = (1 << MOMENT_BITS) - 1;

/// Several threads have accessed it.
const MANY: u64 = 1 << (KNOWN + 8);
/// Code without hooks has changed it.
const CHANGED: u64 = 1 << (KNOWN + 9);
/// What stays when it is accessed.
const KEPT: u64 = 0xFF << KNOWN | MANY | CHANGED;

const _: () = assert!(KNOWN + 10 <= 64);

impl Cell {
    fn read(self, epoch: Moment, by: Threads) -> Cell {
        let Cell(word) = self.with(READ, self.first(), epoch);
        Cell(word | u64::from(by.0) << READERS)
    }

    fn readers(self) -> Threads {
        Threads((self.0 >> READERS) as u16 & ((1 << THREADS_BITS) - 1))
    }

    fn with(self, tag: u64, first: Moment, second: Moment) -> Cell {
        let moments = u64::from(first.0) << FIRST | u64::from(second.0) << SECOND;
        Cell(self.0 & KEPT | moments | tag)
    }

    fn first(self) -> Moment {
        Moment((self.0 >> FIRST & MOMENT) as u32)
    }

    fn second(self) -> Moment {
        Moment((self.0 >> SECOND & MOMENT) as u32)
    }

    /// Whether its conflicting accesses are not ordered.
    #[inline]
    pub fn is_shared(self) -> bool {
        self.0 & TAG == SHARED
    }

    /// Whether anybody has accessed it.
    pub fn is_new(self) -> bool {
        self.0 & TAG == NEW
    }

    /// The same, shared.
    pub fn shared(self) -> Cell {
        Cell(self.0 | SHARED)
    }

    /// Which bytes have a known value: a bit each.
    #[inline]
    pub fn known(self) -> u8 {
        (self.0 >> KNOWN) as u8
    }

    /// The same, with more bytes known.
    #[inline]
    pub fn knowing(self, bytes: u8) -> Cell {
        Cell(self.0 | u64::from(bytes) << KNOWN)
    }

    /// The same in a new frame of a stack: nothing is known of what it holds, nor who has changed it.
    #[inline]
    pub fn in_new_frame(self) -> Cell {
        Cell(self.0 & !(0xFF << KNOWN | CHANGED))
    }

    /// The same, changed by code without hooks. What several threads access is shared then: who of them has changed it is
    /// not known.
    #[inline]
    pub fn changed(self) -> Cell {
        Cell(self.0 | CHANGED).settled()
    }

    /// The same, accessed by several threads.
    #[inline]
    pub fn of_many(self) -> Cell {
        Cell(self.0 | MANY).settled()
    }

    fn settled(self) -> Cell {
        match self.0 & (MANY | CHANGED) == MANY | CHANGED {
            true => self.shared(),
            false => self,
        }
    }

    /// Whether another thread has accessed it.
    #[inline]
    pub fn is_of_others(self, thread: u32, order: &Order) -> bool {
        match self.0 & TAG {
            ONE => order.thread_of(self.second()) != thread,
            READ => true,
            _ => false,
        }
    }

    /// What it is after an access.
    #[inline]
    pub fn accessed(self, thread: u32, writes: bool, order: &mut Order) -> Cell {
        let tag = self.0 & TAG;
        if tag == SHARED {
            return self;
        }
        let Some(now) = order.now(thread) else {
            return self.shared();
        };
        let me = Threads::one(thread);
        let is_read_again = tag == READ
            && !writes
            && order.epoch() == Some(self.second())
            && self.readers().with(me) == self.readers();
        if is_read_again && order.is_before(self.first(), thread) {
            return self;
        }
        let knows_all = match tag {
            NEW => true,
            ONE => self.second() == now || order.is_before(self.second(), thread),
            _ => {
                order.knows(self.second(), self.readers(), thread)
                    && order.is_before(self.first(), thread)
            }
        };
        if knows_all {
            let first = if writes { now } else { self.first() };
            return self.with(ONE, first, now);
        }
        let others = match tag {
            READ => self.readers(),
            _ => Threads::one(order.thread_of(self.second())),
        };
        match order.epoch() {
            Some(epoch) if !writes && order.is_before(self.first(), thread) => {
                self.read(epoch, others.with(me))
            }
            _ => self.shared(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug)]
    enum Does {
        Access(u32, bool),
        Fork(u32),
        Join(u32, u32),
        /// Comes to the barrier, or leaves it.
        Barrier(u32),
    }

    fn does() -> impl Strategy<Value = Does> {
        prop_oneof![
            6 => (0u32..4, any::<bool>()).prop_map(|(thread, writes)| Does::Access(thread, writes)),
            1 => (0u32..4).prop_map(Does::Fork),
            1 => (0u32..4, 0u32..4).prop_map(|(parent, child)| Does::Join(parent, child)),
            4 => (0u32..4).prop_map(Does::Barrier),
        ]
    }

    /// All accesses with what is before each, as sets.
    #[derive(Default)]
    struct Slow {
        before: Vec<Vec<usize>>,
        accesses: Vec<(usize, u32, bool, Vec<usize>)>,
        count: usize,
        /// What those know who came to each round, and how many they are.
        rounds: Vec<(Vec<usize>, usize)>,
        /// Who is at the barrier, in which round.
        waiting: Vec<Option<usize>>,
    }

    impl Slow {
        fn access(&mut self, thread: u32, writes: bool) -> bool {
            let known = self.before[thread as usize].clone();
            let is_ordered = self
                .accesses
                .iter()
                .all(|(number, _, other, _)| !(writes || *other) || known.contains(number));
            self.count += 1;
            self.before[thread as usize].push(self.count);
            self.accesses.push((self.count, thread, writes, known));
            is_ordered
        }

        /// Comes to a barrier for so many, or leaves it: whether it has come; `None` if it has to wait.
        fn barrier(&mut self, thread: u32, many: usize) -> Option<bool> {
            let thread = thread as usize;
            match self.waiting[thread] {
                None => {
                    if self.rounds.last().is_none_or(|(_, came)| *came == many) {
                        self.rounds.push((Vec::new(), 0));
                    }
                    let known = self.before[thread].clone();
                    let (knows, came) = self.rounds.last_mut()?;
                    knows.extend(known);
                    *came += 1;
                    self.waiting[thread] = Some(self.rounds.len() - 1);
                    Some(true)
                }
                Some(round) if self.rounds[round].1 == many => {
                    let knows = self.rounds[round].0.clone();
                    self.before[thread].extend(knows);
                    self.waiting[thread] = None;
                    Some(false)
                }
                Some(_) => None,
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            cases: 5000,
            rng_seed: proptest::test_runner::RngSeed::Fixed(7),
            ..ProptestConfig::default()
        })]

        /// Whatever is not called shared has its conflicting accesses in order; memory that one thread
        /// has at a time, and memory that is only read, is not called shared.
        #[test]
        fn unordered_conflicts_are_shared(
            steps in prop::collection::vec(does(), 0..90),
            many in 1usize..4,
        ) {
            let (mut order, mut cell, mut slow) = (Order::none(), Cell::default(), Slow::default());
            prop_assert!(order.begin());
            slow.before.resize(4, Vec::new());
            slow.waiting.resize(4, None);
            order.barrier(0x40, many as u64);
            let (mut alive, mut over) = (vec![0u32], Vec::new());
            let (mut conflicts, mut is_written) = (false, false);
            for step in steps {
                let goes_on = |thread: u32| slow.waiting[thread as usize].is_none();
                match step {
                    Does::Access(thread, writes) if alive.contains(&thread) && goes_on(thread) => {
                        conflicts |= !slow.access(thread, writes);
                        is_written |= writes;
                        cell = cell.accessed(thread, writes, &mut order);
                        prop_assert!(cell.is_shared() || !conflicts, "{:?}", slow.accesses);
                        prop_assert!(is_written || !cell.is_shared());
                    }
                    Does::Fork(parent)
                        if alive.contains(&parent)
                            && goes_on(parent)
                            && alive.len() + over.len() < 4 =>
                    {
                        let child = (alive.len() + over.len()) as u32;
                        slow.before[child as usize] = slow.before[parent as usize].clone();
                        alive.push(child);
                        order.fork(parent, child);
                    }
                    Does::Join(parent, child)
                        if parent != child
                            && alive.contains(&parent)
                            && alive.contains(&child)
                            && goes_on(parent)
                            && goes_on(child) =>
                    {
                        let known = slow.before[child as usize].clone();
                        slow.before[parent as usize].extend(known);
                        alive.retain(|thread| *thread != child);
                        over.push(child);
                        order.join(parent, child);
                    }
                    Does::Barrier(thread) if alive.contains(&thread) => {
                        match slow.barrier(thread, many) {
                            Some(true) => order.enter(thread, 0x40),
                            Some(false) => order.exit(thread, 0x40),
                            None => {}
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn what_code_without_hooks_has_changed_is_shared_if_several_threads_access_it() {
        let mut order = Order::none();
        assert!(order.begin());
        let own = Cell::default().accessed(0, true, &mut order).changed();
        let own = own.accessed(0, false, &mut order);
        assert!(!own.is_shared() && !own.is_of_others(0, &order));
        order.fork(0, 1);
        let handed_on = own.accessed(1, false, &mut order);
        assert!(!handed_on.is_shared() && own.is_of_others(1, &order));
        assert!(handed_on.of_many().is_shared());
        let used_again = own.in_new_frame().of_many();
        assert!(!used_again.is_shared() && used_again.changed().is_shared());
    }

    #[test]
    fn what_is_handed_on_is_not_shared() {
        let mut order = Order::none();
        assert!(order.begin());
        let mut cell = Cell::default().accessed(0, true, &mut order);
        order.fork(0, 1);
        cell = cell
            .accessed(1, false, &mut order)
            .accessed(1, true, &mut order);
        order.join(0, 1);
        cell = cell.accessed(0, true, &mut order);
        assert!(!cell.is_shared());
        order.fork(0, 2);
        order.fork(0, 3);
        cell = cell
            .accessed(2, false, &mut order)
            .accessed(3, false, &mut order);
        assert!(!cell.is_shared(), "it is only read by now");
        assert!(cell.accessed(0, true, &mut order).is_shared());
        order.join(0, 2);
        order.join(0, 3);
        assert!(!cell.accessed(0, true, &mut order).is_shared());
    }
    /// What each thread writes and all read in turn, between barriers, belongs to one at a time.
    #[test]
    fn what_is_handed_on_at_barriers_is_not_shared() {
        let mut order = Order::none();
        assert!(order.begin());
        let threads = [1, 2, 3];
        for thread in threads {
            order.fork(0, thread);
        }
        order.barrier(0x40, 3);
        let round = |order: &mut Order| {
            threads.iter().for_each(|thread| order.enter(*thread, 0x40));
            threads.iter().for_each(|thread| order.exit(*thread, 0x40));
        };
        let mut cells = [Cell::default(); 3];
        for _ in 0..5 {
            for (cell, thread) in cells.iter_mut().zip(threads) {
                *cell = cell.accessed(thread, false, &mut order);
                *cell = cell.accessed(thread, true, &mut order);
            }
            round(&mut order);
            for cell in &mut cells {
                for thread in threads {
                    *cell = cell.accessed(thread, false, &mut order);
                }
            }
            round(&mut order);
        }
        assert!(cells.iter().all(|cell| !cell.is_shared()));
        let after = cells[0].accessed(2, true, &mut order);
        assert!(after.accessed(1, false, &mut order).is_shared());
        for thread in threads {
            order.join(0, thread);
        }
        assert!(!after.accessed(0, true, &mut order).is_shared());
    }
}
