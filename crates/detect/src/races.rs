//! The races that a detector found: every pair of places once, and how often.

use deadheat_trace::{Addr, Event, EventIndex, Pc};
use rustc_hash::{FxHashMap, FxHashSet};

/// An access, and where it stands in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Its position.
    pub index: EventIndex,
    /// What it did.
    pub event: Event,
}

/// Two accesses of different threads to the same bytes that nothing orders, as far as the
/// detector's method goes. The first stands earlier in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Race {
    /// The earlier access.
    pub first: Access,
    /// The later one.
    pub second: Access,
}

/// A pair of places in the program, the smaller first: what a person calls one race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature(pub Pc, pub Pc);

/// The first race with some signature, and how many more there were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The first.
    pub race: Race,
    /// How many pairs of accesses the detector found with this signature.
    pub count: u64,
}

/// What a detector found in a trace.
#[derive(Clone, Debug, Default)]
pub struct Races {
    found: Vec<Found>,
    by_signature: FxHashMap<Signature, usize>,
    variables: FxHashSet<Addr>,
    last: Option<EventIndex>,
    racy_events: u64,
    second_places: FxHashSet<Pc>,
}

impl Race {
    /// The pair of places.
    pub fn signature(&self) -> Signature {
        let (a, b) = (self.first.event.pc(), self.second.event.pc());
        Signature(a.min(b), a.max(b))
    }

    /// The first byte that both accesses touch.
    pub fn addr(&self) -> Addr {
        self.first.event.addr().max(self.second.event.addr())
    }
}

impl Races {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more. The second accesses come in the order of the trace.
    pub fn add(&mut self, race: Race) {
        let signature = race.signature();
        match self.by_signature.get(&signature) {
            Some(at) => self.found[*at].count += 1,
            None => {
                self.by_signature.insert(signature, self.found.len());
                self.found.push(Found { race, count: 1 });
            }
        }
        self.variables.insert(race.addr());
        self.note(race.second);
    }

    /// An access that races though nobody knows with which: it only counts.
    pub fn note(&mut self, access: Access) {
        if self.last != Some(access.index) {
            self.last = Some(access.index);
            self.racy_events += 1;
            self.second_places.insert(access.event.pc());
        }
    }

    /// One of each signature, in the order in which they were found.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// Whether there is one with this signature.
    pub fn contains(&self, signature: Signature) -> bool {
        self.by_signature.contains_key(&signature)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The places that take part in races, each once, sorted.
    pub fn places(&self) -> Vec<Pc> {
        let pairs = self.by_signature.keys();
        let mut places: Vec<Pc> = pairs.flat_map(|Signature(a, b)| [*a, *b]).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The variables that have races: the first byte that two racing accesses share, each once,
    /// sorted.
    pub fn variables(&self) -> Vec<Addr> {
        let mut variables: Vec<Addr> = self.variables.iter().copied().collect();
        variables.sort_unstable();
        variables
    }

    /// How many accesses race with an earlier one. (What RAPID counts as races.)
    pub fn racy_events(&self) -> u64 {
        self.racy_events
    }

    /// How many places those accesses have. (What RAPID counts as racy locations.)
    pub fn racy_places(&self) -> usize {
        self.second_places.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_trace::{Op, ThreadId};

    fn access(index: u64, thread: u32, addr: u64, pc: u32) -> Access {
        Access {
            index: EventIndex(index),
            event: Event::access(ThreadId(thread), Op::Write, Addr(addr), 4, Pc(pc)),
        }
    }

    #[test]
    fn a_pair_of_places_is_one_race_whichever_comes_first() {
        let mut races = Races::new();
        races.add(Race {
            first: access(0, 0, 8, 2),
            second: access(1, 1, 10, 1),
        });
        races.add(Race {
            first: access(2, 1, 16, 1),
            second: access(3, 0, 16, 2),
        });
        races.add(Race {
            first: access(1, 1, 10, 1),
            second: access(3, 0, 16, 3),
        });
        assert_eq!(races.found().len(), 2);
        assert_eq!(races.found()[0].count, 2);
        assert_eq!(races.places(), [Pc(1), Pc(2), Pc(3)]);
        assert_eq!(races.variables(), [Addr(10), Addr(16)]);
        assert_eq!((races.racy_events(), races.racy_places()), (2, 2));
    }
}
