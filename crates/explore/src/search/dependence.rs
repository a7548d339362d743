//! When two operations do not commute, and whether they may be next at the same time.
//!
//! Follows Flanagan and Godefroid (POPL 2005) for "may be co-enabled". Whatever is not known to commute counts as dependent, which costs
//! runs and loses none. A lock's operations depend on each other except readers among each other and refusals among each other;
//! all operations of one semaphore, of one channel and all arrivals at one barrier do.

use deadheat_trace::Op;

use super::execution::Deed;

/// How an earlier operation stands to a later one of another thread, both of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// They commute.
    None,
    /// The earlier one had to come first, and others of its kind would have done as well: a release and who acquires.
    Order,
    /// The earlier one had to come first, it and no other: whoever created, woke or was joined.
    Cause,
    /// It could have been the other way round, from the state just before the earlier one.
    Race,
    /// The same, although there stands something between the two that gives back what the earlier one took.
    Contention,
}

/// The bytes that an operation reads or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bytes {
    /// The first.
    pub(super) start: u64,
    /// The first that is not.
    pub(super) end: u64,
    /// It changes them.
    pub(super) write: bool,
}

/// The bytes of an operation. What has a futex go to sleep reads its word.
pub(super) fn bytes(deed: &Deed) -> Option<Bytes> {
    let (size, write) = match deed.op {
        op if op.is_access() => (u64::from(deed.size.max(1)), op.writes()),
        Op::Free => (u64::from(deed.size.max(1)), true),
        Op::FutexWait => (4, false),
        _ => return None,
    };
    Some(Bytes {
        start: deed.object,
        end: deed.object.saturating_add(size),
        write,
    })
}

/// Whether two operations touch the same memory, one of them at least changing it.
pub(super) fn collide(a: &Deed, b: &Deed) -> bool {
    match (bytes(a), bytes(b)) {
        (Some(a), Some(b)) => (a.write || b.write) && a.start < b.end && b.start < a.end,
        _ => false,
    }
}

/// Whether two operations are a data race if they are next at the same time: they collide, and one of them at least is not atomic.
pub fn conflict(a: &Deed, b: &Deed) -> bool {
    let racy = |deed: &Deed| deed.op.is_access() || deed.op == Op::Free;
    racy(a) && racy(b) && !(a.op.is_atomic() && b.op.is_atomic()) && collide(a, b)
}

/// Kinds of objects. Operations of different kinds have nothing to do with each other, except that an object begins and ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Lock,
    Condition,
    Semaphore,
    Barrier,
    Channel,
    Futex,
    Object,
}

/// What kind of object an operation is of.
pub(super) fn kind(op: Op) -> Option<Kind> {
    Some(match op {
        Op::Acquire
        | Op::Release
        | Op::ReadAcquire
        | Op::ReadRelease
        | Op::Refused
        | Op::ReadRefused => Kind::Lock,
        Op::Wait | Op::Wake | Op::Timeout | Op::Notify | Op::NotifyAll => Kind::Condition,
        Op::Post | Op::Take | Op::TakeRefused => Kind::Semaphore,
        Op::BarrierEnter | Op::BarrierExit => Kind::Barrier,
        Op::Send | Op::Receive | Op::ReceiveRefused => Kind::Channel,
        Op::FutexWait | Op::FutexWoken | Op::FutexWake => Kind::Futex,
        Op::Init | Op::Destroy => Kind::Object,
        _ => return None,
    })
}

/// Whether it is an operation of an object that threads meet at.
pub(super) fn is_meeting(op: Op) -> bool {
    kind(op).is_some()
}

/// Whether it is an operation of a semaphore, which nobody is told the value of.
pub(super) fn is_counted(op: Op) -> bool {
    kind(op) == Some(Kind::Semaphore)
}

/// Whether the order in which threads have done this to an object says more about the object than that each of them has.
pub(super) fn keeps_order(op: Op) -> bool {
    matches!(op, Op::BarrierEnter | Op::Send | Op::Receive)
}

/// Takes a lock, for reading or for writing.
pub(super) fn takes_lock(op: Op) -> bool {
    matches!(op, Op::Acquire | Op::ReadAcquire)
}

/// Gives a lock back.
pub(super) fn gives_lock(op: Op) -> bool {
    matches!(op, Op::Release | Op::ReadRelease)
}

/// Begins to wait until it is woken.
pub(super) fn falls_asleep(op: Op) -> bool {
    matches!(op, Op::Wait | Op::FutexWait)
}

/// Goes on after such a wait, for whatever reason.
pub(super) fn wakes_up(op: Op) -> bool {
    matches!(op, Op::Wake | Op::Timeout | Op::FutexWoken)
}

/// Wakes somebody.
pub(super) fn awakens(op: Op) -> bool {
    matches!(op, Op::Notify | Op::NotifyAll | Op::FutexWake)
}

