//! What happens to the process as a whole: signals, `fork`, `exec`, libraries, jumps, its end.

use core::arch::asm;
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};

use deadheat_wire::Op;
use deadheat_wire::inputs::kind;

use crate::hooks::{caller, trampoline};
use crate::inputs::pids;
use crate::intercept::channel::{self, Other};
use crate::intercept::{ends, mapping, real};
use crate::local::{Inside, local};
use crate::record::{self, Mode, event, facts, mode};
use crate::serial::Limit;
use crate::serial::endings::Kind;
use crate::serial::signals::{self, Info};
use crate::{serial, sys, threads};

trampoline! {
    "fork" => fork;
    "_Fork" => fork_quietly;
    "forkpty" => forkpty;
    "daemon" => daemon;
    "clone" => clone;
    "vfork" => fork; // A child that shares the parent's memory would write into its trace.
    "exit" => exit;
    "_exit" => exit_now;
    "_Exit" => exit_now;
    "quick_exit" => quick_exit;
    "abort" => abort;
    "__assert_fail" => assert_fail;
    "__assert_perror_fail" => assert_perror_fail;
    "execve" => execve;
    "execv" => execv;
    "execvp" => execvp;
    "execvpe" => execvpe;
    "fexecve" => fexecve;
    "sigaction" => sigaction;
    "signal" => signal;
    "pthread_sigmask" => pthread_sigmask;
    "sigprocmask" => sigprocmask;
    "dlopen" => dlopen;
    "dlclose" => dlclose;
    "mprotect" => mprotect;
    "longjmp" => longjmp;
    "siglongjmp" => siglongjmp;
    "_longjmp" => underscore_longjmp;
    "__longjmp_chk" => checked_longjmp;
}

// SAFETY of all calls of real functions below: the arguments are the program's own.

/// The child shares the parent's buffers in memory until it has its own; so nothing may be
/// recorded in between.
unsafe extern "C" fn fork() -> c_int {
    forking(|| unsafe { real::fork() })
}

unsafe extern "C" fn fork_quietly() -> c_int {
    forking(|| unsafe { real::_Fork() })
}

unsafe extern "C" fn forkpty(master: usize, name: usize, terminal: usize, size: usize) -> c_int {
    forking(|| unsafe { real::forkpty(master, name, terminal, size) })
}

/// The process goes on as its own child; what it was ends within the C library.
unsafe extern "C" fn daemon(stay: c_int, keep: c_int) -> c_int {
    forking(|| unsafe { real::daemon(stay, keep) })
}

/// A call that goes on in a new process with an answer of 0.
pub fn forking(real: impl FnOnce() -> c_int) -> c_int {
    if mode() == Mode::Off {
        return real();
    }
    let mask = serial::own_mask();
    let inside = Inside::enter();
    let process = ends::letting_out(real);
    if process == 0 {
        record::restart_in_child();
        // It has its own kernel thread from here on, which knows.
        mask.inspect(|mask| signals::set_mask(*mask));
    } else {
        forked(process);
    }
    drop(inside);
    match process {
        1.. => pids::tell(kind::FORKED, process),
        _ => process,
    }
}

/// Where `exit` was called; what it runs before the end is recorded as well.
static EXIT_PLACE: AtomicUsize = AtomicUsize::new(0);

/// Where the program was when it ended itself; 0 if `main` has returned.
pub fn exit_place() -> usize {
    EXIT_PLACE.load(Ordering::Relaxed)
}

unsafe extern "C" fn exit(code: c_int) -> usize {
    EXIT_PLACE.store(caller(), Ordering::Relaxed);
    unsafe { real::exit(code) }
}

/// What a new process begins with that is made by `clone`.
struct Beginning {
    function: extern "C" fn(*mut c_void) -> c_int,
    argument: *mut c_void,
}

