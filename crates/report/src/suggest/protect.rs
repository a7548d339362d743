//! The lock that all other accesses to a race's memory hold.
//!
//! Accesses that are made while there is one thread only (before others are created, after they have ended) need no lock and are not asked.

use std::collections::BTreeMap;

use deadheat_trace::{Event, LockId, Pc};

use super::{is_near, lock_name, place};
use crate::context::{Context, Held};
use crate::explain::Explain;
use crate::finding::{Finding, Frame, Lock, Memory};
use crate::hint;

/// So many places are told apart; with more, nothing is suggested.
const MOST_PLACES: usize = 1000;
/// Memory that is larger is no variable.
const MOST_BYTES: u64 = 4096;

/// Who uses some races' memory, and with which locks.
pub struct Uses {
    /// The races, by their numbers.
    pub races: Vec<usize>,
    start: u64,
    end: u64,
    is_heap: bool,
    /// For each place the locks that all accesses there hold.
    places: BTreeMap<Pc, Vec<LockId>>,
}

impl Uses {
    /// Of the memory of a race; `None` if it is not known what memory that is.
    pub fn of(finding: &Finding) -> Option<Self> {
        let object = finding.object.as_ref()?;
        let is_heap = match object.memory {
            Memory::Heap { .. } => true,
            Memory::Global { .. } | Memory::Variable => false,
            Memory::Stack { .. } | Memory::Unknown => return None,
        };
        (1..=MOST_BYTES).contains(&object.size).then(|| Uses {
            races: Vec::new(),
            start: object.address,
            end: object.address.saturating_add(object.size),
            is_heap,
            places: BTreeMap::new(),
        })
    }

    /// The same memory once more, for other races.
    pub fn again(&self, races: Vec<usize>) -> Self {
        Uses {
            races,
            places: BTreeMap::new(),
            ..*self
        }
    }

    /// Which memory: its first byte, what is behind it, and whether it is the heap's.
    pub fn bytes(&self) -> (u64, u64, bool) {
        (self.start, self.end, self.is_heap)
    }

    /// The words of eight bytes that it touches.
    pub fn words(&self) -> impl Iterator<Item = u64> + use<> {
        self.start / 8..=(self.end - 1) / 8
    }

    /// Whether an access is to it.
    pub fn overlaps(&self, event: &Event) -> bool {
        event.addr().0 < self.end && self.start < event.addr().0 + event.size()
    }

    /// An access to it.
    pub fn access(&mut self, event: &Event, held: &[Held]) {
        // A lock that is held for reading keeps writers away, not readers.
        let protects = |held: &&Held| !held.read || !event.op().writes();
        let locks = || held.iter().filter(protects).map(|held| held.lock);
        let is_full = self.places.len() > MOST_PLACES;
        match self.places.get_mut(&event.pc()) {
            Some(common) => common.retain(|lock| locks().any(|other| other == *lock)),
            None if is_full => {}
            None => drop(self.places.insert(event.pc(), locks().collect())),
        }
    }

    /// What it was before does not count.
    pub fn forget(&mut self) {
        self.places.clear();
    }

    /// What to change, if that is clear.
    pub fn told(&self, finding: &Finding, sides: &[&Context], explain: &Explain) -> Option<String> {
        let [one, other] = sides else {
            return None;
        };
        let is_complete = self.places.len() <= MOST_PLACES;
        let by_hint = finding
            .hints
            .iter()
            .any(|told| hint::is_double_checked(told));
        if !is_complete || by_hint {
            return None;
        }
        let mut locks: Vec<LockId> = self.places.values().flatten().copied().collect();
        locks.sort_unstable();
        locks.dedup();
        let mut told = locks
            .iter()
            .filter_map(|lock| self.missing(*lock, finding, sides, explain));
        told.next().or_else(|| different(finding, [*one, *other]))
    }

    /// Who should take this lock, if all others do.
    fn missing(
        &self,
        lock: LockId,
        finding: &Finding,
        sides: &[&Context],
        explain: &Explain,
    ) -> Option<String> {
        let holds = |side: &Context| side.locks.iter().any(|held| held.lock == lock);
        let both = finding.accesses.iter().zip(sides);
        let without = both.filter(|(_, side)| !holds(side));
        // Of a thread that holds another lock, or of two without this one, a single other place is no habit.
        let needed = match without.clone().count() {
            1 if without.clone().all(|(_, side)| side.locks.is_empty()) => 1,
            _ => 2,
        };
        let without: Vec<&Frame> = without.map(|(access, _)| &access.place).collect();
        if without.is_empty() {
            return None;
        }
        let mut others = 0;
        let mut is_elsewhere = false;
        for (pc, common) in &self.places {
            let at = place(*pc, explain);
            match without.iter().find(|side| is_near(side, &at)) {
                Some(side) => is_elsewhere |= side.line != at.line,
                None if common.contains(&lock) => others += 1,
                None => return None,
            }
        }
        if others < needed {
            return None;
        }
        let name = &finding.object.as_ref()?.name;
        let lock = lock_name(lock, explain);
        let mut places: Vec<String> = without.iter().map(|side| side.at()).collect();
        places.dedup();
        let places = places.join(" and ");
        Some(match (is_elsewhere, &without[0].function) {
            (true, Some(function)) if without.len() == 1 => format!(
                "every access to `{name}` outside `{function}` holds `{lock}`: take it there, too ({places})"
            ),
            (true, _) => format!(
                "every access to `{name}` in other functions holds `{lock}`: take it here, too ({places})"
            ),
            (false, _) => format!(
                "every other access to `{name}` holds `{lock}`: take it here, too ({places})"
            ),
        })
    }
}

/// Both sides hold locks, and none that the other holds.
fn different(finding: &Finding, sides: [&Context; 2]) -> Option<String> {
    let [one, other] = sides.map(|side| &side.locks);
    let is_common = |held: &Held| other.iter().any(|also| also.lock == held.lock);
    let [first, second] = &finding.accesses[..] else {
        return None;
    };
    let (first, second) = (first.locks.first()?, second.locks.first()?);
    if one.iter().any(is_common) {
        return None;
    }
    let told = |lock: &Lock| {
        let at = crate::own_place(&lock.acquired_at).at();
        format!("`{}` ({at})", lock.name)
    };
    let name = &finding.object.as_ref()?.name;
    Some(format!(
        "the two accesses hold different locks, {} and {}: hold the same one wherever `{name}` is used",
        told(first),
        told(second)
    ))
}
