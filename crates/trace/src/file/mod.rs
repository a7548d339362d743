//! Recordings on disk, read as a stream.
//!
//! [`TraceFile::open`] reads the headers of all blocks and the facts between them; the events
//! stay where they are (the file is mapped) until a [`Reader`] passes over them. What a reader
//! keeps does not grow with the number of events, only with what they are about: threads, live
//! objects and blocks of heap memory, and the table of all objects there ever were.
//! [`Checkpoints`] open windows anywhere.
//!
//! Damage does not end the reading: what is missing is a [`Step`](crate::Step) of its own
//! ([`Op::Lost`](crate::Op::Lost)) and is said by [`TraceFile::damage`] and [`Reader::damage`].
//!
//! The layout is described in `docs/trace-format.md` and in the crate `deadheat-wire`.

mod blocks;
mod code;
mod context;
mod damage;
mod facts;
mod image;
mod inputs;
mod objects;
mod reader;
mod record;
mod salvage;
mod trace_file;
mod window;

pub use damage::{Damage, OpenError};
pub use inputs::{Input, Inputs};
pub use reader::Reader;
pub use trace_file::TraceFile;
pub use window::Checkpoints;
