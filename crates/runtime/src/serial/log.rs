//! The one stream of a serial recording: every event in the order in which it happened.
//!
//! A read's value is there when its hook is called, for nobody else runs until it has happened.
//! A write's is not: it is put off until the thread's next event and written down then, with
//! what the memory holds by that time. Nobody else has run in between, so the order is right.
//!
//! A recording may leave out accesses to memory that threads do not share ([`super::shared`]), and then
//! functions, too, in which nothing else is: they are entered with their first event.

use deadheat_wire::inputs::kind;
use deadheat_wire::{BLOCK_BYTES, BlockHeader, MAX_RANGE_VALUES, Op, word};

use super::shared::Shared;
use super::straight::stores_between;
use crate::local::{Local, local};
use crate::record::event::{Kind, Sync};
use crate::record::{Cursor, Stop, Stream, handler, next_seq, stop_early};
use crate::sys;

/// A write that was announced and may not have happened yet.
#[derive(Clone, Copy)]
struct Deferred {
    thread: u32,
    /// The tag of an access; 0 for a range.
    kind: u64,
    addr: usize,
    length: usize,
    pc: usize,
    /// What the memory held when it was announced, see [`fingerprint`].
    before: u64,
    /// A read was let pass already.
    passed: bool,
    /// The recording is to have it.
    is_wanted: bool,
    /// It lies on the thread's own stack.
    is_private: bool,
}

/// The stream and its state. Used only by the thread that has the turn.
pub struct Log {
    cursor: Cursor,
    stream: Stream,
    /// The thread of the last event.
    thread: u32,
    deferred: Option<Deferred>,
    /// How many events there were.
    pub events: u64,
    /// How often something has changed that threads may look at, but for locks.
    pub changes: u64,
    /// How often locks have changed hands.
    pub lock_changes: u64,
    /// A sum over what was changed in memory that lies on no stack of whoever changed it: the same
    /// if it is as it was.
    pub visible: u64,
    /// How often something else has happened that threads may notice, but for locks, waits and the time.
    pub stirs: u64,
    /// Nothing is written.
    is_silent: bool,
    /// Which memory threads share.
    shared: Shared,
}

impl Log {
    /// A log without a buffer: nothing is written.
    pub const fn new() -> Self {
        Log {
            cursor: Cursor::none(),
            stream: Stream::none(),
            thread: 0,
            deferred: None,
            events: 0,
            changes: 0,
            lock_changes: 0,
            visible: 0,
            stirs: 0,
            is_silent: false,
            shared: Shared::none(),
        }
    }

    /// Writes nothing, and does everything else.
    pub fn keep_silent(&mut self) {
        *self = Log::new();
        self.is_silent = true;
    }

    /// Starts the stream. If there is no room for it, the user has been told, and nothing is written.
    pub fn open(&mut self) {
        *self = Log::new();
        self.stream.open(&mut self.cursor, 0, BlockHeader::VALUES);
        self.shared.begin();
    }

    /// Writes out what is buffered, at the end (`for_good`) also what was seen of the memory.
    pub fn flush(&mut self, for_good: bool) {
        self.settle();
        if for_good {
            self.catch_up();
        }
        self.stream.flush(&mut self.cursor, self.thread);
        if for_good {
            self.shared.end(self.events);
        }
    }

    /// Makes room for a record with this many further words, and says whose it is.
    fn room(&mut self, thread: u32, further: usize) -> bool {
        self.pass();
        if self.is_silent {
            return false;
        }
        if self.events > self.shared.whole && self.shared.whole > 0 {
            self.end_early();
            return false;
        }
        self.shared.catch_up(thread);
        let left = (self.cursor.end as usize).saturating_sub(self.cursor.cur as usize) / 8;
        if !self.cursor.has_room() || left <= further {
            self.stream.flush(&mut self.cursor, self.thread);
            if !self.cursor.has_room() {
                if self.shared.ends_full {
                    self.end_run();
                }
                return false;
            }
        }
        if self.thread != thread {
            let switch = word::tagged(word::EXT, word::ext::SWITCH, u64::from(thread));
            // SAFETY: there is room for any record.
            unsafe { self.cursor.push(switch) };
            self.thread = thread;
        }
        true
    }

