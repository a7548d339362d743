//! What all parts of one call of Deadheat share: how it fails, what it says meanwhile, whether the
//! user wants to stop, and where its temporary files are.
//!
//! * [`error`], [`exit`]: expected failures, each with a sentence, advice and a documented exit
//!   code. The libraries above return them; only the command prints them and ends with their code.
//! * [`terminal`], [`progress`], [`here`]: lines on standard error, numbers for people, signs of
//!   life while something takes long, paths as the user sees them.
//! * [`signals`]: whether the user has asked to stop, and who else hears of it.
//! * [`scratch`]: folders that are removed when the process ends, by a signal too.
//! * [`executable`]: where this program itself is.
//!
//! One begins with [`Error`] and [`Result`]:
//!
//! ```
//! use deadheat_session::{Error, Exit, Result};
//!
//! fn open(name: &str) -> Result<std::fs::File> {
//!     std::fs::File::open(name).map_err(|error| {
//!         Error::usage(format!("cannot read {name}: {error}")).help("name a file that is there")
//!     })
//! }
//!
//! let failed = open("/there/is/no/such/file").unwrap_err();
//! assert_eq!(failed.exit(), Exit::Usage);
//! assert_eq!(failed.advice(), ["name a file that is there"]);
//! ```

pub mod error;
pub mod executable;
pub mod exit;
pub mod here;
pub mod progress;
pub mod scratch;
pub mod signals;
pub mod terminal;

pub use error::{Error, Result};
pub use exit::Exit;
