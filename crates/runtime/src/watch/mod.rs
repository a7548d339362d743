//! Live detection: races are found while the program runs, and told as they are found.
//!
//! * [`shadow`]: who accessed which memory last; [`watcher`]: how an access is checked.
//! * [`slots`], [`clock`], [`objects`], [`order`]: what is ordered before what.
//! * [`context`]: where something was, with which locks; [`intern`]: its tables.
//! * [`code`]: whose accesses are seen at all; [`blocks`]: the heap; [`memory_limit`]: when there is too much of everything.
//! * [`report`], [`output`]: what is told, and the file that it is written to.
//! * [`enforce`]: a schedule that threads are held to meanwhile.
//!
//! * [`simple`], [`locksets`]: the simple mode, which looks at locks only; [`detailed`], [`select`]:
//!   the hybrid of both.
//!
//! The detector is happens-before over epochs as in FastTrack (Flanagan, Freund, PLDI 2009), with
//! shadow cells as in ThreadSanitizer (Serebryany, Iskhodzhanov, WBIA 2009; its third version),
//! and differs from both: stand-alone fences order what they order, a cell carries its whole context
//! (there is no history that can be too short), and repeated accesses of a segment end in
//! the hook's filter. With four cells for eight bytes an access can be forgotten before it is raced
//! with; then a race is missed. Apart from that every race of the observed order is found, and what is
//! told is one.

mod blocks;
mod clock;
mod code;
mod context;
mod detailed;
pub mod enforce;
mod intern;
mod locksets;
mod memory_limit;
mod objects;
mod order;
mod output;
mod report;
mod select;
mod shadow;
mod simple;
mod slots;
mod watcher;

use core::sync::atomic::{AtomicU64, Ordering};

use deadheat_wire::Op;

pub use shadow::{STATE_ADDRESS, STATES};
pub use simple::{DISREGARDED, FLAGGED};
pub use watcher::{Racing, Watcher, access, access_simply};

use crate::local::{Inside, Local, local};
use crate::record::event::Sync;
use crate::record::{Mode, handler, mode};
use crate::{message, options, sys};

/// Accesses checked by threads that have ended.
static CHECKED: AtomicU64 = AtomicU64::new(0);

/// Exit code of a program that was not run because it could not be watched.
const CANNOT: i32 = 78;

/// Starts watching this process; the report goes to `path`.
pub fn start(path: &[u8]) -> bool {
    if let Err(error) = output::open(path) {
        message::say(format_args!(
            "not watching: the report cannot be opened (error {error})"
        ));
        return false;
    }
    let detector = ["hb", "simple", "detailed"][options::DETECTOR.get() as usize % 3];
    output::write(|record| record.begin(output::pid(), detector));
    if let Err(error) = shadow::reserve() {
        cannot(format_args!(
            "64 TiB of addresses cannot be reserved (error {error}); is `ulimit -v` or \
             vm.overcommit_memory set?"
        ));
    }
    let started = match options::DETECTOR.get() {
        options::SIMPLE => {
            shadow::use_states();
            locksets::start()
        }
        options::DETAILED => {
            shadow::use_words();
            detailed::start()
        }
        _ => true,
    };
    if options::DETECTOR.get() == options::DETAILED
        && options::SELECT
            .path()
            .is_some_and(|path| !select::read(path))
    {
        cannot(format_args!("the file of selected places cannot be read"));
    }
    if !(started && context::start() && objects::start() && blocks::start()) {
        cannot(format_args!("there is no memory for tables"));
    }
    if let Some(path) = options::PLAN.path().map(|path| &path[..path.len() - 1]) {
        enforce::start(path);
    }
    true
}

fn cannot(why: core::fmt::Arguments) -> ! {
    output::write(|record| record.text("cannot", output::pid(), why));
    message::say(format_args!("the program is not run: {why}"));
    sys::exit_group(CANNOT)
}

