//! The first stage that answers: in the window's own order, what must have been executed for the cut?
//!
//! What is next needs its thread's events before it; those need the hard order, the writes that
//! needed reads saw, the releases of sections that were over before the next began, the givers of tokens.
//! If all that leaves the cut's events alone, the window's order without all the rest is a schedule. Linear in the
//! events that are taken in; answers "yes" only.

use crate::model::{Model, NONE, Section, Seen, Tokens};
use crate::question::Question;

/// The memory of the stage, used for one question after the other.
pub struct Closure {
    /// How many events of each thread are taken in.
    taken: Vec<u32>,
    /// How many of them were looked at.
    looked: Vec<u32>,
    /// All reads of a thread before this place are needed.
    all_before: Vec<u32>,
    /// How many of the thread's reads were looked at for that, and how many of those that are
    /// needed by some event.
    reads_looked: Vec<u32>,
    needs_looked: Vec<u32>,
    /// The last section of each lock that is taken in.
    latest: Vec<u32>,
    waiting: Vec<usize>,
    is_waiting: Vec<bool>,
}

impl Closure {
    /// For questions about a window.
    pub fn new(model: &Model) -> Self {
        let threads = model.threads.count();
        Closure {
            taken: vec![0; threads],
            looked: vec![0; threads],
            all_before: vec![0; threads],
            reads_looked: vec![0; threads],
            needs_looked: vec![0; threads],
            latest: vec![NONE; model.locks.of_lock.len()],
            waiting: Vec::new(),
            is_waiting: vec![false; threads],
        }
    }

    /// A schedule, if this way finds one.
    pub fn schedule(&mut self, question: &Question) -> Option<Vec<u32>> {
        self.start(question);
        for next in &question.seeing {
            self.look_at_read(question.model, *next)?;
        }
        while let Some(thread) = self.waiting.pop() {
            self.is_waiting[thread] = false;
            self.look(question, thread)?;
        }
        let model = question.model;
        let is_taken = |event: &u32| model.index(*event) < self.taken[model.thread(*event)];
        if question.orders.iter().any(|(one, other)| one > other) {
            return None;
        }
        // What they saw must be what is there in the end.
        for part in question
            .seeing
            .iter()
            .flat_map(|next| model.memory.parts(*next))
        {
            let writes = model.memory.writes[part.atom as usize].iter();
            let last =
                writes.filter_map(|(_, writes)| writes.iter().rev().find(|write| is_taken(write)));
            if last.max().copied().unwrap_or(NONE) != part.seen {
                return None;
            }
        }
        Some((0..model.count() as u32).filter(is_taken).collect())
    }

    /// How many events the last question has looked at.
    pub fn work(&self) -> u64 {
        self.looked.iter().map(|looked| u64::from(*looked)).sum()
    }

    fn start(&mut self, question: &Question) {
        let locks = &question.model.locks;
        for values in [
            &mut self.taken,
            &mut self.looked,
            &mut self.all_before,
            &mut self.reads_looked,
            &mut self.needs_looked,
        ] {
            values.fill(0);
        }
        self.latest.fill(NONE);
        for (number, section) in locks.sections.iter().enumerate() {
            if section.acquire != NONE {
                break;
            }
            // Of several readers any: they are looked at together.
            self.latest[section.lock as usize] = number as u32;
        }
        self.waiting.clear();
        self.is_waiting.fill(false);
        for (thread, least) in question.least.iter().enumerate() {
            self.take(thread, *least);
        }
    }

    /// Takes in so many events of a thread.
    #[inline]
    fn take(&mut self, thread: usize, upto: u32) {
        if self.taken[thread] < upto {
            self.taken[thread] = upto;
            self.wait(thread);
        }
    }

    #[inline]
    fn wait(&mut self, thread: usize) {
        if !self.is_waiting[thread] {
            self.is_waiting[thread] = true;
            self.waiting.push(thread);
        }
    }

    #[inline]
    fn take_event(&mut self, model: &Model, event: u32) {
        self.take(model.thread(event), model.index(event) + 1);
    }

    /// All reads of a thread before this place are needed.
    fn need_all(&mut self, thread: usize, before: u32) {
        if self.all_before[thread] < before {
            self.all_before[thread] = before;
            self.wait(thread);
        }
    }

