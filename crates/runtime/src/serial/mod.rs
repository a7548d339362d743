//! Serial recording: one thread at a time, in an order that the seed decides.
//!
//! * [`scheduler`]: who may run, who waits for what; picks the next by a [`policy`].
//! * [`turn`]: hands the turn on: contexts on one kernel thread ([`context`]), or kernel threads
//!   that pass a token.
//! * [`endings`]: who can end a wait.
//! * [`signals`]: each thread's own. [`timers`]: those that end in one.
//! * [`log`]: the one stream of events, with values; [`straight`] looks at the code for it.
//! * [`shared`]: which memory threads share, so that the rest can be left out.
//! * [`replay`]: a schedule that is enforced instead.
//! * [`explore`]: a run of a search for schedules.
//! * [`hang`]: does it ever end? [`rounds`]: does it do anything but wait?
//! * [`watchdog`]: for what was not foreseen.
//!
//! This file is the face that hooks and intercepted functions see. Everything here is called by
//! the thread that has the turn, and does nothing in a parallel recording.

mod context;
pub mod endings;
pub mod explore;
mod hang;
mod kernel_wait;
mod log;
mod policy;
pub mod replay;
mod rest;
mod rounds;
mod scheduler;
pub mod shared;
pub mod signals;
mod straight;
mod task;
pub mod timers;
mod turn;
mod watchdog;

use core::sync::atomic::Ordering;

use deadheat_wire::{Op, TRIED, UNCOUNTED, word};
use replay::Deed;

use endings::Kind;
use scheduler::{Step, scheduler};
pub use task::{Task, Waited};

use crate::inputs;
use crate::local::{Inside, local};
use crate::options;
use crate::record::event::Sync;
use crate::record::{Mode, mode};
use crate::threads::{self, Thread};

/// Whether a wait may end by time. In a serial recording time is counted in steps, see [`now`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// It may not.
    None,
    /// It may, after so many nanoseconds.
    After(u64),
}

impl Limit {
    /// Until the clock shows this time.
    ///
    /// # Safety
    /// `time` points to a `timespec` of the program.
    pub unsafe fn until(clock: i32, time: usize) -> Self {
        // SAFETY: as the caller says.
        let wanted = unsafe { nanoseconds(time) };
        let now = now(clock).map(inputs::as_seen);
        Limit::After(now.map_or(0, |now| wanted.saturating_sub(now)))
    }

    /// Marks what ends a wait that could have ended by time, too.
    pub const fn mark(self, event: Sync) -> Sync {
        match self {
            Limit::None => event,
            Limit::After(_) => event.with(TRIED),
        }
    }
}

/// A `timespec` of the program in nanoseconds.
///
/// # Safety
/// `time` points to one.
pub unsafe fn nanoseconds(time: usize) -> u64 {
    // SAFETY: as the caller says.
    let time = unsafe { (time as *const libc::timespec).read_unaligned() };
    (time.tv_sec.max(0) as u64)
        .saturating_mul(1_000_000_000)
        .saturating_add(time.tv_nsec as u64)
}

/// The time that a program sees in a serial recording: it starts the same every time, each step
/// takes a microsecond, and when all threads wait for time it jumps. `None` in a parallel one,
/// or if the program is to see the real time.
pub fn now(clock: i32) -> Option<u64> {
    const MICROSECOND: u64 = 1000;
    const SECOND: u64 = 1_000_000_000;
    const STARTED_FOR: u64 = 1000 * SECOND;
    if off() || options::CLOCK.get() != 0 || !threads::visible() {
        return None;
    }
    let passed = with_turn(|me| turn_holder().time(me)) * MICROSECOND;
    Some(match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => {
            options::EPOCH.get() * SECOND + passed
        }
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => passed,
        _ => STARTED_FOR + passed,
    })
}

/// Starts the scheduler with the running thread as the only one.
pub fn start() {
    // SAFETY: the recording is being set up: one thread, and nobody else looks.
    let scheduler = unsafe { scheduler() };
    scheduler.start();
    let green = options::THREADS.get() == 0 && context::supported() && !has_unseen_waits();
    turn::start(green);
    watchdog::start();
}

