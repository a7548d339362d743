//! The windows of a trace, one after the other.

use deadheat_trace::{EventIndex, Op, Step};

use super::border::Standing;
use super::quiet::Quiet;
use super::{Size, Source};
use crate::{Count, NOBODY, Window, counts};

/// The sizes of windows that grow. The first is the paper's.
const FIRST: usize = 10_000;
const NEXT: usize = 80_000;
pub const LAST: usize = 1 << 21;

/// A window, and what of it is new.
pub struct Piece {
    /// The window; empty if there is nothing to ask about in it.
    pub window: Window,
    /// Its reference counts, which the window itself does not know to be some.
    pub counts: Vec<(u32, Count)>,
    /// How many of its events were in the window before.
    pub is_old: u32,
    /// How many were not.
    pub is_new: u32,
}

/// The sizes of windows to look at a trace with, one round each.
pub fn rounds(events: usize, size: Size) -> Vec<usize> {
    match size {
        Size::Events(size) => vec![size.max(2)],
        Size::Auto => {
            let mut sizes: Vec<usize> = [FIRST, NEXT, LAST]
                .into_iter()
                .filter(|size| *size < events)
                .collect();
            sizes.push(events.clamp(2, LAST));
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

    /// The next window.
    pub fn next(&mut self, source: &Source) -> Option<Piece> {
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
        while self.stands_at < start {
            self.standing.step(&self.steps[self.stands_at]);
            self.stands_at += 1;
        }
        let piece = Piece {
            window: self.window(source, start, end),
            counts: counts::within(source.counts, start, end),
            is_old: self.done.saturating_sub(start) as u32,
            is_new: end.saturating_sub(self.done.max(start)) as u32,
        };
        self.done = end;
        self.start = match gap {
            Some(_) => end + 1,
            None => start + (self.size / 2).max(1),
        };
        self.is_over = gap.is_none() && end == self.steps.len() || self.start >= self.steps.len();
        Some(piece)
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
