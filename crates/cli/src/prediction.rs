//! Predicts from a trace in memory: reads it with all that is known of who needs which read, asks, and
//! keeps what was proven.

use std::path::Path;
use std::time::{Duration, Instant};

use deadheat_detect::Suspects;
use deadheat_predict::interleave::{LockWords, Observation, cspm, generate};
use deadheat_predict::{
    CodeNeeds, Count, Goal, Options, Prediction, Proven, Reads, Refused, Source, Stage, needed_by,
    predict, recorded,
};
use deadheat_trace::{
    Addr, Event, EventIndex, Mode, Op, Pc, Step, Steps, SyncKind, Tables, verify,
};
use rustc_hash::FxHashSet;

use crate::config::Config;
use crate::counts::Counting;
use crate::error::{Error, Result};
use crate::input;
use crate::marks;
use crate::predicting::Shown;
use crate::progress::Watched;
use crate::signals;
use crate::symbols::{Followed, Shared};
use crate::unseen::Unseen;

/// What reads are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Only what something depends on.
    Maximal,
    /// All of them.
    Said,
}

/// A trace in memory.
pub struct Loaded {
    steps: Vec<Step>,
    /// The position of each step in the trace; external writes that were added have that of the read that showed
    /// them.
    indexes: Vec<EventIndex>,
    /// By code or branches, where those are known.
    needed_by: Option<Vec<u32>>,
    /// Operations on reference counts, by position among the steps.
    counts: Vec<(u32, Count)>,
    /// Places of code without hooks.
    unseen: FxHashSet<Pc>,
    /// Where locks are.
    locks: LockWords,
    /// The deadlock that the recorded run ended in.
    recorded: Vec<Proven>,
}

/// What was predicted.
pub struct Predicted {
    /// The answers; positions are those of the trace.
    pub prediction: Prediction,
    /// How long it took, without reading.
    pub took: Duration,
    /// How many bytes the trace takes in memory.
    pub memory: usize,
}

/// How the needs of a trace are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// From the program's code, or branches in the trace.
    Branches,
    /// Not at all: every event depends on all that its thread has read.
    Nothing,
}

impl Loaded {
    /// Reads a trace; `None` if the order of its accesses is not exact.
    pub fn read(path: &Path, config: &Config) -> Result<Option<Self>> {
        let input = input::open(path)?;
        if input.mode() == Mode::Parallel {
            return Ok(None);
        }
        let is_deadlocked = input.is_deadlocked();
        let symbols = (!input.tables().modules.is_empty()).then(|| Shared::of(input.tables()));
        let mut counting = symbols.is_some().then(|| Counting::of(input.tables()));
        let mut unseen = Unseen::of(input.tables());
        let followed = Followed::new(
            Watched::new(input, "reading").until_stopped(),
            symbols.clone(),
        );
        let mut stream = verify::repair(marks::apply(followed, config));
        let mut needs = CodeNeeds::default();
        let mut loaded = Loaded {
            steps: Vec::new(),
            indexes: Vec::new(),
            needed_by: None,
            counts: Vec::new(),
            unseen: FxHashSet::default(),
            locks: LockWords::default(),
            recorded: Vec::new(),
        };
        let mut has_branches = false;
        while let Some(step) = stream
            .next_step()
            .map_err(|error| input::broken(path, &error))?
        {
            let event = &step.event;
            has_branches |= event.op() == Op::Branch;
            if let Some(symbols) = &symbols {
                symbols.tell_needs(event, &mut needs);
            }
            if let Some(counting) = &mut counting {
                counting.step(loaded.steps.len() as u32, &step);
            }
            if unseen.is_unseen(event, stream.tables()) {
                loaded.unseen.insert(event.pc());
            }
            let counted = EventIndex(loaded.indexes.len() as u64);
            loaded.indexes.push(stream.last_index().unwrap_or(counted));
            loaded.steps.push(step);
        }
        loaded.check_size(path)?;
        // What the run has ended in lies at its end.
        if is_deadlocked && !signals::is_stopped() {
            loaded.recorded = loaded.ended_in(stream.tables());
        }
        loaded.counts = counting.map_or_else(Vec::new, Counting::finish);
        loaded.needed_by = match (symbols, has_branches) {
            (Some(_), _) => Some(needs.needed_by()),
            (None, true) => Some(needed_by(&loaded.steps, Reads::ByBranch)),
            (None, false) => None,
        };
        Ok(Some(loaded))
    }

    /// Reads a trace of any kind for those who do not ask for values; with its tables. Accesses to what is no suspect are left out.
    pub fn without_values(
        path: &Path,
        suspects: Option<&Suspects>,
        config: &Config,
    ) -> Result<(Self, Tables)> {
        let input = input::open(path)?;
        let mut unseen = Unseen::of(input.tables());
        let mut stream = marks::apply(Watched::new(input, "reading").until_stopped(), config);
        let mut count = 0;
        let mut loaded = Loaded {
            steps: Vec::new(),
            indexes: Vec::new(),
            needed_by: None,
            counts: Vec::new(),
            unseen: FxHashSet::default(),
            locks: LockWords::default(),
            recorded: Vec::new(),
        };
        while let Some(step) = stream
            .next_step()
            .map_err(|error| input::broken(path, &error))?
        {
            let counted = EventIndex(count);
            count += 1;
            if suspects.is_some_and(|suspects| !suspects.may_race(&step.event)) {
                continue;
            }
            if unseen.is_unseen(&step.event, stream.tables()) {
                loaded.unseen.insert(step.event.pc());
            }
            loaded.indexes.push(stream.last_index().unwrap_or(counted));
            loaded.steps.push(step);
        }
        let locks = stream.tables().syncs.iter();
        let locks = locks.filter(|object| object.kind == SyncKind::Lock);
        loaded.locks = locks
            .map(|object| object.addr)
            .filter(|addr| *addr != Addr(0))
            .collect();
        loaded.check_size(path)?;
        Ok((loaded, stream.tables().clone()))
    }

