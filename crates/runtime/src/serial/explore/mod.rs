//! One run of a search: who gets the turn by the tool's wishes, and what everybody does, noted for the tool.
//!
//! * [`births`]: numbers of threads.
//! * [`board`]: the memory that is shared with the tool.
//! * [`calls`]: the calls that led to an operation.
//! * [`server`]: the program stands still, and copies of it run.
//! * [`pages`]: code that copies need not ask the kernel for.
//! * [`processor`]: the one that copies run on.
//! * [`spin`]: threads that ask the same over and over.
//! * [`outside`]: what copies may not do to the world.
//! * this file: turns and notes. Who is next is the scheduler's business: see `scheduler::search`.
//!
//! A *transition* is what a thread does from the moment it gets the turn until it comes to the next operation that others can
//! notice. Only one that does something counts: an attempt at a lock that another thread has is nothing yet.

mod births;
mod board;
mod calls;
pub mod outside;
mod pages;
pub mod processor;
pub mod server;
pub mod spin;

use deadheat_wire::Op;
use deadheat_wire::explore::{
    MOST_NOTED, MOST_THREADS, Noted, effect, ending, is_noted, noted, standing,
};

use self::board::Shared;
use super::replay::Deed;
use crate::sys;
use crate::threads::{self, Thread};

/// How far a search has come in this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// There is none.
    Off,
    /// The program is on its way to where it begins.
    Before,
    /// This is a run of it.
    On,
}

/// A run's state.
pub struct Explorer {
    /// How far.
    pub phase: Phase,
    board: Option<Shared>,
    /// How many turns are taken.
    turn: usize,
    /// The running thread's transition has begun.
    is_begun: bool,
    /// Which possibility the running transition takes.
    variant: u32,
    /// A write whose value is not there yet: its number, its bytes, and what they held.
    unsettled: Option<(usize, usize, usize, u64)>,
    /// How often something has changed that others may have read.
    pub changes: u64,
}

impl Explorer {
    /// No search.
    pub const fn none() -> Self {
        Explorer {
            phase: Phase::Off,
            board: None,
            turn: 0,
            is_begun: false,
            variant: 0,
            unsettled: None,
            changes: 0,
        }
    }

    /// Takes part in the search whose board is at `path`.
    pub fn open(&mut self, path: &[u8]) {
        if self.phase == Phase::Off {
            self.board = Shared::open(path);
            if self.board.is_some() {
                self.phase = Phase::Before;
            }
        }
    }

    /// A process that the program has forked takes no part.
    pub fn leave(&mut self) {
        *self = Explorer::none();
    }

    /// Whether nothing is to be recorded.
    pub fn is_silent(&self) -> bool {
        self.board.is_some_and(|board| board.board().recorded == 0)
    }

