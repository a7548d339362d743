//! Deadheat looks at itself: the tests of its own threads run under `cargo deadheat test`, and no method finds an error in what was
//! recorded.

mod support;

use std::path::Path;

use serde_json::Value;
use support::{Sandbox, forget_cargo, printed, succeed};

/// Packages, and what chooses the tests in which their threads work side by side.
const TESTS: [&[&str]; 1] = [&[
    "-p",
    "deadheat-predict",
    "-p",
    "deadheat-code",
    "--test",
    "workers",
]];

/// Threads that run free, and one at a time, which lets other orders of the same be looked at.
const WAYS: [&[&str]; 2] = [&[], &["--serial", "--seed", "1"]];

#[test]
fn its_own_threads_make_no_mistake() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let here = Sandbox::new();
    let store = here.path().join("store");
    for tests in TESTS {
        for way in WAYS {
            let mut cargo = here.deadheat(["cargo", "--quiet"]);
            forget_cargo(&mut cargo)
                .current_dir(&top)
                .env("DEADHEAT_STORE", &store)
                .env(
                    "CARGO_TARGET_DIR",
                    concat!(env!("CARGO_TARGET_TMPDIR"), "/itself"),
                );
            cargo.args(way).args(["test", "--locked"]).args(tests);
            succeed(&mut cargo);
        }
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
        2 * WAYS.len(),
        "a recording for each package and way"
    );
}
