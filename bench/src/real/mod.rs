//! Real programs: do they build, run as before, and is what is found in them real?
//!
//! Everything is fetched and built below the target folder when it is first needed, and kept there.

mod build;
mod judged;
mod programs;
mod row;
mod table;
mod work;

use std::path::Path;

use crate::kernel::Place;
use build::Built;
use programs::{ADVISORIES, Load, PROGRAMS};

/// Runs all programs; the section of the results.
pub fn measure(place: &Place) -> Result<String, String> {
    let deadheat = std::path::absolute(&place.deadheat).map_err(|error| error.to_string())?;
    let target = deadheat.parent().ok_or("where is the target folder?")?;
    let cache = target.join("../bench-real");
    std::fs::create_dir_all(&cache).map_err(|error| error.to_string())?;
    let cache = cache.canonicalize().map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    for program in PROGRAMS {
        let built = build::program(&cache, &deadheat, program);
        rows.push((
            program.name.to_owned(),
            through(&cache, &deadheat, program.name, built, &program.load),
        ));
    }
    for advisory in ADVISORIES {
        let built = build::advisory(&cache, &deadheat, advisory);
        let name = format!("{}, {}", advisory.name, advisory.number);
        let load = Load::Once(&[], 0);
        let outcome = through(&cache, &deadheat, advisory.number, built, &load);
        rows.push((name, outcome));
    }
    let is_debug = target.ends_with("debug");
    let found = rows.iter().filter_map(|(name, outcome)| {
        let (_, row) = outcome.as_ref().ok()?;
        Some((name.as_str(), row.findings.as_slice()))
    });
    let judged = judged::render(found);
    Ok(table::render(&rows, is_debug) + &judged)
}

fn through(
    cache: &Path,
    deadheat: &Path,
    name: &str,
    built: Result<Built, String>,
    load: &Load,
) -> table::Outcome {
    eprintln!("bench: {name}");
    // A mirror need not have everything.
    let built = built.map_err(|error| {
        eprintln!("bench: {error}");
        "could not be fetched or built".to_owned()
    })?;
    let row = row::row(cache, &deadheat.to_string_lossy(), name, &built, load)?;
    Ok((built, row))
}
