//! The debug information: places, variables, and what structures consist of.

mod describe;
mod layouts;
mod places;

pub(super) use describe::{at_offset, pointed, stripped};
pub(super) use layouts::Layouts;
pub(super) use places::{Places, file_of};
