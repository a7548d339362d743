//! Generated programs whose truth is known, against Deadheat's commands: what is called proven, confirmed or
//! exhausted must be so.
//!
//! `random` makes small programs of every kind, whose races, deadlocks, failures and outcomes an interpreter
//! knows that tries all interleavings;
//! `correct` makes programs that are correct by construction, with unusual synchronisation. `tool` runs the
//! commands.

pub mod correct;
pub mod random;
pub mod tool;
