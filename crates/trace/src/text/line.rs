//! The grammar of one event: `thread|op(target)|location`, without what its names stand for.

use std::borrow::Cow;

use super::cursor::{Cursor, Value};
use super::error::{Fault, Problem};
use super::{Flavor, location, words};
use crate::{Op, Order, SyncKind};

/// An event as written.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub thread: &'a str,
    pub op: Op,
    pub target: Target<'a>,
    pub location: Cow<'a, str>,
    /// The byte of the line where the target starts, for faults that show later.
    pub target_at: usize,
}

/// What an event is done to.
#[derive(Debug)]
pub(super) enum Target<'a> {
    Nothing,
    Thread(&'a str),
    Object {
        kind: SyncKind,
        name: Cow<'a, str>,
        value: Option<u64>,
    },
    Memory {
        place: Place<'a>,
        /// In bytes; `None` where none is meant, as in `free(p)`.
        size: Option<u64>,
        read: Option<u64>,
        written: Option<u64>,
        order: Order,
    },
    Fence(Order),
    /// A plain number, as in `lost(3)`.
    Number(u64),
}

/// A place in memory.
#[derive(Debug)]
pub(super) enum Place<'a> {
    Variable { name: Cow<'a, str>, offset: u64 },
    Address(u64),
}

impl<'a> Line<'a> {
    /// Reads one line that is no comment.
    pub fn parse(line: &'a str, flavor: Flavor) -> Result<Self, Fault> {
        let mut bars = line.bytes().enumerate().filter(|(_, byte)| *byte == b'|');
        let mut bar = || bars.next().map(|(at, _)| at);
        let (Some(first), Some(second), None) = (bar(), bar(), bar()) else {
            let mut bars = line.match_indices('|').map(|(at, _)| at);
            let at = bars.nth(2).unwrap_or(line.len());
            let found = line.matches('|').count() + 1;
            return Err(Fault::new(at, Problem::Fields { found }));
        };
        let (thread, thread_at) = trimmed(line, 0, first, flavor);
        check_thread(thread, thread_at)?;
        let (op_text, op_at) = trimmed(line, first + 1, second, flavor);
        let (place, place_at) = trimmed(line, second + 1, line.len(), flavor);
        let (op, target, target_at) = operation(op_text, op_at, flavor)?;
        let location = match flavor {
            Flavor::Std => location::number(place)
                .ok_or_else(|| Fault::expected(place_at, location::NUMBER, place))?,
            Flavor::Full => location::any(place)
                .ok_or_else(|| Fault::expected(place_at, location::ANY, place))?,
        };
        Ok(Line {
            thread,
            op,
            target,
            location,
            target_at,
        })
    }
}

/// The part of the line between two bytes and where it starts; white space around it counts in
/// STD only.
fn trimmed(line: &str, from: usize, to: usize, flavor: Flavor) -> (&str, usize) {
    let part = &line[from..to];
    match flavor {
        Flavor::Std => (part, from),
        Flavor::Full => {
            let start = part.len() - part.trim_start().len();
            (part.trim(), from + start)
        }
    }
}

/// A thread's name is not empty and does not begin or end with white space, which RAPID would
/// take for another thread's name.
pub(super) fn check_thread(name: &str, at: usize) -> Result<(), Fault> {
    if name.is_empty() || name.trim() != name || name.contains(char::is_control) {
        return Err(Fault::expected(at, "a thread's name such as T1", name));
    }
    Ok(())
}

fn operation(text: &str, at: usize, flavor: Flavor) -> Result<(Op, Target<'_>, usize), Fault> {
    let word_len = text.bytes().position(|byte| byte == b'(');
    let word_len = word_len.unwrap_or(text.len());
    let word = &text[..word_len];
    // Nearly all events are one of these.
    let op = match word.as_bytes() {
        b"r" => Some(Op::Read),
        b"w" => Some(Op::Write),
        b"acq" => Some(Op::Acquire),
        b"rel" => Some(Op::Release),
        _ => words::op(word),
    };
    let Some(op) = op else {
        let problem = match flavor {
            Flavor::Std => Problem::NotStd {
                word: word.into(),
                full: false,
            },
            Flavor::Full => Problem::UnknownOp {
                word: word.into(),
                nearest: words::nearest_op(word),
            },
        };
        return Err(Fault::new(at, problem));
    };
    let inside = match text[word_len..].strip_prefix('(') {
        None => None,
        Some(inside) => match inside.strip_suffix(')') {
            Some(inside) => Some(inside),
            None => {
                let end = at + text.len();
                return Err(Fault::expected(end, "a closing `)` at the field's end", ""));
            }
        },
    };
    let target_at = at + word_len + 1;
    let target = match flavor {
        Flavor::Std => std_target(op, word, inside, at, target_at)?,
        Flavor::Full => full_target(op, inside, target_at)?,
    };
    Ok((op, target, target_at))
}

