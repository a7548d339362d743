//! What is registered to run later: when the process ends, and around `fork`. Registering it comes before running
//! it, whichever thread does either.
//!
//! A registration is put in our own words only once there are several threads: what the first one did
//! before that comes before everything.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use deadheat_wire::Op;

use super::real;
use crate::hooks::{caller, trampoline};
use crate::local::local;
use crate::record::event;
use crate::{serial, threads};

trampoline! {
    "__cxa_atexit" => cxa_atexit;
    "on_exit" => on_exit;
    "__register_atfork" => register_atfork;
}

/// Something that was registered: up to two functions, and what they are called with.
struct Registered {
    functions: [AtomicUsize; 2],
    argument: AtomicUsize,
}

const MOST: usize = 1024;
static COUNT: AtomicUsize = AtomicUsize::new(0);
static REGISTERED: [Registered; MOST] = [const {
    Registered {
        functions: [const { AtomicUsize::new(0) }; 2],
        argument: AtomicUsize::new(0),
    }
}; MOST];

impl Registered {
    /// The object that its registration is sent on.
    fn object(&self) -> usize {
        &raw const *self as usize
    }

    fn received(&self) {
        event::sync(Op::Receive, self.object(), self.object());
    }

    fn function(&self, index: usize) -> usize {
        self.functions[index].load(Ordering::Acquire)
    }
}

/// Keeps a registration, if the order matters and there is room.
fn keep(functions: [usize; 2], argument: usize, pc: usize) -> Option<&'static Registered> {
    match threads::visible() && threads::were_several() {
        true => put(functions, argument, pc),
        false => None,
    }
}

/// Two threads have registered something, and which of them is first is what is called last.
fn note_order() {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    // SAFETY: the running thread's own record, which it has, as it is visible.
    let me = unsafe { (*(*local()).thread).id } as usize + 1;
    let before = LAST.swap(me, Ordering::AcqRel);
    if before != 0 && before != me {
        serial::sets_handler();
    }
}

fn put(functions: [usize; 2], argument: usize, pc: usize) -> Option<&'static Registered> {
    if !threads::visible() {
        return None;
    }
    let registered = REGISTERED.get(COUNT.fetch_add(1, Ordering::AcqRel))?;
    for (place, function) in registered.functions.iter().zip(functions) {
        place.store(function, Ordering::Release);
    }
    registered.argument.store(argument, Ordering::Release);
    note_order();
    event::sync(Op::Send, registered.object(), pc);
    Some(registered)
}

/// # Safety
/// `registered` is one of [`REGISTERED`], as `cxa_atexit` has passed it.
unsafe extern "C" fn run_at_exit(registered: *const Registered) {
    // SAFETY: as the caller says; the function is the program's, of this type.
    unsafe {
        let registered = &*registered;
        registered.received();
        let function: extern "C" fn(*mut c_void) = core::mem::transmute(registered.function(0));
        function(registered.argument.load(Ordering::Acquire) as *mut c_void);
    }
}

/// What `atexit` itself becomes, and the destructors of static objects.
unsafe extern "C" fn cxa_atexit(function: usize, argument: usize, library: usize) -> c_int {
    let pc = caller();
    // SAFETY: (here and below) the arguments are the program's own, or ours of the same type.
    unsafe {
        match keep([function, 0], argument, pc) {
            Some(kept) => {
                real::__cxa_atexit(run_at_exit as *const () as usize, kept.object(), library)
            }
            None => real::__cxa_atexit(function, argument, library),
        }
    }
}

/// # Safety
/// As for `run_at_exit`.
unsafe extern "C" fn run_on_exit(status: c_int, registered: *const Registered) {
    // SAFETY: as for `run_at_exit`.
    unsafe {
        let registered = &*registered;
        registered.received();
        let function: extern "C" fn(c_int, *mut c_void) =
            core::mem::transmute(registered.function(0));
        function(
            status,
            registered.argument.load(Ordering::Acquire) as *mut c_void,
        );
    }
}

unsafe extern "C" fn on_exit(function: usize, argument: usize) -> c_int {
    let pc = caller();
    // SAFETY: see `cxa_atexit`.
    unsafe {
        match keep([function, 0], argument, pc) {
            Some(kept) => real::on_exit(run_on_exit as *const () as usize, kept.object()),
            None => real::on_exit(function, argument),
        }
    }
}

/// The functions around `fork` are called without an argument: each registration has functions of its
/// own to be called by.
const AROUND_FORK: usize = 16;
static FORK_COUNT: AtomicUsize = AtomicUsize::new(0);
static FORK: [AtomicUsize; AROUND_FORK] = [const { AtomicUsize::new(0) }; AROUND_FORK];

/// Runs a function that the C library calls on behalf of `fork`, which hides what it does: the program's
/// own code is seen.
fn run_around_fork(number: usize, index: usize) {
    // SAFETY: the thread's own state, put back as it was; the registration stays, and its functions
    // are the program's.
    unsafe {
        let registered = &*(FORK[number].load(Ordering::Acquire) as *const Registered);
        let hidden = core::mem::replace(&mut (*local()).inside, 0);
        registered.received();
        let function = registered.function(index);
        if function != 0 {
            core::mem::transmute::<usize, extern "C" fn()>(function)();
        }
        (*local()).inside = hidden;
    }
}

extern "C" fn before_fork<const NUMBER: usize>() {
    run_around_fork(NUMBER, 0);
}

extern "C" fn after_fork<const NUMBER: usize>() {
    run_around_fork(NUMBER, 1);
}

macro_rules! for_each_number {
    ($function:ident) => {
        [
            $function::<0>,
            $function::<1>,
            $function::<2>,
            $function::<3>,
            $function::<4>,
            $function::<5>,
            $function::<6>,
            $function::<7>,
            $function::<8>,
            $function::<9>,
            $function::<10>,
            $function::<11>,
            $function::<12>,
            $function::<13>,
            $function::<14>,
            $function::<15>,
        ]
    };
}

/// Their locks are often taken before the fork, and given back behind it: that is seen in the parent. In the
/// child nothing is recorded yet.
unsafe extern "C" fn register_atfork(
    prepare: usize,
    parent: usize,
    child: usize,
    library: usize,
) -> c_int {
    static BEFORE: [extern "C" fn(); AROUND_FORK] = for_each_number!(before_fork);
    static AFTER: [extern "C" fn(); AROUND_FORK] = for_each_number!(after_fork);
    let pc = caller();
    let (mut before, mut after) = (prepare, parent);
    if let Some(kept) = put([prepare, parent], 0, pc)
        && let number = FORK_COUNT.fetch_add(1, Ordering::AcqRel)
        && number < AROUND_FORK
    {
        FORK[number].store(kept.object(), Ordering::Release);
        (before, after) = (BEFORE[number] as usize, AFTER[number] as usize);
    }
    // SAFETY: see `cxa_atexit`.
    unsafe { real::__register_atfork(before, after, child, library) }
}
