//! Shared memory: who writes what, and what each read saw.
//!
//! Memory is cut into *atoms*, the runs of bytes that no access touches in part ([`atoms`]). Only
//! shared ones are kept: a read of others sees what it saw whatever the schedule, as far as the thread
//! itself does what it did ([`needs`]).

mod atoms;
pub mod needs;

use deadheat_trace::{Op, Step};
use rustc_hash::FxHashMap;

pub use self::atoms::Atoms;
use super::NONE;
use super::lives::Lives;
use super::threads::Threads;
use crate::Window;

/// The part of an access that lies in one atom.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The atom.
    pub atom: u32,
    /// What a read found there; `None` if the value is not known, or nothing is read.
    pub read: Option<u64>,
    /// What a write left there.
    pub written: Option<u64>,
    /// The write that a read saw in the window's own order; [`NONE`] for what was there before.
    pub seen: u32,
}

/// A content that a read can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// What was there before the window.
    Initial,
    /// What this event wrote.
    Write(u32),
}

/// The writes to an atom by one thread, in order.
pub type WritesOfThread = (u32, Vec<u32>);

/// The shared memory of a window.
pub struct Memory {
    /// The parts of each event: where they begin in `parts`; one more at the end.
    first_part: Vec<u32>,
    parts: Vec<Part>,
    /// The writes to each atom.
    pub writes: Vec<Vec<WritesOfThread>>,
    /// All accesses to each atom, in the window's order.
    pub accesses: Vec<Vec<u32>>,
    /// The writes of a value to an atom.
    of_value: FxHashMap<(u32, u64), Vec<u32>>,
    /// What each atom held before the window, if that is known.
    initial: Vec<Option<u64>>,
    /// For each read: the place in its thread of the first event that needs it to see what it saw; [`NONE`] if
    /// there is none. Others have [`NONE`].
    pub needed: Vec<u32>,
    /// The reads of shared memory of each thread, in order.
    pub reads: Vec<Vec<u32>>,
    /// The same by the place of the first event that needs each, without those that nobody needs.
    pub by_need: Vec<Vec<(u32, u32)>>,
    /// What code that nobody saw wrote: what else must have happened, by thread how many events.
    strict: FxHashMap<u32, Vec<(u32, u32)>>,
}

impl Memory {
    /// The shared memory of a window.
    pub fn of(window: &Window, threads: &Threads, lives: &Lives) -> Self {
        let atoms = Atoms::of(window, threads, lives);
        let count = window.steps.len();
        let mut memory = Memory {
            first_part: Vec::with_capacity(count + 1),
            parts: Vec::new(),
            writes: vec![Vec::new(); atoms.shared],
            accesses: vec![Vec::new(); atoms.shared],
            of_value: FxHashMap::default(),
            initial: vec![None; atoms.shared],
            needed: needs::of(window, threads, &atoms),
            by_need: vec![Vec::new(); threads.count()],
            reads: vec![Vec::new(); threads.count()],
            strict: FxHashMap::default(),
        };
        memory.of_border(window, &atoms);
        // The last write and access to each atom, also to those that are not shared.
        let mut last_write = vec![NONE; atoms.count()];
        let mut last_access: Vec<Option<u32>> = vec![None; atoms.count()];
        for (position, step) in window.steps.iter().enumerate() {
            memory.first_part.push(memory.parts.len() as u32);
            let (event, op) = (position as u32, step.event.op());
            let thread = threads.of[position] as usize;
            if !op.is_access() {
                continue;
            }
            if op == Op::ExternalWrite && atoms.pieces(position).any(|piece| piece.is_contended) {
                // What is accessed atomically any thread may have changed, whatever it did last.
                let last = atoms.pieces(position).map(|piece| match piece.is_atomic {
                    true => None,
                    false => last_access[piece.atom],
                });
                memory.note_strict(threads, event, last.min().flatten());
            }
            let mut is_shared_read = false;
            for piece in atoms.pieces(position) {
                last_access[piece.atom] = Some(event);
                if let Some(shared) = piece.shared {
                    is_shared_read |= op.reads();
                    let place = (shared, piece.offset, piece.bytes);
                    memory.add(event, thread, step, place, last_write[piece.atom]);
                }
                if op.writes() {
                    last_write[piece.atom] = event;
                }
            }
            if is_shared_read {
                memory.reads[thread].push(event);
            }
        }
        memory.first_part.push(memory.parts.len() as u32);
        memory.know_initial(window);
        memory.sort_reads(threads);
        memory
    }

    fn of_border(&mut self, window: &Window, atoms: &Atoms) {
        for (addr, bytes, shared) in atoms.at_border(window.border.blocks.len()) {
            let byte = |at: u64| {
                let content = window.border.memory.get(&(at >> 3))?;
                let shift = at & 7;
                (content.known >> shift & 1 != 0).then_some(content.bytes >> (8 * shift) & 0xFF)
            };
            if bytes > 8 {
                continue;
            }
            let value = (0..bytes)
                .rev()
                .try_fold(0, |value, at| Some(value << 8 | byte(addr + at)?));
            self.initial[shared as usize] = value;
        }
    }

