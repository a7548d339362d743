//! All programs under `programs/` by every tool for the same purpose: who finds what is marked, reports what is not, in what time and
//! memory.
//!
//! Stock ThreadSanitizer of gcc, clang and rustc, run once, 20 times and as often as is asked for; Helgrind and DRD once, on the program
//! without instrumentation; `deadheat watch` and `deadheat check` once.

mod table;
mod tools;
mod valgrind;

use std::collections::BTreeMap;

use deadheat_oracle::read_folder;

use crate::kernel::Place;
use crate::scenarios::{extension, language};
use tools::{Sum, Tool};

/// Folders of programs, as the table names them.
const FOLDERS: [&str; 6] = [
    "papers",
    "zoo",
    "scenarios",
    "explore",
    "rust/zoo/src/bin",
    "rust/scenarios/src/bin",
];

/// Measures all of them; the section of the results.
pub fn measure(place: &Place, runs: usize) -> Result<String, String> {
    let programs = place.kernels.join("../../programs");
    let mut sums: BTreeMap<(&'static str, Tool), Sum> = BTreeMap::new();
    let mut left_out = 0;
    for folder in FOLDERS {
        let oracles = read_folder(programs.join(folder)).map_err(|error| error.to_string())?;
        for oracle in oracles {
            let directives = &oracle.directives;
            if directives.part_of.is_some() {
                continue;
            }
            // They are several files, which the marks speak of by name.
            if !directives.also.is_empty() || !oracle.races_across.is_empty() {
                left_out += 1;
                continue;
            }
            eprintln!("bench: {}", oracle.path.display());
            for tool in Tool::all(extension(&oracle.path), runs) {
                let sum = sums.entry((language(&oracle.path), tool)).or_default();
                tool.judge(place, &oracle, sum)?;
            }
        }
    }
    Ok(table::render(&sums, left_out))
}
