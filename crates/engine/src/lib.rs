//! What the program itself says about findings: it is run into them, and searched for others.
//!
//! * [`confirm`]: enforces witnesses on the recorded program. What was seen to stand is confirmed, with what
//!   follows from it.
//! * [`explore`]: which schedules of the program lead to what is only suspicious, or to anything bad at all;
//!   and what "all orders" takes for granted.
//! * [`failure`], [`misuse`]: recorded runs that die or hang, and mutexes that are taken after their end.
//! * [`scanner`], [`scanned`]: the static analyser, and what recorded runs say of its warnings.
//!
//! One begins with a recording whose trace was analysed; [`confirm::all`] then changes the findings that the
//! program was seen to do:
//!
//! ```no_run
//! use deadheat_analysis::budget::Allowance;
//! use deadheat_engine::confirm;
//! use deadheat_report::{Finding, Rung};
//!
//! fn confirmed(trace: &std::path::Path, mut findings: Vec<Finding>) -> Vec<Finding> {
//!     let mut remarks = Vec::new();
//!     confirm::all(&mut findings, trace, &mut remarks, &Allowance::endless());
//!     findings.retain(|finding| finding.rung == Rung::Confirmed);
//!     findings
//! }
//! ```

pub mod confirm;
pub mod explore;
pub mod failure;
pub mod misuse;
pub mod scanned;
pub mod scanner;
