//! Locks that programs make of atomics: which place in the program takes one, which gives it back.
//!
//! Rust's `Mutex` and `RwLock` are a word each, and what is recorded of them is what happens to
//! that word. From the names of the functions in which it happens a reader knows what it means,
//! and puts the taking and giving of the lock beside the access: the access stays, so that
//! values remain checkable. Where names are missing there are just the accesses, which order
//! everything that the lock orders.

use std::fmt;
use std::sync::Arc;

use crate::Pc;

/// What an atomic access at some place does to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Nothing that is known.
    None,
    /// The place belongs to the implementation of atomics: whoever called it tells.
    Inner,
    /// If it changes the word, the lock is taken, for writing if that is told apart.
    Lock,
    /// The lock is given back.
    Unlock,
    /// If it changes the word, the lock is taken for reading.
    ReadLock,
    /// The same as [`Role::Lock`], and otherwise the thread goes on without it.
    TryLock,
    /// The same as [`Role::ReadLock`], and otherwise the thread goes on without it.
    TryReadLock,
    /// The lock was held for reading and is given back.
    ReadUnlock,
    /// The lock was held for writing and is now held for reading.
    Downgrade,
}

impl Role {
    /// The role of a place, from the functions that it is in, innermost first: those that were
    /// inlined there, then the one that was not.
    ///
    /// ```
    /// use deadheat_trace::Role;
    /// let inlined = ["core::sync::atomic::atomic_swap::<u32>", "<std::sys::sync::mutex::futex::Mutex>::unlock", "main"];
    /// assert_eq!(Role::of_functions(inlined), Role::Unlock);
    /// ```
    pub fn of_functions<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut roles = names.into_iter().map(Role::of_function);
        roles
            .find(|role| *role != Role::Inner)
            .unwrap_or(Role::Inner)
    }

    fn of_function(name: &str) -> Self {
        // Types stand in brackets in the newer of Rust's two ways to name functions.
        let path = name.replace(['<', '>'], "");
        let path = path.as_str();
        if path.starts_with("core::sync::atomic::") {
            return Role::Inner;
        }
        let mutex = path.strip_prefix("std::sys::sync::mutex::futex::Mutex::");
        let rwlock = path.strip_prefix("std::sys::sync::rwlock::futex::RwLock::");
        let ours = path.strip_prefix("deadheat_stdsync::");
        match (mutex, rwlock, ours) {
            (Some("lock"), ..) => Role::Lock,
            (Some("try_lock"), ..) => Role::TryLock,
            (Some("unlock"), ..) => Role::Unlock,
            (_, Some("read"), _) => Role::ReadLock,
            (_, Some("try_read"), _) => Role::TryReadLock,
            (_, Some("write"), _) => Role::Lock,
            (_, Some("try_write"), _) => Role::TryLock,
            (_, Some("read_unlock"), _) => Role::ReadUnlock,
            (_, Some("write_unlock"), _) => Role::Unlock,
            (_, Some("downgrade"), _) => Role::Downgrade,
            (_, _, Some("mutex::take" | "rwlock::take_for_writing")) => Role::Lock,
            (_, _, Some("rwlock::take_for_reading")) => Role::ReadLock,
            (_, _, Some("mutex::unlock")) => Role::Unlock,
            _ => Role::None,
        }
    }
}

/// Answers what the places of a trace do.
#[derive(Clone)]
pub struct Roles(Arc<dyn Fn(Pc) -> Role + Send + Sync>);

impl Roles {
    /// Those that a function answers. It is asked about the same place again and again.
    pub fn new(answer: impl Fn(Pc) -> Role + Send + Sync + 'static) -> Self {
        Roles(Arc::new(answer))
    }

    /// What a place does.
    pub fn of(&self, pc: Pc) -> Role {
        (self.0)(pc)
    }
}

impl fmt::Debug for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Roles")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_either_kind_of_name() {
        let role = |name| Role::of_functions([name]);
        assert_eq!(
            role("<std::sys::sync::mutex::futex::Mutex>::try_lock"),
            Role::TryLock
        );
        assert_eq!(
            role("std::sys::sync::rwlock::futex::RwLock::read"),
            Role::ReadLock
        );
        assert_eq!(
            role("std::sys::sync::mutex::futex::Mutex::lock_contended"),
            Role::None
        );
        assert_eq!(role("deadheat_stdsync::mutex::take"), Role::Lock);
        assert_eq!(role("main"), Role::None);
    }

    #[test]
    fn the_callers_of_atomics_tell() {
        let atomic = "<core::sync::atomic::Atomic<u32>>::fetch_sub";
        let unlock = "<std::sys::sync::rwlock::futex::RwLock>::read_unlock";
        assert_eq!(Role::of_functions([atomic]), Role::Inner);
        assert_eq!(
            Role::of_functions([atomic, unlock, "main"]),
            Role::ReadUnlock
        );
        assert_eq!(Role::of_functions([atomic, "main"]), Role::None);
    }
}
