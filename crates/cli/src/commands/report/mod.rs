//! `deadheat report`: what was found, again, in any form.

mod baseline;
mod inputs;
mod page;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use deadheat_report::{Finding, Kind, Rung, generated_suppressions, merged};
use deadheat_session::error::{Error, Result};
use deadheat_session::exit::Exit;
use deadheat_session::terminal::{BAD, GOOD, counted, say, styled};
use serde::Serialize;

use super::predict;
use crate::format::Format;
use crate::look::LookArgs;
use crate::settings::args::ConfigArgs;
use inputs::Input;

const EXAMPLES: &str = "\
Examples:
  deadheat report                           the latest findings, once more
  deadheat report --html                    as a page: deadheat-report.html
  deadheat report 3 4 --format json         findings of two recordings, each once
  deadheat report --format sarif -o findings.sarif
  deadheat report --baseline main.json      only what is not in an earlier report
  deadheat report --gen-suppressions 3fa1b2c4 > known.txt

A report is what check, predict and explore leave in a recording's folder, or a file that
--format json has written. Arguments of eight hexadecimal digits are names of findings: only
these are shown.
The exit code is 66 when something is shown (with --baseline: something new), else 0.";

/// Shows what was found, again: as text, a page, or in the forms that other tools read.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Numbers of recordings, files of reports, names of findings.
    /// [default: the latest recording that has a report]
    #[arg(value_name = "REPORT")]
    wishes: Vec<OsString>,

    /// How to write what was found.
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Write the report to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write a page that browsers show, without a network, to this file.
    /// [default: deadheat-report.html]
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "deadheat-report.html")]
    html: Option<PathBuf>,

    /// Only what is not in this earlier report.
    #[arg(long, value_name = "OLD.json")]
    baseline: Option<PathBuf>,

    /// Print lines for a file of suppressions that hold back what would be shown.
    #[arg(long, conflicts_with_all = ["format", "html"])]
    gen_suppressions: bool,

    /// Only findings of this kind.
    #[arg(long, value_enum)]
    kind: Option<KindName>,

    /// Only findings that are at least as sure.
    #[arg(long, value_enum)]
    rung: Option<RungName>,

    /// Also show what is only suspicious.
    #[arg(long)]
    warnings: bool,

    #[command(flatten)]
    look: LookArgs,

    #[command(flatten)]
    config: ConfigArgs,
}

/// Kinds, as they are typed.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum KindName {
    Race,
    Deadlock,
    Failure,
}

/// Rungs, as they are typed.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum RungName {
    Warning,
    Observed,
    Witness,
    Confirmed,
}

impl Args {
    /// Reports.
    pub fn run(self) -> Result<Exit> {
        if let Some(path) = &self.html {
            check_page_name(path)?;
        }
        let config = self.config.read()?;
        let suppressions = self.config.suppressions(&config)?;
        let before = match &self.baseline {
            Some(path) => Some(inputs::findings(path)?),
            None => None,
        };
        let (ids, wishes): (Vec<OsString>, Vec<OsString>) =
            self.wishes.iter().cloned().partition(is_finding);
        let inputs = inputs::read(&wishes)?;
        let all = merged(inputs.iter().flat_map(|input| input.findings.clone()));
        for id in ids.iter().filter_map(|id| id.to_str()) {
            if !all.iter().any(|finding| finding.id == id) {
                let what = format!("no finding {id} in {}", told_inputs(&inputs));
                return Err(Error::usage(what)
                    .help("`deadheat report --warnings` shows all that there are"));
            }
        }
        let ids: BTreeSet<&str> = ids.iter().filter_map(|id| id.to_str()).collect();
        let lowest = self.lowest_rung(&ids);
        let is_meant = |finding: &Finding| {
            self.is_of_kind(finding)
                && (ids.is_empty() || ids.contains(&*finding.id))
                && !suppressions.match_finding(finding)
        };
        let (wanted, others): (Vec<Finding>, Vec<Finding>) = all
            .into_iter()
            .partition(|finding| finding.rung >= lowest && is_meant(finding));
        let hidden = others.iter();
        let hidden = hidden.filter(|finding| finding.rung < lowest && is_meant(finding));
        let hidden = hidden.count();
        let (shown, compared) = match &before {
            Some(before) => {
                let compared = baseline::compare(wanted, &others, before);
                let figures = (compared.known, compared.gone);
                (compared.new, Some(figures))
            }
            None => (wanted, None),
        };
        self.write(&inputs, &shown, &others, compared)?;
        self.tell(&shown, hidden, compared);
        Ok(match shown.is_empty() {
            true => Exit::Clean,
            false => Exit::Findings,
        })
    }

