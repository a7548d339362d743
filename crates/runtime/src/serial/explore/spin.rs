//! Whether a thread asks the same over and over: a loop that waits until somebody else changes what it reads.
//!
//! Such a thread cannot go on: until then every turn of it leads to the same state again. It counts as one that waits,
//! so that a search has an end. Should nobody else be able to go on, it may. A thread that only says that it has nothing to do (`sched_yield`) lets
//! others go first, but can go on: it may have yielded for another reason.

/// How many different reads such a loop may have.
const MOST: usize = 16;
/// How often all of them must have come again.
const ROUNDS: u32 = 2;

/// What a thread has read since anything changed.
pub struct Spin {
    reads: [u64; MOST],
    count: usize,
    again: u32,
    since: u64,
    has_yielded: bool,
    indulged: u32,
}

impl Spin {
    /// Nothing.
    pub const fn new() -> Self {
        Spin {
            reads: [0; MOST],
            count: 0,
            again: 0,
            since: 0,
            has_yielded: false,
            indulged: 0,
        }
    }

    /// One more read; `changes` counts what has changed so far.
    pub fn read(&mut self, what: u64, changes: u64) {
        if self.since != changes {
            *self = Spin {
                since: changes,
                ..Spin::new()
            };
        }
        self.has_yielded = false;
        if self.reads[..self.count].contains(&what) {
            self.again += 1;
        } else if self.count < MOST {
            self.reads[self.count] = what;
            self.count += 1;
            self.again = 0;
        } else {
            // Too many for a loop that waits.
            self.count = 0;
            self.again = 0;
        }
    }

    /// The thread says itself that it has nothing to do.
    pub fn yielded(&mut self, changes: u64) {
        if self.since != changes {
            *self = Spin {
                since: changes,
                ..Spin::new()
            };
        }
        self.has_yielded = true;
    }

    /// Whether others go first, if nobody says otherwise.
    pub fn lets_others(&self, changes: u64) -> bool {
        self.is_on(changes) || self.since == changes && self.has_yielded
    }

    /// Whether it can only go on when something changes.
    pub fn is_on(&self, changes: u64) -> bool {
        self.since == changes && self.again > 0 && self.again >= ROUNDS * self.count as u32
    }

    /// How often it was let go on because nobody else could, since anything has changed.
    pub fn indulged(&self) -> u32 {
        self.indulged
    }

    /// Nobody else can go on: it may. Whether it was so often that it never will.
    pub fn indulge(&mut self) -> bool {
        const PATIENCE: u32 = 1000;
        self.again = 0;
        self.has_yielded = false;
        self.indulged += 1;
        self.indulged > PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_reads_again_and_again_are_a_wait_until_something_changes() {
        let mut spin = Spin::new();
        for round in 0..3 {
            assert!(!spin.is_on(7), "round {round}");
            spin.read(1, 7);
            spin.read(2, 7);
        }
        assert!(spin.is_on(7));
        assert!(!spin.is_on(8));
        spin.read(1, 8);
        assert!(!spin.is_on(8));
    }

    #[test]
    fn a_walk_over_memory_is_no_wait() {
        let mut spin = Spin::new();
        for address in 0..1000 {
            spin.read(address, 0);
            assert!(!spin.is_on(0));
        }
    }

    #[test]
    fn whoever_yields_lets_others_go_first_and_can_go_on() {
        let mut spin = Spin::new();
        spin.read(1, 3);
        spin.yielded(3);
        assert!(spin.lets_others(3) && !spin.lets_others(4));
        assert!(!spin.is_on(3));
        spin.read(1, 3);
        spin.read(1, 3);
        assert!(spin.is_on(3));
        assert!(!spin.indulge());
        assert!(!spin.is_on(3));
        assert_eq!(spin.indulged(), 1);
        spin.read(1, 4);
        assert_eq!(spin.indulged(), 0);
    }
}
