//! What hooks and intercepted functions say; written down as the mode of recording asks for.
//!
//! In a parallel recording each function writes into the thread's own buffer; a sequence number
//! orders synchronisation across threads. An access is left out if the same one (address, size,
//! kind) stands in the same *segment*, the stretch between two of the thread's synchronisations:
//! no analysis can tell the two apart by order.

use core::sync::atomic::{Ordering, compiler_fence};

use deadheat_wire::{Op, Order, word};

use super::{Mode, handler, leave_out, mode, next_seq};
use crate::intercept::condition;
use crate::local::{Frame, Inside, Local, local};
use crate::threads::{self, FILTER_ENTRIES};
use crate::{serial, watch};

/// A segment's number as the filter has it: between the tag and the address.
const SEGMENT_ONE: u64 = 1 << word::ADDR_BITS;
const SEGMENT_LIMIT: u64 = 1 << 60;

/// An access by the program that the filter does not have; `KIND` is its tag, `SHIFT` the
/// logarithm of its size. (The hook itself looks into the filter, see `hooks::access`; the access's
/// place there is `entry`, and `stands` what stands there then.)
///
/// # Safety
/// Called by an instrumented program before it accesses `addr`.
#[inline(always)]
pub unsafe fn access<const KIND: u64, const SHIFT: u32>(
    addr: usize,
    pc: usize,
    entry: *mut u64,
    stands: u64,
) {
    // SAFETY: the thread's own state; with room in the cursor the filter is there too.
    unsafe {
        let local = local();
        if !(*local).cursor.has_room() {
            return access_watched::<KIND, SHIFT>(addr, pc, entry, stands);
        }
        *entry = stands;
        (*local).cursor.packed_access(KIND, addr, pc);
    }
}

/// The same for a hook that does not look into the filter.
///
/// # Safety
/// As for `access`.
#[inline(always)]
pub unsafe fn access_unfiltered<const KIND: u64, const SHIFT: u32>(addr: usize, pc: usize) {
    // SAFETY: the thread's own state.
    unsafe {
        let local = local();
        let entry = (*local).filter_entry(KIND, SHIFT, addr);
        let stands = KIND << 60 | (*local).segment | addr as u64;
        access::<KIND, SHIFT>(addr, pc, entry, stands)
    }
}

/// The same in a thread that does not record, but may be watched.
///
/// # Safety
/// As for `access`.
#[inline(never)]
unsafe fn access_watched<const KIND: u64, const SHIFT: u32>(
    addr: usize,
    pc: usize,
    entry: *mut u64,
    stands: u64,
) {
    // SAFETY: the thread's own state; with a watcher the filter is there too.
    unsafe {
        let local = local();
        if (*local).watcher.is_null() {
            return access_slow(KIND, addr, pc);
        }
        *entry = stands;
        watch::access::<KIND, SHIFT>(local, addr, pc)
    }
}

/// The same in the simple mode of watching, where the hook has looked at the memory's state.
///
/// # Safety
/// As for `access`.
#[inline(always)]
pub unsafe fn access_simply<const KIND: u64, const SHIFT: u32>(addr: usize, pc: usize) {
    // SAFETY: the thread's own state; only the simple mode sends a hook here.
    unsafe {
        let local = local();
        if (*local).watcher.is_null() {
            return access_slow(KIND, addr, pc);
        }
        watch::access_simply::<KIND, SHIFT>(local, addr, pc)
    }
}

#[cold]
#[inline(never)]
unsafe fn access_slow(kind: u64, addr: usize, pc: usize) {
    // SAFETY: as for `access`; `ready` makes room.
    unsafe {
        match mode() {
            Mode::Serial if leave_out::has(pc) => {}
            Mode::Serial => serial::access(kind, addr, pc),
            Mode::Watch => {
                condition::notice_cancelled_wait(pc);
                range(
                    kind >= word::WRITE1,
                    addr,
                    1 << ((kind - word::READ1) % 5),
                    pc,
                )
            }
            _ if ready() => (*local()).cursor.packed_access(kind, addr, pc),
            _ => {}
        }
    }
}

