//! The oracle: reads the expected verdicts that stand in the text of a program under test.
//!
//! Every program in `programs/` says on its own lines what must be found in it, and in its header
//! how to build and run it. `programs/README.md` describes the notation. Reading a file also checks
//! it: each mark that names a partner line must be mirrored there, so a shifted line number is an
//! error and not a wrong expectation.
//!
//! ```
//! use deadheat_oracle::Oracle;
//!
//! let text = "\
//! // Two threads, one counter, no lock.
//! //
//! // RUN: 2
//! int total;
//! void first(void) { total++; } // RACE: total with line 6
//! void second(void) { total++; } // RACE: total with line 5
//! ";
//! let oracle = Oracle::parse("counter.c", text)?;
//! assert_eq!(oracle.directives.run, ["2"]);
//! assert_eq!(oracle.races.len(), 1);
//! assert_eq!(oracle.race(6, 5).unwrap().object, "total");
//! # Ok::<(), deadheat_oracle::Error>(())
//! ```

mod across;
mod cargo;
mod error;
mod folder;
mod header;
mod mark;
mod pairing;

pub use across::RaceAcross;
pub use cargo::{CargoTarget, TargetKind};
pub use error::{Error, Problem};
pub use folder::read_folder;
pub use header::{Directives, Extra};

use std::path::{Path, PathBuf};

/// What a program's text says must, and must not, be found in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oracle {
    /// The file that was read.
    pub path: PathBuf,
    /// The header says `NORACE`: the program has no race at all.
    pub no_race: bool,
    /// The header says `NODEADLOCK`: the program shows a cycle that cannot close.
    pub no_deadlock: bool,
    /// The races, each pair once, ordered by lines.
    pub races: Vec<Race>,
    /// The races with accesses in other files of the same program, ordered by line.
    pub races_across: Vec<RaceAcross>,
    /// Accesses that look racy and must never be reported, ordered by line.
    pub near_misses: Vec<NearMiss>,
    /// The deadlocks, each once, ordered by the line of their first request.
    pub deadlocks: Vec<Deadlock>,
    /// Lines at which the program can fail: crash, abort, panic.
    pub failures: Vec<u32>,
    /// How to build and run the program.
    pub directives: Directives,
}

/// Two accesses to one object that can race.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Race {
    /// The lines of the two accesses, the smaller one first; equal when a line races with itself.
    pub lines: (u32, u32),
    /// The object, as the marks call it.
    pub object: String,
    /// The race exists only in the language's memory model: the accesses are unordered by its
    /// happens-before relation, but no interleaving brings them next to each other.
    pub weak: bool,
}

/// An access that must never be part of a reported race.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NearMiss {
    /// The line of the access.
    pub line: u32,
    /// The object, as the mark calls it.
    pub object: String,
}

/// Threads that can wait for each other for ever.
///
/// One entry per waiting thread, ordered by line. Two threads that wait on the same line give two
/// equal entries; a single entry is a thread that waits for itself or for a signal that was lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deadlock {
    /// Who waits where, for what, holding what.
    pub requests: Vec<Request>,
}

/// One thread's part in a deadlock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    /// The line of the call that never returns.
    pub line: u32,
    /// The lock or condition that it waits for.
    pub waits_for: String,
    /// The locks it holds that others wait for.
    pub holds: Vec<String>,
}

