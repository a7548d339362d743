//! Whether a write has happened by the time of the next hook, by the code between the two.
//!
//! gcc announces the copy of a structure as a write, then a read, and only then copies; so when a read is announced, the write before
//! it may still be to come. Nearly always the memory tells, because it has changed or not. If the write leaves it as it was, only the
//! code tells: between the hooks of a copy nothing is computed but an address.
//!
//! The decoder knows the instructions that gcc puts there. What it does not know it leaves open.

use core::sync::atomic::{AtomicU64, Ordering};

/// Longer than the computation of any address.
const LONGEST: usize = 256;

/// What was found out about pairs of places: the first in the lower bits, how far the second is behind it, the answer.
static KNOWN: [AtomicU64; 1024] = [const { AtomicU64::new(0) }; 1024];
const DISTANCE: u32 = 48;
const ANSWER: u64 = 1 << 63;

/// Whether memory is written between two places of the program's code, the returns from two calls that follow each other in one thread.
/// False also means: perhaps.
pub fn stores_between(first: usize, second: usize) -> bool {
    let Some(distance) = second.checked_sub(first) else {
        return true; // A way back: there is more between the two than an address.
    };
    if distance > LONGEST {
        return false;
    }
    let entry = &KNOWN[(first ^ first >> 10) % KNOWN.len()];
    let key = first as u64 | (distance as u64) << DISTANCE;
    let known = entry.load(Ordering::Relaxed);
    if known & !ANSWER == key {
        return known & ANSWER != 0;
    }
    // SAFETY: the thread comes from one of the places and is at the other. Both are code, and so is what lies between: that is
    // less than a page.
    let code = unsafe { core::slice::from_raw_parts(first as *const u8, distance) };
    let stores = has_store(code);
    entry.store(key | if stores { ANSWER } else { 0 }, Ordering::Relaxed);
    stores
}

/// Whether code that runs from its beginning comes to a store, or to a jump, before anything that is not understood.
fn has_store(mut code: &[u8]) -> bool {
    while !code.is_empty() {
        match decode(code) {
            Some((_, Effect::Store)) => return true,
            Some((length, Effect::None)) if length < code.len() => code = &code[length..],
            _ => return false,
        }
    }
    false
}

/// What an instruction does, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// It changes registers, or a slot of the stack.
    None,
    /// It writes to memory that is not addressed by the stack's registers, or goes elsewhere.
    Store,
}

/// How an instruction uses what its second byte names.
#[derive(Clone, Copy)]
enum Operand {
    Reads,
    Writes,
}

/// The length of the first instruction, and what it does. (Of a jump the length does not matter.)
fn decode(code: &[u8]) -> Option<(usize, Effect)> {
    use Operand::{Reads, Writes};
    let byte = |at: usize| code.get(at).copied();
    let (mut at, mut prefix, mut rex) = (0, 0, 0);
    if let Some(0x66 | 0xf2 | 0xf3) = byte(at) {
        prefix = byte(at)?;
        at += 1;
    }
    if byte(at)? & 0xf0 == 0x40 {
        rex = byte(at)?;
        at += 1;
    }
    let opcode = byte(at)?;
    at += 1;
    // Some opcodes are groups of instructions, told apart by bits of the next byte.
    let member = || Some(byte(at)? >> 3 & 7);
    let constant = if prefix == 0x66 && rex & 8 == 0 { 2 } else { 4 };
    let plain = |length: usize| Some((at + length, Effect::None));
    let jump = Some((at, Effect::Store));
    let (operand, behind) = match opcode {
        // Arithmetic: with memory, with a constant. A comparison only reads.
        0x38 | 0x39 => (Reads, 0),
        0x00..0x40 if opcode & 7 < 2 => (Writes, 0),
        0x00..0x40 if opcode & 7 < 4 => (Reads, 0),
        0x00..0x40 if opcode & 7 == 4 => return plain(1),
        0x00..0x40 if opcode & 7 == 5 => return plain(constant),
        0x80 | 0x83 if member()? == 7 => (Reads, 1),
        0x81 if member()? == 7 => (Reads, constant),
        0x80 | 0x83 | 0xc0 | 0xc1 => (Writes, 1),
        0x81 => (Writes, constant),
        0xd0..0xd4 => (Writes, 0),
        0xf6 if member()? < 2 => (Reads, 1),
        0xf7 if member()? < 2 => (Reads, constant),
        0xf6 | 0xf7 if member()? < 4 => (Writes, 0),
        0xf6 | 0xf7 => (Reads, 0),
        0xfe | 0xff if member()? < 2 => (Writes, 0),
        0x69 => (Reads, constant),
        0x6b => (Reads, 1),
        0x98 | 0x99 => return plain(0),
        // Moves.
        0x50..0x60 | 0x90 => return plain(0),
        0x63 | 0x84 | 0x85 | 0x8a | 0x8b | 0x8d => (Reads, 0),
        0x88 | 0x89 => (Writes, 0),
        0xb0..0xb8 => return plain(1),
        0xb8..0xc0 if rex & 8 != 0 => return plain(8),
        0xb8..0xc0 => return plain(constant),
        0xc6 if member()? == 0 => (Writes, 1),
        0xc7 if member()? == 0 => (Writes, constant),
        0x70..0x80 | 0xe9 | 0xeb => return jump,
        0x0f => {
            let opcode = byte(at)?;
            at += 1;
            match opcode {
                0x7e if prefix == 0xf3 => (Reads, 0),
                0x10 | 0x14..0x17 | 0x28 | 0x2a | 0x2c..0x30 | 0x40..0x70 => (Reads, 0),
                0x70 | 0xc6 => (Reads, 1),
                0x1e | 0x1f | 0xaf | 0xb6 | 0xb7 | 0xbe | 0xbf => (Reads, 0),
                0xd4 | 0xdb | 0xdf | 0xeb | 0xef | 0xfa..=0xfe => (Reads, 0),
                0x11 | 0x29 | 0x7e | 0x7f | 0x90..0xa0 | 0xd6 => (Writes, 0),
                0x80..0x90 => return Some((at, Effect::Store)),
                _ => return None,
            }
        }
        _ => return None,
    };
    let (form, rest) = code.get(at..)?.split_first()?;
    let (bytes, memory) = addressed(*form, rest, rex)?;
    let effect = match (operand, memory) {
        (Writes, Memory::Elsewhere) => Effect::Store,
        _ => Effect::None,
    };
    Some((at + 1 + bytes + behind, effect))
}

/// What an instruction's second byte names.
enum Memory {
    /// A register.
    None,
    /// A slot of the stack, perhaps.
    Stack,
    Elsewhere,
}

/// How many bytes of address follow, and where it points.
fn addressed(form: u8, rest: &[u8], rex: u8) -> Option<(usize, Memory)> {
    const STACK: u8 = 4;
    const FRAME: u8 = 5;
    let (mode, low) = (form >> 6, form & 7);
    if mode == 3 {
        return Some((0, Memory::None));
    }
    let has_scale = low == 4;
    let base = if has_scale { rest.first()? & 7 } else { low };
    let has_no_base = mode == 0 && base == FRAME;
    let displacement = match mode {
        1 => 1,
        2 => 4,
        _ if has_no_base => 4,
        _ => 0,
    };
    let is_stack = matches!(base, STACK | FRAME) && rex & 1 == 0 && !has_no_base;
    let memory = match is_stack {
        true => Memory::Stack,
        false => Memory::Elsewhere,
    };
    Some((usize::from(has_scale) + displacement, memory))
}

#[cfg(test)]
mod tests;
