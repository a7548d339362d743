//! The words of memory that locks are made of.
//!
//! Where a lock is a word that the program changes by atomics (Rust's `Mutex`), a trace has both: the lock taken
//! and given back, and what happened to the word. A method that reorders critical sections must not
//! take the order of the latter: it is the lock's.

use deadheat_trace::{Addr, LockId, Tables};
use rustc_hash::FxHashSet;

/// The words of all locks that were taken so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockWords {
    words: FxHashSet<Addr>,
}

impl LockWords {
    /// A lock is taken: its word, if that is a new one.
    pub fn add(&mut self, lock: LockId, tables: &Tables) -> Option<Addr> {
        let addr = tables.syncs.get(lock.index())?.addr;
        (addr != Addr(0) && self.words.insert(addr)).then_some(addr)
    }

    /// Whether an atomic access is one to a lock's word.
    #[inline]
    pub fn has(&self, addr: Addr) -> bool {
        !self.words.is_empty() && self.words.contains(&addr)
    }

    /// This memory is new.
    pub fn forget(&mut self, addr: Addr, size: u64) {
        let memory = addr.0..addr.0.saturating_add(size);
        if !self.words.is_empty() {
            self.words.retain(|word| !memory.contains(&word.0));
        }
    }
}
