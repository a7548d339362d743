//! Signals: each thread's own mask, pending signals and alternate stack, though all threads run on
//! one kernel thread.
//!
//! The carrier blocks only what every thread blocks. A signal that the kernel hands to it while the
//! thread that runs there does not want it, or is inside the runtime, is put into a queue
//! ([`queue`]) and handled by a thread that wants it, once that has the turn. What a thread of this
//! process sends to another goes into the queue at once. A thread that is in a call without the
//! turn has its own mask on its own kernel thread, and the kernel does the rest.
//!
//! A signal that every thread blocks is the kernel's: it stays pending there for `sigwait`,
//! `signalfd` and their kin.

mod queue;
pub mod stack;

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use deadheat_wire::Op;

use super::explore::server;
use super::scheduler::{Scheduler, scheduler};
use super::task::State;
use super::turn;
use crate::intercept::channel;
use crate::local::{Inside, local};
use crate::record::event::Sync;
use crate::record::handler;
use crate::threads::Thread;
use crate::{process, sys};

pub use queue::Info;
use queue::{Entry, QUEUE};
pub use stack::Alternate;

/// The signals that the C library keeps for itself: cancellation and `setuid`.
const LIBRARY: u64 = 0b11 << 31;

/// A signal's bit in a mask.
pub fn bit(signal: i32) -> u64 {
    match signal {
        1..=64 => 1 << (signal - 1),
        _ => 0,
    }
}

/// A kernel thread whose context runs elsewhere handles no signals but the C library's own two,
/// which every thread must answer.
pub fn block_signals() {
    set_mask(!LIBRARY);
}

/// Which signals the running kernel thread does not want.
pub fn mask() -> u64 {
    let mut mask = 0u64;
    let how = libc::SIG_BLOCK as usize;
    sys::call(
        libc::SYS_rt_sigprocmask,
        [how, 0, &raw mut mask as usize, 8, 0, 0],
    );
    mask
}

/// Changes that.
pub fn set_mask(mask: u64) {
    let how = libc::SIG_SETMASK as usize;
    sys::call(
        libc::SYS_rt_sigprocmask,
        [how, &raw const mask as usize, 0, 8, 0, 0],
    );
}

/// Which signals the carrier does not want: those that nobody wants.
static CARRIER_MASK: AtomicU64 = AtomicU64::new(0);
/// Who has changed that, and on which kernel thread it is so, is not said: whoever settles in there
/// looks.
static IS_STALE: AtomicU32 = AtomicU32::new(0);

/// What the carrier's mask is to be.
pub fn carrier_mask() -> u64 {
    CARRIER_MASK.load(Ordering::Relaxed)
}

/// The first thread starts on the carrier.
pub fn first_thread(me: *mut Thread) {
    let now = mask();
    // SAFETY: the running thread's own record.
    unsafe { (*me).task.mask = now };
    CARRIER_MASK.store(now, Ordering::Relaxed);
}

/// A thread has another mask, or has ended: what do all have in common?
pub fn masks_changed(all: &[*mut Thread]) {
    let common = all.iter().fold(u64::MAX, |common, thread| {
        // SAFETY: records of threads that have not ended; the caller has the turn.
        common & unsafe { (**thread).task.mask }
    });
    if CARRIER_MASK.swap(common, Ordering::Relaxed) != common {
        IS_STALE.store(1, Ordering::Relaxed);
    }
}

/// The running thread has another mask from here on.
pub fn change_mask(me: *mut Thread, mask: u64) {
    const NEVER: u64 = 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1);
    // SAFETY: the running thread has the turn.
    unsafe {
        (*me).task.mask = mask & !NEVER & !LIBRARY;
        masks_changed(scheduler().threads());
    }
    IS_STALE.store(0, Ordering::Relaxed);
    set_mask(carrier_mask());
}

/// A new carrier starts with whatever signals its creator did not want.
pub fn carrier_starts() {
    IS_STALE.store(1, Ordering::Relaxed);
}

/// The context that runs from here on settles in on the carrier.
///
/// # Safety
/// `me` is the running thread's record.
pub unsafe fn settle_in(me: *mut Thread) {
    if IS_STALE.swap(0, Ordering::Relaxed) != 0 {
        set_mask(carrier_mask());
    }
    // SAFETY: as the caller says.
    unsafe { stack::settle_in(me) };
}

/// The running thread is at home, to make a call without the turn: it handles signals there.
pub fn open_home(me: *mut Thread) {
    // SAFETY: the running thread's own record.
    unsafe {
        stack::open_home(me);
        set_mask((*me).task.mask);
    }
}

