//! Waiting for any of several descriptors: `poll`, `select`, `epoll`. What is found ready to be read was
//! sent before, so whoever is told receives it, whether the data is read or not.
//!
//! In a serial recording it is asked without waiting as long as other threads can run: one of them may be
//! the other end. Only the world outside and time are waited for without the turn.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering};

use deadheat_wire::Op;

use super::channel::{self, channel};
use super::descriptor::trying;
use super::room::Room;
use super::{pidfd, real};
use crate::hooks::{caller, trampoline};
use crate::record::event;
use crate::record::{Mode, mode};
use crate::serial::{self, Limit};
use crate::threads;

trampoline! {
    "poll" => poll;
    "__poll_chk" => poll_chk;
    "ppoll" => ppoll;
    "select" => select;
    "pselect" => pselect;
    "epoll_ctl" => epoll_ctl;
    "epoll_wait" => epoll_wait;
    "epoll_pwait" => epoll_pwait;
}

// SAFETY of all blocks below: the arguments are the program's own, for the very function they are
// passed on to; what they point to is looked at only as the kernel would.

/// Makes a call that waits for so many descriptors, with another mask of signals (null: with the same): `now` asks without waiting, `real` is
/// the whole call. Without descriptors it is a sleep.
fn waiting(
    count: u64,
    limit: Limit,
    mask: usize,
    now: impl Fn() -> c_int,
    real: impl FnOnce() -> c_int,
) -> c_int {
    if !threads::visible() || mode() != Mode::Serial {
        return real();
    }
    // A signal that comes here comes before the call, and waits for its mask.
    serial::point();
    masked(mask, || {
        match limit {
            Limit::After(time) if count == 0 => {
                return match serial::sleep(time) {
                    Some(0) => 0,
                    Some(_) => super::descriptor::failed(libc::EINTR),
                    None => real(),
                };
            }
            Limit::After(0) => {
                serial::gate(Op::Receive, 0, 0, 0);
                serial::looks_outside();
                return real();
            }
            _ => {}
        }
        let attempt = || Some(now()).filter(|ready| *ready != 0);
        let block = |is_late| match is_late {
            true => 0,
            false => real(),
        };
        trying(channel::ANY, limit, false, attempt, block)
    })
}

/// Makes a call with another mask of signals (null: with the same). Where the kernel does not know of the thread's signals, one that is
/// there already ends it before it begins.
fn masked(mask: usize, call: impl FnOnce() -> c_int) -> c_int {
    let Some(before) = serial::own_mask().filter(|_| mask != 0) else {
        return call();
    };
    let during = unsafe { (mask as *const u64).read_unaligned() };
    if serial::set_own_mask(during) {
        serial::set_own_mask(before);
        return super::descriptor::failed(libc::EINTR);
    }
    let result = call();
    let error = unsafe { *libc::__errno_location() };
    serial::set_own_mask(before);
    unsafe { *libc::__errno_location() = error };
    result
}

/// A descriptor can be read: what was sent there is known now.
fn received(fd: c_int, pc: usize) {
    if fd >= 0 {
        event::sync(Op::Receive, channel::received_at(fd), pc);
        pidfd::found_readable(fd, pc);
    }
}

/// A descriptor cannot be read.
fn found_empty(fd: c_int, pc: usize) {
    if fd >= 0 {
        channel::looked_in_vain(channel::received_at(fd), pc);
    }
}

/// A descriptor can be written to: there is room.
fn found_room(fd: c_int, pc: usize) {
    if fd >= 0 {
        Room::of_descriptor(fd).inspect(|room| room.is_told(pc));
    }
}

/// A time in milliseconds, as `poll` takes it.
fn milliseconds(time: c_int) -> Limit {
    match u64::try_from(time) {
        Ok(time) => Limit::After(time * 1_000_000),
        Err(_) => Limit::None,
    }
}

/// A `timespec`, or none.
fn until(time: usize) -> Limit {
    match time {
        0 => Limit::None,
        _ => Limit::After(unsafe { serial::nanoseconds(time) }),
    }
}

static NO_TIME: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// What `poll` has found.
fn polled(fds: usize, count: u64, result: c_int, pc: usize) -> c_int {
    let readable = libc::POLLIN | libc::POLLPRI | libc::POLLHUP | libc::POLLERR | libc::POLLRDHUP;
    if result > 0 {
        for index in 0..count as usize {
            let entry = unsafe { (fds as *const libc::pollfd).add(index).read() };
            if entry.revents & readable != 0 {
                received(entry.fd, pc);
            }
            if entry.revents & libc::POLLOUT != 0 {
                found_room(entry.fd, pc);
            }
        }
    }
    if result == 0 {
        for index in 0..count as usize {
            let entry = unsafe { (fds as *const libc::pollfd).add(index).read() };
            if entry.events & readable != 0 {
                found_empty(entry.fd, pc);
            }
        }
    }
    result
}

