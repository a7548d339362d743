//! Lines of source files, as they are now: a file may be another than the one that the program was built from.

use std::fs::File;
use std::io::Read;
use std::ops::Range;

use super::printable::printable;

/// Larger files are not read.
const MOST_BYTES: u64 = 8 << 20;
/// So much of a line is shown, and so much of it before what is marked.
const MOST_COLUMNS: usize = 240;
const BEFORE: usize = 80;
/// So much of it is marked at most.
const MOST_MARKED: usize = 60;
/// What a tab becomes.
const TAB: &str = "    ";

/// A source file's lines.
pub struct Source {
    bytes: Vec<u8>,
    /// Where each line begins.
    starts: Vec<usize>,
}

/// A line that can be shown.
pub struct Line {
    /// Its text, harmless and not too long.
    pub text: String,
    /// What is to be marked in it.
    pub mark: Range<usize>,
}

impl Source {
    /// Reads a file; `None` if it cannot be read, or is too large to be source.
    pub fn read(path: &str) -> Option<Self> {
        // A pipe of that name would have to be waited for.
        let data = std::fs::metadata(path).ok()?;
        if !data.is_file() || data.len() > MOST_BYTES {
            return None;
        }
        let file = File::open(path).ok()?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts = [0].into_iter().chain(ends.map(|(at, _)| at + 1)).collect();
        Some(Source { bytes, starts })
    }

    /// A line, from 1, with what is at this column, from 1, marked: the word or the operator there, or the whole line. `None` if there is no such line,
    /// or nothing in it.
    pub fn line(&self, number: u32, column: Option<u32>) -> Option<Line> {
        let bytes = self.bytes_of(number)?;
        let column = column
            .and_then(|column| column.checked_sub(1))
            .map(|at| at as usize);
        let column = column.filter(|at| *at < bytes.len());
        let from = match column {
            Some(at) if at > MOST_COLUMNS => at - BEFORE,
            _ => 0,
        };
        let bytes = &bytes[from..bytes.len().min(from + MOST_COLUMNS)];
        let column = column.map_or(0, |at| at - from);
        let before = harmless(&bytes[..column]);
        let behind = harmless(&bytes[column..]);
        let length = token(&behind);
        let text = format!("{before}{behind}");
        let text = text.trim_end().to_owned();
        let mark = match column > 0 && length > 0 {
            true => before.len()..before.len() + length,
            false => {
                let start = text.len() - text.trim_start().len();
                let mut chars = text[start..].char_indices();
                start
                    ..chars
                        .nth(MOST_MARKED)
                        .map_or(text.len(), |(at, _)| start + at)
            }
        };
        (!mark.is_empty()).then_some(Line { text, mark })
    }

    /// A line as it is shown between others.
    pub fn plain(&self, number: u32) -> String {
        let bytes = self.bytes_of(number).unwrap_or_default();
        let text = harmless(&bytes[..bytes.len().min(MOST_COLUMNS)]);
        text.trim_end().to_owned()
    }

    fn bytes_of(&self, number: u32) -> Option<&[u8]> {
        let number = (number as usize).checked_sub(1)?;
        let start = *self.starts.get(number)?;
        let end = self
            .starts
            .get(number + 1)
            .map_or(self.bytes.len(), |next| next - 1);
        Some(&self.bytes[start..end])
    }
}

fn harmless(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    printable(&text.trim_end_matches('\r').replace('\t', TAB))
}

/// How long the word, the operator, or the word with an operator before it is that a text begins with.
fn token(text: &str) -> usize {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let is_sign = |char: char| "+-*/%&|^<>=!".contains(char);
    let signs = text.find(|char| !is_sign(char)).unwrap_or(text.len());
    let behind = &text[signs..];
    let word = behind.find(|char| !is_word(char));
    signs + word.unwrap_or(behind.len())
}
