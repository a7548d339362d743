//! Looks for races and deadlocks in a trace, and explains what was found.
//!
//! Every method reads the trace by itself, so that times and memory can be compared, or only what may be part of a race at all; one more
//! reading collects what surrounds the events of the findings.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

use deadheat_detect::{
    Access, Benign, Channels, Deadlock, Deadlocks, Detector, Hybrid, HybridOptions, LockOrder,
    Marked, Method, Race, Races, Signature, Suspects,
};
use deadheat_predict::{Options, Prediction, Proven, Refused};
use deadheat_report::{Contexts, Explain, Finding, Names, Rung, hint};
use deadheat_trace::{EventIndex, Mode, Pc, Step, Steps, Tables};
use rustc_hash::FxHashMap;

use crate::config::Config;
use crate::error::Result;
use crate::how::How;
use crate::input::{self, Input};
use crate::interleaving::Loaded;
use crate::marks;
use crate::prediction::{self, Model, Predicted};
use crate::progress::Watched;
use crate::signals;
use crate::suspects;
use crate::unseen::Unseen;
use crate::unseen_calls::UnseenCalls;
use crate::witness;

/// Steps between two looks at a detector's memory.
const STRIDE: u64 = 1 << 16;

/// How much of a trace methods look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// All of it, each method by itself.
    Whole,
    /// What may be part of a race at all, which is found out first: see [`suspects`].
    OfSuspects,
}

/// What one method found.
pub struct Run {
    /// The method.
    pub how: How,
    /// What it found.
    pub races: Races,
    /// The same with proofs, if it predicts.
    pub prediction: Option<Prediction>,
    /// How long it took, with reading the trace.
    pub took: Duration,
    /// The most memory that it held.
    pub memory: usize,
}

impl Run {
    /// Of a method that has nothing to look at.
    fn of_nothing(how: How) -> Self {
        Run {
            how,
            races: Races::new(),
            prediction: (!matches!(how, How::Detect(_))).then(Prediction::default),
            took: Duration::ZERO,
            memory: 0,
        }
    }
}

/// What all methods found.
pub struct Analysis {
    /// Each method by itself.
    pub runs: Vec<Run>,
    /// Methods that this trace is not exact enough for.
    pub left_out: Vec<How>,
    /// Everything that was found, explained, each once: races first, surest first.
    pub findings: Vec<Finding>,
    /// Which finding the events at these places (in their order) have become: its short name.
    pub names: HashMap<Vec<Pc>, String>,
    /// How many events the trace has.
    pub events: u64,
    /// What the user should know.
    pub remarks: Vec<String>,
    /// What the user should know about the trace itself: damage, notes of the recorder.
    pub trace_remarks: Vec<String>,
}

impl Analysis {
    /// Whether the deadlock that the recorded run has ended in is among what was found.
    pub fn names_own_deadlock(&self) -> bool {
        let predictions = self.runs.iter().filter_map(|run| run.prediction.as_ref());
        let mut deadlocks = predictions.flat_map(|prediction| &prediction.deadlocks);
        deadlocks.any(|one| one.schedule.is_empty() && one.start.0 == self.events)
    }

    /// Takes in what another run of the program has shown: of the same finding the surer one is kept.
    pub fn take_in(&mut self, other: Analysis) {
        self.take_in_findings(other.findings);
        self.runs.extend(other.runs);
        self.events += other.events;
        for remark in other.remarks {
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
    }

    /// Takes in what was found in another way.
    pub fn take_in_findings(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            match self
                .findings
                .iter_mut()
                .find(|known| known.id == finding.id)
            {
                Some(known) => {
                    let count = known.count + finding.count;
                    if finding.rung > known.rung {
                        *known = finding;
                    }
                    known.count = count;
                }
                None => self.findings.push(finding),
            }
        }
    }
}

