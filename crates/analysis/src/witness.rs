//! Files of witnesses: a schedule that leads to a finding, by itself.
//!
//! `{"version":1,"finding":ID,"kind":...,"signature":...,"trace":{...},"start":N,"next":[...],"schedule":[[THREAD,COUNT],...],"switches":N}`:
//! everything before event `start` of the trace happens as it was recorded; then `COUNT` events of `THREAD` (the next
//! ones of that thread), and so on; then the events `next` are all next at once.
//!
//! `"skipped":[[THREAD,FIRST,LAST],...]` are events of a thread, from the first up to the last, that do not happen, and that nobody counts: what only the
//! last owner of a reference count does.
//!
//! `"enforced":true` says that the program was led there by this very schedule. Such a file is not replaced by one that nobody has tried.
//!
//! A *coarse* witness has `"synchronisation":[INDEX,...]` besides: behind the start only these events follow each other, and `schedule` counts
//! nothing else. In between threads run free, so it leads to the race, not to where both threads stand in front of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use deadheat_predict::Proven;
use deadheat_report::{Finding, Kind, Rung};
use deadheat_run::input::{self, Input};
use deadheat_run::store::info::Ended;
use deadheat_session::error::{Error, Result};
use deadheat_session::signals;
use deadheat_trace::{Event, EventIndex, Skipped, Steps, ThreadId};
use serde::{Deserialize, Serialize};

use crate::analysis::Run;
use crate::numbered::Numbered;

/// The version of the format.
const VERSION: u32 = 1;

/// A witness.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Witness {
    version: u32,
    /// The finding's short name.
    pub finding: String,
    /// What it is.
    pub kind: Kind,
    /// Its places.
    pub signature: String,
    /// Which trace it is about.
    pub trace: Trace,
    /// Everything before this event happens as it was.
    pub start: u64,
    /// The events that are all next in the end.
    pub next: Vec<Next>,
    /// How many events of which thread follow each other.
    pub schedule: Vec<(u32, u64)>,
    /// Thread, first and last position of what is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<(u32, u64, u64)>,
    /// How often another thread goes on.
    pub switches: usize,
    /// Of a failure: how the program ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<Ended>,
    /// Of a coarse witness: the events that follow each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synchronisation: Option<Vec<u64>>,
    /// The program was led to the finding by it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub enforced: bool,
}

/// Which trace it is about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// From the witness's folder on, or absolute.
    pub path: PathBuf,
    /// How many events it has.
    pub events: u64,
    /// Of all its events: of a recording the checksum, of text their threads, operations, targets and places.
    pub digest: String,
}

/// An event that is next in the end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Next {
    /// Its position in the trace.
    pub index: u64,
    /// Its thread.
    pub thread: u32,
}

/// A digest of a trace's events. That of a recording is known before it is read; that of text is FNV-1a, a word at a time.
pub struct Digest {
    is_whole: bool,
    sum: u64,
}

impl Digest {
    /// Of a trace that is about to be read.
    pub fn of(input: &Input) -> Self {
        match input {
            Input::Recording(file, _) => Digest {
                is_whole: true,
                sum: file.sum(),
            },
            Input::Text(_) => Digest {
                is_whole: false,
                sum: 0xcbf2_9ce4_8422_2325,
            },
        }
    }

    /// With one more event that was read.
    pub fn add(&mut self, event: &Event) {
        if self.is_whole {
            return;
        }
        for word in [
            u64::from(event.thread().0) << 8 | event.op() as u64,
            event.target(),
            event.pc().0.into(),
        ] {
            self.sum = (self.sum ^ word).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// As witnesses have it.
    pub fn text(&self) -> String {
        format!("{:016x}", self.sum)
    }
}

impl Witness {
    /// Of a finding.
    pub fn new(finding: &Finding, trace: Trace, start: u64) -> Self {
        Witness {
            version: VERSION,
            finding: finding.id.clone(),
            kind: finding.kind,
            signature: finding.signature.clone(),
            trace,
            start,
            next: Vec::new(),
            switches: 0,
            ends: None,
            schedule: Vec::new(),
            skipped: Vec::new(),
            synchronisation: None,
            enforced: false,
        }
    }

    /// Whether a file has a schedule for the same finding of the same trace that was enforced.
    fn is_surpassed_by(&self, path: &Path) -> bool {
        Witness::read(path).is_ok_and(|kept| {
            kept.enforced
                && kept.trace.digest == self.trace.digest
                && kept.signature == self.signature
        })
    }

    /// The recorded run itself, up to this event.
    pub fn as_recorded(&self, start: u64) -> Self {
        Witness {
            start,
            next: Vec::new(),
            schedule: Vec::new(),
            skipped: Vec::new(),
            switches: 0,
            ends: None,
            synchronisation: None,
            ..self.clone()
        }
    }

    /// Whether this is the trace that it is about, by how many events it has and their digest.
    pub fn is_about(&self, digest: &str) -> Result<()> {
        if digest == self.trace.digest {
            return Ok(());
        }
        Err(Error::usage(format!(
            "{} is not the trace that the witness of {} is about",
            self.trace.path.display(),
            self.finding
        ))
        .help("record and check the program again"))
    }

    /// What threads leave out.
    pub fn skipped(&self) -> Vec<Skipped> {
        let parts = self.skipped.iter().map(|(thread, first, last)| Skipped {
            thread: ThreadId(*thread),
            first: EventIndex(*first),
            last: EventIndex(*last),
        });
        parts.collect()
    }

    /// The same with another schedule.
    pub fn with(mut self, schedule: Vec<(u32, u64)>) -> Self {
        self.switches = schedule.len().saturating_sub(1);
        self.schedule = schedule;
        self
    }

    /// Reads a witness. Its trace is named so that it can be opened from the current folder.
    pub fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::usage(format!("cannot read {shown}: {error}")))?;
        let mut witness: Witness = serde_json::from_str(&text)
            .map_err(|error| Error::usage(format!("{shown} is no witness: {error}")))?;
        if witness.version != VERSION {
            return Err(Error::usage(format!(
                "{shown} has version {}, and this Deadheat reads version {VERSION}",
                witness.version
            )));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        witness.trace.path = folder.join(&witness.trace.path);
        Ok(witness)
    }

    /// The same file with another schedule.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut file = self.clone();
        if let Some(folder) = path.parent()
            && let Ok(inside) = file.trace.path.strip_prefix(folder)
        {
            file.trace.path = inside.to_path_buf();
        }
        let text = serde_json::to_string(&file).map_err(std::io::Error::other)?;
        std::fs::write(path, text + "\n")
    }
}

