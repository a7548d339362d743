//! What the numbers in a trace's events stand for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::cells::Cell;
use crate::{Addr, LockId, Pc, SyncId, ThreadId};

/// The names behind a trace's numbers. They grow while a trace is read: an event's numbers are
/// in the tables by the time the event is handed out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// The program and its libraries, in the order of loading.
    pub modules: Vec<Module>,
    /// By [`ThreadId`].
    pub threads: Vec<Thread>,
    /// By [`LockId`](crate::LockId) and [`SyncId`].
    pub syncs: Vec<SyncObject>,
    /// Names of variables, in text traces that have them.
    pub variables: BTreeMap<Addr, String>,
    /// By [`Pc`], in text traces: a number or `file:line`, as it was written.
    pub locations: Vec<String>,
    /// What the recorder wants the user to know, such as why it stopped early.
    pub notes: Vec<String>,
    /// How many accesses the recording lacks as threads do not share the memory; `None` if it lacks none for that.
    pub left_out: Option<u64>,
    /// Places whose accesses were not announced one by one, as far as the recording was read: mostly calls of
    /// the C library's functions that copy, by whatever code.
    pub copies: BTreeSet<Pc>,
}

/// A program or library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Where it was loaded from.
    pub path: PathBuf,
    /// The linker's build id, empty if there is none.
    pub build_id: Vec<u8>,
    /// Its lowest and one past its highest address in memory.
    pub start: u64,
    /// One past its highest address.
    pub end: u64,
    /// What the loader added to the addresses in the file.
    pub bias: u64,
    /// The [`Pc`] of `start`.
    pub first_pc: Pc,
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// As the program named it.
    pub name: Option<String>,
    /// Who created it; `None` for the first, and where it is not known.
    pub parent: Option<ThreadId>,
    /// Where it was created.
    pub created_at: Option<Pc>,
}

/// What kind of thing threads synchronise on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SyncKind {
    /// A lock of any kind.
    Lock,
    /// A condition variable.
    Condition,
    /// A barrier.
    Barrier,
    /// A semaphore.
    Semaphore,
    /// Sends and receives: once-initialisation, annotated release and acquire.
    Channel,
    /// A futex.
    Futex,
}

/// A thing that threads synchronise on, during one life of its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncObject {
    /// What it is.
    pub kind: SyncKind,
    /// Where it lies; 0 in text traces.
    pub addr: Addr,
    /// Its name in a text trace; recordings name it by its number.
    pub name: Option<String>,
}

impl Tables {
    /// Where an event happened, for people: `file:line` or a number in text traces, `-` if that
    /// is not known,
    /// `module+0xoffset` in recordings (the offset is an address in the module's file).
    ///
    /// ```
    /// use deadheat_trace::{Pc, Tables};
    /// let mut tables = Tables::default();
    /// tables.locations.push("main.c:7".into());
    /// assert_eq!(tables.location(Pc(0)), "main.c:7");
    /// ```
    pub fn location(&self, pc: Pc) -> String {
        if let Some(text) = self.locations.get(pc.index()) {
            return text.clone();
        }
        if pc == Pc::UNKNOWN {
            return "-".to_owned();
        }
        match self.module_of(pc) {
            Some((module, address)) => {
                let name = module.path.file_name().unwrap_or(module.path.as_os_str());
                format!("{}+{address:#x}", name.to_string_lossy())
            }
            None => format!("?+{:#x}", pc.0),
        }
    }

    /// The module that a pc of a recording lies in, and its address in the module's file.
    pub fn module_of(&self, pc: Pc) -> Option<(&Module, u64)> {
        let after = self.modules.partition_point(|module| module.first_pc <= pc);
        let module = self.modules.get(after.checked_sub(1)?)?;
        let address = module.start + u64::from(pc.0 - module.first_pc.0);
        (address < module.end).then(|| (module, address.wrapping_sub(module.bias)))
    }

    /// The name of a lock or other object: its own, or a letter and its number.
    pub fn sync_name(&self, id: SyncId) -> String {
        match self.syncs.get(id.index()) {
            Some(SyncObject {
                name: Some(name), ..
            }) => name.clone(),
            Some(object) => format!("{}{}", object.kind.letter(), id.0),
            None => format!("?{}", id.0),
        }
    }

    /// The lock whose word a futex is: the last that was there. (A read-write lock of Rust's standard library has a second word
    /// behind its own, at which writers wait.)
    pub fn lock_of_word(&self, futex: SyncId) -> Option<LockId> {
        const WORD: u64 = 4;
        let word = self.syncs.get(futex.index())?.addr;
        let lock_at = |addr: u64| {
            let is_it =
                |object: &SyncObject| object.kind == SyncKind::Lock && object.addr.0 == addr;
            self.syncs.iter().rposition(is_it)
        };
        let before = word.0.checked_sub(WORD).filter(|before| *before != 0)?;
        let lock = lock_at(word.0).or_else(|| lock_at(before))?;
        Some(LockId(lock as u32))
    }

    /// The name of a thread: its own, or `T` and its number.
    ///
    /// ```
    /// use deadheat_trace::{ThreadId, text};
    /// let trace = text::parse("main|fork(T1)|1\n")?;
    /// assert_eq!(trace.tables.thread_name(ThreadId(0)), "main");
    /// assert_eq!(trace.tables.thread_name(ThreadId(1)), "T1");
    /// # Ok::<(), text::ParseError>(())
    /// ```
    pub fn thread_name(&self, id: ThreadId) -> String {
        let thread = self.threads.get(id.index());
        let name = thread.and_then(|thread| thread.name.clone());
        name.unwrap_or_else(|| id.to_string())
    }

    /// The variable of a text trace that an address lies in, and how far.
    ///
    /// ```
    /// use deadheat_trace::text;
    /// let trace = text::parse("T0|w(x+2:1=5)|1\n")?;
    /// assert_eq!(trace.tables.variable_at(trace.steps[0].event.addr()), Some(("x", 2)));
    /// # Ok::<(), text::ParseError>(())
    /// ```
    pub fn variable_at(&self, addr: Addr) -> Option<(&str, u64)> {
        let base = Cell::of(addr)?.base;
        Some((self.variable(base)?, addr.0 - base.0))
    }

    /// The name of a variable, if it has one.
    pub fn variable(&self, addr: Addr) -> Option<&str> {
        self.variables.get(&addr).map(String::as_str)
    }
}

impl SyncKind {
    /// The letter that stands before an unnamed object's number.
    pub const fn letter(self) -> char {
        match self {
            SyncKind::Lock => 'L',
            SyncKind::Condition => 'C',
            SyncKind::Barrier => 'B',
            SyncKind::Semaphore => 'S',
            SyncKind::Channel => 'H',
            SyncKind::Futex => 'F',
        }
    }
}
