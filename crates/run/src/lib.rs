//! Runs programs: recorded, watched, and again as they were when they were recorded.
//!
//! * [`program`]: can it be recorded? Asked before it is started.
//! * [`launch`], [`stdin`], [`orphans`]: starts it with the runtime's variables, gives it its
//!   standard input, and looks after what it leaves behind.
//! * [`recorder`], [`disk`]: a recording from beginning to end, and how much of the disk it may
//!   have.
//! * [`store`]: a project's recordings, and how each came about.
//! * [`input`]: a trace, opened: a recording, or text.
//! * [`again`], [`lists`]: a recorded program, ready to be run as it was.
//! * [`sharing`]: a long run in two passes, of which the second records what threads share.
//! * [`watch`]: a program under live detection.
//!
//! One begins with a [`Program`] and a [`Store`]; [`again::of`] gives back what was recorded:
//!
//! ```no_run
//! use deadheat_run::{Store, again, launch};
//!
//! let store = Store::of_project()?;
//! for recording in store.recordings() {
//!     let again = again::of(&recording.trace())?;
//!     let options = again.invocation.options.clone();
//!     let variables = vec![
//!         (launch::OPTIONS.into(), options.into()),
//!         (launch::TRACE.into(), "again.dht".into()),
//!     ];
//!     let outcome = again.launch(variables).start()?.wait()?;
//!     println!("{}: {}", again.program.path.display(), outcome.status);
//! }
//! # Ok::<(), deadheat_session::Error>(())
//! ```

pub mod again;
pub mod disk;
pub mod input;
pub mod launch;
pub mod lists;
pub mod orphans;
pub mod program;
pub mod recorder;
pub mod sharing;
pub mod stdin;
pub mod store;
pub mod watch;

pub use again::Again;
pub use program::Program;
pub use store::Store;
