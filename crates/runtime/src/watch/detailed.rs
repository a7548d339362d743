//! The detailed mode of *Hybrid Dynamic Data Race Detection* (O'Callahan, Choi, PPoPP 2003), sections
//! 4 and 5: locksets and a limited happens-before, with the accesses to a word kept in a trie
//! (`deadheat_history`).
//!
//! Two accesses may race if their threads differ, one writes, no lock excludes them, and what orders
//! threads without being a lock does not order them: creation, join, conditions, semaphores, barriers,
//! annotations, atomics, and locks that are channels (see `order`). A word's history ends with its
//! first race.
//!
//! Deviations: aligned words, not fields; the order of atomics counts; slots stand for threads. When the
//! memory for histories is used up, new accesses are compared and not remembered, which is said.
//! Only the words of the places in `DEADHEAT_SELECT` are looked at, if there is such a file.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use deadheat_history::{Access, History, Hold, Node, Options, Record, SliceSlots, Store};

use super::context::{self, Context};
use super::intern::Table;
use super::slots;
use super::watcher::Watcher;
use super::{report, select, shadow};
use crate::sys::Spin;
use crate::{memory, options};

/// The most locks of a thread that are looked at; further ones are left out, which can only add
/// warnings.
const MOST_HELD: usize = 32;
/// Histories are divided among locks by their words' addresses.
const STRIPES: usize = 64;
const HISTORIES: usize = 1 << 17;
const PLACES: usize = 1 << 19;
/// A word that is looked at; the number of its history is below.
const SELECTED: u64 = 1 << 63;

/// The locks held, as histories want them.
pub struct Holds {
    holds: [Hold; MOST_HELD],
    count: usize,
}

type Histories = Store<SliceSlots<'static, Node>, SliceSlots<'static, Record<u32>>>;

struct Stripe {
    lock: Spin,
    state: UnsafeCell<Option<State>>,
}
// SAFETY: the state is only touched under the lock.
unsafe impl Sync for Stripe {}

struct State {
    store: Histories,
    histories: &'static mut [History],
    /// How many were ever in use, and numbers that are free again.
    used: u32,
    free: &'static mut [u32],
    freed: usize,
}

static ALL: [Stripe; STRIPES] = [const {
    Stripe {
        lock: Spin::new(),
        state: UnsafeCell::new(None),
    }
}; STRIPES];
static LOCKS: Table = Table::new(20);
static MOST_LOCKS: AtomicU32 = AtomicU32::new(2);
static FULL: report::Once = report::Once::new(0);

/// Gets the memory; false if there is none.
pub fn start() -> bool {
    LOCKS.map() && ALL.iter().all(make)
}

fn slice<T>(count: usize) -> Option<&'static mut [T]> {
    let start = memory::pages::<T>(count);
    // SAFETY: fresh zeroed pages that stay; the types used here are valid when zeroed, or
    // written before they are read.
    (!start.is_null()).then(|| unsafe { core::slice::from_raw_parts_mut(start, count) })
}

fn make(stripe: &Stripe) -> bool {
    let made = (|| {
        Some(State {
            store: Store {
                nodes: SliceSlots::new(slice(PLACES)?),
                records: SliceSlots::new(slice(PLACES)?),
            },
            histories: slice(HISTORIES)?,
            used: 1,
            free: slice(HISTORIES)?,
            freed: 0,
        })
    })();
    let is_made = made.is_some();
    // SAFETY: there is one thread yet.
    unsafe { *stripe.state.get() = made };
    is_made
}

/// In a forked process: nobody holds a lock.
pub fn unlock() {
    for stripe in &ALL {
        stripe.lock.unlock();
    }
}

fn locked<R>(addr: usize, action: impl FnOnce(&mut State) -> R) -> Option<R> {
    let hash = (addr as u64 >> 2).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58;
    let stripe = &ALL[hash as usize % STRIPES];
    stripe.lock.lock();
    // SAFETY: the lock.
    let result = unsafe { (*stripe.state.get()).as_mut() }.map(action);
    stripe.lock.unlock();
    result
}

impl Holds {
    /// The locks in a context's set.
    pub fn of(held: u32) -> Self {
        let mut holds = Holds {
            holds: [Hold::exclusive(0); MOST_HELD],
            count: 0,
        };
        for lock in context::locks(held) {
            let number = LOCKS.number([lock.lock, 0], |_| 0);
            let hold = match lock.write {
                true => Hold::exclusive(number),
                false => Hold::shared(number),
            };
            holds.add(hold);
        }
        MOST_LOCKS.fetch_max(holds.count as u32, Ordering::Relaxed);
        holds
    }

