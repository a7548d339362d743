//! Detectors of data races and potential deadlocks that read a trace once, from its first event to
//! its last.
//!
//! Each method is one file, which opens with the paper that it follows and where it deviates.
//! All take the same steps ([`Detector`]) and give the same [`Races`]. Nothing here reads files,
//! solves, or knows functions and lines.

mod clock;
mod detector;
mod frontier;
mod locks;
mod locksets;
mod messages;
mod races;
mod shadow;
mod syncp;
mod wcp;

pub use clock::{Epoch, VectorClock};
pub use detector::Detector;
pub use locks::{Change, Held, HeldLocks};
pub use locksets::{LocksetId, Locksets};
pub use messages::{Clock, Messages};
pub use races::{Access, Found, Race, Races, Signature};
pub use shadow::Shadow;
pub use syncp::SyncP;
pub use wcp::Wcp;
