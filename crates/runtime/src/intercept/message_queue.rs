//! POSIX message queues. On Linux a queue is behind a descriptor, so its messages are ordered as what
//! goes through a pipe: a send comes before whatever is received later, and what is received from a full
//! queue comes before whatever is sent then ([`room`](super::room)).

use core::ffi::c_int;
use core::mem::MaybeUninit;

use deadheat_wire::Op;

use super::channel::{self, channel};
use super::connect;
use super::descriptor::{failed, is_ready, put_off, trying};
use super::room::Room;
use super::{number, real};
use crate::hooks::{caller, trampoline};
use crate::record::event;
use crate::record::{Mode, mode};
use crate::serial::explore::server;
use crate::serial::{self, Limit};
use crate::threads;

trampoline! {
    "mq_open" => mq_open;
    "mq_close" => mq_close;
    "mq_send" => mq_send;
    "mq_timedsend" => mq_timedsend;
    "mq_receive" => mq_receive;
    "mq_timedreceive" => mq_timedreceive;
}

/// When a call gives up: in the program's time, and as the kernel has to be told.
#[derive(Clone, Copy)]
struct Deadline {
    limit: Limit,
    /// What the program said; null if it waits without end.
    time: usize,
    /// Whether the program's clock is not the kernel's.
    has_own_clock: bool,
}

impl Deadline {
    const NONE: Deadline = Deadline {
        limit: Limit::None,
        time: 0,
        has_own_clock: false,
    };

    /// # Safety
    /// `time` is null or points to a `timespec`.
    unsafe fn at(time: usize) -> Self {
        let limit = match time {
            0 => Limit::None,
            // SAFETY: as the caller says.
            _ => unsafe { Limit::until(libc::CLOCK_REALTIME, time) },
        };
        Deadline {
            limit,
            time,
            has_own_clock: serial::now(libc::CLOCK_REALTIME).is_some(),
        }
    }

    /// Makes a call with the time that the kernel's clock will show then. The program's own clock may be another. Called without the
    /// turn.
    fn in_kernel_time<R>(&self, call: impl FnOnce(usize) -> R) -> R {
        let Limit::After(left) = self.limit else {
            return call(self.time);
        };
        if !self.has_own_clock {
            return call(self.time);
        }
        let mut now = MaybeUninit::<libc::timespec>::uninit();
        let place = now.as_mut_ptr() as usize;
        let now = unsafe {
            real::clock_gettime(libc::CLOCK_REALTIME, place);
            serial::nanoseconds(place)
        };
        let end = now.saturating_add(left);
        let time = libc::timespec {
            tv_sec: (end / 1_000_000_000) as libc::time_t,
            tv_nsec: (end % 1_000_000_000) as libc::c_long,
        };
        call(&raw const time as usize)
    }
}

/// A call on a queue: made when it does not have to wait, or without the turn.
fn on_queue(
    queue: c_int,
    events: i16,
    deadline: Deadline,
    pc: usize,
    real: impl Fn(usize) -> isize,
) -> isize {
    if !threads::visible() || mode() != Mode::Serial {
        return real(deadline.time);
    }
    if connect::flags(queue) & libc::O_NONBLOCK != 0 {
        put_off(queue, events, pc);
        return real(deadline.time);
    }
    // Whatever the kernel thinks of the time: it does not have to wait.
    let attempt = || is_ready(queue, events).then(|| real(deadline.time));
    let block = |is_late| match is_late {
        true => failed(libc::ETIMEDOUT) as isize,
        false => deadline.in_kernel_time(&real),
    };
    trying(channel(queue), deadline.limit, true, attempt, block)
}

fn sending(
    queue: c_int,
    message: [usize; 2],
    deadline: Deadline,
    pc: usize,
    real: impl Fn(usize) -> c_int,
) -> c_int {
    event::range(false, message[0], message[1], pc);
    let taken = Room::of_queue(queue).map(|room| room.take(message[1]));
    let is_serial = threads::visible() && mode() == Mode::Serial;
    match taken {
        Some(taken) if is_serial => serial::point_before(Op::Receive, taken.channel(), 0, pc),
        _ => {
            taken.inspect(|taken| taken.find(pc));
            channel::send(channel(queue), pc);
        }
    }
    let result = on_queue(queue, libc::POLLOUT, deadline, pc, |time| {
        real(time) as isize
    }) as c_int;
    if let Some(taken) = taken {
        if result != 0 {
            // SAFETY: the C library's own address of the thread's error number.
            taken.failed(unsafe { *libc::__errno_location() });
            channel::found_nothing(taken.channel(), pc);
        }
        taken.find(pc);
    }
    if is_serial && result == 0 {
        channel::send(channel(queue), pc);
        channel::wake(channel(queue));
    }
    result
}

fn receiving(
    queue: c_int,
    message: usize,
    priority: usize,
    deadline: Deadline,
    pc: usize,
    real: impl Fn(usize) -> isize,
) -> isize {
    let room = Room::of_queue(queue);
    if let Some(room) = room {
        serial::point_before(Op::Send, room.channel(), 0, pc);
        room.leave(channel(queue), pc);
    }
    let result = on_queue(queue, libc::POLLIN, deadline, pc, real);
    if result >= 0 {
        event::sync(Op::Receive, channel(queue), pc);
        event::range(true, message, result as usize, pc);
        if priority != 0 {
            event::range(true, priority, size_of::<u32>(), pc);
        }
        room.inspect(|room| room.leave(channel(queue), pc));
        // Whoever waits to send may have room now.
        channel::wake(channel(queue));
    } else {
        channel::found_nothing(channel(queue), pc);
    }
    result
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

unsafe extern "C" fn mq_open(name: usize, flags: c_int, mode: u32, attributes: usize) -> c_int {
    let pc = caller();
    server::has_in_common();
    number::getting(pc, || unsafe {
        real::mq_open(name, flags, mode, attributes)
    })
}

unsafe extern "C" fn mq_close(queue: c_int) -> c_int {
    number::giving_back(queue, caller(), || unsafe { real::mq_close(queue) })
}

unsafe extern "C" fn mq_send(queue: c_int, message: usize, length: usize, priority: u32) -> c_int {
    let pc = caller();
    sending(queue, [message, length], Deadline::NONE, pc, |_| unsafe {
        real::mq_send(queue, message, length, priority)
    })
}

unsafe extern "C" fn mq_timedsend(
    queue: c_int,
    message: usize,
    length: usize,
    priority: u32,
    time: usize,
) -> c_int {
    let pc = caller();
    let deadline = unsafe { Deadline::at(time) };
    sending(queue, [message, length], deadline, pc, |time| unsafe {
        real::mq_timedsend(queue, message, length, priority, time)
    })
}

unsafe extern "C" fn mq_receive(
    queue: c_int,
    message: usize,
    length: usize,
    priority: usize,
) -> isize {
    let pc = caller();
    receiving(queue, message, priority, Deadline::NONE, pc, |_| unsafe {
        real::mq_receive(queue, message, length, priority)
    })
}

unsafe extern "C" fn mq_timedreceive(
    queue: c_int,
    message: usize,
    length: usize,
    priority: usize,
    time: usize,
) -> isize {
    let pc = caller();
    let deadline = unsafe { Deadline::at(time) };
    receiving(queue, message, priority, deadline, pc, |time| unsafe {
        real::mq_timedreceive(queue, message, length, priority, time)
    })
}
