//! What the names in a text trace stand for: each gets its number at its first appearance.

use std::borrow::Cow;

use super::error::{Fault, Problem};
use super::line::{Line, Place, Target};
use super::named::Named;
use crate::cells::{self, Allotment, Cell};
use crate::{Addr, Event, Op, Pc, Step, SyncId, SyncKind, SyncObject, Tables, Thread, ThreadId};

/// The tables under construction, and the way back from names to numbers.
#[derive(Default)]
pub(super) struct Names {
    pub tables: Tables,
    threads: Named<ThreadId>,
    /// One namespace per [`SyncKind`].
    syncs: [Named<SyncId>; 6],
    variables: Named<Cell>,
    locations: Named<Pc>,
    cells: Allotment,
}

impl Names {
    /// The step that a line means.
    pub fn step(&mut self, line: &Line<'_>) -> Result<Step, Fault> {
        let thread = self.thread(line.thread, 0)?;
        let (op, at) = (line.op, line.target_at);
        let pc = self.location(&line.location)?;
        let plain = |target| Step::new(Event::new(thread, op, target, pc));
        Ok(match &line.target {
            // As in recordings: a thread's begin and end are about itself.
            Target::Nothing if matches!(op, Op::Begin | Op::End) => plain(u64::from(thread.0)),
            Target::Nothing => plain(0),
            Target::Thread(name) => {
                let (peer, new) = self.peer(name, at)?;
                if new && op == Op::Fork {
                    let entry = &mut self.tables.threads[peer.index()];
                    entry.parent = Some(thread);
                    entry.created_at = Some(pc);
                }
                plain(u64::from(peer.0))
            }
            Target::Object { kind, name, value } => {
                let id = self.sync(*kind, name, at)?;
                with_written(plain(u64::from(id.0)), *value)
            }
            Target::Fence(order) => Step::new(Event::atomic(thread, op, Addr(0), 0, *order, pc)),
            Target::Number(number) if op == Op::Lost => plain(0).with_written(*number),
            Target::Number(number) => plain(*number),
            Target::Memory {
                place,
                size,
                read,
                written,
                order,
            } => {
                let addr = self.address(place, size.unwrap_or(0), at)?;
                let event = match (op.is_atomic(), op.is_access()) {
                    (true, _) => {
                        let size = size.unwrap_or(0) as u8;
                        Event::atomic(thread, op, addr, size, *order, pc)
                    }
                    (false, true) => Event::access(thread, op, addr, size.unwrap_or(0) as u16, pc),
                    (false, false) => {
                        return Ok(with_written(plain(addr.0), *size));
                    }
                };
                let step = with_written(Step::new(event), *written);
                read.map_or(step, |value| step.with_read(value))
            }
        })
    }

    /// The step that a line of STD means, if it is one of the four kinds that nearly all are, and all of its names are
    /// short and known: what is known was looked at when it was met first.
    #[inline]
    pub fn known(&mut self, thread: &[u8], what: &[u8], location: &[u8]) -> Option<Step> {
        let thread = *self.threads.get_short(thread)?;
        let pc = *self.locations.get_short(location)?;
        let (op, name) = match what {
            [b'r', b'(', name @ .., b')'] => (Op::Read, name),
            [b'w', b'(', name @ .., b')'] => (Op::Write, name),
            [b'a', b'c', b'q', b'(', name @ .., b')'] => (Op::Acquire, name),
            [b'r', b'e', b'l', b'(', name @ .., b')'] => (Op::Release, name),
            _ => return None,
        };
        if op.is_access() {
            let cell = self.variables.get_short(name)?;
            let event = Event::access(thread, op, cell.base, cells::SMALLEST as u16, pc);
            return (cells::SMALLEST <= cell.size).then(|| Step::new(event));
        }
        let lock = self.syncs[SyncKind::Lock as usize].get_short(name)?;
        Some(Step::new(Event::new(thread, op, u64::from(lock.0), pc)))
    }

    /// The thread of this name.
    pub fn thread(&mut self, name: &str, at: usize) -> Result<ThreadId, Fault> {
        self.peer(name, at).map(|(thread, _)| thread)
    }

