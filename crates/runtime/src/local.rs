//! What each thread of the program has at hand on every hook's path.
//!
//! Rust's own thread-locals are not usable here: without the standard library there are none on
//! stable, and a general-dynamic one would call into the loader, which may allocate. This one is
//! a symbol in `.tbss` with initial-exec access: two instructions, zeroed for every new thread
//! by the loader, there before the first hook can run.

use core::arch::{asm, global_asm};

use deadheat_wire::word::WRITE1;

use crate::intercept::Attempt;
use crate::record::Cursor;
use crate::threads::{FILTER_ENTRIES, Thread};
use crate::watch::Watcher;

global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".p2align 6",
    ".globl deadheat_local",
    ".hidden deadheat_local",
    ".type deadheat_local,@object",
    ".size deadheat_local,{size}",
    "deadheat_local: .zero {size}",
    ".popsection",
    size = const size_of::<Local>(),
);

/// A thread's own state. All zero before the thread is known to the recorder, and after its end:
/// then an empty cursor sends every hook to its slow path, which looks closer.
#[repr(C)]
pub struct Local {
    /// Where the thread's own events go (parallel recording).
    pub cursor: Cursor,
    /// Which accesses of this segment are recorded already: the table's distance from
    /// [`NO_FILTER`], so that a thread that has none finds one in which nothing stands.
    filter: usize,
    /// One less than how many of the filter's entries are in use, in each half.
    filter_mask: usize,
    /// The segment's number, shifted to where a filter entry has it.
    pub segment: u64,
    /// The next free entry of the shadow stack.
    pub frame: *mut Frame,
    /// One past its last entry.
    pub frames_end: *mut Frame,
    /// How many functions were entered that the shadow stack has no room for.
    pub deeper: usize,
    /// Who called the intercepted function; set by its trampoline.
    pub caller: usize,
    /// What the thread is watched with; null if it is not. See [`Local::set_watcher`].
    pub watcher: *mut Watcher,
    /// The states of two words that only this thread has accessed, if it is watched in the simple mode.
    owned: u64,
    /// What two shared ones say then about which its reads, and its writes, change nothing: of many
    /// threads, and of this one alone.
    pub settled: [[u64; 2]; 2],
    /// The thread, once it is known.
    pub thread: *mut Thread,
    /// Above zero while the thread is inside the runtime: what it calls there is not its own.
    pub inside: u32,
    /// How many signal handlers of the program are running.
    pub handlers: u32,
    /// Where the outermost running handler's stack begins.
    pub handler_frame: usize,
    /// The cursor that the outermost running handler has put aside.
    pub interrupted: [*mut u64; 2],
    /// The same for what it is watched with.
    pub interrupted_watcher: *mut Watcher,
    /// The condition and lock of a wait in the C library, to notice that it was cancelled.
    pub cancelled_wait: [usize; 2],
    /// The `pthread_once` that the thread is in.
    pub once: *const Attempt,
    /// How many backtraces are being made; what is copied for them is not recorded.
    pub backtraces: u32,
    /// What is left of the memory that stands in for the heap, from where to where; see `intercept::spare`.
    pub spare: [usize; 2],
}

/// A filter without entries, for threads that have none; never written to.
pub static NO_FILTER: [u64; FILTER_ENTRIES] = [0; FILTER_ENTRIES];

impl Local {
    /// The thread's filter.
    #[inline(always)]
    pub fn filter(&self) -> *mut u64 {
        (&raw const NO_FILTER as usize).wrapping_add(self.filter) as *mut u64
    }

    /// Gives the thread a filter.
    pub fn set_filter(&mut self, filter: *mut u64) {
        self.filter = (filter as usize).wrapping_sub(&raw const NO_FILTER as usize);
        self.use_filter(FILTER_ENTRIES / 2);
    }

    /// Uses so many entries, a power of two, for reads and as many for writes. What stands in others
    /// is not looked at.
    pub fn use_filter(&mut self, entries: usize) {
        self.filter_mask = entries - 1;
    }

    /// What the thread is watched with from now on; null for nothing.
    ///
    /// # Safety
    /// It is the thread's own, or null.
    pub unsafe fn set_watcher(&mut self, watcher: *mut Watcher) {
        self.watcher = watcher;
        self.owned = 0;
        // SAFETY: as the caller says; a watcher's pages stay.
        if let Some(watcher) = unsafe { watcher.as_ref() } {
            self.owned = watcher.owned();
            self.settled = watcher.settled;
        }
    }

    /// The thread is watched no more; any thread may say so.
    ///
    /// # Safety
    /// `local` is the state of a thread that has not ended.
    pub unsafe fn stop_watching(local: *mut Local) {
        // SAFETY: as the caller says. The thread may be between two looks: it knows both answers.
        unsafe {
            (&raw mut (*local).watcher).write_volatile(core::ptr::null_mut());
            (&raw mut (*local).owned).write_volatile(0);
        }
    }

    /// The filter's entry for an access: reads have its lower half and writes its upper one.
    #[inline(always)]
    pub fn filter_entry(&self, kind: u64, shift: u32, addr: usize) -> *mut u64 {
        let half = if kind < WRITE1 { 0 } else { WRITES };
        // The mask is below half of the entries.
        self.filter()
            .wrapping_add(half + (addr >> shift & self.filter_mask))
    }
}

/// Byte offsets, for the hooks that are written in assembly.
pub const SEGMENT: usize = core::mem::offset_of!(Local, segment);
/// Of [`Local::filter`].
pub const FILTER: usize = core::mem::offset_of!(Local, filter);
/// Of [`Local::filter_mask`].
pub const FILTER_MASK: usize = core::mem::offset_of!(Local, filter_mask);
/// Of [`Local::owned`].
pub const OWNED: usize = core::mem::offset_of!(Local, owned);
/// Of [`Local::settled`].
pub const SETTLED: usize = core::mem::offset_of!(Local, settled);
/// The first entry for writes.
pub const WRITES: usize = FILTER_ENTRIES / 2;
/// Byte offset of [`Local::caller`], for the trampolines.
pub const CALLER: usize = core::mem::offset_of!(Local, caller);

/// An entry of the shadow stack.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Frame {
    /// Where the function was called from.
    pub caller: usize,
    /// The stack pointer at its entry, to notice frames that were left without a hook.
    pub sp: usize,
    /// The pc of the event before its entry, to take the entry back. When watching: in its own code.
    pub last_pc: usize,
    /// The node of the call in the tree of calls (watching); 0 if it is not known yet.
    pub node: usize,
}

/// This thread's state. The pointer is valid until the thread ends.
#[inline(always)]
pub fn local() -> *mut Local {
    let local: *mut Local;
    // SAFETY: the symbol is defined above with the size of `Local`, aligned; the two
    // instructions are the ABI's initial-exec sequence and only read.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + deadheat_local@GOTTPOFF]",
            "add {0}, qword ptr fs:[0]",
            out(reg) local,
            options(pure, readonly, nostack),
        );
    }
    local
}

/// Marks the thread as inside the runtime until it is dropped.
pub struct Inside(*mut Local);

impl Inside {
    /// Enters.
    #[inline]
    pub fn enter() -> Self {
        let local = local();
        // SAFETY: a thread's own state, only touched by the thread itself.
        unsafe { (*local).inside += 1 };
        Inside(local)
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `enter`; green threads keep their thread-local storage when they move
        // from one kernel thread to another.
        unsafe { (*self.0).inside -= 1 };
    }
}
