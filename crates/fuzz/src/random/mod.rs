//! Small random programs and the truth about them, by an interpreter that tries all interleavings.

pub mod act;
mod acts;
mod blocks;
pub mod build;
pub mod campaign;
mod channels;
pub mod clocks;
pub mod command;
pub mod compare;
mod effects;
pub mod flat;
pub mod generate;
mod guards;
pub mod interpret;
pub mod known;
pub mod memory;
mod objects;
pub mod program;
mod publication;
pub mod render;
pub mod rng;
pub mod scan;
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
#[cfg(test)]
mod known_memory;