/// Whether all later operations of the object that anything earlier could matter to depend on this one: nobody has to look behind it.
pub(super) fn shuts(op: Op) -> bool {
    !matches!(
        op,
        Op::ReadAcquire
            | Op::ReadRelease
            | Op::Refused
            | Op::ReadRefused
            | Op::TakeRefused
            | Op::ReceiveRefused
            | Op::BarrierExit
    ) && !falls_asleep(op)
        && !wakes_up(op)
}

/// Whether the earlier operation may be what the later one needed: who came before that may have taken something away
/// that would have done as well.
pub(super) fn feeds(earlier: Op, later: Op) -> bool {
    earlier == Op::Send && later == Op::Receive
}

/// How `earlier` stands to `later`: different threads, one object. Who was woken by whom, and who left a barrier because of whom, is not
/// asked here: that needs the whole run.
pub(super) fn relation(earlier: &Deed, later: &Deed) -> Relation {
    let (Some(a), Some(b)) = (kind(earlier.op), kind(later.op)) else {
        return Relation::None;
    };
    match (a, b) {
        (a, b) if a != b && a != Kind::Object && b != Kind::Object => Relation::None,
        (_, Kind::Object) => Relation::Race,
        (Kind::Lock, _) => of_locks(earlier.op, later),
        (Kind::Semaphore, _) => of_semaphores(earlier, later),
        (Kind::Condition | Kind::Futex, _) => of_waits(earlier.op, later),
        (Kind::Barrier, _) if earlier.op == Op::BarrierEnter && later.op == Op::BarrierEnter => {
            Relation::Race
        }
        (Kind::Barrier, _) => Relation::None,
        // What the earlier one took, or found not done yet, could have been the later one's.
        (Kind::Channel, _) if earlier.op == Op::Receive && later.op == Op::Receive => {
            Relation::Contention
        }
        (Kind::Channel, _) if earlier.op == later.op && later.op == Op::ReceiveRefused => {
            Relation::None
        }
        (Kind::Channel | Kind::Object, _) => Relation::Race,
    }
}

fn of_locks(earlier: Op, later: &Deed) -> Relation {
    let reader = |op| matches!(op, Op::ReadAcquire | Op::ReadRelease | Op::ReadRefused);
    let refused = |op| matches!(op, Op::Refused | Op::ReadRefused);
    if (reader(earlier) && reader(later.op)) || (refused(earlier) && refused(later.op)) {
        return Relation::None;
    }
    match later.op {
        Op::Refused | Op::ReadRefused => Relation::Race,
        Op::Release | Op::ReadRelease if refused(earlier) => Relation::Race,
        Op::Release | Op::ReadRelease => Relation::Order,
        Op::ReadAcquire if refused(earlier) => Relation::Race,
        _ if refused(earlier) => Relation::Order,
        _ if later.tried => Relation::Race,
        _ if takes_lock(earlier) => Relation::Contention,
        _ => Relation::Order,
    }
}

fn of_semaphores(earlier: &Deed, later: &Deed) -> Relation {
    match (earlier.op, later.op) {
        (Op::TakeRefused, Op::TakeRefused) => Relation::None,
        (_, Op::Post | Op::TakeRefused) => Relation::Race,
        (Op::TakeRefused, _) => Relation::Order,
        _ if later.tried => Relation::Race,
        (Op::Take, _) => Relation::Contention,
        _ if earlier.value > 0 => Relation::Race,
        _ => Relation::Order,
    }
}

fn of_waits(earlier: Op, later: &Deed) -> Relation {
    let gave_up = |op, tried| op == Op::Timeout || (op == Op::FutexWoken && tried);
    match (awakens(earlier), awakens(later.op)) {
        (true, true) => Relation::Race,
        (true, false) if falls_asleep(later.op) || gave_up(later.op, later.tried) => Relation::Race,
        (false, true) if falls_asleep(earlier) || gave_up(earlier, true) => Relation::Race,
        _ => Relation::None,
    }
}

/// Whether two transitions of different threads, either of which could be next, do not commute.
pub(super) fn dependent(a: (u32, &[Deed]), b: (u32, &[Deed])) -> bool {
    let pair = |x: &Deed, y: &Deed| {
        collide(x, y)
            || (x.object == y.object
                && (relation(x, y) != Relation::None
                    || relation(y, x) != Relation::None
                    || (wakes_up(x.op) && x.tried && awakens(y.op))
                    || (wakes_up(y.op) && y.tried && awakens(x.op))))
    };
    let joins = |(_, deeds): (u32, &[Deed]), (other, others): (u32, &[Deed])| {
        others.iter().any(|deed| deed.op == Op::End)
            && deeds
                .iter()
                .any(|deed| deed.op == Op::Join && deed.object == u64::from(other))
    };
    joins(a, b) || joins(b, a) || a.1.iter().any(|x| b.1.iter().any(|y| pair(x, y)))
}