impl Oracle {
    /// Reads and checks the marks of a program.
    ///
    /// ```no_run
    /// let oracle = deadheat_oracle::Oracle::read("programs/zoo/c/mutex_race.c")?;
    /// assert!(!oracle.no_race && oracle.races.len() == 1);
    /// # Ok::<(), deadheat_oracle::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the file cannot be read, a mark or directive is malformed, a partner line does not
    /// carry the mirrored mark, or two marks contradict each other. The error names file and line.
    pub fn read(path: impl AsRef<Path>) -> Result<Oracle, Error> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|cause| Error::new(path, None, Problem::Unreadable(cause)))?;
        let oracle = Oracle::parse(path, &text)?;
        across::check_mirrors(path, &oracle.races_across)
            .map_err(|(line, problem)| Error::new(path, Some(line), problem))?;
        Ok(oracle)
    }

    /// Does what [`Oracle::read`] does, for text that is already in memory. Partners in other
    /// files are not looked at.
    ///
    /// ```
    /// let error = deadheat_oracle::Oracle::parse("a.c", "x++; // RACE: x with line 9").unwrap_err();
    /// assert_eq!(error.to_string(), "a.c:1: there is no line 9");
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Oracle::read`], except that nothing is read.
    pub fn parse(path: impl AsRef<Path>, text: &str) -> Result<Oracle, Error> {
        let path = path.as_ref();
        read_text(path, text).map_err(|(line, problem)| Error::new(path, Some(line), problem))
    }

    /// The expected race between two lines, in either order, if there is one.
    ///
    /// ```
    /// # let text = "a++; // RACE: a with line 2\na++; // RACE: a with line 1\n";
    /// # let oracle = deadheat_oracle::Oracle::parse("a.c", text)?;
    /// assert!(oracle.race(2, 1).is_some());
    /// assert!(oracle.race(1, 1).is_none());
    /// # Ok::<(), deadheat_oracle::Error>(())
    /// ```
    pub fn race(&self, one: u32, other: u32) -> Option<&Race> {
        let lines = (one.min(other), one.max(other));
        self.races.iter().find(|race| race.lines == lines)
    }

    /// The expected deadlock whose threads wait on exactly these lines, in any order.
    ///
    /// ```
    /// # let text = "lock(m); // DEADLOCK: waits for m holding m\n";
    /// # let oracle = deadheat_oracle::Oracle::parse("a.c", text)?;
    /// assert!(oracle.deadlock(&[1]).is_some());
    /// # Ok::<(), deadheat_oracle::Error>(())
    /// ```
    pub fn deadlock(&self, lines: &[u32]) -> Option<&Deadlock> {
        let mut wanted = lines.to_vec();
        wanted.sort_unstable();
        self.deadlocks.iter().find(|deadlock| {
            deadlock
                .requests
                .iter()
                .map(|request| request.line)
                .eq(wanted.iter().copied())
        })
    }

    /// Whether the text says anything about races: that there is none, or which there are.
    ///
    /// ```
    /// let oracle = deadheat_oracle::Oracle::parse("a.c", "// NORACE\nint x;\n")?;
    /// assert!(oracle.decides_races());
    /// # Ok::<(), deadheat_oracle::Error>(())
    /// ```
    pub fn decides_races(&self) -> bool {
        self.no_race || self.has_race()
    }

    /// Whether the text marks a race, within the file or with another one.
    ///
    /// ```
    /// let oracle = deadheat_oracle::Oracle::parse("a.c", "x++; // RACE: x with line 1\n")?;
    /// assert!(oracle.has_race());
    /// # Ok::<(), deadheat_oracle::Error>(())
    /// ```
    pub fn has_race(&self) -> bool {
        !self.races.is_empty() || !self.races_across.is_empty()
    }
}

/// Where in the text, counted from one, something is wrong.
type Located<T> = Result<T, (u32, Problem)>;

fn read_text(path: &Path, text: &str) -> Located<Oracle> {
    let header = header::read(text)?;
    let marks = mark::read(text, header.lines)?;
    let line_count = text.lines().count() as u32;

    if let (true, Some(claim)) = (header.no_race, marks.races.first()) {
        return Err((claim.line, Problem::Contradiction("NORACE", "RACE")));
    }
    if let (true, Some(claim)) = (header.no_deadlock, marks.deadlocks.first()) {
        return Err((
            claim.request.line,
            Problem::Contradiction("NODEADLOCK", "DEADLOCK"),
        ));
    }
    for miss in &marks.near_misses {
        let same_access =
            |claim: &mark::RaceClaim| claim.line == miss.line && claim.object == miss.object;
        if marks.races.iter().any(same_access) {
            return Err((miss.line, Problem::Contradiction("NORACE", "RACE")));
        }
    }

    Ok(Oracle {
        path: path.to_path_buf(),
        no_race: header.no_race,
        no_deadlock: header.no_deadlock,
        races: pairing::races(&marks.races, line_count)?,
        races_across: across::races(&marks.races),
        near_misses: marks.near_misses,
        deadlocks: pairing::deadlocks(&marks.deadlocks, line_count)?,
        failures: marks.failures,
        directives: header.directives,
    })
}
