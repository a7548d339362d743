//! Needed reads: which writes they can see.

use super::{Impossible, Saturation};
use crate::model::Seen;
use crate::question::Question;

/// More candidates than this are not compared.
const FEW: usize = 8;

impl<'m, 'w> Saturation<'m, 'w> {
    /// Reads that have become needed.
    pub(super) fn look_at_needs(&mut self, question: &Question<'m, 'w>) {
        let memory = &self.model.memory;
        for thread in 0..self.width {
            let reads = &memory.reads[thread];
            while let Some(read) = reads.get(self.reads_looked[thread] as usize)
                && self.model.index(*read) < self.all_before[thread].min(self.entered[thread])
            {
                self.reads_looked[thread] += 1;
                self.need(*read);
            }
            let needing = question.needing(thread, self.entered[thread]);
            let by_need = &memory.by_need[thread];
            while let Some((need, read)) = by_need.get(self.needs_looked[thread] as usize)
                && *need < needing
            {
                // An atomic access that is next needs itself, and is not executed (yet).
                if self.model.index(*read) >= self.entered[thread] {
                    break;
                }
                self.needs_looked[thread] += 1;
                self.need(*read);
            }
        }
    }

    fn need(&mut self, read: u32) {
        for part in self.model.memory.parts(read) {
            let key = (read, part.atom);
            // A read can become needed twice; what is looked at twice is decided the same.
            if !self.decided.contains_key(&key) {
                self.undecided.push(key);
                self.changed_atoms[part.atom as usize] = true;
            }
        }
    }

    /// All reads of a thread before a place are needed.
    pub(super) fn need_all(&mut self, thread: usize, before: u32) {
        self.are_needs_new |= before > self.all_before[thread];
        self.all_before[thread] = self.all_before[thread].max(before);
    }

    /// Decides what reads see, where only one possibility is left.
    pub(super) fn decide(&mut self, question: &Question<'m, 'w>) -> Result<bool, Impossible> {
        let mut changed = false;
        let undecided = std::mem::take(&mut self.undecided);
        self.work += undecided.len() as u64;
        let atoms = self.changed_atoms.clone();
        self.changed_atoms.fill(false);
        for (read, atom) in undecided {
            if self.decided.contains_key(&(read, atom)) {
                continue;
            }
            if !atoms[atom as usize] {
                self.undecided.push((read, atom));
                continue;
            }
            let candidates = self.candidates(question, read, atom);
            match candidates.as_slice() {
                [] => return Err(Impossible),
                [only] => {
                    self.see(read, atom, *only)?;
                    changed = true;
                }
                several => {
                    self.undecided.push((read, atom));
                    if several.len() <= FEW {
                        changed |= self.meet(read, several)?;
                    }
                }
            }
        }
        Ok(changed)
    }

    /// The contents that a needed read can see as far as is known: more than [`FEW`] are not listed.
    fn candidates(&mut self, question: &Question<'m, 'w>, read: u32, atom: u32) -> Vec<Seen> {
        let model = self.model;
        let memory = &model.memory;
        let Some(part) = memory.part(read, atom).copied() else {
            return Vec::new();
        };
        // The last write of each thread that must be before the read.
        let mut lasts: Vec<u32> = Vec::new();
        for (thread, writes) in &memory.writes[atom as usize] {
            let before = self.writes_before(writes, *thread as usize, read);
            lasts.extend(before.checked_sub(1).map(|last| writes[last]));
        }
        let mut found = Vec::new();
        let mut looked_at = lasts.len();
        if lasts.is_empty() && memory.is_same(&part, Seen::Initial) {
            found.push(Seen::Initial);
        }
        for (thread, writes) in &memory.writes[atom as usize] {
            let thread = *thread as usize;
            let first = self.writes_before(writes, thread, read).saturating_sub(1);
            for write in &writes[first..] {
                looked_at += 1 + lasts.len();
                if model.index(*write) >= question.most[thread] || found.len() > FEW {
                    break;
                }
                let is_after = *write == read
                    || model.is_before(read, *write)
                    || self.is_in(*write) && self.must(read, *write);
                if is_after {
                    break;
                }
                let is_overwritten = lasts
                    .iter()
                    .any(|last| *last != *write && self.is_in(*last) && self.must(*write, *last));
                if !is_overwritten && memory.is_same(&part, Seen::Write(*write)) {
                    found.push(Seen::Write(*write));
                }
            }
        }
        self.work += looked_at as u64;
        found
    }

    /// How many of a thread's writes must be before an event.
    fn writes_before(&self, writes: &[u32], thread: usize, event: u32) -> usize {
        let known = match thread == self.model.thread(event) {
            true => self.model.index(event),
            false => self.clock(event, thread),
        };
        writes.partition_point(|write| self.model.index(*write) < known)
    }

