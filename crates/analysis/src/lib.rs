//! What a recorded trace says: races and deadlocks, each with what surrounds it and, where one can
//! be proven, with a schedule that leads there. No program is started.
//!
//! * [`analysis`]: all methods on one trace, each finding once. [`how`] names the methods.
//! * [`config`], [`marks`], [`leave_out`]: what the user has said about the program and its
//!   functions.
//! * [`prediction`], [`interleaving`]: proofs by schedules, and schedules of synchronisation that
//!   nobody has proven. [`witness`] is what is kept of a proof.
//! * [`symbols`], `counts`, [`unseen`], [`unseen_calls`], [`assembly`]: what the program's files
//!   say about its events, and what nobody announces.
//! * [`ways`], [`coverage`], [`points`]: how one comes to a finding; which orders several runs have
//!   shown, and where others should change turns.
//! * [`budget`], [`reach`]: how far prediction searches; what reading a trace and running a program
//!   cost, counted.
//!
//! One begins with [`analysis::of`], which gives an [`Analysis`]:
//!
//! ```
//! use deadheat_analysis::{Config, How, Reach, Reading, analysis, budget::Total};
//! use deadheat_detect::Method;
//!
//! let folder = tempfile::tempdir().unwrap();
//! let trace = folder.path().join("two-writes.trace");
//! std::fs::write(&trace, "T0|fork(T1)|1\nT1|w(x)|2\nT0|w(x)|3\n").unwrap();
//! let options = Reach::default().options(Total::default());
//! let methods = [How::Detect(Method::Hb)];
//! let found = analysis::of(&trace, &methods, &Config::default(), &options, Reading::Whole, None)?;
//! assert_eq!(found.findings.len(), 1);
//! # Ok::<(), deadheat_session::Error>(())
//! ```

pub mod analysis;
pub mod assembly;
pub mod budget;
pub mod config;
mod counts;
pub mod coverage;
mod detecting;
mod first_reading;
pub mod how;
pub mod interleaving;
pub mod leave_out;
pub mod marks;
pub mod numbered;
pub mod points;
mod predicting;
pub mod prediction;
pub mod reach;
mod segments;
mod shown;
mod suspects;
pub mod symbols;
pub mod unseen;
pub mod unseen_calls;
pub mod ways;
pub mod witness;

pub use analysis::{Analysis, Reading, Run};
pub use config::Config;
pub use how::How;
pub use reach::Reach;
