//! What a search knows of one run of the program, and how it asks for another.
//!
//! A run is a row of *transitions*. Each begins where a thread was given the turn and holds what it did until it came to
//! its next operation: usually one operation, sometimes several that belong together (a wait gives its lock back), never none.

use deadheat_trace::{Op, Order};

/// An operation that others can notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deed {
    /// What.
    pub op: Op,
    /// The first byte, the lock or other object, or the number of the thread that is created or joined.
    pub object: u64,
    /// How many bytes are accessed or given back; 0 for synchronisation.
    pub size: u32,
    /// The memory order of an atomic access or fence.
    pub order: Order,
    /// It does not wait: a lock that was only tried for, a wait that may end by time.
    pub tried: bool,
    /// Where in the program.
    pub pc: u64,
    /// The place of the program's own that this belongs to: code of a library is called from
    /// several. Only compared; 0 if nothing is known of it.
    pub own: u32,
    /// Of a read what was read, of a write what was written, of a semaphore and of a barrier what it stood at before. Only the first eight bytes.
    pub value: u64,
}

/// Where in the program something is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The instruction.
    pub pc: u64,
    /// See [`Deed::own`].
    pub own: u32,
}

impl Deed {
    /// Where it is done.
    pub fn site(&self) -> Site {
        let Deed { pc, own, .. } = *self;
        Site { pc, own }
    }
}

/// A thread was given the turn, and did this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Who.
    pub thread: u32,
    /// Which of several possibilities, see [`Turn`].
    pub variant: u32,
    /// How many possibilities there were: 1, or so many waiters of whom one was woken.
    pub variants: u32,
    /// What it did.
    pub deeds: Vec<Deed>,
}

/// Where a thread is when the run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It could go on.
    Ready,
    /// It waits for somebody.
    Blocked,
    /// It waits, but not for ever: its time may be up at any moment.
    Timed,
    /// It asks the same over and over, and nobody has changed what it asks for.
    Spinning,
}

/// A thread that has not ended when the run is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Who.
    pub thread: u32,
    /// Where it stands.
    pub standing: Standing,
    /// What it is about to do or waits to do, if that is known.
    pub deed: Option<Deed>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The program ended by itself.
    Exited(i32),
    /// A signal ended it.
    Killed(i32),
    /// No thread could go on.
    Deadlock,
    /// All that could go on ask the same over and over.
    Livelock,
    /// It was stopped where the search wanted it to be stopped: the goal is next.
    Reached,
    /// It was stopped after as many transitions as one run may have.
    Long,
    /// It took no step for too long.
    Hung,
    /// It wanted to do something outside of itself that the search does not let it do.
    Outside,
    /// The thread that was to go on at this transition could not.
    Refused(usize),
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// What happened, in its order.
    pub transitions: Vec<Transition>,
    /// Threads that have not ended.
    pub pending: Vec<Pending>,
    /// How it ended.
    pub ending: Ending,
    /// A number for what the program printed and how it ended.
    pub outcome: u64,
    /// Where the program itself says that it failed, if it says so.
    pub named: Option<String>,
    /// Threads that have let others go first, one bit each (the last one stands for all others):
    /// even such as were asked to go last.
    pub yielded: u64,
}

/// Who is given the turn, and which of several possibilities is taken (which waiter is woken).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Turn {
    /// Who.
    pub thread: u32,
    /// The possibility, in the order in which the waiters came.
    pub variant: u32,
}

/// How to go on when the turns are through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// This thread goes first whenever it can: the hint.
    pub first: Option<u32>,
    /// This thread stays where it is: the first access of a warning is its next operation.
    pub parked: Option<u32>,
    /// These threads, one bit each (thread 0 is the lowest), go only when no other can, even if one of them is the hint. What they would do
    /// first has been seen already.
    pub last: u64,
    /// So many of the turns repeat a run. Who asks the same over and over is given its turn there
    /// again, though others may look as if they could go on, and time passes as it did.
    pub repeated: u32,
    /// So many transitions and not more.
    pub longest: u32,
}

/// A program that can be run from one and the same state, again and again.
pub trait Program {
    /// Why a run was not possible at all.
    type Error;

    /// Runs it: the turns first, then whoever went last for as long as it can, then by number, [`Manner::last`] behind all others.
    fn run(&mut self, turns: &[Turn], manner: &Manner) -> Result<Execution, Self::Error>;
}
