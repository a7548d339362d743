//! The stage that says "no": what must be before what, on the way to the cut?
//!
//! Starts with the events that the cut needs and the hard order among them, and adds what every
//! schedule must have: if of two critical sections one order is impossible, the other ([`locks`]); if a needed read
//! can see only one write, that one, with all others before it or after the read ([`reads`]); the only
//! giver that is left, and ends of lives after uses ([`others`]). An event that must be before another one is needed, too. At a fixpoint
//! nothing is known to be impossible; a cycle, or an event that cannot be executed, is the answer "no".
//!
//! Must-order is kept as a clock for each needed event, as threads are chains: how many events of each
//! thread are before it.

mod locks;
mod others;
mod reads;

use rustc_hash::FxHashMap;

use crate::effort::Budget;
use crate::model::{Model, NONE, Seen};
use crate::question::Question;

/// The cut cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Impossible;

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saturated {
    /// Nothing more must be.
    Whole,
    /// The cut cannot be reached.
    Impossible,
    /// The time was up.
    GaveUp,
}

/// Events between two looks at the clock.
const STRIDE: u32 = 1 << 10;

/// What must be, on the way to a cut.
pub struct Saturation<'m, 'w> {
    model: &'m Model<'w>,
    width: usize,
    /// The clocks of needed events, a row each. Rows of others mean nothing.
    clocks: Vec<u32>,
    /// How many events of each thread are needed.
    pub taken: Vec<u32>,
    /// How many of them have their clocks.
    entered: Vec<u32>,
    /// All reads of a thread before this place are needed.
    pub all_before: Vec<u32>,
    /// How many reads were looked at because of that, and how many because of some event.
    reads_looked: Vec<u32>,
    needs_looked: Vec<u32>,
    /// Edges that the rules have added, from and to.
    pub edges: Vec<(u32, u32)>,
    /// The edges from each event: the last one's number, and for each edge the one before.
    last_edge: FxHashMap<u32, u32>,
    edge_before: Vec<u32>,
    /// Edges to events that are not needed yet.
    later: FxHashMap<u32, Vec<u32>>,
    /// Needed reads, by part: what they see, once it is decided.
    pub decided: FxHashMap<(u32, u32), Seen>,
    /// Of each write, the needed reads that see it.
    readers: FxHashMap<(u32, u32), Vec<u32>>,
    /// Of each atom, the needed reads that see what was there before.
    initial_readers: FxHashMap<u32, Vec<u32>>,
    undecided: Vec<(u32, u32)>,
    /// Atoms of which a write's clock has changed.
    changed_atoms: Vec<bool>,
    /// Events whose clocks have changed, one bit each, and the lowest word that may have one.
    dirty: Vec<u64>,
    lowest: usize,
    row: Vec<u32>,
    /// More reads may be needed than were looked at.
    are_needs_new: bool,
    /// What was done since it was last counted.
    work: u64,
}

impl<'m, 'w> Saturation<'m, 'w> {
    /// For questions about a window.
    pub fn new(model: &'m Model<'w>) -> Self {
        let width = model.threads.count();
        Saturation {
            model,
            width,
            clocks: vec![0; model.count() * width],
            taken: vec![0; width],
            entered: vec![0; width],
            all_before: vec![0; width],
            reads_looked: vec![0; width],
            needs_looked: vec![0; width],
            edges: Vec::new(),
            last_edge: FxHashMap::default(),
            edge_before: Vec::new(),
            later: FxHashMap::default(),
            decided: FxHashMap::default(),
            readers: FxHashMap::default(),
            initial_readers: FxHashMap::default(),
            undecided: Vec::new(),
            changed_atoms: vec![false; model.memory.writes.len()],
            dirty: vec![0; model.count().div_ceil(64)],
            lowest: usize::MAX,
            row: vec![0; width],
            are_needs_new: true,
            work: 0,
        }
    }

    /// Finds all that must be for a cut.
    pub fn run(&mut self, question: &Question<'m, 'w>, budget: &Budget) -> Saturated {
        self.reset();
        for (thread, least) in question.least.iter().enumerate() {
            self.taken[thread] = *least;
        }
        for (one, other) in &question.orders {
            if self.add_edge(*one, *other).is_err() {
                return Saturated::Impossible;
            }
        }
        loop {
            let gone_on = self.go_on(question);
            budget.spend(std::mem::take(&mut self.work));
            match gone_on {
                Ok(false) => {}
                Ok(true) => return Saturated::Whole,
                Err(Impossible) => return Saturated::Impossible,
            }
            if budget.is_over() {
                return Saturated::GaveUp;
            }
        }
    }