    /// The model of its interleavings, for FDR.
    pub fn cspm(&self, tables: &Tables) -> String {
        let is_judged = |event: &Event| self.is_judged(event);
        cspm(&self.observation(&is_judged), tables)
    }

    fn observation<'a>(
        &'a self,
        is_judged: &'a (dyn Fn(&Event) -> bool + Sync),
    ) -> Observation<'a> {
        Observation {
            steps: &self.steps,
            is_judged,
            lock_words: &self.locks,
        }
    }

    /// The deadlocks that the recorded run ended in, with the recording as the way there.
    fn ended_in(&self, tables: &Tables) -> Vec<Proven> {
        let found = recorded(&self.steps, &|futex| tables.lock_of_word(futex)).into_iter();
        let proven = found.map(|still| Proven {
            goal: Goal::Deadlock,
            bystanders: still.bystanders.len(),
            next: still
                .next()
                .iter()
                .map(|at| self.indexes[*at as usize])
                .collect(),
            start: EventIndex(self.events()),
            schedule: Vec::new(),
            skipped: Vec::new(),
            stage: Stage::Closure,
        });
        proven.collect()
    }

    fn check_size(&self, path: &Path) -> Result<()> {
        match self.steps.len() >= u32::MAX as usize {
            false => Ok(()),
            true => Err(Error::usage(format!(
                "{} has too many events for this method: {}",
                path.display(),
                self.steps.len()
            ))
            .help("use another method, such as --method syncp")),
        }
    }

    /// How many events the trace has.
    pub fn events(&self) -> u64 {
        self.indexes.last().map_or(0, |last| last.0 + 1)
    }

    /// The event at a position of the trace.
    pub fn event(&self, index: EventIndex) -> Option<Event> {
        let first = self.indexes.partition_point(|at| *at < index);
        let mut here = first..self.indexes.partition_point(|at| *at <= index);
        here.find(|at| !self.is_added(*at))
            .map(|at| self.steps[at].event)
    }

    /// How it is known who needs which read.
    pub fn known(&self) -> Known {
        match self.needed_by {
            Some(_) => Known::Branches,
            None => Known::Nothing,
        }
    }

    /// Predicts.
    pub fn predict(&self, model: Model, options: &Options) -> Predicted {
        let started = Instant::now();
        let strict;
        let (needs, counts) = match (&self.needed_by, model) {
            (Some(needs), Model::Maximal) => (needs, self.counts.as_slice()),
            _ => {
                strict = needed_by(&self.steps, Reads::ByNext);
                (&strict, &[] as &[_])
            }
        };
        let is_judged = |event: &Event| self.is_judged(event);
        let source = Source {
            steps: &self.steps,
            needed_by: needs,
            counts,
            is_judged: &is_judged,
        };
        let shown = Shown::new();
        let mut prediction = predict(&source, options, &shown);
        shown.end();
        self.in_trace(&mut prediction);
        let places = |proven: &Proven| {
            let events = proven.core().iter().filter_map(|at| self.event(*at));
            let mut places: Vec<Pc> = events.map(|event| event.pc()).collect();
            places.sort_unstable();
            places
        };
        let happened: Vec<Vec<Pc>> = self.recorded.iter().map(places).collect();
        let predicted = &mut prediction.deadlocks;
        predicted.retain(|proven| !happened.contains(&places(proven)));
        predicted.splice(..0, self.recorded.iter().cloned());
        self.predicted(prediction, started)
    }

    /// Finds schedules of synchronisation that may lead to races and deadlocks.
    pub fn interleave(&self, options: &Options) -> Predicted {
        let started = Instant::now();
        let is_judged = |event: &Event| self.is_judged(event);
        let shown = Shown::new();
        let mut prediction = generate(&self.observation(&is_judged), options, &shown);
        shown.end();
        self.in_trace(&mut prediction);
        self.predicted(prediction, started)
    }

    fn is_judged(&self, event: &Event) -> bool {
        let may_be_unseen = matches!(event.op(), Op::Read | Op::Write | Op::Free);
        !(may_be_unseen && self.unseen.contains(&event.pc()))
    }

    fn predicted(&self, prediction: Prediction, started: Instant) -> Predicted {
        Predicted {
            prediction,
            took: started.elapsed(),
            memory: self.steps.len()
                * (size_of::<Step>() + size_of::<EventIndex>() + size_of::<u32>()),
        }
    }

    /// Whether a step is an external write that the read behind it showed.
    fn is_added(&self, at: usize) -> bool {
        self.steps[at].event.op() == Op::ExternalWrite
            && self.indexes.get(at + 1) == Some(&self.indexes[at])
    }

    /// Positions among the steps become positions in the trace.
    fn in_trace(&self, prediction: &mut Prediction) {
        let index = |at: &mut EventIndex| *at = self.indexes[at.0 as usize];
        for proven in prediction.races.iter_mut().chain(&mut prediction.deadlocks) {
            let Proven {
                next,
                start,
                schedule,
                skipped,
                ..
            } = proven;
            for part in skipped {
                index(&mut part.first);
                index(&mut part.last);
            }
            // What was added is no event of the trace.
            schedule.retain(|at| !self.is_added(at.0 as usize));
            next.iter_mut().for_each(index);
            schedule.iter_mut().for_each(index);
            index(start);
        }
        for Refused { next, .. } in &mut prediction.refused {
            next.iter_mut().for_each(index);
        }
        prediction.unknown.iter_mut().flatten().for_each(index);
    }
}
