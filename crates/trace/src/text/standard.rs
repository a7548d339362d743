//! The writer of STD. It says what STD can say, says some things in a roundabout way, leaves the
//! rest out, and counts both.
//!
//! The rule for the roundabout ways: whatever ordered two events in the trace must order them for
//! a happens-before analysis of the STD file, so that the file never shows a race that the
//! program does not have. Some orders are stronger than they were, which can hide races.
//!
//! * An atomic access becomes `acq(atomic@a) r(a) rel(atomic@a)`: recorders of Java programs write
//!   volatile accesses that way. Atomics then never race with each other, still race with plain
//!   accesses, and order each other whatever their memory order.
//! * Taking or leaving a lock for reading, entering or leaving a barrier, raising or lowering a
//!   semaphore, sending and receiving become `acq(o) rel(o)`. Two readers at once could not be
//!   said as one lock held by both. So a lock-set analysis, or one that reorders critical
//!   sections, does not see the reader's section; happens-before does.
//! * A variable is the first byte of an access: a block of the heap by its number, since
//!   the next block at the same address is another variable (`heap17+8`), or else its address.
//!   Accesses that overlap but start apart are different variables.
//! * Waits, notifications, futexes and fences are left out: the locks and atomics around them say
//!   it already.
//!
//! That is no more than happens-before needs. An analysis that reorders critical sections would find orders
//! that a semaphore or a barrier forbids. So a file that lacks such things says so, in a way that every reader of
//! STD understands and that changes nothing: its last two lines take and give back a lock of this name
//! ([`MARK`]), which nobody else uses.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufWriter, Write};

use super::tokens::{self, ThreadTokens};
use super::{Written, location, words};
use crate::{Addr, Op, Pc, Step, Steps, SyncId, SyncKind, Tables, ThreadId, WriteError};

pub(super) fn write<S: Steps, W: Write>(
    steps: &mut S,
    out: W,
) -> Result<Written, WriteError<S::Error>> {
    let mut writer = Writer {
        out: BufWriter::new(out),
        written: Written::default(),
        threads: ThreadTokens::default(),
        locations: HashMap::new(),
        numbers: HashSet::new(),
        next_number: 1,
        blocks: BTreeMap::new(),
        blocks_seen: 0,
    };
    let mut last = None;
    while let Some(step) = steps.next_step().map_err(WriteError::Read)? {
        writer.step(&step, steps.tables())?;
        last = Some(step);
    }
    if let Some(last) = last {
        writer.mark(&last, steps.tables())?;
    }
    writer.out.flush()?;
    Ok(writer.written)
}

struct Writer<W: Write> {
    out: BufWriter<W>,
    written: Written,
    threads: ThreadTokens,
    locations: HashMap<Pc, i32>,
    numbers: HashSet<i32>,
    next_number: i32,
    /// The blocks of the heap by their start: end, and number of the block. Blocks that were
    /// given back stay until another one takes their place.
    blocks: BTreeMap<u64, (u64, u64)>,
    blocks_seen: u64,
}

/// How the name of the lock begins that marks a file which lacks something; what it lacks follows.
const MARK: &str = "lossy@";

/// What keeps events in order and STD cannot say; by operations.
const LACKED: [(&str, &[Op]); 9] = [
    ("barriers", &[Op::BarrierEnter, Op::BarrierExit]),
    ("channels", &[Op::Send, Op::Receive]),
    ("conditions", &[Op::Wait, Op::Wake]),
    ("external-writes", &[Op::ExternalWrite]),
    (
        "failed-attempts",
        &[
            Op::Refused,
            Op::ReadRefused,
            Op::TakeRefused,
            Op::ReceiveRefused,
        ],
    ),
    ("futexes", &[Op::FutexWait, Op::FutexWoken]),
    ("gaps", &[Op::Lost]),
    ("read-locks", &[Op::ReadAcquire]),
    ("semaphores", &[Op::Post, Op::Take]),
];

/// See [`super::lacks`].
pub(super) fn lacks(last_line: &str) -> Option<String> {
    let (_, rest) = last_line.split_once("|rel(")?;
    let (name, _) = rest.split_once(")|")?;
    let kinds = name.strip_prefix(MARK)?;
    Some(kinds.replace('_', ", ").replace('-', " "))
}

impl<W: Write> Writer<W> {
    /// Marks the file, if it lacks something.
    fn mark(&mut self, last: &Step, tables: &Tables) -> io::Result<()> {
        let has = |op: &Op| {
            self.written.translated.contains_key(op) || self.written.dropped.contains_key(op)
        };
        let kinds = LACKED.iter().filter(|(_, ops)| ops.iter().any(has));
        self.written.lacks = kinds.map(|(name, _)| *name).collect();
        if self.written.lacks.is_empty() {
            return Ok(());
        }
        let name = format!("{MARK}{}", self.written.lacks.join("_"));
        self.line(last, tables, "acq", Some(&name))?;
        self.line(last, tables, "rel", Some(&name))
    }

