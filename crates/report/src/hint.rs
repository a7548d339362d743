//! Hints that a race may do no harm, in words.

use deadheat_detect::Hint;
use deadheat_trace::{SyncId, Tables};

use crate::names::Names;

/// A hint, for people.
pub fn told(hint: Hint, names: &Names, tables: &Tables) -> String {
    match hint {
        Hint::SameValue(value) => format!(
            "every write to it in this run stores the same value ({value}); a relaxed atomic would do"
        ),
        Hint::Unchanged => {
            "every write to it in this run stores what was there already".to_owned()
        }
        Hint::Counter => {
            "looks like a statistics counter: writes add to what was just read; updates can be lost"
                .to_owned()
        }
        Hint::DoubleChecked(lock) => format!(
            "looks like double-checked locking with {}: the first look needs an acquire load, the write \
             a release store",
            names.lock(SyncId(lock.0), tables)
        ),
        Hint::LazyInitialisation => {
            "looks like lazy initialisation: set by whoever finds it unset; two threads may both set it"
                .to_owned()
        }
        Hint::Flag { poller } => format!(
            "looks like a flag that {} waits for; without an atomic the compiler may read it once",
            tables.thread_name(poller)
        ),
        Hint::Timestamp { writer } => format!(
            "looks like a timestamp: {} sets it to larger and larger values",
            tables.thread_name(writer)
        ),
    }
}
