//! Which cuts to ask about in which nobody can go on: somebody waits for a condition, a semaphore or a barrier, and all who could
//! end that have ended themselves or wait as well.
//!
//! Unlike a cycle of locks such a wait says nothing as long as anybody still runs, whatever was observed of him: he might do something
//! else. So all threads that have begun are either in the cut or at their end, and the window is the whole trace up to somewhere.
//!
//! A wait is taken to be in vain, and what follows is played through: others stop where they need what now never comes, and, that is a
//! guess, where they first (or last) want a lock or a semaphore that one of the stopped has. What this leads to is asked about.

pub(crate) mod exhaustive;

use deadheat_trace::{Op, Pc, Step};
use rustc_hash::FxHashSet;

use crate::Hold;
use crate::model::{Model, NONE};

/// So many waits of a window are taken to be in vain.
const MOST: usize = 256;

/// A cut in which nobody can go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standstill {
    /// The waits that hold each other up.
    pub core: Vec<u32>,
    /// Those who wait for them.
    pub bystanders: Vec<u32>,
}

impl Standstill {
    /// All events of the cut, the core first.
    pub fn next(&self) -> Vec<u32> {
        [&self.core[..], &self.bystanders[..]].concat()
    }
}

/// Where a thread stops at something that another one has.
#[derive(Clone, Copy)]
enum Guess {
    Never,
    First,
    Last,
}

/// The cuts of a window in which nobody can go on, with the places of their cores.
pub fn standstills(model: &Model) -> Vec<(Vec<Pc>, Standstill)> {
    let mut found: Vec<(Vec<Pc>, Standstill)> = Vec::new();
    if !can_stand_still(model) {
        return found;
    }
    for seed in seeds(model) {
        for guess in [Guess::Never, Guess::First, Guess::Last] {
            let Some(still) = Played::of(model, seed, guess).standstill(seed) else {
                continue;
            };
            let places = places(model, &still.core);
            if found.iter().all(|(_, known)| *known != still) {
                found.push((places, still));
            }
        }
    }
    found
}

/// Whether all of the trace up to somewhere is known. Who is cancelled stops waiting, whatever for.
fn can_stand_still(model: &Model) -> bool {
    let cancels = |step: &Step| step.cancels().is_some();
    model.window.start.0 == 0
        && model.hard.first_gap().is_none()
        && !model.window.steps.iter().any(cancels)
}

/// The places of events.
fn places(model: &Model, core: &[u32]) -> Vec<Pc> {
    let pc = |event: &u32| model.window.steps[*event as usize].event.pc();
    let mut places: Vec<Pc> = core.iter().map(pc).collect();
    places.sort_unstable();
    places
}

/// Whether an event waits for something that others give, without a limit.
pub fn is_given(model: &Model, event: u32) -> bool {
    let step = &model.window.steps[event as usize];
    match step.event.op() {
        Op::BarrierExit => model.known_barriers.contains(&step.event.target()),
        Op::Wake => {
            let observed = model.tokens.consumer(event).map(|waits| waits.observed);
            !step.was_tried() && observed.is_some_and(|giver| giver != NONE)
        }
        Op::Take => {
            let object = model.tokens.consumer(event).map(|waits| waits.object);
            let is_known = |object: u32| model.tokens.objects[object as usize].is_known;
            !step.was_tried() && object.is_some_and(is_known)
        }
        _ => false,
    }
}

/// The waits to begin with: of each thread and place the first and the last.
fn seeds(model: &Model) -> Vec<u32> {
    let events = 0..model.count() as u32;
    let waits: Vec<u32> = events.filter(|event| is_given(model, *event)).collect();
    let key = |event: &u32| {
        let step = &model.window.steps[*event as usize];
        (model.thread(*event), step.event.pc())
    };
    let mut seen = FxHashSet::default();
    let mut seeds: Vec<u32> = waits
        .iter()
        .copied()
        .filter(|at| seen.insert(key(at)))
        .collect();
    seen.clear();
    seeds.extend(waits.iter().rev().filter(|at| seen.insert(key(at))));
    seeds.sort_unstable();
    seeds.dedup();
    seeds.truncate(MOST);
    seeds
}

/// How far everybody gets.
struct Played<'m, 'w> {
    model: &'m Model<'w>,
    /// How many events of each thread.
    upto: Vec<u32>,
}

