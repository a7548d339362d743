//! The static analyser: possible data races and deadlocks of a program, from its bitcode, without running it.
//!
//! It follows "Fast and Accurate Static Data-Race Detection for Concurrent Programs" (Kahlon, Yang, Sankaranarayanan, Gupta 2007).

mod error;
pub mod ir;
pub mod llvm;
pub mod source;

pub use error::Error;
