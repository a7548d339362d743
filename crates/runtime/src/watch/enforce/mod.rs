//! A schedule of synchronisation that is enforced while threads otherwise run free, as in Carril and Tichy (SEPS 2015).
//!
//! * this file: who may go on, and what it is asked.
//! * [`order`]: the plan's events in one row, and how they are recognised.
//! * [`deadlock`]: threads that stand before the locks that they should wait for.
//! * [`verdict`]: what came of it.
//!
//! A thread that is about to synchronise asks for its [`turn`] and waits until everything has happened that
//! the plan puts before; when the operation is done, it says so. What it is about to do must be what the plan says: the same
//! operation on the same object from the same place. A thread whose part is done waits at its next synchronisation
//! until the plan is through. Then, or when the plan cannot be followed, all go on as they like.
//!
//! Nothing here is seen by the detector: no order is learned from the plan but that of the operations themselves.
//!
//! *Waits at conditions* are ours as long as there is a plan: the lock is given back, and whether the thread was woken is the
//! plan's business. If the plan ends meanwhile, the wait ends without a notification, which POSIX allows. A wait
//! that the plan has and the program does not need any more (what it waits for is so already) is passed over.

mod deadlock;
mod order;
mod verdict;

use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use deadheat_wire::Op;
use deadheat_wire::plan::{self, GoalKind};

use self::order::{Deed, Plan, Row};
use self::verdict::Verdict;
use crate::local::{Inside, local};
use crate::threads::Thread;
use crate::{memory, message, options, sys};

/// How far it is.
static PHASE: AtomicU32 = AtomicU32::new(OFF);
const OFF: u32 = 0;
const FOLLOWING: u32 = 1;
/// The plan is through; threads are on their way to the goals.
const GATHERING: u32 = 2;
const FREE: u32 = 3;

/// How many events of the plan have happened.
static HAPPENED: AtomicU32 = AtomicU32::new(0);

static ROW: AtomicPtr<Row> = AtomicPtr::new(core::ptr::null_mut());

/// Between two looks whether it still goes on.
const PAUSE: u64 = 20;
/// So often a thread looks for its turn before it sleeps.
const LOOKS: usize = 400;
/// How long a lock may still be held that the plan says is free: whoever gives it back has said so a moment before.
const MOMENT: u64 = 500;

/// A thread's place in the plan.
#[derive(Clone, Copy, Default)]
pub struct Part {
    /// Which of the plan's threads it is, plus one; 0: none.
    thread: u32,
    /// How many of its events have happened.
    done: u32,
}

impl Part {
    /// The part of one of the plan's threads.
    fn of(thread: usize) -> Self {
        Part {
            thread: thread as u32 + 1,
            done: 0,
        }
    }

    fn index(self) -> Option<usize> {
        self.thread.checked_sub(1).map(|index| index as usize)
    }
}

/// Takes up the plan at `path`.
pub fn start(path: &[u8]) -> bool {
    let Some(plan) = Plan::open(path) else {
        return false;
    };
    let Some(row) = Row::of(plan) else {
        message::say(format_args!("the schedule cannot be used"));
        return false;
    };
    let place: *mut Row = memory::pages(1);
    if place.is_null() {
        return false;
    }
    // SAFETY: just mapped, large enough, and nobody else knows of it.
    unsafe { place.write(row) };
    ROW.store(place, Ordering::Release);
    PHASE.store(FOLLOWING, Ordering::Release);
    if let Some(row) = row_of_plan() {
        advance_to(row, 0);
    }
    true
}

/// In a forked process nobody follows anything.
pub fn forget() {
    PHASE.store(OFF, Ordering::Relaxed);
}

/// Whether threads are held to a plan.
#[inline]
pub fn is_on() -> bool {
    matches!(PHASE.load(Ordering::Acquire), FOLLOWING | GATHERING)
}

fn row_of_plan() -> Option<&'static Row> {
    // SAFETY: null, or a row that was written before it was shown, and stays.
    unsafe { ROW.load(Ordering::Acquire).as_ref() }
}

/// The first thread takes its part.
pub fn first_thread(thread: &mut Thread) {
    thread.part = part_of(0).unwrap_or_default();
}

fn part_of(id: u32) -> Option<Part> {
    let plan = &row_of_plan().filter(|_| is_on())?.plan;
    let known = plan.threads.iter().position(|known| known.id == id);
    known.map(Part::of)
}

/// What a thread may do now. It must say when it is done.
#[must_use]
pub struct Turn {
    /// The event of the plan that it is, if there is one.
    event: Option<usize>,
    deed: Deed,
}

