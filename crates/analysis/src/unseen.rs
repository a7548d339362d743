//! Which events come from code without hooks.
//!
//! The C library's functions are seen whoever calls them: a library that was not built with
//! Deadheat, or Rust's standard library, copies and frees memory too. What such code does to
//! synchronise is not seen, so its accesses say nothing about races and are not judged. Whether code has hooks stands
//! in the program's files. Where a file is gone, only accesses that were announced by a hook are judged.

use deadheat_report::Binaries;
use deadheat_trace::{Event, Op, Pc, Tables};
use rustc_hash::FxHashMap;

/// How the names of C++'s `delete` and `delete[]` begin.
const DELETE: [&str; 2] = ["_Zdl", "_Zda"];

/// Knows which code has hooks.
pub struct Unseen {
    binaries: Binaries,
    known: FxHashMap<Pc, bool>,
    /// Places without hooks that give memory back, and whether they do it for their caller.
    handing_on: FxHashMap<Pc, bool>,
    /// The same by address: `None` has hooks.
    places: FxHashMap<u64, Option<bool>>,
}

fn is_delete(name: &str) -> bool {
    DELETE.iter().any(|delete| name.starts_with(delete))
}

impl Unseen {
    /// For a recording with these tables.
    pub fn of(tables: &Tables) -> Self {
        Unseen {
            binaries: Binaries::of(tables),
            known: FxHashMap::default(),
            handing_on: FxHashMap::default(),
            places: FxHashMap::default(),
        }
    }

    /// Whether an event is an access by code without hooks, or may be. The tables are those that the event was read with.
    #[inline]
    pub fn is_unseen(&mut self, event: &Event, tables: &Tables) -> bool {
        matches!(event.op(), Op::Read | Op::Write | Op::Free)
            && self.is_without_hooks(event, tables)
    }

    /// Whether an event is in code without hooks, or may be.
    #[inline]
    pub fn is_without_hooks(&mut self, event: &Event, tables: &Tables) -> bool {
        let unseen = match self.known.get(&event.pc()) {
            Some(known) => *known,
            None => self.look_up(event, tables),
        };
        unseen && !(event.op() == Op::Free && self.is_handed_on(event.pc()))
    }

    /// The same for an operation at an address of the running program.
    pub fn is_place_unseen(&mut self, op: Op, address: u64) -> bool {
        if !matches!(op, Op::Read | Op::Write | Op::Free) {
            return false;
        }
        let binaries = &self.binaries;
        let place = *self.places.entry(address).or_insert_with(|| {
            let found = binaries.find_address(address);
            let (binary, address) = found?;
            let address = address.saturating_sub(1);
            let name = binary.symbol(address);
            let hands_on = name.is_some_and(|name| is_delete(&name));
            (!binary.has_hooks(address)).then_some(hands_on)
        });
        place.is_some_and(|hands_on| !(op == Op::Free && hands_on))
    }

    #[cold]
    fn look_up(&mut self, event: &Event, tables: &Tables) -> bool {
        let pc = event.pc();
        let unseen = match self.binaries.find(pc) {
            Some((binary, address)) => !binary.has_hooks(address.saturating_sub(1)),
            // Text has no program.
            None if tables.module_of(pc).is_none() => false,
            None => event.op() == Op::Free || tables.copies.contains(&pc),
        };
        self.known.insert(pc, unseen);
        unseen
    }

    /// Whether the function at a place only hands on what its caller wants: C++'s `delete`.
    fn is_handed_on(&mut self, pc: Pc) -> bool {
        let binaries = &self.binaries;
        *self.handing_on.entry(pc).or_insert_with(|| {
            let found = binaries.find(pc);
            let name = found.and_then(|(binary, address)| binary.symbol(address.saturating_sub(1)));
            name.is_some_and(|name| is_delete(&name))
        })
    }
}