/// Where such a process begins, with a copy of its parent's memory.
extern "C" fn begin_process(beginning: *mut c_void) -> c_int {
    // SAFETY: `clone` has passed the address of what lies on its own stack, of which this process has a copy.
    let Beginning { function, argument } = unsafe { beginning.cast::<Beginning>().read() };
    if mode() != Mode::Off {
        record::restart_in_child();
    }
    // SAFETY: the thread's own state: `clone` has raised it by one.
    unsafe { (*local()).inside -= 1 };
    let code = function(argument);
    // SAFETY: ends the process, as the C library would do.
    unsafe { exit_now(code) };
    code
}

/// Where a process begins that has its parent's memory until it executes another program: the parent
/// waits, and nothing of this is recorded.
extern "C" fn begin_borrowing(beginning: *mut c_void) -> c_int {
    // SAFETY: as in `begin_process`; the parent waits in `clone`.
    let Beginning { function, argument } = unsafe { beginning.cast::<Beginning>().read() };
    function(argument)
}

/// `clone` makes processes and threads. A process with its own memory is a child as `fork` makes it.
unsafe extern "C" fn clone(
    function: extern "C" fn(*mut c_void) -> c_int,
    stack: usize,
    flags: c_int,
    argument: *mut c_void,
    parent: usize,
    storage: usize,
    child: usize,
) -> c_int {
    let mut beginning = Beginning { function, argument };
    let place = (&raw mut beginning).cast::<c_void>();
    let real = |function, argument| unsafe {
        real::clone(function, stack, flags, argument, parent, storage, child)
    };
    if mode() == Mode::Off {
        return real(function, argument);
    }
    let shares = flags & libc::CLONE_VM != 0;
    if shares && flags & libc::CLONE_VFORK == 0 {
        ends::nothing_is_certain();
        facts::note(UNSEEN_CHILD);
        return real(function, argument);
    }
    let inside = Inside::enter();
    let process = ends::letting_out(|| match shares {
        true => real(begin_borrowing, place),
        false => real(begin_process, place),
    });
    forked(process);
    drop(inside);
    match process {
        1.. => pids::tell(kind::FORKED, process),
        _ => process,
    }
}

const UNSEEN_CHILD: &str = "the program made a thread or process with `clone` that shares its memory: what that did is not recorded";

/// A process that is made by a system call of the program's own; `None` if it is another call.
pub fn forking_call(number: libc::c_long, args: [usize; 6]) -> Option<isize> {
    let (flags, stack) = match number {
        libc::SYS_fork | libc::SYS_vfork => (0, 0),
        libc::SYS_clone => (args[0] as c_int, args[1]),
        libc::SYS_clone3 => {
            // SAFETY: the program's arguments, which begin with the flags; the stack is the sixth.
            let words = unsafe { core::slice::from_raw_parts(args[0] as *const u64, 6) };
            (words[0] as c_int, words[5] as usize)
        }
        _ => return None,
    };
    if mode() == Mode::Off {
        return None;
    }
    if flags & libc::CLONE_VM != 0 || stack != 0 {
        facts::note(UNSEEN_CHILD);
        return None;
    }
    // One that has its parent's memory would write into its recording.
    let number = match number {
        libc::SYS_vfork => libc::SYS_fork,
        other => other,
    };
    Some(forking(|| sys::call(number, args) as c_int) as isize)
}

unsafe extern "C" fn exit_now(code: c_int) -> usize {
    record::end_of_program(caller());
    sys::exit_group(code)
}

unsafe extern "C" fn quick_exit(code: c_int) -> usize {
    // What is registered with `at_quick_exit` runs unrecorded.
    record::end_of_program(caller());
    unsafe { real::quick_exit(code) }
}

/// The program is about to die in the running thread, unless it handles that. What it does from
/// here on is the C library's, and no step. The recording is left open: how the program died is
/// part of it.
fn before_death(pc: usize) {
    if is_handler(HANDLERS[libc::SIGABRT as usize].load(Ordering::Acquire)) {
        return;
    }
    record::before_end(pc);
    if mode() == Mode::Serial {
        core::mem::forget(Inside::enter());
    }
}

unsafe extern "C" fn abort() -> usize {
    before_death(caller());
    unsafe { real::abort() }
}

/// The C library calls its own `abort`, which nobody stands in for.
unsafe extern "C" fn assert_fail(text: usize, file: usize, line: u32, function: usize) -> usize {
    before_death(caller());
    unsafe { real::__assert_fail(text, file, line, function) }
}

