//! The program's threads, as the runtime knows them.
//!
//! A thread gets its number from its creator, before it runs, so that numbers do not depend on
//! luck. Its record lives until the program ends or, once the thread has ended and nobody can
//! ask for it any more, is used again; so do the pages behind its shadow stack and filter.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use deadheat_wire::{Op, meta};

use crate::inputs::Inputs;
use crate::intercept::thread::Start;
use crate::local::{Frame, Inside, Local, NO_FILTER, local};
use crate::record::{self, Mode, Stream, event, facts};
use crate::serial::{self, Task};
use crate::sys::{self, Spin};
use crate::watch::{self, Watcher};
use crate::{intercept, memory, message, options};

/// Entries of a thread's filter; a power of two.
pub const FILTER_ENTRIES: usize = 128 * 1024;
/// Entries of a thread's shadow stack. Pages that are never touched cost nothing.
const FRAMES: usize = 128 * 1024;

/// A thread.
pub struct Thread {
    /// Its number in the trace.
    pub id: u32,
    /// Its own state, while it runs.
    pub local: *mut Local,
    /// Its handle in the program.
    pub handle: AtomicUsize,
    /// Nobody may join it.
    pub is_detached: AtomicBool,
    /// Its kernel thread.
    pub tid: AtomicU32,
    /// Its events (parallel recording), and who may flush them.
    pub stream: Stream,
    flushing: Spin,
    /// Who still needs the record: its creator, the thread itself, whoever may join it.
    claims: AtomicU32,
    /// What it begins with.
    pub start: Option<Start>,
    /// Its place in the scheduler (serial recording).
    pub task: Task,
    /// How far it is with what it gets from the system.
    pub inputs: Inputs,
    /// What it is watched with; null while nothing was watched.
    pub watcher: *mut Watcher,
    /// How many ends of sockets it has made.
    pub ends: u32,
    /// Its part in a schedule that is enforced while it is watched.
    pub part: watch::enforce::Part,
    /// Who created it, plus one, and the context in which.
    parent: u32,
    created: u32,
    /// Null in a serial recording.
    filter: *mut u64,
    /// The last segment of the record's former life: the filter's entries are not younger.
    segment: u64,
    frames: *mut Frame,
    next: *mut Thread,
}

static COUNT: AtomicU32 = AtomicU32::new(0);
/// How many there were: an enforced schedule has numbers of its own.
static REGISTERED: AtomicU32 = AtomicU32::new(0);
/// All threads that may still be asked for, newest first, and free records.
static KNOWN: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());
static FREE: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());
static LOCK: Spin = Spin::new();

/// Gives new threads numbers from here on, but for those whose number is planned.
pub fn count_from(first: u32) {
    COUNT.fetch_max(first, Ordering::Relaxed);
}

/// The first number that no thread has that was counted.
pub fn first_free() -> u32 {
    COUNT.load(Ordering::Relaxed)
}

/// Whether there was ever more than one.
pub fn were_several() -> bool {
    REGISTERED.load(Ordering::Relaxed) > 1
}

/// A record for a new thread; null if there is no memory, or too many threads.
pub fn register() -> *mut Thread {
    register_as(None)
}

/// The same with a number that an enforced schedule has for it.
pub fn register_as(planned: Option<u32>) -> *mut Thread {
    REGISTERED.fetch_add(1, Ordering::Relaxed);
    let id = planned.unwrap_or_else(|| COUNT.fetch_add(1, Ordering::Relaxed));
    if id >= 1 << 22 {
        message::say(format_args!(
            "more than {} threads: the rest is not recorded",
            1 << 22
        ));
        return core::ptr::null_mut();
    }
    LOCK.lock();
    let mut thread = FREE.load(Ordering::Relaxed);
    if !thread.is_null() {
        // SAFETY: free records are ours under the lock.
        FREE.store(unsafe { (*thread).next }, Ordering::Relaxed);
    }
    LOCK.unlock();
    // SAFETY: a fresh or free record is nobody else's; zeroed memory is a valid `Thread`.
    unsafe {
        if thread.is_null() {
            thread = memory::pages(1);
            if thread.is_null() {
                return thread;
            }
            (*thread).frames = memory::pages(FRAMES);
            if options::MODE.get() != options::SERIAL {
                (*thread).filter = memory::pages(FILTER_ENTRIES);
                if (*thread).filter.is_null() {
                    return core::ptr::null_mut();
                }
            }
            (*thread).stream = Stream::none();
            if options::MODE.get() == options::WATCH {
                (*thread).watcher = memory::pages(1);
                if (*thread).watcher.is_null() {
                    return core::ptr::null_mut();
                }
            }
            if (*thread).frames.is_null() {
                return core::ptr::null_mut();
            }
        }
        (*thread).id = id;
        (*thread).ends = 0;
        ((*thread).parent, (*thread).created) = (0, 0);
        (*thread).part = watch::enforce::Part::default();
        (*thread).local = core::ptr::null_mut();
        (*thread).handle.store(0, Ordering::Relaxed);
        (*thread).is_detached.store(false, Ordering::Relaxed);
        (*thread).tid.store(0, Ordering::Relaxed);
        (*thread).claims.store(3, Ordering::Relaxed);
        (*thread).task = Task::new((*thread).task.context.recycled());
        (*thread).inputs = match (*local()).thread.as_mut() {
            Some(creator) => creator.inputs.of_child(),
            None => Inputs::of_first(),
        };
        LOCK.lock();
        (*thread).next = KNOWN.load(Ordering::Relaxed);
        KNOWN.store(thread, Ordering::Release);
        LOCK.unlock();
    }
    thread
}