/// Looks at the trace at `path` with these methods, and for cycles of locks. Witnesses are written to
/// the folder, if there is one.
pub fn of(
    path: &Path,
    methods: &[How],
    config: &Config,
    options: &Options,
    reading: Reading,
    witnesses: Option<&Path>,
) -> Result<Analysis> {
    let mut runs = Vec::new();
    let mut left_out = Vec::new();
    let mut events = 0;
    let mut needs_unknown = false;
    let suspects = match reading {
        Reading::Whole => None,
        Reading::OfSuspects => {
            let (suspects, count) = suspects::of(path, config)?;
            events = count;
            Some(suspects)
        }
    };
    let suspects = suspects.as_ref();
    for how in methods {
        if signals::is_stopped() {
            left_out.push(*how);
            continue;
        }
        let run = match how {
            _ if suspects.is_some_and(|suspects| suspects::spare(suspects, *how)) => {
                let is_exact = input::open(path)?.mode() == Mode::Serial;
                (is_exact || !how.needs_exact_order()).then(|| Run::of_nothing(*how))
            }
            How::Detect(_) => detect(path, *how, suspects, config)?.map(|(run, count)| {
                events = count;
                run
            }),
            How::Predict(model) => {
                prediction::predict(path, *model, options, config)?.map(|asked| {
                    events = events.max(asked.events);
                    needs_unknown |= asked.needs_unknown && *model == Model::Maximal;
                    predicted(*how, asked.predicted)
                })
            }
            How::Interleave => {
                let (loaded, _) = Loaded::read(path, suspects, options.memory, config)?;
                events = events.max(loaded.events());
                Some(predicted(*how, loaded.interleave(options)))
            }
        };
        match run {
            Some(run) => runs.push(run),
            None => left_out.push(*how),
        }
    }
    let cycles = match suspects.is_some_and(|suspects| !suspects.has_synchronisation()) {
        true => LockOrder::new().deadlocks(),
        false => cycles(path, config)?,
    };
    let Explained {
        mut findings,
        names,
        mut remarks,
        trace_remarks,
    } = explain(path, &runs, &cycles.found)?;
    if let Some(calls) = UnseenCalls::of(input::open(path)?.tables(), path)? {
        calls.take_back(&mut findings, false);
    }
    if let Some(folder) = witnesses {
        witness::write(path, folder, &runs, &mut findings, &mut remarks)?;
    }
    if needs_unknown {
        let why = match input::open(path)?.tables().left_out {
            None => "the trace has no branches",
            Some(_) => "the trace has only what threads share",
        };
        remarks.push(format!(
            "{why}: every event is taken to depend on all that its thread has read before"
        ));
    }
    if !cycles.complete {
        remarks.push("too many nested locks: not all of their orders were compared".to_owned());
    }
    Ok(Analysis {
        runs,
        left_out,
        findings,
        names,
        events,
        remarks,
        trace_remarks,
    })
}

/// Shows every step of a trace to `visit`; how many there were, and the stream at its end.
pub fn read(
    path: &Path,
    input: Input,
    what: &'static str,
    config: &Config,
    mut visit: impl FnMut(EventIndex, &Step, &Tables),
) -> Result<(u64, Marked<Watched<Input>, marks::Finder>)> {
    let mut steps = marks::apply(Watched::new(input, what).until_stopped(), config);
    let mut count = 0;
    while let Some(step) = steps
        .next_step()
        .map_err(|error| input::broken(path, &error))?
    {
        let index = steps.last_index().unwrap_or(EventIndex(count));
        visit(index, &step, steps.tables());
        count += 1;
    }
    Ok((count, steps))
}

/// What a prediction found, as other methods' finds look.
fn predicted(how: How, predicted: Predicted) -> Run {
    let mut races = Races::new();
    for proven in &predicted.prediction.races {
        if let [first, second] = proven.next[..] {
            let access = |index: EventIndex| {
                let event = *predicted.events.get(&index)?;
                Some(Access { index, event })
            };
            let pair = (access(first.min(second)), access(first.max(second)));
            if let (Some(first), Some(second)) = pair {
                races.add(Race { first, second });
            }
        }
    }
    Run {
        how,
        races,
        prediction: Some(predicted.prediction),
        took: predicted.took,
        memory: predicted.memory,
    }
}

fn detect(
    path: &Path,
    how: How,
    suspects: Option<&Suspects>,
    config: &Config,
) -> Result<Option<(Run, u64)>> {
    let started = Instant::now();
    let input = input::open(path)?;
    if how.needs_exact_order() && input.mode() == Mode::Parallel {
        return Ok(None);
    }
    let mut detector = detector(path, how, config)?;
    // Others learn an order from accesses, too.
    let suspects = suspects.filter(|_| how == How::Detect(Method::Hb));
    let mut races = Races::new();
    let mut memory = 0;
    let mut unseen = Unseen::of(input.tables());
    let (count, steps) = read(
        path,
        input,
        "looking for races",
        config,
        |index, step, tables| {
            let is_asked = suspects.is_none_or(|suspects| suspects.may_race(&step.event));
            if is_asked && !unseen.is_unseen(&step.event, tables) {
                detector.step(index, step, tables, &mut races);
            }
            if index.0.is_multiple_of(STRIDE) {
                memory = memory.max(detector.memory());
            }
        },
    )?;
    detector.finish(steps.tables(), &mut races);
    let run = Run {
        how,
        races,
        prediction: None,
        took: started.elapsed(),
        memory: memory.max(detector.memory()),
    };
    Ok(Some((run, count)))
}

