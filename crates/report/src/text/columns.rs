//! How a finding comes about, in a few lines: a column for each thread, time goes downwards.

use std::fmt::Write;

use super::printable::{cut, filled, number, printable, width};
use super::{BOLD, DIM, Look};
use crate::finding::{Finding, Kind, Rung};
use crate::interleaving::{Does, Interleaving, Lane, Step};

/// Left of the columns.
const INDENT: &str = "    ";
/// Between two columns.
const GAP: usize = 2;
/// A column that is narrower than this tells nothing.
const NARROWEST: usize = 18;

/// The steps that matter, side by side, or below each other where there is no room.
pub fn columns(out: &mut String, finding: &Finding, way: &Interleaving, look: &Look) {
    let steps: Vec<&Step> = way.steps.iter().filter(|step| step.key).collect();
    let has_step = |lane: &&Lane| steps.iter().any(|step| step.thread == lane.number);
    let lanes: Vec<&Lane> = way.threads.iter().filter(has_step).collect();
    if steps.len() < 2 || lanes.is_empty() {
        return;
    }
    let in_one_file = steps
        .windows(2)
        .all(|two| two[0].place.file == two[1].place.file);
    let _ = writeln!(out, "  {BOLD}how it comes about:{BOLD:#}");
    let table = Table {
        heads: lanes
            .iter()
            .map(|lane| head(lane, finding, &steps))
            .collect(),
        rows: steps
            .iter()
            .map(|step| Row::of(step, &lanes, finding, in_one_file))
            .collect(),
        turn: ends(&steps, finding).map(|at| (at, turn(finding))),
    };
    match table.widths(look.width) {
        Some(widths) => table.side_by_side(out, &widths),
        None => table.one_below_the_other(out),
    }
}

/// Where those begin that are all next at once in the end.
fn ends(steps: &[&Step], finding: &Finding) -> Option<usize> {
    let ends = steps
        .iter()
        .rev()
        .take_while(|step| step.side.is_some())
        .count();
    let least = match finding.kind {
        Kind::Race => 2,
        Kind::Deadlock | Kind::Failure => 1,
    };
    let meets = finding.rung != Rung::Observed && finding.evidence.is_none();
    (ends >= least && meets).then(|| steps.len() - ends)
}

/// What is said before the sides.
fn turn(finding: &Finding) -> &'static str {
    match finding.kind {
        Kind::Race => "and now, in either order:",
        Kind::Deadlock => "and now nobody can go on:",
        Kind::Failure => "and then:",
    }
}

/// A thread's name, with the locks that it has held all along.
fn head(lane: &Lane, finding: &Finding, steps: &[&Step]) -> String {
    let own = finding
        .accesses
        .iter()
        .filter(|side| side.thread.number == lane.number);
    let needed: Vec<&str> = own
        .flat_map(|side| &side.locks)
        .map(|lock| &*lock.name)
        .collect();
    let is_taken = |name: &str| {
        steps.iter().any(|step| {
            step.thread == lane.number
                && step.does == Does::Take
                && step.on.as_deref() == Some(name)
        })
    };
    let holds = lane
        .holds
        .iter()
        .filter(|name| needed.contains(&&***name) && !is_taken(name));
    let holds: Vec<String> = holds.map(|name| printable(name)).collect();
    let name = printable(&lane.name);
    match holds.is_empty() {
        true => name,
        false => format!("{name} (has {})", holds.join(", ")),
    }
}

struct Table {
    heads: Vec<String>,
    rows: Vec<Row>,
    /// Before which row something is said, and what.
    turn: Option<(usize, &'static str)>,
}

struct Row {
    column: usize,
    told: String,
    at: String,
    is_side: bool,
}

impl Row {
    fn of(step: &Step, lanes: &[&Lane], finding: &Finding, in_one_file: bool) -> Self {
        let column = lanes.iter().position(|lane| lane.number == step.thread);
        let side = step.side.and_then(|side| finding.accesses.get(side));
        let waits_for = side.and_then(|side| side.waits_for.as_ref());
        let (op, on) = match waits_for {
            Some(lock) => ("wait for", Some(&lock.name)),
            None => (&*step.op, step.on.as_ref()),
        };
        let mut told = op.to_owned();
        if let Some(on) = on {
            let _ = write!(told, " {on}");
        }
        if let Some(value) = step.value {
            let _ = write!(told, " = {}", number(value));
        }
        let at = match (step.place.line, in_one_file) {
            (Some(line), true) => format!("line {line}"),
            _ => {
                let at = step.place.at();
                at.rsplit('/').next().unwrap_or(&at).to_owned()
            }
        };
        Row {
            column: column.unwrap_or(0),
            told: printable(&told),
            at: printable(&at),
            is_side: step.side.is_some(),
        }
    }
}

impl Table {
    /// How wide the columns are; `None` if they do not fit.
    fn widths(&self, available: usize) -> Option<Vec<usize>> {
        let mut widths: Vec<usize> = self.heads.iter().map(|head| width(head)).collect();
        for row in &self.rows {
            widths[row.column] = widths[row.column].max(width(&row.told));
        }
        let places = self
            .rows
            .iter()
            .map(|row| width(&row.at))
            .max()
            .unwrap_or(0);
        let room = available.checked_sub(INDENT.len() + places + GAP * widths.len())?;
        while widths.iter().sum::<usize>() > room {
            let widest = widths.iter_mut().max()?;
            if *widest <= NARROWEST {
                return None;
            }
            *widest -= 1;
        }
        Some(widths)
    }

    fn side_by_side(&self, out: &mut String, widths: &[usize]) {
        let cell =
            |text: &str, column: usize| filled(&cut(text, widths[column]), widths[column] + GAP);
        let heads = self.heads.iter().enumerate();
        let heads: String = heads.map(|(column, head)| cell(head, column)).collect();
        let _ = writeln!(out, "{INDENT}{BOLD}{}{BOLD:#}", heads.trim_end());
        for (number, row) in self.rows.iter().enumerate() {
            self.tell_turn(out, number);
            let before: usize = widths[..row.column].iter().map(|width| width + GAP).sum();
            let behind: usize = widths[row.column + 1..]
                .iter()
                .map(|width| width + GAP)
                .sum();
            let told = cell(&row.told, row.column);
            let style = row.style();
            let at = &row.at;
            let _ = writeln!(
                out,
                "{INDENT}{:before$}{style}{told}{style:#}{:behind$}{DIM}{at}{DIM:#}",
                "", ""
            );
        }
    }

    fn one_below_the_other(&self, out: &mut String) {
        for (number, row) in self.rows.iter().enumerate() {
            self.tell_turn(out, number);
            let style = row.style();
            let _ = writeln!(
                out,
                "{INDENT}{BOLD}{}{BOLD:#}: {style}{}{style:#} {DIM}{}{DIM:#}",
                self.heads[row.column], row.told, row.at
            );
        }
    }

    fn tell_turn(&self, out: &mut String, number: usize) {
        if let Some((at, told)) = self.turn
            && at == number
        {
            let _ = writeln!(out, "{INDENT}{DIM}{told}{DIM:#}");
        }
    }
}

impl Row {
    fn style(&self) -> anstyle::Style {
        match self.is_side {
            true => BOLD,
            false => anstyle::Style::new(),
        }
    }
}
