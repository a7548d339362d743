//! Searches the schedules of a program.
//!
//! * [`board`]: the memory that is shared with it.
//! * [`copies`]: runs of it, from one state.

mod board;
pub mod copies;
