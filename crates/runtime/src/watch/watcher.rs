//! What a watched thread has: its slot, its clock, its locks, and how its accesses are checked.

mod access;

use deadheat_wire::word::ADDR_BITS;

pub use access::{access, access_simply};

use super::clock::{self, Clock, Kept};
use super::context::{self, Cache};
use super::shadow::{self, Cell};
use super::slots::{self, LAST_TIME, SLOTS};
use super::{detailed, locksets, memory_limit, report, simple};
use crate::local::{Local, WRITES, local};
use crate::options;

/// So many accesses are between two looks at the filter, and at the memory.
const OFTEN: u64 = 1 << 16;
const SELDOM: u64 = 1 << 20;
/// Entries of the filter in use while segments are short.
const SMALL_FILTER: usize = 1024;
/// Where a segment's number begins.
const SEGMENT_SHIFT: u32 = ADDR_BITS;

/// An access that races with an earlier one to the same eight bytes.
pub struct Racing {
    addr: usize,
    size: usize,
    old: Cell,
    new: Cell,
}

/// A thread that is watched. Zeroed, it is one that is not.
pub struct Watcher {
    /// Slot and time, as cells have them.
    epoch: u64,
    /// Something was released since the last access: the next one is later.
    released: bool,
    /// There are cells, and the processor can look at all of them at once.
    wide: bool,
    /// The thread has no slot: nothing that it does is checked.
    pub blind: bool,
    slot: usize,
    /// For choosing among cells.
    luck: u32,
    /// The locks held.
    pub held: u32,
    /// The simple or the detailed mode: no cells.
    pub by_word: bool,
    /// The simple mode: no clocks either.
    pub simple: bool,
    /// The locks held (detailed mode).
    holds: detailed::Holds,
    /// The lock that was given back last: a wait that follows is with this one.
    pub last_released: usize,
    /// The sets of all locks held, and of those held for writing (simple mode).
    pub locksets: [u32; 2],
    /// As [`Local::settled`] has it (simple mode).
    pub settled: [[u64; 2]; 2],
    /// See [`locksets::Last`].
    pub common: locksets::Last,
    /// Contexts of which enough was told (simple mode).
    pub told: [u32; simple::TOLD],
    /// The thread's number.
    pub thread: u32,
    /// Accesses that were checked.
    pub checked: u64,
    /// The segment when their number was last looked at.
    segment_before: u64,
    /// The thread's stack, from its lowest address to one past its highest.
    pub stack: [usize; 2],
    /// The round of the barrier that the thread waits at.
    pub barrier_round: u32,
    /// What the thread knows.
    pub clock: Clock,
    /// What relaxed loads have seen: an acquire fence learns it.
    pub seen: Clock,
    /// Whether that is anything.
    pub has_seen: bool,
    /// What the last release fence published: relaxed stores after it release it.
    pub fenced: Clock,
    /// Whether there was one.
    pub has_fenced: bool,
    cache: Cache,
}

impl Watcher {
    /// Starts watching the thread with this number, which knows nothing yet.
    pub fn begin(&mut self, thread: u32) {
        let used = clock::used();
        for times in [&mut self.clock, &mut self.seen, &mut self.fenced] {
            times[..used].fill(0);
        }
        (self.has_seen, self.has_fenced) = (false, false);
        (self.held, self.thread, self.released) = (0, thread, false);
        self.simple = options::DETECTOR.get() == options::SIMPLE;
        self.by_word = self.simple || options::DETECTOR.get() == options::DETAILED;
        self.hold(0);
        self.told = [u32::MAX; simple::TOLD];
        self.luck = thread;
        self.wide = !self.by_word && shadow::can_enter_at_once();
        self.take_slot();
    }

    /// What two words say in the simple mode that only this thread has accessed; 0 in other modes.
    pub fn owned(&self) -> u64 {
        if self.simple {
            simple::owned(self.thread)
        } else {
            0
        }
    }

    /// The thread has ended.
    pub fn end(&mut self) {
        if !self.blind {
            slots::give_back(self.slot);
        }
    }

    fn take_slot(&mut self) {
        match slots::take(self.thread) {
            Some((slot, time)) => {
                clock::use_slot(slot);
                self.blind = false;
                self.slot = slot;
                self.clock[slot] = time;
                self.epoch = Cell::epoch(slot, time);
            }
            None => {
                self.blind = true;
                report::note_once(
                    &report::SLOTS_USED_UP,
                    "more than 1023 threads at a time, or all slots' times are used up: \
                     accesses of further threads are not checked",
                );
            }
        }
    }

    /// All that threads did so far is past.
    pub fn know_all(&mut self) {
        for slot in 1..clock::used() {
            self.clock[slot] = slots::time(slot);
        }
    }

    /// In a forked process: all that other threads did is past.
    pub fn alone(&mut self, thread: u32) {
        self.thread = thread;
        self.hold(self.held);
        self.know_all();
        if !self.blind {
            slots::keep_only(self.slot, thread);
        }
    }