    /// One more event has happened that is not written down.
    #[inline]
    fn pass(&mut self) {
        self.events += 1;
        if self.events >= self.shared.until {
            self.end_run();
        }
    }

    /// As many events have happened as were to, or as can be recorded.
    #[cold]
    fn end_run(&mut self) {
        (self.shared.until, self.shared.ends_full) = (u64::MAX, false);
        self.flush(true);
        stop_early(Stop::Length);
        sys::kill_oneself();
    }

    /// As many events were recorded as were to be. The run goes on, and what threads share is looked at.
    #[cold]
    fn end_early(&mut self) {
        self.stream.flush(&mut self.cursor, self.thread);
        stop_early(Stop::Length);
        self.is_silent = true;
    }

    /// Says of every thread how far it is, if accesses behind its last event were left out: who counts
    /// other threads' events counts these, too.
    #[cold]
    fn catch_up(&mut self) {
        for thread in 0..self.shared.threads() {
            if self.shared.catch_up(thread) {
                self.put_sync(thread, &Sync::new(Op::Fence, 0, 0), [0; 2], [0; 2]);
                // It is none of the run's.
                self.events -= 1;
            }
        }
    }

    /// Writes down which functions the running thread is in that were not yet.
    #[inline]
    fn open_frames(&mut self, thread: u32) {
        if self.shared.leaves_out {
            // SAFETY: the running kernel thread's own state; whoever is attached has a record. The carrier is
            // not: it writes down for others that they wait for ever.
            unsafe {
                let local = local();
                let own = (*local).thread;
                if !own.is_null() && (*own).id == thread {
                    self.open_frames_of(thread, local);
                }
            }
        }
    }

    /// The same for a thread that waits.
    ///
    /// # Safety
    /// It is attached, and this is its state.
    pub unsafe fn open_frames_of(&mut self, thread: u32, local: *mut Local) {
        if !self.shared.leaves_out || local.is_null() {
            return;
        }
        // SAFETY: as the caller says; the sentinel ends the loop, and no frame below it is looked at.
        unsafe {
            let top = (*local).frame;
            let mut first = top;
            while (*first.sub(1)).sp != usize::MAX && (*first.sub(1)).node == 0 {
                first = first.sub(1);
            }
            while first < top {
                (*first).node = 1;
                if self.room(thread, 0) {
                    self.cursor.enter((*first).caller, (*first).last_pc);
                }
                // It was counted when it was entered.
                self.events -= 1;
                first = first.add(1);
            }
        }
    }

    /// Looks at an access that is about to happen; whether the recording is to have it.
    #[inline]
    fn look(
        &mut self,
        thread: u32,
        writes: bool,
        addr: usize,
        length: usize,
        is_range: bool,
    ) -> bool {
        if !self.shared.is_on {
            return true;
        }
        self.shared.events(self.events);
        let seen = self.shared.access(thread, writes, addr, length, is_range);
        if seen.is_external && self.shared.leaves_out {
            self.catch_up();
        }
        if !seen.is_wanted {
            self.shared.leave_out(thread);
        }
        seen.is_wanted
    }

    /// Writes down the write that was put off, if there is one: it has happened by now.
    pub fn settle(&mut self) {
        if let Some(write) = self.deferred.take() {
            let Deferred {
                thread,
                kind,
                addr,
                length,
                pc,
                before,
                is_wanted,
                is_private,
                ..
            } = write;
            if length > MAX_RANGE_VALUES {
                self.stir();
            } else {
                self.has_written(addr, [before, fingerprint(addr, length)], is_private);
            }
            if self.shared.is_on {
                self.shared.written(addr, length);
            }
            match kind {
                _ if !is_wanted => self.pass(),
                0 => self.put_range(thread, true, addr, length, pc),
                _ => self.put_access(thread, kind, addr, pc),
            }
        }
    }

    /// Memory held the one, and holds the other.
    fn has_written(&mut self, addr: usize, [before, after]: [u64; 2], is_private: bool) {
        if after != before {
            self.changes += 1;
            if !is_private {
                self.visible ^= content(addr, before) ^ content(addr, after);
            }
        }
    }

