//! Which LLVM made a file of bitcode, whether or not the rest of it can be read.
//!
//! Bitcode begins with a block of its own for that, whose form has not changed since there is one: a stream of bits with a block that
//! defines an abbreviation for a text, and then has the text, in the abbreviation if its letters are in that.

const MAGIC: &[u8] = b"BC\xc0\xde";
const IDENTIFICATION: u64 = 13;
const ENTER_BLOCK: u64 = 1;
const DEFINE_ABBREVIATION: u64 = 2;
const PLAIN_RECORD: u64 = 3;
const FIRST_ABBREVIATION: u64 = 4;

/// How letters are written.
#[derive(Clone, Copy)]
enum Letters {
    /// As all numbers are.
    Plain,
    /// Each in so many bits.
    Fixed(u32),
    /// Each in six bits, as one of these.
    Six,
}

const SIX: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

/// The name and version of what wrote the file: `LLVM19.1.7`.
pub(super) fn producer(data: &[u8]) -> Option<String> {
    let data = data.strip_prefix(MAGIC)?;
    let mut bits = Bits { data, at: 0 };
    if bits.fixed(2)? != ENTER_BLOCK || bits.variable(8)? != IDENTIFICATION {
        return None;
    }
    let width = u32::try_from(bits.variable(4)?).ok()?;
    bits.align();
    // How long the block is.
    bits.fixed(32)?;
    if bits.fixed(width)? != DEFINE_ABBREVIATION {
        return None;
    }
    let letters = abbreviation(&mut bits)?;
    let letters = match bits.fixed(width)? {
        FIRST_ABBREVIATION => letters,
        PLAIN_RECORD => {
            // What the record is.
            bits.variable(6)?;
            Letters::Plain
        }
        _ => return None,
    };
    let mut name = String::new();
    for _ in 0..bits.variable(6)? {
        let byte = match letters {
            Letters::Plain => u8::try_from(bits.variable(6)?).ok()?,
            Letters::Fixed(width) => u8::try_from(bits.fixed(width)?).ok()?,
            Letters::Six => *SIX.get(usize::try_from(bits.fixed(6)?).ok()?)?,
        };
        name.push(char::from(byte));
    }
    Some(name)
}

/// An abbreviation of a number that is known, and an array of letters.
fn abbreviation(bits: &mut Bits) -> Option<Letters> {
    const LITERAL: u64 = 1;
    const FIXED: u64 = 1;
    const SIX_BITS: u64 = 4;
    let mut letters = None;
    for _ in 0..bits.variable(5)? {
        if bits.fixed(1)? == LITERAL {
            bits.variable(8)?;
            continue;
        }
        match bits.fixed(3)? {
            FIXED => letters = Some(Letters::Fixed(u32::try_from(bits.variable(5)?).ok()?)),
            SIX_BITS => letters = Some(Letters::Six),
            _ => {}
        }
    }
    letters
}

/// A stream of bits, the lowest of a byte first.
struct Bits<'d> {
    data: &'d [u8],
    at: usize,
}

impl Bits<'_> {
    fn fixed(&mut self, width: u32) -> Option<u64> {
        let mut number = 0;
        for place in 0..width.min(64) {
            let byte = self.data.get(self.at / 8)?;
            number |= u64::from(byte >> (self.at % 8) & 1) << place;
            self.at += 1;
        }
        Some(number)
    }

    /// In pieces of this width, whose highest bit says whether another one follows.
    fn variable(&mut self, width: u32) -> Option<u64> {
        let more = 1 << (width - 1);
        let (mut number, mut shift) = (0_u64, 0);
        loop {
            let piece = self.fixed(width)?;
            number |= (piece & (more - 1)).checked_shl(shift)?;
            if piece & more == 0 {
                return Some(number);
            }
            shift += width - 1;
        }
    }

    fn align(&mut self) {
        // The magic number before has 32 bits, too.
        self.at = self.at.next_multiple_of(32);
    }
}

#[cfg(test)]
mod tests {
    use super::producer;

    #[test]
    fn other_files_have_none() {
        assert_eq!(producer(b""), None);
        assert_eq!(producer(b"BC\xc0\xde"), None);
        assert_eq!(
            producer(b"BC\xc0\xde\xff\xff\xff\xff\xff\xff\xff\xff"),
            None
        );
        assert_eq!(producer(b"; ModuleID = 'x'"), None);
    }
}