impl<'m, 'w> Played<'m, 'w> {
    fn of(model: &'m Model<'w>, seed: u32, guess: Guess) -> Self {
        let chains = model.threads.chains.iter();
        let mut played = Played {
            model,
            upto: chains.map(|chain| chain.len() as u32).collect(),
        };
        played.upto[model.thread(seed)] = model.index(seed);
        while played.stop_those_in_need()
            || played.stop_one_overdrawn(guess)
            || played.stop_one_by(guess)
        {}
        played
    }

    fn is_done(&self, event: u32) -> bool {
        self.model.index(event) < self.upto[self.model.thread(event)]
    }

    fn is_stopped(&self, thread: usize) -> bool {
        (self.upto[thread] as usize) < self.model.threads.chains[thread].len()
    }

    /// Stops threads at events that need what is not done; whether there were any.
    fn stop_those_in_need(&mut self) -> bool {
        let model = self.model;
        let mut stopped = false;
        for thread in 0..model.threads.count() {
            let chain = &model.threads.chains[thread][..self.upto[thread] as usize];
            let first = chain.iter().position(|event| self.is_in_need(*event));
            if let Some(first) = first {
                self.upto[thread] = first as u32;
                stopped = true;
            }
        }
        stopped
    }

    fn is_in_need(&self, event: u32) -> bool {
        let model = self.model;
        let edges = model.hard.edges_to(event);
        let is_woken = || match model.tokens.consumer(event) {
            Some(waits) if model.window.steps[event as usize].event.op() == Op::Wake => {
                let givers = &model.tokens.objects[waits.object as usize].givers;
                givers.iter().any(|(giver, _)| self.is_done(*giver))
            }
            _ => true,
        };
        edges.iter().any(|(from, _)| !self.is_done(*from)) || !is_woken()
    }

    /// Stops one who took from a semaphore more than it ever holds now; whether there is one.
    fn stop_one_overdrawn(&mut self, guess: Guess) -> bool {
        let model = self.model;
        for object in 0..model.tokens.objects.len() as u32 {
            if self.left_of(object) >= 0 {
                continue;
            }
            let numbers = model.tokens.objects[object as usize].consumers.iter();
            let takes = numbers.map(|number| model.tokens.consumers[*number as usize].event);
            let takes = takes.filter(|take| {
                let step = &model.window.steps[*take as usize];
                step.event.op() == Op::Take && self.is_done(*take)
            });
            let at = match guess {
                Guess::First => takes.min(),
                _ => takes.max(),
            };
            if let Some(at) = at {
                self.upto[model.thread(at)] = model.index(at);
                return true;
            }
        }
        false
    }

    /// Stops one more thread where it wants what a stopped one has; whether there is one.
    fn stop_one_by(&mut self, guess: Guess) -> bool {
        let model = self.model;
        for thread in 0..model.threads.count() {
            if self.is_stopped(thread) {
                continue;
            }
            let mut chain = model.threads.chains[thread].iter();
            let wants = |event: &&u32| self.wants_what_is_had(**event);
            let at = match guess {
                Guess::Never => None,
                Guess::First => chain.find(wants),
                Guess::Last => chain.rfind(wants),
            };
            if let Some(at) = at {
                self.upto[thread] = model.index(*at);
                return true;
            }
        }
        false
    }

    fn wants_what_is_had(&self, event: u32) -> bool {
        let model = self.model;
        let step = &model.window.steps[event as usize];
        if step.was_tried() {
            return false;
        }
        match step.event.op() {
            Op::Take => model
                .tokens
                .consumer(event)
                .is_some_and(|waits| self.left_of(waits.object) <= 0),
            Op::Acquire | Op::ReadAcquire => self.holders(event).next().is_some(),
            _ => false,
        }
    }

