//! Who has touched which bytes in the run as it stands, so that a new access finds those that it depends on.
//!
//! Memory is kept by words of eight bytes. Accesses to many words (a block that is given back) are kept apart, in a list.

use rustc_hash::FxHashMap;

/// Accesses to more words than this are kept in the list.
const MANY_WORDS: u64 = 64;

/// One deed of one event of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// Which event.
    pub(super) event: u32,
    /// Which of its deeds.
    pub(super) deed: u32,
}

#[derive(Clone, Copy)]
struct Touch {
    spot: Spot,
    mask: u8,
    /// The block is a new one: what was done to its bytes before has nothing to do with what is done to them from now on.
    fresh: bool,
}

#[derive(Default)]
struct Word {
    reads: Vec<Touch>,
    writes: Vec<Touch>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    Fresh,
}

struct Wide {
    spot: Spot,
    start: u64,
    end: u64,
    access: Access,
}

/// How to take the last entry back.
#[derive(Clone, Copy)]
pub(super) enum Entered {
    Read(u64),
    Write(u64),
    Wide,
}

/// All bytes that were touched.
#[derive(Default)]
pub(super) struct Memory {
    words: FxHashMap<u64, Word>,
    wide: Vec<Wide>,
}

fn mask(word: u64, start: u64, end: u64) -> u8 {
    let first = start.saturating_sub(word * 8).min(8);
    let behind = end.saturating_sub(word * 8).min(8);
    ((1_u16 << behind) - (1_u16 << first)) as u8
}

fn words(start: u64, end: u64) -> std::ops::RangeInclusive<u64> {
    start / 8..=end.saturating_sub(1).max(start) / 8
}

fn is_wide(start: u64, end: u64) -> bool {
    (end - start) / 8 > MANY_WORDS
}

impl Memory {
    /// Enters an access.
    pub(super) fn enter(
        &mut self,
        spot: Spot,
        start: u64,
        end: u64,
        write: bool,
        undo: &mut impl FnMut(Entered),
    ) {
        if is_wide(start, end) {
            let access = if write { Access::Write } else { Access::Read };
            self.wide.push(Wide {
                spot,
                start,
                end,
                access,
            });
            undo(Entered::Wide);
            return;
        }
        for word in words(start, end) {
            let touch = Touch {
                spot,
                mask: mask(word, start, end),
                fresh: false,
            };
            let entry = self.words.entry(word).or_default();
            if write {
                entry.writes.push(touch);
                undo(Entered::Write(word));
            } else {
                entry.reads.push(touch);
                undo(Entered::Read(word));
            }
        }
    }

    /// Enters that a block was handed out.
    pub(super) fn renew(
        &mut self,
        spot: Spot,
        start: u64,
        end: u64,
        undo: &mut impl FnMut(Entered),
    ) {
        let mut touch = |word: u64, entry: &mut Word| {
            entry.writes.push(Touch {
                spot,
                mask: mask(word, start, end),
                fresh: true,
            });
            undo(Entered::Write(word));
        };
        if is_wide(start, end) {
            let range = words(start, end);
            for (word, entry) in &mut self.words {
                if range.contains(word) {
                    touch(*word, entry);
                }
            }
        } else {
            for word in words(start, end) {
                if let Some(entry) = self.words.get_mut(&word) {
                    touch(word, entry);
                }
            }
        }
        if !self.wide.is_empty() {
            self.wide.push(Wide {
                spot,
                start,
                end,
                access: Access::Fresh,
            });
            undo(Entered::Wide);
        }
    }

    /// Takes the last entry back.
    pub(super) fn leave(&mut self, entered: Entered) {
        match entered {
            Entered::Read(word) => {
                if let Some(word) = self.words.get_mut(&word) {
                    word.reads.pop();
                }
            }
            Entered::Write(word) => {
                if let Some(word) = self.words.get_mut(&word) {
                    word.writes.pop();
                }
            }
            Entered::Wide => {
                self.wide.pop();
            }
        }
    }

    /// Shows all that an access depends on, as far as nothing that is shown stands between.
    pub(super) fn before(&self, start: u64, end: u64, write: bool, show: &mut impl FnMut(Spot)) {
        if is_wide(start, end) {
            let range = words(start, end);
            for (number, word) in &self.words {
                if range.contains(number) {
                    word.before(mask(*number, start, end), write, show);
                }
            }
        } else {
            for number in words(start, end) {
                if let Some(word) = self.words.get(&number) {
                    word.before(mask(number, start, end), write, show);
                }
            }
        }
        for wide in self.wide.iter().rev() {
            if wide.start >= end || start >= wide.end {
                continue;
            }
            match wide.access {
                Access::Fresh if wide.start <= start && end <= wide.end => return,
                Access::Fresh => {}
                Access::Read if !write => {}
                Access::Read | Access::Write => show(wide.spot),
            }
        }
    }

    /// How many bytes it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        let touches: usize = self
            .words
            .values()
            .map(|word| word.reads.capacity() + word.writes.capacity())
            .sum();
        self.words.capacity() * (size_of::<Word>() + 8)
            + touches * size_of::<Touch>()
            + self.wide.capacity() * size_of::<Wide>()
    }
}

impl Word {
    fn before(&self, mask: u8, write: bool, show: &mut impl FnMut(Spot)) {
        let mut uncovered = mask;
        // Reads before this are behind a write that is shown or own.
        let mut since = 0;
        for touch in self.writes.iter().rev() {
            if touch.mask & uncovered == 0 {
                continue;
            }
            uncovered &= !touch.mask;
            if !touch.fresh {
                show(touch.spot);
            }
            if uncovered == 0 {
                since = touch.spot.event;
                break;
            }
        }
        if write {
            for touch in self.reads.iter().rev() {
                if touch.spot.event < since {
                    break;
                }
                if touch.mask & mask != 0 {
                    show(touch.spot);
                }
            }
        }
    }
}
