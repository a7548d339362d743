//! The accesses to one memory location that a hybrid detector remembers: O'Callahan and Choi, "Hybrid
//! Dynamic Data Race Detection" (PPoPP 2003), sections 4 and 5.
//!
//! An access is remembered as thread, kind, locks held and the thread's time. Two accesses may
//! race if their threads differ, one writes, no lock excludes them, and neither thread knew the other's
//! time. Accesses lie in a *trie* whose edges are labelled with locks: the way to a node is the set of
//! locks held there, in ascending order. So an access is compared only with those that hold none of its
//! locks: [`History::add`].
//!
//! A new access is not remembered if the remembered ones make it redundant: whatever will race with it
//! will race with one of them.
//!
//! - *Lockset-subset*: an access of the same thread at the same time, of the same kind or a write, held
//!   no lock that the new one does not hold.
//! - *Oversized lockset*: whoever races with the new access and with none of the remembered ones of the
//!   same thread and time would have to hold a lock from each of them; that would be more locks than any
//!   thread holds. How many it takes is the size of a smallest hitting set, which is at least the number
//!   of sets, out of those, that have no lock in common: chosen greedily.
//!
//! Both are the paper's, and can be switched off. A third is not in it: a remembered access is dropped
//! when a new one that knows of it (or is of the same thread) holds only locks that it held, and writes or
//! it does not. Without this a history grows with the number of messages.
//!
//! The most locks that a thread holds are learned, so the second rule may have been applied with too small
//! a number. Each history knows the smallest that was used on it. An access with more locks is still
//! compared with everything there is, but a race with what was left out may be missed: the answer is
//! [unsure](Outcome::unsure), and the paper's remedy is another run that starts with the larger number.
//!
//! No dependency, no allocation: the nodes lie where the user says ([`Slots`]). Recursion goes as deep as a
//! thread holds locks.

#![no_std]

#[cfg(test)]
extern crate std;

mod hold;
mod question;
mod slots;
mod trie;

pub use hold::Hold;
pub use slots::{Linked, SliceSlots, Slots};
pub use trie::{Access, History, Node, Options, Outcome, Record, Store};

#[cfg(test)]
mod tests;
