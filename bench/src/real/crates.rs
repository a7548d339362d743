//! Crates whose own tests are run.

/// Some tests of a crate.
pub struct Tests {
    /// The crate.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// What is given to `cargo test` to choose the program: `--lib`, `--test NAME`, features.
    pub target: &'static [&'static str],
    /// What is given to the program besides `--test-threads=1`: which tests are run or skipped.
    pub arguments: &'static [&'static str],
}

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

/// The tests: of each program those that do not take millions of steps.
pub const TESTS: &[Tests] = &[
    tests(
        "parking_lot",
        "0.13.0",
        &["--lib"],
        &[
            "condvar::tests",
            "once::tests",
            "mutex::tests",
            "rwlock::tests",
            "--skip=lots_and_lots",
            "--skip=frob",
            "--skip=poison",
            "--skip=unwind",
            "--skip=downgrade",
            "--skip=two_mutexes",
            "--skip=wait_f",
        ],
    ),
    tests(
        "crossbeam-channel",
        "0.5.17",
        &["--test", "zero"],
        &[
            "disconnect",
            "len_empty_full",
            "recv_timeout",
            "send_timeout",
            "smoke",
            "stress_timeout",
            "try_recv",
            "try_send",
        ],
    ),
    tests("crossbeam-utils", "0.8.23", &["--test", "wait_group"], &[]),
    tests(
        "rayon-core",
        "1.13.0",
        &["--lib"],
        &[
            "join_context",
            "spawn_then_join",
            "update_tree",
            "mixed",
            "mutual_install",
            "in_place",
            "yield",
        ],
    ),
    tests(
        "tokio",
        "1.54.1",
        &["--features", "full,test-util", "--test", "sync_mpsc"],
        &[
            "async_send_recv",
            "blocking_recv",
            "blocking_send",
            "dropping_rx",
            "recv_timeout",
            "--skip=panic",
        ],
    ),
    tests(
        "tokio",
        "1.54.1",
        &["--features", "full,test-util", "--test", "sync_oneshot"],
        &["--skip=close_try_recv_poll"],
    ),
    tests(
        "tokio",
        "1.54.1",
        &["--features", "full,test-util", "--test", "rt_threaded"],
        &[
            "runtime_name",
            "single_thread",
            "spawn_",
            "start_stop",
            "multi_threadpool",
            "mutex_in_block",
            "max_blocking_threads",
            "--skip=set_to_zero",
        ],
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
