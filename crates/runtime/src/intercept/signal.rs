//! Signals, sent and waited for.
//!
//! What a thread did before it sends a signal within its process is before whatever accepts that
//! signal: the run of a handler, the return of `sigwait` and its kin, a read of a `signalfd`. Each
//! signal of each thread is a channel for that, and each signal of the process.
//!
//! In a serial recording with green contexts the kernel does not know which thread is meant; see
//! `serial::signals`. With kernel threads of their own, everything is left to the kernel.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering};

use super::descriptor::blocking;
use super::{channel, real, thread};
use crate::hooks::{caller, trampoline};
use crate::inputs::pids;
use crate::local::Inside;
use crate::record::event;
use crate::record::{Mode, mode};
use crate::serial::signals::{self, Alternate, Info};
use crate::serial::{self, Limit, Waited};
use crate::threads::{self, Thread};
use crate::{process, sys};

trampoline! {
    "kill" => kill;
    "tgkill" => tgkill;
    "raise" => raise;
    "sigqueue" => sigqueue;
    "pthread_kill" => pthread_kill;
    "pthread_sigqueue" => pthread_sigqueue;
    "pause" => pause;
    "sigsuspend" => sigsuspend;
    "sigwait" => sigwait;
    "sigwaitinfo" => sigwaitinfo;
    "sigtimedwait" => sigtimedwait;
    "sigpending" => sigpending;
    "sigaltstack" => sigaltstack;
    "signalfd" => signalfd;
    "aio_read" => aio_read;
    "aio_write" => aio_write;
    "aio_fsync" => aio_fsync;
    "aio_read64" => aio_read64;
    "aio_write64" => aio_write64;
    "lio_listio" => lio_listio;
    "getaddrinfo_a" => getaddrinfo_a;
    "mq_notify" => mq_notify;
}

// SAFETY of all calls below: the arguments are the program's own, for this very function, but for
// whom a number means.

fn failed(error: c_int) -> c_int {
    unsafe { *libc::__errno_location() = error };
    -1
}

/// Whether the runtime sends signals itself: contexts are not on their own kernel threads.
fn is_ours(signal: c_int) -> bool {
    (1..=64).contains(&signal) && serial::is_green() && threads::visible()
}

/// What the kernel would tell about a signal that this process sends to itself.
fn info(signal: c_int, code: c_int, value: usize) -> Info {
    let user = sys::call(libc::SYS_getuid, [0; 6]) as u32;
    Info::of(signal, code, sys::getpid(), user, value as u64)
}

/// Sends to a thread of this process.
fn send_to_thread(target: *mut Thread, signal: c_int, code: c_int, value: usize, pc: usize) {
    channel::send_signal(unsafe { (*target).id + 1 }, signal, pc);
    let _inside = Inside::enter(); // What is copied here is not the program's.
    serial::send_signal(target, signal, &info(signal, code, value));
}

/// `kill`, also by its number.
pub fn send_to_process(told: c_int, signal: c_int, pc: usize) -> c_int {
    let process = pids::meant(told);
    let is_own = process == sys::getpid() as c_int;
    if is_own && send_to_own_process(signal, libc::SI_USER, 0, pc) {
        return 0;
    }
    if !is_own && signal != 0 {
        channel::send_outside(pc);
    }
    unsafe { real::kill(process, signal) }
}

/// The program sends a signal to itself: whether that is done; otherwise the kernel has to do it.
pub fn send_to_own_process(signal: c_int, code: c_int, value: usize, pc: usize) -> bool {
    if signal == 0 || !threads::visible() {
        return false;
    }
    channel::send_signal(0, signal, pc);
    let is_ours = is_ours(signal);
    if is_ours {
        let _inside = Inside::enter();
        let info = info(signal, code, value);
        serial::send_signal(core::ptr::null_mut(), signal, &info);
    }
    is_ours
}

unsafe extern "C" fn kill(process: c_int, signal: c_int) -> c_int {
    send_to_process(process, signal, caller())
}

/// The thread whose own kernel thread has a number.
fn by_number(tid: c_int) -> *mut Thread {
    threads::find(|thread| unsafe { (*thread).tid.load(Ordering::Relaxed) } as c_int == tid)
}

/// The number plus one of the thread whose own kernel thread has a number; 0 if it is not known.
pub fn number_of(tid: c_int) -> u32 {
    unsafe { by_number(tid).as_ref() }.map_or(0, |thread| thread.id + 1)
}

