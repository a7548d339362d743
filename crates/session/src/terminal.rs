//! What people read: lines on standard error, tables, numbers.

use std::time::Duration;

use anstyle::{AnsiColor, Style};

use crate::here::seen;

/// A line on standard error, marked as ours: the program's own output stands around it.
pub fn say(line: impl std::fmt::Display) {
    anstream::eprintln!("deadheat: {}", seen(&line.to_string()));
}

/// How what matters is marked in a line.
pub const BOLD: Style = Style::new().bold();
/// How what is good is marked.
pub const GOOD: Style = colored(AnsiColor::Green);
/// How what needs attention is marked.
pub const BAD: Style = colored(AnsiColor::Red);

const fn colored(color: AnsiColor) -> Style {
    Style::new()
        .bold()
        .fg_color(Some(anstyle::Color::Ansi(color)))
}

/// Text in a style.
pub fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 event`, `2,345 events`.
pub fn counted(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{} {thing}s", count(number)),
    }
}

/// `512 B`, `1.5 kB`, `20 MB`.
pub fn size(bytes: u64) -> String {
    let mut amount = bytes as f64;
    let mut unit = "B";
    for larger in ["kB", "MB", "GB", "TB"] {
        if amount < 1000.0 {
            break;
        }
        amount /= 1000.0;
        unit = larger;
    }
    match unit {
        "B" => format!("{bytes} B"),
        _ if amount < 10.0 => format!("{amount:.1} {unit}"),
        _ => format!("{amount:.0} {unit}"),
    }
}

/// `12 ms`, `3.4 s`, `5 min`.
pub fn duration(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 1.0 => format!("{} ms", time.as_millis()),
        seconds if seconds < 100.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.0} min", seconds / 60.0),
    }
}

/// Words in lines of at most so many letters, each begun by so many spaces.
pub fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut out = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > width {
            out += &format!("{:indent$}{line}\n", "");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    if !line.is_empty() {
        out += &format!("{:indent$}{line}\n", "");
    }
    out
}

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Names.
    Left,
    /// Numbers.
    Right,
}

/// Rows under a heading, in columns as wide as they need to be.
pub fn table(columns: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([columns[column].0.chars().count()]).max()
    };
    let widths: Vec<usize> = (0..columns.len()).filter_map(width).collect();
    let heading = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut out = String::new();
    for row in std::iter::once(&heading).chain(rows) {
        let mut line = String::new();
        for ((cell, (_, align)), width) in row.iter().zip(columns).zip(&widths) {
            let cell = match align {
                Align::Left => format!("{cell:<width$}  "),
                Align::Right => format!("{cell:>width$}  "),
            };
            line.push_str(&cell);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1234), "1,234");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "event"), "1 event");
        assert_eq!(counted(2, "thread"), "2 threads");
        assert_eq!((size(999), size(1500)), ("999 B".into(), "1.5 kB".into()));
        assert_eq!(
            (size(20_000_000), size(u64::MAX)),
            ("20 MB".into(), "18446744 TB".into())
        );
    }

    #[test]
    fn times_are_readable() {
        assert_eq!(duration(Duration::from_micros(900)), "0 ms");
        assert_eq!(duration(Duration::from_millis(1234)), "1.2 s");
        assert_eq!(duration(Duration::from_secs(600)), "10 min");
    }

    #[test]
    fn lines_are_not_too_long() {
        assert_eq!(wrapped("a bc def", 2, 6), "  a bc\n  def\n");
        assert_eq!(wrapped("toolongaword b", 0, 4), "toolongaword\nb\n");
        assert_eq!(wrapped("", 2, 6), "");
    }

    #[test]
    fn columns_line_up() {
        let rows = vec![
            vec!["1".into(), "prog".into()],
            vec!["10".into(), "x".into()],
        ];
        let text = table(&[("no", Align::Right), ("program", Align::Left)], &rows);
        assert_eq!(text, "no  program\n 1  prog\n10  x\n");
    }
}
