//! A schedule to enforce: what the tool writes and the runtime follows.
//!
//! ```text
//! file := PlanHeader PlanThread* PlanSegment* PlanSite* PlanEvent* PlanGoal* PlanOffshoot*
//! ```
//!
//! Everything is little-endian and eight bytes wide or a half of that, so that the file can be mapped and used
//! as it is. *Events* stand thread by thread, each thread's in its order: what the runtime checks every step
//! against. What they do and where is said once for all that have it in common, in their *site*. Functions' entries and exits and requests for locks are not among them: the first are
//! nobody else's business, and whether a thread has to wait depends on the schedule. *Segments* say in which order: thread
//! `thread` goes on until `upto` of its events have happened. Then the threads of the *goals* are let go on until each stands in
//! front of its goal.
//!
//! Addresses are said so that they mean the same in another run: see [`Region`].
//!
//! A plan may have *offshoots*: schedules that leave the common one, its *trunk*, behind some segment. Where the trunk comes to
//! an offshoot, a copy of the program follows that one to its goals, and its verdict has the offshoot's number behind its
//! name. Such a trunk has no goals of its own.
//!
//! While a program is *watched*, threads run free but for synchronisation: the plan has nothing else ([`is_enforced`]), its goals are none or
//! those of a deadlock, and a region that no allocation hands out is the object that is used first under its name.
//!
//! What comes of it is written to the file `<plan>.verdict`, in one piece, as text:
//!
//! ```text
//! deadheat-verdict 3 4711             version, process
//! reached                             all goals stand (if there are none: all events happened)
//!  at 0 1 write ADDRESS 4 PC          goal, thread, operation, address, bytes, place
//! diverged 1 17                       thread, how many of its events had happened
//!  came write ADDRESS 4 PC            what it was about to do instead of the next one
//! blocked 1 17 OBJECT                 the schedule wants a thread to go on that cannot
//! ended 1 17                          the program ended while the schedule wants this thread to go on
//! got 1 OBJECT                        a thread that should have waited for ever got the lock
//! passed 1 17                         a thread took no step for too long
//! ```

use crate::Op;

/// The variable that names the plan.
pub const PLAN: &str = "DEADHEAT_PLAN";
/// What the name of the verdict's file ends with.
pub const VERDICT: &str = ".verdict";
/// The first word of a verdict.
pub const VERDICT_MAGIC: &str = "deadheat-verdict";
/// The version of both.
pub const VERSION: u32 = 3;
/// The first eight bytes of a plan.
pub const MAGIC: [u8; 8] = *b"DHPLAN\0\0";

/// Whether a thread that otherwise runs free is made to wait before it does this: what plans of synchronisation
/// consist of.
pub const fn is_enforced(op: Op) -> bool {
    matches!(
        op,
        Op::Acquire
            | Op::Release
            | Op::ReadAcquire
            | Op::ReadRelease
            | Op::Refused
            | Op::ReadRefused
            | Op::Fork
            | Op::Begin
            | Op::End
            | Op::Join
            | Op::Wait
            | Op::Wake
            | Op::Timeout
            | Op::Notify
            | Op::NotifyAll
            | Op::BarrierEnter
            | Op::BarrierExit
            | Op::Post
            | Op::Take
            | Op::TakeRefused
    )
}

/// What the goals are.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalKind {
    /// There are none: the program is let go at the end of the segments.
    None = 0,
    /// Two accesses.
    Race = 1,
    /// Requests that wait for ever.
    Deadlock = 2,
}

/// What happens once the goals stand.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The program is ended.
    Stop = 0,
    /// It waits for a debugger, then goes on as with [`After::Go`].
    Wait = 1,
    /// It goes on: the thread of goal `first` does what it stands before, then the others of the goals, then all.
    Go = 2,
}