/// Whether the program has a library that waits in calls which nobody intercepts: libgomp. Its
/// threads are overtaken often, and a carrier that is overtaken is lost.
fn has_unseen_waits() -> bool {
    // SAFETY: the name is a C string.
    unsafe { !libc::dlsym(libc::RTLD_DEFAULT, c"GOMP_barrier".as_ptr()).is_null() }
}

/// In a forked process: the calling thread is alone.
pub fn restart_in_child() {
    // SAFETY: one thread, see above. Its kernel thread is the one that runs this, whatever it
    // was in the parent.
    let scheduler = unsafe { scheduler() };
    scheduler.explorer.leave();
    endings::begin_as_child();
    signals::restart_in_child();
    timers::restart_in_child();
    scheduler.start();
    turn::restart_in_child();
}

/// Does something as the thread that has the turn. References to the scheduler end before the
/// turn is handed on: others use it then.
#[inline]
fn with_turn<R>(action: impl FnOnce(*mut Thread) -> R) -> R {
    let _inside = Inside::enter();
    // SAFETY: the thread's own state.
    let me = unsafe { (*local()).thread };
    turn::hold(me);
    action(me)
}

/// The scheduler, for the thread that has the turn, and not beyond the next switch.
#[inline]
fn turn_holder<'a>() -> &'a mut scheduler::Scheduler {
    // SAFETY: called within `with_turn` only.
    unsafe { scheduler() }
}

/// The number of a thread.
#[inline]
fn id(thread: *mut Thread) -> u32 {
    // SAFETY: the running thread's own record, or one that is kept for whoever may join.
    unsafe { (*thread).id }
}

/// Waits for an object, as the thread that has the turn.
fn block(me: *mut Thread, object: usize, kind: Kind, limit: Limit, retries: bool) -> Waited {
    block_telling(me, object, kind, limit, retries, None)
}

/// The same with what is written down if the wait never ends.
fn block_telling(
    me: *mut Thread,
    object: usize,
    kind: Kind,
    limit: Limit,
    retries: bool,
    unended: Option<Sync>,
) -> Waited {
    if !turn_holder().begin_wait(me, object, kind, limit, retries) {
        return Waited::Cancelled;
    }
    // SAFETY: the running thread's own record, and it has the turn.
    unsafe { (*me).task.unended = unended };
    loop {
        if let Some(next) = turn_holder().next(true) {
            turn::switch(me, next);
        }
        let ran = signals::deliver(me);
        // SAFETY: as above.
        let is_over = unsafe { !core::mem::take(&mut (*me).task.interrupted) };
        let outcome = turn_holder().outcome(me);
        // Who was only told to look again, and handles a signal before it does, was interrupted.
        let has_happened = !(retries && matches!(outcome, Waited::Woken | Waited::Idle));
        match ran {
            _ if is_over && has_happened => {
                if outcome == Waited::TimedOut && !turn_holder().is_enforced() {
                    turn_holder().has_waited(me);
                }
                return outcome;
            }
            signals::Ran::Ending if kind.ends_by_handler() => return Waited::Interrupted,
            signals::Ran::Restarting if kind.ends_by_handler() => return Waited::Restarted,
            _ if is_over => return outcome,
            // It was called for a signal that it waits for.
            signals::Ran::None if kind == Kind::Signal => return Waited::Woken,
            _ => turn_holder().resume_wait(me),
        }
    }
}

#[inline]
pub fn off() -> bool {
    mode() != Mode::Serial
}

/// A place where another thread may get the turn: before a synchronisation.
pub fn point() {
    pass(None);
}

/// The same, before this is done to an object: an enforced schedule may know of it.
pub fn point_before(op: Op, object: usize, size: usize, pc: usize) {
    pass(Some(deed(op, object, size, pc)));
}

/// A place where another thread may get the turn before something that has events of its own: what
/// comes next is not known yet. If `op` comes next after all, that was before it.
pub fn point_before_others(op: Op, object: usize, pc: usize) {
    if off() {
        return;
    }
    if !with_turn(|_| turn_holder().is_replayed()) {
        return point_before(op, object, 0, pc);
    }
    with_turn(|me| {
        turn_holder().log.settle();
        turn_holder().announce(me, None);
        let next = turn_holder().step(me, Step::Sync);
        turn::switch(me, next);
    });
}

/// A place where an enforced schedule may stop a thread, and nobody else does.
pub fn gate(op: Op, object: usize, size: usize, pc: usize) {
    if is_enforced() {
        point_before(op, object, size, pc);
    }
}

