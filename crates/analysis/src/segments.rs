//! A trace, a segment at a time: its events, where they stand in it, and all that is known of who needs which read.
//!
//! Segments are cut out of one reading. Whatever follows the trace event by event (the program's code, reference
//! counts, who waits at the end) sees all of it in order, and keeps nothing of what lies before the segment.
//!
//! Of a long trace what constrains no schedule is left out, which another reading before has to find.

use std::path::Path;

use deadheat_detect::Marked;
use deadheat_predict::{
    BranchNeeds, CodeNeeds, Count, Ending, Goal, Left, Proven, Reads, Sieve, Stage,
};
use deadheat_run::input::{self, Input};
use deadheat_session::error::Result;
use deadheat_session::progress::Watched;
use deadheat_session::signals;
use deadheat_trace::verify::{self, Repaired};
use deadheat_trace::{Event, EventIndex, Op, Pc, Step, Steps, Tables};
use rustc_hash::FxHashSet;

use crate::config::Config;
use crate::counts::Counting;
use crate::first_reading::FirstReading;
use crate::interleaving::check_size;
use crate::marks;
use crate::prediction::Model;
use crate::shown::{Look, Shown};
use crate::symbols::{Followed, Shared};
use crate::unseen::Unseen;

/// A trace that is being read.
pub struct Segments<'a> {
    path: &'a Path,
    stream: Stream<'a>,
    symbols: Option<Shared>,
    needs: Needs,
    counting: Option<Counting>,
    /// Which events come from code without hooks, and at which places there were some.
    unseen: Unseen,
    unseen_at: FxHashSet<Pc>,
    /// How the run ends, if it ended in a deadlock.
    ending: Option<Ending>,
    /// The steps of the present segment, the position of the first among all steps, and where each stands in the trace. (External writes that
    /// were added stand where the read does that showed them.)
    pub steps: Vec<Step>,
    first: usize,
    pub indexes: Vec<EventIndex>,
    sieve: Option<Sieve<'a>>,
    /// How many events the trace has, so far.
    events: u64,
}

type Stream<'a> = Repaired<Shown<'a, Marked<Followed<Watched<Input>>, marks::Finder>>>;

/// Who knows who needs which read.
enum Needs {
    Code(Box<CodeNeeds>),
    Branches(BranchNeeds),
}

impl<'a> Segments<'a> {
    /// Begins to read, with what is known of the trace; what does not constrain schedules is left out. All of it is shown to who
    /// looks. What bytes hold may take so much memory.
    pub fn of(
        path: &'a Path,
        model: Model,
        config: &Config,
        (first, look): (&'a FirstReading, Look<'a>),
        memory: usize,
    ) -> Result<Self> {
        let input = input::open(path)?;
        let is_maximal = model == Model::Maximal;
        // The code tells nothing of a way on which accesses were left out.
        let is_followed = !input.tables().modules.is_empty() && input.tables().left_out.is_none();
        let symbols = is_followed.then(|| Shared::of(input.tables()));
        let needs = match symbols.is_some() && is_maximal {
            true => Needs::Code(Box::default()),
            false if is_maximal && first.has_branches => {
                Needs::Branches(BranchNeeds::new(Reads::ByBranch))
            }
            false => Needs::Branches(BranchNeeds::new(Reads::ByNext)),
        };
        let counting = matches!(needs, Needs::Code(_)).then(|| Counting::of(input.tables()));
        let ending = input.is_deadlocked().then(Ending::default);
        let unseen = Unseen::of(input.tables());
        let steps = Watched::new(input, "reading").until_stopped();
        let followed = Followed::new(steps, symbols.clone());
        Ok(Segments {
            path,
            stream: verify::repair_within(Shown::new(marks::apply(followed, config), look), memory),
            symbols,
            needs,
            counting,
            unseen,
            unseen_at: FxHashSet::default(),
            ending,
            steps: Vec::new(),
            first: 0,
            indexes: Vec::new(),
            sieve: first.constraining.as_ref().map(Sieve::new),
            events: 0,
        })
    }