/// Waits until the running thread may do this.
#[inline]
pub fn turn(op: Op, object: usize, pc: usize) -> Turn {
    turn_to(Deed {
        op: op as u8,
        addr: object,
        size: 0,
        pc,
        ..Deed::default()
    })
}

/// The same for giving back a lock in order to wait at a condition.
pub fn turn_to_wait(lock: usize, pc: usize) -> Turn {
    turn_to(Deed {
        op: Op::Release as u8,
        addr: lock,
        size: Row::FOR_WAIT,
        pc,
        ..Deed::default()
    })
}

#[inline]
fn turn_to(deed: Deed) -> Turn {
    let is_planned = || Op::from_number(deed.op).is_some_and(plan::is_enforced);
    let event = match is_on() && is_planned() {
        true => wait_for_turn(&deed),
        false => None,
    };
    Turn { event, deed }
}

/// The running thread's part of the plan.
fn my_part() -> Option<&'static mut Part> {
    // SAFETY: the thread's own state and record, whose part only it changes.
    unsafe { (*local()).thread.as_mut() }.map(|thread| &mut thread.part)
}

#[cold]
fn wait_for_turn(deed: &Deed) -> Option<usize> {
    let _inside = Inside::enter();
    let (row, part) = (row_of_plan()?, my_part()?);
    let thread = part.index()?;
    loop {
        let Some(event) = row.event(thread, part.done) else {
            come_to_the_end(row, thread, deed);
            return None;
        };
        if row.is_it(event, deed) {
            if !wait_until(row, thread, event) {
                return None;
            }
            // Others may have found out meanwhile which object it is.
            if row.is_it(event, deed) {
                row.bind(event, deed);
                return Some(event);
            }
        } else if row.is_wait(event) && is_after_wait(row, thread, part.done, deed) {
            for number in 0..Row::WAIT {
                if !wait_until(row, thread, event + number) {
                    return None;
                }
                advance(row, part);
            }
            continue;
        }
        over(
            row,
            &Verdict::Diverged(row.id(thread), part.done.into(), *deed),
        );
        return None;
    }
}

/// Whether a thread that does this has left out the wait that the plan has next.
fn is_after_wait(row: &Row, thread: usize, done: u32, deed: &Deed) -> bool {
    let behind = row.event(thread, done + Row::WAIT as u32);
    match behind {
        Some(behind) => row.is_it(behind, deed),
        None => row.event(thread, done + Row::WAIT as u32 - 1).is_some(),
    }
}

/// Waits for an event's turn; false if the plan is over.
fn wait_until(row: &Row, thread: usize, event: usize) -> bool {
    let place = row.place(event);
    for _ in 0..LOOKS {
        if HAPPENED.load(Ordering::Acquire) == place {
            return is_on();
        }
        core::hint::spin_loop();
    }
    let mut sleep = Sleep::new(thread);
    while HAPPENED.load(Ordering::Acquire) != place {
        if !sleep.until_called(row, |happened| happened != place) {
            return false;
        }
    }
    is_on()
}

/// A thread that sleeps and looks again, and notices when nothing happens any more.
struct Sleep {
    thread: usize,
    /// What has happened, and since when nothing else has.
    happened: u32,
    since: u64,
}

impl Sleep {
    fn new(thread: usize) -> Self {
        Sleep {
            thread,
            happened: HAPPENED.load(Ordering::Acquire),
            since: sys::milliseconds(),
        }
    }

    /// Sleeps until the thread is called, if what has happened does not end it; false if the plan is over.
    fn until_called(&mut self, row: &Row, goes_on: impl Fn(u32) -> bool) -> bool {
        let word = row.call(self.thread);
        let call = word.load(Ordering::Acquire);
        if !is_on() {
            return false;
        }
        let happened = HAPPENED.load(Ordering::Acquire);
        if goes_on(happened) {
            sys::futex_wait(word, call, PAUSE);
        }
        let (now, patience) = (sys::milliseconds(), options::WATCHDOG.get() * 1000);
        if happened != self.happened {
            (self.happened, self.since) = (happened, now);
        } else if patience != 0 && now - self.since > patience {
            let (thread, done) = row.whose(happened);
            over(row, &Verdict::Passed(thread, done));
        }
        is_on()
    }
}

/// One more event has happened: the running thread's next.
fn advance(row: &Row, part: &mut Part) {
    part.done += 1;
    let happened = HAPPENED.load(Ordering::Relaxed) + 1;
    advance_to(row, happened);
    if let Some(next) = row.owner(happened)
        && Some(next) != part.index()
    {
        wake(row, next);
    }
}

fn wake(row: &Row, thread: usize) {
    let word = row.call(thread);
    word.fetch_add(1, Ordering::Release);
    sys::futex_wake(word, 1);
}

