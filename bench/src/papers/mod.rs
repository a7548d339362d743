//! The tables of the papers that count races program by program, with programs written after theirs (`programs/papers/tables`): table 1 of *maximal*,
//! tables 1 and 2 of *interleave*, tables 2 and 3 of *hybrid*. Those of *prefix* and *static* are measured elsewhere.

mod compared;
mod hybrid;
mod interleave;
mod maximal;
mod paper;

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
         The programs of `programs/papers/tables` are written after what the papers say about theirs: the same kinds of programs, small, in C, with \
         errors of our own. *Marked* are the races that the program's text marks, over all its interleavings: a pair of lines is one race, as in the papers. A run under \
         ThreadSanitizer that hangs is stopped after 3 seconds.\n\n",
        machine()
    );
    text.push_str(&maximal::measure(&place)?);
    text.push('\n');
    text.push_str(&interleave::measure(&place, runs)?);
    text.push('\n');
    text.push_str(&hybrid::measure(&place, runs)?);
    text.push_str(ELSEWHERE);
    let _ = std::fs::remove_dir_all(&place.work);
    Ok(text)
}

const ELSEWHERE: &str = "\n### The other two papers\n\n\
    Tables 2 to 4 of \"Scaling model checking of dataraces using dynamic information\" (2007) are measured in the section *Exploring* (`bench/run explore`), with `programs/explore` for its \
    seven programs, each with two, three, four and eight threads, and the paper's seconds and megabytes beside ours. The table of \"Fast and Accurate Static Data-Race Detection for Concurrent Programs\" (2007) is \
    measured in the section *Scanning* (`bench/run scan`), with the counterparts of the paper's files in a newer Linux, and its warnings and seconds beside ours.\n";

/// The text of a program, with its marks. The path is that from the top of the project.
fn program_at(place: &Place, path: &str) -> Result<Oracle, String> {
    let path = place.kernels.join("../..").join(path);
    Oracle::read(&path).map_err(|error| error.to_string())
}