    /// Whether a search is to begin in this process.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.phase == Phase::Before
    }

    /// Whether this is a run.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.phase == Phase::On
    }

    /// The thread whose turn it is by the tool's wish.
    pub fn wanted(&self) -> Option<u32> {
        self.board?.turn(self.turn).map(|turn| turn.thread)
    }

    /// The number of a creator's next thread.
    pub fn number_of_child(&self, creator: u32, earlier: u32, first: u32) -> Option<u32> {
        let number = births::number(self.board?, creator, earlier, first);
        if number.is_none() {
            threads::count_from(MOST_THREADS as u32);
        }
        number
    }

    /// Whether the next turn repeats one of another run.
    pub fn repeats(&self) -> bool {
        let repeated = self.board.map_or(0, |board| board.board().repeated);
        self.turn < repeated as usize
    }

    /// The thread that goes first if nobody's turn is wished.
    pub fn hint(&self) -> Option<u32> {
        self.board?.board().first.checked_sub(1)
    }

    /// Whether a thread goes only when no other can.
    pub fn is_last(&self, thread: u32) -> bool {
        let last = self.board.map_or(0, |board| board.board().last);
        thread < 64 && last & 1 << thread != 0
    }

    /// Whether a thread stays where it is.
    pub fn is_parked(&self, thread: u32) -> bool {
        self.board
            .is_some_and(|board| board.board().parked == thread + 1)
    }

    /// A thread gets the turn.
    pub fn grant(&mut self) {
        self.is_begun = false;
    }

    /// A thread is about to do something.
    pub fn announce(&mut self, me: *mut Thread, deed: Option<Deed>) {
        self.settle();
        // SAFETY: the running thread's own record.
        let id = unsafe { (*me).id };
        let Some(board) = self.board else {
            return;
        };
        if let Some(place) = board.place(id) {
            board.board().threads = board.board().threads.max(id + 1);
            place.standing = standing::READY;
            place.next = deed.map_or(Noted::default(), |deed| Noted {
                calls: calls::led_to(me, board),
                ..note(id, &deed, 0, 0)
            });
        }
        if let Some(deed) = deed {
            board.board().at = deed.pc as u64;
        }
    }

    /// A thread does something. `value`: what it reads, or what an object stood at.
    pub fn happened(&mut self, me: *mut Thread, deed: Deed, value: Option<u64>, tried: bool) {
        self.settle();
        let (Some(board), Some(op)) = (self.board, Op::from_number(deed.op)) else {
            return;
        };
        if !is_noted(op) {
            return;
        }
        // SAFETY: the running thread's own record.
        let (id, task) = unsafe { ((*me).id, &mut (*me).task) };
        task.deeds += 1;
        let head = board.board();
        let index = head.noted as usize;
        if id as usize >= MOST_THREADS || index >= MOST_NOTED {
            self.end(ending::LONG);
        }
        let mut flags = if tried { noted::TRIED } else { 0 };
        if !self.is_begun {
            self.is_begun = true;
            flags |= noted::FIRST;
            self.variant = board.turn(self.turn).map_or(0, |turn| turn.variant);
            self.turn += 1;
            head.transitions += 1;
        }
        let mut deed = deed;
        if let Some(place) = board.place(id) {
            head.threads = head.threads.max(id + 1);
            if op == Op::Free {
                // Its size was said before.
                deed.size = deed.size.max(place.next.size as usize);
            }
            place.standing = standing::READY;
            place.next = Noted::default();
        }
        let is_plain = deed.op <= Op::Write as u8;
        let shown = match value {
            Some(value) => value,
            // SAFETY: the program accesses these bytes.
            None if is_plain => unsafe { load(deed.addr, deed.size) },
            None => 0,
        };
        match op {
            // What the C library reads for the program is no loop of the program's.
            Op::Read if deed.is_range => {}
            Op::Read
            | Op::AtomicRead
            | Op::Refused
            | Op::ReadRefused
            | Op::TakeRefused
            | Op::ReceiveRefused => {
                let what = (deed.pc as u64).rotate_left(32) ^ deed.addr as u64;
                let what = what.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ shown;
                task.spin.read(what, self.changes);
            }
            Op::Write => self.unsettled = Some((index, deed.addr, deed.size, shown)),
            Op::Fence | Op::Alloc => {}
            // An exchange may leave the memory as it was.
            Op::AtomicRmw if tried => {
                let what = deed.pc as u64 ^ (deed.addr as u64).rotate_left(17) ^ shown;
                task.spin.read(what, self.changes);
            }
            _ => self.changes += 1,
        }
        if op == Op::AtomicRmw {
            flags &= !noted::TRIED;
        }
        if let Some(place) = board.noted(index) {
            *place = Noted {
                calls: calls::led_to(me, board),
                ..note(id, &deed, shown, flags)
            };
            // The number of operations is raised last: should the process die, what stands before it is whole.
            core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::Release);
            head.noted = index as u32 + 1;
        }
        if head.transitions >= head.longest {
            self.end(ending::LONG);
        }
    }

    /// One of several waiters is woken by the running transition: which.
    pub fn waiter(&mut self, waiters: usize) -> usize {
        let Some(board) = self.board else {
            return 0;
        };
        let chosen = (self.variant as usize).min(waiters - 1);
        let mut index = board.board().noted as usize;
        while let Some(before) = index.checked_sub(1) {
            index = before;
            if let Some(first) = board.noted(index)
                && first.flags & noted::FIRST != 0
            {
                first.variant = chosen as u8;
                first.variants = waiters.min(255) as u8;
                break;
            }
        }
        chosen
    }

    /// Looks at what was written, now that it is there.
    pub fn settle(&mut self) {
        if let Some((index, addr, size, before)) = self.unsettled.take()
            && let Some(note) = self.board.and_then(|board| board.noted(index))
        {
            // SAFETY: the program has written these bytes.
            note.value = unsafe { load(addr, size) };
            if note.value != before || size > 8 {
                self.changes += 1;
            }
        }
    }

    /// Says where a thread is when the run is over. One that has not run yet has said nothing so far.
    pub fn stands(&mut self, thread: u32, how: u32) {
        let Some(board) = self.board else {
            return;
        };
        if let Some(place) = board.place(thread) {
            let head = board.board();
            head.threads = head.threads.max(thread + 1);
            place.standing = how;
        }
    }

    /// Everybody waits, and only the world outside could end that: the run ends, and the tool is
    /// told.
    pub fn waits_outside(&mut self) -> ! {
        if let Some(board) = self.board {
            board.board().effects |= effect::WAITING;
        }
        self.end(ending::OUTSIDE)
    }

    /// A destroyed mutex was taken; whether nothing is recorded.
    pub fn met_misuse(&mut self) -> bool {
        if let Some(board) = self.board {
            board.board().effects |= effect::MISUSE;
        }
        self.is_silent()
    }

    /// A timer has fired, which could have been at any time.
    pub fn met_timer(&mut self) {
        if let Some(board) = self.board {
            board.board().effects |= effect::TIMERS;
        }
    }

    /// A thread lets others go first, if nobody says otherwise.
    pub fn yielded(&mut self, me: *mut Thread) {
        if let Some(board) = self.board {
            // SAFETY: the running thread's own record.
            let id = unsafe { (*me).id };
            board.board().yielded |= 1 << id.min(u64::BITS - 1);
        }
    }

    /// A join was refused because of another.
    pub fn refused_join(&mut self) {
        if let Some(board) = self.board {
            board.board().effects |= effect::REFUSED_JOINS;
        }
    }

    /// A thread has set a handler that others may meet.
    pub fn set_handler(&mut self) {
        if let Some(board) = self.board {
            board.board().effects |= effect::HANDLERS;
        }
    }

    /// The turn that is wished for cannot be taken.
    pub fn refuse(&mut self) -> ! {
        if let Some(board) = self.board {
            board.board().refused = self.turn as u32;
        }
        self.end(ending::REFUSED)
    }

    /// The run is over. The program itself is not asked.
    pub fn end(&mut self, how: u32) -> ! {
        self.told(how);
        sys::exit_group(0)
    }

    /// Says how it ended.
    pub fn told(&mut self, how: u32) {
        if let Some(board) = self.board {
            board.board().ending = how;
        }
        self.phase = Phase::Off;
    }
}

fn note(thread: u32, deed: &Deed, value: u64, flags: u8) -> Noted {
    Noted {
        thread,
        op: deed.op,
        flags,
        variant: 0,
        variants: 1,
        object: deed.addr as u64,
        pc: deed.pc as u64,
        value,
        size: deed.size.min(u32::MAX as usize) as u32,
        order: deed.order.into(),
        calls: 0,
    }
}

/// The first eight bytes of the program's memory there, or less.
///
/// # Safety
/// They can be read.
unsafe fn load(addr: usize, size: usize) -> u64 {
    let mut value = [0; 8];
    for (at, byte) in value.iter_mut().enumerate().take(size) {
        // SAFETY: as the caller says; the compiler knows nothing of what changes it.
        *byte = unsafe { ((addr + at) as *const u8).read_volatile() };
    }
    u64::from_le_bytes(value)
}