unsafe extern "C" fn poll(fds: usize, count: u64, timeout: c_int) -> c_int {
    let pc = caller();
    let poll = |timeout| unsafe { real::poll(fds, count, timeout) };
    let result = waiting(
        count,
        milliseconds(timeout),
        0,
        || poll(0),
        || poll(timeout),
    );
    polled(fds, count, result, pc)
}

unsafe extern "C" fn poll_chk(fds: usize, count: u64, timeout: c_int, size: usize) -> c_int {
    match count as usize * size_of::<libc::pollfd>() <= size {
        true => unsafe { poll(fds, count, timeout) },
        false => unsafe { real::__poll_chk(fds, count, timeout, size) },
    }
}

unsafe extern "C" fn ppoll(fds: usize, count: u64, timeout: usize, mask: usize) -> c_int {
    let pc = caller();
    let poll = |timeout| unsafe { real::ppoll(fds, count, timeout, mask) };
    let now = || poll(&raw const NO_TIME as usize);
    let result = waiting(count, until(timeout), mask, now, || poll(timeout));
    polled(fds, count, result, pc)
}

/// The sets of `select`, which it writes to.
const MOST: usize = 1024;
type Set = [u64; MOST / 64];

/// Does something with sets that are as they were each time.
fn selecting(
    count: c_int,
    sets: [usize; 3],
    (limit, mask): (Limit, usize),
    pc: usize,
    now: impl Fn() -> c_int,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let words = (count.max(0) as usize).div_ceil(64);
    if words > MOST / 64 {
        return super::descriptor::blocking(real);
    }
    let load = |set: usize| {
        let mut words_of: Set = [0; MOST / 64];
        for (index, word) in words_of[..words].iter_mut().enumerate() {
            if set != 0 {
                *word = unsafe { (set as *const u64).add(index).read_unaligned() };
            }
        }
        words_of
    };
    let before = sets.map(load);
    let asked = before;
    let restore = || {
        for (set, words_of) in sets.iter().zip(&before) {
            for (index, word) in words_of[..words].iter().enumerate() {
                if *set != 0 {
                    unsafe { (*set as *mut u64).add(index).write_unaligned(*word) };
                }
            }
        }
    };
    let result = waiting(
        words as u64,
        limit,
        mask,
        || {
            restore();
            now()
        },
        || {
            restore();
            real()
        },
    );
    if result > 0 {
        let [readable, writable, _] = sets.map(load);
        for fd in 0..count as usize {
            let is_in = |set: &Set| set[fd / 64] >> (fd % 64) & 1 != 0;
            if is_in(&readable) {
                received(fd as c_int, pc);
            }
            if is_in(&writable) {
                found_room(fd as c_int, pc);
            }
        }
    } else if result == 0 {
        for fd in 0..count as usize {
            if asked[0][fd / 64] >> (fd % 64) & 1 != 0 {
                found_empty(fd as c_int, pc);
            }
        }
        // Late in an enforced schedule: nothing is ready.
        for set in sets.iter().filter(|set| **set != 0) {
            for index in 0..words {
                unsafe { (*set as *mut u64).add(index).write_unaligned(0) };
            }
        }
    }
    result
}

unsafe extern "C" fn select(
    count: c_int,
    read: usize,
    write: usize,
    except: usize,
    timeout: usize,
) -> c_int {
    let pc = caller();
    let limit = match timeout {
        0 => Limit::None,
        _ => {
            let time = unsafe { (timeout as *const libc::timeval).read_unaligned() };
            let microseconds = time.tv_sec.max(0) as u64 * 1_000_000 + time.tv_usec.max(0) as u64;
            Limit::After(microseconds * 1000)
        }
    };
    let now = || {
        let mut none = libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        };
        unsafe { real::select(count, read, write, except, &raw mut none as usize) }
    };
    let result = selecting(
        count,
        [read, write, except],
        (limit, 0),
        pc,
        now,
        || unsafe { real::select(count, read, write, except, timeout) },
    );
    if result == 0 && timeout != 0 {
        // The kernel says so that nothing is left, and was not asked if there are no descriptors.
        unsafe { (timeout as *mut libc::timeval).write_unaligned(core::mem::zeroed()) };
    }
    result
}