/// A detector at the start of the trace. Hybrid knows the channels before: they may show late.
fn detector(path: &Path, how: How, config: &Config) -> Result<Box<dyn Detector>> {
    if let Some(detector) = how.detector() {
        return Ok(detector);
    }
    let steps = Watched::new(input::open(path)?, "looking for channels").until_stopped();
    let channels = Channels::find(&mut marks::apply(steps, config));
    let channels = channels.map_err(|error| input::broken(path, &error))?;
    Ok(Box::new(Hybrid::new(HybridOptions {
        most_locks: channels.most_locks() as u32,
        channels,
        ..HybridOptions::default()
    })))
}

fn cycles(path: &Path, config: &Config) -> Result<Deadlocks> {
    let mut order = LockOrder::new();
    let what = "looking for cycles of locks";
    read(
        path,
        input::open(path)?,
        what,
        config,
        |index, step, tables| {
            order.step(index, step, tables);
        },
    )?;
    Ok(order.deadlocks())
}

/// A race with the methods that found it.
struct Found {
    race: Race,
    count: u64,
    methods: Vec<How>,
}

/// The races of all methods, each once, in the order of the trace.
fn merged(runs: &[Run]) -> Vec<Found> {
    let mut all: BTreeMap<Signature, Found> = BTreeMap::new();
    for run in runs {
        for found in run.races.found() {
            let known = all.entry(found.race.signature()).or_insert_with(|| Found {
                race: found.race,
                count: 0,
                methods: Vec::new(),
            });
            // What is shown is what has a witness: another pair of these places need not have one.
            if run.how.rung() == Rung::Witness {
                known.race = found.race;
            }
            known.count = known.count.max(found.count);
            known.methods.push(run.how);
        }
    }
    let mut all: Vec<Found> = all.into_values().collect();
    all.sort_by_key(|found| (found.race.second.index, found.race.first.index));
    all
}

/// Findings with names, and what the user should know about the names and about the trace.
struct Explained {
    findings: Vec<Finding>,
    names: HashMap<Vec<Pc>, String>,
    remarks: Vec<String>,
    trace_remarks: Vec<String>,
}

