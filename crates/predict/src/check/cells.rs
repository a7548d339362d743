//! The memory that a window speaks of, cut into cells: runs of bytes that no access of the window
//! takes apart, in one life of the block that they lie in. Everything that holds for a byte holds for its cell.

use std::collections::BTreeMap;
use std::ops::Range;

use deadheat_trace::{Op, Step};
use rustc_hash::{FxHashMap, FxHashSet};

use super::observed::positions;
use crate::Window;

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Content {
    /// These bytes, the first in the lowest bits.
    Value(u64),
    /// Whatever it held at the border, or when its block was handed out.
    Initial,
    /// Whatever the write at this position wrote there in the recording.
    Of(u32),
    /// Nobody knows.
    Unknown,
}

/// The cells of a window, and how its events used them.
#[derive(Default)]
pub(super) struct Cells {
    pub all: Vec<Cell>,
    /// The life of each block; the first stands for all memory that never began or ended.
    pub lives: Vec<Life>,
    /// The block that each `Free` gives back.
    pub freed: FxHashMap<u32, u32>,
    /// For each position, where its cells stand in `touched`.
    ranges: Vec<usize>,
    touched: Vec<u32>,
    /// For the cells of each read what they held; where they start.
    saw: Vec<Content>,
    saw_from: FxHashMap<u32, usize>,
    /// Since when what an external write wrote may have changed: the first of the last accesses to its cells before it.
    pub changed_since: FxHashMap<u32, u32>,
}

/// A cell.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    start: u64,
    bytes: u64,
    /// The life of its block.
    pub life: u32,
    /// Who accesses it, if it is one thread only, and never atomically.
    pub only: Option<u32>,
    /// Somebody accesses it atomically.
    pub is_atomic: bool,
    /// What it held at the border.
    pub initial: Content,
}

/// The life of a block.
#[derive(Clone, Copy, Default)]
pub(super) struct Life {
    /// Where it begins and ends, if that is in the window.
    pub alloc: Option<u32>,
    pub free: Option<u32>,
}

impl Cell {
    /// The part of a value of an access that falls into the cell.
    pub fn part(&self, step: &Step, value: Option<u64>) -> Option<u64> {
        let size = step.event.size();
        let shift = self.start.checked_sub(step.event.target())?;
        let value = value.filter(|_| size <= 8 && shift < size)?;
        Some(value >> (8 * shift) & mask(self.bytes))
    }
}

fn mask(bytes: u64) -> u64 {
    match bytes {
        0..8 => (1 << (8 * bytes)) - 1,
        _ => u64::MAX,
    }
}

impl Cells {
    pub fn new(window: &Window) -> Self {
        Reader::new(window).read()
    }

    /// The cells that the event at this position touches.
    pub fn of(&self, position: u32) -> &[u32] {
        let position = position as usize;
        match (self.ranges.get(position), self.ranges.get(position + 1)) {
            (Some(&from), Some(&to)) => &self.touched[from..to],
            _ => &[],
        }
    }

    /// What the cells that a read touches held when it was observed, in the same order.
    pub fn seen(&self, position: u32) -> &[Content] {
        match self.saw_from.get(&position) {
            Some(&from) => &self.saw[from..from + self.of(position).len()],
            None => &[],
        }
    }
}

const NO_CELL: u32 = u32::MAX;

/// Reads a window.
struct Reader<'w> {
    window: &'w Window,
    /// All addresses where an access or block begins or ends.
    edges: Vec<u64>,
    /// The blocks that are alive: by their start, their end and life.
    blocks: BTreeMap<u64, (u64, u32)>,
    /// The cell that begins at each edge in memory that lives for ever; [`NO_CELL`] if it has none yet.
    lasting: Vec<u32>,
    /// The cells of blocks, by edge and life.
    passing: FxHashMap<(u32, u32), u32>,
    /// By cell: what it holds, and who accessed it last.
    holds: Vec<Content>,
    last: Vec<Option<u32>>,
    cells: Cells,
}

