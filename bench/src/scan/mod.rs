//! The static analyser on the drivers of "Fast and Accurate Static Data-Race Detection for Concurrent Programs" (2007), as they are in Debian's kernel today,
//! and on programs with threads from Debian's source packages.
//!
//! Everything is fetched and built below the target folder when it is first needed, and kept there. Neither fetching nor compiling is measured.

mod linux;
mod paper;
mod programs;
mod scanned;
mod table;

use std::path::{Path, PathBuf};

use crate::kernel::Place;
use scanned::Scanned;

pub use scanned::lines;

/// Where things are.
struct Cache {
    /// The analyser.
    scan: PathBuf,
    /// The checkout's programs.
    programs: PathBuf,
    /// What is fetched and built.
    folder: PathBuf,
}

impl Cache {
    fn of(place: &Place) -> Result<Self, String> {
        let absolute = |path: &Path| std::path::absolute(path).map_err(|error| error.to_string());
        let release = absolute(&place.deadheat)?;
        let release = release.parent().ok_or("where is the target folder?")?;
        let folder = release.join("../bench-scan");
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        Ok(Cache {
            scan: release.join("deadheat-scan"),
            programs: absolute(&place.kernels.join("../../programs"))?,
            folder: folder.canonicalize().map_err(|error| error.to_string())?,
        })
    }
}

/// Measures; the section of the results.
pub fn measure(place: &Place) -> Result<String, String> {
    let cache = Cache::of(place)?;
    let mut drivers = Vec::new();
    let tree = linux::tree(&cache)?;
    for driver in linux::DRIVERS {
        eprintln!("bench: scanning {}", driver.source);
        let bitcode = linux::bitcode(&tree, driver)?;
        let lines = scanned::lines(&[tree.join(driver.source)])?;
        let arguments = ["--model", "linux", &bitcode.to_string_lossy()].map(str::to_owned);
        let scanned = Scanned::of(&cache, &tree, &arguments, lines)?;
        drivers.push((driver.name, scanned));
    }
    eprintln!("bench: scanning programs/scan/ctrace");
    drivers.push(("ctrace_comb", programs::ctrace(&cache)?));
    let (mut others, mut without) = (Vec::new(), Vec::new());
    for program in programs::PROGRAMS {
        eprintln!("bench: scanning {}", program.name);
        match programs::scan(&cache, program) {
            Ok(scanned) => others.push((program.name, scanned)),
            // A mirror need not have everything.
            Err(error) => {
                eprintln!("bench: {error}");
                without.push(program.name);
            }
        }
    }
    Ok(table::render(&drivers, &others, &without))
}
