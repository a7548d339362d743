//! How many different states of the program were seen.
//!
//! A state is what each thread has done, with the values that it read (what it holds itself follows from that), and the last value of
//! each piece of memory that was written. Two runs that lead to one state by different orders are counted once. States are only
//! counted: a search that cut at a state that it has seen would have to know which races the rest of that run took part in.

use std::hash::{Hash, Hasher};

use deadheat_trace::Op;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::{dependence::bytes, execution::Transition};

/// One thread's history, or one piece of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Thread(u32),
    Memory(u64, u32),
}

struct Change {
    part: Part,
    before: Option<u64>,
}

/// Counts states along the run as it stands.
#[derive(Default)]
pub(super) struct States {
    parts: FxHashMap<Part, u64>,
    /// The sum of all parts.
    sum: u64,
    changes: Vec<Change>,
    /// For each transition how many changes there were before it.
    marks: Vec<usize>,
    seen: FxHashSet<u64>,
}

fn number(what: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    what.hash(&mut hasher);
    // The last step of the hasher mixes upwards only.
    let mixed = hasher.finish();
    (mixed ^ (mixed >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl States {
    /// Goes back to where there were so many transitions.
    pub(super) fn truncate(&mut self, len: usize) {
        while self.marks.len() > len {
            let Some(mark) = self.marks.pop() else {
                return;
            };
            while self.changes.len() > mark {
                if let Some(change) = self.changes.pop() {
                    self.put(change.part, change.before);
                }
            }
        }
    }

    fn put(&mut self, part: Part, value: Option<u64>) -> Option<u64> {
        let before = match value {
            Some(value) => self.parts.insert(part, value),
            None => self.parts.remove(&part),
        };
        let weight = |value: Option<u64>| value.map_or(0, |value| number((part, value)));
        self.sum = self
            .sum
            .wrapping_sub(weight(before))
            .wrapping_add(weight(value));
        before
    }

    fn change(&mut self, part: Part, value: u64) {
        let before = self.put(part, Some(value));
        self.changes.push(Change { part, before });
    }

    /// A transition has happened, and if it has woken one of several, that one.
    pub(super) fn push(&mut self, transition: &Transition, woken: Option<usize>) {
        self.marks.push(self.changes.len());
        let own = Part::Thread(transition.thread);
        let mut history = number((self.parts.get(&own), woken));
        for deed in &transition.deeds {
            let value = match deed.op {
                op if op.reads() => deed.value,
                _ => 0,
            };
            history = number((history, deed.op, deed.object, deed.pc, value));
            if let Some(bytes) = bytes(deed)
                && bytes.write
                && deed.op != Op::Free
            {
                self.change(Part::Memory(deed.object, deed.size), deed.value);
            }
        }
        self.change(own, history);
    }

    /// The state is one that was seen. Says whether it is a new one.
    pub(super) fn count(&mut self) -> bool {
        self.seen.insert(self.sum)
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.seen.len() as u64
    }

    /// How many bytes they take, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.seen.capacity() * 9 + self.parts.capacity() * 32 + self.changes.capacity() * 40
    }
}