    /// The thread of this name, and whether it is new.
    fn peer(&mut self, name: &str, at: usize) -> Result<(ThreadId, bool), Fault> {
        if let Some(&thread) = self.threads.get(name) {
            return Ok((thread, false));
        }
        let threads = &mut self.tables.threads;
        let thread = ThreadId(number(threads.len(), "threads", Event::MAX_THREAD, at)?);
        threads.push(Thread {
            name: thread_name(name, thread),
            ..Thread::default()
        });
        self.threads.insert(name, thread);
        Ok((thread, true))
    }

    /// The object of this kind and name.
    pub fn sync(&mut self, kind: SyncKind, name: &str, at: usize) -> Result<SyncId, Fault> {
        let space = &mut self.syncs[kind as usize];
        if let Some(&id) = space.get(name) {
            return Ok(id);
        }
        let syncs = &mut self.tables.syncs;
        let id = SyncId(number(syncs.len(), "objects", u32::MAX, at)?);
        syncs.push(SyncObject {
            kind,
            addr: Addr(0),
            name: sync_name(name, kind, id),
        });
        space.insert(name, id);
        Ok(id)
    }

    /// The location with this text.
    pub fn location(&mut self, text: &str) -> Result<Pc, Fault> {
        if let Some(&pc) = self.locations.get(text) {
            return Ok(pc);
        }
        let locations = &mut self.tables.locations;
        let pc = Pc(number(locations.len(), "locations", u32::MAX, 0)?);
        locations.push(text.to_owned());
        self.locations.insert(text, pc);
        Ok(pc)
    }

    /// Gives a variable a cell of at least this many bytes before its first use.
    pub fn declare(&mut self, name: &str, bytes: u64, at: usize) -> Result<(), Fault> {
        if let Some(cell) = self.variables.get(name) {
            if Cell::size_for(bytes) == Some(cell.size) {
                return Ok(());
            }
            let (name, has) = (name.to_owned(), cell.size);
            return Err(Fault::new(at, Problem::Redeclared { name, has }));
        }
        self.new_cell(name, bytes, at).map(|_| ())
    }

    fn address(&mut self, place: &Place<'_>, size: u64, at: usize) -> Result<Addr, Fault> {
        let (name, offset): (&Cow<'_, str>, u64) = match place {
            Place::Address(address) => return Ok(Addr(*address)),
            Place::Variable { name, offset } => (name, *offset),
        };
        let needs = offset.saturating_add(size.max(1));
        let cell = match self.variables.get(name) {
            Some(cell) => *cell,
            None => self.new_cell(name, needs, at)?,
        };
        if needs > cell.size {
            let (name, has) = (name.to_string(), cell.size);
            return Err(Fault::new(at, Problem::Beyond { name, has, needs }));
        }
        Ok(Addr(cell.base.0 + offset))
    }

    fn new_cell(&mut self, name: &str, bytes: u64, at: usize) -> Result<Cell, Fault> {
        let too_many = |what, limit| Fault::new(at, Problem::TooMany { what, limit });
        let size =
            Cell::size_for(bytes).ok_or_else(|| too_many("bytes in a variable", cells::LARGEST))?;
        let cell = self
            .cells
            .next(size)
            .ok_or_else(|| too_many("variables of this size", (1 << 41) / size))?;
        self.cells.advance_past(cell);
        self.tables.variables.insert(cell.base, name.to_owned());
        self.variables.insert(name, cell);
        Ok(cell)
    }
}

/// The name to keep of a thread that the text calls `token`: none if that is how it would be
/// called without one.
pub(super) fn thread_name(token: &str, thread: ThreadId) -> Option<String> {
    (token != thread.to_string()).then(|| token.to_owned())
}

/// The same for an object.
pub(super) fn sync_name(token: &str, kind: SyncKind, id: SyncId) -> Option<String> {
    (token != format!("{}{}", kind.letter(), id.0)).then(|| token.to_owned())
}

fn with_written(step: Step, value: Option<u64>) -> Step {
    value.map_or(step, |value| step.with_written(value))
}

fn number(len: usize, what: &'static str, limit: u32, at: usize) -> Result<u32, Fault> {
    match u32::try_from(len) {
        Ok(number) if number <= limit => Ok(number),
        _ => {
            let limit = u64::from(limit) + 1;
            Err(Fault::new(at, Problem::TooMany { what, limit }))
        }
    }
}
