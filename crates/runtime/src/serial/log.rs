//! The one stream of a serial recording: every event in the order in which it happened.
//!
//! A read's value is there when its hook is called, for nobody else runs until it has happened.
//! A write's is not: it is put off until the thread's next event and written down then, with
//! what the memory holds by that time. Nobody else has run in between, so the order is right.

use deadheat_wire::{BLOCK_BYTES, BlockHeader, MAX_RANGE_VALUES, Op, word};

use crate::record::event::Sync;
use crate::record::{Cursor, Stream, next_seq};

/// A write that was announced and may not have happened yet.
#[derive(Clone, Copy)]
enum Deferred {
    None,
    Access {
        kind: u64,
        addr: usize,
        pc: usize,
    },
    Range {
        addr: usize,
        length: usize,
        pc: usize,
    },
}

/// The stream and its state. Used only by the thread that has the turn.
pub struct Log {
    cursor: Cursor,
    stream: Stream,
    /// The thread of the last event.
    thread: u32,
    deferred: Deferred,
    /// How many events there were.
    pub events: u64,
}

impl Log {
    /// A log without a buffer: nothing is written.
    pub const fn new() -> Self {
        Log {
            cursor: Cursor::none(),
            stream: Stream::none(),
            thread: 0,
            deferred: Deferred::None,
            events: 0,
        }
    }

    /// Starts the stream.
    pub fn open(&mut self) -> bool {
        *self = Log::new();
        self.stream.open(&mut self.cursor, 0, BlockHeader::VALUES)
    }

    /// Writes out what is buffered.
    pub fn flush(&mut self) {
        self.settle();
        self.stream.flush(&mut self.cursor, self.thread);
    }

    /// Makes room for a record with this many further words, and says whose it is.
    fn room(&mut self, thread: u32, further: usize) -> bool {
        self.events += 1;
        let left = (self.cursor.end as usize).saturating_sub(self.cursor.cur as usize) / 8;
        if !self.cursor.has_room() || left <= further {
            self.stream.flush(&mut self.cursor, self.thread);
            if !self.cursor.has_room() {
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

    /// Writes down the write that was put off, if there is one: it has happened by now.
    pub fn settle(&mut self) {
        match core::mem::replace(&mut self.deferred, Deferred::None) {
            Deferred::None => {}
            Deferred::Access { kind, addr, pc } => self.put_access(self.thread, kind, addr, pc),
            Deferred::Range { addr, length, pc } => {
                self.put_range(self.thread, true, addr, length, pc);
            }
        }
    }

    /// An access, before it happens.
    pub fn access(&mut self, thread: u32, kind: u64, addr: usize, pc: usize) {
        self.settle();
        if kind < word::WRITE1 {
            self.put_access(thread, kind, addr, pc);
        } else if self.room(thread, 0) {
            self.deferred = Deferred::Access { kind, addr, pc };
        }
    }

    fn put_access(&mut self, thread: u32, kind: u64, addr: usize, pc: usize) {
        if !self.room(thread, 0) {
            return;
        }
        let size_code = (kind - 1) % 5;
        // SAFETY: there is room for any record; the program reads or has written these bytes.
        unsafe {
            self.cursor.access(kind, addr, pc);
            if size_code < 4 {
                self.cursor.push(load(addr, 1 << size_code));
            } else {
                self.cursor.push(load(addr, 8));
                self.cursor.push(load(addr + 8, 8));
            }
        }
    }

    /// An access to a range, before it happens. A copy of a structure is announced as the write
    /// of one range and then the read of the other: so a read does not settle the write.
    pub fn range(&mut self, thread: u32, write: bool, addr: usize, length: usize, pc: usize) {
        if write {
            self.settle();
            if self.room(thread, 0) {
                self.deferred = Deferred::Range { addr, length, pc };
            }
            return;
        }
        if !matches!(self.deferred, Deferred::Range { .. }) {
            self.settle();
        }
        self.put_range(thread, false, addr, length, pc);
    }

    fn put_range(&mut self, thread: u32, write: bool, addr: usize, length: usize, pc: usize) {
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

    /// A function's entry.
    pub fn enter(&mut self, thread: u32, caller: usize, callee: usize) {
        self.settle();
        if self.room(thread, 0) {
            // SAFETY: there is room.
            unsafe { self.cursor.enter(caller, callee) };
        }
    }

    /// A function's exit.
    pub fn leave(&mut self, thread: u32, caller: usize) {
        self.settle();
        if self.room(thread, 0) {
            // SAFETY: there is room.
            unsafe { self.cursor.leave(caller) };
        }
    }
}

/// Up to eight bytes of the program's memory, as a number.
///
/// # Safety
/// They can be read.
unsafe fn load(addr: usize, size: usize) -> u64 {
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
