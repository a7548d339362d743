//! What the static analyser says of a program, beside what recorded runs say.
//!
//! The two are compared by the places of their accesses: files and lines, which both have from the compiler. A warning whose places are
//! those of a finding is this finding, and stands where that stands; of any other the runs only say whether they came there.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use deadheat_analysis::leave_out::Accesses;
use deadheat_report::{Access, Finding, Frame, Names, Rung, json};
use deadheat_run::input;
use deadheat_run::program::Program;
use deadheat_run::store::info::Ended;
use deadheat_session::error::{Error, Result};
use deadheat_session::exit::Exit;
use deadheat_trace::{Op, Pc, Steps, Tables};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::scanner;

/// A line of a source file.
type Place = (PathBuf, u32);

/// What is done at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Deed {
    Read,
    Write,
    /// Something else: a call, a lock is taken.
    Other,
}

impl Deed {
    fn of_event(op: Op) -> Self {
        match op {
            Op::Read | Op::AtomicRead => Deed::Read,
            Op::Write | Op::AtomicWrite | Op::AtomicRmw => Deed::Write,
            _ => Deed::Other,
        }
    }

    /// What has to be seen at a warning's place. What stands for several statements, some of which came with the compiler, is any.
    fn of_warning(access: &Access) -> &'static [Deed] {
        let is_innermost = access.stack.first() == Some(&access.place);
        if !is_innermost || access.waits_for.is_some() {
            &[Deed::Other, Deed::Read, Deed::Write]
        } else if access.op.ends_with("read") {
            // A read before a write of the same is not recorded by itself.
            &[Deed::Read, Deed::Write]
        } else {
            &[Deed::Write]
        }
    }
}

/// Warnings of the static analyser, and which of their places recorded runs have come to.
pub struct Scanned {
    warnings: Vec<Finding>,
    unshared: Vec<Unshared>,
    files: Files,
    executed: FxHashSet<(Place, Deed)>,
}

/// A function that touches nothing of another thread's.
#[derive(Deserialize)]
struct Unshared {
    function: String,
    file: String,
}

/// What else the analyser reports.
#[derive(Deserialize)]
struct Report {
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    #[serde(default)]
    unshared: Vec<Unshared>,
}

/// What became of the warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// How many there were.
    #[serde(rename = "warnings")]
    pub all: usize,
    /// Proven by a run.
    pub proven: usize,
    /// A run came to all places, and proved nothing.
    pub executed: usize,
    /// No run came to all places.
    pub unreached: usize,
}