/// Starts a new segment: what was recorded before does not cover what comes.
///
/// # Safety
/// `local` is the thread's own state, attached.
#[inline]
pub unsafe fn next_segment(local: *mut Local) {
    // SAFETY: as the caller says.
    unsafe {
        let next = (*local).segment + SEGMENT_ONE;
        (*local).segment = if next < SEGMENT_LIMIT {
            next
        } else {
            (*local).filter().write_bytes(0, FILTER_ENTRIES);
            SEGMENT_ONE
        };
    }
}

/// Whether the running thread can write an event now; makes room if need be.
#[inline]
fn ready() -> bool {
    // SAFETY: the thread's own state.
    unsafe { (*local()).cursor.has_room() || make_room() }
}

#[cold]
#[inline(never)]
fn make_room() -> bool {
    // SAFETY: the thread's own state.
    unsafe {
        let local = local();
        if mode() == Mode::Off {
            (*local).cursor.clear();
            return false;
        }
        if !threads::visible() {
            return false;
        }
        if !(*local).cursor.has_room() {
            let _inside = Inside::enter();
            threads::flush_mine();
            handler::take(Some(threads::my_id()), |_, sync, seq| {
                if (*local).cursor.has_room() {
                    sync.write(seq);
                }
            });
        }
        (*local).cursor.has_room()
    }
}

/// What kind of object is initialised or destroyed, as its record numbers it.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A lock.
    Lock = 0,
    /// A condition.
    Condition = 1,
    /// A barrier.
    Barrier = 2,
    /// A semaphore.
    Semaphore = 3,
}

/// A synchronisation, or anything else that is ordered across threads. The caller has asked
/// [`threads::visible`].
#[derive(Clone, Copy)]
pub struct Sync {
    /// What is done.
    pub op: Op,
    /// To what.
    pub object: usize,
    /// From where.
    pub pc: usize,
    /// The memory order of an atomic access or fence.
    pub order: Order,
    /// The size code of an atomic access.
    pub size_code: u64,
    /// A number that goes with it, such as the size of a block.
    pub operand: Option<u64>,
}

impl Sync {
    /// A synchronisation without further detail.
    pub const fn new(op: Op, object: usize, pc: usize) -> Self {
        Sync {
            op,
            object,
            pc,
            order: Order::Relaxed,
            size_code: 0,
            operand: None,
        }
    }

    /// The beginning or end of an object's life.
    pub const fn life(op: Op, kind: Kind, object: usize, pc: usize) -> Self {
        let mut sync = Sync::new(op, object, pc);
        sync.size_code = kind as u64;
        sync
    }

    /// The same with an operand.
    pub const fn with(mut self, operand: u64) -> Self {
        self.operand = Some(operand);
        self
    }

    /// Records it, as the next in the order.
    pub fn record(self) {
        match mode() {
            // The recording has stopped meanwhile: nothing of this thread comes after the gap.
            // SAFETY: the thread's own state.
            Mode::Off => unsafe { (*local()).cursor.clear() },
            Mode::Parallel => self.record_at(next_seq()),
            Mode::Serial => serial::sync(&self, [0; 2], [0; 2]),
            Mode::Watch => {
                if !watch::sync(&self) {
                    // SAFETY: the thread's own state, which `visible` has found attached.
                    unsafe { next_segment(local()) };
                }
            }
        }
    }

    /// Records it at a place in the order that was taken before (parallel recording).
    pub fn record_at(self, seq: u64) {
        if ready() {
            // SAFETY: `ready` made room and has found the thread known.
            unsafe { self.write(seq) };
        }
    }

