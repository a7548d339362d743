//! Real programs: do they build, run as before, and is what is found in them real?
//!
//! Everything is fetched and built below the target folder when it is first needed, and kept there.

mod advisories;
mod build;
mod cost;
mod crates;
mod judged;
mod kernels;
mod programs;
mod row;
mod table;
mod web;
mod work;

use std::path::PathBuf;

use crate::kernel::Place;
use advisories::ADVISORIES;
use build::{Built, Failure};
use crates::TESTS;
use kernels::KERNELS;
use programs::{Job, Load, PROGRAMS};
use table::Outcome;

/// Where the tool is, and where everything is kept.
struct Bench {
    deadheat: PathBuf,
    cache: PathBuf,
}

/// Runs all programs, or those whose name has the word in `DEADHEAT_BENCH_ONLY`; the section of the results.
pub fn measure(place: &Place) -> Result<String, String> {
    let deadheat = std::path::absolute(&place.deadheat).map_err(|error| error.to_string())?;
    let target = deadheat.parent().ok_or("where is the target folder?")?;
    let is_debug = target.ends_with("debug");
    let cache = target.join("../bench-real");
    std::fs::create_dir_all(&cache).map_err(|error| error.to_string())?;
    let cache = cache.canonicalize().map_err(|error| error.to_string())?;
    let bench = Bench { deadheat, cache };
    let only = std::env::var("DEADHEAT_BENCH_ONLY").unwrap_or_default();
    let is_wanted = |name: &str| name.contains(&only);
    let mut rows = Vec::new();
    let sources = place.kernels.join("../real/kernels");
    for kernel in KERNELS.iter().filter(|one| is_wanted(&one.title())) {
        let built = build::kernel(&bench.cache, &bench.deadheat, &sources, kernel);
        let job = Job {
            load: &kernel.load,
            input: 0,
            runs: "1",
        };
        rows.push((kernel.title(), bench.through(&kernel.folder(), built, job)));
    }
    for program in PROGRAMS.iter().filter(|one| is_wanted(one.name())) {
        let built = build::program(&bench.cache, &bench.deadheat, program);
        let title = match program.note {
            "" => program.name().to_owned(),
            note => format!("{}, {note}", program.name()),
        };
        let job = Job {
            load: &program.load,
            input: program.input,
            runs: "1",
        };
        rows.push((title, bench.through(program.name(), built, job)));
    }
    for tests in TESTS.iter().filter(|one| is_wanted(one.name)) {
        let built = build::tests(&bench.cache, &bench.deadheat, tests);
        let name = format!("{}-{}", tests.name, tests.program());
        let job = Job {
            load: &Load::Tests(tests.arguments),
            input: 0,
            runs: "1",
        };
        rows.push((tests.title(), bench.through(&name, built, job)));
    }
    for advisory in ADVISORIES.iter().filter(|one| is_wanted(one.name)) {
        let built = build::advisory(&bench.cache, &bench.deadheat, advisory);
        let name = format!("{}, {}", advisory.name, advisory.number);
        let job = Job {
            load: &Load::Once(&[]),
            input: 0,
            runs: "5",
        };
        rows.push((name, bench.through(advisory.number, built, job)));
    }
    let found = rows.iter().filter_map(|(name, outcome)| {
        let (_, row) = outcome.as_ref().ok()?;
        Some((name.as_str(), row.findings.as_slice()))
    });
    let judged = judged::render(found);
    Ok(table::render(&rows, is_debug) + &judged)
}

impl Bench {
    /// A program through all stages. What a mirror does not have, or what cannot be built, is told in its row.
    fn through(&self, name: &str, built: Result<Built, Failure>, job: Job<'_>) -> Outcome {
        eprintln!("bench: {name}");
        let built = built.map_err(|failure| {
            let (said, reason) = match failure {
                Failure::Fetched(said) if said.contains("Unable to find a source package") => {
                    (said, "Debian has no such package today")
                }
                Failure::Fetched(said) => (said, "could not be fetched"),
                Failure::Built(said) => (said, "could not be built"),
            };
            eprintln!("bench: {said}");
            reason.to_owned()
        })?;
        let deadheat = self.deadheat.to_string_lossy();
        let row = row::row(&self.cache, &deadheat, name, &built, job)?;
        Ok((built, row))
    }
}
