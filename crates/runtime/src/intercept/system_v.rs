//! System V message queues and semaphores.
//!
//! A message that is received was sent before, and one that is sent into a full queue after others were
//! received ([`room`](super::room)). Who gets a semaphore lowered comes after whoever raised
//! it; who finds it at zero, after whoever lowered it. Which of several raised it nobody says: all that
//! did so before count, which orders more than it must and never too little. What is removed ends all waits
//! for it ([`removed`](super::removed)).

use core::ffi::{c_int, c_long};

use deadheat_wire::Op;

use super::channel::{self, Other};
use super::descriptor::{failed, trying};
use super::real;
use super::removed::{self, Wait};
use super::room::Room;
use crate::hooks::{caller, trampoline};
use crate::record::event;
use crate::record::{Mode, mode};
use crate::serial::explore::server;
use crate::serial::{self, Limit};
use crate::threads;

trampoline! {
    "msgget" => msgget;
    "semget" => semget;
    "msgsnd" => msgsnd;
    "msgrcv" => msgrcv;
    "msgctl" => msgctl;
    "semop" => semop;
    "semtimedop" => semtimedop;
    "semctl" => semctl;
}

// SAFETY of all blocks below: the arguments are the program's own, for the very function they are
// passed on to; what they point to is looked at only as the kernel would.

fn errno() -> c_int {
    unsafe { *libc::__errno_location() }
}

fn is_serial() -> bool {
    threads::visible() && mode() == Mode::Serial
}

/// Makes a call; `tried` is the same without waiting, which answers with this error if it would have to.
fn waiting(
    (channel, limit, wait): (usize, Limit, &Wait),
    would_wait: c_int,
    tried: impl Fn() -> isize,
    real: impl FnOnce() -> isize,
) -> isize {
    if !is_serial() {
        return real();
    }
    let before = errno();
    let block = |is_late| match is_late {
        true => failed(libc::EAGAIN) as isize,
        false => real(),
    };
    let attempt = || wait.unless(would_wait, tried());
    let result = trying(channel, limit, false, attempt, block);
    if result >= 0 {
        unsafe { *libc::__errno_location() = before };
    }
    result
}

/// A message begins with its kind.
const KIND: usize = size_of::<c_long>();

fn queue_channel(queue: c_int) -> usize {
    channel::of_other(Other::Messages, queue as u64)
}

unsafe extern "C" fn msgget(key: c_int, flags: c_int) -> c_int {
    server::has_in_common();
    unsafe { real::msgget(key, flags) }
}

unsafe extern "C" fn semget(key: c_int, count: c_int, flags: c_int) -> c_int {
    server::has_in_common();
    unsafe { real::semget(key, count, flags) }
}

unsafe extern "C" fn msgsnd(queue: c_int, message: usize, length: usize, flags: c_int) -> c_int {
    let pc = caller();
    let channel = queue_channel(queue);
    let send = |flags| unsafe { real::msgsnd(queue, message, length, flags) as isize };
    event::range(false, message, KIND + length, pc);
    let taken = Room::of_messages(queue).map(|room| room.take(length));
    match taken {
        Some(taken) if is_serial() => serial::point_before(Op::Receive, taken.channel(), 0, pc),
        _ => {
            taken.inspect(|taken| taken.find(pc));
            channel::send(channel, pc);
        }
    }
    let wait = Wait::new(Other::Messages, queue, channel, pc);
    let result = match flags & libc::IPC_NOWAIT {
        0 => waiting(
            (channel, Limit::None, &wait),
            libc::EAGAIN,
            || send(flags | libc::IPC_NOWAIT),
            || send(flags),
        ),
        _ => send(flags),
    };
    wait.end(result);
    if let Some(taken) = taken {
        if result != 0 {
            taken.failed(errno());
        }
        taken.find(pc);
    }
    if is_serial() && result == 0 {
        channel::send(channel, pc);
        channel::wake(channel);
    }
    result as c_int
}