fn explain(path: &Path, runs: &[Run], cycles: &[Deadlock]) -> Result<Explained> {
    let found = merged(runs);
    let races: Vec<Race> = found.iter().map(|found| found.race).collect();
    let of_races = races
        .iter()
        .flat_map(|race| [race.first.index, race.second.index]);
    let of_cycles = cycles
        .iter()
        .flat_map(|cycle| cycle.steps.iter().map(|step| step.requests.at));
    let deadlocks: Vec<(How, &Proven)> = runs
        .iter()
        .filter_map(|run| Some((run.how, run.prediction.as_ref()?)))
        .flat_map(|(how, prediction)| prediction.deadlocks.iter().map(move |found| (how, found)))
        .collect();
    let of_deadlocks = deadlocks
        .iter()
        .flat_map(|(_, proven)| proven.core().iter().copied());
    let refused: Vec<(How, &Refused)> = runs
        .iter()
        .filter_map(|run| Some((run.how, run.prediction.as_ref()?)))
        .flat_map(|(how, prediction)| prediction.refused.iter().map(move |found| (how, found)))
        .collect();
    let of_refused = refused
        .iter()
        .flat_map(|(_, refused)| refused.next.iter().copied());
    let of_predicted = of_deadlocks.chain(of_refused);
    let wanted: Vec<EventIndex> = of_races.chain(of_cycles).chain(of_predicted).collect();
    let last = wanted.iter().max().copied();
    let mut contexts = Contexts::of(wanted);
    let mut benign = Benign::of(&races);
    let input = input::open(path)?;
    let mut steps = Watched::new(input, "explaining");
    let (mut index, mut is_whole) = (0, true);
    while let Some(step) = steps
        .next_step()
        .map_err(|error| input::broken(path, &error))?
    {
        contexts.step(EventIndex(index), &step);
        benign.step(EventIndex(index), &step);
        // Whoever wants to stop does without what the rest of the trace would tell.
        if signals::is_stopped() && last.is_none_or(|last| index >= last.0) {
            is_whole = false;
            break;
        }
        index += 1;
    }
    let input = steps.into_inner();
    let tables = input.tables();
    let names = Names::of(tables);
    let explain = Explain {
        names: &names,
        tables,
        contexts: &contexts,
    };
    let mut found_once = Distinct::default();
    let mut known: HashMap<Vec<Pc>, String> = HashMap::new();
    let mut name = |next: &[EventIndex], finding: &Finding| {
        let place = |at: &EventIndex| Some(contexts.get(*at)?.step.event.pc());
        let places: Option<Vec<Pc>> = next.iter().map(place).collect();
        let mut places = places.unwrap_or_default();
        places.sort_unstable();
        known.insert(places, finding.id.clone());
    };
    for (i, found) in found.iter().enumerate() {
        let rungs = found.methods.iter().map(|how| how.rung());
        let rung = rungs.max().unwrap_or(Rung::Warning);
        let methods: Vec<&str> = found.methods.iter().map(|method| method.name()).collect();
        let pair = [found.race.first.index, found.race.second.index];
        if let Some(mut finding) = explain.race(pair, rung, &methods.join(", ")) {
            name(&pair, &finding);
            finding.count = found.count;
            let hints = if is_whole {
                benign.hints(i)
            } else {
                Vec::new()
            };
            let variable = finding.object.as_ref().map(|object| &*object.name);
            let mut suggested = hints.iter().copied();
            finding.suggestion = variable
                .and_then(|variable| suggested.find_map(|hint| hint::suggestion(hint, variable)));
            finding.hints = hints
                .into_iter()
                .map(|hint| hint::told(hint, &names, tables))
                .collect();
            found_once.add(finding);
        }
    }
    // A witness that is none leaves a warning.
    for (how, refused) in refused {
        let mut next = refused.next.clone();
        next.sort_unstable();
        if let [first, second] = next[..]
            && let Some(finding) = explain.race([first, second], Rung::Warning, how.name())
        {
            found_once.add(finding);
        }
    }
    for (how, proven) in deadlocks {
        let request = |index: &EventIndex| Some((*index, contexts.get(*index)?.step.event.lock()));
        let requests: Option<Vec<_>> = proven.core().iter().map(request).collect();
        let requests = requests.unwrap_or_default();
        if let Some(finding) = explain.deadlock(&requests, how.rung(), how.name()) {
            name(&proven.next, &finding);
            found_once.add(finding);
        }
    }
    for cycle in cycles {
        let requests: Vec<_> = cycle
            .steps
            .iter()
            .map(|step| (step.requests.at, step.requests.lock))
            .collect();
        if let Some(finding) = explain.deadlock(&requests, Rung::Warning, "lock order") {
            found_once.add(finding);
        }
    }
    let mut findings = found_once.findings;
    findings.sort_by_key(|finding| (finding.kind, std::cmp::Reverse(finding.rung)));
    Ok(Explained {
        findings,
        names: known,
        remarks: names.remarks(),
        trace_remarks: input.remarks(),
    })
}

/// Findings, each once.
#[derive(Default)]
struct Distinct {
    findings: Vec<Finding>,
    by_id: FxHashMap<String, usize>,
}

impl Distinct {
    /// Adds a finding, or counts it to the one that has the same places. The surer one is shown: a proven
    /// deadlock takes in the warning about the order of its locks.
    fn add(&mut self, mut finding: Finding) {
        let Some(at) = self.by_id.get(&finding.id) else {
            self.by_id.insert(finding.id.clone(), self.findings.len());
            return self.findings.push(finding);
        };
        let known = &mut self.findings[*at];
        if finding.rung > known.rung {
            std::mem::swap(known, &mut finding);
        }
        let mut methods: Vec<&str> = known.method.split(", ").collect();
        let others = finding.method.split(", ");
        // Other methods have found the same, not more of it.
        known.count = match others.clone().any(|method| methods.contains(&method)) {
            true => known.count + finding.count,
            false => known.count.max(finding.count),
        };
        methods.extend(others);
        let all = How::all();
        methods.sort_by_key(|name| {
            let place = all.iter().position(|how| how.name() == *name);
            place.unwrap_or(all.len())
        });
        methods.dedup();
        known.method = methods.join(", ");
    }
}
