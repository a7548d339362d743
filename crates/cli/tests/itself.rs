//! Deadheat looks at itself: the tests of its own threads run under `cargo deadheat test`, and no method finds an error in what was
//! recorded.

mod support;

use std::path::Path;

use serde_json::Value;
use support::{Sandbox, forget_cargo, printed, succeed};

/// Everything that starts threads: where predictions are made, where a program's code is read, where the scanner calls compilers, and where the command
/// feeds and follows a program. (The runtime cannot be among them: it is what is linked in.) All in one call, so that what they have in common is built once.
const WORKERS: [&str; 9] = [
    "--locked",
    "-p",
    "deadheat-predict",
    "-p",
    "deadheat-code",
    "-p",
    "deadheat-scan",
    "--test",
    "workers",
];

/// The same in what feeds and follows a program: its unit tests, since what starts threads there is private.
const UNITS: [&str; 5] = ["--locked", "-p", "deadheat-run", "--lib", "side_by_side"];

/// The test programs that these are.
const PROGRAMS: usize = 4;

/// Threads that run free, and one at a time, which lets other orders of the same be looked at.
const WAYS: [&[&str]; 2] = [&[], &["--serial", "--seed", "1"]];

#[test]
fn its_own_threads_make_no_mistake() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let here = Sandbox::new();
    let store = here.path().join("store");
    let tests: [&[&str]; 2] = [&WORKERS, &UNITS];
    let all = WAYS.iter().flat_map(|way| tests.map(|tests| (way, tests)));
    for (way, tests) in all {
        let mut cargo = here.deadheat(["cargo", "--quiet"]);
        forget_cargo(&mut cargo)
            .current_dir(&top)
            .env("DEADHEAT_STORE", &store)
            .env(
                "CARGO_TARGET_DIR",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/itself"),
            );
        cargo.args(*way).arg("test").args(tests);
        succeed(&mut cargo);
    }
    let recordings = store.join("recordings").read_dir().unwrap();
    let mut looked_at = 0;
    for recording in recordings {
        let trace = recording.unwrap().path().join("trace.dht");
        let deadheat = |args: &[&str]| {
            let mut command = here.deadheat(args);
            command.env("DEADHEAT_STORE", &store).arg(&trace);
            command
        };
        let figures = printed(&mut deadheat(&["trace", "stats", "--json"]));
        let figures: Value = serde_json::from_str(&figures).unwrap();
        let threads = figures["threads"].as_array().map_or(0, Vec::len);
        assert!(threads >= 3, "{figures:#}");
        succeed(&mut deadheat(&["predict"]));
        looked_at += 1;
    }
    assert_eq!(
        looked_at,
        PROGRAMS * WAYS.len(),
        "a recording for each program and way"
    );
}
