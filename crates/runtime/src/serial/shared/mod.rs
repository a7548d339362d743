//! Which memory the program's threads share, found out while it runs: a serial run can be repeated, so what
//! one run shows the recording of the next leaves out.
//!
//! Memory constrains a schedule if its conflicting accesses are not ordered by the creation and the join of
//! threads or the rounds of barriers ([`state`]; `deadheat_predict`'s `leave_out` argues it), if it is accessed
//! atomically, or if code without hooks has changed it and several threads access it: it is not known which of
//! them did. (What one thread accesses, that thread is taken to have changed, as prediction takes it.) All accesses
//! to such words are recorded, others need not be. (Barriers: what is read behind one was written by whoever came
//! to it, and whoever comes to a barrier needs all that it has read: in such a recording every event does.)
//! A thread's stack is used again and again, also by code without hooks (what compilers spill, calls, variables whose
//! address nobody takes), and by other threads after it. So nothing is known of what a new frame holds.
//! Whoever leaves some out must know that a thread was further than its last event when code without hooks
//! changed something: then a fence says so ([`Seen::is_external`]).
//!
//! The recording that leaves out looks as well, so it knows whether it has left out too much (`missed`):
//! nothing rests on the two runs being the same.
//!
//! * [`order`]: creation and join, and [`barriers`].
//! * [`state`]: a word's.
//! * [`maps`]: where all that is kept.
//! * [`found`]: the file that it goes to.

mod barriers;
mod found;
mod maps;
mod order;
mod state;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use deadheat_wire::shared::{Entry, Header, MAGIC};

use self::found::Found;
use self::order::{Order, THREADS};
use super::log::load;
use crate::options;
use crate::record::facts;
use crate::{memory, sys};

/// The recording that begins looks for shared memory.
static LOOKS: AtomicBool = AtomicBool::new(false);
/// It leaves out what is not shared.
static LEAVES_OUT: AtomicBool = AtomicBool::new(false);
/// How many events are recorded whole if it does not; 0: all.
static WHOLE: AtomicU64 = AtomicU64::new(0);

/// From here on, how many were left out is said whenever it has doubled.
const FEW: u64 = 1 << 12;

/// What was seen of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The recording is to have it.
    pub is_wanted: bool,
    /// Code without hooks has changed the memory.
    pub is_external: bool,
}

/// What is known of the program's memory.
pub struct Shared {
    /// Whether anything is looked at.
    pub is_on: bool,
    /// Whether accesses are left out of the recording.
    pub leaves_out: bool,
    order: Order,
    /// For each thread whether accesses were left out since its last event.
    behind: *mut u8,
    found: Found,
    left_out: u64,
    missed: u64,
    /// So many events are recorded whole if nothing is left out; 0: all.
    pub whole: u64,
    /// After so many events the run is over.
    pub until: u64,
    /// It is also over when no more can be recorded.
    pub ends_full: bool,
}

