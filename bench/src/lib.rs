//! What the benchmarks share with tests: traces of any length, made up from a seed, and the detectors
//! of the ablation.

pub mod adversarial;
pub mod generate;
pub mod runs;
pub mod setting;