/// Whether the running thread is held to a schedule.
pub fn is_enforced() -> bool {
    !off() && threads::visible() && with_turn(|_| turn_holder().is_enforced())
}

/// Whether an enforced schedule has the running thread do something else next than this, which it announced and
/// which leaves no event if it fails: then it failed when the schedule was recorded. What it depends on may hold
/// again by now, as its look at that was at no certain place of the schedule.
pub fn is_passed_over(op: Op) -> bool {
    !off() && threads::visible() && with_turn(|me| turn_holder().passes_over(me, op))
}

/// Whether a search runs the program.
pub fn is_searched() -> bool {
    !off() && threads::visible() && with_turn(|_| turn_holder().explorer.is_on())
}

/// The running thread sets what other threads may meet, or set, too: a search does not try when.
pub fn sets_handler() {
    if !off() && threads::visible() {
        with_turn(|_| {
            let scheduler = turn_holder();
            if scheduler.has_several() {
                scheduler.explorer.set_handler();
            }
        });
    }
}

fn deed(op: Op, addr: usize, size: usize, pc: usize) -> Deed {
    let op = op as u8;
    Deed {
        op,
        addr,
        size,
        pc,
        ..Deed::default()
    }
}

fn pass(next: Option<Deed>) {
    if !off() {
        next.inspect(|next| heed_cancellation(next.pc));
        with_turn(|me| {
            turn_holder().log.settle();
            turn_holder().announce(me, next);
            if next.is_none() && turn_holder().is_enforced() {
                // In the middle of something: the schedule speaks of what is announced.
                return;
            }
            let next = turn_holder().step(me, Step::Sync);
            turn::switch(me, next);
            signals::deliver(me);
        });
    }
}

/// Writes down a write that was put off.
pub fn settle() {
    if !off() && threads::visible() {
        with_turn(|_| {
            turn_holder().explorer.settle();
            turn_holder().log.settle();
        });
    }
}

/// An access, before it happens.
///
/// # Safety
/// Called by an instrumented program before it accesses `addr`.
pub unsafe fn access(kind: u64, addr: usize, pc: usize) {
    if !threads::visible() {
        return;
    }
    heed_cancellation(pc);
    with_turn(|me| {
        let op = if kind < word::WRITE1 {
            Op::Read
        } else {
            Op::Write
        };
        let deed = deed(op, addr, log::size_of_kind(kind), pc);
        // Nobody runs between the two halves of a copy, unless an enforced schedule says so. Whether it is one depends on what the memory held
        // before, which nobody may know: a search treats all alike.
        let is_second_half = turn_holder().log.is_read_of_copy(kind, addr, pc);
        let is_copy = is_second_half && !turn_holder().explorer.is_on();
        if !is_second_half {
            turn_holder().log.settle();
        }
        if !is_copy || turn_holder().is_replayed() {
            turn_holder().announce(me, Some(deed));
            let next = turn_holder().step(me, Step::Access);
            if next != me {
                turn::switch(me, next);
            }
            signals::deliver(me);
        }
        turn_holder().happened(me, deed);
        turn_holder().explored(me, deed, None, false);
        turn_holder().log.access(id(me), kind, addr, pc);
        if op == Op::Read {
            // SAFETY: the program is about to read these bytes.
            let held = unsafe { log::load(addr, deed.size.min(8)) };
            hang::mark(me, pc, held ^ addr as u64, false);
        }
    });
}

/// An access to a range; the caller has asked [`threads::visible`].
pub fn range(write: bool, addr: usize, length: usize, pc: usize) {
    with_turn(|me| {
        if turn_holder().is_enforced() {
            let deed = range_deed(write, addr, length, pc);
            let is_second_half = !write && turn_holder().log.is_copy(addr, length, pc);
            let is_copy = is_second_half && !turn_holder().explorer.is_on();
            if !is_second_half {
                turn_holder().log.settle();
            }
            if !is_copy || turn_holder().is_replayed() {
                turn_holder().announce(me, Some(deed));
                let next = turn_holder().step(me, Step::Sync);
                turn::switch(me, next);
            }
            turn_holder().happened(me, deed);
            turn_holder().explored(me, deed, None, false);
        }
        turn_holder().log.range(id(me), write, addr, length, pc);
    });
}