/// It comes back from there.
pub fn close_home() {
    block_signals();
}

/// Signals from here on are handled when the runtime says so: a handler that it wants to run now.
static DELIVERING: AtomicU64 = AtomicU64::new(0);

/// A handler that runs now: the kernel thread, and the signal.
fn ticket(signal: i32) -> u64 {
    (sys::gettid() as u64) << 8 | signal as u64
}

/// Whether the kernel has called for a handler because the runtime wanted it to: what was sent is known then.
pub fn is_delivering(signal: i32) -> bool {
    !super::off() && DELIVERING.load(Ordering::Relaxed) == ticket(signal)
}

/// The kernel has called for a handler. Whether it is put off, to be called for again.
pub fn defers(signal: i32, info: &Info) -> bool {
    // SAFETY: the thread's own state.
    let (me, inside) = unsafe { ((*local()).thread, (*local()).inside) };
    let _inside = Inside::enter(); // What is copied here is not the program's.
    if super::off() || is_fault(signal, info) {
        return false;
    }
    if DELIVERING.load(Ordering::Relaxed) == ticket(signal) {
        DELIVERING.store(0, Ordering::Relaxed);
        return false;
    }
    // SAFETY: the running thread's own record.
    let is_wanted = !me.is_null() && unsafe { (*me).task.mask } & bit(signal) == 0;
    if is_wanted && inside == 0 {
        return false;
    }
    let target = match turn::is_green() {
        true => core::ptr::null_mut(),
        false => me,
    };
    queue::put(target, signal, info, channel::of_signal(0, signal));
    turn::announce();
    true
}

/// Whether a signal is about what the thread has just done.
fn is_fault(signal: i32, info: &Info) -> bool {
    let code = info.code();
    let by_kernel = code > 0 && code != libc::SI_KERNEL;
    let is_kind = matches!(
        signal,
        libc::SIGSEGV
            | libc::SIGBUS
            | libc::SIGFPE
            | libc::SIGILL
            | libc::SIGTRAP
            | libc::SIGSYS
            | libc::SIGABRT
    );
    is_kind && (by_kernel || code == libc::SI_KERNEL || signal == libc::SIGABRT)
}

/// Finds threads for signals that were sent to the process, and lets those run who have a signal to
/// handle.
pub fn route(scheduler: &mut Scheduler) {
    queue::each(|entry| {
        let mut thread = entry.target();
        if thread.is_null() {
            thread = chosen(scheduler, entry.signal());
            if thread.is_null() {
                // Everybody blocks it: the kernel keeps it.
                leave_to_kernel(entry.signal(), &entry.info());
                entry.free();
                scheduler.wake_outside();
                return;
            }
            entry.set_target(thread);
        }
        call_on(scheduler, thread, entry);
    });
}

/// A timer has fired, for a thread (its number plus one) or the process (0).
pub fn fired(number: u32, signal: i32, info: &Info) {
    // SAFETY: whoever lets time pass has the turn.
    let all = unsafe { scheduler().threads() };
    // SAFETY: records of threads that have not ended.
    let is_it = |thread: &&*mut Thread| unsafe { (***thread).id + 1 == number };
    let target = all.iter().find(is_it).copied();
    let channel = channel::of_signal(number, signal);
    match target {
        None if number != 0 => {}
        _ => queue::put(
            target.unwrap_or(core::ptr::null_mut()),
            signal,
            info,
            channel,
        ),
    }
}

fn leave_to_kernel(signal: i32, info: &Info) {
    let place = &raw const *info as usize;
    let process = sys::getpid() as usize;
    let args = [process, signal as usize, place, 0, 0, 0];
    if sys::call(libc::SYS_rt_sigqueueinfo, args) == 0 {
        return;
    }
    // What a process tells about itself, only its first kernel thread may say: the kernel says it.
    // A copy of the program may not ask for that.
    match server::copy() {
        0 => sys::call(libc::SYS_kill, [process, signal as usize, 0, 0, 0, 0]),
        _ => {
            let mut told = *info;
            told.0[1] = libc::SI_QUEUE as u32 as u64;
            let place = &raw const told as usize;
            sys::call(
                libc::SYS_rt_sigqueueinfo,
                [process, signal as usize, place, 0, 0, 0],
            )
        }
    };
}

