//! The static analyser: possible data races and deadlocks of a program, from its bitcode, without running it.
//!
//! It follows "Fast and Accurate Static Data-Race Detection for Concurrent Programs" (Kahlon, Yang, Sankaranarayanan, Gupta 2007).

pub mod analysis;
pub mod calls;
mod deeds;
mod error;
mod explain;
pub mod filter;
mod flow;
pub mod found;
mod given;
pub mod habits;
pub mod ir;
pub mod left_out;
pub mod llvm;
pub mod members;
mod memory;
pub mod model;
pub mod moment;
mod names;
pub mod pairs;
pub mod path;
pub mod pointees;
pub mod points;
pub mod rank;
pub mod roots;
pub mod shape;
mod sharing;
pub mod show;
pub mod source;
pub mod state;
pub mod stores;
pub mod summary;
mod told;
pub mod unshared;
pub mod unwanted;
mod values;
pub mod wait;

pub use error::Error;
