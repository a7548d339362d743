//! What the runtime says to the user: whole lines on standard error, without allocating.

use core::fmt::{self, Write};

use crate::sys;

/// A line in a fixed buffer; what does not fit is cut.
struct Line {
    bytes: [u8; 512],
    len: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.len() - 1 - self.len;
        let taken = text.len().min(room);
        self.bytes[self.len..self.len + taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.len += taken;
        Ok(())
    }
}

/// Writes `deadheat: <text>` and a line's end to standard error, in one piece.
pub fn say(text: fmt::Arguments) {
    let mut line = Line {
        bytes: [0; 512],
        len: 0,
    };
    let _ = line.write_str("deadheat: ");
    let _ = line.write_fmt(text);
    line.bytes[line.len] = b'\n';
    sys::write(2, &line.bytes[..line.len + 1]);
}
