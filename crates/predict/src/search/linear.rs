//! Puts the events of a prefix into an order that keeps to some edges, and looks which other rules the
//! order breaks.
//!
//! The window's own order is followed where the edges allow it, since it kept to all rules. An event that would break
//! one waits as long as another can go; if none can, it goes and the rule is noted.

use rustc_hash::FxHashMap;

use super::Broken;
use crate::model::{Model, NONE, Seen};
use crate::question::Question;

/// What is to be put into an order.
pub struct Prefix<'a, 'm, 'w> {
    /// What for.
    pub question: &'a Question<'m, 'w>,
    /// How many events of each thread.
    pub executed: &'a [u32],
    /// All reads of a thread before this place are needed, besides those that events need.
    pub all_before: &'a [u32],
    /// Edges between threads, besides the hard ones: by their ends.
    pub edges: &'a FxHashMap<u32, Vec<u32>>,
}

/// An order of a prefix.
pub struct Linear {
    /// The events.
    pub order: Vec<u32>,
    /// The rules that it breaks.
    pub broken: Vec<Broken>,
}

/// How things stand on the way.
struct State<'a, 'm, 'w> {
    prefix: &'a Prefix<'a, 'm, 'w>,
    model: &'m Model<'w>,
    done: Vec<u32>,
    /// The open sections of each lock.
    open: Vec<Vec<u32>>,
    /// What each atom holds, and whether its writer wrote what it wrote.
    content: Vec<(Seen, bool)>,
    /// The place of the first read of each thread that saw something else than it saw.
    differs: Vec<u32>,
    /// For each object the givers so far with their times, and whether each is used up.
    given: Vec<Vec<(u32, u32, bool)>>,
    from_border: Vec<u32>,
    time: Vec<u32>,
    now: u32,
}

/// Puts a prefix into an order.
pub fn linear(prefix: &Prefix) -> Linear {
    let model = prefix.question.model;
    let mut state = State::new(prefix);
    let total: u32 = prefix.executed.iter().sum();
    let mut found = Linear {
        order: Vec::with_capacity(total as usize),
        broken: Vec::new(),
    };
    let mut broken = Vec::new();
    // Threads by the position of their next event.
    let mut heads: Vec<usize> = (0..model.threads.count()).collect();
    while found.order.len() < total as usize {
        heads.retain(|thread| state.done[*thread] < prefix.executed[*thread]);
        heads.sort_unstable_by_key(|thread| model.event(*thread, state.done[*thread]));
        let mut chosen = None;
        for thread in &heads {
            let event = model.event(*thread, state.done[*thread]);
            if !state.is_allowed(event) {
                continue;
            }
            broken.clear();
            state.breaks(event, &mut broken);
            match (broken.is_empty(), chosen) {
                (true, _) => {
                    chosen = Some(event);
                    break;
                }
                (false, None) => chosen = Some(event),
                _ => {}
            }
        }
        let Some(event) = chosen else {
            // The edges have a cycle.
            return found;
        };
        broken.clear();
        state.breaks(event, &mut broken);
        found.broken.append(&mut broken);
        state.execute(event);
        found.order.push(event);
        // As long as nothing else comes first in the window's order, the thread goes on.
        let thread = model.thread(event);
        let next_head = heads.iter().filter(|other| **other != thread);
        let limit = next_head
            .map(|other| model.event(*other, state.done[*other]))
            .min()
            .unwrap_or(NONE);
        while state.done[thread] < prefix.executed[thread] {
            let event = model.event(thread, state.done[thread]);
            broken.clear();
            if event > limit || !state.is_allowed(event) {
                break;
            }
            state.breaks(event, &mut broken);
            if !broken.is_empty() {
                break;
            }
            state.execute(event);
            found.order.push(event);
        }
    }
    for next in &prefix.question.seeing {
        let parts = model.memory.parts(*next).iter();
        let wrong = parts.filter(|part| !state.is_same(part));
        found.broken.extend(wrong.map(|part| Broken::Read {
            read: *next,
            atom: part.atom,
            sees: state.content[part.atom as usize].0,
        }));
    }
    found
}

impl<'a, 'm, 'w> State<'a, 'm, 'w> {
    fn new(prefix: &'a Prefix<'a, 'm, 'w>) -> Self {
        let model = prefix.question.model;
        let mut open = vec![Vec::new(); model.locks.of_lock.len()];
        for (number, section) in model.locks.sections.iter().enumerate() {
            if section.acquire != NONE {
                break;
            }
            open[section.lock as usize].push(number as u32);
        }
        State {
            prefix,
            model,
            done: vec![0; model.threads.count()],
            open,
            content: vec![(Seen::Initial, true); model.memory.writes.len()],
            differs: vec![NONE; model.threads.count()],
            given: vec![Vec::new(); model.tokens.objects.len()],
            from_border: vec![0; model.tokens.objects.len()],
            time: vec![NONE; model.count()],
            now: 0,
        }
    }

