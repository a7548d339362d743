//! The windows of a trace, one after the other.

use deadheat_trace::{EventIndex, Op, Step};

use super::border::Standing;
use super::quiet::Quiet;
use super::{Size, Source};
use crate::{Count, NOBODY, Places, Window, counts};

/// The sizes of windows that grow. The first is the paper's.
const FIRST: usize = 10_000;
const NEXT: usize = 80_000;
const LAST: usize = 1 << 21;
/// What a window takes of the memory for each of its events, with what is known of the trace besides: where most of its memory is
/// accessed once or twice, about a third of that itself.
const OF_EVENT: usize = 3 << 9;

/// The largest window that there is room for.
pub fn largest(memory: usize) -> usize {
    (memory / OF_EVENT).clamp(NEXT, LAST)
}

/// How many events the windows have that are looked at at once: no more than the largest, or less than half of it and one more
/// window.
pub fn at_once(memory: usize) -> usize {
    largest(memory) / 2
}

/// A window, and what of it is new.
pub struct Piece {
    /// Where it begins in the segment.
    pub start: usize,
    /// The window; empty if there is nothing to ask about in it.
    pub window: Window,
    /// Its reference counts, which the window itself does not know to be some.
    pub counts: Vec<(u32, Count)>,
    /// How many of its events were in the window before.
    pub is_old: u32,
    /// How many were not.
    pub is_new: u32,
    /// What to ask about.
    pub asks: Asks,
}

/// Questions about a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Those {
    /// Races at these places.
    pub races: Vec<Places>,
    /// Deadlocks.
    pub locks: bool,
}

/// What a window is asked about now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asks {
    All,
    Only(Those),
    /// The rest was asked before.
    Except(Those),
}

impl Asks {
    /// Whether it is asked about races at these places.
    pub fn races(&self, places: Places) -> bool {
        match self {
            Asks::All => true,
            Asks::Only(those) => those.races.contains(&places),
            Asks::Except(those) => !those.races.contains(&places),
        }
    }

    /// Whether it is asked about deadlocks.
    pub fn locks(&self) -> bool {
        match self {
            Asks::All => true,
            Asks::Only(those) => those.locks,
            Asks::Except(those) => !those.locks,
        }
    }

    /// Whether other questions come later.
    pub fn is_only(&self) -> bool {
        matches!(self, Asks::Only(_))
    }
}

/// Where a window lies in a segment: from `start` to `end`, of which what is before `new` was in the window before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub start: usize,
    pub new: usize,
    pub end: usize,
}

/// The sizes of windows to look at a trace with, one round each.
pub fn rounds(events: usize, size: Size, memory: usize) -> Vec<usize> {
    match size {
        Size::Events(size) => vec![size.max(2)],
        Size::Auto => {
            let largest = largest(memory);
            let mut sizes: Vec<usize> = [FIRST, NEXT, largest]
                .into_iter()
                .filter(|size| *size < events)
                .collect();
            sizes.push(events.clamp(2, largest));
            sizes.dedup();
            sizes
        }
    }
}

/// About how many windows of a size a trace has: more if it has gaps.
pub fn count(events: usize, size: usize) -> usize {
    events.saturating_sub(size).div_ceil((size / 2).max(1)) + 1
}

/// Cuts a trace into windows.
pub struct Pieces<'a> {
    steps: &'a [Step],
    size: usize,
    /// Where the next one begins, how far the last one went, and how things stand at the former.
    start: usize,
    done: usize,
    standing: Standing,
    stands_at: usize,
    quiet: Quiet,
    is_over: bool,
    /// Where `steps` begin in the trace.
    base: u64,
}

impl<'a> Pieces<'a> {
    /// Windows of this size, which have a half in common with the one before: the first begins `from` here, and up to `done` all was looked at.
    /// `standing` tells how things stand before the first step.
    pub fn behind(
        steps: &'a [Step],
        size: usize,
        (from, done): (usize, usize),
        standing: Standing,
    ) -> Self {
        Pieces {
            steps,
            size,
            start: from,
            done,
            standing,
            stands_at: 0,
            quiet: Quiet::default(),
            is_over: from >= steps.len(),
            base: 0,
        }
    }