/// One of those who need the record does not any more; with the last it is free.
pub fn drop_claim(thread: *mut Thread) {
    // SAFETY: whoever drops a claim had one, so the record is in use.
    if unsafe { (*thread).claims.fetch_sub(1, Ordering::AcqRel) } == 1 {
        forget(thread);
    }
}

fn forget(thread: *mut Thread) {
    LOCK.lock();
    // SAFETY: the list is ours under the lock; the caller says that the record is unused.
    unsafe {
        let mut link: *mut *mut Thread = KNOWN.as_ptr();
        while !(*link).is_null() {
            if *link == thread {
                *link = (*thread).next;
                (*thread).next = FREE.load(Ordering::Relaxed);
                FREE.store(thread, Ordering::Relaxed);
                if record::mode() == Mode::Watch {
                    watch::forget_thread((*thread).id);
                }
                break;
            }
            link = &raw mut (**link).next;
        }
    }
    LOCK.unlock();
}

impl Thread {
    /// The running thread creates this one, in a context.
    pub fn set_origin(&mut self, parent: u32, created: u32) {
        (self.parent, self.created) = (parent + 1, created);
    }

    /// Who created it, and in which context.
    pub fn origin(&self) -> (Option<u32>, u32) {
        (self.parent.checked_sub(1), self.created)
    }
}

/// The sum of a figure over all known threads.
pub fn sum(figure: impl Fn(*mut Thread) -> u64) -> u64 {
    let mut sum = 0;
    find(|thread| {
        sum += figure(thread);
        false
    });
    sum
}

/// Where the running thread's stack, with its thread-local storage, begins and ends.
pub fn own_stack() -> [usize; 2] {
    // The C library takes memory for the processors that the thread may use.
    // SAFETY: the C library fills the attributes in; they are destroyed after use.
    intercept::spare::lent(|| unsafe {
        let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return [0; 2];
        }
        let (mut low, mut bytes) = (core::ptr::null_mut(), 0);
        libc::pthread_attr_getstack(&attributes, &mut low, &mut bytes);
        libc::pthread_attr_destroy(&mut attributes);
        [low as usize, low as usize + bytes]
    })
}

/// The thread whose stack an address is on, and that stack.
pub fn whose_stack(addr: usize) -> Option<(u32, [usize; 2])> {
    let mut answer = None;
    find(|thread| {
        // SAFETY: records in the list are in use; a watcher's pages stay.
        unsafe {
            if let Some(watcher) = (*thread).watcher.as_ref()
                && (watcher.stack[0]..watcher.stack[1]).contains(&addr)
            {
                answer = Some(((*thread).id, watcher.stack));
            }
        }
        answer.is_some()
    });
    answer
}

/// The process ends: no thread's accesses are looked at any more.
pub fn stop_watching() {
    find(|thread| {
        // SAFETY: records in the list are in use, and a thread's state while it is attached.
        unsafe {
            let local = (*thread).local;
            if !local.is_null() {
                Local::stop_watching(local);
            }
        }
        false
    });
}

