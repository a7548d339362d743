//! What happens to the process as a whole: `fork`, `exec` and libraries here; its [`end`], signal
//! [`handlers`], and [`jump`]s.

mod end;
mod handlers;
mod jump;

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

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
use crate::serial::signals;
use crate::{serial, sys, threads};

#[cfg(not(test))]
pub use end::ends;
pub use handlers::{handler_of, has_handlers, restarts};

trampoline! {
    "fork" => fork;
    "_Fork" => fork_quietly;
    "forkpty" => forkpty;
    "daemon" => daemon;
    "clone" => clone;
    "vfork" => fork; // A child that shares the parent's memory would write into its trace.
    "execve" => execve;
    "execv" => execv;
    "execvp" => execvp;
    "execvpe" => execvpe;
    "fexecve" => fexecve;
    "dlopen" => dlopen;
    "dlclose" => dlclose;
    "mprotect" => mprotect;
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
    unsafe { end::exit_now(code) };
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
    record::close(deadheat_wire::meta::EXECUTED, false);
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