    fn look(&mut self, question: &Question, thread: usize) -> Option<()> {
        let model = question.model;
        if self.taken[thread] > question.most[thread] {
            return None;
        }
        while self.looked[thread] < self.taken[thread] {
            let event = model.event(thread, self.looked[thread]);
            self.looked[thread] += 1;
            self.look_at(model, event)?;
        }
        self.look_at_reads(question, thread)
    }

    fn look_at(&mut self, model: &Model, event: u32) -> Option<()> {
        if !model.hard.edges_to(event).is_empty() {
            for other in 0..model.threads.count() {
                self.take(other, model.hard.clock(&model.threads, event, other));
            }
        }
        if let Some((peer, before)) = model.threads.silent_join(event) {
            self.need_all(peer, before);
        }
        if let Some(consumer) = model.tokens.consumer(event) {
            match consumer.observed {
                NONE => return None,
                Tokens::BORDER => {}
                giver => self.take_event(model, giver),
            }
        }
        if let Some(number) = model.locks.section_at(event) {
            self.look_at_section(model, event, number)?;
        }
        Some(())
    }

    /// Of the sections of a lock, all but the last must be over.
    fn look_at_section(&mut self, model: &Model, event: u32, number: u32) -> Option<()> {
        let section = model.locks.sections[number as usize];
        if section.acquire != event {
            return Some(());
        }
        let latest = self.latest[section.lock as usize];
        if latest == NONE {
            self.latest[section.lock as usize] = number;
            return Some(());
        }
        let other = model.locks.sections[latest as usize];
        if other.acquire == NONE {
            // There may have been several readers at the border.
            let border = model
                .locks
                .sections
                .iter()
                .take_while(|section| section.acquire == NONE);
            for other in border.filter(|other| other.lock == section.lock) {
                if other.thread == section.thread {
                    continue;
                }
                if other.release == NONE {
                    return None;
                }
                self.take_event(model, other.release);
            }
        }
        let is_later = other.acquire == NONE || other.acquire < event;
        let (earlier, later) = match is_later {
            true => (other, number),
            false => (section, latest),
        };
        self.latest[section.lock as usize] = later;
        // Readers may overlap, and then stay: all are asked to be over, which takes in more than need be.
        if earlier.acquire != NONE {
            return self.take_release(model, earlier);
        }
        let all = model.locks.of_lock[section.lock as usize].iter();
        let firsts = all.map(|(_, sections)| model.locks.sections[sections[0] as usize]);
        for at_border in firsts.filter(|section| section.acquire == NONE) {
            self.take_release(model, at_border)?;
        }
        Some(())
    }

    fn take_release(&mut self, model: &Model, section: Section) -> Option<()> {
        if section.release == NONE {
            return None;
        }
        self.take_event(model, section.release);
        Some(())
    }

    fn look_at_reads(&mut self, question: &Question, thread: usize) -> Option<()> {
        let model = question.model;
        let reads = &model.memory.reads[thread];
        while let Some(read) = reads.get(self.reads_looked[thread] as usize)
            && model.index(*read) < self.all_before[thread]
        {
            self.reads_looked[thread] += 1;
            self.look_at_read(model, *read)?;
        }
        let needing = question.needing(thread, self.taken[thread]);
        let by_need = &model.memory.by_need[thread];
        while let Some((need, read)) = by_need.get(self.needs_looked[thread] as usize)
            && *need < needing
        {
            self.needs_looked[thread] += 1;
            // An atomic access that is next needs itself, and is not executed.
            if model.index(*read) < self.taken[thread] {
                self.look_at_read(model, *read)?;
            }
        }
        Some(())
    }

    /// A read is needed: it sees the writes that it saw.
    fn look_at_read(&mut self, model: &Model, read: u32) -> Option<()> {
        for part in model.memory.parts(read) {
            if part.seen == NONE {
                if !model.memory.is_same(part, Seen::Initial) {
                    return None;
                }
                continue;
            }
            if !model.memory.is_same(part, Seen::Write(part.seen)) {
                return None;
            }
            self.take_event(model, part.seen);
            self.need_all(model.thread(part.seen), model.needs_all_before(part.seen));
            for (other, upto) in model.memory.strict(part.seen) {
                self.take(*other as usize, *upto);
                self.need_all(*other as usize, *upto);
            }
        }
        Some(())
    }
}