    /// What the thread knows is given to whoever acquires it from `to`.
    pub fn release(&mut self, to: &mut Kept) {
        self.released = true;
        if !to.join_from(&self.clock) {
            report::give_up("there is no memory for a clock");
        }
    }

    /// The same for a clock of the thread's own.
    pub fn fence(&mut self) {
        self.released = true;
        let used = clock::used();
        self.fenced[..used].copy_from_slice(&self.clock[..used]);
        self.has_fenced = true;
    }

    /// Whether the next access is in the epoch of the last one, and epochs are what counts.
    pub fn epoch_goes_on(&self) -> bool {
        !self.released && !self.by_word
    }

    /// What was released is from now on in the past: the next access is in a new epoch.
    #[cold]
    #[inline(never)]
    fn next_epoch(&mut self) {
        self.released = false;
        if self.blind {
            return;
        }
        let time = self.clock[self.slot] + 1;
        if time > LAST_TIME {
            // The slot is used up, and stays in the clock as this thread's past.
            return self.take_slot();
        }
        self.clock[self.slot] = time;
        slots::set_time(self.slot, time);
        self.epoch = Cell::epoch(self.slot, time);
    }

    /// The context of something that the thread does at `pc`.
    ///
    /// # Safety
    /// `local` is the running thread's, and this watcher is its own.
    #[inline(always)]
    pub unsafe fn context(&mut self, local: *const Local, pc: usize) -> u32 {
        // SAFETY: as the caller says.
        let node = unsafe { context::node(local) };
        self.cache.context(pc, node, self.held)
    }

    /// The same, if it was met before.
    ///
    /// # Safety
    /// As for `context`.
    #[inline(always)]
    unsafe fn known_context(&self, local: *const Local, pc: usize) -> Option<u32> {
        // SAFETY: as the caller says.
        let node = unsafe { context::known_node(local)? };
        self.cache.known(pc, node, self.held)
    }

    /// The same as if it held no locks.
    ///
    /// # Safety
    /// As for `context`.
    pub unsafe fn context_without_locks(&mut self, local: *const Local, pc: usize) -> u32 {
        // SAFETY: as the caller says.
        let node = unsafe { context::node(local) };
        self.cache.context(pc, node, 0)
    }

    /// The part of an access that lies in eight bytes.
    fn enter(&mut self, addr: usize, new: Cell, size: usize) -> Option<Racing> {
        // SAFETY: every address of the program has cells.
        let old = unsafe { shadow::enter(shadow::cells(addr), new, &self.clock, &mut self.luck) };
        old.map(|old| Racing {
            addr,
            size,
            old,
            new,
        })
    }

    /// The same for a plain access, if the processor can look at all cells at once.
    ///
    /// # Safety
    /// `wide` is set.
    #[target_feature(enable = "avx2,bmi1")]
    #[inline]
    unsafe fn enter_at_once<const IS_WRITE: bool>(&mut self, addr: usize, new: Cell, size: usize) {
        let (cells, clock, luck) = (shadow::cells(addr), &self.clock, &mut self.luck);
        // SAFETY: every address of the program has cells; as the caller says.
        if !unsafe { shadow::enter_at_once::<IS_WRITE>(cells, new, clock, luck) } {
            self.look_closer(addr, new, size);
        }
    }

    /// Enters an access that races.
    #[cold]
    #[inline(never)]
    fn look_closer(&mut self, addr: usize, new: Cell, size: usize) {
        if let Some(racing) = self.enter(addr, new, size) {
            self.found(racing);
        }
    }

    /// A race was found.
    #[cold]
    #[inline(never)]
    pub fn found(&mut self, racing: Racing) {
        let Racing {
            addr,
            size,
            old,
            new,
        } = racing;
        if !self.blind {
            report::race(self.thread, addr, size, old, new);
        }
    }

    #[cold]
    #[inline(never)]
    fn now_and_then(&mut self, local: *mut Local) {
        self.settle();
        if self.checked.is_multiple_of(OFTEN) {
            // SAFETY: the running thread's own state.
            self.fit_filter(unsafe { &mut *local });
        }
        if self.checked.is_multiple_of(SELDOM) {
            memory_limit::look();
        }
    }

    /// A large filter is for long segments; in short ones it is only a waste of cache.
    fn fit_filter(&mut self, local: &mut Local) {
        let segments = local.segment.wrapping_sub(self.segment_before) >> SEGMENT_SHIFT;
        self.segment_before = local.segment;
        let short = segments > OFTEN / 512;
        local.use_filter(if short { SMALL_FILTER } else { WRITES });
    }

    /// An access in the simple or the detailed mode.
    ///
    /// # Safety
    /// As for `context`.
    pub unsafe fn access_words(
        &mut self,
        local: *mut Local,
        addr: usize,
        size: usize,
        write: bool,
        pc: usize,
    ) {
        if !self.simple {
            self.count(local);
            // SAFETY: as the caller says.
            return unsafe { self.access_in_detail(local, addr, size, write, pc) };
        }
        // SAFETY: as the caller says.
        unsafe {
            if size == 8 && addr & 3 == 0 {
                return simple::access::<2>(self, local, addr, size, write, pc);
            }
            for (at, bytes) in halves(addr, size) {
                simple::access::<1>(self, local, at, bytes, write, pc);
            }
        }
    }