    fn is_done(&self, event: u32) -> bool {
        self.model.index(event) < self.done[self.model.thread(event)]
    }

    /// Whether all edges to an event are kept.
    fn is_allowed(&self, event: u32) -> bool {
        let hard = self.model.hard.edges_to(event);
        hard.iter().all(|(from, _)| self.is_done(*from))
            && self
                .prefix
                .edges
                .get(&event)
                .is_none_or(|before| before.iter().all(|from| self.is_done(*from)))
    }

    /// Whether a read must see what it saw.
    fn is_needed(&self, read: u32) -> bool {
        let thread = self.model.thread(read);
        let needing = self
            .prefix
            .question
            .needing(thread, self.prefix.executed[thread]);
        self.model.index(read) < self.prefix.all_before[thread]
            || self.model.memory.needed[read as usize] < needing
    }

    /// Whether a part of a read would see what it saw, and the writer wrote what it wrote.
    fn is_same(&self, part: &crate::model::Part) -> bool {
        let (seen, is_true) = self.content[part.atom as usize];
        is_true && self.model.memory.is_same(part, seen)
    }

    /// The rules that an event would break now.
    fn breaks(&self, event: u32, broken: &mut Vec<Broken>) {
        let model = self.model;
        let op = model.window.steps[event as usize].event.op();
        if let Some(number) = model.locks.section_at(event) {
            let section = &model.locks.sections[number as usize];
            if section.acquire == event {
                let open = self.open[section.lock as usize].iter();
                let excluding =
                    open.filter(|other| section.excludes(&model.locks.sections[**other as usize]));
                broken.extend(excluding.map(|other| Broken::Sections(*other, number)));
            }
        }
        let parts = model.memory.parts(event);
        if op.reads() && !parts.is_empty() && self.is_needed(event) {
            let wrong = parts.iter().filter(|part| !self.is_same(part));
            broken.extend(wrong.map(|part| Broken::Read {
                read: event,
                atom: part.atom,
                sees: self.content[part.atom as usize].0,
            }));
        }
        let gone = model.ends_after(event).filter(|end| self.is_done(*end));
        broken.extend(gone.map(|end| Broken::End { end, usage: event }));
        if let Some(consumer) = model.tokens.consumer(event)
            && self.giver(consumer).is_none()
        {
            broken.push(Broken::Token(event));
        }
        if let Some(end) = model.end_at(event) {
            // Uses that are still to come: better later. It breaks no rule yet.
            let to_come = end.uses.iter().any(|(thread, uses)| {
                let (done, executed) = (
                    self.done[*thread as usize],
                    self.prefix.executed[*thread as usize],
                );
                let next = uses.partition_point(|event| model.index(*event) < done);
                uses.get(next)
                    .is_some_and(|event| model.index(*event) < executed)
            });
            if to_come {
                broken.push(Broken::Early(event));
            }
        }
    }

    /// The giver for one that needs it: the first that is left.
    fn giver(&self, consumer: &crate::model::Consumer) -> Option<usize> {
        let object = &self.model.tokens.objects[consumer.object as usize];
        let given = &self.given[consumer.object as usize];
        let since = match consumer.since {
            NONE => 0,
            since => self.time[since as usize],
        };
        let found = given
            .iter()
            .position(|(_, time, is_used)| *time >= since && !is_used);
        let border = || {
            (self.from_border[consumer.object as usize] < object.at_border).then_some(usize::MAX)
        };
        found.or_else(border)
    }

    fn execute(&mut self, event: u32) {
        let model = self.model;
        let thread = model.thread(event);
        let op = model.window.steps[event as usize].event.op();
        if let Some(number) = model.locks.section_at(event) {
            let section = &model.locks.sections[number as usize];
            let open = &mut self.open[section.lock as usize];
            match section.acquire == event {
                true => open.push(number),
                false => open.retain(|other| *other != number),
            }
        }
        let parts = model.memory.parts(event);
        if op.reads() && parts.iter().any(|part| !self.is_same(part)) {
            self.differs[thread] = self.differs[thread].min(model.index(event));
        }
        if op.writes() && !parts.is_empty() {
            let strict = model.memory.strict(event).iter();
            let is_true = self.differs[thread] == NONE
                && strict.clone().all(|(other, upto)| {
                    self.done[*other as usize] >= *upto && self.differs[*other as usize] >= *upto
                });
            for part in parts {
                self.content[part.atom as usize] = (Seen::Write(event), is_true);
            }
        }
        if let Some(consumer) = model.tokens.consumer(event) {
            let number = consumer.object as usize;
            match self.giver(consumer) {
                Some(usize::MAX) => self.from_border[number] += 1,
                Some(at) => {
                    let giver = self.given[number][at].0;
                    self.given[number][at].2 = !model.tokens.serves_all(giver);
                }
                None => {}
            }
        }
        if let Some(object) = model.tokens.gives(event) {
            self.given[object as usize].push((event, self.now, false));
        }
        self.time[event as usize] = self.now;
        self.now += 1;
        self.done[thread] += 1;
    }
}
