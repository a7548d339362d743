//! What a watched program tells while it runs: the report file.
//!
//! A text file that the runtime appends to and the tool follows. Every process that takes part
//! (the program, what it forks, what it executes) writes to the same file, each record in one
//! write, so that records are never mixed. A record is a head line, detail lines that start with
//! a space, and an empty line; what has no empty line yet is not all there.
//!
//! ```text
//! deadheat-watch 1 4711 hb                    version, process, detector: the process starts
//! module 4711 START END BIAS BUILD-ID PATH    build id: hexadecimal or `-`; path: escaped
//! thread 4711 2 1 4713 ENTRY                  number, parent or `-`, kernel thread, function
//!  stack PC PC ...                            where it was created
//! name 4711 2 worker                          a thread's name, escaped
//! race 4711 1                                 process, number of the finding in the process
//!  wait 16                                    the thread waits, see below
//!  earlier write ADDRESS 4 1                  operation, address, bytes, thread
//!  stack PC PC ...                            where: innermost first
//!  lock write ADDRESS                         a lock that it held: `read` or `write`
//!  stack PC PC ...                            where it was taken
//!  later read ADDRESS 4 2                     the access that found the race
//!  stack PC PC ...
//!  memory heap START BYTES 1                  the block, and the thread that allocated it
//!  stack PC PC ...                            where it was allocated
//! flag 4711 1                                 a word without a lock that protects it
//!  place heap 0 CALL 16                       what it is in any run, see [`Place`]
//!  later write ...                            as in a race; `earlier` may be missing
//!  stack PC PC ...
//!  memory global
//! note 4711 TEXT                              what the user should know, such as a limit reached
//! cannot 4711 TEXT                            the program was not run, and why
//! summary 4711 accesses=12 contexts=5 ...     at the end of a process
//! ```
//!
//! Numbers are decimal, addresses hexadecimal without a prefix. A `PC` is a return address: the
//! instruction that did it is before it. A `*` behind it says that the function was called again
//! from within itself by that call, and that those repeated calls are left out. `stack -` is a stack
//! that is not known. `locks -` says that the locks held are not known.
//!
//! Escaped text has `%41` for bytes that are not printable ASCII, and for `%` itself.
//!
//! # Waiting
//!
//! With `on_race=wait` the thread that found the race stops after it has written the record, until
//! the tool writes a byte that is not zero to the file `<report>.answers` at the offset given by
//! `wait`. The other threads run on.

use core::fmt::{Result, Write};

/// The format's version.
pub const VERSION: u32 = 1;
/// The first word of the record that opens a process's part.
pub const MAGIC: &str = "deadheat-watch";
/// The variable that names the report file.
pub const REPORT: &str = "DEADHEAT_REPORT";
/// The variable that names the file of selected places.
pub const SELECT: &str = "DEADHEAT_SELECT";
/// What the name of the file for answers ends with.
pub const ANSWERS: &str = ".answers";

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// A plain read.
    Read,
    /// A plain write.
    Write,
    /// An atomic load, or a compare-and-swap that failed.
    AtomicRead,
    /// An atomic store or read-modify-write.
    AtomicWrite,
    /// The block's release, which counts as a write to all of it.
    Free,
}

impl AccessKind {
    /// All of them.
    pub const ALL: [AccessKind; 5] = [
        AccessKind::Read,
        AccessKind::Write,
        AccessKind::AtomicRead,
        AccessKind::AtomicWrite,
        AccessKind::Free,
    ];

    /// Its word in the report.
    pub const fn word(self) -> &'static str {
        match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::AtomicRead => "atomic-read",
            AccessKind::AtomicWrite => "atomic-write",
            AccessKind::Free => "free",
        }
    }

    /// The kind with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Where a word of memory is, said so that it means the same in another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// In a module: the module's number in the order of loading, and the offset from its start.
    Global {
        /// The module.
        module: u32,
        /// The offset.
        offset: u64,
    },
    /// In a heap block: the call that allocated it (as a module and the offset of the return
    /// address), and the offset in the block.
    Heap {
        /// The module of the call.
        module: u32,
        /// Where in the module it returns to.
        call: u64,
        /// The offset in the block.
        offset: u64,
    },
    /// On a thread's stack: the thread's number, and how far below the stack's top.
    Stack {
        /// The thread.
        thread: u32,
        /// The distance from the top.
        below: u64,
    },
    /// None of these.
    Unknown,
}

impl Place {
    /// Writes its words, as `place` lines have them.
    ///
    /// ```
    /// use deadheat_wire::watch::Place;
    /// let mut text = String::new();
    /// Place::Global { module: 0, offset: 0x4010 }.write(&mut text)?;
    /// assert_eq!(text, "global 0 4010");
    /// assert_eq!(Place::parse(&text), Some(Place::Global { module: 0, offset: 0x4010 }));
    /// # Ok::<(), core::fmt::Error>(())
    /// ```
    pub fn write(&self, to: &mut impl Write) -> Result {
        match *self {
            Place::Global { module, offset } => write!(to, "global {module} {offset:x}"),
            Place::Heap {
                module,
                call,
                offset,
            } => write!(to, "heap {module} {call:x} {offset}"),
            Place::Stack { thread, below } => write!(to, "stack {thread} {below}"),
            Place::Unknown => to.write_str("unknown"),
        }
    }