/// The process ends: says what was done in all.
pub fn finish() {
    let running = crate::threads::sum(|thread| {
        // SAFETY: records in the list have a watcher, or none.
        unsafe { (*thread).watcher.as_ref() }.map_or(0, |watcher| watcher.checked)
    });
    let checked = running + CHECKED.load(Ordering::Relaxed);
    let figures = [
        ("accesses", checked),
        ("findings", u64::from(report::count())),
        ("contexts", u64::from(context::count())),
        ("contexts-lost", u64::from(context::has_lost())),
        ("shadow-dropped", memory_limit::dropped()),
    ];
    output::write(|record| record.summary(output::pid(), &figures));
}

/// In a forked process, before its only thread is watched again: tables stay, nobody holds a
/// lock.
pub fn restart_in_child() -> bool {
    enforce::forget();
    blocks::unlock();
    objects::unlock();
    clock::unlock();
    code::forget();
    detailed::unlock();
    output::forget_questions();
    report::start_anew();
    if output::reopen().is_err() {
        return false;
    }
    let detector = ["hb", "simple", "detailed"][options::DETECTOR.get() as usize % 3];
    output::write(|record| record.begin(output::pid(), detector));
    true
}

/// The running thread's watcher.
fn mine() -> Option<&'static mut Watcher> {
    // SAFETY: the thread's own; its pages stay mapped.
    unsafe { (*local()).watcher.as_mut() }
}

/// The context of something that the running thread does at `pc`.
fn context_at(watcher: &mut Watcher, pc: usize) -> u32 {
    // SAFETY: the running thread's own state and watcher.
    unsafe { watcher.context(local(), pc) }
}

/// A synchronisation of the running thread. Answers whether its segment goes on: to happens-before an
/// access that is repeated behind a lock's acquisition says nothing new, and the simple mode has no filter.
pub fn sync(sync: &Sync) -> bool {
    let _inside = Inside::enter();
    let Some(watcher) = mine() else { return false };
    enter_sync(watcher, sync);
    watcher.simple
        || matches!(sync.op, Op::Request | Op::Acquire | Op::ReadAcquire) && watcher.epoch_goes_on()
}

/// A signal handler has returned to the program's own code: what was sent with the signal is known from
/// here on. Its clock only grows, so it does not matter which access was interrupted; what the handler sent waits for the next synchronisation.
pub fn after_handler() {
    let _inside = Inside::enter();
    if let Some(watcher) = mine() {
        handler::take_received(watcher.thread, |kept| order::sync(watcher, &kept));
    }
}

fn enter_sync(watcher: &mut Watcher, sync: &Sync) {
    let (object, pc) = (sync.object, sync.pc);
    handler::take(Some(watcher.thread), |_, kept, _| {
        order::sync(watcher, &kept);
    });
    match sync.op {
        Op::Alloc => allocated(watcher, object, sync.operand.unwrap_or(0) as usize, pc),
        Op::Free => freed(watcher, object, pc),
        Op::Begin => {
            // SAFETY: the running thread's record.
            let (parent, created) = unsafe { (*(*local()).thread).origin() };
            tell_thread(watcher.thread, parent, created, pc);
            order::sync(watcher, sync);
        }
        Op::Acquire | Op::ReadAcquire => {
            // SAFETY: the running thread's own state and watcher.
            let taken = unsafe { watcher.context_without_locks(local(), pc) };
            order::sync(watcher, sync);
            let write = sync.op == Op::Acquire;
            watcher.hold(context::with_lock(watcher.held, object, write, taken));
        }
        Op::Release | Op::ReadRelease => {
            watcher.hold(context::without_lock(watcher.held, object));
            order::sync(watcher, sync);
        }
        Op::End => {
            // A robust lock that the thread still holds goes to whoever comes next.
            for held in context::locks(watcher.held) {
                let release = Sync::new(Op::Release, held.lock as usize, pc);
                order::sync(watcher, &release);
            }
            order::sync(watcher, sync);
        }
        _ => order::sync(watcher, sync),
    }
}