fn advance_to(row: &Row, happened: u32) {
    HAPPENED.store(happened, Ordering::Release);
    if happened as usize != row.length() {
        return;
    }
    if row.plan.header.goal != GoalKind::Deadlock as u32 {
        return over(row, &Verdict::Reached(&[]));
    }
    // It may be over already: then it stays so.
    let _ = PHASE.compare_exchange(FOLLOWING, GATHERING, Ordering::AcqRel, Ordering::Relaxed);
}

/// The plan is over, for this reason; the first one counts.
fn over(row: &Row, verdict: &Verdict) {
    if matches!(PHASE.swap(FREE, Ordering::AcqRel), FOLLOWING | GATHERING) {
        verdict::write(&row.plan, verdict);
    }
    for thread in 0..row.plan.threads.len() {
        wake(row, thread);
    }
}

impl Turn {
    /// Whether the plan says that this succeeds at once.
    pub fn must_succeed(&self) -> bool {
        let row = row_of_plan();
        let event = self.event.zip(row);
        is_on() && event.is_some_and(|(event, row)| !row.is_refused(event))
    }

    /// The thread that it creates takes its part.
    pub fn creates(&self, thread: &mut Thread) {
        let planned = self.event.zip(row_of_plan());
        let planned = planned.and_then(|(event, row)| part_of(row.peer(event)));
        thread.part = planned.unwrap_or_default();
    }

    /// Tries again and again for something that the plan says is free; if it stays taken, the plan is over.
    pub fn insist(&self, attempt: impl Fn() -> i32) -> i32 {
        let started = sys::milliseconds();
        loop {
            let result = attempt();
            if result != libc::EBUSY || !self.must_succeed() {
                return result;
            }
            if sys::milliseconds() - started > MOMENT {
                if let Some((row, part)) = row_of_plan().zip(my_part())
                    && let Some(thread) = part.index()
                {
                    let done = part.done.into();
                    over(row, &Verdict::Blocked(row.id(thread), done, self.deed.addr));
                }
                return result;
            }
            sys::yield_now();
        }
    }

    /// It has happened. What was tried for was got, or not.
    pub fn done(self, succeeded: bool) {
        let Some((event, row)) = self.event.zip(row_of_plan()) else {
            return;
        };
        let Some(part) = my_part().filter(|_| is_on()) else {
            return;
        };
        if row.is_refused(event) == succeeded
            && let Some(thread) = part.index()
        {
            return over(
                row,
                &Verdict::Diverged(row.id(thread), part.done.into(), self.deed),
            );
        }
        advance(row, part);
    }
}

/// Whether the plan has this next for the running thread.
pub fn next_is(op: Op) -> bool {
    let Some((row, part)) = row_of_plan().zip(my_part()).filter(|_| is_on()) else {
        return false;
    };
    let event = part.index().and_then(|thread| row.event(thread, part.done));
    event.is_some_and(|event| row.op(event) == op as u8)
}

/// The number that a thread has in the plan, or else its own.
pub fn number_of(thread: &Thread) -> u32 {
    let planned = row_of_plan().zip(thread.part.index());
    planned.map_or(thread.id, |(row, index)| row.id(index))
}

/// A thread whose part is done waits until the plan is over.
fn come_to_the_end(row: &Row, thread: usize, deed: &Deed) {
    let goal = match deadlock::stand(row, thread, deed) {
        Ok(goal) => goal,
        Err(verdict) => return over(row, &verdict),
    };
    let mut sleep = Sleep::new(thread);
    while is_on() {
        if PHASE.load(Ordering::Acquire) == GATHERING && goal == Some(0) {
            deadlock::judge(row);
        }
        sleep.until_called(row, |_| true);
    }
}

/// The process is about to end: not before the plan is through, unless it is the running thread that should go on.
pub fn before_end() {
    let Some(row) = row_of_plan().filter(|_| is_on()) else {
        return;
    };
    let next = |part: &mut Part| {
        let thread = part.index()?;
        row.event(thread, part.done)
            .map(|_| (row.id(thread), part.done))
    };
    if let Some((thread, done)) = my_part().and_then(next) {
        return over(row, &Verdict::Ended(thread, done.into()));
    }
    let mut sleep = Sleep::new(my_part().and_then(|part| part.index()).unwrap_or(0));
    while is_on() && PHASE.load(Ordering::Acquire) == FOLLOWING {
        sleep.until_called(row, |_| true);
    }
    if is_on() {
        let (thread, done) = row.whose(HAPPENED.load(Ordering::Relaxed));
        over(row, &Verdict::Ended(thread, done));
    }
}