/// The thread that a signal to the process is for: one that waits for it, else one that does not
/// block it.
fn chosen(scheduler: &Scheduler, signal: i32) -> *mut Thread {
    let first = |wants: &dyn Fn(&super::Task) -> bool| {
        let mut best: *mut Thread = core::ptr::null_mut();
        for thread in scheduler.threads() {
            // SAFETY: records of threads that have not ended; we have the turn.
            unsafe {
                let is_earlier = best.is_null() || (**thread).id < (*best).id;
                if is_earlier && wants(&(**thread).task) {
                    best = *thread;
                }
            }
        }
        best
    };
    let waits = first(&|task| task.accepts & bit(signal) != 0);
    if !waits.is_null() {
        return waits;
    }
    first(&|task| task.mask & bit(signal) == 0)
}

/// A thread has a signal: if it waits, it runs to handle it; if it is in a call, the kernel
/// interrupts that.
fn call_on(scheduler: &mut Scheduler, thread: *mut Thread, entry: &Entry) {
    let Some(index) = scheduler.threads().iter().position(|one| *one == thread) else {
        entry.free();
        return;
    };
    // SAFETY: a thread that has not ended; we have the turn.
    let task = unsafe { &(*thread).task };
    let wanted = (!task.mask | task.accepts) & bit(entry.signal()) != 0;
    let is_accepted = (task.mask | task.accepts) & bit(entry.signal()) != 0;
    if !is_accepted && process::handler_of(entry.signal()) == 0 {
        // Ignored, or the end of the process.
        run(entry.signal(), &entry.info());
        entry.free();
        return;
    }
    if !wanted || !scheduler.may_interrupt(thread, entry.channel()) {
        return;
    }
    match task.state {
        State::Blocked => scheduler.interrupt(index),
        State::Away if task.context.parked.load(Ordering::Acquire) == 0 => {
            // SAFETY: as above.
            let home = unsafe { turn::home_of(thread) };
            forward(home, entry);
        }
        _ => {}
    }
}

/// Has the kernel interrupt a call.
fn forward(home: i32, entry: &Entry) {
    let info = entry.info();
    send_really(home, entry.signal(), &info);
    entry.free();
}

fn send_really(tid: i32, signal: i32, info: &Info) -> isize {
    let place = &raw const *info as usize;
    let args = [
        sys::getpid() as usize,
        tid as usize,
        signal as usize,
        place,
        0,
        0,
    ];
    let sent = sys::call(libc::SYS_rt_tgsigqueueinfo, args);
    if sent == 0 {
        return sent;
    }
    // As above: another kernel thread is told that one has sent it.
    let args = [
        sys::getpid() as usize,
        tid as usize,
        signal as usize,
        0,
        0,
        0,
    ];
    sys::call(libc::SYS_tgkill, args)
}

/// How handlers ran.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ran {
    /// None did.
    None,
    /// All of them let calls begin anew.
    Restarting,
    /// One of them ends calls.
    Ending,
}

/// Runs the handlers of all signals that the running thread has and wants. The turn is its, and
/// nobody uses the scheduler meanwhile.
#[inline]
pub fn deliver(me: *mut Thread) -> Ran {
    match queue::is_empty() {
        true => Ran::None,
        false => deliver_all(me),
    }
}

#[cold]
fn deliver_all(me: *mut Thread) -> Ran {
    // SAFETY: the running thread has the turn.
    route(unsafe { scheduler() });
    if turn::is_green() && IS_STALE.swap(0, Ordering::Relaxed) != 0 {
        set_mask(carrier_mask());
    }
    let mut ran = Ran::None;
    loop {
        // SAFETY: the running thread's own record.
        let mask = unsafe { (*me).task.mask };
        let is_mine = |entry: &Entry| {
            // SAFETY: the running thread has the turn.
            let may = || unsafe { scheduler().may_interrupt(me, entry.channel()) };
            entry.target() == me && mask & bit(entry.signal()) == 0 && may()
        };
        let Some((signal, info, channel)) = queue::take(is_mine) else {
            return ran;
        };
        match turn::is_green() {
            true => receive(channel, process::handler_of(signal)),
            // The kernel does not say to whom it was sent.
            // SAFETY: the running thread's own record.
            false => received(unsafe { (*me).id }, signal, process::handler_of(signal)),
        }
        let restarts = process::restarts(signal);
        run(signal, &info);
        // SAFETY: the running thread's own record.
        handler::take(Some(unsafe { (*me).id }), |_, kept, _| kept.record());
        ran = match (ran, restarts) {
            (Ran::Ending, _) | (_, false) => Ran::Ending,
            _ => Ran::Restarting,
        };
    }
}

