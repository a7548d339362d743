//! Sets of locks, each with one number.
//!
//! A set is a chain of locks in falling order, shared with all sets that end in the same way.
//! Intersections are computed once and remembered.

use super::context;
use super::intern::Table;

/// Bits of a set's number; 0 is the empty set.
pub const BITS: u32 = 18;
/// A set that is not known, because the table is full: no intersection with it is empty.
pub const UNKNOWN: u32 = (1 << BITS) - 1;

/// Keys: a lock, and the set of those below it.
static SETS: Table = Table::new(BITS - 1);
/// Keys: two sets. The value is what they have in common.
static COMMON: Table = Table::new(20);

/// Gets the tables' memory; false if there is none.
pub fn start() -> bool {
    SETS.map() && COMMON.map()
}

/// The set with one lock more.
pub fn with(set: u32, lock: u64) -> u32 {
    if set == UNKNOWN {
        return UNKNOWN;
    }
    if set != 0 {
        let [first, rest] = SETS.key(set);
        if first == lock {
            return set;
        }
        if first > lock {
            return chain(first, with(rest as u32, lock));
        }
    }
    chain(lock, set)
}

fn chain(lock: u64, rest: u32) -> u32 {
    if rest == UNKNOWN {
        return UNKNOWN;
    }
    match SETS.number([lock, u64::from(rest)], |_| 0) {
        0 => UNKNOWN,
        number => number,
    }
}

/// The locks that two sets have in common.
fn common(one: u32, other: u32) -> u32 {
    if one == other || other == UNKNOWN {
        return one;
    }
    if one == 0 || other == 0 {
        return 0;
    }
    if one == UNKNOWN {
        return other;
    }
    let key = [u64::from(one.min(other)), u64::from(one.max(other))];
    match COMMON.number(key, |_| intersect(one, other)) {
        0 => intersect(one, other),
        known => COMMON.value(known),
    }
}

/// The last intersection that was asked for: what a loop accesses had the same locks before.
#[derive(Default)]
pub struct Last {
    asked: [u32; 2],
    common: u32,
}

impl Last {
    /// The locks that two sets have in common.
    #[inline(always)]
    pub fn with(&mut self, one: u32, other: u32) -> u32 {
        if self.asked != [one, other] {
            self.common = common(one, other);
            self.asked = [one, other];
        }
        self.common
    }
}

fn intersect(mut one: u32, mut other: u32) -> u32 {
    let mut both = 0;
    while one != 0 && other != 0 {
        let ([a, one_rest], [b, other_rest]) = (SETS.key(one), SETS.key(other));
        if a == b {
            both = with(both, a);
        }
        if a >= b {
            one = one_rest as u32;
        }
        if b >= a {
            other = other_rest as u32;
        }
    }
    both
}

/// The sets of all locks held, and of those held for writing.
pub fn of_held(held: u32) -> [u32; 2] {
    if held == context::UNKNOWN_LOCKS {
        return [UNKNOWN; 2];
    }
    context::locks(held).fold([0; 2], |[all, writing], lock| {
        let writing = if lock.write {
            with(writing, lock.lock)
        } else {
            writing
        };
        [with(all, lock.lock), writing]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test: the tables are the program's.
    #[test]
    fn sets_have_one_number_in_whatever_order_they_are_made() {
        assert!(start());
        let set = |locks: &[u64]| locks.iter().fold(0, |set, lock| with(set, *lock));
        assert_eq!(set(&[3, 1, 2]), set(&[2, 3, 1, 3]));
        assert_ne!(set(&[3, 1, 2]), set(&[3, 1]));
        for _ in 0..2 {
            assert_eq!(common(set(&[1, 2, 3]), set(&[2, 3, 4])), set(&[3, 2]));
            assert_eq!(common(set(&[1, 2]), set(&[4, 3])), 0);
        }
        assert_eq!(common(set(&[1]), UNKNOWN), set(&[1]));
        assert_eq!(common(UNKNOWN, set(&[1])), set(&[1]));
        assert_eq!(common(set(&[1]), 0), 0);
    }
}
