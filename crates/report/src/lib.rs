//! Findings: what they say, where their names come from, how they are shown, and which ones the
//! user does not want to see.
//!
//! [`Finding`] is what every renderer prints. [`Contexts`] and [`Names`] make one out of the positions
//! that a detector gives; [`text`], [`html`], [`json`], [`sarif`], [`tsan`], [`junit`] and [`chrome`] show them;
//! [`Suppressions`] holds some back, and [`generated_suppressions`] writes the lines for that.

mod binaries;
pub mod chrome;
mod context;
mod explain;
mod finding;
mod generate;
pub mod hint;
pub mod html;
mod interleaving;
pub mod json;
pub mod junit;
mod merge;
mod names;
mod overview;
pub mod sarif;
mod suggest;
mod suppress;
pub mod text;
pub mod tsan;
mod ways;

pub use binaries::{Binaries, roles};
pub use context::{Block, Context, Contexts, Held, Place, Stack};
pub use explain::Explain;
pub use finding::{
    Access, Consequence, Ending, Evidence, Finding, Frame, Kind, Lock, Memory, Object, Rung,
    Thread, own_place,
};
pub use generate::generated_suppressions;
pub use interleaving::{Does, Interleaving, Lane, Step};
pub use merge::merged;
pub use names::{Global, Names, is_foreign, is_foreign_file, seen_from};
pub use overview::{LockUse, Overview, Slice, ThreadUse};
pub use suggest::Suggestions;
pub use suppress::{Suppressions, SyntaxError};
pub use ways::{Then, Way, Ways};