unsafe extern "C" fn assert_perror_fail(
    error: c_int,
    file: usize,
    line: u32,
    function: usize,
) -> usize {
    before_death(caller());
    unsafe { real::__assert_perror_fail(error, file, line, function) }
}

/// `execl` and its like take any number of arguments: they are left where they are, and the
/// real function is jumped to.
macro_rules! before_jump_to_real {
    ($($name:ident => $before:path, $address:path;)*) => { $(
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[unsafe(naked)]
        #[allow(dead_code)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "push rax",
                "call {before}",
                "call {address}",
                "mov r11, rax",
                "pop rax",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "jmp r11",
                before = sym $before,
                address = sym $address,
            )
        }
    )* };
}

before_jump_to_real! {
    execl => before_exec, real::address_of_execl;
    execlp => before_exec, real::address_of_execlp;
    execle => before_exec, real::address_of_execle;
}

/// Writes everything out: if the call succeeds this program is no more.
extern "C" fn before_exec() {
    record::close("the program executed another", false);
}

unsafe extern "C" fn execve(path: usize, arguments: usize, environment: usize) -> c_int {
    before_exec();
    unsafe { real::execve(path, arguments, environment) }
}

unsafe extern "C" fn execv(path: usize, arguments: usize) -> c_int {
    before_exec();
    unsafe { real::execv(path, arguments) }
}

unsafe extern "C" fn execvp(path: usize, arguments: usize) -> c_int {
    before_exec();
    unsafe { real::execvp(path, arguments) }
}

unsafe extern "C" fn execvpe(path: usize, arguments: usize, environment: usize) -> c_int {
    before_exec();
    unsafe { real::execvpe(path, arguments, environment) }
}

unsafe extern "C" fn fexecve(fd: c_int, arguments: usize, environment: usize) -> c_int {
    before_exec();
    unsafe { real::fexecve(fd, arguments, environment) }
}

/// Child processes that were forked, newest last; older ones are overwritten.
static CHILDREN: [AtomicI32; 64] = [const { AtomicI32::new(0) }; 64];
static FORKED: AtomicUsize = AtomicUsize::new(0);

fn forked(process: c_int) {
    let index = FORKED.fetch_add(1, Ordering::Relaxed) % CHILDREN.len();
    CHILDREN[index].store(process, Ordering::Relaxed);
}

/// Whether a forked child lives, though one that has ended was not waited for.
pub fn has_children_behind(ended: c_int) -> bool {
    let lives = |child: &AtomicI32| {
        let child = child.load(Ordering::Relaxed);
        // SAFETY: a plain record; zero is a valid value of all its parts.
        let mut info: libc::siginfo_t = unsafe { core::mem::zeroed() };
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
        let place = &raw mut info as usize;
        let kind = libc::P_PID as usize;
        let args = [kind, child as usize, place, options as usize, 0, 0];
        child > 0
            && child != ended
            && sys::call(libc::SYS_waitid, args) == 0
            // SAFETY: filled in by the kernel, or zero.
            && unsafe { info.si_pid() } == 0
    };
    CHILDREN.iter().any(lives)
}

/// Libc may run threads of its own that nobody sees.
static HELPERS: AtomicBool = AtomicBool::new(false);
/// Memory is shared with other processes.
static SHARED: AtomicBool = AtomicBool::new(false);

/// From now on libc may run threads of its own.
pub fn helpers_start() {
    HELPERS.store(true, Ordering::Relaxed);
}

/// Whether that is so.
pub fn has_helpers() -> bool {
    HELPERS.load(Ordering::Relaxed)
}

/// Objects are shared with other processes from now on.
pub fn memory_is_shared() {
    SHARED.store(true, Ordering::Relaxed);
}

/// Whether objects may be shared with other processes.
pub fn shares_memory() -> bool {
    SHARED.load(Ordering::Relaxed)
}

