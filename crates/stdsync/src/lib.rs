//! What Rust's standard library does to synchronise in code of its own, once more.
//!
//! The compiler instruments what it translates, and it does not translate the standard library
//! again. Most of a `Mutex` is inlined into the program and seen; what happens when it is
//! contended is not. These few functions do the same to the same words of memory as those of
//! the library, and are translated with instrumentation: every access to those words is in the
//! recording, with its value and its order. Programs are linked with them in the library's place
//! (see `crates/build/src/rust/standard.rs`).
//!
//! They depend on how the library lays out its objects and what their numbers mean. That is
//! looked up in the compiler at hand before anything is built: by `probe.rs`, a program that
//! watches the real ones at work.
//!
//! Deviations from the library: nothing spins before it goes to sleep, because a recording of
//! one thread at a time has nobody to wait for while it spins.

pub mod barrier;
pub mod condvar;
mod futex;
pub mod layout;
pub mod mutex;
pub mod once;
pub mod park;
pub mod rwlock;
pub mod scope;
#[cfg(test)]
mod tests;

#[cfg(deadheat_linked)]
include!(env!("DEADHEAT_STANDARD_EXPORTS"));
