//! The records of a meta block: facts that are not events.
//!
//! ```text
//! record := kind u32, length u32 (bytes of body), body, padding to 8 bytes
//! MODULE      start u64, end u64, bias u64, build id length u32, path length u32, build id, path
//! THREAD      thread u32, parent u32, pc u64                (parent: NO_THREAD for the first)
//! THREAD_NAME thread u32, length u32, name
//! NOTE        text
//! STOPPED     text
//! LEFT_OUT    u64
//! ```
//! Unknown kinds are passed over, so a later minor addition does not need a new version.

/// A program or library, and where its code lies. `bias` is what the loader added to the
/// addresses in the file.
pub const MODULE: u32 = 1;
/// A thread, before its first event.
pub const THREAD: u32 = 2;
/// A thread's name.
pub const THREAD_NAME: u32 = 3;
/// Something the user should be told.
pub const NOTE: u32 = 4;
/// The note of an end behind which another program may go on, or this one if it could not be executed.
pub const EXECUTED: &str = "the program executed another";
/// Why the recording stopped before the program ended, while there was still room to say so.
pub const STOPPED: u32 = 5;
/// How many accesses the recording lacks, as threads do not share the memory.
pub const LEFT_OUT: u32 = 6;

/// The parent of the first thread.
pub const NO_THREAD: u32 = u32::MAX;

/// A meta block's payload under construction in a fixed buffer.
pub struct Writer<'a> {
    buffer: &'a mut [u64],
    /// Bytes written.
    len: usize,
    /// Byte position of the open record's header.
    open: usize,
}

impl<'a> Writer<'a> {
    /// Writes into `buffer`; what does not fit is cut off at the end of a record's text.
    pub fn new(buffer: &'a mut [u64]) -> Self {
        Writer {
            buffer,
            len: 0,
            open: 0,
        }
    }

    /// Starts a record.
    pub fn begin(&mut self, kind: u32) -> &mut Self {
        self.open = self.len;
        self.u32(kind).u32(0)
    }

    /// Appends a number.
    pub fn u32(&mut self, number: u32) -> &mut Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Appends a number.
    pub fn u64(&mut self, number: u64) -> &mut Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Appends bytes, as many as fit.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        for &byte in bytes {
            if self.len < self.buffer.len() * 8 {
                let shift = self.len % 8 * 8;
                let word = &mut self.buffer[self.len / 8];
                *word = *word & !(0xFF << shift) | u64::from(byte) << shift;
                self.len += 1;
            }
        }
        self
    }

    /// Ends the record that was begun last.
    pub fn end(&mut self) -> &mut Self {
        let body = (self.len - self.open).saturating_sub(8) as u64;
        if let Some(word) = self.buffer.get_mut(self.open / 8) {
            *word = *word & 0xFFFF_FFFF | body << 32;
        }
        while !self.len.is_multiple_of(8) {
            self.bytes(&[0]);
        }
        self
    }

    /// The words written.
    pub fn words(&self) -> &[u64] {
        &self.buffer[..self.len / 8]
    }
}

/// The records of a meta block's payload, as (kind, body); stops at the first malformed one.
pub fn records(payload: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut rest = payload;
    core::iter::from_fn(move || {
        let head = rest.get(..8)?;
        let kind = u32_at(head, 0)?;
        let length = u32_at(head, 4)? as usize;
        let body = rest.get(8..8usize.checked_add(length)?)?;
        rest = rest.get((8 + length).next_multiple_of(8)..).unwrap_or(&[]);
        Some((kind, body))
    })
}

/// The number at this byte of a record's body.
pub fn u32_at(body: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(body.get(at..at + 4)?.try_into().ok()?))
}

/// The number at this byte of a record's body.
pub fn u64_at(body: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(body.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back() {
        let mut buffer = [0u64; 32];
        let mut writer = Writer::new(&mut buffer);
        writer.begin(THREAD).u32(1).u32(0).u64(0x1234).end();
        writer.begin(NOTE).bytes("full disk".as_bytes()).end();
        let bytes: Vec<u8> = writer
            .words()
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect();
        let all: Vec<_> = records(&bytes).collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].0, THREAD);
        assert_eq!(u64_at(all[0].1, 8), Some(0x1234));
        assert_eq!(all[1], (NOTE, "full disk".as_bytes()));
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        let mut buffer = [0u64; 3];
        let mut writer = Writer::new(&mut buffer);
        writer.begin(NOTE).bytes(&[b'x'; 100]).end();
        let bytes: Vec<u8> = writer
            .words()
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect();
        assert_eq!(
            records(&bytes).collect::<Vec<_>>(),
            vec![(NOTE, &[b'x'; 16][..])]
        );
    }
}