/// The target of an STD event: one word, whatever is in it.
fn std_target<'a>(
    op: Op,
    word: &str,
    inside: Option<&'a str>,
    at: usize,
    target_at: usize,
) -> Result<Target<'a>, Fault> {
    if matches!(op, Op::Begin | Op::End) {
        return Ok(Target::Nothing);
    }
    let known = [
        Op::Acquire,
        Op::Release,
        Op::Read,
        Op::Write,
        Op::Fork,
        Op::Join,
    ];
    if !known.contains(&op) {
        let problem = Problem::NotStd {
            word: word.into(),
            full: true,
        };
        return Err(Fault::new(at, problem));
    }
    let name = inside.unwrap_or("");
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        let what = "a name without white space in parentheses";
        return Err(Fault::expected(target_at, what, name));
    }
    Ok(match op {
        Op::Fork | Op::Join => Target::Thread(name),
        Op::Read | Op::Write => Target::Memory {
            place: Place::Variable {
                name: name.into(),
                offset: 0,
            },
            size: Some(crate::cells::SMALLEST),
            read: None,
            written: None,
            order: Order::Relaxed,
        },
        _ => Target::Object {
            kind: SyncKind::Lock,
            name: name.into(),
            value: None,
        },
    })
}

fn full_target(op: Op, inside: Option<&str>, at: usize) -> Result<Target<'_>, Fault> {
    match op {
        // STD writes them with or without something in parentheses, which means nothing.
        Op::Begin | Op::End | Op::Exit => return Ok(Target::Nothing),
        Op::Branch | Op::Enter | Op::Leave | Op::Lost if inside.is_none() => {
            return Ok(Target::Nothing);
        }
        _ => {}
    }
    let Some(inside) = inside else {
        return Err(Fault::expected(
            at - 1,
            "what it is done to, in parentheses",
            "",
        ));
    };
    let mut cursor = Cursor::new(inside, at);
    let target = match op {
        Op::Branch | Op::Enter | Op::Leave | Op::Lost => Target::Number(cursor.number("a number")?),
        Op::Fork | Op::Join | Op::JoinRequest => {
            check_thread(inside, at)?;
            return Ok(Target::Thread(inside));
        }
        Op::Fence => Target::Fence(order(&mut cursor)?),
        Op::Acquire | Op::Release if !inside.starts_with('"') => {
            let stops = |c: char| c.is_whitespace() || c.is_control();
            if inside.is_empty() || inside.contains(stops) {
                return Err(cursor.expected("a lock's name without white space"));
            }
            return Ok(Target::Object {
                kind: SyncKind::Lock,
                name: inside.into(),
                value: None,
            });
        }
        Op::Init | Op::Destroy => {
            let kind_at = cursor.at();
            let word = cursor.until(|c| c == ':');
            let Some(kind) = words::kind(word).filter(|_| cursor.eat(":")) else {
                const WHAT: &str = "a kind and a name such as lock:l; the kinds are lock, cond, \
                                    barrier, sem, chan and futex";
                return Err(Fault::expected(kind_at, WHAT, inside));
            };
            object(kind, &mut cursor)?
        }
        _ => match words::kind_of(op) {
            Some(kind) => object(kind, &mut cursor)?,
            None => memory(op, &mut cursor)?,
        },
    };
    cursor.end("the closing `)`")?;
    Ok(target)
}

/// `name` or `name=number`.
fn object<'a>(kind: SyncKind, cursor: &mut Cursor<'a>) -> Result<Target<'a>, Fault> {
    let name = cursor.name("a name")?;
    let value = match cursor.eat("=") {
        true => Some(cursor.number("a number")?),
        false => None,
    };
    Ok(Target::Object { kind, name, value })
}

