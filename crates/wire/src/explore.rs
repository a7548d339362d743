//! The board: memory that the tool and a program share while the program's schedules are searched.
//!
//! ```text
//! file := Board | Turn[MOST_TURNS] | Place[MOST_THREADS] | Noted[MOST_NOTED] | Call[MOST_CALLS] | Birth[MOST_THREADS]
//! ```
//!
//! The tool writes whose turns it wants and starts the program. Where the search begins (at once when there are two threads, or
//! where a plan ends) the program either goes on by them (`snapshots` is 0: one run per start), or stays there as it is, and for
//! every request makes a copy of itself that does. The copy notes what it does as it does it, so that nothing is lost when it crashes. The program changes
//! [`Board::state`] to [`state::READY`] and [`state::DONE`], the tool to [`state::RUN`]; each wakes the other there.

use crate::Op;

/// The variable that names the file.
pub const EXPLORE: &str = "DEADHEAT_EXPLORE";
/// What the names of the files end with that copies print into.
pub const OUTPUT: [&str; 2] = [".out", ".err"];
/// The first eight bytes.
pub const MAGIC: [u8; 8] = *b"DHBOARD\0";
/// The layout's version.
pub const VERSION: u32 = 3;

/// How many turns can be asked for.
pub const MOST_TURNS: usize = 1 << 18;
/// How many threads a run may have in all.
pub const MOST_THREADS: usize = 1024;
/// How many operations can be noted.
pub const MOST_NOTED: usize = 1 << 18;
/// How many calls can be told apart; the first entry stands for none.
pub const MOST_CALLS: usize = 1 << 16;

/// What [`Board::state`] can be.
pub mod state {
    /// The program has not come to where the search begins.
    pub const AWAY: u32 = 0;
    /// It waits for a request.
    pub const READY: u32 = 1;
    /// A run is asked for, or under way.
    pub const RUN: u32 = 2;
    /// It is over.
    pub const DONE: u32 = 3;
}

/// How a run ended, as far as the runtime ended it.
pub mod ending {
    /// The program did.
    pub const OWN: u32 = 0;
    /// Nobody could go on.
    pub const DEADLOCK: u32 = 1;
    /// All who could go on asked the same over and over.
    pub const LIVELOCK: u32 = 2;
    /// It had as many transitions as it may have, or as can be noted.
    pub const LONG: u32 = 3;
    /// It wanted to do something outside of itself.
    pub const OUTSIDE: u32 = 4;
    /// A turn was asked for that its thread could not take: see [`super::Board::refused`].
    pub const REFUSED: u32 = 5;
}

/// Kinds of effects outside of the program, as bits of [`Board::effects`].
pub mod effect {
    /// Files were changed, made or removed.
    pub const FILES: u32 = 1;
    /// Something was sent to other processes or machines.
    pub const SOCKETS: u32 = 2;
    /// Processes were started or signalled.
    pub const PROCESSES: u32 = 4;
    /// Something was read that is gone once it is read: a terminal, a pipe, a socket.
    pub const READING: u32 = 8;
    /// All threads waited for something that only the world outside could bring.
    pub const WAITING: u32 = 16;
    /// Timers fired; only when no thread could go on, not at all the times at which they could
    /// have.
    pub const TIMERS: u32 = 32;
    /// A join was refused; which of several is depends on who joins first, and that is not searched.
    pub const REFUSED_JOINS: u32 = 128;
    /// Queues, semaphores or locks on files that other processes may use, too.
    pub const SHARING: u32 = 64;
    /// There were more calls than can be told apart.
    pub const CALLS: u32 = 256;
    /// A mutex was taken that had been destroyed.
    pub const MISUSE: u32 = 512;
    /// Threads changed signal handlers, or what is called when the process ends, while there were others that could have done
    /// so, or have met that, before.
    pub const HANDLERS: u32 = 1024;
}

/// The head of the file. The tool and the runtime both write; whose turn that is says `state`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Board {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`].
    pub version: u32,
    /// One of [`state`]; a futex.
    pub state: u32,
    /// Tool: 1 if copies are wanted. Runtime: set to 2 when they are made.
    pub snapshots: u32,
    /// Tool: 1 if the run is to be recorded.
    pub recorded: u32,
    /// Tool: how many turns there are.
    pub turns: u32,
    /// Tool: the thread that goes first when the turns are through, plus one; or 0.
    pub first: u32,
    /// Tool: the thread that stays where it is, plus one; or 0.
    pub parked: u32,
    /// Tool: so many transitions, and no more.
    pub longest: u32,
    /// Runtime: the process that runs.
    pub process: u32,
    /// Runtime: how it ended, as the kernel tells it.
    pub status: u32,
    /// Runtime: one of [`ending`].
    pub ending: u32,
    /// Runtime: the turn that could not be taken.
    pub refused: u32,
    /// Runtime: how many operations are noted.
    pub noted: u32,
    /// Runtime: how many transitions there were.
    pub transitions: u32,
    /// Runtime: one more than the largest number of a thread.
    pub threads: u32,
    /// Runtime: bits of [`effect`].
    pub effects: u32,
    /// Runtime: 1 if the kernel keeps copies from changing anything outside.
    pub contained: u32,
    /// Tool: so many of the turns repeat another run.
    pub repeated: u32,
    /// Tool: threads that go only when no other can, one bit each.
    pub last: u64,
    /// Runtime: where something was about to be done last.
    pub at: u64,
    /// Runtime: threads that have let others go first, one bit each; the last one stands for all
    /// others.
    pub yielded: u64,
}

