//! A trace in memory for those who do not ask for values: the schedules of its synchronisation.

use std::path::Path;
use std::time::Instant;

use deadheat_detect::Suspects;
use deadheat_predict::interleave::{LockWords, Observation, cspm, generate};
use deadheat_predict::{Options, Prediction};
use deadheat_run::input;
use deadheat_session::error::{Error, Result};
use deadheat_trace::{Addr, Event, EventIndex, Op, Pc, Step, Steps, SyncKind, Tables};
use rustc_hash::FxHashSet;

use crate::analysis;
use crate::config::Config;
use crate::predicting::Shown;
use crate::prediction::{Predicted, is_judged};
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

/// A trace that is being read into memory, as far as it fits. Accesses to what is no suspect are left out, and what orders nothing.
pub struct Loading<'a> {
    suspects: Option<&'a Suspects>,
    /// So many events fit.
    most: usize,
    loaded: Loaded,
    is_read: bool,
}

impl<'a> Loading<'a> {
    /// Begins.
    pub fn new(suspects: Option<&'a Suspects>, memory: usize) -> Self {
        Loading {
            suspects,
            most: memory / 4 * 3 / OF_EVENT,
            loaded: Loaded {
                steps: Vec::new(),
                indexes: Vec::new(),
                unseen: FxHashSet::default(),
                locks: LockWords::default(),
                is_cut_off: false,
            },
            is_read: false,
        }
    }

    /// The next step. `is_unseen`: it comes from code without hooks.
    #[inline]
    pub fn step(&mut self, index: EventIndex, step: &Step, is_unseen: bool) {
        let is_suspect = |suspects: &Suspects| suspects.may_race(&step.event);
        if self.is_read
            || self.loaded.is_cut_off
            || matches!(step.event.op(), Op::Enter | Op::Leave | Op::Branch)
            || !self.suspects.is_none_or(is_suspect)
        {
            return;
        }
        let loaded = &mut self.loaded;
        if loaded.steps.len() >= self.most {
            loaded.is_cut_off = true;
            return;
        }
        if is_unseen {
            loaded.unseen.insert(step.event.pc());
        }
        loaded.indexes.push(index);
        loaded.steps.push(*step);
    }

    /// Whether all of the trace was seen.
    pub fn is_read(&self) -> bool {
        self.is_read
    }

    /// All of the trace was seen.
    pub fn settle(&mut self, tables: &Tables) {
        if std::mem::replace(&mut self.is_read, true) {
            return;
        }
        let locks = tables.syncs.iter();
        let locks = locks.filter(|object| object.kind == SyncKind::Lock);
        self.loaded.locks = locks
            .map(|object| object.addr)
            .filter(|addr| *addr != Addr(0))
            .collect();
    }

    /// What is in memory now.
    pub fn finish(self, path: &Path) -> Result<Loaded> {
        check_size(path, self.loaded.steps.len())?;
        Ok(self.loaded)
    }
}

impl Loaded {
    /// Reads a trace of any kind, with its tables.
    pub fn read(path: &Path, config: &Config) -> Result<(Self, Tables)> {
        let input = input::open(path)?;
        let mut unseen = Unseen::of(input.tables());
        let mut loading = Loading::new(None, usize::MAX);
        let (_, steps) = analysis::read(path, input, "reading", config, |index, step, tables| {
            loading.step(index, step, unseen.is_unseen(&step.event, tables));
        })?;
        let tables = steps.tables().clone();
        loading.settle(&tables);
        Ok((loading.finish(path)?, tables))
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
