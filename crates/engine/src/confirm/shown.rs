//! What a schedule of synchronisation has shown on the program: kept as a coarse witness, and shown again.
//!
//! The schedule is enforced as it was when the finding was confirmed, with the happens-before detector running; a race is there
//! again if it is seen again. Between synchronisations nothing is held.

use std::path::{Path, PathBuf};

use deadheat_analysis::numbered::Numbered;
use deadheat_analysis::witness::{self, Trace, Witness};
use deadheat_predict::{Goal, Proven, Stage};
use deadheat_report::{Finding, Kind};
use deadheat_run::watch::OnRace;
use deadheat_session::error::Result;
use deadheat_trace::EventIndex;

use super::coarse::{Coarse, Outcome};

/// Keeps witnesses of one trace.
pub struct Keeper {
    folder: PathBuf,
    trace: Trace,
    numbered: Numbered,
}

impl Keeper {
    /// For findings of this trace that these schedules may show, in this folder.
    pub fn of(trace: &Path, folder: &Path, schedules: &[Proven]) -> Result<Self> {
        let numbered = Numbered::of(trace, schedules, [])?;
        let whole = trace.canonicalize().unwrap_or_else(|_| trace.to_owned());
        let inside = trace.strip_prefix(folder).unwrap_or(&whole);
        Ok(Keeper {
            folder: folder.to_owned(),
            trace: Trace {
                path: inside.to_owned(),
                events: numbered.count,
                digest: numbered.digest.clone(),
            },
            numbered,
        })
    }

    /// Writes down which schedule has shown a finding, unless it has a witness already.
    pub fn keep(&self, finding: &mut Finding, shown_by: &Proven, remarks: &mut Vec<String>) {
        if finding.witness.is_some() {
            return;
        }
        // Nothing but synchronisation is counted.
        let mut runs: Vec<(u32, u64)> = Vec::new();
        for at in &shown_by.schedule {
            let thread = self.numbered.thread(*at).0;
            match runs.last_mut() {
                Some((last, count)) if *last == thread => *count += 1,
                _ => runs.push((thread, 1)),
            }
        }
        let mut file = Witness::new(finding, self.trace.clone(), shown_by.start.0).with(runs);
        file.synchronisation = Some(shown_by.schedule.iter().map(|at| at.0).collect());
        file.next = witness::next(shown_by, &self.numbered);
        let path = self.folder.join(witness::file_name(&finding.id));
        let here = std::env::current_dir().unwrap_or_default();
        match file.write(&path) {
            Ok(()) => {
                let shown = path.strip_prefix(&here).unwrap_or(&path);
                finding.witness = Some(shown.display().to_string());
                finding.replay = Some(format!("deadheat replay {}", finding.id));
            }
            Err(error) => remarks.push(format!(
                "the witness of {} cannot be kept: {}: {error}",
                finding.id,
                path.display()
            )),
        }
    }
}

/// A coarse witness that can be enforced.
pub struct Shown {
    coarse: Coarse,
    proven: Proven,
    signature: String,
}

impl Shown {
    /// Makes everything ready to show the finding of a coarse witness again.
    pub fn new(witness: &Witness) -> Result<Self> {
        let path = &witness.trace.path;
        witness.is_about(&witness::digest(path)?)?;
        let schedule = witness.synchronisation.iter().flatten();
        Ok(Shown {
            coarse: Coarse::of(path)?,
            proven: Proven {
                goal: match witness.kind {
                    Kind::Race => Goal::Race,
                    Kind::Deadlock | Kind::Failure => Goal::Deadlock,
                },
                next: witness.next.iter().map(|at| EventIndex(at.index)).collect(),
                bystanders: 0,
                start: EventIndex(witness.start),
                schedule: schedule.map(|at| EventIndex(*at)).collect(),
                skipped: Vec::new(),
                stage: Stage::Search,
            },
            signature: without_folders(&witness.signature),
        })
    }

    /// Runs the program once; if the finding was not there, why.
    pub fn run(&self, on_race: OnRace) -> Result<Option<String>> {
        let is_it = |race: &Finding| without_folders(&race.signature) == self.signature;
        Ok(match self.coarse.enforce(&self.proven, on_race)? {
            Outcome::Deadlocked => None,
            Outcome::Confirmed { races } if races.iter().any(is_it) => None,
            Outcome::Confirmed { .. } => Some("the schedule led to other races".to_owned()),
            Outcome::NothingSeen => {
                Some("the schedule was followed, and nothing was seen".to_owned())
            }
            Outcome::Unenforceable { why } => Some(why),
            Outcome::Infeasible { why, .. } => Some(why),
        })
    }
}

/// A signature as it is in all folders: files are named as they are seen from the one that the command runs in.
fn without_folders(signature: &str) -> String {
    let words = signature.split(' ');
    let last = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    words.map(last).collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_the_same_from_everywhere() {
        let here = without_folders("work bank.c:7 | main bank.c:12");
        assert_eq!(
            without_folders("work /src/bank.c:7 | main ../bank.c:12"),
            here
        );
        assert_ne!(
            without_folders("work /src/bank.c:8 | main ../bank.c:12"),
            here
        );
    }
}