    fn defer(&mut self, thread: u32, kind: u64, addr: usize, length: usize, pc: usize) {
        let is_wanted = self.look(thread, true, addr, length, kind == 0);
        if is_wanted {
            self.open_frames(thread);
        } else {
            self.pass();
        }
        if !is_wanted || self.room(thread, 0) || self.is_silent {
            let before = fingerprint(addr, length);
            self.deferred = Some(Deferred {
                thread,
                kind,
                addr,
                length,
                pc,
                before,
                passed: false,
                is_wanted,
                is_private: is_on_own_stack(addr),
            });
        }
    }

    /// An access, before it happens.
    pub fn access(&mut self, thread: u32, kind: u64, addr: usize, pc: usize) {
        if kind < word::WRITE1 {
            self.let_pass(addr, size_of_kind(kind), pc);
            self.put_kept();
            if !self.look(thread, false, addr, size_of_kind(kind), false) {
                self.pass();
                return;
            }
            self.open_frames(thread);
            self.put_access(thread, kind, addr, pc);
        } else {
            self.settle();
            self.put_kept();
            self.defer(thread, kind, addr, size_of_kind(kind), pc);
        }
    }

    /// An access to a range, before it happens.
    pub fn range(&mut self, thread: u32, write: bool, addr: usize, length: usize, pc: usize) {
        if write {
            self.settle();
            self.put_kept();
            self.defer(thread, 0, addr, length, pc);
        } else {
            self.let_pass(addr, length, pc);
            self.put_kept();
            if !self.look(thread, false, addr, length, true) {
                self.pass();
                return;
            }
            self.open_frames(thread);
            self.put_range(thread, false, addr, length, pc);
        }
    }

    /// What signal handlers did that the kernel has run, unless somebody's write is still to come.
    fn put_kept(&mut self) {
        if self.deferred.is_none() {
            handler::take(None, |by, sync, _| {
                self.stir();
                self.put_sync(by, &sync, [0; 2], [0; 2]);
            });
        }
    }

    /// Before a read of this many bytes: settles the write, unless both are one copy.
    fn let_pass(&mut self, addr: usize, length: usize, pc: usize) {
        if !self.is_copy(addr, length, pc) {
            self.settle();
        } else if let Some(write) = &mut self.deferred {
            write.passed = true;
        }
    }

    /// Whether a read of these bytes is the second half of a copy whose write was announced
    /// first: gcc announces the copy of a structure as a write, then a read, and only then
    /// copies. The write is then still to come, and nobody else may run before. A write that has left the
    /// memory as it was is known by the code behind its hook.
    pub fn is_copy(&self, addr: usize, length: usize, pc: usize) -> bool {
        self.deferred.is_some_and(|write| {
            !write.passed
                && write.length == length
                && write.addr.abs_diff(addr) >= length
                && fingerprint(write.addr, length) == write.before
                && !stores_between(write.pc, pc)
        })
    }

    /// The same for an access of this kind.
    pub fn is_read_of_copy(&self, kind: u64, addr: usize, pc: usize) -> bool {
        kind < word::WRITE1 && self.is_copy(addr, size_of_kind(kind), pc)
    }

    fn put_access(&mut self, thread: u32, kind: u64, addr: usize, pc: usize) {
        if !self.room(thread, 0) {
            return;
        }
        let size = size_of_kind(kind);
        // SAFETY: there is room for any record; the program reads or has written these bytes.
        unsafe {
            self.cursor.access(kind, addr, pc);
            for at in (0..size).step_by(8) {
                self.cursor.push(load(addr + at, size.min(8)));
            }
        }
    }

    /// An access to a range. Where something is left out, only what is wanted of it is written down, in
    /// pieces; they count as one event.
    fn put_range(&mut self, thread: u32, write: bool, addr: usize, length: usize, pc: usize) {
        if !self.shared.leaves_out_of(thread) {
            return self.put_piece(thread, write, addr, length, pc);
        }
        let events = self.events;
        let end = addr + length;
        let mut at = addr;
        while let Some([from, upto]) = Shared::next_wanted(at, end) {
            self.put_piece(thread, write, from, upto - from, pc);
            self.events = events;
            at = upto;
        }
        self.pass();
    }

