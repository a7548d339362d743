//! What code facts are held against: the compilers' own coverage, and programs whose reads
//! return something else.

#![allow(dead_code)] // each test uses its part

pub mod build;
pub mod case;
pub mod compare;
pub mod dialect;
pub mod dice;
pub mod generate;
pub mod hooks;
pub mod recording;
pub mod said;
pub mod stops;
pub mod ways;
