//! Which methods have nothing to look at, if it is known which memory may be part of a race.

use deadheat_detect::{Method, Suspects};

use crate::how::How;

/// Whether a method has nothing to find, so that the trace need not be read for it.
pub fn spare(suspects: &Suspects, how: How) -> bool {
    match how {
        How::Detect(Method::Hb) => suspects.is_empty(),
        // What is a lock, and what hands something over, it finds out by itself.
        How::Detect(Method::Hybrid) => !suspects.has_unordered(),
        How::Detect(_) => false,
        How::Predict(_) | How::Interleave => suspects.is_empty() && !suspects.has_synchronisation(),
    }
}
