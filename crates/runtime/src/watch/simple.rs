//! The simple mode of *Hybrid Dynamic Data Race Detection* (O'Callahan, Choi, PPoPP 2003), section
//! 6.2: Eraser's locksets with a thread-locality check.
//!
//! Every four bytes have one word of state: nobody's, one thread's, shared, flagged. Accesses of the
//! first thread do not count (the locality check). From the second thread's on, the locks that all of
//! them held are intersected; when none is left, at least one wrote and there were two threads among
//! them, the word is flagged and told as a place that means the same in another run.
//!
//! Deviations: the paper looks at fields, this at aligned words, so neighbours that share one are not
//! told apart. A read counts all locks held, a write those held for writing. Atomic accesses do not
//! count. Known misses: those of the locality check. What is flagged need not be a race: only
//! locks are seen, not what else orders threads, and not locks made of atomics (Rust's).

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use deadheat_wire::watch::{AccessKind, Place};

use super::context::Context;
use super::report::{self, Access};
use super::watcher::Watcher;
use super::{blocks, code, intern, locksets, shadow};
use crate::local::Local;
use crate::threads;

/// A word's state: two bits for its kind, then as below.
#[derive(Clone, Copy)]
struct State(u64);

const KIND: u64 = 0b11;
const OWNED: u64 = 1;
const SHARED: u64 = 2;
/// No lock protects it, and that was told: nothing more is learned about it.
pub const FLAGGED: u64 = 3;
const WRITTEN: u64 = 1 << 2;
/// There were accesses of two threads since it is shared.
pub const MANY: u64 = 1 << 3;
const SET_SHIFT: u32 = 4;
const SET: u64 = ((1 << locksets::BITS) - 1) << SET_SHIFT;
const CONTEXT_SHIFT: u32 = SET_SHIFT + locksets::BITS;
/// Where a state has its thread.
pub const THREAD_SHIFT: u32 = CONTEXT_SHIFT + super::context::BITS;

const _: () = assert!(THREAD_SHIFT + 22 == 64, "as many threads as there can be");

impl State {
    const fn shared(flags: u64, set: u32, context: u32, thread: u32) -> Self {
        State(
            SHARED
                | flags
                | (set as u64) << SET_SHIFT
                | (context as u64) << CONTEXT_SHIFT
                | (thread as u64) << THREAD_SHIFT,
        )
    }

    const fn thread(self) -> u32 {
        (self.0 >> THREAD_SHIFT) as u32
    }

    const fn set(self) -> u32 {
        (self.0 >> SET_SHIFT) as u32 & ((1 << locksets::BITS) - 1)
    }

    const fn context(self) -> u32 {
        (self.0 >> CONTEXT_SHIFT) as u32 & ((1 << super::context::BITS) - 1)
    }
}

/// What a shared word says if accesses of a thread with these locks, reads or writes, change nothing, as far
/// as it is [`TELLING`]. It is of that thread alone, or of several.
pub const fn settled([all, writing]: [u32; 2], thread: u32) -> [u64; 2] {
    [
        State::shared(0, all, 0, thread).0,
        State::shared(WRITTEN, writing, 0, thread).0,
    ]
}

/// How far that is for reads and for writes; the thread comes in the bits from [`THREAD_SHIFT`] on.
pub const TELLING: [u64; 2] = [KIND | SET, KIND | SET | WRITTEN];

/// The state of a word that only the thread with this number has accessed.
pub const fn owned(thread: u32) -> u64 {
    OWNED | (thread as u64) << THREAD_SHIFT
}

/// Whether an access changes nothing about a word that was accessed before.
#[inline(always)]
fn says_nothing_new(watcher: &Watcher, state: State, write: bool) -> bool {
    let differs = state.0 ^ watcher.settled[usize::from(write)];
    if differs & TELLING[usize::from(write)] == 0 {
        return differs >> THREAD_SHIFT == 0 || state.0 & MANY != 0;
    }
    state.0 == owned(watcher.thread) || state.0 == FLAGGED
}

