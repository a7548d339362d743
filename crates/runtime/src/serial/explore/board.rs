//! The memory that is shared with the tool: see [`deadheat_wire::explore`].

use core::sync::atomic::{AtomicU32, Ordering};

use deadheat_wire::explore::{
    BIRTHS_AT, BYTES, Birth, Board, CALLS_AT, Call, MAGIC, MOST_CALLS, MOST_NOTED, MOST_THREADS,
    MOST_TURNS, NOTED_AT, Noted, PLACES_AT, Place, TURNS_AT, Turn, VERSION,
};

use crate::{message, sys};

/// The board, mapped. It stays as long as the process.
#[derive(Clone, Copy)]
pub struct Shared {
    start: *mut u8,
}

impl Shared {
    /// Maps the board at `path`, which ends with a zero byte. `None` if it is another process's already; one that cannot be used is said.
    pub fn open(path: &[u8]) -> Option<Self> {
        let file = sys::open(path, libc::O_RDWR | libc::O_CLOEXEC, 0);
        if file < 0 {
            message::say(format_args!(
                "the search's board cannot be opened (error {})",
                -file
            ));
            return None;
        }
        let start = sys::map(BYTES, file as i32, 0);
        sys::close(file as i32);
        if start.is_null() {
            message::say(format_args!("the search's board cannot be mapped"));
            return None;
        }
        let shared = Shared { start };
        let board = shared.board();
        if board.magic != MAGIC || board.version != VERSION {
            message::say(format_args!("the search's board is damaged"));
            return None;
        }
        // Whoever comes first has it: a program that this one starts finds it taken.
        let owner = shared.atomic(&raw mut shared.board().process);
        let mine = owner.compare_exchange(0, sys::getpid(), Ordering::AcqRel, Ordering::Acquire);
        mine.is_ok().then_some(shared)
    }

    /// The head. What it holds changes only when this process writes, or between two runs.
    #[allow(
        clippy::mut_from_ref,
        reason = "the memory is shared with another process anyway"
    )]
    pub fn board<'a>(self) -> &'a mut Board {
        // SAFETY: mapped, aligned like a page, plain numbers; only the thread that has the turn comes here, and
        // the tool writes only while nothing runs.
        unsafe { &mut *self.start.cast() }
    }

    /// One of the head's words that both wait for.
    pub fn atomic<'a>(self, word: *mut u32) -> &'a AtomicU32 {
        // SAFETY: within the mapping, aligned, and it stays.
        unsafe { AtomicU32::from_ptr(word) }
    }

    /// The word that says whose move it is.
    pub fn state<'a>(self) -> &'a AtomicU32 {
        self.atomic(&raw mut self.board().state)
    }

    /// A turn, if there are so many.
    pub fn turn(self, index: usize) -> Option<Turn> {
        let count = (self.board().turns as usize).min(MOST_TURNS);
        // SAFETY: within the mapping.
        (index < count)
            .then(|| unsafe { self.start.add(TURNS_AT).cast::<Turn>().add(index).read() })
    }

    /// A thread's place, if its number is small enough.
    pub fn place<'a>(self, thread: u32) -> Option<&'a mut Place> {
        // SAFETY: within the mapping; see `board`.
        ((thread as usize) < MOST_THREADS).then(|| unsafe {
            &mut *self
                .start
                .add(PLACES_AT)
                .cast::<Place>()
                .add(thread as usize)
        })
    }

    /// An operation that was noted, or has room.
    pub fn noted<'a>(self, index: usize) -> Option<&'a mut Noted> {
        // SAFETY: within the mapping; see `board`.
        (index < MOST_NOTED)
            .then(|| unsafe { &mut *self.start.add(NOTED_AT).cast::<Noted>().add(index) })
    }

    /// Whose thread one is, if its number is small enough.
    pub fn birth<'a>(self, thread: u32) -> Option<&'a mut Birth> {
        // SAFETY: within the mapping; see `board`.
        ((thread as usize) < MOST_THREADS).then(|| unsafe {
            &mut *self
                .start
                .add(BIRTHS_AT)
                .cast::<Birth>()
                .add(thread as usize)
        })
    }

    /// An entry of the table of calls.
    pub fn call<'a>(self, index: usize) -> &'a mut Call {
        let index = index % MOST_CALLS;
        // SAFETY: within the mapping; see `board`.
        unsafe { &mut *self.start.add(CALLS_AT).cast::<Call>().add(index) }
    }
}