    fn add(
        &mut self,
        event: u32,
        thread: usize,
        step: &Step,
        (atom, offset, bytes): (u32, u64, u64),
        last_write: u32,
    ) {
        let op = step.event.op();
        let size = step.event.size();
        let slice = |value: u64| {
            let mask = if bytes >= 8 {
                u64::MAX
            } else {
                (1 << (8 * bytes)) - 1
            };
            (size <= 8 && offset < 8).then(|| value >> (8 * offset) & mask)
        };
        // Where a read's value is not known, it is that of the write that it saw.
        let of_write = || self.part(last_write, atom).and_then(|part| part.written);
        let read = op.reads().then(|| match (step.read(), last_write) {
            (Some(value), _) => slice(value),
            (None, NONE) => None,
            (None, _) => of_write(),
        });
        let part = Part {
            atom,
            read: read.flatten(),
            written: step.written().filter(|_| op.writes()).and_then(slice),
            seen: last_write,
        };
        let at = atom as usize;
        if op.reads() && last_write == NONE && self.initial[at].is_none() {
            self.initial[at] = part.read;
        }
        if op.writes() {
            let thread = thread as u32;
            match self.writes[at]
                .iter_mut()
                .find(|(writer, _)| *writer == thread)
            {
                Some((_, writes)) => writes.push(event),
                None => self.writes[at].push((thread, vec![event])),
            }
            if let Some(value) = part.written {
                self.of_value.entry((atom, value)).or_default().push(event);
            }
        }
        self.accesses[at].push(event);
        self.parts.push(part);
    }

    /// Reads that saw what was there from the beginning, before one told its value.
    fn know_initial(&mut self, window: &Window) {
        for (position, step) in window.steps.iter().enumerate() {
            if !step.event.op().reads() {
                continue;
            }
            let range = self.first_part[position]..self.first_part[position + 1];
            for part in &mut self.parts[range.start as usize..range.end as usize] {
                if part.seen == NONE && part.read.is_none() {
                    part.read = self.initial[part.atom as usize];
                }
            }
        }
    }

    fn sort_reads(&mut self, threads: &Threads) {
        for thread in 0..threads.count() {
            let reads = self.reads[thread].iter();
            let needs = reads.map(|read| (self.needed[*read as usize], *read));
            let mut by_need: Vec<_> = needs.filter(|(need, _)| *need != NONE).collect();
            by_need.sort_unstable();
            self.by_need[thread] = by_need;
        }
    }

    /// What must have happened for a write to shared memory by code that nobody saw: all that others
    /// did since the last accesses to its atoms, of which `since` is the first. It is one write, so
    /// those to atoms that only its own thread uses count, too.
    fn note_strict(&mut self, threads: &Threads, event: u32, since: Option<u32>) {
        let mut strict = Vec::new();
        for (thread, chain) in threads.chains.iter().enumerate() {
            let upto = chain.partition_point(|other| *other < event);
            let is_own = threads.of[event as usize] as usize == thread;
            let is_since = upto > 0 && since.is_none_or(|since| chain[upto - 1] >= since);
            if !is_own && is_since {
                strict.push((thread as u32, upto as u32));
            }
        }
        self.strict.insert(event, strict);
    }

    /// The parts of an access that lie in shared memory.
    #[inline]
    pub fn parts(&self, event: u32) -> &[Part] {
        let range = self.first_part[event as usize]..self.first_part[event as usize + 1];
        &self.parts[range.start as usize..range.end as usize]
    }

    /// The part of an access that lies in an atom.
    #[inline]
    pub fn part(&self, event: u32, atom: u32) -> Option<&Part> {
        self.parts(event).iter().find(|part| part.atom == atom)
    }

    /// Whether a read would see what it saw in this content of a part.
    #[inline]
    pub fn is_same(&self, part: &Part, content: Seen) -> bool {
        let (write, value) = match content {
            Seen::Initial => (NONE, self.initial[part.atom as usize]),
            Seen::Write(write) => {
                let value = self.part(write, part.atom).and_then(|part| part.written);
                (write, value)
            }
        };
        match (part.read, value) {
            (Some(read), Some(value)) => read == value,
            _ => part.seen == write,
        }
    }

    /// The contents in which a read would see what it saw in a part of it: what it did see first.
    pub fn same(&self, part: &Part) -> impl Iterator<Item = Seen> + '_ {
        let part = *part;
        let observed = match part.seen {
            NONE => Seen::Initial,
            write => Seen::Write(write),
        };
        let initial =
            (part.seen != NONE && self.is_same(&part, Seen::Initial)).then_some(Seen::Initial);
        let of_value = part
            .read
            .and_then(|value| self.of_value.get(&(part.atom, value)));
        let others = of_value.into_iter().flatten().copied();
        let others = others
            .filter(move |write| *write != part.seen)
            .map(Seen::Write);
        let observed = Some(observed).filter(|observed| self.is_same(&part, *observed));
        observed.into_iter().chain(initial).chain(others)
    }

    /// What else must have happened for a write to have written what it wrote: how many events of
    /// which threads, all of whose reads saw what they saw.
    pub fn strict(&self, write: u32) -> &[(u32, u32)] {
        self.strict.get(&write).map_or(&[], Vec::as_slice)
    }
}