    fn is_of_kind(&self, finding: &Finding) -> bool {
        match self.kind {
            None => true,
            Some(KindName::Race) => finding.kind == Kind::Race,
            Some(KindName::Deadlock) => finding.kind == Kind::Deadlock,
            Some(KindName::Failure) => finding.kind == Kind::Failure,
        }
    }

    /// How sure a finding must be. One that is named is shown, however suspicious.
    fn lowest_rung(&self, ids: &BTreeSet<&str>) -> Rung {
        match self.rung {
            Some(RungName::Warning) => Rung::Warning,
            Some(RungName::Observed) => Rung::Observed,
            Some(RungName::Witness) => Rung::Witness,
            Some(RungName::Confirmed) => Rung::Confirmed,
            None if self.warnings || !ids.is_empty() => Rung::Warning,
            None => Rung::Observed,
        }
    }

    fn write(
        &self,
        inputs: &[Input],
        shown: &[Finding],
        others: &[Finding],
        compared: Option<(usize, usize)>,
    ) -> Result<()> {
        if self.gen_suppressions {
            let lines = generated_suppressions(shown, others);
            return predict::write(&lines, self.output.as_deref());
        }
        if let Some(path) = &self.html {
            page::write(path, inputs, shown)?;
        }
        if self.html.is_some() && self.format.is_none() && self.output.is_none() {
            return Ok(());
        }
        let figures = Figures {
            reports: inputs
                .iter()
                .map(|input| input.path.display().to_string())
                .collect(),
            known: compared.map(|(known, _)| known),
            gone: compared.map(|(_, gone)| gone),
        };
        let report = self
            .format
            .unwrap_or_default()
            .report(shown, figures, &self.look.look());
        predict::write(&report, self.output.as_deref())
    }

    /// Says how many findings there are, and which are not shown.
    fn tell(&self, shown: &[Finding], hidden: usize, compared: Option<(usize, usize)>) {
        let count = counted(shown.len() as u64, "finding");
        let mut parts = vec![match (shown.len(), compared) {
            (0, None) => styled(GOOD, "no findings"),
            (0, Some(_)) => styled(GOOD, "no new findings"),
            (1, Some(_)) => styled(BAD, "1 new finding"),
            (many, Some(_)) => styled(BAD, format!("{many} new findings")),
            _ => styled(BAD, count),
        }];
        if let Some((known, gone)) = compared {
            parts.push(format!("{known} known"));
            parts.push(format!("{gone} gone"));
        }
        if hidden > 0 && self.rung.is_none() {
            let warnings = counted(hidden as u64, "warning");
            parts.push(format!("{warnings} not shown (--warnings shows them)"));
        }
        say(parts.join(", "));
    }
}

/// What goes with the findings, for programs.
#[derive(Serialize)]
struct Figures {
    reports: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gone: Option<usize>,
}

/// Whether an argument is the name of a finding: eight hexadecimal digits, and no file.
fn is_finding(wish: &OsString) -> bool {
    let is_name = |text: &str| text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    wish.to_str().is_some_and(is_name) && !Path::new(wish).exists()
}

/// Refuses a page that is not named like one: `--html 3` means recording 3.
fn check_page_name(path: &Path) -> Result<()> {
    let named = path.extension().and_then(|extension| extension.to_str());
    if named.is_some_and(|extension| ["html", "htm"].contains(&extension)) {
        return Ok(());
    }
    let shown = path.display();
    Err(
        Error::usage(format!("--html {shown}: a page's name ends in .html")).help(format!(
            "if a report is meant: deadheat report {shown} --html"
        )),
    )
}

fn told_inputs(inputs: &[Input]) -> String {
    let paths: Vec<String> = inputs
        .iter()
        .map(|input| input.path.display().to_string())
        .collect();
    paths.join(", ")
}
