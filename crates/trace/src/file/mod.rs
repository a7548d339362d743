//! Recordings on disk, read as a stream.
//!
//! [`TraceFile::open`] reads the headers of all blocks and the facts between them; the events
//! stay where they are (the file is mapped) until a [`Reader`] passes over them. A reader's
//! memory does not grow with the trace, only with what is alive in it: threads, locks, blocks of
//! heap memory. [`Checkpoints`] open windows anywhere.
//!
//! Damage does not end the reading: what is missing is a [`Step`](crate::Step) of its own
//! ([`Op::Lost`](crate::Op::Lost)) and stands in [`TraceFile::damage`].
//!
//! The layout is described in `docs/trace-format.md` and in the crate `deadheat-wire`.

mod blocks;
mod code;
mod damage;
mod facts;
mod objects;
mod reader;
mod record;
mod salvage;
mod window;

pub use blocks::TraceFile;
pub use damage::{Damage, OpenError};
pub use reader::Reader;
pub use window::Checkpoints;
