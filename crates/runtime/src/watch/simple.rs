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

use core::sync::atomic::{AtomicU32, Ordering};

use deadheat_wire::watch::{AccessKind, Place};

use super::context::Context;
use super::report::{self, Access};
use super::watcher::Watcher;
use super::{blocks, code, intern, locksets, shadow};
use crate::local::Local;
use crate::threads;

/// A word's state: two bits for its kind, then as below.
///
/// Of a thread's number a shared word has only the last bits: two threads with the same are taken for one,
/// so that what only these two access is not flagged.
#[derive(Clone, Copy, PartialEq)]
struct State(u32);

const KIND: u32 = 0b11;
const OWNED: u32 = 1;
const SHARED: u32 = 2;
/// No lock protects it, and that was told: nothing more is learned about it.
pub const FLAGGED: i32 = -1;
const WRITTEN: u32 = 1 << 2;
/// There were accesses of two threads since it is shared; it names none of them any more.
const MANY: u32 = 1 << 3;
/// Where an owned word has its thread, and a shared one its set.
const SHIFT: u32 = 4;
const SET: u32 = (1 << locksets::BITS) - 1;
const THREAD_SHIFT: u32 = SHIFT + locksets::BITS;

impl State {
    const fn flagged() -> Self {
        State(FLAGGED as u32)
    }

    const fn owned(thread: u32) -> Self {
        State(OWNED | thread << SHIFT)
    }

    const fn shared(flags: u32, set: u32, thread: u32) -> Self {
        let thread = if flags & MANY == 0 { thread } else { 0 };
        State(SHARED | flags | set << SHIFT | thread << THREAD_SHIFT)
    }

    const fn is(self, kind: u32) -> bool {
        self.0 & KIND == kind
    }

    const fn flags(self) -> u32 {
        self.0 & (WRITTEN | MANY)
    }

    const fn set(self) -> u32 {
        self.0 >> SHIFT & SET
    }

    /// Whether a shared word's one thread may be this one.
    const fn is_of(self, thread: u32) -> bool {
        self.0 >> THREAD_SHIFT == thread << THREAD_SHIFT >> THREAD_SHIFT
    }

    /// As the state of two words.
    const fn twice(self) -> u64 {
        self.0 as u64 * (1 << 32 | 1)
    }
}

/// What two words say that only the thread with this number has accessed.
pub const fn owned(thread: u32) -> u64 {
    State::owned(thread).twice()
}

/// What two shared words say if accesses of a thread with these locks, reads or writes, change nothing: if they are of
/// many threads, and if they are of this one alone. For reads without the bit [`DISREGARDED`].
pub const fn settled([all, writing]: [u32; 2], thread: u32) -> [[u64; 2]; 2] {
    [
        [
            State::shared(MANY, all, 0).twice(),
            State::shared(0, all, thread).twice(),
        ],
        [
            State::shared(WRITTEN | MANY, writing, 0).twice(),
            State::shared(WRITTEN, writing, thread).twice(),
        ],
    ]
}

/// Which bit of a word does not matter to a read: that it was written.
pub const DISREGARDED: u32 = WRITTEN.trailing_zeros();

/// Whether an access changes nothing about a word that was accessed before.
#[inline(always)]
fn says_nothing_new(watcher: &Watcher, state: State, write: bool) -> bool {
    let telling = if write { state.0 } else { state.0 & !WRITTEN };
    let settled = watcher.settled[usize::from(write)].map(|settled| settled as u32);
    state == State::owned(watcher.thread) || state == State::flagged() || settled.contains(&telling)
}

/// The words around an address, and what they say if they all say the same: what is always accessed
/// whole is looked at once.
#[inline(always)]
fn words<const WORDS: usize>(addr: usize) -> ([&'static AtomicU32; WORDS], Option<State>) {
    // SAFETY: every address of the program has its state.
    let words = core::array::from_fn(|at| unsafe { &*shadow::state(addr + 4 * at) });
    let states = words.map(|word: &AtomicU32| word.load(Ordering::Relaxed));
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
            word.store(State::owned(watcher.thread).0, Ordering::Relaxed);
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
    words: [&AtomicU32; WORDS],
    state: State,
    write: bool,
    pc: usize,
) {
    let held = watcher.locksets[usize::from(write)];
    let wrote = if write { WRITTEN } else { 0 };
    let (flags, set) = if state.is(OWNED) {
        (wrote, held)
    } else {
        let is_one = state.flags() & MANY != 0 || state.is_of(watcher.thread);
        let many = if is_one { 0 } else { MANY };
        let set = watcher.common.with(state.set(), held);
        (state.flags() | wrote | many, set)
    };
    if state.is(SHARED) && flags == state.flags() && set == state.set() {
        return;
    }
    // SAFETY: as the caller says.
    let context = unsafe { watcher.context(local, pc) };
    let is_flagged = set == 0 && flags == WRITTEN | MANY;
    if is_flagged {
        let alone = state.flags() & MANY == 0;
        for at in 0..WORDS {
            let addr = addr + 4 * at;
            let earlier = if alone {
                Earlier::of(addr, state)
            } else {
                None
            };
            flag(watcher, addr, size / WORDS, write, context, earlier);
        }
    }
    let next = match is_flagged {
        true => State::flagged(),
        false => State::shared(flags, set, watcher.thread),
    };
    for (at, word) in words.into_iter().enumerate() {
        if !is_flagged && flags & MANY == 0 {
            Earlier::keep(addr + 4 * at, watcher.thread, context);
        }
        word.store(next.0, Ordering::Relaxed);
    }
}

/// The last access that changed what a word says, kept while all of them are of one thread.
#[derive(Clone, Copy)]
struct Earlier {
    thread: u32,
    context: u32,
    write: bool,
}

impl Earlier {
    fn keep(addr: usize, thread: u32, context: u32) {
        // SAFETY: every address of the program has a place for it.
        let kept = unsafe { &*shadow::earlier(addr) };
        kept.store(
            u64::from(thread) << 32 | u64::from(context),
            Ordering::Relaxed,
        );
    }

    /// What was kept of a word with this state, unless another thread is just changing both.
    fn of(addr: usize, state: State) -> Option<Self> {
        // SAFETY: as in `keep`.
        let kept = unsafe { (*shadow::earlier(addr)).load(Ordering::Relaxed) };
        let thread = (kept >> 32) as u32;
        state.is_of(thread).then_some(Earlier {
            thread,
            context: kept as u32,
            write: state.flags() & WRITTEN != 0,
        })
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
    earlier: Option<Earlier>,
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
    earlier: Option<Earlier>,
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
    let earlier = earlier.map(|earlier| Access {
        kind: kind(earlier.write),
        addr: addr & !3,
        bytes: 4,
        thread: earlier.thread,
        context: Context::of(earlier.context),
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
