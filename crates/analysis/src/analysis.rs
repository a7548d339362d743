//! Looks for races and deadlocks in a trace, and explains what was found.
//!
//! A first reading learns what others have to know of the trace, and finds cycles of locks; the second is shown to all methods at
//! once, or only what may be part of a race at all; one more collects what surrounds the events of the findings. Where
//! several detectors are compared, each reads the trace by itself, so that times and memory can be told apart.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use deadheat_detect::{Access, Benign, Deadlock, Marked, Method, Race, Races, Signature};
use deadheat_predict::{Options, Prediction, Proven, Refused};
use deadheat_report::{Contexts, Explain, Finding, Names, Rung, hint};
use deadheat_run::input::{self, Input};
use deadheat_session::error::Result;
use deadheat_session::progress::{AT_ONCE, Watched};
use deadheat_session::signals;
use deadheat_session::terminal::counted;
use deadheat_trace::{Event, EventIndex, Mode, Op, Pc, Step, Steps, Tables};
use rustc_hash::FxHashMap;

use crate::config::Config;
use crate::detecting::{Detecting, Gap};
use crate::first_reading::{FirstReading, Wanted};
use crate::how::How;
use crate::interleaving::Loading;
use crate::marks;
use crate::prediction::{self, Model, Predicted};
use crate::suspects;
use crate::unseen::Unseen;
use crate::witness;

/// The part of the memory that a detector may take.
const PART: usize = 5;
/// A trace with no more events is read once for all.
const SHORT: u64 = 1 << 20;

/// How much of a trace methods look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// All of it, each method by itself.
    Whole,
    /// What may be part of a race at all, which is found out first: see `suspects`.
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
    /// What it has not looked at, for want of memory.
    pub gap: Option<Gap>,
    /// The events that predictions are about.
    pub events: FxHashMap<EventIndex, Event>,
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
    let is_exact = input::open(path)?.mode() == Mode::Serial;
    let is_usable = |how: &How| is_exact || !how.needs_exact_order();
    let (methods, mut left_out): (Vec<How>, Vec<How>) =
        methods.iter().copied().partition(is_usable);
    let detectors = methods.iter().filter(|how| matches!(how, How::Detect(_)));
    let are_compared = reading == Reading::Whole && detectors.count() > 1;
    let most = options.memory / PART;
    // What is alone and need not know anything before is shown the first reading.
    let alone = match methods[..] {
        [how] if reading == Reading::Whole => Detecting::new(how, None, most),
        _ => None,
    };
    let wanted = Wanted {
        suspects: reading == Reading::OfSuspects,
        channels: methods.contains(&How::Detect(Method::Hybrid)),
        constraining: methods.iter().any(|how| matches!(how, How::Predict(_))),
        memory: options.memory,
    };
    let mut first = FirstReading::of(path, config, &wanted, alone)?;
    let of_first = first.run.take();
    let suspects = first.suspects.as_ref();
    let mut reader = Reader {
        path,
        config,
        options,
        first: &first,
        detecting: Vec::new(),
        loading: None,
        needs_unknown: false,
    };
    let mut runs: Vec<Run> = of_first.into_iter().collect();
    let mut predicting = Vec::new();
    for how in methods.iter().copied() {
        match how {
            _ if runs.iter().any(|run| run.how == how) => {}
            _ if suspects.is_some_and(|suspects| suspects::spare(suspects, how)) => {
                runs.push(Run::of_nothing(how));
            }
            _ if signals::is_stopped() => left_out.push(how),
            How::Detect(_) => {
                let most = if are_compared { options.memory } else { most };
                let detecting = Detecting::new(how, first.channels.clone(), most);
                let detecting = detecting.map(|detecting| detecting.only(suspects));
                reader.detecting.extend(detecting);
                if are_compared {
                    runs.extend(reader.detect()?);
                }
            }
            How::Interleave => reader.loading = Some(Loading::new(suspects, options.memory)),
            How::Predict(model) => predicting.push(model),
        }
    }
    for model in predicting {
        runs.extend(reader.predict(model)?);
    }
    runs.extend(reader.detect()?);
    runs.extend(reader.interleave()?);
    let needs_unknown = reader.needs_unknown;
    runs.sort_by_key(|run| methods.iter().position(|how| *how == run.how));
    let Explained {
        mut findings,
        names,
        mut remarks,
        trace_remarks,
    } = explain(path, &runs, &first.cycles.found)?;
    if let Some(calls) = &first.calls {
        calls.take_back(&mut findings, false);
    }
    if let Some(folder) = witnesses {
        witness::write(path, folder, &runs, &mut findings, &mut remarks)?;
    }
    remarks.extend(runs.iter().filter_map(Run::remark));
    if needs_unknown {
        let why = match input::open(path)?.tables().left_out {
            None => "the trace has no branches",
            Some(_) => "the trace has only what threads share",
        };
        remarks.push(format!(
            "{why}: every event is taken to depend on all that its thread has read before"
        ));
    }
    if !first.cycles.complete && !signals::is_stopped() {
        remarks.push("too many nested locks: not all of their orders were compared".to_owned());
    }
    Ok(Analysis {
        runs,
        left_out,
        findings,
        names,
        events: first.events,
        remarks,
        trace_remarks,
    })
}

/// Reads the trace again, and shows it to all who wait for it.
struct Reader<'a> {
    path: &'a Path,
    config: &'a Config,
    options: &'a Options,
    first: &'a FirstReading,
    detecting: Vec<Detecting<'a>>,
    loading: Option<Loading<'a>>,
    needs_unknown: bool,
}