    /// Stopped threads that hold a lock that this event wants.
    fn holders(&self, event: u32) -> impl Iterator<Item = usize> + '_ {
        let model = self.model;
        let step = &model.window.steps[event as usize];
        let lock = model.locks.number_of(step.event.lock());
        let wanted = match step.event.op() {
            Op::ReadAcquire | Op::ReadRequest => Hold::Read,
            _ => Hold::Write,
        };
        let others = (0..model.threads.count())
            .filter(move |other| *other != model.thread(event) && self.is_stopped(*other));
        others.filter(move |other| {
            let open = model.locks.open(&model.threads, *other, self.upto[*other]);
            let open = open.iter().map(|at| &model.locks.sections[*at as usize]);
            let mut same = open.filter(|section| Some(section.lock) == lock);
            same.any(|section| wanted == Hold::Write || section.hold == Hold::Write)
        })
    }

    /// What is left of a semaphore.
    fn left_of(&self, object: u32) -> i64 {
        let tokens = &self.model.tokens;
        let object = &tokens.objects[object as usize];
        let posts = object
            .givers
            .iter()
            .filter(|(event, _)| self.is_done(*event));
        let takes = object
            .consumers
            .iter()
            .filter(|number| self.is_done(tokens.consumers[**number as usize].event));
        i64::from(object.at_border) + posts.count() as i64 - takes.count() as i64
    }

    /// Where everybody has stopped, if the first wait is in vain and nobody can go on.
    fn standstill(&self, seed: u32) -> Option<Standstill> {
        let model = self.model;
        let mut stopped = Vec::new();
        for (thread, chain) in model.threads.chains.iter().enumerate() {
            let Some(event) = chain.get(self.upto[thread] as usize) else {
                let last = model.window.steps[*chain.last()? as usize].event.op();
                // When the first thread ends, so does the program.
                if last != Op::End || self.creations(thread).next().is_none() {
                    return None;
                }
                continue;
            };
            if !self.is_created(thread) {
                continue;
            }
            if !self.is_in_vain(*event) {
                return None;
            }
            stopped.push(*event);
        }
        let core = self.core(seed);
        let is_other = |event: &u32| !core.contains(event);
        let bystanders = stopped.iter().copied().filter(is_other).collect();
        Some(Standstill { core, bystanders })
    }

    fn is_created(&self, thread: usize) -> bool {
        self.upto[thread] > 0 || self.creations(thread).all(|fork| self.is_done(fork))
    }

    /// The same threads, and for those that are not created yet those who would create them.
    fn begun(&self, mut threads: Vec<usize>) -> Vec<usize> {
        let mut looked = 0;
        while let Some(thread) = threads.get(looked).copied() {
            looked += 1;
            if !self.is_created(thread) {
                let open = self.creations(thread).filter(|fork| !self.is_done(*fork));
                for creator in open.map(|fork| self.model.thread(fork)) {
                    if !threads.contains(&creator) {
                        threads.push(creator);
                    }
                }
            }
        }
        threads.retain(|thread| self.is_created(*thread));
        threads
    }

    /// The events that create a thread.
    fn creations(&self, thread: usize) -> impl Iterator<Item = u32> + '_ {
        let id = self.model.threads.ids[thread];
        let steps = self.model.window.steps.iter().zip(0..);
        let created =
            steps.filter(move |(step, _)| step.event.op() == Op::Fork && step.event.peer() == id);
        created.map(|(_, event)| event)
    }

    fn is_in_vain(&self, event: u32) -> bool {
        let model = self.model;
        let step = &model.window.steps[event as usize];
        match step.event.op() {
            Op::Wake => is_given(model, event),
            Op::Take => {
                let waits = model.tokens.consumer(event);
                is_given(model, event) && waits.is_some_and(|waits| self.left_of(waits.object) <= 0)
            }
            Op::BarrierExit => is_given(model, event) && self.is_in_need(event),
            Op::Join => self.is_in_need(event),
            Op::Acquire | Op::ReadAcquire => {
                !step.was_tried() && self.holders(event).next().is_some()
            }
            _ => false,
        }
    }

    /// The first wait and all that it waits for, directly or not.
    fn core(&self, seed: u32) -> Vec<u32> {
        let model = self.model;
        let mut core = vec![seed];
        let mut looked = 0;
        while let Some(event) = core.get(looked).copied() {
            looked += 1;
            for thread in self.begun(self.waited_for(event)) {
                let stopped = model.threads.chains[thread].get(self.upto[thread] as usize);
                let is_new = stopped.is_some_and(|at| !core.contains(at));
                if let Some(at) = stopped.filter(|_| is_new) {
                    core.push(*at);
                }
            }
        }
        core
    }

    /// The stopped threads that could end a wait if they went on.
    fn waited_for(&self, event: u32) -> Vec<usize> {
        let model = self.model;
        let op = model.window.steps[event as usize].event.op();
        if matches!(op, Op::Acquire | Op::ReadAcquire) {
            return self.holders(event).collect();
        }
        let givers: Vec<u32> = match model.tokens.consumer(event) {
            Some(waits) => {
                let givers = model.tokens.objects[waits.object as usize].givers.iter();
                givers.map(|(giver, _)| *giver).collect()
            }
            None => model
                .hard
                .edges_to(event)
                .iter()
                .map(|(from, _)| *from)
                .collect(),
        };
        let open = givers.into_iter().filter(|giver| !self.is_done(*giver));
        open.map(|giver| model.thread(giver)).collect()
    }
}