fn order(cursor: &mut Cursor<'_>) -> Result<Order, Fault> {
    const WHAT: &str = "a memory order: rlx, con, acq, rel, acqrel or seqcst";
    let at = cursor.at();
    let word = cursor.until(|c| !c.is_ascii_alphanumeric());
    words::order(word).ok_or_else(|| Fault::expected(at, WHAT, word))
}

/// `place`, `place:size`, and behind it what the operation has: values and an order.
fn memory<'a>(op: Op, cursor: &mut Cursor<'a>) -> Result<Target<'a>, Fault> {
    let address = cursor.rest().starts_with("0x") || cursor.rest().starts_with("0X");
    let place_at = cursor.at();
    let place = if address {
        Place::Address(cursor.number("an address such as 0x7f001000")?)
    } else {
        let name = cursor.name("a variable or an address")?;
        let offset = match cursor.eat("+") {
            true => cursor.number("an offset in bytes such as 2")?,
            false => 0,
        };
        Place::Variable { name, offset }
    };
    let size_at = cursor.at() + 1;
    let size = match cursor.eat(":") {
        true => {
            Some(cursor.number("a number of bytes such as 4 (quote names that contain a `:`)")?)
        }
        false => None,
    };
    let target = |place, size, read, written, order| Target::Memory {
        place,
        size,
        read,
        written,
        order,
    };
    if op == Op::Free && size.is_some() {
        return Err(Fault::expected(size_at - 1, "the closing `)`", ":"));
    }
    if !op.is_access() {
        check_reach(&place, size.unwrap_or(0), place_at)?;
        return Ok(target(place, size, None, None, Order::Relaxed));
    }
    let largest = if op.is_atomic() {
        16
    } else {
        crate::Event::MAX_SIZE
    };
    // An address without a size is one byte: it overlaps nothing but itself, as in STD.
    let bytes = size.unwrap_or(if address { 1 } else { crate::cells::SMALLEST });
    if bytes == 0 || bytes > largest {
        const ATOMIC: &str = "a size from 1 to 16 bytes";
        const PLAIN: &str = "a size from 1 to 65535 bytes";
        let what = if op.is_atomic() { ATOMIC } else { PLAIN };
        return Err(Fault::expected(size_at, what, &bytes.to_string()));
    }
    check_reach(&place, bytes, place_at)?;
    let (read, written) = values(op, bytes, cursor)?;
    if !op.is_atomic() && cursor.rest().starts_with(',') {
        return Err(cursor.expected("the closing `)` (only ar, aw, rmw and fence have an order)"));
    }
    let order = match op.is_atomic() && cursor.eat(",") {
        true => order(cursor)?,
        false if op.is_atomic() => Order::SeqCst,
        false => Order::Relaxed,
    };
    Ok(target(place, Some(bytes), read, written, order))
}

/// Addresses end where those of programs do.
fn check_reach(place: &Place<'_>, bytes: u64, at: usize) -> Result<(), Fault> {
    match place {
        Place::Address(address)
            if address
                .checked_add(bytes)
                .is_none_or(|end| end > crate::cells::PROGRAM_END) =>
        {
            let found = format!("{address:#x}");
            Err(Fault::expected(
                at,
                "an address that ends below 2^47",
                &found,
            ))
        }
        _ => Ok(()),
    }
}

type Values = (Option<u64>, Option<u64>);

fn values(op: Op, bytes: u64, cursor: &mut Cursor<'_>) -> Result<Values, Fault> {
    if !cursor.eat("=") {
        return Ok((None, None));
    }
    let one = |cursor: &mut Cursor<'_>| -> Result<u64, Fault> {
        let value: Value<'_> = cursor.value()?;
        value.fit(bytes)
    };
    if op != Op::AtomicRmw {
        let value = one(cursor)?;
        return Ok(match op.reads() {
            true => (Some(value), None),
            false => (None, Some(value)),
        });
    }
    let side = |cursor: &mut Cursor<'_>| match cursor.eat("?") {
        true => Ok(None),
        false => one(cursor).map(Some),
    };
    let read = side(cursor)?;
    if !cursor.eat("->") {
        return Err(cursor.expected("`->` and the value written, as in rmw(x=1->2)"));
    }
    Ok((read, side(cursor)?))
}