/// An access to a range that comes a little later, as [`announced_range`]: an enforced schedule may
/// stop the thread here.
pub fn announce_range(write: bool, addr: usize, length: usize, pc: usize) {
    with_turn(|me| {
        turn_holder().log.settle();
        turn_holder().announce(me, Some(range_deed(write, addr, length, pc)));
        let next = turn_holder().step(me, Step::Sync);
        turn::switch(me, next);
    });
}

/// That access.
pub fn announced_range(write: bool, addr: usize, length: usize, pc: usize) {
    with_turn(|me| {
        let deed = range_deed(write, addr, length, pc);
        turn_holder().happened(me, deed);
        turn_holder().explored(me, deed, None, false);
        turn_holder().log.range(id(me), write, addr, length, pc);
    });
}

fn range_deed(write: bool, addr: usize, length: usize, pc: usize) -> Deed {
    let op = if write { Op::Write } else { Op::Read };
    Deed {
        is_range: true,
        ..deed(op, addr, length, pc)
    }
}

/// An operation that orders nothing, and that a search must know of all the same: who comes first decides something.
pub fn noticed(op: Op, object: usize, pc: usize) {
    if mode() != Mode::Serial || off() || !threads::visible() {
        return;
    }
    with_turn(|me| {
        if turn_holder().explorer.is_on() {
            turn_holder().explored(me, deed(op, object, 0, pc), None, false);
        }
    });
}

/// A synchronisation, with the values of an atomic access.
pub fn sync(sync: &Sync, read: [u64; 2], written: [u64; 2]) {
    with_turn(|me| {
        if !matches!(sync.op, Op::Request | Op::ReadRequest) {
            let deed = deed(sync.op, sync.object, 0, sync.pc);
            turn_holder().happened(me, deed);
            if turn_holder().explorer.is_on() {
                explored(me, deed, sync, read, written);
            }
        }
        turn_holder().log.sync(id(me), sync, read, written);
        match sync.op {
            Op::AtomicRead | Op::AtomicRmw if read == written || sync.op == Op::AtomicRead => {
                hang::mark(me, sync.pc, read[0] ^ sync.object as u64, false);
            }
            Op::Refused | Op::ReadRefused | Op::TakeRefused => {
                hang::mark(me, sync.pc, sync.object as u64, true);
            }
            _ => {}
        }
    });
}

/// Tells a search what was done.
fn explored(me: *mut Thread, mut deed: Deed, sync: &Sync, read: [u64; 2], written: [u64; 2]) {
    let tried = sync.operand == Some(TRIED);
    let (value, tried) = match sync.op {
        Op::AtomicRead => (Some(read[0]), false),
        Op::AtomicWrite => (Some(written[0]), false),
        Op::AtomicRmw => (Some(read[0]), read == written),
        Op::Post => (Some(semaphore_value(sync.object).saturating_sub(1)), false),
        Op::Take => (Some(semaphore_value(sync.object) + 1), tried),
        Op::Acquire | Op::ReadAcquire | Op::Wake => (None, tried),
        // SAFETY: the running thread's own record.
        Op::FutexWoken => (None, unsafe { (*me).task.is_limited }),
        Op::BarrierEnter if crate::intercept::barrier::is_foreign(sync.object) => {
            (Some(UNCOUNTED), false)
        }
        // How many were there before.
        Op::BarrierEnter => (Some(turn_holder().waiting_for(sync.object) as u64), false),
        _ => (sync.operand, false),
    };
    deed.order = sync.order as u8;
    if sync.op.is_atomic() {
        deed.size = word::size_of_code(sync.size_code);
    } else if sync.op == Op::Alloc {
        deed.size = handed_out(sync.object, sync.operand.unwrap_or(0) as usize);
    }
    turn_holder().explored(me, deed, value, tried);
}

/// A thread has looked at a futex's word and did not go to sleep, which is no event of a recording: a search wants to know.
pub fn looked_at(word: usize, held: u32, pc: usize) {
    with_turn(|me| {
        // The kernel's look orders nothing.
        let deed = deed(Op::AtomicRead, word, size_of::<u32>(), pc);
        turn_holder().explored(me, deed, Some(held.into()), false);
    });
}

