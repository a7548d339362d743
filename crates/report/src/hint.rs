//! Hints that a race may do no harm, in words.

use deadheat_detect::Hint;
use deadheat_trace::{SyncId, Tables};

use crate::names::Names;

const DOUBLE_CHECKED: &str = "looks like double-checked locking with";

/// Whether a hint says that it is double-checked locking: the lock is left out on purpose.
pub fn is_double_checked(told: &str) -> bool {
    told.starts_with(DOUBLE_CHECKED)
}

/// What a hint says is to be done about a variable, if it says so.
pub fn suggestion(hint: Hint, variable: &str) -> Option<String> {
    match hint {
        Hint::DoubleChecked(_) => Some(format!(
            "make `{variable}` atomic: look at it first with an acquire load, and set it with a release store"
        )),
        Hint::Flag { .. } => Some(format!(
            "make `{variable}` atomic: set it with a release store, and wait for it with acquire loads"
        )),
        Hint::Counter => Some(format!(
            "make `{variable}` an atomic counter, or hold the same lock wherever it is changed"
        )),
        _ => None,
    }
}

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
            "{DOUBLE_CHECKED} {}: the first look needs an acquire load, the write \
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
