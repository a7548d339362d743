//! `syscall`: Rust's standard library and libstdc++ use futexes through it.

use core::ffi::c_long;
use core::sync::atomic::{AtomicU32, Ordering};

use deadheat_wire::inputs::kind;
use deadheat_wire::{MAKES_UNSEEN_CALL, Op, UNSEEN_CALLS};

use super::{channel, ends, identity, pidfd, random, signal, spawn};
use crate::hooks::{caller, trampoline};
use crate::inputs::pids;
use crate::local::Inside;
use crate::record::event::{self, Sync};
use crate::record::facts;
use crate::record::{Mode, mode};
use crate::serial::endings::{self, Kind};
use crate::serial::{self, Limit, Waited};
use crate::{process, sys, threads};

trampoline! { "syscall" => syscall; }

/// The C library's convention: -1 and `errno`.
fn answer(result: isize) -> c_long {
    if (-4095..0).contains(&result) {
        // SAFETY: the C library's own address of the thread's error number.
        unsafe { *libc::__errno_location() = -result as i32 };
        return -1;
    }
    result as c_long
}

unsafe extern "C" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    let pc = caller();
    let args = [a, b, c, d, e, f];
    if number == libc::SYS_futex && threads::visible() {
        return answer(futex(args, pc));
    }
    if number == libc::SYS_getrandom && random::fill(a, b, pc) {
        return b as c_long;
    }
    match number {
        libc::SYS_gettid => return identity::kernel_thread().into(),
        libc::SYS_getppid => return identity::parent().into(),
        libc::SYS_getpid => return pids::tell(kind::PROCESS, sys::getpid() as i32).into(),
        libc::SYS_pidfd_open => return pidfd::open(a as i32, b as u32, pc).into(),
        libc::SYS_pidfd_send_signal => {
            return pidfd::send(a as i32, b as i32, c, d as u32, pc).into();
        }
        libc::SYS_kill => return signal::send_to_process(a as i32, b as i32, pc).into(),
        libc::SYS_tkill => {
            return signal::send_to_kernel_thread(sys::getpid() as i32, a as i32, b as i32, pc)
                .into();
        }
        libc::SYS_tgkill => {
            let process = pids::meant(a as i32);
            return signal::send_to_kernel_thread(process, b as i32, c as i32, pc).into();
        }
        _ => {}
    }
    if let Some(process) = process::forking_call(number, args) {
        return answer(process);
    }
    let is_unseen = remark_on(number);
    if is_unseen {
        serial::gate(Op::Send, UNSEEN_CALLS, 0, pc);
        channel::send(UNSEEN_CALLS, pc);
    }
    if spawn::is_uncertain(number) {
        ends::nothing_is_certain();
    }
    if number == libc::SYS_exit_group {
        crate::record::end_of_program(pc);
    }
    if !is_unseen {
        return answer(sys::call(number, args));
    }
    let result = match mode() == Mode::Serial {
        true => serial::away_for_outside(|| sys::call(number, args)),
        false => sys::call(number, args),
    };
    serial::gate(Op::Receive, UNSEEN_CALLS, 0, pc);
    event::sync(Op::Receive, UNSEEN_CALLS, pc);
    answer(result)
}

/// Says once that the program makes calls by itself that may order threads or have them wait: what
/// comes of that is not seen. Whether it is such a call.
fn remark_on(number: c_long) -> bool {
    static SAID: AtomicU32 = AtomicU32::new(0);
    const CALLS: [(c_long, &str); 31] = [
        (libc::SYS_io_uring_setup, "io_uring_setup"),
        (libc::SYS_io_uring_enter, "io_uring_enter"),
        (libc::SYS_io_submit, "io_submit"),
        (libc::SYS_io_getevents, "io_getevents"),
        (libc::SYS_futex_waitv, "futex_waitv"),
        (libc::SYS_mq_timedsend, "mq_timedsend"),
        (libc::SYS_mq_timedreceive, "mq_timedreceive"),
        (libc::SYS_msgsnd, "msgsnd"),
        (libc::SYS_msgrcv, "msgrcv"),
        (libc::SYS_semop, "semop"),
        (libc::SYS_semtimedop, "semtimedop"),
        (libc::SYS_flock, "flock"),
        (libc::SYS_read, "read"),
        (libc::SYS_write, "write"),
        (libc::SYS_readv, "readv"),
        (libc::SYS_writev, "writev"),
        (libc::SYS_sendto, "sendto"),
        (libc::SYS_recvfrom, "recvfrom"),
        (libc::SYS_poll, "poll"),
        (libc::SYS_epoll_wait, "epoll_wait"),
        (libc::SYS_epoll_pwait2, "epoll_pwait2"),
        (libc::SYS_mmap, "mmap"),
        (libc::SYS_munmap, "munmap"),
        (libc::SYS_rt_sigtimedwait, "rt_sigtimedwait"),
        (libc::SYS_waitid, "waitid"),
        (libc::SYS_wait4, "wait4"),
        (libc::SYS_io_uring_register, "io_uring_register"),
        (libc::SYS_ppoll, "ppoll"),
        (libc::SYS_epoll_pwait, "epoll_pwait"),
        (libc::SYS_recvmsg, "recvmsg"),
        (libc::SYS_sendmsg, "sendmsg"),
    ];
    let known = CALLS.iter().enumerate().find(|(_, call)| call.0 == number);
    let Some((index, (_, name))) = known.filter(|_| threads::visible()) else {
        return false;
    };
    if SAID.fetch_or(1 << index, Ordering::Relaxed) & 1 << index == 0 {
        let _inside = Inside::enter();
        let mut text = Text::new();
        text.push(MAKES_UNSEEN_CALL);
        text.push(name);
        text.push(" by itself: what that orders, or waits for, is not seen");
        facts::note(text.get());
    }
    true
}