/// Calls `action` for every known thread, newest first, until it answers true; that thread.
pub fn find(mut action: impl FnMut(*mut Thread) -> bool) -> *mut Thread {
    LOCK.lock();
    let mut thread = KNOWN.load(Ordering::Acquire);
    // SAFETY: records in the list stay valid; the lock keeps the links.
    unsafe {
        while !thread.is_null() && !action(thread) {
            thread = (*thread).next;
        }
    }
    LOCK.unlock();
    thread
}

/// The thread behind a handle of the program. Handles are used again: the newest counts.
pub fn by_handle(handle: usize) -> *mut Thread {
    // SAFETY: records in the list are in use.
    find(|thread| unsafe { (*thread).handle.load(Ordering::Acquire) } == handle)
}

/// Whether this thread's events are to be seen at all: it runs the program's own code, and a
/// recording is on. Gives the thread its record if it has none.
#[inline]
pub fn visible() -> bool {
    // SAFETY: the thread's own state.
    unsafe {
        let local = local();
        if (*local).inside != 0 || (*local).handlers != 0 {
            return false;
        }
        if record::mode() == Mode::Off {
            // Accesses without the synchronisation between them would be a lie.
            (*local).cursor.clear();
            return false;
        }
        !(*local).thread.is_null() || adopt()
    }
}

/// The number of the running thread.
///
/// # Safety
/// The thread is known (`visible` said so).
#[inline]
pub unsafe fn my_id() -> u32 {
    // SAFETY: as the caller says.
    unsafe { (*(*local()).thread).id }
}

/// The running thread's handle in the program; 0 if nobody has told it.
///
/// # Safety
/// As for `my_id`.
pub unsafe fn my_handle() -> usize {
    // SAFETY: as the caller says.
    unsafe { (*(*local()).thread).handle.load(Ordering::Acquire) }
}

/// Gives a record to a thread that we did not see being created.
#[cold]
fn adopt() -> bool {
    let _inside = Inside::enter();
    // A thread that has ended has its frames marked so, see `detach`.
    // SAFETY: the thread's own state.
    if unsafe { (*local()).frames_end } == ENDED {
        return false;
    }
    if record::mode() == Mode::Serial {
        return false; // Only the scheduler's own threads take part in a serial recording.
    }
    let thread = register();
    if thread.is_null() {
        return false;
    }
    // SAFETY: a fresh record.
    facts::thread(unsafe { (*thread).id }, meta::NO_THREAD, 0);
    attach(thread, record::mode(), false);
    intercept::thread::set_exit_key();
    event::thread_begin(0);
    true
}

/// What `Local::frames_end` says once a thread has ended.
const ENDED: *mut Frame = core::ptr::dangling_mut();

/// The record of the thread that starts the recording.
pub fn adopt_first() {
    let thread = register();
    if thread.is_null() {
        return;
    }
    // SAFETY: the thread's own state and a fresh record.
    unsafe {
        (*local()).thread = thread;
        facts::thread((*thread).id, meta::NO_THREAD, 0);
    }
}

/// Starts the first thread's events.
pub fn attach_first(mode: Mode) {
    // SAFETY: the thread's own state.
    let thread = unsafe { (*local()).thread };
    if !thread.is_null() {
        if mode == Mode::Watch {
            // SAFETY: the thread's own record.
            watch::enforce::first_thread(unsafe { &mut *thread });
        }
        attach(thread, mode, true);
        intercept::thread::set_exit_key();
        event::thread_begin(0);
    }
}

/// Makes the running thread the one of this record, ready for events; `first` if it is the one
/// that the process started with.
pub fn attach(thread: *mut Thread, mode: Mode, first: bool) {
    // SAFETY: the thread's own state; the record is its own from now on.
    unsafe {
        let local = local();
        let record = &mut *thread;
        (*local).thread = thread;
        record.local = local;
        if mode != Mode::Serial {
            record.tid.store(sys::gettid() as u32, Ordering::Relaxed);
        }
        record
            .handle
            .store(libc::pthread_self() as usize, Ordering::Release);
        // The lowest entry is a sentinel: no stack pointer lies above it.
        (*record.frames).sp = usize::MAX;
        (*local).frame = record.frames.add(1);
        (*local).frames_end = record.frames.add(FRAMES);
        if mode != Mode::Serial {
            (*local).set_filter(record.filter);
        }
        (*local).segment = record.segment;
        event::next_segment(local);
        if mode == Mode::Parallel {
            record.stream.open(&mut (*local).cursor, record.id, 0);
        }
        if mode == Mode::Watch {
            if (*local).watcher.is_null() {
                watch::attach(local, record.watcher, record.id, first);
            } else {
                // The process was forked: the thread goes on with what it had.
                record.watcher = (*local).watcher;
                watch::attach_forked(local, record.watcher, record.id);
            }
        }
    }
}

