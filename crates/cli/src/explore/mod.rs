//! Searches the schedules of a program.
//!
//! * [`assumptions`]: what "all orders" takes for granted, and what a program does not meet.
//! * [`board`]: the memory that is shared with it.
//! * [`copies`]: runs of it, from one state.
//! * [`evidence`]: from a found schedule to a finding.
//! * [`limits`], [`told`]: how far a search goes, and what is said about it.
//! * [`whole`]: all schedules from the beginning.
//! * [`warnings`]: schedules that settle what is only suspicious, from where a recorded run was.

mod assumptions;
mod board;
pub mod copies;
pub mod evidence;
pub mod limits;
pub mod told;
pub mod warnings;
pub mod whole;