    /// The same for steps that begin here in the trace.
    pub fn starting_at(self, base: u64) -> Self {
        Pieces { base, ..self }
    }

    /// Whether there are no more.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The next window of those that are asked about something.
    pub fn next(
        &mut self,
        source: &Source,
        asks: &dyn Fn(&Extent) -> Option<Asks>,
    ) -> Option<Piece> {
        loop {
            let extent = self.next_extent()?;
            if let Some(asks) = asks(&extent) {
                return Some(self.piece(source, &extent, asks));
            }
        }
    }

    /// How many windows are asked about something.
    pub fn count(mut self, asks: &dyn Fn(&Extent) -> Option<Asks>) -> u64 {
        std::iter::from_fn(|| self.next_extent())
            .filter(|extent| asks(extent).is_some())
            .count() as u64
    }

    fn next_extent(&mut self) -> Option<Extent> {
        if self.is_over {
            return None;
        }
        let start = self.start;
        let end = (start + self.size).min(self.steps.len());
        // Nothing is known of what lies behind a gap but that it comes later: another window begins there.
        let gap = self.steps[start..end]
            .iter()
            .position(|step| step.event.op() == Op::Lost);
        let end = gap.map_or(end, |gap| start + gap);
        let new = self.done.clamp(start, end);
        self.done = end;
        self.start = match gap {
            Some(_) => end + 1,
            None => start + (self.size / 2).max(1),
        };
        self.is_over = gap.is_none() && end == self.steps.len() || self.start >= self.steps.len();
        Some(Extent { start, new, end })
    }

    fn piece(&mut self, source: &Source, extent: &Extent, asks: Asks) -> Piece {
        let Extent { start, new, end } = *extent;
        while self.stands_at < start {
            self.standing.step(&self.steps[self.stands_at]);
            self.stands_at += 1;
        }
        Piece {
            start,
            window: self.window(source, start, end),
            counts: counts::within(source.counts, start, end),
            is_old: (new - start) as u32,
            is_new: (end - new) as u32,
            asks,
        }
    }

    fn window(&mut self, source: &Source, start: usize, end: usize) -> Window {
        let steps = &self.steps[start..end];
        let standing = &self.standing;
        let block = |start| standing.block(start);
        let waits = |step: &Step| matches!(step.event.op(), Op::Take | Op::Wake | Op::BarrierExit);
        let may_stand_still = self.base + start as u64 == 0 && steps.iter().any(waits);
        if !may_stand_still && self.quiet.is_quiet(steps, standing.held(), block) {
            return Window::default();
        }
        let needed_by = source.needed_by[start..end].iter();
        let needed_by = needed_by.map(|by| match *by as usize {
            by if by >= start && by < end => (by - start) as u32,
            _ => NOBODY,
        });
        Window {
            start: EventIndex(self.base + start as u64),
            border: self.standing.border(steps),
            needed_by: needed_by.collect(),
            steps: steps.to_vec(),
            counts: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_are_looked_at_at_once_fit_into_memory() {
        for memory in [1 << 28, 1 << 30, 1 << 32, usize::MAX] {
            let (largest, at_once) = (largest(memory), at_once(memory));
            let sizes = rounds(usize::MAX, Size::Auto, memory);
            assert_eq!(sizes.last(), Some(&largest));
            for size in sizes {
                // One more is begun as long as there are fewer events than that.
                let count = at_once.div_ceil(size);
                assert!(count * size <= largest.max(size + at_once), "{size}");
                assert!(count * size <= memory / OF_EVENT, "{size} of {memory}");
            }
        }
        assert_eq!(rounds(50_000, Size::Auto, 0), [FIRST, 50_000]);
        assert_eq!(largest(usize::MAX), LAST);
    }
}
