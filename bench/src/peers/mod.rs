//! All programs under `programs/` by every tool for the same purpose: who finds what is marked, reports what is not, in what time and
//! memory.
//!
//! Stock ThreadSanitizer of gcc, clang and rustc, run as often as is asked for, with what it had found after the first run and after 20;
//! Helgrind and DRD once, on the program without instrumentation; `deadheat watch` and `deadheat check` once.

mod names;
mod table;
mod tools;
mod valgrind;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use deadheat_oracle::{Oracle, read_folder};

use crate::kernel::Place;
use crate::scenarios::{extension, language};
use tools::{Sum, Tool};

/// What each tool, after so many runs, said about all programs of a language.
type Sums = BTreeMap<(&'static str, Tool, usize), Sum>;

/// So many programs are judged at a time.
const WORKERS: usize = 2;

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
    let mut judged = Vec::new();
    let mut left_out = 0;
    for folder in FOLDERS {
        let oracles = read_folder(programs.join(folder)).map_err(|error| error.to_string())?;
        for oracle in oracles {
            let directives = &oracle.directives;
            if directives.part_of.is_some() {
                continue;
            }
            // They are several files, which the marks speak of by name.
            match directives.also.is_empty() && oracle.races_across.is_empty() {
                true => judged.push(oracle),
                false => left_out += 1,
            }
        }
    }
    let sums = Mutex::new(Sums::new());
    let next = AtomicUsize::new(0);
    let work = |worker: usize| -> Result<(), String> {
        let work = place.work.join(worker.to_string());
        std::fs::create_dir_all(&work).map_err(|error| error.to_string())?;
        let place = place.in_folder(work);
        while let Some(oracle) = judged.get(next.fetch_add(1, Ordering::Relaxed)) {
            eprintln!("bench: {}", oracle.path.display());
            judge(&place, oracle, runs, &sums)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| scope.spawn(move || work(worker)))
            .collect();
        let ended = workers.into_iter().map(|worker| worker.join());
        ended
            .map(|ended| ended.unwrap_or_else(|_| Err("a worker panicked".to_owned())))
            .collect::<Result<Vec<()>, String>>()
    })?;
    let sums = sums.into_inner().map_err(|error| error.to_string())?;
    Ok(table::render(&sums, left_out))
}

/// Lets all tools judge a program.
fn judge(place: &Place, oracle: &Oracle, runs: usize, sums: &Mutex<Sums>) -> Result<(), String> {
    for tool in Tool::all(extension(&oracle.path)) {
        for (times, sum) in tool.judge(place, oracle, runs)? {
            let mut sums = sums.lock().map_err(|error| error.to_string())?;
            let key = (language(&oracle.path), tool, times);
            sums.entry(key).or_default().add(&sum);
        }
    }
    Ok(())
}
