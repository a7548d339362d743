//! The program stands still where the search begins, and for every request a copy of it runs.
//!
//! A copy is made by `clone` as `fork` makes it, but without what glibc's `fork` does: that would recycle the stacks of all other threads, and they
//! are still in use, by the contexts of this one kernel thread. What a copy lacks are the kernel threads at home. They are made again when a context goes
//! home, on its own stack and with its own thread-local memory, see `turn::carrier`.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use deadheat_wire::explore::{OUTPUT, state};

use super::board::Shared;
use super::{Explorer, Phase, outside, pages, processor};
use crate::local::local;
use crate::options::{self, MAX_PATH};
use crate::serial::{context, turn};
use crate::{record, sys};

/// Which copy this is; homes that were made by an earlier one are not there. 0: the program itself.
static COPY: AtomicU32 = AtomicU32::new(0);

/// Whether the program has something in the kernel that all copies would have in common: pipes and what is left in them, queues, semaphores,
/// locks on files. Then each run is made from the beginning.
static SHARES: AtomicBool = AtomicBool::new(false);

/// The program makes such a thing.
pub fn has_in_common() {
    SHARES.store(true, Ordering::Relaxed);
}

/// After so many copies another processor may be better.
const STAY: u32 = 64;

/// Which copy this is.
pub fn copy() -> u32 {
    COPY.load(Ordering::Relaxed)
}

/// Whether runs can be made as copies: what is under way in the kernel cannot be copied.
fn can_copy(away: usize) -> bool {
    // SAFETY: this thread's own state, and its record if it has one.
    let tid = unsafe {
        let thread = (*local()).thread;
        match thread.is_null() {
            true => return false,
            false => (*thread).tid.load(Ordering::Relaxed),
        }
    };
    let shares = SHARES.load(Ordering::Relaxed);
    turn::is_green() && away == 0 && !shares && turn::is_on_carrier() && context::find_number(tid)
}

impl Explorer {
    /// The search begins here. Returns in every run of it.
    pub fn begin(&mut self, away: usize) {
        self.phase = Phase::On;
        let Some(board) = self.board else {
            return;
        };
        let head = board.board();
        if head.snapshots == 0 || !can_copy(away) {
            head.snapshots = 0;
            board.state().store(state::RUN, Ordering::Release);
            return;
        }
        head.snapshots = 2;
        turn::pause(true);
        leave_no_core();
        record::leave_to_copies();
        for (fd, suffix) in (1..).zip(OUTPUT) {
            print_to(fd, suffix);
        }
        pages::keep();
        outside::prepare(Some(board));
        head.contained = u32::from(outside::is_watched());
        board.state().store(state::READY, Ordering::Release);
        sys::futex_wake_shared(board.state());
        let mut number = 0;
        loop {
            let looks_around = number % STAY == 0;
            if looks_around {
                processor::roam();
            }
            wait_for_request(board);
            if looks_around {
                processor::stay();
            }
            number += 1;
            let process = clone(number);
            if process == 0 {
                outside::contain();
                turn::pause(false);
                return;
            }
            let mut status = 0i32;
            if process > 0 {
                head.process = process as u32;
                let wait = [process as usize, &raw mut status as usize, 0, 0, 0, 0];
                while sys::call(libc::SYS_wait4, wait) == -(libc::EINTR as isize) {}
            } else {
                // There is no process to be had: as if it had been killed at once.
                status = libc::SIGKILL;
            }
            head.status = status as u32;
            board.state().store(state::DONE, Ordering::Release);
            sys::futex_wake_shared(board.state());
        }
    }
}

/// Makes a copy of the program: as `clone` answers.
fn clone(number: u32) -> isize {
    let clone = [libc::SIGCHLD as usize, 0, outside::PASS, 0, 0, 0];
    let process = sys::call(libc::SYS_clone, clone);
    if process == 0 {
        COPY.store(number, Ordering::Relaxed);
        let die = [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize];
        sys::call(libc::SYS_prctl, [die[0], die[1], 0, 0, 0, 0]);
    }
    process
}

