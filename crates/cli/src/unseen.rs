//! Which events come from code without hooks.
//!
//! The C library's functions are seen whoever calls them: a library that was not built with
//! Deadheat, or Rust's standard library, copies and frees memory too. What such code does to
//! synchronise is not seen, so its accesses say nothing about races and are not judged.

use deadheat_report::Binaries;
use deadheat_trace::{Event, Op, Pc, Tables};
use rustc_hash::FxHashMap;

/// Knows which code has hooks.
pub struct Unseen {
    binaries: Binaries,
    known: FxHashMap<Pc, bool>,
}

impl Unseen {
    /// For a recording with these tables.
    pub fn of(tables: &Tables) -> Self {
        Unseen {
            binaries: Binaries::of(tables),
            known: FxHashMap::default(),
        }
    }

    /// Whether an event is an access by code without hooks.
    #[inline]
    pub fn is_unseen(&mut self, event: &Event) -> bool {
        matches!(event.op(), Op::Read | Op::Write | Op::Free) && self.is_without_hooks(event.pc())
    }

    /// Whether a place is in code without hooks.
    #[inline]
    pub fn is_without_hooks(&mut self, pc: Pc) -> bool {
        match self.known.get(&pc) {
            Some(known) => *known,
            None => self.look_up(pc),
        }
    }

    #[cold]
    fn look_up(&mut self, pc: Pc) -> bool {
        // Without the program's file nothing is known, and all is judged.
        let unseen = self.binaries.find(pc).is_some_and(|(binary, address)| {
            !binary.has_hooks(address.saturating_sub(1)) && !hands_on(&self.binaries, pc)
        });
        self.known.insert(pc, unseen);
        unseen
    }
}

/// Whether the function at a place only hands on what its caller wants: C++'s `delete`.
fn hands_on(binaries: &Binaries, pc: Pc) -> bool {
    let frames = binaries.frames(pc);
    let name = frames.first().and_then(|frame| frame.function.as_deref());
    name.is_some_and(|name| name.starts_with("operator delete"))
}
