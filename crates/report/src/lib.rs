//! Findings: what they say, where their names come from, how they are shown, and which ones the
//! user does not want to see.
//!
//! [`Finding`] is what every renderer prints. [`Contexts`] and [`Names`] make one out of the positions
//! that a detector gives; [`text`], [`json`] and [`sarif`] show them; [`Suppressions`] holds some back.

mod binaries;
mod context;
mod explain;
mod finding;
pub mod hint;
mod interleaving;
pub mod json;
mod names;
mod overview;
pub mod sarif;
mod suggest;
mod suppress;
pub mod text;
mod ways;

pub use binaries::{Binaries, roles};
pub use context::{Block, Context, Contexts, Held, Place, Stack};
pub use explain::Explain;
pub use finding::{
    Access, Consequence, Ending, Finding, Frame, Kind, Lock, Memory, Object, Rung, Thread,
    own_place,
};
pub use interleaving::{Does, Interleaving, Lane, Step};
pub use names::{Global, Names, is_foreign, is_foreign_file, seen_from};
pub use overview::{LockUse, Overview, Slice, ThreadUse};
pub use suggest::Suggestions;
pub use suppress::{Suppressions, SyntaxError};
pub use ways::{Then, Way, Ways};