    /// Counts an access that is checked; in the simple mode only a first one.
    #[inline(always)]
    pub fn count(&mut self, local: *mut Local) {
        self.checked += 1;
        if self.checked.is_multiple_of(OFTEN) {
            self.now_and_then(local);
        }
    }

    /// # Safety
    /// As for `context`.
    #[inline(never)]
    unsafe fn access_in_detail(
        &mut self,
        local: *mut Local,
        addr: usize,
        size: usize,
        write: bool,
        pc: usize,
    ) {
        if self.blind {
            return;
        }
        self.settle();
        let now = [self.slot as u32, self.clock[self.slot]];
        for (at, bytes) in halves(addr, size) {
            // SAFETY: as the caller says.
            let node = || unsafe { context::node(local) };
            let context = || context::context(pc, node(), self.held);
            detailed::access(self, &self.holds, now, (at, bytes), write, context);
        }
    }

    /// The locks held have changed.
    pub fn hold(&mut self, held: u32) {
        self.held = held;
        if self.simple {
            self.locksets = locksets::of_held(held);
            self.settled = simple::settled(self.locksets, self.thread);
            // SAFETY: the running thread's own state.
            unsafe { (*local()).settled = self.settled };
        } else if self.by_word {
            self.holds = detailed::Holds::of(held);
        }
    }

    /// What comes now is later than what was released before. Called before a synchronisation
    /// whose own access must be covered by what it releases.
    pub fn settle(&mut self) {
        if self.released {
            self.next_epoch();
        }
    }

    /// Checks and enters a plain access to any number of bytes, in the epoch that
    /// [`Watcher::settle`] has left.
    pub fn access_range(&mut self, addr: usize, size: usize, write: bool, context: u32) {
        self.checked += 1;
        self.access_parts(addr, size, write, context);
    }

    #[inline(never)]
    fn access_parts(&mut self, addr: usize, size: usize, write: bool, context: u32) {
        // SAFETY: the processor can, as `wide` says.
        unsafe {
            match (self.wide, write) {
                (true, false) => self.range_at_once::<false>(addr, size, context),
                (true, true) => self.range_at_once::<true>(addr, size, context),
                (false, _) => {
                    for (at, bytes, mask) in words(addr, size) {
                        let new = Cell::new(self.epoch, mask, write, false, context);
                        if let Some(racing) = self.enter(at, new, bytes) {
                            self.found(racing);
                        }
                    }
                }
            }
        }
    }

    /// The same for an atomic access. The first race is not reported, but the answer.
    pub fn access_atomic(
        &mut self,
        addr: usize,
        size: usize,
        write: bool,
        context: u32,
    ) -> Option<Racing> {
        self.checked += 1;
        let mut racing = None;
        for (at, bytes, mask) in words(addr, size) {
            let new = Cell::new(self.epoch, mask, write, true, context);
            let found = self.enter(at, new, bytes);
            racing = racing.or(found);
        }
        racing
    }

    /// # Safety
    /// `wide` is set.
    #[target_feature(enable = "avx2,bmi1")]
    unsafe fn range_at_once<const IS_WRITE: bool>(
        &mut self,
        addr: usize,
        size: usize,
        context: u32,
    ) {
        for (at, bytes, mask) in words(addr, size) {
            let new = Cell::new(self.epoch, mask, IS_WRITE, false, context);
            // SAFETY: as the caller says; every address of the program has cells.
            unsafe {
                if !shadow::is_said(shadow::cells(at), new) {
                    self.enter_at_once::<IS_WRITE>(at, new, bytes);
                }
            }
        }
    }
}

/// The parts of a range that lie in four bytes each: address and length.
#[inline(always)]
fn halves(addr: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    let end = addr + size;
    let mut at = addr;
    core::iter::from_fn(move || {
        let (from, next) = (at, ((at & !3) + 4).min(end));
        at = next;
        (from < end).then(|| (from, next - from))
    })
}

/// The parts of a range that lie in eight bytes each: address, length, which of the eight.
#[inline(always)]
fn words(addr: usize, size: usize) -> impl Iterator<Item = (usize, usize, u8)> {
    let end = addr + size;
    let mut at = addr;
    core::iter::from_fn(move || {
        let next = ((at & !7) + 8).min(end);
        let (from, bytes) = (at, next.wrapping_sub(at));
        at = next;
        (from < end).then(|| (from, bytes, mask(from, bytes)))
    })
}

const _: () = assert!(SLOTS == 1024, "ten bits in a cell");

/// Which of the eight bytes around an address an access to some from there on touches; none of it
/// lies behind them.
#[inline(always)]
fn mask(addr: usize, size: usize) -> u8 {
    (((1u32 << (size & 15)) - 1) << (addr & 7)) as u8
}