    /// The place that these words say.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let kind = words.next()?;
        let mut decimal = || words.next()?.parse::<u64>().ok();
        Some(match kind {
            "global" => Place::Global {
                module: u32::try_from(decimal()?).ok()?,
                offset: u64::from_str_radix(words.next()?, 16).ok()?,
            },
            "heap" => Place::Heap {
                module: u32::try_from(decimal()?).ok()?,
                call: u64::from_str_radix(words.next()?, 16).ok()?,
                offset: words.next()?.parse().ok()?,
            },
            "stack" => Place::Stack {
                thread: u32::try_from(decimal()?).ok()?,
                below: decimal()?,
            },
            "unknown" => Place::Unknown,
            _ => return None,
        })
    }
}

/// Writes records, piece by piece, to anything that takes text.
pub struct Record<'a, W: Write>(pub &'a mut W);

impl<W: Write> Record<'_, W> {
    /// A process starts.
    pub fn begin(&mut self, pid: u32, detector: &str) -> Result {
        writeln!(self.0, "{MAGIC} {VERSION} {pid} {detector}")
    }

    /// A module that was loaded.
    pub fn module(&mut self, pid: u32, range: [u64; 3], build_id: &[u8], path: &[u8]) -> Result {
        let [start, end, bias] = range;
        write!(self.0, "module {pid} {start:x} {end:x} {bias:x} ")?;
        if build_id.is_empty() {
            self.0.write_char('-')?;
        }
        for byte in build_id {
            write!(self.0, "{byte:02x}")?;
        }
        self.0.write_char(' ')?;
        self.escaped(path)?;
        self.0.write_char('\n')
    }

    /// A thread; its creation's stack follows.
    pub fn thread(
        &mut self,
        pid: u32,
        number: u32,
        parent: Option<u32>,
        tid: u32,
        entry: u64,
    ) -> Result {
        write!(self.0, "thread {pid} {number} ")?;
        match parent {
            Some(parent) => write!(self.0, "{parent}")?,
            None => self.0.write_char('-')?,
        }
        writeln!(self.0, " {tid} {entry:x}")
    }

    /// A thread's name.
    pub fn name(&mut self, pid: u32, number: u32, name: &[u8]) -> Result {
        write!(self.0, "name {pid} {number} ")?;
        self.escaped(name)?;
        self.0.write_char('\n')
    }

    /// A finding: `race` or `flag`.
    pub fn finding(&mut self, word: &str, pid: u32, number: u32) -> Result {
        writeln!(self.0, "{word} {pid} {number}")
    }

    /// The thread waits for an answer at this offset.
    pub fn wait(&mut self, offset: u64) -> Result {
        writeln!(self.0, " wait {offset}")
    }

    /// An access: `earlier` or `later`; its stack and locks follow.
    pub fn access(
        &mut self,
        which: &str,
        kind: AccessKind,
        address: u64,
        bytes: u64,
        thread: u32,
    ) -> Result {
        let kind = kind.word();
        writeln!(self.0, " {which} {kind} {address:x} {bytes} {thread}")
    }

    /// A lock that was held; where it was taken follows.
    pub fn lock(&mut self, write: bool, address: u64) -> Result {
        let mode = if write { "write" } else { "read" };
        writeln!(self.0, " lock {mode} {address:x}")
    }

    /// The locks held are not known.
    pub fn unknown_locks(&mut self) -> Result {
        self.0.write_str(" locks -\n")
    }

    /// A stack: return addresses, innermost first, and whether repeated calls are left out there.
    pub fn stack(&mut self, pcs: impl Iterator<Item = (u64, bool)>) -> Result {
        self.0.write_str(" stack")?;
        let mut none = true;
        for (pc, repeated) in pcs {
            let mark = if repeated { "*" } else { "" };
            write!(self.0, " {pc:x}{mark}")?;
            none = false;
        }
        self.0.write_str(if none { " -\n" } else { "\n" })
    }

    /// What a flagged word is in any run.
    pub fn place(&mut self, place: Place) -> Result {
        self.0.write_str(" place ")?;
        place.write(self.0)?;
        self.0.write_char('\n')
    }

    /// The memory is a heap block; where it was allocated follows.
    pub fn heap(&mut self, start: u64, bytes: u64, thread: u32) -> Result {
        writeln!(self.0, " memory heap {start:x} {bytes} {thread}")
    }

    /// The memory is a thread's stack, from `low` to `top`.
    pub fn on_stack(&mut self, thread: u32, low: u64, top: u64) -> Result {
        writeln!(self.0, " memory stack {thread} {low:x} {top:x}")
    }

    /// The memory belongs to a module, or is not known.
    pub fn global(&mut self) -> Result {
        self.0.write_str(" memory global\n")
    }

    /// Something the user should know (`note`), or why the program was not run (`cannot`).
    pub fn text(&mut self, word: &str, pid: u32, text: core::fmt::Arguments) -> Result {
        writeln!(self.0, "{word} {pid} {text}")
    }

    /// What a process did in all.
    pub fn summary(&mut self, pid: u32, figures: &[(&str, u64)]) -> Result {
        write!(self.0, "summary {pid}")?;
        for (name, value) in figures {
            write!(self.0, " {name}={value}")?;
        }
        self.0.write_char('\n')
    }

    /// The record is complete.
    pub fn end(&mut self) -> Result {
        self.0.write_char('\n')
    }

    fn escaped(&mut self, bytes: &[u8]) -> Result {
        for &byte in bytes {
            if (b' '..=b'~').contains(&byte) && byte != b'%' {
                self.0.write_char(byte as char)?;
            } else {
                write!(self.0, "%{byte:02x}")?;
            }
        }
        Ok(())
    }
}