    /// Goes on for a while; whether nothing is left to do.
    fn go_on(&mut self, question: &Question<'m, 'w>) -> Result<bool, Impossible> {
        self.grow(question)?;
        for _ in 0..STRIDE {
            let Some(event) = self.next_dirty() else {
                let mut changed = self.decide(question)?;
                changed |= self.token_rule(question)?;
                changed |= self.end_rule()?;
                changed |= self.open_rule(question)?;
                let is_whole = self.lowest == usize::MAX && self.entered == self.taken;
                return Ok(!changed && is_whole);
            };
            self.work += self.width as u64;
            self.pass_on(event)?;
            self.rules(question, event)?;
            self.grow(question)?;
        }
        Ok(false)
    }

    fn reset(&mut self) {
        for values in [
            &mut self.taken,
            &mut self.entered,
            &mut self.all_before,
            &mut self.reads_looked,
            &mut self.needs_looked,
        ] {
            values.fill(0);
        }
        self.edges.clear();
        self.last_edge.clear();
        self.edge_before.clear();
        self.later.clear();
        self.decided.clear();
        self.readers.clear();
        self.initial_readers.clear();
        self.undecided.clear();
        self.changed_atoms.fill(false);
        self.dirty.fill(0);
        self.lowest = usize::MAX;
        self.are_needs_new = true;
    }

    /// Whether an event is needed, and has its clock.
    #[inline]
    fn is_in(&self, event: u32) -> bool {
        self.model.index(event) < self.entered[self.model.thread(event)]
    }

    /// How many events of a thread must be before a needed event, itself included.
    #[inline]
    fn clock(&self, event: u32, thread: usize) -> u32 {
        self.clocks[event as usize * self.width + thread]
    }

    /// Whether an event must be before a needed one.
    #[inline]
    fn must(&self, one: u32, other: u32) -> bool {
        one != other && self.clock(other, self.model.thread(one)) > self.model.index(one)
    }

    /// The clock of any event, as far as it is known, in `self.row`.
    fn clock_of_any(&mut self, event: u32) {
        let (thread, index) = (self.model.thread(event), self.model.index(event));
        if self.is_in(event) {
            let start = event as usize * self.width;
            self.row
                .copy_from_slice(&self.clocks[start..start + self.width]);
            return;
        }
        self.row.copy_from_slice(self.model.hard.row(event));
        if let Some(last) = self.entered[thread].checked_sub(1) {
            let start = self.model.event(thread, last) as usize * self.width;
            let known = &self.clocks[start..start + self.width];
            for (mine, known) in self.row.iter_mut().zip(known) {
                *mine = (*mine).max(*known);
            }
        }
        self.row[thread] = index + 1;
    }

    fn mark(&mut self, event: u32) {
        let word = event as usize / 64;
        self.dirty[word] |= 1 << (event % 64);
        self.lowest = self.lowest.min(word);
    }

    fn next_dirty(&mut self) -> Option<u32> {
        while let Some(word) = self.dirty.get_mut(self.lowest) {
            if *word != 0 {
                let bit = word.trailing_zeros();
                *word &= *word - 1;
                return Some(self.lowest as u32 * 64 + bit);
            }
            self.lowest += 1;
        }
        self.lowest = usize::MAX;
        None
    }

    /// One event is before another: what is before the one is before the other.
    fn join(&mut self, one: u32, other: u32) -> Result<(), Impossible> {
        let thread = self.model.thread(other);
        if self.clock(one, thread) > self.model.index(other) {
            return Err(Impossible);
        }
        let width = self.width;
        let (from, to) = (one as usize * width, other as usize * width);
        let (low, high) = self.clocks.split_at_mut(from.max(to));
        let (theirs, mine) = match from < to {
            true => (&low[from..from + width], &mut high[..width]),
            false => (&high[..width], &mut low[to..to + width]),
        };
        let mut changed = false;
        for (mine, theirs) in mine.iter_mut().zip(theirs) {
            changed |= theirs > mine;
            *mine = (*mine).max(*theirs);
        }
        if changed {
            self.mark(other);
        }
        Ok(())
    }