/// A short text.
struct Text {
    bytes: [u8; 128],
    length: usize,
}

impl Text {
    const fn new() -> Self {
        Text {
            bytes: [0; 128],
            length: 0,
        }
    }

    fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = byte;
                self.length += 1;
            }
        }
    }

    fn get(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or("")
    }
}

/// How long a wait is that another process may end, in nanoseconds. Then it ends as if woken, and the program looks for itself.
const SLICE: u64 = 2_000_000;

/// Whether other processes may use the word, too.
fn may_be_shared(operation: usize) -> bool {
    operation as i32 & libc::FUTEX_PRIVATE_FLAG == 0
}

fn futex(args: [usize; 6], pc: usize) -> isize {
    let [word, operation, value, timeout, ..] = args;
    let real = || sys::call(libc::SYS_futex, args);
    match (operation as i32 & libc::FUTEX_CMD_MASK, mode()) {
        (libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET, Mode::Serial) => {
            serial::point_before(Op::FutexWait, word, 0, pc);
            if serial::is_passed_over(Op::FutexWait) {
                return -(libc::EAGAIN as isize);
            }
            // SAFETY: the kernel would read the word, too.
            let held = unsafe { (word as *const u32).read_volatile() };
            if held != value as u32 {
                serial::looked_at(word, held, pc);
                return -(libc::EAGAIN as isize);
            }
            Sync::new(Op::FutexWait, word, pc).record();
            let absolute = operation as i32 & libc::FUTEX_CMD_MASK == libc::FUTEX_WAIT_BITSET;
            let realtime = operation as i32 & libc::FUTEX_CLOCK_REALTIME != 0;
            let clock = if realtime {
                libc::CLOCK_REALTIME
            } else {
                libc::CLOCK_MONOTONIC
            };
            // SAFETY: the program's timeout, as for the kernel.
            let limit = unsafe {
                match timeout {
                    0 => Limit::None,
                    time if absolute => Limit::until(clock, time),
                    time => Limit::After(serial::nanoseconds(time)),
                }
            };
            let slice = match limit {
                Limit::After(time) if time <= SLICE => limit,
                _ if may_be_shared(operation) && endings::others_live() => {
                    process::memory_is_shared();
                    Limit::After(SLICE)
                }
                _ => limit,
            };
            let waited = serial::wait(word, Kind::Futex, slice);
            Sync::new(Op::FutexWoken, word, pc).record();
            match waited {
                Waited::TimedOut if slice != limit => 0,
                Waited::TimedOut => -(libc::ETIMEDOUT as isize),
                Waited::Interrupted => -(libc::EINTR as isize),
                _ => 0,
            }
        }
        (libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET, _) => {
            Sync::new(Op::FutexWait, word, pc).record();
            let result = real();
            Sync::new(Op::FutexWoken, word, pc).record();
            result
        }
        (libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET, Mode::Serial) => {
            serial::point_before(Op::FutexWake, word, 0, pc);
            Sync::new(Op::FutexWake, word, pc).record();
            let woken = serial::wake(word, value) as isize;
            match may_be_shared(operation) {
                // Who waits in other processes does so in the kernel.
                true => woken + real().max(0),
                false => woken,
            }
        }
        (libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET, _) => {
            Sync::new(Op::FutexWake, word, pc).record();
            real()
        }
        // Moving sleepers from one word to another: waking them all is always allowed.
        (libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE, Mode::Serial) => {
            serial::point_before(Op::FutexWake, word, 0, pc);
            Sync::new(Op::FutexWake, word, pc).record();
            serial::wake(word, usize::MAX) as isize
        }
        _ => real(),
    }
}
