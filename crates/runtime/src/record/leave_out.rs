//! Accesses that are not recorded, because the user does not want the functions that make them: from the file that
//! `DEADHEAT_LEAVE_OUT` names, see `deadheat_wire::leave_out`. In serial recordings only.

use deadheat_wire::leave_out::{LEAVE_OUT, MAGIC};

use super::listed::{self, Listed};
use crate::{message, options};

static ACCESSES: Listed = Listed::none();

/// Reads the file, if there is one, when a recording begins.
pub fn load() {
    if let Some(path) = options::LEAVE_OUT.path()
        && !ACCESSES.load(path, MAGIC, listed::LEAVE_OUT)
    {
        message::say(format_args!(
            "{LEAVE_OUT} cannot be read: everything is recorded"
        ));
    }
}

/// Whether the access is left out whose hook returns to `pc`.
#[inline]
pub fn has(pc: usize) -> bool {
    ACCESSES.has(pc)
}
