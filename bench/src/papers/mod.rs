//! The tables of the papers that count races program by program, with the programs of `bench/papers`: table 1 of "Maximal Sound
//! Predictive Race Detection with Control Flow Abstraction" (2014) and table 2 of "Interleaving Generation for Data Race and Deadlock Reproduction" (2015).

mod interleave;
mod maximal;
mod paper;

use std::path::PathBuf;

use deadheat_oracle::Oracle;

use crate::explore::machine;
use crate::kernel::Place;

/// Measures; the section of the results.
pub fn measure(place: &Place, runs: usize) -> Result<String, String> {
    let work = std::path::absolute(&place.work).map_err(|error| error.to_string())?;
    let folder = work.join("papers");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let place = Place {
        deadheat: std::path::absolute(&place.deadheat).map_err(|error| error.to_string())?,
        kernels: std::path::absolute(&place.kernels).map_err(|error| error.to_string())?,
        work: folder,
    };
    let mut text = format!(
        "## The papers' tables\n\n{}\n\n\
         The programs of `bench/papers` are written after what the papers say about theirs: the same kinds of programs, small, in C, with \
         errors of our own. *Marked* are the races that the program's text marks, over all its interleavings: a pair of lines is one race, as in the papers.\n\n",
        machine()
    );
    text.push_str(&maximal::measure(&place)?);
    text.push('\n');
    text.push_str(&interleave::measure(&place, runs)?);
    let _ = std::fs::remove_dir_all(&place.work);
    Ok(text)
}

/// A program's text with its marks.
fn oracle(place: &Place, program: &str) -> Result<Oracle, String> {
    let folder: PathBuf = place.kernels.join("../papers");
    let path = folder.join(program).with_extension("c");
    Oracle::read(&path).map_err(|error| error.to_string())
}
