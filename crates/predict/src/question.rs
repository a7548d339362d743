//! A question about a window: can this cut be reached? And what follows from it at once.

use deadheat_trace::Op;

use crate::model::{Model, NONE};
use crate::standstill::is_given;
use crate::{Cut, Goal};

/// Can all these events be next at once?
pub struct Question<'m, 'w> {
    /// The window.
    pub model: &'m Model<'w>,
    /// The events of the cut.
    pub next: Vec<u32>,
    /// Those of them that must see what they saw: compare-and-swaps that race with reads, as they
    /// write nothing otherwise.
    pub seeing: Vec<u32>,
    /// Pairs of events of which the first comes before the second: notifications that came too early.
    pub orders: Vec<(u32, u32)>,
    /// How many events of each thread must be executed, by the hard order alone.
    pub least: Vec<u32>,
    /// How many can be executed at most: what comes after is, or comes after, an event of the
    /// cut, or can never be executed.
    pub most: Vec<u32>,
}

impl<'m, 'w> Question<'m, 'w> {
    /// Asks for a cut. `None`: the hard order forbids it, or it is none.
    pub fn new(model: &'m Model<'w>, cut: &Cut) -> Option<Self> {
        if !is_one(model, cut) {
            return None;
        }
        let threads = model.threads.count();
        let mut question = Question {
            model,
            next: cut.next.clone(),
            seeing: seeing(model, cut),
            orders: Vec::new(),
            least: vec![0; threads],
            most: model
                .threads
                .chains
                .iter()
                .map(|chain| chain.len() as u32)
                .collect(),
        };
        for (thread, most) in question.most.iter_mut().enumerate() {
            *most = (*most).min(stuck_at(model, thread));
        }
        for next in &cut.next {
            let (own, index) = (model.thread(*next), model.index(*next));
            let ready = ready(model, cut, *next);
            for thread in 0..threads {
                let needed = match (thread == own, ready) {
                    (true, _) => index,
                    (false, Some(ready)) => model.hard.clock(&model.threads, ready, thread),
                    (false, None) => 0,
                };
                question.least[thread] = question.least[thread].max(needed);
                let chain = &model.threads.chains[thread];
                let after = match thread == own {
                    true => index as usize,
                    false => chain.partition_point(|event| {
                        model.hard.clock(&model.threads, *event, own) <= index
                    }),
                };
                question.most[thread] = question.most[thread].min(after as u32);
            }
            // What is next must still be there.
            if let Some(end) = model.lives.end_after(model.window, *next) {
                let thread = model.thread(end.event);
                question.most[thread] = question.most[thread].min(model.index(end.event));
            }
        }
        if cut.goal == Goal::Deadlock && cut.next.iter().any(|next| is_given(model, *next)) {
            question.ask_for_standstill()?;
        }
        let is_possible =
            (0..threads).all(|thread| question.least[thread] <= question.most[thread]);
        is_possible.then_some(question)
    }

    /// Nobody can go on: who is not in the cut is at its end, or has not begun. No notification comes after the waits of the cut.
    fn ask_for_standstill(&mut self) -> Option<()> {
        let model = self.model;
        for (thread, chain) in model.threads.chains.iter().enumerate() {
            match self.most[thread] as usize {
                _ if self.is_in_cut(thread) => {}
                most if most == chain.len() => self.least[thread] = most as u32,
                0 => {}
                _ => return None,
            }
        }
        let woken = |next: &&u32| model.window.steps[**next as usize].event.op() == Op::Wake;
        for next in self.next.iter().filter(woken) {
            let waits = model.tokens.consumer(*next)?;
            let givers = &model.tokens.objects[waits.object as usize].givers;
            let done = givers.iter().map(|(giver, _)| *giver);
            let done = done.filter(|giver| model.index(*giver) < self.least[model.thread(*giver)]);
            let began = began(model, waits.since);
            self.orders.extend(done.map(|giver| (giver, began)));
        }
        self.orders
            .iter()
            .all(|(_, since)| *since != NONE)
            .then_some(())
    }

    /// Whether an event of the cut is of this thread.
    #[inline]
    pub fn is_in_cut(&self, thread: usize) -> bool {
        self.next
            .iter()
            .any(|next| self.model.thread(*next) == thread)
    }

    /// If a thread has executed so many events: the place behind the last event that its
    /// reads can be needed by. For a thread of the cut that is the one that is next.
    #[inline]
    pub fn needing(&self, thread: usize, executed: u32) -> u32 {
        executed + u32::from(self.is_in_cut(thread))
    }
}

/// Whether a cut is one: its events are in the window, and those of a race touch one block in one life.
fn is_one(model: &Model, cut: &Cut) -> bool {
    let there = cut.next.iter().all(|next| (*next as usize) < model.count());
    let life = |next: &u32| model.lives.of[*next as usize];
    there
        && match (cut.goal, cut.next.as_slice()) {
            (Goal::Race, [one, other]) => life(one) == life(other),
            _ => true,
        }
}

/// Where a wait begins: with the release of its lock, which is one with it.
fn began(model: &Model, wait: u32) -> u32 {
    let before = match wait {
        NONE => None,
        wait => model.index(wait).checked_sub(1),
    };
    let before = before.map(|before| model.event(model.thread(wait), before));
    let releases = |event: &u32| {
        let op = model.window.steps[*event as usize].event.op();
        matches!(op, Op::Release | Op::ReadRelease)
    };
    before.filter(releases).unwrap_or(wait)
}

/// The event whose hard order must be kept for an event of a cut to be next: itself, or the one before it if it is to
/// wait for what that order says in vain.
fn ready(model: &Model, cut: &Cut, next: u32) -> Option<u32> {
    let op = model.window.steps[next as usize].event.op();
    if cut.goal == Goal::Race || !matches!(op, Op::Join | Op::BarrierExit) {
        return Some(next);
    }
    let before = model.index(next).checked_sub(1)?;
    Some(model.event(model.thread(next), before))
}

/// The place of the first event of a thread that no schedule can have.
fn stuck_at(model: &Model, thread: usize) -> u32 {
    let stuck = model
        .tokens
        .consumers
        .iter()
        .filter(|consumer| consumer.observed == NONE && model.thread(consumer.event) == thread);
    let refused = model.refusals.unexplained.iter().copied();
    let refused = refused.filter(|attempt| model.thread(*attempt) == thread);
    let stuck = stuck.map(|consumer| consumer.event).chain(refused);
    let stuck = stuck.map(|event| model.index(event)).min();
    // What comes behind a gap depended on all that came before it, which cannot be told from what is here.
    let chain = &model.threads.chains[thread];
    let gap = model.hard.first_gap();
    let behind = chain.partition_point(|event| gap.is_none_or(|gap| *event < gap));
    stuck.unwrap_or(NONE).min(behind as u32)
}

fn seeing(model: &Model, cut: &Cut) -> Vec<u32> {
    let op = |event: &u32| {
        model
            .window
            .steps
            .get(*event as usize)
            .map(|step| step.event.op())
    };
    match (cut.goal, cut.next.as_slice()) {
        (Goal::Race, [one, other]) => [(one, other), (other, one)]
            .into_iter()
            .filter(|(one, other)| op(one) == Some(Op::AtomicRmw) && op(other) == Some(Op::Read))
            .filter(|(one, _)| model.window.needed_by.get(**one as usize) == Some(*one))
            .map(|(one, _)| *one)
            .collect(),
        _ => Vec::new(),
    }
}