/// The name of a finding's witness.
pub fn file_name(finding: &str) -> String {
    format!("witness-{finding}.json")
}

/// Writes a file for each finding that has a witness, and names it in the finding.
pub fn write(
    path: &Path,
    folder: &Path,
    runs: &[Run],
    findings: &mut [Finding],
    remarks: &mut Vec<String>,
) -> Result<()> {
    let wanted = proven(runs);
    if wanted.is_empty() {
        return Ok(());
    }
    let sides_of = |finding: &&Finding| wanted.get(&sides(finding)).copied();
    let proven: Vec<&Proven> = findings.iter().filter_map(|it| sides_of(&it)).collect();
    let numbered = match Numbered::of(path, proven, []) {
        Err(_) if signals::is_stopped() => {
            remarks.push("stopped: no witnesses were written".to_owned());
            return Ok(());
        }
        numbered => numbered?,
    };
    let here = std::env::current_dir().unwrap_or_default();
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let trace = path.strip_prefix(folder).unwrap_or(&whole);
    for finding in findings {
        let Some(proven) = wanted.get(&sides(finding)) else {
            continue;
        };
        let of_trace = Trace {
            path: trace.to_path_buf(),
            events: numbered.count,
            digest: numbered.digest.clone(),
        };
        let schedule = numbered.runs(proven);
        let mut file = Witness::new(finding, of_trace, proven.start.0).with(schedule);
        file.next = next(proven, &numbered);
        let skipped = proven.skipped.iter();
        file.skipped = skipped
            .map(|part| (part.thread.0, part.first.0, part.last.0))
            .collect();
        let name = folder.join(file_name(&finding.id));
        let written = match file.is_surpassed_by(&name) {
            true => Ok(()),
            false => file.write(&name),
        };
        match written {
            Ok(()) => {
                let shown = name.strip_prefix(&here).unwrap_or(&name);
                finding.witness = Some(shown.display().to_string());
            }
            Err(error) => {
                remarks.push(format!(
                    "the witness of {} cannot be kept: {}: {error}",
                    finding.id,
                    name.display()
                ));
            }
        }
    }
    Ok(())
}

/// What these runs have proven, by the positions of the sides.
pub fn proven(runs: &[Run]) -> HashMap<Vec<u64>, &Proven> {
    let mut all = HashMap::new();
    let proving = runs.iter().filter(|run| run.how.rung() == Rung::Witness);
    for prediction in proving.filter_map(|run| run.prediction.as_ref()) {
        for proven in prediction.races.iter().chain(&prediction.deadlocks) {
            let mut next: Vec<u64> = proven.core().iter().map(|at| at.0).collect();
            next.sort_unstable();
            all.insert(next, proven);
        }
    }
    all
}

/// Where the sides of a finding stand in its trace, in order.
pub fn sides(finding: &Finding) -> Vec<u64> {
    let indexes = finding.accesses.iter().filter_map(|access| access.index);
    let mut sides: Vec<u64> = indexes.collect();
    sides.sort_unstable();
    sides
}

/// The events that are next in the end of a schedule.
pub fn next(proven: &Proven, numbered: &Numbered) -> Vec<Next> {
    let next = proven.next.iter().map(|at| Next {
        index: at.0,
        thread: numbered.thread(*at).0,
    });
    next.collect()
}

/// The digest of a trace.
pub fn digest(path: &Path) -> Result<String> {
    let mut steps = input::open(path)?;
    let mut digest = Digest::of(&steps);
    while !digest.is_whole
        && let Some(step) = steps
            .next_step()
            .map_err(|error| input::broken(path, &error))?
    {
        digest.add(&step.event);
    }
    Ok(digest.text())
}
