//! Searches the schedules of a program.
//!
//! * `assumptions`: what "all orders" takes for granted, and what a program does not meet.
//! * `board`: the memory that is shared with it.
//! * [`copies`]: runs of it, from one state.
//! * `conclusions`: what a search has concluded, as findings and as what is not confirmed.
//! * [`evidence`], `unordered`: from a found race to a finding.
//! * `ends`: from an end that should not be to findings.
//! * `notes`: what its runs have noted.
//! * `reach`: turns that lead to both sides of a race.
//! * [`limits`], `shown`: how far a search goes, and how far it is.
//! * [`whole`]: all schedules from the beginning.
//! * [`warnings`]: schedules that settle what is only suspicious, from where a recorded run was.

mod assumptions;
mod board;
mod conclusions;
pub mod copies;
mod ends;
pub mod evidence;
pub mod limits;
mod notes;
mod reach;
mod shown;
mod unordered;
pub mod warnings;
pub mod whole;
