//! The exit codes: part of the interface, the same for every command.
//!
//! A program's own exit code is reported in words and stored with its recording; it is never
//! handed on as Deadheat's, except where the user asks for it.

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All went well and nothing was found.
    Clean = 0,
    /// Wrong usage, or a trace that cannot be read.
    Usage = 2,
    /// The program could not be built, started or recorded.
    NotStarted = 3,
    /// A replay left its schedule.
    Diverged = 4,
    /// A budget ran out before the answer was known, or the program was ended while it waited.
    Inconclusive = 5,
    /// Something was found.
    Findings = 66,
    /// A bug in Deadheat: what a panic ends with.
    Bug = 101,
}

impl Exit {
    /// All codes with their meaning, in the order of their numbers.
    pub const TABLE: [(Exit, &str); 7] = [
        (Exit::Clean, "nothing found"),
        (Exit::Usage, "wrong usage, or a trace that cannot be read"),
        (
            Exit::NotStarted,
            "the program could not be built, started or recorded",
        ),
        (Exit::Diverged, "a replay diverged"),
        (
            Exit::Inconclusive,
            "inconclusive: a budget ran out, or the program did not end by itself",
        ),
        (
            Exit::Findings,
            "findings: races, deadlocks, or a trace that fails verification",
        ),
        (Exit::Bug, "a bug in Deadheat"),
    ];

    /// The table as help text.
    pub fn help() -> String {
        let mut text = String::from("Exit codes:\n");
        for (exit, meaning) in Self::TABLE {
            text.push_str(&format!("  {:>3}  {meaning}\n", exit as u8));
        }
        text.push_str("The program's own exit code is reported, never confused with these.");
        text
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        std::process::ExitCode::from(exit as u8)
    }
}
