//! Which part of a trace methods have to look at when several look at the same.

use std::path::Path;

use deadheat_detect::{Method, Suspects};
use deadheat_trace::Steps;

use crate::analysis;
use crate::config::Config;
use crate::error::Result;
use crate::how::How;
use crate::input;
use crate::unseen::Unseen;

/// The memory on which there may be a race, and how many events the trace has. One reading more, which spares others most of theirs.
pub fn of(path: &Path, config: &Config) -> Result<(Suspects, u64)> {
    let mut suspects = Suspects::default();
    let input = input::open(path)?;
    let mut unseen = Unseen::of(input.tables());
    let what = "looking for shared memory";
    let (count, _) = analysis::read(path, input, what, config, |_, step, tables| {
        if !unseen.is_unseen(&step.event, tables) {
            suspects.step(step);
        }
    })?;
    Ok((suspects, count))
}

/// Whether a method has nothing to find, so that the trace need not be read for it.
pub fn spare(suspects: &Suspects, how: How) -> bool {
    match how {
        How::Detect(Method::Hb) => suspects.is_empty(),
        // What is a lock, and what hands something over, it finds out by itself.
        How::Detect(Method::Hybrid) => !suspects.has_unordered(),
        How::Detect(_) => false,
        How::Predict(_) | How::Interleave => suspects.is_empty() && !suspects.has_synchronisation(),
    }
}
