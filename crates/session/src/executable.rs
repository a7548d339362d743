//! Where this executable is: it is called again by compilers' names, and has other programs beside
//! it.

use std::path::PathBuf;

use crate::error::{Error, Result};

/// The path of this executable, free of links.
pub fn own_path() -> Result<PathBuf> {
    std::env::current_exe()
        .and_then(|path| path.canonicalize())
        .map_err(|error| {
            Error::not_started(format!("Deadheat cannot find its own executable: {error}"))
        })
}