impl<'w> Reader<'w> {
    fn new(window: &'w Window) -> Self {
        let mut reader = Reader {
            window,
            edges: Vec::new(),
            blocks: BTreeMap::new(),
            lasting: Vec::new(),
            passing: FxHashMap::default(),
            holds: Vec::new(),
            last: Vec::new(),
            cells: Cells::default(),
        };
        reader.cells.lives.push(Life::default());
        for block in &window.border.blocks {
            reader.begin(block.start.0, block.bytes, None);
        }
        reader.blocks_of_unknown_size();
        let blocks = reader.blocks.iter();
        let mut edges: Vec<u64> = blocks
            .flat_map(|(&start, &(end, _))| [start, end])
            .collect();
        for step in &window.steps {
            let range = match step.event.op() {
                Op::Alloc => block_range(step),
                op if op.is_access() => access_range(step),
                _ => continue,
            };
            edges.extend([range.start, range.end]);
        }
        edges.sort_unstable();
        edges.dedup();
        reader.lasting = vec![NO_CELL; edges.len()];
        reader.edges = edges;
        reader
    }

    /// A block that is given back and that nobody knows has one byte, the one that it is named by.
    fn blocks_of_unknown_size(&mut self) {
        let mut known: FxHashSet<u64> = self.blocks.keys().copied().collect();
        for step in &self.window.steps {
            let start = step.event.target();
            match step.event.op() {
                Op::Alloc => {
                    known.insert(start);
                }
                Op::Free if known.insert(start) => self.begin(start, 1, None),
                _ => {}
            }
        }
    }

    fn read(mut self) -> Cells {
        self.cells.ranges.push(0);
        for (position, op) in positions(self.window) {
            let step = &self.window.steps[position as usize];
            match op {
                Op::Alloc => {
                    let range = block_range(step);
                    self.begin(range.start, range.end - range.start, Some(position));
                }
                Op::Free => self.end(step.event.target(), position),
                op if op.is_access() => self.access(position, step),
                _ => {}
            }
            self.cells.ranges.push(self.cells.touched.len());
        }
        self.know_earlier();
        self.cells
    }

    /// Reads that saw what was there from the beginning before its value was told.
    fn know_earlier(&mut self) {
        let cells = &mut self.cells;
        for (position, from) in &cells.saw_from {
            let start = cells.ranges[*position as usize];
            let touched = &cells.touched[start..cells.ranges[*position as usize + 1]];
            for (saw, cell) in cells.saw[*from..].iter_mut().zip(touched) {
                if *saw == Content::Initial {
                    *saw = cells.all[*cell as usize].initial;
                }
            }
        }
    }

    /// A block begins. What it overlaps and was not given back keeps the rest.
    fn begin(&mut self, start: u64, bytes: u64, alloc: Option<u32>) {
        let end = start.saturating_add(bytes.max(1));
        let over = self.blocks.range(..end);
        let over = over.rev().take_while(|&(_, &(its_end, _))| its_end > start);
        let over: Vec<(u64, (u64, u32))> = over.map(|(&at, &block)| (at, block)).collect();
        for (its_start, (its_end, life)) in over {
            self.blocks.remove(&its_start);
            if its_start < start {
                self.blocks.insert(its_start, (start, life));
            }
            if its_end > end {
                self.blocks.insert(end, (its_end, life));
            }
        }
        let life = self.cells.lives.len() as u32;
        self.cells.lives.push(Life { alloc, free: None });
        self.blocks.insert(start, (end, life));
    }

    fn end(&mut self, start: u64, position: u32) {
        if let Some((_, life)) = self.blocks.remove(&start) {
            self.cells.lives[life as usize].free = Some(position);
            self.cells.freed.insert(position, life);
        }
    }