unsafe extern "C" fn pselect(
    count: c_int,
    read: usize,
    write: usize,
    except: usize,
    timeout: usize,
    mask: usize,
) -> c_int {
    let pc = caller();
    let select = |timeout| unsafe { real::pselect(count, read, write, except, timeout, mask) };
    let sets = [read, write, except];
    let now = || select(&raw const NO_TIME as usize);
    selecting(count, sets, (until(timeout), mask), pc, now, || {
        select(timeout)
    })
}

/// A descriptor that an `epoll` looks at: both numbers, and what the program wants to be told. All zero: none.
struct Registered {
    numbers: AtomicU64,
    data: AtomicU64,
}

const MOST_REGISTERED: usize = 1024;
static REGISTERED: [Registered; MOST_REGISTERED] = [const {
    Registered {
        numbers: AtomicU64::new(0),
        data: AtomicU64::new(0),
    }
}; MOST_REGISTERED];

fn numbers(epoll: c_int, fd: c_int) -> u64 {
    1 << 63 | (epoll as u64 & 0x7FFF_FFFF) << 32 | u64::from(fd as u32)
}

/// Notes what a descriptor is known by.
fn register(epoll: c_int, fd: c_int, data: u64) {
    let key = numbers(epoll, fd);
    let known = REGISTERED
        .iter()
        .find(|entry| entry.numbers.load(Ordering::Acquire) == key);
    let taken = known.or_else(|| {
        REGISTERED.iter().find(|entry| {
            let free = entry
                .numbers
                .compare_exchange(0, key, Ordering::AcqRel, Ordering::Acquire);
            free.is_ok()
        })
    });
    if let Some(entry) = taken {
        entry.data.store(data, Ordering::Release);
    }
}

fn forget(epoll: c_int, fd: c_int) {
    let key = numbers(epoll, fd);
    for entry in &REGISTERED {
        let _ = entry
            .numbers
            .compare_exchange(key, 0, Ordering::AcqRel, Ordering::Acquire);
    }
}

/// What is known here is told to whoever waits, with the descriptor.
unsafe extern "C" fn epoll_ctl(epoll: c_int, what: c_int, fd: c_int, event: usize) -> c_int {
    let pc = caller();
    serial::gate(Op::Send, channel(epoll), 0, pc);
    channel::send(channel(epoll), pc);
    if what == libc::EPOLL_CTL_DEL {
        forget(epoll, fd);
    } else if event != 0 {
        register(epoll, fd, unsafe {
            (*(event as *const libc::epoll_event)).u64
        });
    }
    let result = unsafe { real::epoll_ctl(epoll, what, fd, event) };
    channel::wake(channel(epoll));
    result
}

/// What `epoll` has found.
fn found(epoll: c_int, events: usize, result: c_int, pc: usize) -> c_int {
    let readable = libc::EPOLLIN | libc::EPOLLPRI | libc::EPOLLHUP | libc::EPOLLERR;
    if result == 0 {
        let registered = REGISTERED.iter();
        let keys = registered.map(|entry| entry.numbers.load(Ordering::Acquire));
        keys.filter(|key| key >> 32 == numbers(epoll, 0) >> 32)
            .for_each(|key| found_empty(key as u32 as c_int, pc));
    }
    if result <= 0 {
        return result;
    }
    event::sync(Op::Receive, channel(epoll), pc);
    for index in 0..result as usize {
        let found = unsafe {
            (events as *const libc::epoll_event)
                .add(index)
                .read_unaligned()
        };
        let is_readable = found.events & readable as u32 != 0;
        let is_writable = found.events & libc::EPOLLOUT as u32 != 0;
        let data = found.u64;
        for entry in &REGISTERED {
            let key = entry.numbers.load(Ordering::Acquire);
            let is_it =
                key >> 32 == numbers(epoll, 0) >> 32 && entry.data.load(Ordering::Acquire) == data;
            if is_it && is_readable {
                received(key as u32 as c_int, pc);
            }
            if is_it && is_writable {
                found_room(key as u32 as c_int, pc);
            }
        }
    }
    result
}

unsafe extern "C" fn epoll_wait(fd: c_int, events: usize, most: c_int, timeout: c_int) -> c_int {
    let pc = caller();
    let wait = |timeout| unsafe { real::epoll_wait(fd, events, most, timeout) };
    let result = waiting(1, milliseconds(timeout), 0, || wait(0), || wait(timeout));
    found(fd, events, result, pc)
}

unsafe extern "C" fn epoll_pwait(
    fd: c_int,
    events: usize,
    most: c_int,
    timeout: c_int,
    mask: usize,
) -> c_int {
    let pc = caller();
    let wait = |timeout| unsafe { real::epoll_pwait(fd, events, most, timeout, mask) };
    let result = waiting(1, milliseconds(timeout), mask, || wait(0), || wait(timeout));
    found(fd, events, result, pc)
}
