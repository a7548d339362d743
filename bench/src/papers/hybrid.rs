//! Tables 2 and 3 of *hybrid*: what its modes and rules cost on a program that runs, and which variables they report.
//!
//! The ablation (`crate::ablation`) has the same columns for the kernels; here stand programs of the paper's kinds, beside its figures.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use deadheat_bench::setting::Setting;
use deadheat_oracle::Oracle;

use super::compared::{Compared, write_compared};
use super::paper::{HYBRID, Watched};
use super::program_at;
use crate::ablation::live::{self, Live, Program};
use crate::ablation::{LIMIT, Offline, Verdict, offline};
use crate::kernel::Place;
use crate::scenarios::{build, with_ours};

/// Runs of which the shortest counts.
const TIMED_RUNS: usize = 3;

/// The columns of table 3, after that of the simple mode.
const JUDGED: [Setting; 3] = [Setting::Detailed, Setting::Flagged, Setting::NoHb];

struct Row {
    paper: &'static Watched,
    live: Option<Live>,
    offline: Offline,
}

/// Measures all programs.
pub fn measure(place: &Place, runs: usize) -> Result<String, String> {
    let (mut rows, mut checked) = (Vec::new(), Vec::new());
    for paper in &HYBRID {
        eprintln!("bench: {} watched", paper.source);
        let oracle = program_at(place, paper.source)?;
        rows.push(row(place, paper, &oracle)?);
        if let Some(smallest) = paper.smallest {
            let row = Compared::measure(place, &oracle, smallest, runs)?;
            checked.push((row, paper.name));
        }
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_times(&mut text, &rows);
    let _ = write_variables(&mut text, &rows);
    text.push_str(
        "\nThe paper compares with no other tool. The same programs, those that are small, beside ThreadSanitizer; here a pair of lines is one race. ",
    );
    let checked = checked.iter().map(|(row, name)| (row, (*name).to_owned()));
    let _ = write_compared(&mut text, "paper's", checked, runs);
    text.push_str(FAIR);
    Ok(text)
}

const FAIR: &str = "\nFair: the order of the columns. Detailed mode on flagged variables costs less than on all and misses some: the simple mode does not count what a variable's first thread does before a second one comes, and so flags nothing that is written once and looked at once. Without happens-before there are more false ones. \
    Channels that recycle objects, which most of the paper's false reports in tomcat and resin are about and which it leaves to annotations, are found here without any. Not fair: fields \
    side by side, since the programs are not the paper's and a hundred times as short (resin and tomcat have nine thousand fields, and one small program stands for both here); \
    ratios side by side, of a Java machine of 2003 and of compiled code in which every access calls a hook. Where ours are largest (`sor`, `server`) the time goes into comparing each access with what is remembered of its location, on one processor as on two. What is a bug and what is benign is our judgement of our programs. \
    The paper's mtrt, a ray tracer as well, has no program of its own here.\n";

fn row(place: &Place, paper: &'static Watched, oracle: &Oracle) -> Result<Row, String> {
    let [plain, fast, exact] =
        ["plain", "fast", "exact"].map(|kind| place.work.join(format!("watched-{kind}")));
    let live = match paper.timed {
        None => None,
        Some(argument) => {
            compile(Command::new("gcc"), "-O2", oracle, &plain)?;
            compile(with_ours(place, "gcc")?, "-O2", oracle, &fast)?;
            let program = Program {
                plain: &plain,
                ours: &fast,
                argument,
            };
            Some(live::measure(&place.work, program, TIMED_RUNS)?)
        }
    };
    build(with_ours(place, "gcc")?, oracle, &exact)?;
    Ok(Row {
        paper,
        live,
        offline: offline(&place.work, &oracle.path, &exact, paper.recorded, 1)?,
    })
}

/// Builds a program that is timed.
fn compile(
    mut command: Command,
    level: &str,
    oracle: &Oracle,
    program: &Path,
) -> Result<(), String> {
    command
        .args([level, "-g", "-pthread"])
        .arg(&oracle.path)
        .arg("-o")
        .arg(program);
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

fn write_times(out: &mut String, rows: &[Row]) -> std::fmt::Result {
    writeln!(
        out,
        "### Modes and rules of the hybrid detector\n\n\
         After tables 2 and 3 of \"Hybrid Dynamic Data Race Detection\" (2003). First what live detection costs: CPU time of whole processes, the best of {TIMED_RUNS} runs at `-O2`, as a ratio to the program \
         without instrumentation; in brackets the paper's, which are wall-clock times. A dash: over {LIMIT} s of ours, over 1800 s of the paper's. A star: the memory for histories was used up, \
         and from then on accesses were compared but not remembered. What the columns mean says the section about the ablation, which has all of this for other programs.\n"
    )?;
    let settings = Setting::ALL.map(Setting::name).join(" | ");
    writeln!(
        out,
        "| program | paper's | unmodified | {settings} |\n|---|---|---|{}",
        "---|".repeat(Setting::ALL.len())
    )?;
    for row in rows {
        let Some(live) = &row.live else {
            continue;
        };
        let cells = live.cells.iter().zip(row.paper.ratios);
        let cells = cells.map(|(cell, theirs)| match cell {
            Some(cell) => {
                let star = if cell.full { "*" } else { "" };
                format!("{:.1}{star} ({theirs})", cell.seconds / live.plain)
            }
            None => format!("- ({theirs})"),
        });
        writeln!(
            out,
            "| {} | {} | {:.2} s ({}) | {} |",
            row.paper.stem(),
            row.paper.name,
            live.plain,
            row.paper.unmodified,
            cells.collect::<Vec<_>>().join(" | ")
        )?;
    }
    Ok(())
}

fn write_variables(out: &mut String, rows: &[Row]) -> std::fmt::Result {
    writeln!(
        out,
        "\nThen which variables are reported, in one serial recording of each program at `-O0`: *bugs - benign - false*, by the marks in the programs' texts and, for what is benign, our \
         judgement; in brackets the paper's fields. Of the simple mode the number of variables.\n"
    )?;
    let judged = JUDGED.map(Setting::name).join(" | ");
    writeln!(
        out,
        "| program | paper's | events | can race | {} | {judged} |\n|---|---|---|---|---|{}",
        Setting::Simple.name(),
        "---|".repeat(JUDGED.len())
    )?;
    for row in rows {
        let (paper, offline) = (row.paper, &row.offline);
        let simple = verdict(offline, Setting::Simple).map_or("-".to_owned(), |verdict| {
            (verdict.real.len() + verdict.false_ones.len()).to_string()
        });
        let judged = JUDGED.map(|setting| {
            verdict(offline, setting).map_or("-".to_owned(), |verdict| split(verdict, paper.benign))
        });
        let [of_simple, of_judged @ ..] = paper.fields;
        let judged = judged.iter().zip(of_judged);
        let judged = judged.map(|(ours, theirs)| format!("**{ours}** ({theirs})"));
        writeln!(
            out,
            "| {} | {} | {} | {} | {simple} ({of_simple}) | {} |",
            paper.stem(),
            paper.name,
            offline.events,
            offline.racy,
            judged.collect::<Vec<_>>().join(" | ")
        )?;
    }
    Ok(())
}

fn verdict(offline: &Offline, setting: Setting) -> Option<&Verdict> {
    let at = Setting::ALL.iter().position(|other| *other == setting)?;
    offline.cells[at].as_ref().map(|cell| &cell.verdict)
}

/// Bugs, benign ones, false ones.
fn split(verdict: &Verdict, benign: &[&str]) -> String {
    let harmless: BTreeSet<&String> = verdict
        .real
        .iter()
        .filter(|name| benign.contains(&name.as_str()))
        .collect();
    format!(
        "{}-{}-{}",
        verdict.real.len() - harmless.len(),
        harmless.len(),
        verdict.false_ones.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_benign_is_marked_in_the_program() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for paper in &HYBRID {
            let oracle = Oracle::read(top.join(paper.source)).unwrap();
            for name in paper.benign {
                let mut marked = oracle.races.iter().map(|race| race.object.as_str());
                assert!(
                    marked.any(|object| object == *name),
                    "{}: {name}",
                    paper.source
                );
            }
        }
    }

    #[test]
    fn variables_are_bugs_unless_they_are_said_to_be_benign() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
        let verdict = Verdict {
            real: names(&["a", "b", "c"]),
            false_ones: names(&["d"]),
        };
        assert_eq!(split(&verdict, &["b", "other"]), "2-1-1");
    }
}