    /// Writes it into the thread's own buffer.
    ///
    /// # Safety
    /// There is room, and the thread is known.
    unsafe fn write(&self, seq: u64) {
        // SAFETY: as the caller says.
        unsafe {
            let local = local();
            (*local).cursor.record(
                self.first_word(),
                seq,
                self.pc,
                [self.operand.as_slice(), &[]],
            );
            (*(*local).thread).stream.seq_last = seq;
            next_segment(local);
        }
    }

    /// The first word of its record.
    pub fn first_word(&self) -> u64 {
        let detail = word::sync_detail(self.op, self.order, self.size_code, self.operand.is_some());
        word::tagged(word::SYNC, detail, self.object as u64)
    }
}

/// Records a synchronisation if the running thread is to be seen.
pub fn sync(op: Op, object: usize, pc: usize) {
    if threads::visible() {
        let turn = watch::enforce::turn(op, object, pc);
        Sync::new(op, object, pc).record();
        turn.done(true);
    }
}

/// Records the beginning or end of an object's life if the running thread is to be seen.
pub fn life(op: Op, kind: Kind, object: usize, pc: usize) {
    if threads::visible() {
        Sync::life(op, kind, object, pc).record();
    }
}

/// Whether the user does not want accesses from here.
pub fn is_left_out(pc: usize) -> bool {
    mode() == Mode::Serial && leave_out::has(pc)
}

/// An access to `length` bytes.
pub fn range(write: bool, addr: usize, length: usize, pc: usize) {
    // SAFETY: the thread's own state.
    if length == 0 || !threads::visible() || unsafe { (*local()).backtraces } != 0 {
        return;
    }
    match mode() {
        Mode::Serial if leave_out::has(pc) => return,
        Mode::Serial => return serial::range(write, addr, length, pc),
        Mode::Watch => return watch::range(write, addr, length, pc),
        _ => {}
    }
    if ready() {
        let kind = if write {
            word::ext::RANGE_WRITE
        } else {
            word::ext::RANGE_READ
        };
        // SAFETY: `ready` made room.
        unsafe {
            let first = word::tagged(word::EXT, kind, addr as u64);
            (*local())
                .cursor
                .record(first, length as u64, pc, [&[], &[]]);
        }
    }
}

/// The running thread's first event; `pc` is its function.
pub fn thread_begin(pc: usize) {
    // SAFETY: the thread is attached.
    let id = unsafe { threads::my_id() };
    Sync::new(Op::Begin, id as usize, pc).record();
}

/// The running thread's stack is new memory, though another may have had it before: to readers it
/// is a block like any other. (Watching clears it by itself.)
pub fn new_stack([low, top]: [usize; 2]) {
    if low != 0 && mode() != Mode::Watch {
        Sync::new(Op::Alloc, low, 0)
            .with((top - low) as u64)
            .record();
    }
}

/// The running thread's last event.
pub fn thread_end() {
    // SAFETY: the thread is attached, and its own state.
    unsafe {
        let local = local();
        Sync::new(Op::End, threads::my_id() as usize, (*local).cursor.last_pc).record();
    }
}

