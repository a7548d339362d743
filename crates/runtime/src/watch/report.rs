//! What is told to the tool: races as they are found, and what the user should know.

use core::fmt;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use deadheat_wire::watch::{AccessKind, Record};

use super::blocks;
use super::context::{self, Context, Held, UNKNOWN_LOCKS};
use super::output::{self, Buffer};
use super::shadow::Cell;
use super::slots;
use crate::local::Inside;
use crate::record::{Mode, mode};
use crate::{message, options, threads};

/// The most findings that are told, and the most frames of a stack.
const MOST: u32 = 10_000;
const MOST_FRAMES: usize = 512;
const MOST_LOCKS: usize = 64;

/// What was told already, by signature; open addressing, never more than half full.
const SEEN: usize = 1 << 15;
static KNOWN: [AtomicU64; SEEN] = [const { AtomicU64::new(0) }; SEEN];
static FOUND: AtomicU32 = AtomicU32::new(0);
/// Set when something was lost that others rely on: no finding can be trusted from then on.
static BROKEN: AtomicU32 = AtomicU32::new(0);

/// A note that is told once.
pub type Once = AtomicU32;
/// No slot for a thread.
pub static SLOTS_USED_UP: Once = Once::new(0);
/// The shadow was dropped.
pub static SHADOW_DROPPED: Once = Once::new(0);
static ENOUGH: Once = Once::new(0);

/// How many findings were told.
pub fn count() -> u32 {
    FOUND.load(Ordering::Relaxed).min(MOST)
}

/// In a forked process: it tells its own.
pub fn start_anew() {
    FOUND.store(0, Ordering::Relaxed);
    for known in &KNOWN {
        if known.load(Ordering::Relaxed) != 0 {
            known.store(0, Ordering::Relaxed);
        }
    }
}

/// Tells something, unless it was told before.
pub fn note_once(once: &Once, text: &str) {
    if once.swap(1, Ordering::Relaxed) == 0 {
        note(format_args!("{text}"));
    }
}

/// Tells something.
pub fn note(text: fmt::Arguments) {
    output::write(|record| record.text("note", output::pid(), text));
}

/// Stops telling races: an order between threads is lost, so what looks like a race may be none.
#[cold]
pub fn give_up(why: &str) {
    if BROKEN.swap(1, Ordering::AcqRel) == 0 {
        note(format_args!("watching has stopped: {why}"));
        message::say(format_args!("watching has stopped: {why}"));
    }
}

/// Whether a finding with this signature is to be told: it is new, and there are not too many. Its
/// number then.
pub fn is_new(signature: u64) -> Option<u32> {
    if mode() != Mode::Watch || BROKEN.load(Ordering::Acquire) != 0 {
        return None;
    }
    let signature = signature.max(1);
    let mut at = signature as usize % SEEN;
    loop {
        let found = match KNOWN[at].load(Ordering::Relaxed) {
            0 if count() >= MOST => {
                note_once(&ENOUGH, "10000 findings were told; further ones are not");
                return None;
            }
            0 => KNOWN[at]
                .compare_exchange(0, signature, Ordering::Relaxed, Ordering::Relaxed)
                .map_or_else(|other| other, |_| 0),
            found => found,
        };
        if found == 0 {
            return Some(FOUND.fetch_add(1, Ordering::Relaxed) + 1);
        }
        if found == signature {
            return None;
        }
        at = (at + 1) % SEEN;
    }
}

/// An access as it is told.
pub struct Access {
    /// What it does.
    pub kind: AccessKind,
    /// Its first byte.
    pub addr: usize,
    /// How many.
    pub bytes: usize,
    /// By whom.
    pub thread: u32,
    /// Where, with which locks.
    pub context: Context,
}

impl Access {
    fn of_cell(cell: Cell, addr: usize, thread: u32) -> Self {
        let context = Context::of(cell.context());
        let kind = match (cell.writes(), cell.is_atomic()) {
            _ if context.frees => AccessKind::Free,
            (false, false) => AccessKind::Read,
            (true, false) => AccessKind::Write,
            (false, true) => AccessKind::AtomicRead,
            (true, true) => AccessKind::AtomicWrite,
        };
        Access {
            kind,
            addr: (addr & !7) + cell.mask().trailing_zeros() as usize,
            bytes: cell.mask().count_ones() as usize,
            thread,
            context,
        }
    }

    fn write(&self, which: &str, record: &mut Record<Buffer>) -> fmt::Result {
        let (addr, bytes) = (self.addr as u64, self.bytes as u64);
        record.access(which, self.kind, addr, bytes, self.thread)?;
        write_stack(record, &self.context)?;
        if self.context.held == UNKNOWN_LOCKS {
            return record.unknown_locks();
        }
        // They are kept with the last taken first.
        let mut held = [None::<Held>; MOST_LOCKS];
        let mut count = 0;
        for (place, lock) in held.iter_mut().zip(context::locks(self.context.held)) {
            *place = Some(lock);
            count += 1;
        }
        for lock in held[..count].iter().rev().flatten() {
            record.lock(lock.write, lock.lock)?;
            write_stack(record, &Context::of(lock.taken))?;
        }
        Ok(())
    }
}

/// Writes where something was.
pub fn write_stack(record: &mut Record<Buffer>, context: &Context) -> fmt::Result {
    record.stack(context.stack().take(MOST_FRAMES))
}

/// A race between the access in `old` and the one that `thread` is about to make.
pub fn race(thread: u32, addr: usize, size: usize, old: Cell, new: Cell) {
    let _inside = Inside::enter();
    let earlier_thread = slots::thread_at(old.slot(), old.time());
    let earlier = Access::of_cell(old, addr, earlier_thread.unwrap_or(u32::MAX));
    let mut later = Access::of_cell(new, addr, thread);
    (later.addr, later.bytes) = (addr, size);
    race_between(&earlier, &later);
}

/// A race between two accesses.
pub fn race_between(earlier: &Access, later: &Access) {
    let [one, other] = [earlier, later].map(|access| access.context.signature());
    if let Some(number) = is_new(one.min(other) ^ one.max(other).rotate_left(17)) {
        tell("race", number, Some(earlier), later, |_| Ok(()));
    }
}

/// Writes a finding, and waits for the tool's answer if the user wants to look at it.
pub fn tell(
    word: &str,
    number: u32,
    earlier: Option<&Access>,
    later: &Access,
    more: impl FnOnce(&mut Record<Buffer>) -> fmt::Result,
) {
    let wait = match options::ON_RACE.get() {
        1 => output::question(),
        _ => None,
    };
    let block = blocks::find(later.addr);
    let stack = match block {
        None => threads::whose_stack(later.addr),
        Some(_) => None,
    };
    output::write(|record| {
        record.finding(word, output::pid(), number)?;
        if let Some(offset) = wait {
            record.wait(offset)?;
        }
        more(record)?;
        if let Some(earlier) = earlier {
            earlier.write("earlier", record)?;
        }
        later.write("later", record)?;
        match (block, stack) {
            (Some(block), _) => {
                record.heap(block.start as u64, block.bytes as u64, block.thread)?;
                write_stack(record, &Context::of(block.context))
            }
            (None, Some((thread, [low, top]))) => record.on_stack(thread, low as u64, top as u64),
            (None, None) => record.global(),
        }
    });
    if let Some(offset) = wait {
        output::wait_for_answer(offset);
    }
}
