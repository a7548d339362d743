//! Where the next event goes, and how the words of each kind of record are laid down.
//!
//! A cursor must have room ([`Cursor::has_room`]) before a record is written: every record but a
//! range's contents fits into the slack behind `end`.

use core::sync::atomic::{Ordering, compiler_fence};

use deadheat_wire::word;

use super::repetition::Repetition;

/// The longest record without a range's contents, with its PC word.
const LONGEST_RECORD: usize = 8;
/// Words behind `end` that a record may spill into.
const SLACK_WORDS: usize = 2 * LONGEST_RECORD;

/// A place in a buffer. Zeroed, it has no buffer and no room.
#[repr(C)]
pub struct Cursor {
    /// Where the next word goes.
    pub cur: *mut u64,
    /// From here on the buffer counts as full; [`SLACK_WORDS`] follow.
    pub end: *mut u64,
    /// The pc of the record before.
    pub last_pc: usize,
    /// Behind a pair whose upper half is empty; nothing if `cur` is elsewhere.
    open_pair: *mut u64,
    /// What is left out because it repeats.
    repetition: Repetition,
    /// What each slot of pcs did last; zeroed at a block's start.
    slots: [Slot; word::PC_SLOTS],
}

/// What the code of one slot of pcs did last.
#[derive(Clone, Copy)]
struct Slot {
    /// The address of its last access.
    addr: u64,
    /// The last full pair whose later access was its own.
    pair: *mut u64,
}

impl Slot {
    const NONE: Self = Slot {
        addr: 0,
        pair: core::ptr::null_mut(),
    };
}

impl Cursor {
    /// A cursor without a buffer.
    pub const fn none() -> Self {
        Cursor {
            cur: core::ptr::null_mut(),
            end: core::ptr::null_mut(),
            last_pc: 0,
            open_pair: core::ptr::null_mut(),
            repetition: Repetition::none(),
            slots: [Slot::NONE; word::PC_SLOTS],
        }
    }

    /// Starts a block in a buffer of this many words.
    pub fn start(&mut self, buffer: *mut u64, words: usize) {
        self.cur = buffer;
        self.end = buffer.wrapping_add(words - SLACK_WORDS);
        self.open_pair = core::ptr::null_mut();
        self.repetition = Repetition::none();
        self.slots = [Slot::NONE; word::PC_SLOTS];
    }

    /// Copies the words of another thread's buffer, as far as they are whole records; `None` if it
    /// has put its cursor away. If the thread is running, it finds no room from now on: its last
    /// word would else go on counting what a loop repeats.
    ///
    /// # Safety
    /// `owner` is in use with this buffer, which is no longer than `copy`. What its thread writes
    /// from now on is lost.
    pub unsafe fn copy_from_outside(
        owner: *mut Cursor,
        buffer: *const u64,
        copy: &mut [u64],
    ) -> Option<&[u64]> {
        // SAFETY: as the caller says. The thread may finish what it is writing meanwhile, and move
        // its cursor within the buffer.
        unsafe {
            (&raw mut (*owner).end).write_volatile(core::ptr::null_mut());
            let cur = || (&raw const (*owner).cur).read_volatile();
            let seen = cur();
            if seen.is_null() {
                return None;
            }
            let words = seen.cast_const().offset_from(buffer) as usize;
            for (at, word) in copy.get_mut(..words)?.iter_mut().enumerate() {
                *word = buffer.add(at).read_volatile();
            }
            // What is taken back is made zero after the cursor has moved before it.
            let still = seen.min(cur());
            let words = still.cast_const().offset_from(buffer).max(0) as usize;
            (!still.is_null()).then(|| copy.get(..words))?
        }
    }

    /// Takes the buffer away: every hook goes to its slow path.
    pub fn clear(&mut self) {
        self.cur = core::ptr::null_mut();
        self.end = core::ptr::null_mut();
    }