/// How many bytes a program gets that wants so many, or a few more: what it gives back is as long as what it got.
fn handed_out(start: usize, size: usize) -> usize {
    const MAPPED: usize = 128 * 1024;
    const PAGE: usize = 4096;
    match size {
        // From the kernel.
        _ if start.is_multiple_of(PAGE) && size.is_multiple_of(PAGE) => size,
        ..MAPPED => (size + 8).next_multiple_of(16).max(32) - 8,
        _ => size.next_multiple_of(4096),
    }
}

/// What a semaphore stands at.
fn semaphore_value(semaphore: usize) -> u64 {
    let mut value = 0;
    // SAFETY: a semaphore of the program, and a place for the answer.
    unsafe { libc::sem_getvalue(semaphore as *mut libc::sem_t, &mut value) };
    value.max(0) as u64
}

/// What the running thread got from the system; the caller has asked [`threads::visible`].
pub fn input(kind: u32, value: u64) {
    with_turn(|me| turn_holder().log.input(id(me), kind, value));
}

/// A function's entry, and where its frame lies.
pub fn enter(caller: usize, callee: usize, frame: [usize; 2]) {
    with_turn(|me| {
        if crate::record::points::has(caller) {
            turn_holder().log.settle();
            let next = turn_holder().reach(me);
            if next != me {
                turn::switch(me, next);
            }
        }
        let log = &mut turn_holder().log;
        log.enter(id(me), caller, callee);
        log.enter_frame(frame);
    });
}

/// A function's exit; see `Log::leave`.
pub fn leave(caller: usize, was_entered: bool) {
    with_turn(|me| turn_holder().log.leave(id(me), caller, was_entered));
}

/// The number that an enforced schedule or a search has for the thread that is about to be created.
pub fn planned_thread() -> Option<u32> {
    if off() {
        return None;
    }
    with_turn(|me| {
        let planned = turn_holder().planned_fork(me);
        turn_holder().number_of_child(me, planned)
    })
}

/// The running thread is about to end the process. A schedule or a search says who goes on first;
/// otherwise whoever can does, for a while: what is never joined would hardly ever be seen to run.
pub fn before_end(pc: usize) {
    if off() || !threads::visible() {
        return;
    }
    let deed = deed(Op::Exit, 0, 0, pc);
    with_turn(|me| {
        turn_holder().log.settle();
        if !turn_holder().is_enforced() {
            let begun = turn_holder().begin_end();
            while let Some(next) = turn_holder().before_end(me, begun) {
                turn::switch(me, next);
            }
            turn_holder().announce(me, Some(deed));
        } else {
            turn_holder().announce(me, Some(deed));
            let next = turn_holder().step(me, Step::Sync);
            turn::switch(me, next);
        }
        turn_holder().happened(me, deed);
        turn_holder().explored_end(me, deed);
        let sync = Sync::new(Op::Exit, 0, pc);
        turn_holder().log.sync(id(me), &sync, [0; 2], [0; 2]);
    });
}

/// The recording has ended, and so has what holds threads to a schedule. Whether there are others than the running one, which
/// may have to go on for it to end.
pub fn goes_on_unrecorded() -> bool {
    // SAFETY: as in `flush`; the thread's own state.
    let (scheduler, me) = unsafe { (scheduler(), (*local()).thread) };
    scheduler.log.keep_silent();
    scheduler.explorer.leave();
    scheduler.has_several() && turn::current() == me
}

/// The process ends, or (`passed`) nobody takes a step any more: an enforced schedule is not to be followed to its end.
pub fn cut_short(passed: bool) -> bool {
    // SAFETY: as in `flush`.
    !off() && unsafe { scheduler().cut_short(passed) }
}

/// Writes out what is buffered, when the recording is closed; `for_good`: and does not go on.
pub fn flush(for_good: bool) {
    if !off() {
        // SAFETY: the program is ending in this thread, or is about to be replaced; should
        // another have the turn, it is stopped in a call and touches nothing.
        unsafe { scheduler().log.flush(for_good) };
    }
}

/// Waits until somebody wakes those who wait for `object`. Whoever waits for something that can
/// be tried again does so, for it may be taken by another by then.
pub fn wait(object: usize, kind: Kind, limit: Limit) -> Waited {
    with_turn(|me| block(me, object, kind, limit, false))
}

/// The same, with what is written down if the wait never ends.
pub fn wait_telling(object: usize, kind: Kind, limit: Limit, unended: Sync) -> Waited {
    with_turn(|me| block_telling(me, object, kind, limit, false, Some(unended)))
}