    fn access(&mut self, position: u32, step: &Step) {
        let range = access_range(step);
        let thread = step.event.thread().0;
        let from = self.cells.touched.len();
        let mut edge = self.edges.partition_point(|&edge| edge < range.start);
        while edge + 1 < self.edges.len() && self.edges[edge] < range.end {
            let cell = self.cell(edge as u32, thread);
            if step.event.op().is_atomic() {
                let cell = &mut self.cells.all[cell as usize];
                (cell.only, cell.is_atomic) = (None, true);
            }
            self.cells.touched.push(cell);
            edge += 1;
        }
        let touched = &self.cells.touched[from..];
        if step.event.op().reads() {
            // Whoever saw it first tells what was there from the beginning.
            for &cell in touched {
                let told = self.cells.all[cell as usize].part(step, step.read());
                if let (Content::Initial, Some(value)) = (self.holds[cell as usize], told) {
                    self.cells.all[cell as usize].initial = Content::Value(value);
                    self.holds[cell as usize] = Content::Value(value);
                }
            }
            self.cells.saw_from.insert(position, self.cells.saw.len());
            let seen = touched.iter().map(|&cell| self.holds[cell as usize]);
            self.cells.saw.extend(seen);
        }
        if step.event.op() == Op::ExternalWrite {
            let last = touched.iter().map(|&cell| self.last[cell as usize]);
            let since = last.map(|last| last.unwrap_or(0)).min().unwrap_or(0);
            self.cells.changed_since.insert(position, since);
        }
        for &cell in touched {
            let at = cell as usize;
            self.last[at] = Some(position);
            if step.event.op().writes() {
                self.holds[at] = written(&self.cells.all[at], step, position);
            }
        }
    }

    /// The number of the cell that begins at an edge, in the life that is current.
    fn cell(&mut self, edge: u32, thread: u32) -> u32 {
        let (start, end) = (self.edges[edge as usize], self.edges[edge as usize + 1]);
        let block = self.blocks.range(..=start).next_back();
        let life = block.filter(|(_, (its_end, _))| *its_end > start);
        let life = life.map_or(0, |(_, &(_, life))| life);
        let number = match life {
            0 => &mut self.lasting[edge as usize],
            _ => self.passing.entry((edge, life)).or_insert(NO_CELL),
        };
        if *number == NO_CELL {
            *number = self.cells.all.len() as u32;
            let from_border = self.cells.lives[life as usize].alloc.is_none();
            let initial = match border_value(self.window, start, end - start) {
                Some(value) if from_border => Content::Value(value),
                _ => Content::Initial,
            };
            self.cells.all.push(Cell {
                start,
                bytes: end - start,
                life,
                only: Some(thread),
                is_atomic: false,
                initial,
            });
            self.holds.push(initial);
            self.last.push(None);
        }
        let number = *number;
        let cell = &mut self.cells.all[number as usize];
        cell.only = cell.only.filter(|&only| only == thread);
        number
    }
}

/// What the write at this position leaves in a cell if it writes what it wrote in the recording.
pub(super) fn written(cell: &Cell, step: &Step, position: u32) -> Content {
    let value = cell.part(step, step.written());
    value.map_or(Content::Of(position), Content::Value)
}

fn access_range(step: &Step) -> Range<u64> {
    let start = step.event.target();
    start..start + step.event.size()
}

fn block_range(step: &Step) -> Range<u64> {
    let start = step.event.target();
    start..start.saturating_add(step.written().unwrap_or(0).max(1))
}

/// What a few bytes held at the border, if all of them are known.
fn border_value(window: &Window, start: u64, bytes: u64) -> Option<u64> {
    if bytes > 8 {
        return None;
    }
    let mut value = 0;
    for i in 0..bytes {
        let at = start + i;
        let word = window.border.memory.get(&(at / 8))?;
        if word.known >> (at % 8) & 1 == 0 {
            return None;
        }
        value |= (word.bytes >> (8 * (at % 8)) & 0xFF) << (8 * i);
    }
    Some(value)
}