    /// Whether any record (but a range's contents) fits.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.cur < self.end
    }

    /// Lays down a word.
    ///
    /// # Safety
    /// There was room, and this is one of the record's first [`LONGEST_RECORD`] words.
    #[inline(always)]
    pub unsafe fn push(&mut self, word: u64) {
        // SAFETY: `cur` lies before `end` plus the slack, which is inside the buffer.
        unsafe {
            self.cur.write(word);
            self.cur = self.cur.add(1);
        }
    }

    /// An access, in half a word if it is near the one before; `kind` is its tag.
    ///
    /// # Safety
    /// There was room.
    #[inline(always)]
    pub unsafe fn packed_access(&mut self, kind: u64, addr: usize, pc: usize) {
        let slot = &mut self.slots[word::pc_slot(pc as u64)];
        let near = (addr as u64)
            .wrapping_sub(slot.addr)
            .wrapping_add(word::HALF_ADDR_BIAS);
        let delta = (pc as u64)
            .wrapping_sub(self.last_pc as u64)
            .wrapping_add(word::HALF_PC_BIAS);
        slot.addr = addr as u64;
        // SAFETY: the word before `cur` is the open pair, or there is room for a new one.
        unsafe {
            if near >= word::HALF_ADDR_SPAN || delta >= word::HALF_PC_SPAN {
                return self.access(kind, addr, pc);
            }
            self.last_pc = pc;
            let half = word::half(kind, delta, near);
            if self.open_pair == self.cur {
                self.open_pair = core::ptr::null_mut();
                let at = self.cur.sub(1);
                let pair = *at | half << word::HALF_BITS;
                self.repetition.lay(pair, at, &mut self.cur, &mut slot.pair);
            } else {
                self.push(half);
                self.open_pair = self.cur;
            }
        }
    }

    /// An access; `kind` is its tag.
    ///
    /// # Safety
    /// There was room.
    #[inline(always)]
    pub unsafe fn access(&mut self, kind: u64, addr: usize, pc: usize) {
        let mut delta = (pc as u64)
            .wrapping_sub(self.last_pc as u64)
            .wrapping_add(word::PC_BIAS);
        // SAFETY: at most two words, see above.
        unsafe {
            if delta >= word::PC_SPAN {
                self.push(word::tagged(word::PC, 0, pc as u64));
                delta = word::PC_BIAS;
            }
            self.push(word::access(kind, delta, addr as u64));
        }
        self.last_pc = pc;
    }

    /// Lays down a record of several words; the cursor moves once all of them are there, so that
    /// whoever looks from outside (a signal handler, the thread that closes the recording) sees
    /// whole records.
    ///
    /// # Safety
    /// There is room for the words, and a PC word.
    #[inline]
    pub unsafe fn record(&mut self, first: u64, number: u64, pc: usize, rest: [&[u64]; 2]) {
        let delta = (pc as u64)
            .wrapping_sub(self.last_pc as u64)
            .wrapping_add(word::WIDE_PC_BIAS);
        self.last_pc = pc;
        let mut at = self.cur;
        let mut lay = |word: u64| {
            // SAFETY: the caller has made room.
            unsafe {
                at.write(word);
                at = at.add(1);
            }
        };
        let delta = if delta < word::WIDE_PC_SPAN {
            delta
        } else {
            lay(word::tagged(word::PC, 0, pc as u64));
            word::WIDE_PC_BIAS
        };
        lay(first);
        lay(word::numbered(number, delta));
        for &word in rest[0].iter().chain(rest[1]) {
            lay(word);
        }
        compiler_fence(Ordering::Release);
        self.cur = at;
    }

    /// A function's entry: called from `caller`, itself near `callee`.
    ///
    /// # Safety
    /// There was room.
    #[inline(always)]
    pub unsafe fn enter(&mut self, caller: usize, callee: usize) {
        let delta = (callee as u64)
            .wrapping_sub(caller as u64)
            .wrapping_add(word::PC_BIAS);
        let (detail, pc) = if delta < word::PC_SPAN && delta != 0 {
            (delta, callee)
        } else {
            (0, caller)
        };
        // SAFETY: one word.
        unsafe { self.push(word::tagged(word::ENTER, detail, caller as u64)) };
        self.last_pc = pc;
    }

    /// A function's exit, back to `caller`.
    ///
    /// # Safety
    /// There was room.
    #[inline(always)]
    pub unsafe fn leave(&mut self, caller: usize) {
        // SAFETY: one word.
        unsafe { self.push(word::tagged(word::LEAVE, 0, caller as u64)) };
        self.last_pc = caller;
    }
}