/// `tgkill`, also by its number.
pub fn send_to_kernel_thread(process: c_int, told: c_int, signal: c_int, pc: usize) -> c_int {
    let tid = pids::meant(told);
    if process == sys::getpid() as c_int && signal != 0 && threads::visible() {
        let target = by_number(tid);
        let is_gone = target.is_null() || serial::is_green() && serial::has_ended(target);
        if !is_gone {
            if is_ours(signal) {
                send_to_thread(target, signal, libc::SI_TKILL, 0, pc);
                return 0;
            }
            channel::send_signal(unsafe { (*target).id + 1 }, signal, pc);
        }
    }
    unsafe { real::tgkill(process, tid, signal) }
}

unsafe extern "C" fn tgkill(process: c_int, thread: c_int, signal: c_int) -> c_int {
    send_to_kernel_thread(pids::meant(process), thread, signal, caller())
}

unsafe extern "C" fn raise(signal: c_int) -> c_int {
    let pc = caller();
    if is_ours(signal) {
        let me = unsafe { (*crate::local::local()).thread };
        send_to_thread(me, signal, libc::SI_TKILL, 0, pc);
        return 0;
    }
    unsafe { real::raise(signal) }
}

unsafe extern "C" fn sigqueue(told: c_int, signal: c_int, value: usize) -> c_int {
    let (pc, process) = (caller(), pids::meant(told));
    let is_own = process == sys::getpid() as c_int;
    if is_own && send_to_own_process(signal, libc::SI_QUEUE, value, pc) {
        return 0;
    }
    if !is_own && signal != 0 {
        channel::send_outside(pc);
    }
    unsafe { real::sigqueue(process, signal, value) }
}

/// A signal for one thread, with a value or without; an error number.
fn to_handle(
    handle: libc::pthread_t,
    signal: c_int,
    code: c_int,
    value: usize,
    pc: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let target = threads::by_handle(handle as usize);
    if signal == 0 || target.is_null() || !threads::visible() {
        return real();
    }
    if !is_ours(signal) {
        channel::send_signal(unsafe { (*target).id + 1 }, signal, pc);
        return real();
    }
    if !serial::has_ended(target) {
        send_to_thread(target, signal, code, value, pc);
    }
    0
}

unsafe extern "C" fn pthread_kill(handle: libc::pthread_t, signal: c_int) -> c_int {
    to_handle(handle, signal, libc::SI_TKILL, 0, caller(), || unsafe {
        real::pthread_kill(handle, signal)
    })
}

unsafe extern "C" fn pthread_sigqueue(
    handle: libc::pthread_t,
    signal: c_int,
    value: usize,
) -> c_int {
    to_handle(handle, signal, libc::SI_QUEUE, value, caller(), || unsafe {
        real::pthread_sigqueue(handle, signal, value)
    })
}

/// A set of signals of the program's.
unsafe fn set_at(place: usize) -> u64 {
    unsafe { (place as *const u64).read_unaligned() }
}

/// Waits until a handler has run, with this mask.
fn suspend(mask: u64, pc: usize, real: impl Fn() -> c_int) -> c_int {
    let Some(before) = serial::own_mask() else {
        return blocking(real);
    };
    serial::point();
    let mut has_run = serial::set_own_mask(mask);
    while !has_run {
        match serial::wait_for_signal(0, Limit::None) {
            Waited::Interrupted | Waited::Restarted => has_run = true,
            Waited::Idle => {
                serial::away(&real);
                has_run = true;
            }
            Waited::Cancelled => {
                serial::set_own_mask(before);
                thread::act_on_cancellation(pc);
                has_run = serial::set_own_mask(mask);
            }
            _ => {}
        }
    }
    serial::set_own_mask(before);
    failed(libc::EINTR)
}

unsafe extern "C" fn pause() -> c_int {
    let pc = caller();
    let mask = serial::own_mask().unwrap_or(0);
    suspend(mask, pc, || unsafe { real::pause() })
}

unsafe extern "C" fn sigsuspend(mask: usize) -> c_int {
    let pc = caller();
    suspend(unsafe { set_at(mask) }, pc, || unsafe {
        real::sigsuspend(mask)
    })
}