    fn add(&mut self, hold: Hold) {
        let known = &mut self.holds[..self.count];
        match known.binary_search_by_key(&hold.lock(), |known| known.lock()) {
            Ok(at) => known[at] = known[at].max(hold),
            Err(at) if self.count < MOST_HELD => {
                self.holds.copy_within(at..self.count, at + 1);
                self.holds[at] = hold;
                self.count += 1;
            }
            Err(_) => {}
        }
    }
}

/// An access to a word, by the running thread at `time` of its slot.
#[inline]
pub fn access(
    watcher: &Watcher,
    holds: &Holds,
    [slot, time]: [u32; 2],
    part: (usize, usize),
    write: bool,
    context: impl FnOnce() -> u32,
) {
    let (addr, bytes) = part;
    // SAFETY: every address of the program has its word.
    let word = unsafe { &*shadow::word(addr) };
    if select::is_on() && word.load(Ordering::Relaxed) & SELECTED == 0 {
        return;
    }
    let context = context();
    let access = Access {
        thread: slot,
        time,
        writes: write,
        holds: &holds.holds[..holds.count],
        payload: context,
    };
    let mut racing = None;
    let outcome = locked(addr, |state| {
        let number = state.history_of(word)?;
        let options = Options {
            happens_before: options::NO_HB.get() == 0,
            subset: options::NO_SUBSET.get() == 0,
            most_locks: (options::NO_OVERSIZED.get() == 0)
                .then(|| MOST_LOCKS.load(Ordering::Relaxed)),
            overtake: options::NO_SUBSET.get() == 0,
            go_on: false,
        };
        let known = |slot: u32| watcher.clock[slot as usize % slots::SLOTS];
        let history = &mut state.histories[number];
        let race = |record: &Record<u32>| racing = Some(*record);
        Some(history.add(&mut state.store, &access, &options, known, race))
    });
    if outcome.flatten().is_none_or(|outcome| outcome.full) {
        report::note_once(
            &FULL,
            "the memory for histories is used up: some accesses are not remembered",
        );
    }
    if let Some(record) = racing {
        let earlier = report::Access {
            kind: kind(record.writes),
            addr: addr & !3,
            bytes: 4,
            thread: slots::thread_at(record.thread as usize, record.time).unwrap_or(u32::MAX),
            context: Context::of(record.payload),
        };
        let later = report::Access {
            kind: kind(write),
            addr,
            bytes,
            thread: watcher.thread,
            context: Context::of(context),
        };
        report::race_between(&earlier, &later);
    }
}

fn kind(write: bool) -> deadheat_wire::watch::AccessKind {
    match write {
        true => deadheat_wire::watch::AccessKind::Write,
        false => deadheat_wire::watch::AccessKind::Read,
    }
}

impl State {
    /// The number of a word's history, a new one if need be. `None`: there is no room.
    fn history_of(&mut self, word: &AtomicU64) -> Option<usize> {
        let bits = word.load(Ordering::Relaxed);
        let number = (bits & !SELECTED) as usize;
        if number != 0 {
            return Some(number);
        }
        let number = if self.freed > 0 {
            self.freed -= 1;
            self.free[self.freed]
        } else if (self.used as usize) < HISTORIES {
            self.used += 1;
            self.used - 1
        } else {
            return None;
        };
        self.histories[number as usize] = History::new();
        word.store(bits | u64::from(number), Ordering::Relaxed);
        Some(number as usize)
    }
}

/// Forgets the words of `bytes` bytes from `start` on; they are not selected any more.
pub fn clear(start: usize, bytes: usize) {
    for addr in (start & !3..start + bytes).step_by(4) {
        // SAFETY: every address of the program has its word.
        let word = unsafe { &*shadow::word(addr) };
        let number = (word.load(Ordering::Relaxed) & !SELECTED) as u32;
        if number != 0 {
            locked(addr, |state| {
                state.histories[number as usize].clear(&mut state.store);
                state.free[state.freed] = number;
                state.freed += 1;
            });
        }
        if word.load(Ordering::Relaxed) != 0 {
            word.store(0, Ordering::Relaxed);
        }
    }
}

/// Looks at a word from now on.
pub fn select_word(addr: usize) {
    // SAFETY: every address of the program has its word.
    unsafe { (*shadow::word(addr)).fetch_or(SELECTED, Ordering::Relaxed) };
}
