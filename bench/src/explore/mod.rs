//! Exploring: the programs after table 1 of "Scaling model checking of dataraces using dynamic information" (2007) beside its
//! tables 2 to 4; how many executions there are in a second; and systematic testing beside loom and shuttle.

mod paper;
mod peers;
mod programs;
mod rates;
pub mod run;

use crate::kernel::Place;

/// The machine, in a sentence.
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!("A machine of {cores} cores; when the measuring began, its load was {load}.")
}

/// Measures; the section of the results.
pub fn measure(place: &Place) -> Result<String, String> {
    let work = std::path::absolute(&place.work).map_err(|error| error.to_string())?;
    let folder = work.join("explored");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let place = Place {
        deadheat: std::path::absolute(&place.deadheat).map_err(|error| error.to_string())?,
        kernels: std::path::absolute(&place.kernels).map_err(|error| error.to_string())?,
        work: folder,
    };
    let mut text = format!("## Exploring\n\n{}\n\n", machine());
    text.push_str(&programs::measure(&place)?);
    text.push('\n');
    text.push_str(&rates::measure(&place)?);
    text.push('\n');
    text.push_str(&peers::measure(&place)?);
    let _ = std::fs::remove_dir_all(&place.work);
    Ok(text)
}