    /// Goes on to the next segment: the last steps of this one that are in `common`, and new ones up to `length` in all. False at the end of
    /// the trace.
    pub fn next(&mut self, common: usize, length: usize) -> Result<bool> {
        let behind = self.steps.len() - common;
        self.steps.drain(..behind);
        self.indexes.drain(..behind);
        self.first += behind;
        let first = self.first as u32;
        match &mut self.needs {
            Needs::Code(needs) => needs.forget_before(first),
            Needs::Branches(needs) => needs.forget_before(first),
        }
        if let Some(counting) = &mut self.counting {
            counting.forget_before(first);
        }
        while self.steps.len() < length
            && let Some(step) = self
                .stream
                .next_step()
                .map_err(|error| input::broken(self.path, &error))?
        {
            self.add(step);
        }
        check_size(self.path, self.first + self.steps.len())?;
        Ok(self.steps.len() > common)
    }

    fn add(&mut self, step: Step) {
        let event = &step.event;
        let position = self.first + self.steps.len();
        let counted = EventIndex(position as u64);
        let index = self.stream.last_index().unwrap_or(counted);
        self.events = index.0 + 1;
        let is_skippable = is_skippable(&mut self.counting, position as u32, &step);
        let (sifted, left) = match &mut self.sieve {
            Some(sieve) => sieve.step(&step, position as u32, is_skippable),
            None => (step, Left::NOT),
        };
        match (&mut self.needs, &self.symbols) {
            (Needs::Code(needs), Some(symbols)) => symbols.tell_needs(event, left, needs),
            (Needs::Branches(needs), _) => needs.sifted(event, left),
            (Needs::Code(_), None) => {}
        }
        if self.unseen.is_unseen(event, self.stream.tables()) {
            self.unseen_at.insert(event.pc());
        }
        if let Some(ending) = &mut self.ending {
            ending.step(index, event);
        }
        if matches!(left, Left::Kept { .. }) {
            self.indexes.push(index);
            self.steps.push(sifted);
        }
    }

    /// For each step of the segment that reads: who needs that.
    pub fn needed_by(&self) -> Vec<u32> {
        match &self.needs {
            Needs::Code(needs) => needs.from(self.first as u32),
            Needs::Branches(needs) => needs.from(self.first as u32),
        }
    }

    /// The operations on reference counts in the segment.
    pub fn counts(&self) -> Vec<(u32, Count)> {
        let counting = self.counting.as_ref();
        counting.map_or_else(Vec::new, |counting| counting.from(self.first as u32))
    }

    /// Places of code without hooks, so far.
    pub fn unseen(&self) -> &FxHashSet<Pc> {
        &self.unseen_at
    }

    /// Whether every event depends on all that its thread has read, as nothing is known of branches.
    pub fn is_by_next(&self) -> bool {
        matches!(&self.needs, Needs::Branches(needs) if needs.reads() == Reads::ByNext)
    }

    /// The event of the segment at a position of the trace.
    pub fn event(&self, index: EventIndex) -> Option<Event> {
        let first = self.indexes.partition_point(|at| *at < index);
        let mut here = first..self.indexes.partition_point(|at| *at <= index);
        let is_added = |at: usize| {
            self.steps[at].event.op() == Op::ExternalWrite
                && self.indexes.get(at + 1) == Some(&self.indexes[at])
        };
        here.find(|at| !is_added(*at))
            .map(|at| self.steps[at].event)
    }

    /// What the numbers of the trace stand for.
    pub fn tables(&self) -> &Tables {
        self.stream.tables()
    }

    /// At the end: the deadlocks that the run ended in, with the recording as the way there and the
    /// events that they are about.
    pub fn finish(self) -> Vec<(Proven, Vec<Event>)> {
        let events = self.events;
        // What the run has ended in lies at its end.
        let ending = self.ending.filter(|_| !signals::is_stopped());
        let tables = self.stream.tables();
        let found = ending.map(|ending| ending.deadlocks(&|futex| tables.lock_of_word(futex)));
        let proven = found.into_iter().flatten().map(|ended| {
            let all = ended.core.iter().chain(&ended.bystanders);
            let proven = Proven {
                goal: Goal::Deadlock,
                next: all.map(|(at, _)| *at).collect(),
                bystanders: ended.bystanders.len(),
                start: EventIndex(events),
                schedule: Vec::new(),
                skipped: Vec::new(),
                stage: Stage::Closure,
            };
            (proven, ended.core.iter().map(|(_, event)| *event).collect())
        });
        proven.collect()
    }
}

/// Tells of reference counts what the next step is; whether it belongs to what a schedule may skip.
pub fn is_skippable(counting: &mut Option<Counting>, position: u32, step: &Step) -> bool {
    let Some(counting) = counting else {
        return false;
    };
    let thread = step.event.thread();
    let was = counting.is_releasing(thread);
    counting.step(position, step);
    was || counting.is_releasing(thread)
}