    fn put_piece(&mut self, thread: u32, write: bool, addr: usize, length: usize, pc: usize) {
        let kind = if write {
            word::ext::RANGE_WRITE
        } else {
            word::ext::RANGE_READ
        };
        let with_values = length <= MAX_RANGE_VALUES;
        let words = if with_values { length.div_ceil(8) } else { 0 };
        const _: () = assert!(MAX_RANGE_VALUES * 2 < BLOCK_BYTES);
        if !self.room(thread, words) {
            return;
        }
        let kind = kind | if with_values { word::ext::VALUES } else { 0 };
        let first = word::tagged(word::EXT, kind, addr as u64);
        let mut contents = [0; MAX_RANGE_VALUES / 8];
        for (i, word) in contents[..words].iter_mut().enumerate() {
            // SAFETY: the program reads or has written these bytes.
            *word = unsafe { load(addr + i * 8, (length - i * 8).min(8)) };
        }
        // SAFETY: there is room for the words.
        unsafe {
            self.cursor
                .record(first, length as u64, pc, [&contents[..words], &[]])
        };
    }

    /// A synchronisation that has happened or is about to, with the values of an atomic access.
    pub fn sync(&mut self, thread: u32, sync: &Sync, read: [u64; 2], written: [u64; 2]) {
        self.settle();
        self.put_kept();
        match sync.op {
            Op::Acquire | Op::ReadAcquire | Op::Release | Op::ReadRelease => self.lock_changes += 1,
            Op::AtomicRmw if read == written => {}
            op if changes_nothing(op) => {}
            op => {
                self.changes += 1;
                match op {
                    Op::AtomicWrite | Op::AtomicRmw => {
                        self.visible ^= content(sync.object, read[0] ^ read[1].rotate_left(1));
                        self.visible ^=
                            content(sync.object, written[0] ^ written[1].rotate_left(1));
                    }
                    op if is_wait(op) => {}
                    _ => self.stirs += 1,
                }
            }
        }
        if self.shared.is_on {
            self.look_at(thread, sync, read, written);
        }
        self.open_frames(thread);
        self.put_sync(thread, sync, read, written);
    }

    /// What a synchronisation does to the memory and to the order of threads.
    fn look_at(&mut self, thread: u32, sync: &Sync, read: [u64; 2], written: [u64; 2]) {
        let (object, operand) = (sync.object, sync.operand.unwrap_or(0));
        let is_external = match sync.op {
            op if op.is_atomic() => {
                let read = op.reads().then_some(read);
                let written = op.writes().then_some(written);
                let bytes = word::size_of_code(sync.size_code);
                self.shared.atomic(object, bytes, read, written)
            }
            // A thread is cancelled: see `catch_up`.
            Op::Send => operand > 0,
            _ => false,
        };
        if is_external && self.shared.leaves_out {
            self.catch_up();
        }
        match sync.op {
            Op::Alloc => self.shared.alloc(object, operand as usize),
            Op::Free => self.shared.free(thread, object),
            Op::Fork => self.shared.fork(thread, object as u32),
            Op::Join => self.shared.join(thread, object as u32),
            Op::BarrierEnter => self.shared.enter(thread, object),
            Op::BarrierExit => self.shared.exit(thread, object),
            Op::Init if sync.size_code == Kind::Barrier as u64 => {
                self.shared.barrier(object, operand);
            }
            Op::Destroy if sync.size_code == Kind::Barrier as u64 => {
                self.shared.barrier(object, 0);
            }
            _ => {}
        }
    }

    fn put_sync(&mut self, thread: u32, sync: &Sync, read: [u64; 2], written: [u64; 2]) {
        if !self.room(thread, 0) {
            return;
        }
        let seq = next_seq();
        let words = word::value_words(sync.size_code);
        let rest: [&[u64]; 2] = match sync.op {
            Op::AtomicRead => [&read[..words], &[]],
            Op::AtomicWrite => [&written[..words], &[]],
            Op::AtomicRmw => [&read[..words], &written[..words]],
            _ => [sync.operand.as_slice(), &[]],
        };
        // SAFETY: there is room for any record.
        unsafe { self.cursor.record(sync.first_word(), seq, sync.pc, rest) };
        self.stream.seq_last = seq;
    }

    /// Something has changed that threads may notice.
    pub fn stir(&mut self) {
        self.changes += 1;
        self.stirs += 1;
    }

