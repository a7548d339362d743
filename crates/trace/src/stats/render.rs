//! The figures as a table for the terminal.

use std::fmt;

use super::{Stats, ThreadStats};
use crate::Mode;
use crate::op_name::op_name;

pub(super) fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Serial => "serial",
        Mode::Parallel => "parallel",
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut head = |name: &str, text: String| writeln!(f, "{name:<10} {text}");
        head("mode", mode_word(self.mode).to_owned())?;
        head("steps", grouped(self.steps))?;
        head("threads", grouped(self.threads.len() as u64))?;
        let (locks, held) = (grouped(self.locks), grouped(self.max_locks_held));
        head("locks", format!("{locks} (at most {held} held at once)"))?;
        head("objects", grouped(self.objects))?;
        head("locations", grouped(self.locations))?;
        let (words, shared) = (grouped(self.words), grouped(self.shared_words));
        let written = grouped(self.shared_written_words);
        let memory =
            format!("{words} words, {shared} of several threads, {written} of those written");
        head("memory", memory)?;
        head(
            "values",
            format!("in {} accesses", grouped(self.with_values)),
        )?;
        if self.lost > 0 {
            head("lost", format!("{} events", grouped(self.lost)))?;
        }
        let mut rows = vec![vec!["operation".to_owned(), "steps".to_owned()]];
        for (op, count) in &self.by_op {
            rows.push(vec![op_name(*op).to_owned(), grouped(*count)]);
        }
        table(f, &rows)?;
        let titles = [
            "thread",
            "steps",
            "reads",
            "writes",
            "atomics",
            "syncs",
            "locks held",
        ];
        let mut rows = vec![titles.map(str::to_owned).to_vec()];
        rows.extend(self.threads.iter().map(row));
        table(f, &rows)
    }
}

fn row(thread: &ThreadStats) -> Vec<String> {
    let figures = [
        thread.steps,
        thread.reads,
        thread.writes,
        thread.atomics,
        thread.syncs,
        thread.max_locks_held,
    ];
    let name = std::iter::once(thread.name.escape_debug().to_string());
    name.chain(figures.map(grouped)).collect()
}

/// A blank line and the rows: the first column to the left, figures to the right.
fn table(f: &mut fmt::Formatter<'_>, rows: &[Vec<String>]) -> fmt::Result {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    writeln!(f)?;
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            match column {
                0 => write!(f, "{cell:<width$}")?,
                _ => write!(f, "  {cell:>width$}")?,
            }
        }
        writeln!(f)?;
    }
    Ok(())
}

/// With a space between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}