/// Before a recording: is it to look for shared memory, and what is it to leave out?
pub fn load_wanted() {
    let Some(path) = options::SHARED.path() else {
        return;
    };
    if !maps::reserve() {
        return;
    }
    LOOKS.store(true, Ordering::Relaxed);
    WHOLE.store(options::WHOLE.get(), Ordering::Relaxed);
    let file = sys::open(path, libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if file < 0 {
        return;
    }
    LEAVES_OUT.store(read_wanted(file as i32), Ordering::Relaxed);
    sys::close(file as i32);
}

/// Whether the recording at hand leaves something out.
pub fn leaves_out() -> bool {
    LEAVES_OUT.load(Ordering::Relaxed)
}

/// Another recording than the one that was asked for begins: it has everything.
pub fn forget() {
    LOOKS.store(false, Ordering::Relaxed);
    LEAVES_OUT.store(false, Ordering::Relaxed);
}

/// Takes in which words the recording is to have; false if the file makes no sense.
fn read_wanted(file: i32) -> bool {
    const HEADER: usize = size_of::<Header>();
    const ENTRY: usize = size_of::<Entry>();
    let mut header = [0; HEADER];
    if sys::read(file, &mut header) != HEADER as isize || header[..MAGIC.len()] != MAGIC {
        return false;
    }
    let number = |bytes: &[u8], at: usize| {
        let part = bytes[at * 8..].first_chunk().copied();
        u64::from_le_bytes(part.unwrap_or_default())
    };
    let mut left = number(&header, 4);
    let mut buffer = [0; ENTRY * 64];
    while left > 0 {
        let wanted = ENTRY * left.min(64) as usize;
        let mut got = 0;
        while got < wanted {
            match sys::read(file, &mut buffer[got..wanted]) {
                ..=0 => return false,
                more => got += more as usize,
            }
        }
        for entry in buffer[..wanted].chunks_exact(ENTRY) {
            maps::want(number(entry, 0), number(entry, 1));
        }
        left -= (wanted / ENTRY) as u64;
    }
    true
}

impl Shared {
    /// Looks at nothing.
    pub const fn none() -> Self {
        Shared {
            is_on: false,
            leaves_out: false,
            order: Order::none(),
            behind: core::ptr::null_mut(),
            found: Found::none(),
            left_out: 0,
            missed: 0,
            whole: 0,
            until: u64::MAX,
            ends_full: false,
        }
    }

    /// Looks at what was asked for.
    pub fn begin(&mut self) {
        *self = Shared::none();
        self.ends_full = options::AT_FULL.get() != 0;
        if !LOOKS.load(Ordering::Relaxed) {
            return;
        }
        self.behind = memory::pages(THREADS);
        let has_file = options::SHARED
            .path()
            .is_some_and(|path| self.found.create(path));
        self.is_on = has_file && self.order.begin() && !self.behind.is_null();
        self.leaves_out = self.is_on && leaves_out();
        self.whole = match self.is_on && !self.leaves_out {
            true => WHOLE.load(Ordering::Relaxed),
            false => 0,
        };
        if let Some(until) = core::num::NonZero::new(options::UNTIL.get()) {
            self.until = until.get();
        }
    }

    /// A function's frame begins: it lies from one address up to another, that of its caller.
    #[inline]
    pub fn frame(&mut self, low: usize, high: usize) {
        /// Of larger frames what is next to the caller's.
        const MOST: usize = 16 * 1024;
        let high = (high & !7).max(low);
        let low = (low & !7).max(high.saturating_sub(MOST));
        for word in (low..high).step_by(8) {
            // SAFETY: `is_on`, so the state is mapped, and nobody else looks at it.
            unsafe {
                let cell = maps::cell(word);
                if !(*cell).is_new() {
                    *cell = (*cell).in_new_frame();
                }
            }
        }
    }

    /// An access that is about to happen. Of a range the recording may have a part, else all or nothing.
    #[inline]
    pub fn access(
        &mut self,
        thread: u32,
        writes: bool,
        addr: usize,
        bytes: usize,
        is_range: bool,
    ) -> Seen {
        let mut seen = Seen {
            is_wanted: !self.leaves_out || thread as usize >= THREADS,
            is_external: false,
        };
        let (first, last) = (addr & !7, (addr + bytes.max(1) - 1) & !7);
        for word in (first..=last).step_by(8) {
            let mask = bytes_of(word, addr, bytes);
            // SAFETY: `is_on`, so the state is mapped; the program is about to access some of the word's
            // bytes, and the others are in the same page. Nobody else looks at the state.
            unsafe {
                let cell = maps::cell(word);
                let held = load(word, 8);
                let known = spread((*cell).known() & mask);
                let was_shared = (*cell).is_shared();
                let is_of_others = (*cell).is_of_others(thread, &self.order);
                let is_wanted = maps::is_wanted(word);
                let mut next = (*cell).accessed(thread, writes, &mut self.order);
                if is_of_others {
                    next = next.of_many();
                }
                let mut is_external = false;
                if (held ^ *maps::value(word)) & known != 0 {
                    next = next.changed();
                    is_external = is_wanted || next.is_shared();
                }
                if !writes {
                    let of_mask = spread(mask);
                    let value = maps::value(word);
                    *value = *value & !of_mask | held & of_mask;
                    next = next.knowing(mask);
                }
                if next != *cell {
                    *cell = next;
                }
                if next.is_shared() && !was_shared {
                    self.mark(word);
                }
                seen.is_external |= is_external;
                seen.is_wanted |= is_wanted;
            }
            if word < last && !is_range {
                self.found.mark_linked(word);
            }
        }
        seen
    }

    /// Whether accesses of a thread may be left out.
    #[inline]
    pub fn leaves_out_of(&self, thread: u32) -> bool {
        self.leaves_out && (thread as usize) < THREADS
    }

    /// The next part of a range that the recording is to have.
    pub fn next_wanted(from: usize, end: usize) -> Option<[usize; 2]> {
        // A word begins there, or the range.
        let mut starts = core::iter::once(from).chain((from / 8 * 8 + 8..end).step_by(8));
        let first = starts.find(|at| *at < end && maps::is_wanted(*at))?;
        let upto = starts.find(|at| !maps::is_wanted(*at)).unwrap_or(end);
        Some([first, upto])
    }

    /// A write has happened.
    #[inline]
    pub fn written(&mut self, addr: usize, bytes: usize) {
        let (first, last) = (addr & !7, (addr + bytes.max(1) - 1) & !7);
        for word in (first..=last).step_by(8) {
            let mask = bytes_of(word, addr, bytes);
            let of_mask = spread(mask);
            // SAFETY: as in `access`.
            unsafe {
                let value = maps::value(word);
                *value = *value & !of_mask | load(word, 8) & of_mask;
                *maps::cell(word) = (*maps::cell(word)).knowing(mask);
            }
        }
    }

    /// An atomic access that has happened, with what it read and wrote if it did; whether code without
    /// hooks had changed the memory.
    pub fn atomic(
        &mut self,
        addr: usize,
        bytes: usize,
        read: Option<[u64; 2]>,
        written: Option<[u64; 2]>,
    ) -> bool {
        let mut is_external = false;
        let (first, last) = (addr & !7, (addr + bytes.max(1) - 1) & !7);
        for word in (first..=last).step_by(8) {
            let mask = bytes_of(word, addr, bytes);
            let of_mask = spread(mask);
            // What the bytes of this word are in the values, which begin at the access's first byte.
            let of_word = |values: [u64; 2]| match word.checked_sub(addr) {
                Some(0) => values[0],
                Some(offset) => (u128::from(values[0]) | u128::from(values[1]) << 64)
                    .unbounded_shr(offset as u32 * 8) as u64,
                None => values[0] << ((addr - word) * 8),
            };
            // SAFETY: as in `access`.
            unsafe {
                let (cell, value) = (maps::cell(word), maps::value(word));
                if let Some(read) = read {
                    let known = spread((*cell).known() & mask);
                    is_external |= (of_word(read) ^ *value) & known != 0;
                }
                if let Some(held) = written.or(read) {
                    *value = *value & !of_mask | of_word(held) & of_mask;
                }
                if !(*cell).is_shared() {
                    self.mark(word);
                }
                *cell = (*cell).shared().knowing(mask);
            }
        }
        is_external
    }

    /// A word is shared.
    #[cold]
    fn mark(&mut self, word: usize) {
        if self.found.mark_shared(word) && self.leaves_out && !maps::is_wanted(word) {
            self.missed += 1;
            self.found.missing(self.left_out, self.missed);
        }
    }

    /// New memory.
    pub fn alloc(&mut self, start: usize, bytes: usize) {
        let (from, to) = (start.next_multiple_of(8), (start + bytes) & !7);
        if from < to {
            maps::clear(from, to);
        }
        // SAFETY: `is_on`, so the state is mapped, and nobody else looks at it.
        unsafe { *maps::length(start) = maps::units(bytes) };
    }

    /// It is given back, which is a write to all of it that was accessed.
    pub fn free(&mut self, thread: u32, start: usize) {
        // SAFETY: as in `alloc`.
        let units = unsafe { core::mem::take(&mut *maps::length(start)) };
        let end = start + maps::bytes(units).max(1);
        for word in (start & !7..end).step_by(8) {
            // SAFETY: as in `access`.
            unsafe {
                let cell = maps::cell(word);
                if (*cell).is_new() || (*cell).is_shared() {
                    continue;
                }
                *cell = (*cell).accessed(thread, true, &mut self.order);
                if (*cell).is_shared() {
                    self.mark(word);
                }
            }
        }
    }

    /// A thread creates another.
    pub fn fork(&mut self, parent: u32, child: u32) {
        self.order.fork(parent, child);
    }

    /// A thread has waited for another one's end.
    pub fn join(&mut self, parent: u32, child: u32) {
        self.order.join(parent, child);
    }

    /// A barrier is made for so many threads; for none: it is none any more.
    pub fn barrier(&mut self, object: usize, count: u64) {
        self.order.barrier(object, count);
    }

    /// A thread comes to a barrier.
    pub fn enter(&mut self, thread: u32, object: usize) {
        self.order.enter(thread, object);
    }

    /// A thread leaves a barrier.
    pub fn exit(&mut self, thread: u32, object: usize) {
        self.order.exit(thread, object);
    }

    /// One more than the largest number of a thread that may have accesses left out.
    pub fn threads(&self) -> u32 {
        self.order.threads() as u32
    }

    /// An access of a thread is left out.
    pub fn leave_out(&mut self, thread: u32) {
        self.left_out += 1;
        if self.left_out >= FEW && self.left_out.is_power_of_two() {
            self.say();
        }
        // SAFETY: accesses of threads with larger numbers are not left out.
        unsafe { *self.behind.add(thread as usize) = 1 };
    }

    /// How much was left out so far: the program may be killed before its end.
    #[cold]
    fn say(&mut self) {
        self.found.missing(self.left_out, self.missed);
        facts::left_out(self.left_out);
    }

    /// An event of a thread is recorded; whether accesses were left out since the one before.
    pub fn catch_up(&mut self, thread: u32) -> bool {
        if !self.leaves_out || thread as usize >= THREADS {
            return false;
        }
        // SAFETY: there is room for so many.
        unsafe { core::mem::take(&mut *self.behind.add(thread as usize)) != 0 }
    }

    /// So many events have happened, recorded or not.
    #[inline(always)]
    pub fn events(&mut self, events: u64) {
        self.found.events(events);
    }

    /// The recording ends after so many events.
    pub fn end(&mut self, events: u64) {
        if self.is_on {
            self.is_on = false;
            self.found.events(events);
            match self.leaves_out {
                true => self.say(),
                false => self.found.missing(0, self.missed),
            }
        }
    }
}

/// Which bytes of a word an access touches: a bit each.
#[inline(always)]
fn bytes_of(word: usize, addr: usize, bytes: usize) -> u8 {
    let from = addr.saturating_sub(word);
    let to = (addr + bytes - word).min(8);
    (0xFF_u32 << from & 0xFF_u32 >> (8 - to)) as u8
}

/// All bits of the bytes that have a bit.
#[inline(always)]
fn spread(bytes: u8) -> u64 {
    let one_each = (u64::from(bytes).wrapping_mul(0x0101_0101_0101_0101)) & 0x8040_2010_0804_0201;
    // 0x80 of each byte is set if any of its bits was.
    let high = ((one_each + 0x7F7F_7F7F_7F7F_7F7F) | one_each) & 0x8080_8080_8080_8080;
    (high >> 7).wrapping_mul(0xFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_spread() {
        for bytes in 0..=u8::MAX {
            let expected = (0..8).filter(|byte| bytes >> byte & 1 != 0);
            let expected = expected.fold(0, |all, byte| all | 0xFF << (byte * 8));
            assert_eq!(spread(bytes), expected, "{bytes:#x}");
        }
    }

    #[test]
    fn accesses_touch_bytes_of_words() {
        assert_eq!(bytes_of(0x10, 0x10, 8), 0xFF);
        assert_eq!(bytes_of(0x10, 0x12, 2), 0b1100);
        assert_eq!(bytes_of(0x10, 0x16, 4), 0b1100_0000);
        assert_eq!(bytes_of(0x18, 0x16, 4), 0b11);
        assert_eq!(bytes_of(0x18, 0x10, 100), 0xFF);
    }
}
