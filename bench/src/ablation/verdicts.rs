//! Which of the variables that a detector reports can race, by the marks in the program's text
//! (`programs/README.md`).
//!
//! A pair of lines with a `RACE` mark is real, and the mark names the variable. Any other pair is
//! false; its variable is what a `NORACE` mark on one of its lines names, or else that pair itself. A
//! variable with a real and a false report counts as real, as in the paper.

use std::collections::BTreeSet;
use std::path::Path;

use deadheat_detect::{Race, Races};
use deadheat_oracle::Oracle;
use deadheat_report::Binaries;
use deadheat_trace::{Pc, Tables};

/// The variables that were reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Those that can race.
    pub real: BTreeSet<String>,
    /// Those that cannot.
    pub false_ones: BTreeSet<String>,
}

/// A program's text and its lines.
pub struct Text {
    oracle: Oracle,
    binaries: Binaries,
}

impl Text {
    /// The text of a program that was recorded with these tables.
    pub fn read(source: &Path, tables: &Tables) -> Result<Self, String> {
        let oracle = Oracle::read(source).map_err(|error| error.to_string())?;
        if !oracle.decides_races() {
            return Err(format!("{}: no verdict on races", source.display()));
        }
        Ok(Text {
            oracle,
            binaries: Binaries::of(tables),
        })
    }

    /// How many variables can race.
    pub fn racy_variables(&self) -> usize {
        let names = self.oracle.races.iter().map(|race| &race.object);
        names.collect::<BTreeSet<_>>().len()
    }

    /// Judges what was found.
    pub fn judge(&self, races: &Races) -> Verdict {
        let (mut real, mut false_ones) = (BTreeSet::new(), BTreeSet::new());
        for found in races.found() {
            let lines = self.lines(&found.race);
            match self.oracle.race(lines[0], lines[1]) {
                Some(race) => real.insert(race.object.clone()),
                None => false_ones.insert(self.name(lines)),
            };
        }
        false_ones.retain(|name| !real.contains(name));
        Verdict { real, false_ones }
    }

    fn lines(&self, race: &Race) -> [u32; 2] {
        [race.first, race.second].map(|access| self.line(access.event.pc()))
    }

    /// The line of an access, 0 if it is not known.
    fn line(&self, pc: Pc) -> u32 {
        let frames = self.binaries.frames(pc);
        let innermost = frames.first().and_then(|frame| frame.line);
        innermost.unwrap_or(0)
    }

    fn name(&self, lines: [u32; 2]) -> String {
        let misses = self.oracle.near_misses.iter();
        let mut on_lines = misses.filter(|miss| lines.contains(&miss.line));
        let name = on_lines.next().map(|miss| miss.object.clone());
        name.unwrap_or_else(|| format!("lines {} and {}", lines[0], lines[1]))
    }
}