/// Enters an atomic read of a synchronisation object's first byte.
fn touch(watcher: &mut Watcher, object: usize, pc: usize) {
    if watcher.by_word {
        return;
    }
    let context = context_at(watcher, pc);
    watcher.settle();
    if let Some(racing) = watcher.access_atomic(object, 1, false, context) {
        watcher.found(racing);
    }
}

/// The running thread goes to sleep in the C library. If it wakes up in code of the program, and
/// not where [`resume`] is called, it was cancelled.
pub fn pause() {
    // SAFETY: the thread's own state.
    unsafe { (*local()).set_watcher(core::ptr::null_mut()) };
}

/// It is awake again.
pub fn resume() {
    // SAFETY: the thread's own state and record.
    unsafe {
        if mode() == Mode::Watch {
            (*local()).set_watcher((*(*local()).thread).watcher);
        }
    }
}

/// Whether the running thread is watched in the simple mode, in which atomic accesses do not count.
#[inline(always)]
pub fn is_simple() -> bool {
    mine().is_some_and(|watcher| watcher.simple)
}

/// Before an atomic access: what comes is later than what was released.
pub fn before_atomic() {
    if let Some(watcher) = mine() {
        handler::take_received(watcher.thread, |kept| order::sync(watcher, &kept));
        watcher.settle();
    }
}

/// An atomic access has been done; called in one step with it. It orders, and others can race with it:
/// both before anybody sees what it released, as whoever does may free the memory. Answers the first race.
pub fn atomic(access: &Sync, size: usize) -> Option<Racing> {
    let watcher = mine()?;
    if access.op == Op::Fence {
        order::sync(watcher, access);
        return None;
    }
    order::atomic(watcher, access.op, access.object, access.order);
    if watcher.by_word {
        return None;
    }
    let context = context_at(watcher, access.pc);
    watcher.access_atomic(access.object, size, access.op.writes(), context)
}

/// Reports a race of an atomic access; called after that step. Answers whether the thread's segment
/// goes on, as [`sync`] does.
pub fn report_atomic(racing: Option<Racing>) -> bool {
    let Some(watcher) = mine() else { return false };
    if let Some(racing) = racing {
        watcher.found(racing);
    }
    watcher.epoch_goes_on()
}

/// Where the instrumented function is that the running thread has entered last.
fn entered() -> usize {
    // SAFETY: the running thread's own state; a watched thread has its frames.
    unsafe { (*(*local()).frame.sub(1)).last_pc }
}

/// A plain access to any number of bytes.
pub fn range(write: bool, addr: usize, length: usize, pc: usize) {
    let _inside = Inside::enter();
    if let Some(watcher) = mine()
        && code::is_instrumented(pc, entered())
    {
        if watcher.by_word {
            // SAFETY: the running thread's own state.
            return unsafe { watcher.access_words(local(), addr, length, write, pc) };
        }
        let context = context_at(watcher, pc);
        watcher.settle();
        watcher.access_range(addr, length, write, context);
        if length >= LARGE {
            memory_limit::grown(length);
        }
    }
}

/// Ranges from here on make the shadow grow noticeably.
const LARGE: usize = 64 * 1024;

/// Blocks up to this size are looked at whole when they are freed, of larger ones both ends.
const WHOLE: usize = 64 * 1024;
const END: usize = 4096;

fn allocated(watcher: &mut Watcher, start: usize, bytes: usize, pc: usize) {
    let context = context_at(watcher, pc);
    if watcher.by_word && !watcher.simple && bytes <= WHOLE {
        detailed::clear(start, bytes.max(1));
    } else {
        shadow::clear(start, bytes.max(1));
    }
    select::block_allocated(start, bytes, context);
    blocks::add(start, bytes, watcher.thread, context);
    memory_limit::grown(bytes);
}

