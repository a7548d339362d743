//! Detectors of data races and potential deadlocks that read a trace once, from its first event to
//! its last.
//!
//! Each method is one file, which opens with the paper that it follows and where it deviates.
//! All take the same steps ([`Detector`]) and give the same [`Races`]. Nothing here reads files,
//! solves, or knows functions and lines.

mod accesses;
mod benign;
mod blocks;
mod causal;
mod channels;
mod clock;
mod cp;
mod detector;
#[cfg(test)]
mod forgetting;
mod happens_before;
mod hb;
mod history_slots;
mod hybrid;
mod lock_order;
mod lock_words;
mod locks;
mod locksets;
mod marks;
mod messages;
mod method;
mod ownership;
mod protection;
mod races;
mod rounds;
mod shadow;
mod shb;
mod simple;
mod suspects;
mod syncp;
mod wcp;

pub use benign::{Benign, Hint};
pub use channels::Channels;
pub use clock::{Epoch, VectorClock};
pub use cp::Cp;
pub use detector::Detector;
pub use hb::Hb;
pub use hybrid::{Hybrid, HybridOptions};
pub use lock_order::{Deadlock, DeadlockStep, Deadlocks, LockOrder, LockPlace};
pub use locks::{Change, Held, HeldLocks};
pub use locksets::{LocksetId, Locksets};
pub use marks::{Mark, Marked};
pub use messages::{Clock, Messages};
pub use method::{Method, Promise, UnknownMethod};
pub use races::{Access, Found, Race, Races, Signature};
pub use rounds::{Rounds, Unclear};
pub use shadow::Shadow;
pub use shb::Shb;
pub use simple::Simple;
pub use suspects::Suspects;
pub use syncp::SyncP;
pub use wcp::Wcp;