/// The head of the file.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanHeader {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`].
    pub version: u32,
    /// A [`GoalKind`].
    pub goal: u32,
    /// An [`After`].
    pub after: u32,
    /// The goal whose thread goes first.
    pub first: u32,
    /// 1 if places and addresses in modules are the same as when they were recorded, else only their last twelve bits are.
    pub steady: u32,
    /// How many threads.
    pub threads: u32,
    /// How many goals.
    pub goals: u32,
    /// How many regions: their numbers are smaller.
    pub regions: u32,
    /// 1 if threads do more than the plan says: accesses to memory that they do not share.
    pub partial: u32,
    /// How many offshoots.
    pub offshoots: u32,
    /// How many sites.
    pub sites: u64,
    /// How many segments, those of offshoots among them.
    pub segments: u64,
    /// How many of them are the trunk's: the first ones.
    pub trunk: u64,
    /// How many events.
    pub events: u64,
    /// Written by the runtime: where the last access or synchronisation was announced. It outlives a crash.
    pub at: u64,
    /// Written by the runtime at the program's end: what the first goal's variable holds then, and how many bytes of it; 0 if it is not told.
    pub value: u64,
    /// See [`PlanHeader::value`].
    pub value_bytes: u64,
}

/// Where [`PlanHeader::at`] stands in the file.
pub const AT: usize = core::mem::offset_of!(PlanHeader, at);
/// Where [`PlanHeader::value`] stands, with [`PlanHeader::value_bytes`] behind it.
pub const VALUE: usize = core::mem::offset_of!(PlanHeader, value);

/// A thread.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanThread {
    /// Its number.
    pub id: u32,
    /// Not used.
    pub reserved: u32,
    /// Its first event.
    pub first: u64,
    /// How many it has.
    pub count: u64,
}

/// A stretch of the schedule.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanSegment {
    /// Which of the plan's threads.
    pub thread: u32,
    /// Not used.
    pub reserved: u32,
    /// How many of its events have happened at its end, counted from the thread's beginning.
    pub upto: u64,
}

/// What an address is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region(pub u32);

impl Region {
    /// The address is not compared. Of accesses the plan has the one in the recorded run: where it lacks others at the same
    /// place, that tells them apart.
    pub const ANY: Region = Region(0);
    /// The address is that in the recorded run.
    pub const FIXED: Region = Region(1);
    /// From here on: the block that the allocation with this region has handed out.
    pub const FIRST_BLOCK: u32 = 2;
}

/// What all events have in common that do the same at the same place: there are few of these for many events.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlanSite {
    /// An `Op`.
    pub op: u8,
    /// 1 if code without hooks did it: it may be missing, or something else may come instead, since what such code depends on is not seen.
    pub soft: u8,
    /// How many bytes it accesses.
    pub size: u16,
    /// 1 if its place is in a library, which may be loaded elsewhere: only the last twelve bits are the same.
    pub moves: u32,
    /// Where it is; 0 if that is not known or does not matter.
    pub pc: u64,
}

/// An event.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanEvent {
    /// Which of the plan's sites.
    pub site: u32,
    /// A [`Region`]; for an allocation the one that it hands out, which has no address before.
    pub region: u32,
    /// The address in the region; for forks, joins, beginnings and ends a thread's number.
    pub target: u64,
}

/// What a thread stands in front of in the end: behind its last event.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanGoal {
    /// Which of the plan's threads.
    pub thread: u32,
    /// Not used.
    pub reserved: u32,
    /// The event.
    pub event: PlanEvent,
}

/// A schedule that leaves the trunk.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanOffshoot {
    /// Behind so many of the trunk's segments.
    pub at: u64,
    /// Its first segment.
    pub segment: u64,
    /// How many it has.
    pub segments: u64,
    /// Its first goal.
    pub goal: u32,
    /// How many it has.
    pub goals: u32,
    /// A [`GoalKind`].
    pub kind: u32,
    /// Not used.
    pub reserved: u32,
}

const _: () = assert!(size_of::<PlanHeader>() == 104);
const _: () = assert!(size_of::<PlanThread>() == 24);
const _: () = assert!(size_of::<PlanSegment>() == 16);
const _: () = assert!(size_of::<PlanSite>() == 16);
const _: () = assert!(size_of::<PlanEvent>() == 16);
const _: () = assert!(size_of::<PlanGoal>() == 24);
const _: () = assert!(size_of::<PlanOffshoot>() == 40);
