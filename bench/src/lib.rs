//! What the benchmarks share with tests: traces of any length, made up from a seed.

pub mod generate;