/// Takes a signal of a set: its number, or a negated error number. What is told about it goes to
/// `place`, if that is not null.
fn take(set: u64, place: *mut Info, limit: Limit, pc: usize) -> c_int {
    const NEVER: u64 = 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1) | 0b11 << 31;
    let set = set & !NEVER;
    let end = match limit {
        Limit::None => u64::MAX,
        Limit::After(time) => serial::time().saturating_add(time),
    };
    serial::point();
    loop {
        let taken = unsafe { serial::accept_signal(set, place) };
        if taken != 0 {
            return taken;
        }
        let limit = match limit {
            Limit::None => Limit::None,
            Limit::After(0) => return -libc::EAGAIN,
            Limit::After(_) => Limit::After(end.saturating_sub(serial::time()).max(1)),
        };
        match serial::wait_for_signal(set, limit) {
            Waited::TimedOut => match unsafe { serial::accept_signal(set, place) } {
                0 => return -libc::EAGAIN,
                taken => return taken,
            },
            Waited::Interrupted | Waited::Restarted => return -libc::EINTR,
            Waited::Cancelled => thread::act_on_cancellation(pc),
            Waited::Idle if limit == Limit::None => {
                let taken = serial::away(|| signals::wait_in_kernel(set, place, 0));
                taken_really(taken, pc);
                return taken;
            }
            _ => {}
        }
    }
}

/// Whether the runtime waits for signals itself.
fn waits_ourselves() -> bool {
    serial::is_green() && threads::visible()
}

/// What a real call has taken, where the kernel knows threads apart.
fn taken_really(signal: c_int, pc: usize) {
    if signal > 0 && threads::visible() {
        signals::received(unsafe { threads::my_id() }, signal, pc);
    }
}

unsafe extern "C" fn sigwait(set: usize, place: usize) -> c_int {
    let pc = caller();
    let store = |signal: c_int| {
        event::range(true, place, size_of::<c_int>(), pc);
        unsafe { (place as *mut c_int).write_unaligned(signal) };
        0
    };
    if !waits_ourselves() {
        let error = blocking(|| unsafe { real::sigwait(set, place) });
        if error == 0 {
            taken_really(unsafe { (place as *const c_int).read_unaligned() }, pc);
        }
        return error;
    }
    let set = unsafe { set_at(set) };
    loop {
        match -take(set, core::ptr::null_mut(), Limit::None, pc) {
            // It begins anew, as in glibc.
            libc::EINTR => {}
            error @ 1.. => return error,
            signal => return store(-signal),
        }
    }
}

/// `sigwaitinfo` and `sigtimedwait`.
fn wait_for_info(set: usize, place: usize, limit: Limit, pc: usize) -> c_int {
    let set = unsafe { set_at(set) };
    let signal = take(set, place as *mut Info, limit, pc);
    if signal < 0 {
        return failed(-signal);
    }
    if place != 0 {
        written(place, SENDER_IN_INFO, size_of::<Info>(), pc);
    }
    signal
}

/// Where the sender's numbers stand in what is told about a signal; they are others in every run.
const SENDER_IN_INFO: usize = 16;
const SENDER_IN_RECORD: usize = 12;
const SENDER: usize = 8;

/// What is told about a signal was written, but for who sent it.
fn written(place: usize, sender: usize, bytes: usize, pc: usize) {
    event::range(true, place, sender, pc);
    event::range(true, place + sender + SENDER, bytes - sender - SENDER, pc);
}

unsafe extern "C" fn sigwaitinfo(set: usize, place: usize) -> c_int {
    let pc = caller();
    if waits_ourselves() {
        return wait_for_info(set, place, Limit::None, pc);
    }
    let signal = blocking(|| unsafe { real::sigwaitinfo(set, place) });
    taken_really(signal, pc);
    signal
}

unsafe extern "C" fn sigtimedwait(set: usize, place: usize, time: usize) -> c_int {
    let pc = caller();
    if waits_ourselves() {
        let limit = match time {
            0 => Limit::None,
            _ => Limit::After(unsafe { serial::nanoseconds(time) }),
        };
        return wait_for_info(set, place, limit, pc);
    }
    let signal = blocking(|| unsafe { real::sigtimedwait(set, place, time) });
    taken_really(signal, pc);
    signal
}

unsafe extern "C" fn sigpending(place: usize) -> c_int {
    let result = unsafe { real::sigpending(place) };
    if result == 0
        && let Some(mask) = serial::own_mask()
    {
        let known = unsafe { set_at(place) };
        let all = (known | serial::pending_signals()) & mask;
        unsafe { (place as *mut u64).write_unaligned(all) };
    }
    result
}

