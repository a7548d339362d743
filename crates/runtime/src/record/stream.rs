//! A stream of blocks: one per thread in a parallel recording, one for all in a serial one.

use core::sync::atomic::{Ordering, compiler_fence};

use deadheat_wire::{BLOCK_BYTES, BlockHeader, BlockKind, LIVE_BUFFER, LIVE_MAGIC, LiveHeader};

use super::cursor::Cursor;
use super::file;

/// Room for the words of a block.
pub type BlockCopy = [u64; BLOCK_BYTES / 8];

/// A buffer and what its next block's header will say.
pub struct Stream {
    /// The buffer's slot: a [`LiveHeader`], then at [`LIVE_BUFFER`] the words. Null: none yet.
    slot: *mut u8,
    /// The sequence number of the last event written.
    pub seq_last: u64,
    /// The stream was flushed for the last time, by whoever closed the recording.
    closed: bool,
}

impl Stream {
    /// A stream without a buffer.
    pub const fn none() -> Self {
        Stream {
            slot: core::ptr::null_mut(),
            seq_last: 0,
            closed: false,
        }
    }

    /// Whether it has a buffer.
    pub fn is_open(&self) -> bool {
        !self.slot.is_null() && !self.closed
    }

    fn header(&self) -> *mut LiveHeader {
        self.slot.cast()
    }

    fn buffer(&self) -> *mut u64 {
        self.slot.wrapping_add(LIVE_BUFFER).cast()
    }

    /// Takes a slot and points the cursor to it. `flags` as in the block's header.
    /// False if there is no room for it; then the recording has stopped.
    pub fn open(&mut self, cursor: &mut Cursor, stream: u32, flags: u8) -> bool {
        self.slot = file::take_slot();
        if self.slot.is_null() {
            return false;
        }
        self.seq_last = 0;
        self.closed = false;
        // SAFETY: a slot is ours alone from `take_slot` on, and starts with a header.
        unsafe {
            *self.header() = LiveHeader {
                magic: LIVE_MAGIC,
                stream,
                ordinal: 0,
                thread: stream,
                flags: u32::from(flags),
                pc: cursor.last_pc as u64,
                seq_before: 0,
            };
        }
        self.rewind(cursor);
        true
    }

    fn rewind(&self, cursor: &mut Cursor) {
        cursor.start(self.buffer(), BLOCK_BYTES / 8);
    }

    /// Writes the buffered words as a block. `thread` is who runs next, for a serial stream.
    pub fn flush(&mut self, cursor: &mut Cursor, thread: u32) {
        if !self.is_open() || cursor.cur.is_null() {
            return;
        }
        let words = (cursor.cur as usize - self.buffer() as usize) / 8;
        if words == 0 {
            return self.rewind(cursor);
        }
        // SAFETY: the slot is ours; the words up to the cursor were written.
        unsafe {
            let payload = core::slice::from_raw_parts_mut(self.buffer(), words);
            if !self.append(payload) {
                // The words stay where they are: readers find them in the live file.
                self.closed = true;
                cursor.clear();
                return;
            }
            // A program killed from here on leaves a slot with the number of a block that is on
            // disk, until the buffer is empty again; so readers never see its words twice.
            compiler_fence(Ordering::SeqCst);
            payload.fill(0);
            compiler_fence(Ordering::SeqCst);
            let live = &mut *self.header();
            live.thread = thread;
            live.pc = cursor.last_pc as u64;
            live.seq_before = self.seq_last;
            live.ordinal += 1;
        }
        self.rewind(cursor);
    }

    /// Appends a block with these words; false if it could not be written.
    ///
    /// # Safety
    /// There is a slot.
    unsafe fn append(&self, payload: &[u64]) -> bool {
        // SAFETY: a slot starts with a header.
        let live = unsafe { &*self.header() };
        let mut header = BlockHeader::new(BlockKind::Events, live.stream);
        header.flags = live.flags as u8;
        header.ordinal = live.ordinal;
        header.thread = live.thread;
        header.pc = live.pc;
        header.seq_before = live.seq_before;
        header.seq_last = self.seq_last;
        file::append(&header.seal(payload), payload)
    }

    /// Writes out, for the last time, what another thread has buffered. It may still be running, so
    /// the words are written from a copy, and the buffer stays: readers see by its number that the
    /// block is on disk.
    ///
    /// # Safety
    /// `owner` is the cursor of this stream.
    pub unsafe fn close_from_outside(&mut self, owner: *mut Cursor, copy: &mut BlockCopy) {
        if !self.is_open() {
            return;
        }
        self.closed = true;
        // SAFETY: as the caller says; the stream is open, so there is a slot.
        unsafe {
            let words = Cursor::copy_from_outside(owner, self.buffer(), copy);
            if let Some(payload) = words.filter(|words| !words.is_empty()) {
                self.append(payload);
            }
        }
    }

    /// Flushes for the last time and gives the slot back, unless the recording has stopped.
    pub fn close(&mut self, cursor: &mut Cursor) {
        if !self.is_open() {
            return;
        }
        // A recording that has stopped took the cursor away: the words are in the live file.
        let stopped = cursor.cur.is_null();
        self.flush(cursor, 0);
        if !core::mem::replace(&mut self.closed, true) && !stopped {
            cursor.clear();
            file::return_slot(self.slot);
            self.slot = core::ptr::null_mut();
        }
    }
}