/// A block's release writes to all of it, if code whose synchronisation is seen releases it.
/// Synchronisation objects in it are no more: where one was, there is an atomic access.
fn freed(watcher: &mut Watcher, start: usize, pc: usize) {
    let Some(block) = blocks::at(start) else {
        return;
    };
    // SAFETY: the running thread's own state.
    let node = unsafe { context::node(local()) };
    let context = context::free_context(pc, node, watcher.held);
    watcher.settle();
    // A library's release may be one that it does for the program: C++'s `delete`.
    let of_library = code::module_of(pc).is_some_and(|(module, _)| module != 0);
    let judged = of_library || code::is_instrumented(pc, entered());
    if watcher.by_word {
        if judged {
            // SAFETY: as above.
            unsafe { watcher.access_words(local(), start, block.bytes.min(WHOLE), true, pc) };
        }
        blocks::remove(start);
        return;
    }
    let mut part = |from: usize, bytes: usize| {
        forget_objects(from, bytes);
        if judged {
            watcher.access_range(from, bytes, true, context);
        }
    };
    if block.bytes <= WHOLE {
        part(start, block.bytes);
    } else {
        part(start, END);
        part(start + block.bytes - END, END);
    }
    blocks::remove(start);
}

fn forget_objects(start: usize, bytes: usize) {
    for addr in (start & !7..start + bytes).step_by(8) {
        if shadow::has_atomic(addr) {
            for object in addr..addr + 8 {
                objects::forget(object);
            }
        }
    }
}

/// Memory that goes away.
pub fn unmapped(start: usize, bytes: usize) {
    shadow::clear(start, bytes);
}

/// The running thread starts to be watched: nothing on its stack is of others.
///
/// # Safety
/// `local` is the running thread's state; `watcher` is its own from now on.
pub unsafe fn attach(local: *mut Local, watcher: *mut Watcher, number: u32, first: bool) {
    // SAFETY: as the caller says; the sentinel frame is there.
    unsafe {
        let [low, top] = crate::threads::own_stack();
        (*watcher).stack = [low, top];
        if !first {
            shadow::clear(low, top - low);
        }
        (*watcher).begin(number);
        select::thread_begins(number, top);
        (*(*local).frame.sub(1)).node = context::ROOT as usize;
        (*local).set_watcher(watcher);
    }
}

/// In a forked process its only thread is watched as before, under its new number.
///
/// # Safety
/// As for `attach`.
pub unsafe fn attach_forked(local: *mut Local, watcher: *mut Watcher, number: u32) {
    // SAFETY: as the caller says.
    unsafe {
        (*watcher).alone(number);
        (*(*local).frame.sub(1)).node = context::ROOT as usize;
        (*local).set_watcher(watcher);
    }
}

/// The running thread has ended.
///
/// # Safety
/// The watcher is the running thread's.
pub unsafe fn detach(local: *mut Local, watcher: *mut Watcher) {
    // SAFETY: as the caller says.
    unsafe {
        (*local).set_watcher(core::ptr::null_mut());
        (*watcher).stack = [0; 2];
        (*watcher).end();
        CHECKED.fetch_add((*watcher).checked, Ordering::Relaxed);
        (*watcher).checked = 0;
    }
}

/// Nobody will ask for the thread with this number any more.
pub fn forget_thread(number: u32) {
    objects::forget(objects::thread_key(number));
}

/// The context in which the running thread creates another at `pc`.
pub fn creation(pc: usize) -> u32 {
    mine().map_or(0, |watcher| context_at(watcher, pc))
}

/// Tells of a thread that begins at `entry`; `created` is where its parent created it.
pub fn tell_thread(number: u32, parent: Option<u32>, created: u32, entry: usize) {
    let tid = sys::gettid() as u32;
    output::write(|record| {
        record.thread(output::pid(), number, parent, tid, entry as u64)?;
        report::write_stack(record, &context::Context::of(created))
    });
}

/// Tells a thread's name.
pub fn tell_name(number: u32, name: &[u8]) {
    output::write(|record| record.name(output::pid(), number, name));
}

/// Tells of a module; `table` is where its table of functions is.
pub fn tell_module(range: [u64; 3], table: u64, build_id: &[u8], path: &[u8]) {
    code::add_module(range[0] as usize, range[1] as usize, table as usize);
    select::module_loaded(range[0] as usize);
    output::write(|record| record.module(output::pid(), range, build_id, path));
}
