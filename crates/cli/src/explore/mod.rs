//! Searches the schedules of a program.
//!
//! * [`board`]: the memory that is shared with it.
//! * [`copies`]: runs of it, from one state.
//! * [`evidence`]: from a found schedule to a finding.

mod board;
pub mod copies;
pub mod evidence;