impl Outcome {
    /// In words.
    pub fn told(&self) -> String {
        let parts = [
            (self.proven, "proven"),
            (self.executed, "executed but not proven"),
            (self.unreached, "not reached"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        match self.all {
            0 => "no warnings".to_owned(),
            1 => format!("1 warning: {}", parts.join(", ")),
            all => format!("{all} warnings: {}", parts.join(", ")),
        }
    }
}

impl Scanned {
    /// Runs the analyser with these arguments.
    pub fn of(args: &[OsString]) -> Result<Self> {
        let failed = |what: String| Error::not_started(what);
        let report = tempfile::NamedTempFile::new()
            .map_err(|error| failed(format!("there is no room for a file: {error}")))?;
        let mut command = scanner::command()?;
        command.args(["--all-pairs", "--format", "json", "--output"]);
        command.arg(report.path()).args(args);
        let shown = command.get_program().display().to_string();
        let ended = command
            .status()
            .map(Ended::from_status)
            .map_err(|error| failed(format!("cannot run {shown}: {error}")))?;
        if !matches!(ended, Ended::Exit(code) if code == Exit::Clean as i32 || code == Exit::Findings as i32)
        {
            return Err(failed(format!(
                "the program could not be scanned: {shown} {}",
                ended.told()
            ))
            .help(
                "--scan=FILE names what is to be scanned: compile_commands.json, bitcode, sources",
            ));
        }
        let text = std::fs::read_to_string(report.path())
            .map_err(|error| failed(format!("cannot read what {shown} found: {error}")))?;
        let misread = |error: json::ReadError| {
            failed(format!("cannot understand what {shown} found: {error}"))
        };
        let warnings = json::findings(&text).map_err(misread)?;
        let report: Report = serde_json::from_str(&text).map_err(|error| misread(error.into()))?;
        Ok(Scanned {
            warnings,
            unshared: report.stats.unshared,
            files: Files::default(),
            executed: FxHashSet::default(),
        })
    }

    /// Accesses of functions that touch nothing of another thread's, as far as the analyser can prove that.
    pub fn unshared(&mut self, program: &Program) -> Result<Accesses> {
        let Scanned {
            unshared, files, ..
        } = self;
        Accesses::of(program, |frame| {
            let (Some(name), Some(file)) = (&frame.function, &frame.file) else {
                return false;
            };
            let mut alike = unshared
                .iter()
                .filter(|one| bare(&one.function) == bare(name));
            alike.any(|one| files.real(&one.file) == files.real(file))
        })
    }

    /// Takes in which places a recorded run has come to.
    pub fn add(&mut self, trace: &Path) -> Result<()> {
        let mut steps = input::open(trace)?;
        let mut seen: FxHashSet<(Pc, Deed)> = FxHashSet::default();
        while let Some(step) = steps
            .next_step()
            .map_err(|error| input::broken(trace, &error))?
        {
            seen.insert((step.event.pc(), Deed::of_event(step.event.op())));
        }
        self.add_places(&seen, steps.tables());
        Ok(())
    }

    fn add_places(&mut self, seen: &FxHashSet<(Pc, Deed)>, tables: &Tables) {
        let names = Names::of(tables);
        for (pc, deed) in seen {
            for frame in names.frames(*pc, tables) {
                let place = self.files.place(&frame);
                self.executed.extend(place.map(|place| (place, *deed)));
            }
        }
    }

    /// Brings warnings and findings together: what was proven is said to have been warned of, and what was not becomes a finding of
    /// its own, as a warning.
    pub fn join(mut self, findings: &mut Vec<Finding>) -> Outcome {
        let mut outcome = Outcome {
            all: self.warnings.len(),
            ..Outcome::default()
        };
        for mut warning in std::mem::take(&mut self.warnings) {
            let places = self.files.places(&warning);
            let is_known = !places.contains(&None);
            let mut same = findings.iter_mut().filter(|finding| {
                is_known && finding.kind == warning.kind && self.files.places(finding) == places
            });
            if let Some(finding) = same.next() {
                if finding.rung == Rung::Warning {
                    outcome.executed += 1;
                    finding.reasons.append(&mut warning.reasons);
                } else {
                    outcome.proven += 1;
                }
                if !finding.method.starts_with(&warning.method) {
                    finding.method = format!("{}, {}", warning.method, finding.method);
                }
                continue;
            }
            let missing = self.missing(&warning);
            warning.in_run = Some(if missing.is_empty() {
                outcome.executed += 1;
                "all of its places were executed, and nothing was proven".to_owned()
            } else {
                outcome.unreached += 1;
                format!("never reached: {}", missing.join(" and "))
            });
            findings.push(warning);
        }
        outcome
    }

    /// The places that no run has come to.
    fn missing(&mut self, warning: &Finding) -> Vec<String> {
        let mut missing: Vec<String> = Vec::new();
        for access in &warning.accesses {
            let is_there = self.files.place(&access.place).is_some_and(|place| {
                let mut deeds = Deed::of_warning(access).iter();
                deeds.any(|deed| self.executed.contains(&(place.clone(), *deed)))
            });
            let told = format!("{} in {}", access.op, access.place.told());
            if !is_there && !missing.contains(&told) {
                missing.push(told);
            }
        }
        missing
    }
}

/// A function's name without its arguments.
fn bare(function: &str) -> &str {
    function.split('(').next().unwrap_or(function)
}

/// Source files by their names, free of links and detours.
#[derive(Default)]
struct Files {
    known: HashMap<String, PathBuf>,
}

impl Files {
    fn place(&mut self, frame: &Frame) -> Option<Place> {
        let (file, line) = (frame.file.as_ref()?, frame.line?);
        Some((self.real(file), line))
    }

    fn real(&mut self, file: &str) -> PathBuf {
        if !self.known.contains_key(file) {
            let path = Path::new(file);
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            self.known.insert(file.to_owned(), real);
        }
        self.known[file].clone()
    }

    /// The places of a finding, in order.
    fn places(&mut self, finding: &Finding) -> Vec<Option<Place>> {
        let accesses = finding.accesses.iter();
        let mut places: Vec<_> = accesses.map(|access| self.place(&access.place)).collect();
        places.sort();
        places
    }
}