/// The words around an address, and what they say if they all say the same: what is always accessed
/// whole is looked at once.
#[inline(always)]
fn words<const WORDS: usize>(addr: usize) -> ([&'static AtomicU64; WORDS], Option<State>) {
    // SAFETY: every address of the program has its word.
    let words = core::array::from_fn(|at| unsafe { &*shadow::word(addr + 4 * at) });
    let states = words.map(|word: &AtomicU64| word.load(Ordering::Relaxed));
    let is_one = states.iter().all(|state| *state == states[0]);
    (words, is_one.then_some(State(states[0])))
}

/// Whether an access to all or part of one word, or to two whole ones, changes nothing.
#[inline(always)]
pub fn is_settled<const WORDS: usize>(watcher: &Watcher, addr: usize, write: bool) -> bool {
    let (_, state) = words::<WORDS>(addr);
    state.is_some_and(|state| says_nothing_new(watcher, state, write))
}

/// Such an access by the running thread.
///
/// # Safety
/// `local` is the running thread's, which is watched with `watcher`.
pub unsafe fn access<const WORDS: usize>(
    watcher: &mut Watcher,
    local: *const Local,
    addr: usize,
    size: usize,
    write: bool,
    pc: usize,
) {
    let (words, Some(state)) = words::<WORDS>(addr) else {
        for half in [addr, addr + 4] {
            // SAFETY: as the caller says.
            unsafe { access::<1>(watcher, local, half, 4, write, pc) };
        }
        return;
    };
    if state.0 == 0 {
        for word in words {
            word.store(owned(watcher.thread), Ordering::Relaxed);
        }
        return watcher.count(local.cast_mut());
    }
    if !says_nothing_new(watcher, state, write) {
        // SAFETY: as the caller says.
        unsafe { change(watcher, local, (addr, size), words, state, write, pc) };
    }
}

/// Such an access to words that others have accessed, and with other locks.
///
/// # Safety
/// As for `access`.
#[inline(never)]
unsafe fn change<const WORDS: usize>(
    watcher: &mut Watcher,
    local: *const Local,
    (addr, size): (usize, usize),
    words: [&AtomicU64; WORDS],
    state: State,
    write: bool,
    pc: usize,
) {
    let held = watcher.locksets[usize::from(write)];
    let wrote = if write { WRITTEN } else { 0 };
    let (flags, set) = if state.0 & KIND == OWNED {
        (wrote, held)
    } else {
        let many = if state.thread() != watcher.thread {
            MANY
        } else {
            0
        };
        let flags = state.0 & (WRITTEN | MANY) | wrote | many;
        (flags, watcher.common.with(state.set(), held))
    };
    if state.0 & KIND == SHARED && flags == state.0 & (WRITTEN | MANY) && set == state.set() {
        return;
    }
    // SAFETY: as the caller says.
    let context = unsafe { watcher.context(local, pc) };
    let is_flagged = set == 0 && flags == WRITTEN | MANY;
    let next = match is_flagged {
        true => FLAGGED,
        false => State::shared(flags, set, context, watcher.thread).0,
    };
    for word in words {
        word.store(next, Ordering::Relaxed);
    }
    if is_flagged {
        let earlier = (state.0 & MANY == 0).then_some(state);
        for at in 0..WORDS {
            flag(
                watcher,
                addr + 4 * at,
                size / WORDS,
                write,
                context,
                earlier,
            );
        }
    }
}

/// How many words are told of that were flagged by the same code: of an array not every element.
const MOST_BY_ONE: u32 = 16;
static BY_CODE: [AtomicU32; 4096] = [const { AtomicU32::new(0) }; 4096];

/// Tells of a word that no lock protects.
#[inline(always)]
fn flag(
    watcher: &mut Watcher,
    addr: usize,
    size: usize,
    write: bool,
    context: u32,
    earlier: Option<State>,
) {
    let told = &mut watcher.told[context as usize % TOLD];
    if *told != context && !tell(watcher.thread, addr, size, write, context, earlier) {
        *told = context;
    }
}

/// So many contexts a thread remembers of which enough was told.
pub const TOLD: usize = 16;

/// The same if not enough was told of its code yet; else false.
#[cold]
#[inline(never)]
fn tell(
    thread: u32,
    addr: usize,
    size: usize,
    write: bool,
    context: u32,
    earlier: Option<State>,
) -> bool {
    let code = Context::of(context).signature() as usize % BY_CODE.len();
    // Most are not told of: they do not write where all threads read.
    if BY_CODE[code].load(Ordering::Relaxed) >= MOST_BY_ONE
        || BY_CODE[code].fetch_add(1, Ordering::Relaxed) >= MOST_BY_ONE
    {
        return false;
    }
    let place = place_of(addr);
    let signature = match place {
        Place::Global { module, offset } => intern::hash([u64::from(module), offset & !3]),
        Place::Heap {
            module,
            call,
            offset,
        } => intern::hash([call ^ u64::from(module) << 48, 1 << 60 | offset & !3]),
        Place::Stack { thread, below } => intern::hash([u64::from(thread) << 32, below & !3]),
        Place::Unknown => intern::hash([addr as u64 & !3, 2 << 60]),
    };
    let Some(number) = report::is_new(signature) else {
        return true;
    };
    let kind = |write| {
        if write {
            AccessKind::Write
        } else {
            AccessKind::Read
        }
    };
    let later = Access {
        kind: kind(write),
        addr,
        bytes: size,
        thread,
        context: Context::of(context),
    };
    let earlier = earlier.map(|state| Access {
        kind: kind(state.0 & WRITTEN != 0),
        addr: addr & !3,
        bytes: 4,
        thread: state.thread(),
        context: Context::of(state.context()),
    });
    report::tell("flag", number, earlier.as_ref(), &later, |record| {
        record.place(place)
    });
    true
}

/// Where a word is, in any run.
pub fn place_of(addr: usize) -> Place {
    if let Some((module, start)) = code::module_of(addr) {
        let offset = (addr - start) as u64;
        return Place::Global { module, offset };
    }
    if let Some(block) = blocks::find(addr) {
        let call = Context::of(block.context).pc as usize;
        let (module, start) = code::module_of(call).unwrap_or((u32::MAX, 0));
        return Place::Heap {
            module,
            call: (call - start) as u64,
            offset: (addr - block.start) as u64,
        };
    }
    match threads::whose_stack(addr) {
        Some((thread, [_, top])) => Place::Stack {
            thread,
            below: (top - addr) as u64,
        },
        None => Place::Unknown,
    }
}
