//! The reader: lines in, steps out.

use std::io::{self, BufRead, Read};

use super::directive;
use super::error::{Fault, ParseError, Problem};
use super::line::Line;
use super::names::Names;
use super::{Flavor, LONGEST_LINE};
use crate::{Mode, Step, Steps, Tables};

/// Some editors put it before the first line; it is no part of it.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Reads a text trace as a stream; memory grows with the names in it, not with its length.
///
/// ```
/// use deadheat_trace::{Op, Steps, text};
///
/// let file: &[u8] = b"# two steps\nT0|acq(m)|main.c:3\nT0|rel(m)|main.c:5\n";
/// let mut steps = text::Reader::new(file, text::Flavor::Full)?;
/// let first = steps.next_step()?.unwrap();
/// assert_eq!(first.event.op(), Op::Acquire);
/// assert_eq!(steps.tables().location(first.event.pc()), "main.c:3");
/// # Ok::<(), text::ParseError>(())
/// ```
///
/// After an error the stream is at its end: no line behind a malformed one is read.
pub struct Reader<R> {
    input: R,
    flavor: Flavor,
    mode: Mode,
    names: Names,
    /// The line read last, without its end.
    line: Vec<u8>,
    number: u64,
    /// The line has been read to find the header, but not been taken.
    pending: bool,
    done: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads up to the first line that is not a comment, to see whether it is the header.
    pub fn new(input: R, flavor: Flavor) -> Result<Self, ParseError> {
        let mut reader = Reader {
            input,
            flavor,
            mode: Mode::Serial,
            names: Names::default(),
            line: Vec::new(),
            number: 0,
            pending: false,
            done: false,
        };
        reader.find_header()?;
        Ok(reader)
    }

    /// The number of the line read last, from 1.
    pub fn line(&self) -> u64 {
        self.number
    }

    fn find_header(&mut self) -> Result<(), ParseError> {
        while self.next_line()? {
            if self.number == 1 && self.line.starts_with(&deadheat_wire::FILE_MAGIC) {
                return Err(self.fault(Fault::new(0, Problem::Recording)));
            }
            let text = text_of(&self.line, self.number)?;
            if self.flavor == Flavor::Full && is_idle(text) {
                continue;
            }
            match directive::header(text) {
                Ok(Some(mode)) if self.flavor == Flavor::Full => self.mode = mode,
                Err(fault) if self.flavor == Flavor::Full => return Err(self.fault(fault)),
                _ => self.pending = true,
            }
            return Ok(());
        }
        self.done = true;
        Ok(())
    }

    /// The next step, if it is one of those that are understood at first sight, and its line lies in the buffer whole.
    fn known_step(&mut self) -> Option<Step> {
        // What is wrong with the input shows when it is read the other way.
        let buffer = self.input.fill_buf().ok()?;
        let (mut bars, mut count, mut end) = ([0; 2], 0, None);
        for (at, byte) in buffer.iter().enumerate() {
            match byte {
                b'\n' => {
                    end = Some(at);
                    break;
                }
                b'|' if count < 2 => {
                    bars[count] = at;
                    count += 1;
                }
                _ => {}
            }
        }
        let [first, second] = bars;
        let end = end.filter(|_| count == 2)?;
        let line = &buffer[..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let location = line.get(second + 1..)?;
        let what = &line[first + 1..second];
        let step = self.names.known(&line[..first], what, location)?;
        self.input.consume(end + 1);
        self.number += 1;
        Some(step)
    }

    fn read_step(&mut self) -> Result<Option<Step>, ParseError> {
        if self.flavor == Flavor::Std
            && !self.pending
            && let Some(step) = self.known_step()
        {
            return Ok(Some(step));
        }
        while std::mem::take(&mut self.pending) || self.next_line()? {
            let text = text_of(&self.line, self.number)?;
            let comments = self.flavor == Flavor::Full;
            let step = if comments && is_idle(text) {
                continue;
            } else if comments && text.trim_start().starts_with(directive::MARK) {
                directive::apply(text, &mut self.names).map(|()| None)
            } else {
                Line::parse(text, self.flavor).and_then(|line| self.names.step(&line).map(Some))
            };
            match step {
                Ok(Some(step)) => return Ok(Some(step)),
                Ok(None) => {}
                Err(fault) => return Err(fault.on_line(self.number, text)),
            }
        }
        Ok(None)
    }

    /// Reads the next line; says whether there was one.
    fn next_line(&mut self) -> Result<bool, ParseError> {
        self.line.clear();
        self.number += 1;
        // Two more: the line's end, and one byte to see that it is too long.
        let mut limited = self.input.by_ref().take(LONGEST_LINE as u64 + 2);
        let read = limited.read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| self.io_error(error))?;
        if self.line.ends_with(b"\n") {
            self.line.pop();
            if self.line.ends_with(b"\r") {
                self.line.pop();
            }
        }
        if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        if self.line.len() > LONGEST_LINE {
            let limit = LONGEST_LINE;
            self.line.clear();
            return Err(self.fault(Fault::new(0, Problem::LineTooLong { limit })));
        }
        Ok(read > 0)
    }

    fn fault(&self, fault: Fault) -> ParseError {
        fault.on_line(self.number, &String::from_utf8_lossy(&self.line))
    }

    fn io_error(&self, error: io::Error) -> ParseError {
        Fault::new(0, Problem::Io(error)).on_line(self.number, "")
    }
}

/// Whether a line of the full format says nothing: blank, or a comment.
fn is_idle(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty() || text.starts_with('#') && !text.starts_with(directive::MARK)
}

fn text_of(line: &[u8], number: u64) -> Result<&str, ParseError> {
    std::str::from_utf8(line).map_err(|error| {
        let good = String::from_utf8_lossy(&line[..error.valid_up_to()]);
        Fault::new(good.len(), Problem::NotText).on_line(number, &good)
    })
}

impl<R: BufRead> Steps for Reader<R> {
    type Error = ParseError;

    fn next_step(&mut self) -> Result<Option<Step>, ParseError> {
        if self.done {
            return Ok(None);
        }
        let step = self.read_step();
        self.done = !matches!(step, Ok(Some(_)));
        step
    }

    fn tables(&self) -> &Tables {
        &self.names.tables
    }

    fn mode(&self) -> Mode {
        self.mode
    }
}
