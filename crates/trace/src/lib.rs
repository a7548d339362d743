//! Deadheat's vocabulary, and traces: what a program did, event by event.
//!
//! A trace comes from a recording on disk ([`file`]) or from text ([`text`]) and is read as a
//! stream of [`Step`]s with the [`Tables`] that name what they speak of. Nothing here analyses:
//! [`verify`] only asks whether a trace is one.
//!
//! ```
//! use deadheat_trace::{Op, text};
//!
//! let trace = text::parse("T0|fork(T1)|1\nT1|w(x=5)|main.c:7\nT0|r(x=5)|main.c:9\n")?;
//! assert_eq!(trace.steps[1].event.op(), Op::Write);
//! assert_eq!(trace.steps[2].read(), Some(5));
//! # Ok::<(), deadheat_trace::text::ParseError>(())
//! ```

mod annotate;
mod cells;
mod event;
mod extents;
pub mod file;
mod hash;
mod ids;
pub mod json;
mod op_name;
mod roles;
mod skipped;
pub mod stats;
mod tables;
pub mod text;
mod trace;
pub mod verify;
pub mod watch;
mod write_error;

pub use annotate::{Annotate, Function, Known};
pub use deadheat_wire::{Op, Order};
pub use event::{Event, Step};
pub use extents::{Extent, Extents};
pub use ids::{Addr, EventIndex, LockId, Pc, SyncId, ThreadId};
pub use roles::{Role, Roles};
pub use skipped::Skipped;
pub use tables::{Module, SyncKind, SyncObject, Tables, Thread};
pub use trace::{Mode, Steps, Trace, TraceSteps, Window};
pub use write_error::WriteError;