    fn step(&mut self, step: &Step, tables: &Tables) -> io::Result<()> {
        let event = &step.event;
        let op = event.op();
        match op {
            Op::Read | Op::Write => {
                let variable = self.variable(event.addr(), tables);
                self.line(step, tables, words::op_word(op), Some(&variable))
            }
            Op::Acquire | Op::Release => {
                let lock = object_name(event.sync(), tables);
                self.line(step, tables, words::op_word(op), Some(&lock))
            }
            Op::Fork | Op::Join => {
                let peer = self.thread(event.peer(), tables);
                self.line(step, tables, words::op_word(op), Some(&peer))
            }
            Op::Begin | Op::End => self.line(step, tables, words::op_word(op), None),
            Op::AtomicRead | Op::AtomicWrite | Op::AtomicRmw => {
                *self.written.translated.entry(op).or_default() += 1;
                let variable = self.variable(event.addr(), tables);
                let lock = format!("atomic@{variable}");
                self.line(step, tables, "acq", Some(&lock))?;
                if op.reads() {
                    self.line(step, tables, "r", Some(&variable))?;
                }
                if op.writes() {
                    self.line(step, tables, "w", Some(&variable))?;
                }
                self.line(step, tables, "rel", Some(&lock))
            }
            Op::ReadAcquire
            | Op::ReadRelease
            | Op::BarrierEnter
            | Op::BarrierExit
            | Op::Post
            | Op::Take
            | Op::Send
            | Op::Receive => {
                *self.written.translated.entry(op).or_default() += 1;
                let lock = object_name(event.sync(), tables);
                self.line(step, tables, "acq", Some(&lock))?;
                self.line(step, tables, "rel", Some(&lock))
            }
            _ => {
                if op == Op::Alloc {
                    self.new_block(event.addr().0, step.written().unwrap_or(1));
                }
                *self.written.dropped.entry(op).or_default() += 1;
                Ok(())
            }
        }
    }

    fn line(
        &mut self,
        step: &Step,
        tables: &Tables,
        word: &str,
        target: Option<&str>,
    ) -> io::Result<()> {
        let thread = self.thread(step.event.thread(), tables);
        let number = self.location(step.event.pc(), tables);
        self.written.lines += 1;
        match target {
            Some(target) => writeln!(self.out, "{thread}|{word}({target})|{number}"),
            None => writeln!(self.out, "{thread}|{word}|{number}"),
        }
    }

    fn thread(&mut self, id: ThreadId, tables: &Tables) -> String {
        let end = (id.index() + 1).min(tables.threads.len());
        while self.threads.len() < end {
            let thread = tokens::thread(tables, self.threads.len());
            self.threads.add(&thread);
        }
        let token = self.threads.get(id);
        token.map_or_else(|| id.to_string(), str::to_owned)
    }

    fn variable(&self, addr: Addr, tables: &Tables) -> String {
        if let Some((name, offset)) = tables.variable_at(addr)
            && is_word(name)
        {
            return match offset {
                0 => name.to_owned(),
                offset => format!("{name}+{offset}"),
            };
        }
        match self.blocks.range(..=addr.0).next_back() {
            Some((start, (end, number))) if addr.0 < *end => {
                format!("heap{number}+{}", addr.0 - start)
            }
            _ => addr.to_string(),
        }
    }

    fn new_block(&mut self, start: u64, size: u64) {
        let end = start.saturating_add(size.max(1));
        while let Some((&old, &(old_end, _))) = self.blocks.range(..end).next_back()
            && old_end > start
        {
            self.blocks.remove(&old);
        }
        self.blocks_seen += 1;
        self.blocks.insert(start, (end, self.blocks_seen));
    }

    /// A number for the location: its own if it is one that no other location has, or else the
    /// smallest that is free.
    fn location(&mut self, pc: Pc, tables: &Tables) -> i32 {
        if let Some(&number) = self.locations.get(&pc) {
            return number;
        }
        let text = tables.location(pc);
        let own = location::number(&text).and_then(|number| number.parse().ok());
        let number = match own {
            Some(number) if self.numbers.insert(number) => number,
            _ => {
                while !self.numbers.insert(self.next_number) {
                    self.next_number = self.next_number.wrapping_add(1);
                }
                self.written.locations.push((self.next_number, text));
                self.next_number
            }
        };
        self.locations.insert(pc, number);
        number
    }
}

/// The lock that an object is for STD; those of different kinds have different names.
fn object_name(id: SyncId, tables: &Tables) -> String {
    let kind = tokens::kind(tables, id);
    let mut name = tables.sync_name(id);
    if !is_word(&name) {
        name = format!("{}{}", kind.letter(), id.0);
    }
    match kind {
        SyncKind::Lock => name,
        other => format!("{}@{name}", words::kind_word(other)),
    }
}

/// Whether STD can have it as a name.
fn is_word(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '|')
}