/// The program's own signal handlers, by signal.
static HANDLERS: [AtomicUsize; 65] = [const { AtomicUsize::new(0) }; 65];
/// For which signals there is one; which of them let calls begin anew, and which are removed once
/// they run.
static CAUGHT: AtomicU64 = AtomicU64::new(0);
static RESTARTS: AtomicU64 = AtomicU64::new(0);
static ONCE: AtomicU64 = AtomicU64::new(0);

fn set_bit(bits: &AtomicU64, signal: c_int, is_on: bool) {
    match is_on {
        true => bits.fetch_or(signals::bit(signal), Ordering::AcqRel),
        false => bits.fetch_and(!signals::bit(signal), Ordering::AcqRel),
    };
}

fn has_bit(bits: &AtomicU64, signal: c_int) -> bool {
    bits.load(Ordering::Acquire) & signals::bit(signal) != 0
}

/// The program's handler of a signal; 0 if there is none.
pub fn handler_of(signal: c_int) -> usize {
    match has_bit(&CAUGHT, signal) {
        true => HANDLERS[signal as usize].load(Ordering::Acquire),
        false => 0,
    }
}

/// Whether a call that a signal interrupts begins anew.
pub fn restarts(signal: c_int) -> bool {
    has_bit(&RESTARTS, signal)
}

/// Whether there is a handler of a signal that others may send. Faults are no such signals.
pub fn has_handlers() -> bool {
    let faults = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGSYS,
        libc::SIGABRT,
        libc::SIGPIPE,
    ];
    let faults = faults.iter().fold(0, |all, one| all | signals::bit(*one));
    CAUGHT.load(Ordering::Acquire) & !faults != 0
}

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Runs the program's handler, unseen: it may have interrupted a hook between two words, so
/// nothing may be written until it returns.
extern "C" fn run_handler(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes what it tells about the signal.
    if signals::defers(signal, unsafe { &*info.cast::<Info>() }) {
        return;
    }
    if has_bit(&ONCE, signal) {
        // SAFETY: a plain record; zero is the default action.
        unsafe {
            let default: libc::sigaction = core::mem::zeroed();
            sigaction(signal, &raw const default as usize, 0);
        }
    }
    // SAFETY: the thread's own state, put back as it was; the handler is the program's, which
    // ignores the arguments that it did not ask for.
    unsafe {
        let local = local();
        if (*local).handlers == 0 {
            (*local).handler_frame = &raw const local as usize;
            (*local).interrupted = [(*local).cursor.cur, (*local).cursor.end];
            (*local).interrupted_watcher = (*local).watcher;
        }
        (*local).handlers += 1;
        (*local).cursor.clear();
        (*local).set_watcher(core::ptr::null_mut());
        if mode() != Mode::Serial || serial::is_at_home() {
            signals::keep_receipt(signal);
        }
        let handler: Handler =
            core::mem::transmute(HANDLERS[signal as usize].load(Ordering::Acquire));
        handler(signal, info, context);
        (*local).handlers -= 1;
        if (*local).handlers == 0 {
            threads::reopen_mine();
        }
    }
}

/// Whether a handler is one to stand in for: not one of the special values.
fn is_handler(handler: usize) -> bool {
    handler > 1 && handler != usize::MAX
}

unsafe extern "C" fn sigaction(signal: c_int, new: usize, old: usize) -> c_int {
    let index = signal as usize;
    if mode() == Mode::Off || index == 0 || index >= HANDLERS.len() {
        return unsafe { real::sigaction(signal, new, old) };
    }
    let before = HANDLERS[index].load(Ordering::Acquire);
    unsafe {
        let mut wrapped;
        let mut passed = new;
        if new != 0 {
            wrapped = *(new as *const libc::sigaction);
            if is_handler(wrapped.sa_sigaction) {
                if wrapped.sa_flags & libc::SA_ONSTACK != 0 {
                    signals::stack::is_wanted_for(signal);
                }
                HANDLERS[index].store(wrapped.sa_sigaction, Ordering::Release);
                // One that is put off is called twice by the kernel, and removed when it runs.
                wrapped.sa_flags &= !libc::SA_RESETHAND;
                wrapped.sa_sigaction = run_handler as *const () as usize;
                passed = &raw const wrapped as usize;
            }
        }
        let result = real::sigaction(signal, passed, old);
        if result == 0 && old != 0 {
            let old = old as *mut libc::sigaction;
            if (*old).sa_sigaction == run_handler as *const () as usize {
                (*old).sa_sigaction = before;
            }
        }
        if result != 0 {
            HANDLERS[index].store(before, Ordering::Release);
        } else if new != 0 {
            let new = &*(new as *const libc::sigaction);
            let is_caught = is_handler(new.sa_sigaction);
            set_bit(&CAUGHT, signal, is_caught);
            set_bit(&RESTARTS, signal, new.sa_flags & libc::SA_RESTART != 0);
            let once = is_caught && new.sa_flags & libc::SA_RESETHAND != 0;
            set_bit(&ONCE, signal, once);
        }
        result
    }
}

