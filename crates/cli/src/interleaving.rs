//! A trace in memory for those who do not ask for values: the schedules of its synchronisation.

use std::path::Path;
use std::time::Instant;

use deadheat_detect::Suspects;
use deadheat_predict::interleave::{LockWords, Observation, cspm, generate};
use deadheat_predict::{Options, Prediction};
use deadheat_trace::{Addr, Event, EventIndex, Op, Pc, Step, Steps, SyncKind, Tables};
use rustc_hash::FxHashSet;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::input;
use crate::marks;
use crate::predicting::Shown;
use crate::prediction::{Predicted, is_judged};
use crate::progress::Watched;
use crate::unseen::Unseen;

/// A trace in memory.
pub struct Loaded {
    steps: Vec<Step>,
    /// The position of each step in the trace.
    indexes: Vec<EventIndex>,
    /// Places of code without hooks.
    unseen: FxHashSet<Pc>,
    /// Where locks are.
    locks: LockWords,
    /// What follows would take more memory than there is.
    is_cut_off: bool,
}

/// About how many bytes an event takes, with all that is made of it.
const OF_EVENT: usize = 128;

impl Loaded {
    /// Reads a trace of any kind, with its tables, as far as it fits into this memory. Accesses to what is no suspect are left out, and what
    /// orders nothing.
    pub fn read(
        path: &Path,
        suspects: Option<&Suspects>,
        memory: usize,
        config: &Config,
    ) -> Result<(Self, Tables)> {
        let input = input::open(path)?;
        let mut unseen = Unseen::of(input.tables());
        let mut stream = marks::apply(Watched::new(input, "reading").until_stopped(), config);
        let mut count = 0;
        let mut loaded = Loaded {
            steps: Vec::new(),
            indexes: Vec::new(),
            unseen: FxHashSet::default(),
            locks: LockWords::default(),
            is_cut_off: false,
        };
        while let Some(step) = stream
            .next_step()
            .map_err(|error| input::broken(path, &error))?
        {
            let counted = EventIndex(count);
            count += 1;
            let is_suspect = suspects.is_none_or(|suspects| suspects.may_race(&step.event));
            if !is_suspect || matches!(step.event.op(), Op::Enter | Op::Leave | Op::Branch) {
                continue;
            }
            if loaded.steps.len() >= memory / OF_EVENT {
                loaded.is_cut_off = true;
                break;
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
        check_size(path, loaded.steps.len())?;
        Ok((loaded, stream.tables().clone()))
    }

    /// The model of its interleavings, for FDR.
    pub fn cspm(&self, tables: &Tables) -> String {
        let is_judged = |event: &Event| is_judged(event, &self.unseen);
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

    /// How many events the trace has.
    pub fn events(&self) -> u64 {
        self.indexes.last().map_or(0, |last| last.0 + 1)
    }

    /// Finds schedules of synchronisation that may lead to races and deadlocks.
    pub fn interleave(&self, options: &Options) -> Predicted {
        let started = Instant::now();
        let is_judged = |event: &Event| is_judged(event, &self.unseen);
        let shown = Shown::new();
        let mut prediction = generate(&self.observation(&is_judged), options, &shown);
        shown.end();
        let events = prediction.races.iter().flat_map(|proven| &proven.next);
        let events = events.map(|at| (self.indexes[at.0 as usize], self.event(*at)));
        let events = events.collect();
        self.in_trace(&mut prediction);
        prediction.is_unfinished |= self.is_cut_off;
        Predicted {
            prediction,
            took: started.elapsed(),
            memory: self.steps.len() * (size_of::<Step>() + size_of::<EventIndex>()),
            events,
        }
    }

    fn event(&self, at: EventIndex) -> Event {
        self.steps[at.0 as usize].event
    }

    /// Positions among the steps become positions in the trace.
    fn in_trace(&self, prediction: &mut Prediction) {
        let index = |at: &mut EventIndex| *at = self.indexes[at.0 as usize];
        for proven in prediction.races.iter_mut().chain(&mut prediction.deadlocks) {
            proven.next.iter_mut().for_each(index);
            proven.schedule.iter_mut().for_each(index);
            index(&mut proven.start);
        }
        prediction.unknown.iter_mut().flatten().for_each(index);
    }
}

/// A trace whose events cannot be numbered is too long.
pub fn check_size(path: &Path, events: usize) -> Result<()> {
    match events >= u32::MAX as usize {
        false => Ok(()),
        true => Err(Error::usage(format!(
            "{} has too many events for this method: {events}",
            path.display(),
        ))
        .help("use another method, such as --method syncp")),
    }
}
