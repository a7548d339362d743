//! Places at which the policy `points` lets other threads go first: from the file that `DEADHEAT_POINTS` names, see
//! `deadheat_wire::points`.

use deadheat_wire::points::{MAGIC, POINTS};

use super::listed::{self, Listed};
use crate::{message, options};

static PLACES: Listed = Listed::none();
/// The policy that asks for them.
const POLICY: u64 = 4;

/// Reads the file, if there is one and somebody asks for it, when a recording begins.
pub fn load() {
    if options::POLICY.get() == POLICY
        && let Some(path) = options::POINTS.path()
        && !PLACES.load(path, MAGIC, listed::POINTS)
    {
        message::say(format_args!("{POINTS} cannot be read: there are no points"));
    }
}

/// Whether something at this place is one.
#[inline]
pub fn has(pc: usize) -> bool {
    PLACES.has(pc)
}