/// A function was entered: from `caller`, its own code is near `callee`, its stack at `sp`.
///
/// # Safety
/// Called by an instrumented program.
#[inline(always)]
pub unsafe fn enter(caller: usize, callee: usize, sp: usize) {
    // SAFETY: the thread's own state; an attached thread's `frame` lies above its sentinel.
    unsafe {
        let local = local();
        let frame = (*local).frame;
        let watched = !(*local).watcher.is_null();
        if !((*local).cursor.has_room() || watched) || frame >= (*local).frames_end {
            return enter_slow(caller, callee, sp);
        }
        if (*frame.sub(1)).sp <= sp {
            return enter_slow(caller, callee, sp);
        }
        *frame = Frame {
            caller,
            sp,
            last_pc: if watched {
                callee
            } else {
                (*local).cursor.last_pc
            },
            node: 0,
        };
        (*local).frame = frame.add(1);
        if !watched {
            (*local).cursor.enter(caller, callee);
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn enter_slow(caller: usize, callee: usize, sp: usize) {
    // SAFETY: as for `enter`.
    unsafe {
        condition::notice_cancelled_wait(callee);
        if !threads::visible() {
            return;
        }
        let local = local();
        abandon_frames(sp);
        let frame = (*local).frame;
        if frame >= (*local).frames_end {
            (*local).deeper += 1; // Its exit is not recorded either.
            return;
        }
        match mode() {
            kind @ (Mode::Serial | Mode::Watch) => {
                *frame = Frame {
                    caller,
                    sp,
                    last_pc: callee,
                    node: 0,
                };
                (*local).frame = frame.add(1);
                if kind == Mode::Serial {
                    // The outermost function has no caller's frame above it.
                    let above = (*frame.sub(1)).sp;
                    let high = if above == usize::MAX { sp } else { above };
                    serial::enter(caller, callee, [sp, high]);
                }
            }
            _ if ready() => {
                *frame = Frame {
                    caller,
                    sp,
                    last_pc: (*local).cursor.last_pc,
                    node: 0,
                };
                (*local).frame = frame.add(1);
                (*local).cursor.enter(caller, callee);
            }
            _ => {}
        }
    }
}

/// A function is left; the stack is at `sp`.
///
/// # Safety
/// Called by an instrumented program.
#[inline(always)]
pub unsafe fn leave(sp: usize) {
    // SAFETY: as for `enter`; `cur - 1` is at worst the end of the page before the buffer.
    unsafe {
        let local = local();
        let watched = !(*local).watcher.is_null();
        if !(*local).cursor.has_room() && !watched {
            return leave_slow(sp);
        }
        let frame = (*local).frame.sub(1);
        if (*frame).sp == usize::MAX || (*frame.sub(1)).sp < sp || (*local).deeper != 0 {
            return leave_slow(sp);
        }
        (*local).frame = frame;
        if watched {
            return;
        }
        let last_word = (*local).cursor.cur.sub(1);
        if word::tag(*last_word) == word::ENTER {
            // Nothing was recorded inside: the entry is taken back, the cursor first, for whoever
            // looks from outside.
            (*local).cursor.cur = last_word;
            compiler_fence(Ordering::Release);
            *last_word = 0;
            (*local).cursor.last_pc = (*frame).last_pc;
        } else {
            (*local).cursor.leave((*frame).caller);
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn leave_slow(sp: usize) {
    if !threads::visible() {
        return;
    }
    // SAFETY: as for `leave`.
    unsafe {
        let local = local();
        if (*local).deeper != 0 {
            (*local).deeper -= 1;
            return;
        }
        // Frames below the one being left were abandoned; it is the last with a smaller sp.
        while (*(*local).frame.sub(1)).sp != usize::MAX && (*(*local).frame.sub(2)).sp < sp {
            pop_frame();
        }
        pop_frame();
    }
}

/// Leaves all frames below `sp`: a jump out of them, or an entry at or above their stack
/// pointers, shows that they are gone.
pub fn abandon_frames(sp: usize) {
    // SAFETY: the thread's own state, attached: the sentinel ends the loop.
    unsafe {
        while (*(*local()).frame.sub(1)).sp <= sp {
            (*local()).deeper = 0;
            pop_frame();
        }
    }
}

unsafe fn pop_frame() {
    // SAFETY: as for `leave`; the sentinel stays.
    unsafe {
        let local = local();
        let frame = (*local).frame.sub(1);
        if (*frame).sp == usize::MAX {
            return;
        }
        (*local).frame = frame;
        match mode() {
            Mode::Serial => serial::leave((*frame).caller, (*frame).node != 0),
            Mode::Watch => {}
            _ if ready() => (*local).cursor.leave((*frame).caller),
            _ => {}
        }
    }
}