    /// What all candidates come after, the read comes after.
    fn meet(&mut self, read: u32, candidates: &[Seen]) -> Result<bool, Impossible> {
        let mut meet = vec![u32::MAX; self.width];
        for candidate in candidates {
            let Seen::Write(write) = candidate else {
                return Ok(false);
            };
            self.clock_of_any(*write);
            for (meet, known) in meet.iter_mut().zip(&self.row) {
                *meet = (*meet).min(*known);
            }
        }
        let mut changed = false;
        for (thread, upto) in meet.into_iter().enumerate() {
            if thread != self.model.thread(read) && upto > self.clock(read, thread) {
                changed |= self.add_edge(self.model.event(thread, upto - 1), read)?;
            }
        }
        Ok(changed)
    }

    /// A read sees this.
    fn see(&mut self, read: u32, atom: u32, seen: Seen) -> Result<(), Impossible> {
        let model = self.model;
        self.decided.insert((read, atom), seen);
        match seen {
            Seen::Initial => self.initial_readers.entry(atom).or_default().push(read),
            Seen::Write(write) => {
                self.readers.entry((write, atom)).or_default().push(read);
                self.need_all(model.thread(write), model.needs_all_before(write));
                if model.thread(write) != model.thread(read) {
                    self.add_edge(write, read)?;
                }
                for (other, upto) in model.memory.strict(write) {
                    self.need_all(*other as usize, *upto);
                    self.add_edge(model.event(*other as usize, *upto - 1), write)?;
                }
            }
        }
        self.mark(read);
        // Writes that are known to be after what it sees were looked at before it was decided.
        for (thread, writes) in &model.memory.writes[atom as usize] {
            let entered = self.entered[*thread as usize];
            let first = match seen {
                Seen::Initial => 0,
                Seen::Write(write) if model.thread(write) == *thread as usize => {
                    writes.partition_point(|other| model.index(*other) <= model.index(write))
                }
                Seen::Write(write) => {
                    let (theirs, index) = (model.thread(write), model.index(write));
                    writes.partition_point(|other| {
                        model.index(*other) < entered && self.clock(*other, theirs) <= index
                    })
                }
            };
            if let Some(other) = writes.get(first)
                && *other != read
                && model.index(*other) < entered
            {
                self.read_before(read, *other)?;
            }
        }
        Ok(())
    }

    /// A read comes before a write that it must not see.
    fn read_before(&mut self, read: u32, write: u32) -> Result<(), Impossible> {
        if self.model.thread(read) == self.model.thread(write) {
            let is_so = self.model.index(read) < self.model.index(write);
            return if is_so { Ok(()) } else { Err(Impossible) };
        }
        self.add_edge(read, write).map(drop)
    }

    /// The clock of an access to shared memory has changed.
    pub(super) fn access_rule(&mut self, event: u32) -> Result<(), Impossible> {
        let model = self.model;
        let op = model.window.steps[event as usize].event.op();
        for part in model.memory.parts(event) {
            self.changed_atoms[part.atom as usize] = true;
            if op.reads()
                && let Some(seen) = self.decided.get(&(event, part.atom)).copied()
            {
                self.seen_rule(event, part.atom, seen)?;
            }
            if op.writes() {
                self.write_rule(event, part.atom)?;
            }
        }
        Ok(())
    }

    /// Writes before a read are before the one that it sees.
    fn seen_rule(&mut self, read: u32, atom: u32, seen: Seen) -> Result<(), Impossible> {
        let model = self.model;
        for (thread, writes) in &model.memory.writes[atom as usize] {
            let before = self.writes_before(writes, *thread as usize, read);
            let Some(last) = before.checked_sub(1).map(|last| writes[last]) else {
                continue;
            };
            match seen {
                Seen::Initial => return Err(Impossible),
                Seen::Write(write) if last == write => {}
                Seen::Write(write) if model.thread(write) == *thread as usize => {
                    if model.index(last) > model.index(write) {
                        return Err(Impossible);
                    }
                }
                Seen::Write(write) => drop(self.add_edge(last, write)?),
            }
        }
        Ok(())
    }

    /// Reads that see a write before this one are before this one.
    fn write_rule(&mut self, write: u32, atom: u32) -> Result<(), Impossible> {
        let model = self.model;
        let mut readers: Vec<u32> = Vec::new();
        for (thread, writes) in &model.memory.writes[atom as usize] {
            let before = self.writes_before(writes, *thread as usize, write);
            if let Some(last) = before.checked_sub(1) {
                let of_last = self.readers.get(&(writes[last], atom));
                readers.extend(of_last.into_iter().flatten());
            }
        }
        readers.extend(self.initial_readers.get(&atom).into_iter().flatten());
        self.work += readers.len() as u64;
        for read in readers {
            // A read-modify-write sees what it overwrites.
            if read != write {
                self.read_before(read, write)?;
            }
        }
        Ok(())
    }
}
