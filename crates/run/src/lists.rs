//! The lists that the runtime reads and that lie beside a trace, so that the program can be run
//! again with them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use deadheat_wire::points::POINTS;

use crate::store::invocation::beside;

/// Where the list is of accesses that were not recorded.
pub fn leave_out(trace: &Path) -> PathBuf {
    beside(trace, "leave-out")
}

/// Where the list is of places at which threads change turns.
pub fn points(trace: &Path) -> PathBuf {
    beside(trace, "points")
}

/// The variable that tells the runtime of a list of places, if there is one.
pub fn points_variable(list: &Path) -> Option<(OsString, OsString)> {
    list.is_file().then(|| (POINTS.into(), list.into()))
}
