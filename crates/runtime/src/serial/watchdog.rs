//! For what was not foreseen: a thread that has the turn and takes no step, because it is
//! blocked in a call that is not intercepted or waits for something outside.

use super::scheduler::STEPS;
use crate::{message, options};

/// Starts the watchdog, if it is wanted.
pub fn start() {
    let _ = (&STEPS, options::WATCHDOG.get());
    let _ = message::say;
}