/// Copies that crash leave nothing behind.
fn leave_no_core() {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    let core = libc::RLIMIT_CORE as usize;
    sys::call(
        libc::SYS_setrlimit,
        [core, &raw const none as usize, 0, 0, 0, 0],
    );
}

/// A schedule has an offshoot here: a copy of the program follows it, and the program waits until that has ended. True in the
/// copy. Where the program cannot be copied, nothing happens: the offshoot has no verdict then.
pub fn copy_for_offshoot(number: usize, away: usize) -> bool {
    /// How long a copy may take, in milliseconds: it has a small part of the run to do.
    const PATIENCE: u64 = 5_000;
    /// Between two looks at it, in nanoseconds, at most.
    const LONGEST: usize = 2_000_000;
    /// So many copies may go nowhere; after that there are no more.
    const MOST_HUNG: u32 = 3;
    static HUNG: AtomicU32 = AtomicU32::new(0);
    if HUNG.load(Ordering::Relaxed) >= MOST_HUNG || !can_copy(away) {
        return false;
    }
    turn::pause(true);
    let process = clone(number as u32 + 1);
    if process == 0 {
        leave_no_core();
        record::leave_to_copies();
        outside::prepare(None);
        outside::contain();
        turn::pause(false);
        return true;
    }
    let since = sys::milliseconds();
    let (mut nap, mut is_over) = (50_000, process < 0);
    while !is_over {
        if nap > 0 && sys::milliseconds() - since > PATIENCE {
            nap = 0;
            HUNG.fetch_add(1, Ordering::Relaxed);
            sys::call(
                libc::SYS_kill,
                [process as usize, libc::SIGKILL as usize, 0, 0, 0, 0],
            );
        }
        let no_hang = libc::WNOHANG as usize;
        let ended = sys::call(libc::SYS_wait4, [process as usize, 0, no_hang, 0, 0, 0]);
        is_over = ended != 0 && ended != -(libc::EINTR as isize);
        if !is_over {
            let time = [0usize, nap.max(50_000)];
            sys::call(libc::SYS_nanosleep, [time.as_ptr() as usize, 0, 0, 0, 0, 0]);
            nap = (nap * 2).min(LONGEST);
        }
    }
    turn::pause(false);
    false
}

/// Sleeps until a run is asked for. Ends the process if there is nobody to ask.
fn wait_for_request(board: Shared) {
    loop {
        let now = board.state().load(Ordering::Acquire);
        if now == state::RUN {
            return;
        }
        sys::futex_wait_shared(board.state(), now, 500);
        if board.state().load(Ordering::Acquire) == now && is_tool_gone() {
            sys::exit_group(0);
        }
    }
}

/// Whether the tool does not live any more.
fn is_tool_gone() -> bool {
    let tool = options::TOOL.get() as usize;
    let gone = -(libc::ESRCH as isize);
    tool != 0 && sys::call(libc::SYS_kill, [tool, 0, 0, 0, 0, 0]) == gone
}

/// Lets copies print into a file beside the board. The tool empties it between two of them.
fn print_to(fd: usize, suffix: &str) {
    let board = options::EXPLORE.path().unwrap_or(b"\0");
    let mut path = [0; MAX_PATH];
    let end = board.len() - 1;
    if end + suffix.len() >= MAX_PATH {
        return;
    }
    path[..end].copy_from_slice(&board[..end]);
    path[end..end + suffix.len()].copy_from_slice(suffix.as_bytes());
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_APPEND | libc::O_CLOEXEC;
    let file = sys::open(&path[..=end + suffix.len()], flags, 0o600);
    if file >= 0 && file as usize != fd {
        sys::call(libc::SYS_dup3, [file as usize, fd, 0, 0, 0, 0]);
        sys::close(file as i32);
    }
}