unsafe extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    unsafe {
        let mut new: libc::sigaction = core::mem::zeroed();
        let mut old: libc::sigaction = core::mem::zeroed();
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        match sigaction(signal, &raw const new as usize, &raw mut old as usize) {
            0 => old.sa_sigaction,
            _ => libc::SIG_ERR,
        }
    }
}

unsafe extern "C" fn pthread_sigmask(how: c_int, new: usize, old: usize) -> c_int {
    match serial::own_mask() {
        Some(mask) => unsafe { change_mask(mask, how, new, old) },
        None => unsafe { real::pthread_sigmask(how, new, old) },
    }
}

unsafe extern "C" fn sigprocmask(how: c_int, new: usize, old: usize) -> c_int {
    let Some(mask) = serial::own_mask() else {
        return unsafe { real::sigprocmask(how, new, old) };
    };
    match unsafe { change_mask(mask, how, new, old) } {
        0 => 0,
        error => {
            unsafe { *libc::__errno_location() = error };
            -1
        }
    }
}

/// Changes which signals the running thread does not want, where the kernel does not know; an error
/// number.
unsafe fn change_mask(now: u64, how: c_int, new: usize, old: usize) -> c_int {
    let wanted = match new {
        0 => None,
        place => Some(unsafe { (place as *const u64).read_unaligned() }),
    };
    let changed = match (wanted, how) {
        (None, _) => None,
        (Some(set), libc::SIG_BLOCK) => Some(now | set),
        (Some(set), libc::SIG_UNBLOCK) => Some(now & !set),
        (Some(set), libc::SIG_SETMASK) => Some(set),
        _ => return libc::EINVAL,
    };
    if old != 0 {
        unsafe { (old as *mut [u64; 16]).write_unaligned([0; 16]) };
        unsafe { (old as *mut u64).write_unaligned(now) };
    }
    changed.inspect(|mask| {
        serial::set_own_mask(*mask);
    });
    0
}

/// Who is loading or unloading a library, plus one, and how many times over: constructors may do so, too.
static LOADER: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Loads or unloads a library. One thread at a time does: whoever comes later finds the constructors and
/// destructors run, whoever has run them.
fn loading<R>(pc: usize, real: impl FnOnce() -> R) -> R {
    if !threads::visible() {
        return real();
    }
    let channel = channel::of_other(Other::Libraries, 0);
    let [owner, depth] = &LOADER;
    let is_serial = mode() == Mode::Serial;
    if is_serial {
        // SAFETY: the thread is known.
        let me = unsafe { threads::my_id() } as usize + 1;
        serial::point_before(Op::Receive, channel, 0, pc);
        while !matches!(owner.load(Ordering::Relaxed), 0) && owner.load(Ordering::Relaxed) != me {
            serial::wait_to_retry(channel, Kind::Once, Limit::None, None);
        }
        owner.store(me, Ordering::Relaxed);
        depth.fetch_add(1, Ordering::Relaxed);
    }
    let result = real();
    if is_serial && depth.fetch_sub(1, Ordering::Relaxed) == 1 {
        owner.store(0, Ordering::Relaxed);
    }
    event::sync(Op::Receive, channel, pc);
    channel::send(channel, pc);
    channel::wake(channel);
    result
}

