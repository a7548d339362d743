//! Programs that are correct by construction, with unusual synchronisation, alone and combined.
//!
//! The catalogue ([`catalogue`]) has *pieces*: a handover of data between two threads, a mutual exclusion, or
//! a wait with an unusual
//! ending, each with everything it needs. A program ([`program`]) is made of a few of them, and what it
//! prints is known. Built
//! ([`build`]) and run by every command ([`judge`]), nothing may be found in it, it has to end, and to print
//! what it has to print.

pub mod build;
pub mod catalogue;
pub mod command;
pub mod judge;
mod language;
pub mod program;
pub mod table;
