//! Crates whose own tests are run.

/// Some tests of a crate.
pub struct Tests {
    /// The crate.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// What is given to `cargo test` to choose the program: `--lib`, `--test NAME`, features.
    pub target: &'static [&'static str],
    /// What is given to the program: which tests are run or skipped.
    pub arguments: &'static [&'static str],
}

/// All tests of a program, one after the other.
const ALL: &[&str] = &["--test-threads=1"];

const fn tests(
    name: &'static str,
    version: &'static str,
    target: &'static [&'static str],
    arguments: &'static [&'static str],
) -> Tests {
    Tests {
        name,
        version,
        target,
        arguments,
    }
}

/// The tests.
pub const TESTS: &[Tests] = &[
    tests(
        "parking_lot",
        "0.13.0",
        &["--lib"],
        &[
            "--test-threads=1",
            "condvar::tests",
            "once::tests",
            "mutex::tests",
            "rwlock::tests",
            "--skip",
            "lots_and_lots",
            "--skip",
            "frob",
            "--skip",
            "poison",
            "--skip",
            "unwind",
            "--skip",
            "downgrade",
            "--skip",
            "two_mutexes",
            "--skip",
            "wait_f",
        ],
    ),
    tests("crossbeam-queue", "0.3.14", &["--test", "array_queue"], ALL),
    tests("crossbeam-channel", "0.5.17", &["--test", "zero"], ALL),
    tests("crossbeam-deque", "0.8.8", &["--test", "steal"], ALL),
    tests("crossbeam-utils", "0.8.23", &["--test", "wait_group"], ALL),
    tests("rayon-core", "1.13.0", &["--lib"], ALL),
    tests(
        "tokio",
        "1.54.1",
        &["--features", "full", "--test", "sync_mpsc"],
        ALL,
    ),
    tests(
        "tokio",
        "1.54.1",
        &["--features", "full", "--test", "sync_oneshot"],
        ALL,
    ),
    tests(
        "tokio",
        "1.54.1",
        &["--features", "full", "--test", "rt_threaded"],
        ALL,
    ),
];

impl Tests {
    /// The name of the test program among the crate's.
    pub fn program(&self) -> String {
        match self.target.last() {
            Some(&"--lib") | None => self.name.replace('-', "_"),
            Some(test) => (*test).to_owned(),
        }
    }

    /// What is run, in a word: the crate and the test program.
    pub fn title(&self) -> String {
        match self.target.last() {
            Some(&"--lib") | None => format!("{}, unit tests", self.name),
            Some(test) => format!("{}, `{test}`", self.name),
        }
    }
}
