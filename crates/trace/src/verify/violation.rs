//! What can be wrong with a trace.

use std::fmt;

use serde::Serialize;

use crate::{Addr, EventIndex, LockId, Pc, SyncId, Tables, ThreadId};

/// A step that cannot be where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which step.
    pub index: EventIndex,
    /// Whose step.
    pub thread: ThreadId,
    /// Where in the program.
    pub pc: Pc,
    /// Which rule it breaks.
    pub rule: Rule,
}

/// A rule that steps of a trace keep, and what breaks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// A thread was created after it had run.
    ForkAfterRun(ThreadId),
    /// A thread was created twice.
    ForkedTwice(ThreadId),
    /// A thread's begin is not its first event.
    BeginNotFirst,
    /// A thread goes on after its end.
    RunsAfterEnd,
    /// A thread goes on after another has waited for its end.
    RunsAfterJoin,
    /// A thread that had begun was waited for, and has not ended.
    JoinBeforeEnd(ThreadId),
    /// A thread was created and never ran.
    NeverRan {
        /// The thread.
        thread: ThreadId,
        /// A thread that ran, that nobody created, and whose name ends in the same number.
        meant: Option<ThreadId>,
    },
    /// A lock was taken while another thread held it.
    AcquireHeld(LockId, ThreadId),
    /// A lock was taken while another thread held it for reading.
    AcquireRead(LockId, ThreadId),
    /// A lock was taken for reading while another thread held it.
    ReadAcquireHeld(LockId, ThreadId),
    /// A lock was given back by a thread that does not hold it; the thread that does, if any.
    ReleaseNotHeld(LockId, Option<ThreadId>),
    /// A lock that is held for reading was given back by a thread that does not hold it so.
    ReadReleaseNotHeld(LockId),
    /// A thread was woken, or its time was up, at a condition that it does not wait at.
    WakeWithoutWait(SyncId),
    /// A thread left a barrier that it had not entered.
    ExitWithoutEnter(SyncId),
    /// A thread left a barrier before enough threads had entered it.
    ExitTooEarly(SyncId),
    /// A semaphore was lowered below zero.
    TakeFromEmpty(SyncId),
    /// A block of the heap was given back twice.
    DoubleFree(Addr),
    /// A block of the heap was given back that nobody got.
    FreeUnknown(Addr),
    /// A function was left that had not been entered.
    LeaveWithoutEnter,
}

/// How much a violation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Strange, but there are programs that do it, or recordings that begin late.
    Warning,
    /// No run of a program looks like that: the trace is damaged, or was written wrongly.
    Error,
}

impl Rule {
    /// How much it says when the rule is broken.
    pub const fn severity(self) -> Severity {
        match self {
            Rule::NeverRan { .. } | Rule::FreeUnknown(_) => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

impl Violation {
    /// One line for people.
    ///
    /// ```
    /// use deadheat_trace::{text, verify};
    ///
    /// let trace = text::parse("T0|acq(m)|a.c:1\nT1|rel(m)|a.c:2\n")?;
    /// let report = verify::verify(&mut trace.stream())?;
    /// assert_eq!(
    ///     report.violations[0].describe(&trace.tables),
    ///     "#1 at a.c:2: T1 releases m, which T0 holds"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn describe(&self, tables: &Tables) -> String {
        let place = tables.location(self.pc);
        let said = Said {
            who: tables.thread_name(self.thread),
            rule: self.rule,
            tables,
        };
        format!("{} at {place}: {said}", self.index)
    }
}

struct Said<'a> {
    who: String,
    rule: Rule,
    tables: &'a Tables,
}

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = &self.who;
        let thread = |id: ThreadId| self.tables.thread_name(id);
        let lock = |id: LockId| self.tables.sync_name(SyncId(id.0));
        let sync = |id: SyncId| self.tables.sync_name(id);
        match self.rule {
            Rule::ForkAfterRun(t) => write!(f, "{who} creates {}, which runs already", thread(t)),
            Rule::ForkedTwice(t) => write!(f, "{who} creates {} a second time", thread(t)),
            Rule::BeginNotFirst => write!(f, "{who} begins, but has run before"),
            Rule::RunsAfterEnd => write!(f, "{who} goes on after its end"),
            Rule::RunsAfterJoin => write!(f, "{who} goes on after it was joined"),
            Rule::JoinBeforeEnd(t) => {
                write!(f, "{who} joins {}, which has not ended", thread(t))
            }
            Rule::NeverRan { thread: t, meant } => {
                write!(f, "{who} creates {}, which never runs", thread(t))?;
                match meant {
                    Some(meant) => write!(f, "; did you mean {}?", thread(meant)),
                    None => Ok(()),
                }
            }
            Rule::AcquireHeld(l, t) => {
                write!(f, "{who} acquires {}, which {} holds", lock(l), thread(t))
            }
            Rule::AcquireRead(l, t) => {
                let (lock, reader) = (lock(l), thread(t));
                write!(f, "{who} acquires {lock}, which {reader} holds for reading")
            }
            Rule::ReadAcquireHeld(l, t) => {
                let (lock, owner) = (lock(l), thread(t));
                write!(f, "{who} acquires {lock} for reading, which {owner} holds")
            }
            Rule::ReleaseNotHeld(l, None) => {
                write!(f, "{who} releases {}, which nobody holds", lock(l))
            }
            Rule::ReleaseNotHeld(l, Some(t)) => {
                write!(f, "{who} releases {}, which {} holds", lock(l), thread(t))
            }
            Rule::ReadReleaseNotHeld(l) => {
                let lock = lock(l);
                write!(
                    f,
                    "{who} releases {lock}, which it does not hold for reading"
                )
            }
            Rule::WakeWithoutWait(c) => {
                write!(f, "{who} wakes at {}, where it did not wait", sync(c))
            }
            Rule::ExitWithoutEnter(b) => {
                write!(
                    f,
                    "{who} leaves barrier {}, which it did not enter",
                    sync(b)
                )
            }
            Rule::ExitTooEarly(b) => {
                let barrier = sync(b);
                write!(
                    f,
                    "{who} leaves barrier {barrier} before enough have entered"
                )
            }
            Rule::TakeFromEmpty(s) => {
                write!(f, "{who} lowers semaphore {} below zero", sync(s))
            }
            Rule::DoubleFree(a) => write!(f, "{who} frees {a} a second time"),
            Rule::FreeUnknown(a) => write!(f, "{who} frees {a}, which was never allocated"),
            Rule::LeaveWithoutEnter => write!(f, "{who} leaves a function it did not enter"),
        }
    }
}

/// A read that did not return what was written last: memory was changed by code that is not
/// instrumented. No fault of the trace; [`repair`](super::repair) makes an event of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Which read.
    pub index: EventIndex,
    /// Who read.
    pub thread: ThreadId,
    /// Where in the program.
    pub pc: Pc,
    /// Where in memory.
    pub addr: Addr,
    /// How many bytes; at most eight are compared.
    pub size: u64,
    /// What the trace's writes left there.
    pub expected: u64,
    /// What was read.
    pub found: u64,
}

impl Mismatch {
    /// One line for people.
    pub fn describe(&self, tables: &Tables) -> String {
        let place = match tables.variable_at(self.addr) {
            Some((name, 0)) => name.to_owned(),
            Some((name, offset)) => format!("{name}+{offset}"),
            None => self.addr.to_string(),
        };
        let who = tables.thread_name(self.thread);
        let (index, at) = (self.index, tables.location(self.pc));
        let (found, expected) = (self.found, self.expected);
        format!("{index} at {at}: {who} reads {found:#x} from {place}, last written {expected:#x}")
    }
}
