//! Small random programs and the truth about them, by an interpreter that tries all interleavings.

pub mod campaign;
pub mod clocks;
pub mod command;
pub mod compare;
mod effects;
pub mod flat;
pub mod generate;
pub mod interpret;
pub mod program;
pub mod render;
pub mod rng;
mod scenarios;
pub mod shrink;
pub mod state;
pub mod step;
pub mod table;
pub mod trial;
pub mod valid;
mod waiting;

#[cfg(test)]
mod known_answers;