/// The same for what can be tried again: the wait may end without a reason. `unended` is written down if it never ends.
pub fn wait_to_retry(object: usize, kind: Kind, limit: Limit, unended: Option<Sync>) -> Waited {
    with_turn(|me| block_telling(me, object, kind, limit, true, unended))
}

/// Waits until a signal of a set may be there, or a handler has run.
pub fn wait_for_signal(set: u64, limit: Limit) -> Waited {
    with_turn(|me| {
        // SAFETY: the running thread's own record.
        unsafe { (*me).task.accepts = set };
        let waited = block(me, scheduler::SIGNALS, Kind::Signal, limit, true);
        // SAFETY: as above.
        unsafe { (*me).task.accepts = 0 };
        waited
    })
}

/// Wakes up to `count` of those who wait for `object`; how many.
pub fn wake(object: usize, count: usize) -> usize {
    if off() {
        0
    } else {
        with_turn(|_| turn_holder().wake(object, count))
    }
}

/// Something that threads may wait for has changed in a signal handler: all look again.
pub fn wake_from_outside() {
    if !off() {
        scheduler::LOOK_AGAIN.store(1, Ordering::Release);
        turn::announce();
    }
}

/// Arrives at a barrier for `count` threads and waits for the others; whether it was the last.
pub fn arrive(barrier: usize, count: u32) -> bool {
    with_turn(|me| {
        if turn_holder().waiting_for(barrier) + 1 >= count as usize {
            turn_holder().wake(barrier, usize::MAX);
            return true;
        }
        block(me, barrier, Kind::Barrier, Limit::None, false);
        false
    })
}

/// Lets others go first; false in a parallel recording.
pub fn yield_turn() -> bool {
    if off() || !threads::visible() {
        return false;
    }
    with_turn(|me| {
        let next = turn_holder().yielded(me);
        turn::switch(me, next);
        signals::deliver(me);
    });
    true
}

/// A sleep: lets others go first for a while. How many nanoseconds were left when a handler ended
/// it; `None` in a parallel recording.
pub fn sleep(nanoseconds: u64) -> Option<u64> {
    if off() || !turn::is_green() && timers::is_real_armed() {
        return None;
    }
    let asleep = scheduler::ASLEEP;
    let end = time() + nanoseconds;
    let mut left = nanoseconds;
    loop {
        let limit = Limit::After(left);
        match with_turn(|me| block(me, asleep, Kind::Sleep, limit, false)) {
            Waited::Cancelled => {
                // SAFETY: sleeping is a cancellation point.
                unsafe { crate::intercept::real::pthread_testcancel() };
                left = end.saturating_sub(time());
            }
            Waited::Interrupted | Waited::Restarted => {
                return Some(end.saturating_sub(time()).max(1));
            }
            _ => return Some(0),
        }
    }
}

/// The running thread asks for the time.
pub fn pauses() {
    if !off() && threads::visible() {
        with_turn(|me| {
            if !turn_holder().is_enforced() {
                turn_holder().pauses(me);
            }
        });
    }
}

/// The program takes a mutex that was destroyed: whether this is a run of a search that records nothing, which is
/// told so.
pub fn is_misused() -> bool {
    !off() && with_turn(|_| turn_holder().explorer.met_misuse())
}

/// The running thread looks at the world outside, which may be another one now.
pub fn looks_outside() {
    if !off() && threads::visible() {
        with_turn(|_| turn_holder().log.stir());
    }
}

/// The scheduler's time, in steps of a microsecond.
pub fn steps() -> u64 {
    time() / 1000
}

/// The scheduler's time, in nanoseconds.
pub fn time() -> u64 {
    with_turn(|_| turn_holder().passed())
}

/// Makes a call that may block in the kernel, without the turn.
pub fn away<R>(call: impl FnOnce() -> R) -> R {
    with_turn(|me| {
        turn_holder().log.settle();
        turn_holder().log.stir();
        turn::leave(me);
        if turn::is_green() {
            signals::open_home(me);
        }
    });
    let result = call();
    // SAFETY: the C library's own address of the thread's error number; the thread's own state.
    // Coming back ends with the turn.
    unsafe {
        let error = *libc::__errno_location();
        let _inside = Inside::enter();
        if turn::is_green() {
            signals::close_home();
        }
        let me = (*local()).thread;
        turn::come_back(me);
        signals::deliver(me);
        *libc::__errno_location() = error;
    }
    result
}