/// Ends the running thread's events: its last one is recorded, its buffer written.
pub fn detach() {
    // SAFETY: the thread's own state and record.
    unsafe {
        let local = local();
        let thread = (*local).thread;
        if thread.is_null() {
            return;
        }
        intercept::robust::bequeath((*thread).tid.load(Ordering::Relaxed));
        let turn = watch::enforce::turn(Op::End, (*thread).id as usize, 0);
        event::thread_end();
        turn.done(true);
        flush_thread(thread, true);
        if !(*local).watcher.is_null() {
            watch::detach(local, (*thread).watcher);
        }
        (*thread).segment = (*local).segment;
        (*local).thread = core::ptr::null_mut();
        (*local).frame = core::ptr::null_mut();
        (*local).frames_end = ENDED;
        (*thread).local = core::ptr::null_mut();
        if record::mode() == Mode::Serial {
            serial::finish(thread);
        }
        drop_claim(thread);
    }
}

/// Writes out what a thread has buffered; `last` if the thread itself is ending.
///
/// # Safety
/// The record is in use.
unsafe fn flush_thread(thread: *mut Thread, last: bool) {
    // SAFETY: the lock keeps the owner and whoever closes the recording apart; a cursor read
    // from outside shows complete records only, since it moves after their words are written.
    unsafe {
        let record = &mut *thread;
        record.flushing.lock();
        if !record.local.is_null() {
            let local = record.local;
            if last {
                record.stream.close(&mut (*local).cursor);
                (*local).set_filter((&raw const NO_FILTER).cast_mut().cast());
            } else {
                record.stream.flush(&mut (*local).cursor, record.id);
            }
        }
        record.flushing.unlock();
    }
}

/// Writes out the running thread's buffer because it is full.
///
/// # Safety
/// The thread is known.
pub unsafe fn flush_mine() {
    // SAFETY: as the caller says.
    unsafe { flush_thread((*local()).thread, false) };
}

/// Takes up the running thread's buffer again after a jump out of a signal handler.
pub fn reopen_mine() {
    // SAFETY: the thread's own state.
    unsafe {
        let local = local();
        [(*local).cursor.cur, (*local).cursor.end] = (*local).interrupted;
        (*local).set_watcher((*local).interrupted_watcher);
    }
}

/// For the words of another thread's buffer; used inside [`find`] only.
struct Copy(core::cell::UnsafeCell<record::BlockCopy>);
// SAFETY: `find` holds a lock.
unsafe impl Sync for Copy {}
static COPY: Copy = Copy(core::cell::UnsafeCell::new(
    [0; size_of::<record::BlockCopy>() / 8],
));

/// Writes out what the other threads have buffered, when the recording is closed. They may
/// still be running; what they write from now on is lost.
pub fn flush_all() {
    let me = local();
    find(|thread| {
        // SAFETY: the record is in the list, so in use; `COPY` is ours inside `find`.
        unsafe {
            let record = &mut *thread;
            record.flushing.lock();
            if !record.local.is_null() && record.stream.is_open() {
                let local = record.local;
                if local == me {
                    record.stream.flush(&mut (*local).cursor, record.id);
                } else {
                    let cursor = &raw mut (*local).cursor;
                    record.stream.close_from_outside(cursor, &mut *COPY.0.get());
                }
            }
            record.flushing.unlock();
        }
        false
    });
}

/// In a forked process: the calling thread is the only one, and starts anew.
pub fn only_me() {
    // SAFETY: one thread is left, nobody holds the lock for long; the others' records are lost.
    unsafe {
        LOCK.unlock();
        KNOWN.store(core::ptr::null_mut(), Ordering::Relaxed);
        COUNT.store(0, Ordering::Relaxed);
        REGISTERED.store(0, Ordering::Relaxed);
        (*local()).thread = core::ptr::null_mut();
    }
    facts::forget_modules();
    adopt_first();
}

/// How many functions the running thread is in, as far as hooks have told.
pub fn stack_depth() -> usize {
    // SAFETY: the thread's own state and record; the lowest entry is the sentinel.
    unsafe {
        let local = local();
        if (*local).thread.is_null() {
            return 0;
        }
        (*local)
            .frame
            .offset_from_unsigned((*(*local).thread).frames)
            - 1
    }
}
