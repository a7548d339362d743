//! Finds data races and deadlocks in a program from one recorded run, proves them, and runs the
//! program into them: the machine behind `deadheat check`, as a library.
//!
//! * [`check`]: everything at once, stage by stage. A [`Check`] says what to run and how much may
//!   be done, an [`Observer`] hears of what was done, and [`Checked`] has what was found.
//! * [`confirm`]: enforces witnesses on the recorded program. What was seen to stand is confirmed,
//!   with what follows from it.
//! * [`explore`]: which schedules of the program lead to what is only suspicious, or to anything
//!   bad at all; and what "all orders" takes for granted.
//! * [`failure`], [`misuse`]: recorded runs that die or hang, and mutexes that are taken after
//!   their end.
//! * [`scanner`], [`scanned`]: the static analyser, and what recorded runs say of its warnings.
//!
//! One begins with a [`Check`] of a program that was built with Deadheat, and walks its findings:
//!
//! ```no_run
//! use deadheat_engine::{Check, Silent};
//!
//! let check = Check::of(vec!["./prog".into(), "--threads=4".into()])?;
//! let checked = check.run(&mut Silent)?.expect("it has a run");
//! for finding in &checked.analysis.findings {
//!     println!("{} {:?} {:?}", finding.id, finding.kind, finding.rung);
//! }
//! # Ok::<(), deadheat_session::Error>(())
//! ```
//!
//! What is not an observer's yet: signs of life on a terminal, which [`deadheat_session::progress`]
//! shows by itself and hides elsewhere, and notes about runs of the program, which go to standard
//! error.

pub mod check;
pub mod confirm;
pub mod explore;
pub mod failure;
pub mod misuse;
pub mod scanned;
pub mod scanner;

pub use check::{Check, Checked, Observer, Silent};
