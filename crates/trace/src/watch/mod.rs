//! Reads what a watched program tells, while it tells it. `deadheat_wire::watch` has the format.
//!
//! ```
//! use deadheat_trace::watch::{Message, Reader};
//!
//! let mut reader = Reader::default();
//! reader.feed(b"deadheat-watch 1 7 hb\n\nnote 7 slots are used up\n\nrace 7 1\n lat");
//! assert!(matches!(reader.next(), Some(Ok(Message::Begin { pid: 7, .. }))));
//! assert!(matches!(reader.next(), Some(Ok(Message::Note { .. }))));
//! assert!(reader.next().is_none()); // The race is not all there yet.
//! ```

mod parse;

pub use deadheat_wire::watch::{ANSWERS, AccessKind, Place, REPORT, SELECT, VERSION};
pub use parse::ParseError;

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A process starts to be watched.
    Begin {
        /// The process.
        pid: u32,
        /// What it is watched for: `hb`, `simple` or `detailed`.
        detector: String,
    },
    /// A module was loaded.
    Module {
        /// The process.
        pid: u32,
        /// The module.
        module: Module,
    },
    /// A thread was created.
    Thread {
        /// The process.
        pid: u32,
        /// The thread.
        thread: Thread,
    },
    /// A thread was given a name.
    Name {
        /// The process.
        pid: u32,
        /// The thread's number.
        number: u32,
        /// The name.
        name: String,
    },
    /// A race.
    Race(Finding),
    /// A word that no lock protects (simple and detailed detection).
    Flag(Finding),
    /// Something the user should know.
    Note {
        /// The process.
        pid: u32,
        /// What.
        text: String,
    },
    /// The program was not run.
    Cannot {
        /// The process.
        pid: u32,
        /// Why.
        text: String,
    },
    /// The process ended.
    Summary {
        /// The process.
        pid: u32,
        /// What it did in all, by name.
        figures: Vec<(String, u64)>,
    },
}

/// A module of a process: its program or a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Where it starts in memory.
    pub start: u64,
    /// One past where it ends.
    pub end: u64,
    /// What is added to the addresses in its file.
    pub bias: u64,
    /// Its build id; empty if it has none.
    pub build_id: Vec<u8>,
    /// Its file.
    pub path: std::path::PathBuf,
}

/// A thread of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number, as findings have it.
    pub number: u32,
    /// Who created it, if that was seen.
    pub parent: Option<u32>,
    /// Its kernel thread; 0 if it did not run yet when this was written.
    pub tid: u32,
    /// Its function; 0 if that is not known.
    pub entry: u64,
    /// Where it was created.
    pub created: Stack,
}

/// A race, or a word that no lock protects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The process.
    pub pid: u32,
    /// The finding's number in the process, from 1.
    pub number: u32,
    /// Where in the file of answers its thread waits for one.
    pub wait: Option<u64>,
    /// What the word is in any run (flags only).
    pub place: Option<Place>,
    /// The access that came first, if it is known.
    pub earlier: Option<Access>,
    /// The access at which it was found.
    pub later: Access,
    /// What the memory is.
    pub memory: Memory,
}

/// An access to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// What it does.
    pub kind: AccessKind,
    /// To which address.
    pub address: u64,
    /// How many bytes.
    pub bytes: u64,
    /// By which thread.
    pub thread: u32,
    /// Where.
    pub stack: Stack,
    /// The locks held, the first taken first; `None` if they are not known.
    pub locks: Option<Vec<Lock>>,
}

/// A lock that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// For writing, or alone.
    pub write: bool,
    /// Its address.
    pub address: u64,
    /// Where it was taken.
    pub taken: Stack,
}

/// Return addresses, innermost first; empty if they are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack(pub Vec<Frame>);

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Where the call, or hook, returns to: what did it is before that.
    pub pc: u64,
    /// The function was called again by this call from within itself; those calls are left out.
    pub repeated: bool,
}

/// What memory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// A module's, or not known.
    Global,
    /// A heap block.
    Heap {
        /// Its first byte.
        start: u64,
        /// Its length.
        bytes: u64,
        /// Who allocated it.
        thread: u32,
        /// Where.
        allocated: Stack,
    },
    /// A thread's stack.
    Stack {
        /// The thread.
        thread: u32,
        /// The lowest address of the stack.
        low: u64,
        /// One past its highest.
        top: u64,
    },
}

/// Takes a report apart as it grows.
#[derive(Debug, Default)]
pub struct Reader {
    text: Vec<u8>,
    /// How much of it is done with.
    done: usize,
}

impl Reader {
    /// More of the file.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.text.drain(..self.done);
        self.done = 0;
        self.text.extend_from_slice(bytes);
    }

    /// Whether something has come that is not a whole record yet. At the end of a file: it was cut.
    pub fn has_rest(&self) -> bool {
        self.done < self.text.len()
    }
}

/// The whole records so far.
impl Iterator for Reader {
    type Item = Result<Message, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.text[self.done..];
        let end = rest.windows(2).position(|pair| pair == b"\n\n")?;
        let record = &rest[..end];
        self.done += end + 2;
        Some(parse::record(&String::from_utf8_lossy(record)))
    }
}

#[cfg(test)]
mod tests;
