//! Builds programs that can be recorded: the compilers' own hooks are switched on, and the runtime
//! is linked in.
//!
//! * [`compiler`]: what `deadheat cc` and `deadheat c++` do. A call is taken apart, the real
//!   compiler chosen, its arguments completed.
//! * [`rust`]: the same for rustc, and what is put around cargo. Functions of the standard library
//!   that must be seen are replaced by instrumented ones.
//! * [`runtime_files`]: the runtime, which this library carries. Its build script builds it.
//! * [`cache`]: where the unpacked runtime and other files are kept that belong to no project.
//!
//! One begins with [`compiler::command`] or [`rust::command`], which give a [`Command`] that
//! compiles and links as the real compiler would, for Deadheat:
//!
//! ```no_run
//! use deadheat_build::compiler::{self, Language, Wish};
//!
//! let args = ["-pthread", "prog.c", "-o", "prog"].map(Into::into).to_vec();
//! let status = compiler::command(Language::C, &Wish::Any, args)?.status();
//! assert!(status.is_ok_and(|status| status.success()));
//! # Ok::<(), deadheat_session::Error>(())
//! ```
//!
//! [`Command`]: std::process::Command

pub mod cache;
pub mod compiler;
pub mod runtime_files;
pub mod rust;

pub use runtime_files::RuntimeFiles;