    /// What a thread got from the system.
    pub fn input(&mut self, thread: u32, kind: u32, value: u64) {
        self.settle();
        match kind {
            kind::PROCESS
            | kind::KERNEL_THREAD
            | kind::PROCESSOR
            | kind::MEMORY
            | kind::CLOCK.. => {
                self.changes += 1;
            }
            _ => self.stir(),
        }
        self.open_frames(thread);
        if self.room(thread, 1) {
            // SAFETY: there is room for both words.
            unsafe {
                self.cursor
                    .push(word::tagged(word::EXT, word::ext::INPUT, kind.into()));
                self.cursor.push(value);
            }
        }
    }

    /// A function's entry.
    pub fn enter(&mut self, thread: u32, caller: usize, callee: usize) {
        self.settle();
        if self.shared.leaves_out {
            self.pass();
            return;
        }
        if self.room(thread, 0) {
            // SAFETY: there is room.
            unsafe { self.cursor.enter(caller, callee) };
        }
    }

    /// Its frame, while memory is looked at.
    #[inline]
    pub fn enter_frame(&mut self, [low, high]: [usize; 2]) {
        if self.shared.is_on {
            self.shared.frame(low, high);
        }
    }

    /// A function's exit. `was_entered`: its entry was written down late, see [`Log::open_frames`].
    pub fn leave(&mut self, thread: u32, caller: usize, was_entered: bool) {
        self.settle();
        if self.shared.leaves_out && !was_entered {
            self.pass();
            return;
        }
        if self.room(thread, 0) {
            // SAFETY: there is room.
            unsafe { self.cursor.leave(caller) };
        }
    }
}

/// Whether nobody can notice that it was done.
fn changes_nothing(op: Op) -> bool {
    matches!(
        op,
        Op::AtomicRead
            | Op::Fence
            | Op::Request
            | Op::ReadRequest
            | Op::Refused
            | Op::ReadRefused
            | Op::TakeRefused
            | Op::ReceiveRefused
    )
}

/// Whether it is part of a wait: what comes of it shows in what follows.
fn is_wait(op: Op) -> bool {
    matches!(
        op,
        Op::Wait
            | Op::Wake
            | Op::Timeout
            | Op::Notify
            | Op::NotifyAll
            | Op::FutexWait
            | Op::FutexWoken
            | Op::FutexWake
    )
}

/// Whether memory lies on the running thread's own stack.
fn is_on_own_stack(addr: usize) -> bool {
    let here = 0_u8;
    let low = &raw const here as usize;
    // SAFETY: the thread's own state, and its record, which is its own.
    let top = unsafe {
        let thread = (*local()).thread;
        match thread.is_null() {
            true => 0,
            false => (*thread).task.stack_top(),
        }
    };
    (low..top).contains(&addr)
}

/// What this being there adds to the sum over memory.
fn content(addr: usize, held: u64) -> u64 {
    let mixed = (addr as u64 ^ held.rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29 ^ held).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// The size of an access of this kind.
pub fn size_of_kind(kind: u64) -> usize {
    1 << ((kind - 1) % 5)
}

/// A number that changes when the memory does; large ranges are judged by their first page.
fn fingerprint(addr: usize, length: usize) -> u64 {
    let length = length.min(MAX_RANGE_VALUES);
    (0..length).step_by(8).fold(0, |sum: u64, at| {
        // SAFETY: the program is about to write, or has written, these bytes.
        let word = unsafe { load(addr + at, (length - at).min(8)) };
        (sum.rotate_left(29) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

/// Up to eight bytes of the program's memory, as a number.
///
/// # Safety
/// They can be read.
pub unsafe fn load(addr: usize, size: usize) -> u64 {
    // SAFETY: as the caller says; volatile, because it is the program's memory and the compiler
    // knows nothing of what changes it.
    unsafe {
        match size {
            8 => u64::from_le_bytes((addr as *const [u8; 8]).read_volatile()),
            4 => u32::from_le_bytes((addr as *const [u8; 4]).read_volatile()).into(),
            2 => u16::from_le_bytes((addr as *const [u8; 2]).read_volatile()).into(),
            _ => (0..size).fold(0, |value, i| {
                value | u64::from(((addr + i) as *const u8).read_volatile()) << (8 * i)
            }),
        }
    }
}