unsafe extern "C" fn sigaltstack(new: *const Alternate, old: *mut Alternate) -> c_int {
    let is_ours = serial::is_green() && !serial::is_at_home() && threads::visible();
    let me = unsafe { (*crate::local::local()).thread };
    if !is_ours || me.is_null() {
        return unsafe { real::sigaltstack(new as usize, old as usize) };
    }
    let before = unsafe { (*me).task.alternate };
    if let Some(new) = unsafe { new.as_ref() } {
        let result = unsafe { real::sigaltstack(new as *const Alternate as usize, 0) };
        if result != 0 {
            return result;
        }
        let own = match new.flags & libc::SS_DISABLE {
            0 => *new,
            _ => Alternate::NONE,
        };
        unsafe { (*me).task.alternate = own };
        signals::stack::alternate_changed(&own);
    }
    if !old.is_null() {
        unsafe { old.write(before) };
    }
    0
}

/// Which descriptors are a `signalfd`, of the first ones.
static SIGNAL_FILES: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];

/// Whether a descriptor is a `signalfd`.
pub fn is_signal_file(fd: c_int) -> bool {
    let word = SIGNAL_FILES.get(fd as usize / 64);
    word.is_some_and(|word| word.load(Ordering::Relaxed) & 1 << (fd % 64) != 0)
}

unsafe extern "C" fn signalfd(fd: c_int, set: usize, flags: c_int) -> c_int {
    let new = unsafe { real::signalfd(fd, set, flags) };
    if let Some(word) = SIGNAL_FILES.get(new as usize / 64) {
        word.fetch_or(1 << (new % 64), Ordering::Relaxed);
    }
    new
}

/// Before a read: what only this runtime knows of, the kernel gets to know.
pub fn before_read(fd: c_int) {
    if is_signal_file(fd) && serial::own_mask().is_some() {
        serial::give_signals_to_kernel();
    }
}

/// After a read of so many bytes: what was sent with the signals in them has arrived.
pub fn after_read(fd: c_int, buffer: usize, got: isize, pc: usize) {
    const RECORD: usize = size_of::<libc::signalfd_siginfo>();
    if got <= 0 || !is_signal_file(fd) || !threads::visible() {
        return;
    }
    for index in 0..got as usize / RECORD {
        let place = buffer + index * RECORD;
        written(place, SENDER_IN_RECORD, RECORD, pc);
        let signal = unsafe { (place as *const u32).read_unaligned() };
        if (1..=64).contains(&signal) {
            signals::received(unsafe { threads::my_id() }, signal as c_int, pc);
        }
    }
}

// Threads of libc's own: what they do is not seen, and may end a wait.

unsafe extern "C" fn aio_read(request: usize) -> c_int {
    process::helpers_start();
    unsafe { real::aio_read(request) }
}

unsafe extern "C" fn aio_write(request: usize) -> c_int {
    process::helpers_start();
    unsafe { real::aio_write(request) }
}

unsafe extern "C" fn aio_fsync(kind: c_int, request: usize) -> c_int {
    process::helpers_start();
    unsafe { real::aio_fsync(kind, request) }
}

unsafe extern "C" fn aio_read64(request: usize) -> c_int {
    process::helpers_start();
    unsafe { real::aio_read64(request) }
}

unsafe extern "C" fn aio_write64(request: usize) -> c_int {
    process::helpers_start();
    unsafe { real::aio_write64(request) }
}

unsafe extern "C" fn lio_listio(how: c_int, list: usize, count: c_int, event: usize) -> c_int {
    process::helpers_start();
    blocking(|| {
        // It makes calls of its own, which are not the program's.
        let _inside = Inside::enter();
        unsafe { real::lio_listio(how, list, count, event) }
    })
}

unsafe extern "C" fn getaddrinfo_a(how: c_int, list: usize, count: c_int, event: usize) -> c_int {
    process::helpers_start();
    blocking(|| {
        let _inside = Inside::enter();
        unsafe { real::getaddrinfo_a(how, list, count, event) }
    })
}

unsafe extern "C" fn mq_notify(queue: c_int, event: usize) -> c_int {
    if mode() != Mode::Off {
        process::helpers_start();
    }
    unsafe { real::mq_notify(queue, event) }
}