    /// One event must be before another.
    fn add_edge(&mut self, one: u32, other: u32) -> Result<bool, Impossible> {
        if one == other {
            return Err(Impossible);
        }
        let model = self.model;
        if self.is_in(other) && self.must(one, other) {
            return Ok(false);
        }
        if model.is_before(one, other) {
            // When the other is needed, it will know.
            return Ok(false);
        }
        if model.thread(one) == model.thread(other) {
            return Err(Impossible);
        }
        let number = self.edges.len() as u32;
        self.edges.push((one, other));
        let before = self.last_edge.insert(one, number);
        self.edge_before.push(before.unwrap_or(NONE));
        if !self.is_in(other) {
            self.later.entry(other).or_default().push(one);
            return Ok(false);
        }
        self.connect(one, other)?;
        Ok(true)
    }

    /// Makes a needed event know of one before it, which becomes needed.
    fn connect(&mut self, one: u32, other: u32) -> Result<(), Impossible> {
        if self.is_in(one) {
            return self.join(one, other);
        }
        let (thread, upto) = (self.model.thread(one), self.model.index(one) + 1);
        self.taken[thread] = self.taken[thread].max(upto);
        let at = other as usize * self.width + thread;
        self.clocks[at] = self.clocks[at].max(upto);
        self.mark(other);
        Ok(())
    }

    /// Gives clocks to events that have become needed.
    fn grow(&mut self, question: &Question<'m, 'w>) -> Result<(), Impossible> {
        let mut grows = self.are_needs_new || self.entered != self.taken;
        while grows {
            grows = false;
            self.are_needs_new = false;
            for thread in 0..self.width {
                if self.taken[thread] > question.most[thread] {
                    return Err(Impossible);
                }
                while self.entered[thread] < self.taken[thread] {
                    grows = true;
                    let event = self.model.event(thread, self.entered[thread]);
                    self.enter(event)?;
                }
            }
            self.look_at_needs(question);
            grows |= self.are_needs_new;
        }
        Ok(())
    }

    fn enter(&mut self, event: u32) -> Result<(), Impossible> {
        let model = self.model;
        let (thread, index) = (model.thread(event), model.index(event));
        let start = event as usize * self.width;
        self.clocks[start..start + self.width].copy_from_slice(model.hard.row(event));
        self.clocks[start + thread] = index + 1;
        for other in 0..self.width {
            self.taken[other] = self.taken[other].max(self.clocks[start + other]);
        }
        self.entered[thread] = index + 1;
        if index > 0 {
            self.join(model.event(thread, index - 1), event)?;
        }
        for (from, _) in model.hard.edges_to(event) {
            if self.is_in(*from) {
                self.join(*from, event)?;
            }
        }
        if let Some((peer, before)) = model.threads.silent_join(event) {
            self.need_all(peer, before);
        }
        for one in self.later.remove(&event).unwrap_or_default() {
            self.connect(one, event)?;
        }
        self.mark(event);
        Ok(())
    }

    /// What is before an event is before those that follow it.
    fn pass_on(&mut self, event: u32) -> Result<(), Impossible> {
        let model = self.model;
        let (thread, index) = (model.thread(event), model.index(event));
        let start = event as usize * self.width;
        let needed = &self.clocks[start..start + self.width];
        for (taken, needed) in self.taken.iter_mut().zip(needed) {
            *taken = (*taken).max(*needed);
        }
        if index + 1 < self.entered[thread] {
            self.join(event, model.event(thread, index + 1))?;
        }
        for (_, to) in model.hard.edges_from(event) {
            if self.is_in(*to) {
                self.join(event, *to)?;
            }
        }
        let mut number = self.last_edge.get(&event).copied().unwrap_or(NONE);
        while number != NONE {
            let (_, to) = self.edges[number as usize];
            if self.is_in(to) {
                self.join(event, to)?;
            }
            number = self.edge_before[number as usize];
        }
        Ok(())
    }

    fn rules(&mut self, question: &Question<'m, 'w>, event: u32) -> Result<(), Impossible> {
        if let Some(section) = self.model.locks.section_at(event) {
            self.lock_rule(question, section, event)?;
        }
        if !self.model.memory.parts(event).is_empty() {
            self.access_rule(event)?;
        }
        Ok(())
    }
}