/// A library may bring instrumented code and must be in the trace's list of modules. Its
/// constructors are the program's own code.
unsafe extern "C" fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void {
    let pc = caller();
    loading(pc, || {
        let library = unsafe { real::dlopen(path, flags) };
        if !library.is_null() && threads::visible() {
            let _inside = Inside::enter();
            facts::modules();
        }
        library
    })
}

// Memory that goes away or becomes unreadable: a write that was announced and whose value is not
// recorded yet must be looked at before.

unsafe extern "C" fn dlclose(library: *mut c_void) -> c_int {
    let pc = caller();
    serial::settle();
    loading(pc, || unsafe { real::dlclose(library) })
}

unsafe extern "C" fn mprotect(address: usize, length: usize, protection: c_int) -> c_int {
    serial::settle();
    mapping::protected(address, length, protection);
    unsafe { real::mprotect(address, length, protection) }
}

/// Leaves the functions, and the signal handler, that a jump leaves. glibc keeps the stack
/// pointer in the buffer's seventh word, mangled by a secret of the thread's.
unsafe fn before_jump(buffer: usize) {
    if mode() == Mode::Off {
        return;
    }
    // SAFETY: the program's jump buffer; the offset of the secret is part of glibc's ABI.
    let sp = unsafe {
        let mangled = *(buffer as *const u64).add(6);
        let secret: u64;
        asm!("mov {}, fs:[0x30]", out(reg) secret, options(nostack, readonly, pure));
        (mangled.rotate_right(17) ^ secret) as usize
    };
    if unsafe { leave_handler(sp) } && serial::is_green() {
        unsafe { fit_mask(buffer) };
    }
    if threads::visible() {
        // The function that called `setjmp` had its entry hook called with a stack pointer of
        // at least that less one word; everything that it called, two words less or lower.
        event::abandon_frames(sp - 16);
    }
}

/// A jump to `sp` out of a signal handler: it will not return to `run_handler`, nor to what the
/// handler interrupted. A jump within the handler stays between here and where it began.
unsafe fn leave_handler(sp: usize) -> bool {
    // SAFETY: the thread's own state.
    unsafe {
        let local = local();
        let here = &raw const local as usize;
        if (*local).handlers != 0 && !(here..(*local).handler_frame).contains(&sp) {
            (*local).handlers = 0;
            (*local).inside = 0;
            threads::reopen_mine();
            serial::leave_wait();
            return true;
        }
    }
    false
}

/// A jump out of a handler puts back the mask of a kernel thread that other threads use as well: it
/// must be the one that fits now. If it puts none back, what the handler's run has blocked stays
/// blocked for the thread.
unsafe fn fit_mask(buffer: usize) {
    const MASK_WAS_SAVED: usize = 64;
    const SAVED_MASK: usize = 72;
    let now = signals::mask();
    // SAFETY: the program's jump buffer, with glibc's layout.
    unsafe {
        let is_saved = ((buffer + MASK_WAS_SAVED) as *const c_int).read() != 0;
        if serial::is_at_home() {
            return;
        }
        let fitting = signals::carrier_mask();
        if is_saved {
            ((buffer + SAVED_MASK) as *mut u64).write(fitting);
        } else if let Some(mask) = serial::own_mask() {
            serial::set_own_mask(mask | now & !fitting);
        }
    }
}

unsafe extern "C" fn longjmp(buffer: usize, value: c_int) -> usize {
    unsafe {
        before_jump(buffer);
        real::longjmp(buffer, value)
    }
}

unsafe extern "C" fn siglongjmp(buffer: usize, value: c_int) -> usize {
    unsafe {
        before_jump(buffer);
        real::siglongjmp(buffer, value)
    }
}

unsafe extern "C" fn underscore_longjmp(buffer: usize, value: c_int) -> usize {
    unsafe {
        before_jump(buffer);
        real::_longjmp(buffer, value)
    }
}

unsafe extern "C" fn checked_longjmp(buffer: usize, value: c_int) -> usize {
    unsafe {
        before_jump(buffer);
        real::__longjmp_chk(buffer, value)
    }
}
