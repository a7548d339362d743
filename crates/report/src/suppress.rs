//! Suppressions in ThreadSanitizer's syntax: one `kind:pattern` per line.
//!
//! A pattern matches anywhere in the name of a function, source file or module, or of the variable
//! that a race is on; `*` stands for anything, `^` and `$` for the beginning and end. `race_top`
//! looks at the innermost function only, `called_from_lib` at modules only. `thread`, `mutex` and
//! `signal` speak of things that Deadheat does not report; they are read and match nothing.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::finding::{Finding, Frame, Kind};

/// What the user does not want to see.
#[derive(Debug, Default)]
pub struct Suppressions {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    what: What,
    pattern: Pattern,
    text: String,
    used: AtomicBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Race,
    RaceTop,
    Deadlock,
    CalledFromLibrary,
    Nothing,
}

/// A line that is no suppression.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {problem}")]
pub struct SyntaxError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl Suppressions {
    /// Reads the text of a file, after what is there already.
    ///
    /// ```
    /// use deadheat_report::Suppressions;
    /// let mut list = Suppressions::default();
    /// list.read("# known\nrace:^stats_\ndeadlock:lib*.so\n")?;
    /// assert!(list.read("races:x").is_err());
    /// # Ok::<(), deadheat_report::SyntaxError>(())
    /// ```
    pub fn read(&mut self, text: &str) -> Result<(), SyntaxError> {
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |problem: String| SyntaxError {
                line: i + 1,
                problem,
            };
            let (kind, pattern) = line
                .split_once(':')
                .ok_or_else(|| wrong(format!("{line:?} is not of the form kind:pattern")))?;
            let what = match kind {
                "race" => What::Race,
                "race_top" => What::RaceTop,
                "deadlock" => What::Deadlock,
                "called_from_lib" => What::CalledFromLibrary,
                "thread" | "mutex" | "signal" => What::Nothing,
                _ => {
                    let kinds = "race, race_top, deadlock, called_from_lib, thread, mutex, signal";
                    return Err(wrong(format!("no kind {kind:?}; there are {kinds}")));
                }
            };
            self.entries.push(Entry {
                what,
                pattern: Pattern::new(pattern.trim()),
                text: line.to_owned(),
                used: AtomicBool::new(false),
            });
        }
        Ok(())
    }

    /// Whether a finding is not to be shown.
    pub fn match_finding(&self, finding: &Finding) -> bool {
        let entry = self.entries.iter().find(|entry| entry.matches(finding));
        if let Some(entry) = entry {
            entry.used.store(true, Ordering::Relaxed);
        }
        entry.is_some()
    }

    /// The lines that matched nothing.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        let unused = self
            .entries
            .iter()
            .filter(|entry| !entry.used.load(Ordering::Relaxed) && entry.what != What::Nothing);
        unused.map(|entry| &*entry.text)
    }
}

impl Entry {
    fn matches(&self, finding: &Finding) -> bool {
        let mut stacks = finding.accesses.iter().map(|access| &access.stack);
        let named = |frame: &Frame| {
            let names = [&frame.function, &frame.file, &frame.module];
            names
                .into_iter()
                .flatten()
                .any(|name| self.pattern.matches(name))
        };
        match self.what {
            What::Nothing => false,
            What::Race => {
                let object = finding.object.as_ref();
                finding.kind == Kind::Race
                    && (stacks.any(|stack| stack.iter().any(named))
                        || object.is_some_and(|object| self.pattern.matches(&object.name)))
            }
            What::RaceTop => {
                finding.kind == Kind::Race && stacks.any(|stack| stack.first().is_some_and(named))
            }
            What::Deadlock => {
                let locks = finding
                    .accesses
                    .iter()
                    .filter_map(|access| access.waits_for.as_ref());
                let mut names = locks.map(|lock| &lock.name);
                finding.kind == Kind::Deadlock
                    && (stacks.any(|stack| stack.iter().any(named))
                        || names.any(|name| self.pattern.matches(name)))
            }
            What::CalledFromLibrary => stacks.any(|stack| {
                let mut modules = stack.iter().filter_map(|frame| frame.module.as_deref());
                modules.any(|module| self.pattern.matches(module))
            }),
        }
    }
}

/// Pieces of text that follow each other with anything between them.
#[derive(Debug)]
struct Pattern {
    pieces: Vec<String>,
    at_start: bool,
    at_end: bool,
}

impl Pattern {
    fn new(text: &str) -> Self {
        let (text, at_start) = match text.strip_prefix('^') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let (text, at_end) = match text.strip_suffix('$') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        Pattern {
            pieces: text.split('*').map(str::to_owned).collect(),
            at_start,
            at_end,
        }
    }

    fn matches(&self, text: &str) -> bool {
        let (last, front) = match self.pieces.split_last() {
            Some(parts) => parts,
            None => return true,
        };
        let mut rest = text;
        for (i, piece) in front.iter().enumerate() {
            let found = match i == 0 && self.at_start {
                true => rest.starts_with(&**piece).then_some(0),
                false => rest.find(&**piece),
            };
            match found {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        match (self.at_start && front.is_empty(), self.at_end) {
            (true, true) => rest == last,
            (true, false) => rest.starts_with(&**last),
            (false, true) => rest.ends_with(&**last),
            (false, false) => rest.contains(&**last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every way to lay the pattern over the text.
    fn by_trying(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|skip| by_trying(rest, &text[skip..])),
            Some((char, rest)) => text.first() == Some(char) && by_trying(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn patterns_are_globs(pattern in "[ab*]{0,6}", start: bool, end: bool, text in "[ab]{0,8}") {
            let written = format!(
                "{}{pattern}{}",
                if start { "^" } else { "" },
                if end { "$" } else { "" }
            );
            let mut whole: Vec<char> = pattern.chars().collect();
            if !start {
                whole.insert(0, '*');
            }
            if !end {
                whole.push('*');
            }
            let expected = by_trying(&whole, &text.chars().collect::<Vec<_>>());
            prop_assert_eq!(Pattern::new(&written).matches(&text), expected, "{}", written);
        }
    }
}