impl Reader<'_> {
    /// Predicts; whoever waits is shown the same reading.
    fn predict(&mut self, model: Model) -> Result<Vec<Run>> {
        let mut unseen = Unseen::of(input::open(self.path)?.tables());
        // A long trace is read once more for them, when what this takes is free again.
        let is_short = self.first.events <= SHORT;
        let is_waited = is_short && (!self.detecting.is_empty() || self.loading.is_some());
        let waiting = RefCell::new((&mut self.detecting, &mut self.loading));
        let look = |index: EventIndex, step: &Step, tables: &Tables| {
            if is_waited {
                let is_unseen = unseen.is_unseen(&step.event, tables);
                let (detecting, loading) = &mut *waiting.borrow_mut();
                show(detecting, loading, (index, step, tables), is_unseen);
            }
        };
        let is_found = |(one, other)| {
            let detecting = &waiting.borrow().0;
            detecting
                .iter()
                .any(|detecting| detecting.has_seen(Signature(one, other)))
        };
        let others = prediction::Others {
            look: Box::new(look),
            is_found: &is_found,
        };
        let (asked, tables) = prediction::predict(
            self.path,
            model,
            self.options,
            self.config,
            (self.first, others),
        )?;
        self.needs_unknown |= asked.needs_unknown && model == Model::Maximal;
        let mut runs = vec![predicted(How::Predict(model), asked.predicted)];
        if is_short {
            runs.extend(self.settle(&tables));
        }
        Ok(runs)
    }

    /// Shows the trace to those who still wait for it.
    fn detect(&mut self) -> Result<Vec<Run>> {
        if self.detecting.is_empty() && self.loading.as_ref().is_none_or(Loading::is_read) {
            return Ok(Vec::new());
        }
        let input = input::open(self.path)?;
        let mut unseen = Unseen::of(input.tables());
        let (detecting, loading) = (&mut self.detecting, &mut self.loading);
        let (what, config) = ("looking for races", self.config);
        let (_, steps) = read(self.path, input, what, config, |index, step, tables| {
            let is_unseen = unseen.is_unseen(&step.event, tables);
            show(detecting, loading, (index, step, tables), is_unseen);
        })?;
        let tables = steps.tables().clone();
        Ok(self.settle(&tables))
    }

    /// Those who waited have seen all of it.
    fn settle(&mut self, tables: &Tables) -> Vec<Run> {
        if let Some(loading) = &mut self.loading {
            loading.settle(tables);
        }
        let all = self.detecting.drain(..);
        all.map(|one| one.finish(tables)).collect()
    }

    /// What the schedules of synchronisation show, of what was read for them.
    fn interleave(&mut self) -> Result<Option<Run>> {
        let Some(loading) = self.loading.take() else {
            return Ok(None);
        };
        let loaded = loading.finish(self.path)?;
        let found = loaded.interleave(self.options);
        Ok(Some(predicted(How::Interleave, found)))
    }
}

/// Shows a step to those who wait.
fn show(
    detecting: &mut [Detecting],
    loading: &mut Option<Loading>,
    (index, step, tables): (EventIndex, &Step, &Tables),
    is_unseen: bool,
) {
    for one in detecting {
        one.step(index, step, tables, is_unseen);
    }
    if let Some(loading) = loading {
        loading.step(index, step, is_unseen);
    }
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
        gap: None,
        events: predicted.events,
    }
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
    let mut contexts = Contexts::of(of_races.chain(of_cycles).chain(of_predicted));
    let mut benign = Benign::of(&races);
    let input = input::open(path)?;
    let mut steps = Watched::new(input, "explaining").unless_long();
    let mut index = 0;
    while let Some(step) = steps
        .next_step()
        .map_err(|error| input::broken(path, &error))?
    {
        contexts.step(EventIndex(index), &step);
        benign.step(EventIndex(index), &step);
        index += 1;
    }
    // Whoever wants to stop does without what the rest of a long trace would tell.
    let is_whole = !signals::is_stopped() || index < AT_ONCE;
    let input = steps.into_inner();
    let tables = input.tables();
    let unread = match signals::is_stopped() {
        true => supply(&mut contexts, &races, runs, cycles),
        false => 0,
    };
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
        remarks: remarks_of(&names, unread),
        trace_remarks: input.remarks(),
    })
}

/// Of events that were not read again, when the user wants to stop, at least themselves are known. How many there are.
fn supply(contexts: &mut Contexts, races: &[Race], runs: &[Run], cycles: &[Deadlock]) -> u64 {
    let accesses = races.iter().flat_map(|race| [race.first, race.second]);
    let accesses = accesses.map(|access| (access.index, access.event));
    let predicted = runs.iter().flat_map(|run| &run.events);
    let predicted = predicted.map(|(index, event)| (*index, *event));
    let requests = cycles.iter().flat_map(|cycle| &cycle.steps).map(|step| {
        let lock = u64::from(step.requests.lock.0);
        let event = Event::new(step.thread, Op::Acquire, lock, step.requests.pc);
        (step.requests.at, event)
    });
    let all = accesses.chain(predicted).chain(requests);
    let unread = all.filter(|(index, event)| !contexts.supply(*index, *event));
    unread.count() as u64
}

fn remarks_of(names: &Names, unread: u64) -> Vec<String> {
    let mut remarks = names.remarks();
    if unread > 0 {
        remarks.push(format!(
            "stopped: what surrounded {} was not read, such as calls and locks",
            counted(unread, "event")
        ));
    }
    remarks
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
