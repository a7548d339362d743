//! Facts from a program's machine code, for those who look at its traces: functions and lines of
//! addresses ([`Binary::frames`]), whether branches lie between two events and what they depend
//! on ([`Facts::between`]), and what the address of an access depends on ([`Facts::address`]).
//!
//! Addresses go in, facts come out: nothing here knows a trace. What is not understood depends on
//! everything.

mod arch;
mod assembly;
mod binary;
mod callee;
mod dataflow;
mod depends;
mod error;
mod facts;
mod frames;
mod graph;
mod image;
mod kernel_call;
mod uninstrumented;
mod variables;
mod walk;
mod ways;

pub use binary::Binary;
pub use depends::{Depends, Passed, Point, Sources};
pub use error::Error;
pub use facts::Facts;
pub use frames::{Frame, demangled};
pub use variables::Variable;
pub use walk::{Modules, Place, Walk};