/// Whose turn it is, and which of several possibilities is taken.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// A thread.
    pub thread: u32,
    /// Which waiter is woken, in the order in which they came.
    pub variant: u32,
}

/// An operation.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// Whose.
    pub thread: u32,
    /// An [`Op`].
    pub op: u8,
    /// Bits of [`noted`].
    pub flags: u8,
    /// Which possibility was taken.
    pub variant: u8,
    /// How many there were.
    pub variants: u8,
    /// The first byte, the object, or a thread's number.
    pub object: u64,
    /// Where.
    pub pc: u64,
    /// What was read or written, or what a semaphore stood at.
    pub value: u64,
    /// How many bytes.
    pub size: u32,
    /// The memory order of an atomic access or fence: an [`crate::Order`].
    pub order: u16,
    /// The calls that led there: a [`Call`], or 0 if that is not known.
    pub calls: u16,
}

/// Bits of [`Noted::flags`].
pub mod noted {
    /// A transition begins with it.
    pub const FIRST: u8 = 1;
    /// It does not wait.
    pub const TRIED: u8 = 2;
}

/// A call of a function, and the calls that led to it. The entries are found by hashing and never
/// change, so a number means the same in all runs of one program.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Where it returns to; 0 if the entry is free.
    pub site: u64,
    /// The call before, or 0.
    pub above: u32,
    /// Not used.
    pub reserved: u32,
}

/// Whose thread one is: numbers mean the same in all runs, whoever creates a thread first.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Birth {
    /// Its creator's number, plus one; 0 if the number is not given yet.
    pub creator: u32,
    /// How many others that one had created before.
    pub earlier: u32,
}

/// Where a thread is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// One of [`standing`].
    pub standing: u32,
    /// Not used.
    pub reserved: u32,
    /// What it is about to do; the operation is 0 if that is not known.
    pub next: Noted,
}

/// What [`Place::standing`] can be.
pub mod standing {
    /// There is no such thread, or it has ended.
    pub const GONE: u32 = 0;
    /// It can go on.
    pub const READY: u32 = 1;
    /// It waits.
    pub const BLOCKED: u32 = 2;
    /// It waits, but its time may be up.
    pub const TIMED: u32 = 3;
    /// It asks the same over and over.
    pub const SPINNING: u32 = 4;
}

/// Where the turns stand in the file.
pub const TURNS_AT: usize = 4096;
/// Where the threads' places stand.
pub const PLACES_AT: usize = TURNS_AT + MOST_TURNS * size_of::<Turn>();
/// Where the noted operations stand.
pub const NOTED_AT: usize = PLACES_AT + MOST_THREADS * size_of::<Place>();
/// Where the calls stand.
pub const CALLS_AT: usize = NOTED_AT + MOST_NOTED * size_of::<Noted>();
/// Where it stands who has created which thread.
pub const BIRTHS_AT: usize = CALLS_AT + MOST_CALLS * size_of::<Call>();
/// How long the file is.
pub const BYTES: usize = BIRTHS_AT + MOST_THREADS * size_of::<Birth>();

const _: () = assert!(size_of::<Board>() <= TURNS_AT);
const _: () = assert!(PLACES_AT.is_multiple_of(8) && NOTED_AT.is_multiple_of(8));
const _: () = assert!(CALLS_AT.is_multiple_of(8) && MOST_CALLS == 1 << u16::BITS);
const _: () = assert!(size_of::<Noted>() == 40 && size_of::<Call>() == 16);

/// Whether a search takes note of operations of this kind.
pub const fn is_noted(op: Op) -> bool {
    !matches!(
        op,
        Op::Enter
            | Op::Leave
            | Op::Request
            | Op::ReadRequest
            | Op::TakeRequest
            | Op::WakeRequest
            | Op::JoinRequest
            | Op::Branch
            | Op::ExternalWrite
            | Op::Lost
    )
}