/// What was sent with a signal has arrived.
pub fn receive(channel: usize, pc: usize) {
    if channel != 0 {
        Sync::new(Op::Receive, channel, pc).record();
    }
}

/// Has the kernel run a handler in the running thread, now.
fn run(signal: i32, info: &Info) {
    DELIVERING.store(ticket(signal), Ordering::Relaxed);
    send_really(sys::gettid(), signal, info);
    DELIVERING.store(0, Ordering::Relaxed);
}

/// Sends a signal to a thread of this process, or to the process (null). The sender has the turn.
pub fn send(target: *mut Thread, signal: i32, info: &Info) {
    // SAFETY: the caller has the turn.
    let scheduler = unsafe { scheduler() };
    // SAFETY: a thread that has not ended.
    let number = unsafe { target.as_ref() }.map_or(0, |target| target.id + 1);
    queue::put(target, signal, info, channel::of_signal(number, signal));
    route(scheduler);
}

/// Takes a signal of a set that the running thread has, or the process: its number, 0 if there is
/// none. What is told about it goes to `place`, if that is not null.
///
/// # Safety
/// `place` is null or the program's own.
pub unsafe fn accept(me: *mut Thread, set: u64, place: *mut Info) -> i32 {
    let is_for_me = |entry: &Entry| {
        (entry.target() == me || entry.target().is_null()) && set & bit(entry.signal()) != 0
    };
    if let Some((signal, info, channel)) = queue::take(is_for_me) {
        receive(channel, 0);
        if !place.is_null() {
            // SAFETY: as the caller says.
            unsafe { place.write_unaligned(info) };
        }
        return signal;
    }
    let now = [0usize; 2];
    let signal = wait_in_kernel(set, place, &raw const now as usize);
    if signal <= 0 {
        return 0;
    }
    // SAFETY: the running thread's own record.
    received(unsafe { (*me).id }, signal, 0);
    signal
}

/// Waits in the kernel for a signal of a set, for a time if there is one: the signal's number, or a
/// negated error number.
pub fn wait_in_kernel(set: u64, place: *mut Info, time: usize) -> i32 {
    let args = [&raw const set as usize, place as usize, time, 8, 0, 0];
    sys::call(libc::SYS_rt_sigtimedwait, args) as i32
}

/// The running thread, of this number, has taken a signal from the kernel: what its sender has sent
/// has arrived.
pub fn received(thread: u32, signal: i32, pc: usize) {
    for number in [0, thread + 1] {
        let channel = channel::of_signal(number, signal);
        if channel::was_sent_on(channel) {
            receive(channel, pc);
        }
    }
}

/// Which signals the running thread and the process have in the queue.
pub fn pending(me: *mut Thread) -> u64 {
    let mut pending = 0;
    queue::each(|entry| {
        if entry.target() == me || entry.target().is_null() {
            pending |= bit(entry.signal());
        }
    });
    pending
}

/// Whether a signal of a channel is in the queue.
pub fn is_pending(channel: usize) -> bool {
    let mut is_there = false;
    queue::each(|entry| is_there |= entry.channel() == channel);
    is_there
}

/// Hands a thread's pending signals of a set to the kernel, which keeps them for the running kernel
/// thread: it blocks them.
pub fn give_to_kernel(me: *mut Thread, set: u64) {
    let is_mine = |entry: &Entry| entry.target() == me && set & bit(entry.signal()) != 0;
    while let Some((signal, info, channel)) = queue::take(is_mine) {
        receive(channel, 0);
        send_really(sys::gettid(), signal, &info);
    }
}

/// A thread has ended: its signals go with it.
pub fn ended(thread: *mut Thread) {
    while queue::take(|entry| entry.target() == thread).is_some() {}
}

/// Beside a handler that the kernel runs at once: what was sent with the signal, kept to be written
/// down.
pub fn keep_receipt(signal: i32) {
    // SAFETY: the thread's own state.
    let me = unsafe { (*local()).thread };
    if me.is_null() {
        return;
    }
    // SAFETY: the running thread's own record.
    let number = unsafe { (*me).id + 1 };
    for number in [0, number] {
        let channel = channel::of_signal(number, signal);
        if channel::was_sent_on(channel) {
            handler::keep(Op::Receive, channel, process::handler_of(signal));
        }
    }
}

/// In a forked process nothing is pending.
pub fn restart_in_child() {
    QUEUE.iter().for_each(Entry::free);
    queue::restart();
}
