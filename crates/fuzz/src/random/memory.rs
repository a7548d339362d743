//! Memory by bytes: where variables are, what an access reads and leaves, and whether it races with what
//! others did there.

use super::clocks::Seen;
use super::program::{Program, Var};
use super::state::{NOBODY, State};
use super::step::Machine;

/// Bytes of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which object.
    pub object: usize,
    /// The first byte.
    pub at: u8,
    /// How many.
    pub width: u8,
}

/// How many objects a program has.
#[must_use]
pub fn objects(program: &Program) -> usize {
    program.plain + program.atomics.len() + program.areas + program.blocks
}

/// Where a variable is: plain ones come first, then atomic ones, areas, heap blocks.
#[must_use]
pub fn place(program: &Program, var: Var) -> Place {
    let atomics = program.plain;
    let areas = atomics + program.atomics.len();
    let blocks = areas + program.areas;
    let (object, at, width) = match var {
        Var::Plain(n) => (n, 0, 4),
        Var::Atomic(n) => (atomics + n, 0, program.atomics.get(n).copied().unwrap_or(4)),
        Var::Part { area, at, width } => (areas + area, at, width),
        Var::Block { block, at, width } => (blocks + block, at, width),
    };
    Place { object, at, width }
}

impl Place {
    /// The first bytes of the same object.
    #[must_use]
    pub fn first(self, bytes: u8) -> Place {
        Place {
            at: 0,
            width: bytes,
            ..self
        }
    }

    /// What so many bytes mean as a signed number, converted to `int`.
    #[must_use]
    pub fn number(self, raw: u64) -> i32 {
        match self.width {
            1 => i32::from(raw as u8 as i8),
            2 => i32::from(raw as u16 as i16),
            _ => raw as i32,
        }
    }

    fn bytes(self) -> std::ops::Range<usize> {
        usize::from(self.at)..usize::from(self.at + self.width)
    }
}

/// What is there.
#[must_use]
pub fn contents(state: &State, place: Place) -> u64 {
    let mut raw = [0; 8];
    let bytes = &state.memory[place.object][place.bytes()];
    raw[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(raw)
}

impl Machine<'_> {
    /// An access; what was there. Compares it with what others did.
    pub(super) fn access(
        &mut self,
        state: &mut State,
        (thread, id): (usize, u32),
        place: Place,
        write: Option<u64>,
        atomic: bool,
    ) -> u64 {
        let clock = state.threads[thread].clock;
        let now = Seen {
            thread: u8::try_from(thread).unwrap_or(NOBODY),
            id,
            write: write.is_some(),
            atomic,
            at: place.at,
            width: place.width,
            epoch: clock.of(thread),
        };
        if state.freed.contains(&place.object) {
            self.dangling.insert(id);
            self.corrupts |= write.is_some();
        }
        let list = &mut state.seen[place.object];
        for earlier in list.iter() {
            let known = clock.knows(usize::from(earlier.thread), earlier.epoch);
            if earlier.conflicts_with(&now) && !known {
                self.races.insert((earlier.id.min(id), earlier.id.max(id)));
            }
        }
        let kind = |s: &Seen| (s.thread, s.id, s.write, s.atomic);
        list.retain(|s| kind(s) != kind(&now));
        list.push(now);
        list.sort_unstable();
        let old = contents(state, place);
        if let Some(value) = write {
            let bytes = &value.to_le_bytes()[..usize::from(place.width)];
            state.memory[place.object][place.bytes()].copy_from_slice(bytes);
        }
        old
    }
}
