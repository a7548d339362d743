//! How long it takes to find what a program's machine code tells, and to load it again.

use std::path::Path;
use std::process::Command;

use deadheat_code::{Binary, Facts};

use crate::kernel::Place;
use crate::measure::own;

/// What was measured of one program.
pub struct Row {
    /// The program.
    pub program: &'static str,
    /// Its size on disk.
    pub bytes: u64,
    /// Places of events in it.
    pub sites: usize,
    /// CPU seconds and seconds to find its facts, the best of several.
    pub found: [f64; 2],
    /// Seconds to load them from the cache.
    pub loaded: f64,
}

/// Measures a program with many crates in it, all instrumented.
pub fn measure(place: &Place, runs: usize) -> Result<Row, String> {
    let programs = place.kernels.join("../../programs/rust/Cargo.toml");
    let target = place.work.join("rust");
    let mut build = Command::new(&place.deadheat);
    build
        .args(["cargo", "build", "--quiet", "--release", "--locked"])
        .args(["--bin", "tokio_tasks", "--manifest-path"])
        .arg(programs)
        .env("CARGO_TARGET_DIR", &target);
    let status = build
        .status()
        .map_err(|error| format!("{build:?}: {error}"))?;
    if !status.success() {
        return Err(format!("{build:?}: {status}"));
    }
    let built = "deadheat/x86_64-unknown-linux-gnu/release/tokio_tasks";
    of(&target.join(built), &place.work.join("facts"), runs)
}

fn of(program: &Path, cache: &Path, runs: usize) -> Result<Row, String> {
    let binary = Binary::open(program).map_err(|error| error.to_string())?;
    let bytes = program.metadata().map_err(|error| error.to_string())?.len();
    let mut row = Row {
        program: "tokio_tasks",
        bytes,
        sites: 0,
        found: [f64::MAX; 2],
        loaded: f64::MAX,
    };
    for _ in 0..runs {
        let (clock, start) = (std::time::Instant::now(), own());
        let facts = Facts::of(&binary);
        row.found = [
            row.found[0].min(own() - start),
            row.found[1].min(clock.elapsed().as_secs_f64()),
        ];
        row.sites = facts.sites().count();
        Facts::load_or_make(&binary, cache);
        let clock = std::time::Instant::now();
        Facts::load_or_make(&binary, cache);
        row.loaded = row.loaded.min(clock.elapsed().as_secs_f64());
    }
    Ok(row)
}
