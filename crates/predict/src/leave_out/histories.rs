//! What happened to words of memory in the must order, as numbers: a history is the last write and the reads behind it.
//!
//! Few histories are different, so each is kept once, and what an access makes of one is remembered: the must order changes only
//! where threads are created and joined.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Nothing has happened.
pub const NEW: u32 = 0;
/// More different histories are not told apart.
const MOST: usize = 1 << 19;
/// So much of what accesses make of them is remembered.
const MOST_NEXT: usize = 1 << 20;

/// A moment of a thread, in the must order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    pub thread: u32,
    pub time: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct History {
    write: Option<Moment>,
    /// Those that the last write is not known to be before or after, and that no later one stands for.
    reads: SmallVec<[Moment; 2]>,
    /// The thread that did it all; `None` if there are several.
    owner: Option<u32>,
}

/// What an access makes of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    pub history: u32,
    /// A conflicting access is not ordered with it.
    pub is_unordered: bool,
    /// Several threads have accessed the word.
    pub has_several: bool,
}

/// All histories.
pub struct Histories {
    all: Vec<History>,
    numbers: FxHashMap<History, u32>,
    next: FxHashMap<(u32, Moment, bool), Next>,
}

impl Default for Histories {
    fn default() -> Self {
        Histories {
            all: vec![History::default()],
            numbers: FxHashMap::from_iter([(History::default(), NEW)]),
            next: FxHashMap::default(),
        }
    }
}

impl Histories {
    /// The history after an access. `is_before` tells whether a moment is before this one.
    #[inline]
    pub fn next(
        &mut self,
        history: u32,
        at: Moment,
        writes: bool,
        is_before: impl Fn(Moment) -> bool,
    ) -> Next {
        if let Some(next) = self.next.get(&(history, at, writes)) {
            return *next;
        }
        let next = self.work_out(history, at, writes, is_before);
        if self.next.len() >= MOST_NEXT {
            self.next.clear();
        }
        self.next.insert((history, at, writes), next);
        next
    }

    /// Whether no new history can be told apart any more.
    pub fn is_full(&self) -> bool {
        self.all.len() >= MOST
    }

    /// Lets go of all histories but those of these words, and gives them new numbers. Whether that has made much room.
    pub fn keep<'a>(&mut self, words: impl Iterator<Item = &'a mut u32>, of: u32) -> bool {
        let old = std::mem::take(self);
        let mut new: FxHashMap<u32, u32> = FxHashMap::from_iter([(NEW, NEW)]);
        for word in words {
            let number = *new.entry(*word & of).or_insert_with(|| {
                let history = &old.all[(*word & of) as usize];
                let number = self.all.len() as u32;
                self.all.push(history.clone());
                self.numbers.insert(history.clone(), number);
                number
            });
            *word = *word & !of | number;
        }
        self.all.len() < MOST / 2
    }

    fn work_out(
        &mut self,
        history: u32,
        at: Moment,
        writes: bool,
        is_before: impl Fn(Moment) -> bool,
    ) -> Next {
        let mut after = self.all[history as usize].clone();
        let is_ordered = |other: &Moment| other.thread == at.thread || is_before(*other);
        let mut is_unordered = after.write.is_some_and(|write| !is_ordered(&write));
        is_unordered |= writes && !after.reads.iter().all(is_ordered);
        let has_several = match (history, after.owner) {
            (NEW, _) => {
                after.owner = Some(at.thread);
                false
            }
            (_, owner) => owner != Some(at.thread),
        };
        if has_several {
            after.owner = None;
        }
        if writes {
            after.write = Some(at);
            after.reads.clear();
        } else {
            after.reads.retain(|read| !is_ordered(read));
            after.reads.push(at);
            after
                .reads
                .sort_unstable_by_key(|read| (read.thread, read.time));
        }
        let known = self.numbers.get(&after).copied();
        let number = known.unwrap_or(self.all.len() as u32);
        if known.is_none() {
            // What cannot be followed is taken for unordered.
            if self.all.len() >= MOST {
                return Next {
                    history: NEW,
                    is_unordered: true,
                    has_several,
                };
            }
            self.all.push(after.clone());
            self.numbers.insert(after, number);
        }
        Next {
            history: number,
            is_unordered,
            has_several,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_goes_on_under_another_number() {
        let at = |thread, time| Moment { thread, time };
        let mut histories = Histories::default();
        let mut access = |history, thread, time, writes| {
            histories.next(history, at(thread, time), writes, |_| false)
        };
        let _ = access(NEW, 0, 1, false);
        let written = access(NEW, 1, 1, true).history;
        const FLAG: u32 = 1 << 31;
        let mut words = [NEW, written | FLAG, written, NEW];
        assert!(histories.keep(words.iter_mut(), FLAG - 1));
        let kept = words[2];
        assert_eq!(words, [NEW, kept | FLAG, kept, NEW]);
        let next = histories.next(kept, at(0, 2), false, |_| false);
        assert!(next.is_unordered && next.has_several);
        assert!(!histories.next(kept, at(1, 2), true, |_| false).is_unordered);
        assert_eq!(histories.next(NEW, at(1, 1), true, |_| false).history, kept);
    }
}