unsafe extern "C" fn msgrcv(
    queue: c_int,
    message: usize,
    length: usize,
    kind: c_long,
    flags: c_int,
) -> isize {
    let pc = caller();
    let channel = queue_channel(queue);
    let receive = |flags| unsafe { real::msgrcv(queue, message, length, kind, flags) };
    let room = Room::of_messages(queue);
    if let Some(room) = room {
        serial::point_before(Op::Send, room.channel(), 0, pc);
        room.leave(channel, pc);
    } else {
        serial::gate(Op::Receive, channel, 0, pc);
    }
    let wait = Wait::new(Other::Messages, queue, channel, pc);
    let result = match flags & libc::IPC_NOWAIT {
        0 => waiting(
            (channel, Limit::None, &wait),
            libc::ENOMSG,
            || receive(flags | libc::IPC_NOWAIT),
            || receive(flags),
        ),
        _ => receive(flags),
    };
    wait.end(result);
    if result >= 0 {
        event::sync(Op::Receive, channel, pc);
        event::range(true, message, KIND + result as usize, pc);
        room.inspect(|room| room.leave(channel, pc));
        // Whoever waits to send may have room now.
        channel::wake(channel);
    } else {
        channel::found_nothing(channel, pc);
    }
    result
}

unsafe extern "C" fn msgctl(queue: c_int, command: c_int, argument: usize) -> c_int {
    let pc = caller();
    if command == libc::IPC_RMID {
        serial::point_before(Op::Send, queue_channel(queue), 0, pc);
        channel::send(queue_channel(queue), pc);
        channel::send(removed::removal_of(Other::Messages, queue), pc);
    }
    let result = unsafe { real::msgctl(queue, command, argument) };
    if command == libc::IPC_RMID {
        channel::wake(queue_channel(queue));
    }
    result
}

fn set_channel(set: c_int) -> usize {
    channel::of_other(Other::Semaphores, set as u64)
}

/// The channel of those who raised a semaphore, or lowered it.
fn of_semaphore(kind: Other, set: c_int, number: u16) -> usize {
    channel::of_other(kind, (set as u32 as u64) << 16 | u64::from(number))
}

/// What a call does to a semaphore.
#[derive(Clone, Copy)]
struct Change {
    number: u16,
    by: i16,
}

impl Change {
    /// It is done, or about to be: others may learn of it.
    fn sends(self, set: c_int, pc: usize) {
        match self.by {
            0 => {}
            1.. => channel::send(of_semaphore(Other::Raised, set, self.number), pc),
            _ => channel::send(of_semaphore(Other::Lowered, set, self.number), pc),
        }
    }

    /// Who has to have done something before it can be done: those on this channel; nobody has to, to raise it.
    fn needed(self, set: c_int) -> Option<usize> {
        let kind = match self.by {
            1.. => return None,
            0 => Other::Lowered,
            _ => Other::Raised,
        };
        Some(of_semaphore(kind, set, self.number))
    }

    /// It is done, which it could not have been before others did something.
    fn receives(self, set: c_int, pc: usize) {
        if let Some(channel) = self.needed(set) {
            event::sync(Op::Receive, channel, pc);
        }
    }

    /// It cannot be done now.
    fn fails(self, set: c_int, pc: usize) {
        if let Some(channel) = self.needed(set) {
            channel::found_nothing(channel, pc);
        }
    }
}

/// The most changes that are tried without waiting.
const MOST: usize = 64;

/// # Safety
/// So many operations of the program.
unsafe fn changing(
    set: c_int,
    operations: usize,
    count: usize,
    limit: Limit,
    pc: usize,
    real: impl Fn(usize) -> c_int,
) -> c_int {
    if !threads::visible() {
        return real(operations);
    }
    let operation = |index: usize| unsafe { (operations as *const libc::sembuf).add(index).read() };
    let changes = || {
        (0..count).map(operation).map(|change| Change {
            number: change.sem_num,
            by: change.sem_op,
        })
    };
    let channel = set_channel(set);
    // Of several the kernel counts whoever waits at the first that cannot be done; which that is nobody says.
    let wanted = changes().find_map(|change| change.needed(set));
    let wait = Wait::new(Other::Semaphores, set, wanted.unwrap_or(channel), pc);
    if mode() != Mode::Serial {
        changes().for_each(|change| change.sends(set, pc));
        let result = real(operations);
        if result == 0 {
            changes().for_each(|change| change.receives(set, pc));
        }
        wait.end(result as isize);
        return result;
    }
    let takes = (0..count).any(|index| operation(index).sem_op <= 0);
    let announced = if takes { Op::Receive } else { Op::Send };
    serial::point_before(announced, channel, 0, pc);
    let no_wait = libc::IPC_NOWAIT as i16;
    let all_wait = (0..count).all(|index| operation(index).sem_flg & no_wait == 0);
    let none_waits = (0..count).all(|index| operation(index).sem_flg & no_wait != 0);
    let result = if none_waits {
        real(operations)
    } else if all_wait && count <= MOST {
        let empty = libc::sembuf {
            sem_num: 0,
            sem_op: 0,
            sem_flg: 0,
        };
        let mut tried = [empty; MOST];
        for (index, slot) in tried[..count].iter_mut().enumerate() {
            *slot = operation(index);
            slot.sem_flg |= no_wait;
        }
        let tried = &raw const tried as usize;
        waiting(
            (channel, limit, &wait),
            libc::EAGAIN,
            || real(tried) as isize,
            || real(operations) as isize,
        ) as c_int
    } else {
        serial::away(|| real(operations))
    };
    wait.end(result as isize);
    if result == 0 {
        changes().for_each(|change| change.receives(set, pc));
        changes().for_each(|change| change.sends(set, pc));
        channel::wake(channel);
    } else {
        changes().for_each(|change| change.fails(set, pc));
    }
    result
}