/// The same for a call that only waits for something outside, such as data on a descriptor: nobody
/// has to wait longer for it than for others who may exist or not.
pub fn away_for_outside<R>(call: impl FnOnce() -> R) -> R {
    let set = |is_on| {
        with_turn(|me| {
            // SAFETY: the running thread's own record.
            let task = unsafe { &mut (*me).task };
            task.waits_outside = is_on;
            if is_on {
                task.kind = Kind::Descriptor;
                task.unended = None;
            }
        });
    };
    set(true);
    let result = away(call);
    // SAFETY: the C library's own address of the thread's error number.
    let error = unsafe { *libc::__errno_location() };
    set(false);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = error };
    result
}

/// Makes a call on the thread's own kernel thread. It keeps the turn, and no kernel thread runs another's context meanwhile.
pub fn at_home<R>(call: impl FnOnce() -> R) -> R {
    let leaves = with_turn(|me| {
        turn_holder().log.settle();
        turn_holder().log.stir();
        let leaves = turn::is_on_carrier();
        if leaves {
            turn::go_home_with_turn(me);
        }
        leaves
    });
    let result = call();
    if leaves {
        with_turn(turn::come_back_with_turn);
    }
    result
}

/// A new thread has been created: waits until it is there, and counts it in.
///
/// # Safety
/// The record is that of a thread that was just created.
pub unsafe fn adopt(thread: *mut Thread) {
    // SAFETY: as the caller says; the new thread does not go on before it has the turn.
    unsafe {
        (*thread).task.mask = (*(*local()).thread).task.mask;
        turn::wait_for_arrival(thread);
        scheduler().add(thread);
    }
}

/// Called by a new thread: returns when it gets the turn for the first time.
///
/// # Safety
/// `thread` is its own record.
pub unsafe fn arrive_as_new(thread: *mut Thread) {
    // SAFETY: as the caller says.
    unsafe { turn::arrive_as_new(thread) };
}

/// The running thread has recorded its last event: it leaves for good.
pub fn finish(thread: *mut Thread) {
    // SAFETY: the thread has the turn (it has just recorded its end).
    unsafe {
        scheduler().remove(thread);
        turn::leave_for_good(thread);
    }
}

/// Before `pthread_exit`: a thread that did not start from our `pthread_create` ends on its own
/// kernel thread from the very beginning; it keeps the turn.
pub fn before_exit() {
    if off() {
        return;
    }
    with_turn(|me| {
        turn_holder().log.settle();
        if id(me) == 0 {
            turn::go_home_with_turn(me);
        }
    });
}

/// Whether a thread has ended.
pub fn has_ended(thread: *mut Thread) -> bool {
    // SAFETY: the record is kept for whoever may join.
    unsafe { (*thread).task.has_ended() }
}

/// Waits for a thread's end.
pub fn wait_for_end(thread: *mut Thread, limit: Limit, pc: usize) -> Waited {
    let unended = Sync::new(Op::JoinRequest, id(thread) as usize, pc);
    let object = thread as usize;
    with_turn(|me| block_telling(me, object, Kind::Join, limit, false, Some(unended)))
}

/// Why a join is refused: of itself, of one that joins in return, of one that another joins; 0 if
/// it is not. As POSIX has it; some versions of glibc wait for ever for a thread that joins in
/// return, which the user is told.
pub fn refuses_join(thread: *mut Thread) -> i32 {
    static SAID: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);
    with_turn(|me| {
        // SAFETY: records that are kept for whoever may join; we have the turn.
        let (joins_me, joiner) = unsafe { ((*me).task.joiner, (*thread).task.joiner) };
        if thread == me {
            return libc::EDEADLK;
        }
        if joins_me == thread || !joiner.is_null() {
            turn_holder().explorer.refused_join();
        }
        if joins_me == thread {
            if SAID.swap(1, Ordering::Relaxed) == 0 {
                crate::message::say(format_args!(
                    "T{} joins T{}, which joins it: the answer is EDEADLK. Some versions of glibc \
                     wait for ever instead",
                    id(me),
                    id(thread)
                ));
            }
            return libc::EDEADLK;
        }
        match joiner.is_null() {
            true => 0,
            false => libc::EINVAL,
        }
    })
}