unsafe extern "C" fn semop(set: c_int, operations: usize, count: usize) -> c_int {
    let pc = caller();
    unsafe {
        changing(set, operations, count, Limit::None, pc, |operations| {
            real::semop(set, operations, count)
        })
    }
}

unsafe extern "C" fn semtimedop(set: c_int, operations: usize, count: usize, time: usize) -> c_int {
    let pc = caller();
    let limit = match time {
        0 => Limit::None,
        _ => Limit::After(unsafe { serial::nanoseconds(time) }),
    };
    unsafe {
        changing(set, operations, count, limit, pc, |operations| {
            real::semtimedop(set, operations, count, time)
        })
    }
}

/// How many semaphores a set has.
fn semaphores_of(set: c_int) -> u16 {
    const MOST: u64 = 256;
    let mut about: libc::semid_ds = unsafe { core::mem::zeroed() };
    match unsafe { real::semctl(set, 0, libc::IPC_STAT, &raw mut about as usize) } {
        0 => about.sem_nsems.min(MOST) as u16,
        _ => 0,
    }
}

unsafe extern "C" fn semctl(set: c_int, number: c_int, command: c_int, argument: usize) -> c_int {
    const GETPID: c_int = 11;
    const GETALL: c_int = 13;
    const GETNCNT: c_int = 14;
    const GETZCNT: c_int = 15;
    const GETVAL: c_int = 12;
    const SETVAL: c_int = 16;
    const SETALL: c_int = 17;
    let pc = caller();
    let real = || unsafe { real::semctl(set, number, command, argument) };
    if !threads::visible() {
        return real();
    }
    let (first, end) = match command {
        SETALL | GETALL | libc::IPC_RMID => (0, semaphores_of(set)),
        _ => (number as u16, (number as u16).saturating_add(1)),
    };
    let both = |of: &dyn Fn(usize)| {
        for number in first..end {
            of(of_semaphore(Other::Raised, set, number));
            of(of_semaphore(Other::Lowered, set, number));
        }
    };
    match command {
        // Whoever looks sees what others have done.
        GETVAL | GETALL | GETPID | GETNCNT | GETZCNT => {
            serial::point_before(Op::Receive, set_channel(set), 0, pc);
            let result = real();
            if result < 0 {
                return result;
            }
            both(&|channel| event::sync(Op::Receive, channel, pc));
            let waiting = |kind| {
                let waits = removed::waits_for(Other::Semaphores, set);
                event::sync(Op::Receive, waits, pc);
                removed::waiting_for(of_semaphore(kind, set, number as u16)) as c_int
            };
            match command {
                GETNCNT => result + waiting(Other::Raised),
                GETZCNT => result + waiting(Other::Lowered),
                _ => result,
            }
        }
        SETVAL | SETALL | libc::IPC_RMID => {
            serial::point_before(Op::Send, set_channel(set), 0, pc);
            both(&|channel| channel::send(channel, pc));
            if command == libc::IPC_RMID {
                channel::send(removed::removal_of(Other::Semaphores, set), pc);
            }
            let result = real();
            channel::wake(set_channel(set));
            result
        }
        _ => real(),
    }
}