/// The running thread joins another from here on, or not any more.
pub fn joins(thread: *mut Thread, is_on: bool) {
    with_turn(|me| {
        let joiner = if is_on { me } else { core::ptr::null_mut() };
        // SAFETY: a record that is kept for whoever may join; we have the turn.
        unsafe { (*thread).task.joiner = joiner };
    });
}

/// A jump leaves the wait that the running thread was in when a handler interrupted it.
pub fn leave_wait() {
    // SAFETY: the thread's own state and record.
    unsafe {
        if let Some(thread) = (*local()).thread.as_mut() {
            thread.task.interrupted = false;
            thread.task.accepts = 0;
        }
    }
}

/// A thread was cancelled: should it wait for something, it does not any more.
pub fn cancelled(thread: *mut Thread) {
    if !off() && threads::visible() {
        with_turn(|_| turn_holder().cancel(thread));
    }
}

/// The running thread may be cancelled at any time from here on, or not; whether it might before.
pub fn set_asynchronous(is_on: bool) -> bool {
    // SAFETY: the running thread's own record.
    with_turn(|me| unsafe { core::mem::replace(&mut (*me).task.asynchronous, is_on) })
}

/// A thread that may be cancelled at any time, and was, ends here. Called before an event, outside of the
/// scheduler.
#[inline]
pub fn heed_cancellation(pc: usize) {
    // SAFETY: the thread is known, or it would have no events; its own record.
    let task = unsafe { &(*(*local()).thread).task };
    if task.asynchronous && task.cancelled {
        end_cancelled(pc);
    }
}

#[cold]
fn end_cancelled(pc: usize) {
    if turn::can_be_cancelled() {
        // What it does on its way out is not to be cancelled once more.
        set_asynchronous(false);
        crate::intercept::thread::act_on_cancellation(pc);
    }
}

/// Which signals the running thread does not want, if the kernel does not know; see [`signals`].
pub fn own_mask() -> Option<u64> {
    // SAFETY: the running thread's own record.
    (is_green() && threads::visible()).then(|| with_turn(|me| unsafe { (*me).task.mask }))
}

/// The running thread has another mask from here on. What it has and wants now is handled at once;
/// whether anything was.
pub fn set_own_mask(mask: u64) -> bool {
    with_turn(|me| {
        turn_holder().log.settle();
        signals::change_mask(me, mask);
        signals::deliver(me) != signals::Ran::None
    })
}

/// Sends a signal to a thread of this process, or to the process (null). If it is for the sender,
/// it is handled at once.
pub fn send_signal(target: *mut Thread, signal: i32, info: &signals::Info) {
    with_turn(|me| {
        turn_holder().log.settle();
        signals::send(target, signal, info);
        signals::deliver(me);
    });
}

/// Takes a signal of a set that the running thread or the process has: its number, 0 if there is
/// none. What is told about it goes to `place`, if that is not null.
///
/// # Safety
/// `place` is null or the program's own.
pub unsafe fn accept_signal(set: u64, place: *mut signals::Info) -> i32 {
    // SAFETY: as the caller says.
    with_turn(|me| unsafe { signals::accept(me, set, place) })
}

/// What the running thread has and blocks, the kernel knows from here on, as it does of a thread
/// that reads a `signalfd`.
pub fn give_signals_to_kernel() {
    with_turn(|me| {
        // SAFETY: the running thread's own record.
        let blocked = unsafe { (*me).task.mask } & signals::carrier_mask();
        signals::give_to_kernel(me, blocked);
    });
}

/// Which signals the running thread has that the kernel does not know of.
pub fn pending_signals() -> u64 {
    with_turn(signals::pending)
}

/// Whether the running thread is on its own kernel thread, in a call without the turn.
pub fn is_at_home() -> bool {
    is_green() && !turn::is_on_carrier()
}

/// Whether contexts run on a kernel thread that is not their own.
pub fn is_green() -> bool {
    !off() && turn::is_green()
}

/// The number of the kernel thread that the program believes to be on.
///
/// # Safety
/// The thread is known.
pub unsafe fn home_tid() -> i32 {
    // SAFETY: as the caller says.
    unsafe { (*(*local()).thread).tid.load(Ordering::Relaxed) as i32 }
}
