//! Contexts: a thread's stack, registers and thread-local storage, without a kernel thread.
//!
//! Every thread of the program is born as a kernel thread, which gives it stack and storage:
//! its *home*. Home saves the context and goes to sleep without touching the stack again. From
//! then on the *carrier*, one more kernel thread, runs the contexts of all threads by loading
//! their stack pointers and the FS register. A context returns home to make a call that blocks
//! in the kernel, and to end, so that glibc's own end of a thread is left as it is.
//!
//! A saved context looks the same whoever saved it (`switch` on the carrier, `park` at home), so
//! whoever comes next can resume it.

use core::arch::naked_asm;
use core::sync::atomic::{AtomicU32, Ordering};

/// A context that is not running. The offsets are used below.
#[repr(C)]
pub struct Context {
    /// Its stack pointer; on its stack lie the registers that a call must preserve.
    rsp: usize,
    /// Its thread-local storage.
    fs: usize,
    /// Set to wake the kernel thread at home.
    pub token: AtomicU32,
    /// Home sleeps: whoever wants may run the context.
    pub parked: AtomicU32,
    /// The end of a small stack for home while it sleeps: the C library's own signals may be
    /// handled there, and the context's stack is in use elsewhere.
    parking: usize,
}

/// The size of that stack; a signal frame with the largest register state takes half of it.
const PARKING_BYTES: usize = 32 * 1024;

impl Context {
    /// A context that was never saved.
    pub const fn new() -> Self {
        Context {
            rsp: 0,
            fs: 0,
            token: AtomicU32::new(0),
            parked: AtomicU32::new(0),
            parking: 0,
        }
    }

    /// Must be called before the first [`park`].
    pub fn prepare(&mut self) {
        if self.parking == 0 {
            self.parking = crate::memory::pages::<u8>(PARKING_BYTES) as usize + PARKING_BYTES;
        }
    }

    /// A new context that takes over the parking stack of one whose thread is gone.
    pub fn recycled(&self) -> Self {
        Context {
            parking: self.parking,
            ..Context::new()
        }
    }
}

/// How often a home went to sleep: the carrier waits for it to change.
pub static ARRIVALS: AtomicU32 = AtomicU32::new(0);

/// Whether contexts can be switched here: the kernel must allow programs to set FS.
pub fn supported() -> bool {
    const HWCAP2_FSGSBASE: u64 = 2;
    // SAFETY: asks for a number.
    unsafe { libc::getauxval(libc::AT_HWCAP2) & HWCAP2_FSGSBASE != 0 }
}

/// Saves the running context in `from` and runs `to`; returns when somebody runs `from`.
///
/// # Safety
/// Called on the carrier by the context `from`; `to` is saved and nobody else runs it.
#[unsafe(naked)]
pub unsafe extern "C" fn switch(_from: *mut Context, _to: *const Context) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "stmxcsr [rsp]",
        "fnstcw [rsp + 4]",
        "mov [rdi], rsp",
        "rdfsbase rax",
        "mov [rdi + 8], rax",
        "mov rsp, [rsi]",
        "mov rax, [rsi + 8]",
        "wrfsbase rax",
        "ldmxcsr [rsp]",
        "fldcw [rsp + 4]",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// At home: saves the running context, says so, and sleeps until the token is set; by then the
/// context may have run elsewhere, and goes on here from where it is. If `token` is null the
/// kernel thread sleeps for ever.
///
/// # Safety
/// The context is the caller's own.
#[unsafe(naked)]
pub unsafe extern "C" fn park(
    _context: *mut Context,
    _token: *const AtomicU32,
    _arrivals: *const AtomicU32,
) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "stmxcsr [rsp]",
        "fnstcw [rsp + 4]",
        "mov [rdi], rsp",
        "mov rax, fs:[0]",
        "mov [rdi + 8], rax",
        "mov rbx, rdi",
        "mov rbp, rsi",
        "mov rsp, [rbx + 24]",
        // From here on the stack belongs to whoever runs the context.
        "mov dword ptr [rbx + 20], 1",
        "lock inc dword ptr [rdx]",
        "mov rdi, rdx",
        "mov eax, 202", // futex(arrivals, FUTEX_WAKE_PRIVATE, all): the carrier may wait, and a creator
        "mov esi, 129",
        "mov edx, 0x7fffffff",
        "syscall",
        "2:",
        "test rbp, rbp",
        "jz 4f",
        "xor eax, eax",
        "xchg [rbp], eax",
        "test eax, eax",
        "jne 3f",
        "mov eax, 202", // futex(token, FUTEX_WAIT_PRIVATE, 0)
        "mov rdi, rbp",
        "mov esi, 128",
        "xor edx, edx",
        "xor r10d, r10d",
        "syscall",
        "jmp 2b",
        "3:",
        "mov rsp, [rbx]",
        "ldmxcsr [rsp]",
        "fldcw [rsp + 4]",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        "4:",
        "mov eax, 34", // pause()
        "syscall",
        "jmp 4b",
    )
}

/// Where in a thread's own memory glibc keeps the kernel's number of it, from the FS register on; 0: not known.
static NUMBER_AT: AtomicU32 = AtomicU32::new(0);

/// Looks where glibc keeps the kernel's number of a thread, which is `tid` for the running context. Whether it was found.
pub fn find_number(tid: u32) -> bool {
    const MOST: usize = 2048;
    let start: usize;
    // SAFETY: the first word that FS points to is its own address.
    unsafe { core::arch::asm!("mov {}, fs:[0]", out(reg) start, options(nostack, readonly, pure)) };
    let found = (64..MOST).step_by(4).find(|at| {
        // SAFETY: glibc's own record of the thread lies there and is longer.
        tid != 0 && unsafe { ((start + at) as *const u32).read_volatile() } == tid
    });
    NUMBER_AT.store(found.unwrap_or(0) as u32, Ordering::Relaxed);
    found.is_some()
}

/// Where glibc keeps the kernel's number of a context's thread: the kernel clears it when the thread has ended.
pub fn number(context: &Context) -> &'static AtomicU32 {
    let place = context.fs + NUMBER_AT.load(Ordering::Relaxed) as usize;
    // SAFETY: glibc's own record of the thread, which the caller knows to be there.
    unsafe { AtomicU32::from_ptr(place as *mut u32) }
}

/// Where glibc keeps the list of robust mutexes of a context's thread: behind the number, and a word.
pub fn robust_list(context: &Context) -> usize {
    const BEHIND: usize = 16;
    context.fs + NUMBER_AT.load(Ordering::Relaxed) as usize + BEHIND
}

/// Makes a kernel thread that goes on with a saved context, as its home would; the kernel's number of it is in `home` before it runs. In a copy of the process
/// the homes of the original are not there. glibc's number of the thread stays what it was (locks know their owners by it) until
/// the kernel thread ends: whoever joins waits for that.
///
/// # Safety
/// The context is saved, nobody runs it, and [`find_number`] has found.
pub unsafe fn revive(context: *const Context, home: *mut i32) {
    // SAFETY: as the caller says.
    unsafe { clone_into(context, NUMBER_AT.load(Ordering::Relaxed) as usize, home) };
}

#[unsafe(naked)]
unsafe extern "C" fn clone_into(
    _context: *const Context,
    _number_at: usize,
    _home: *mut i32,
) -> i32 {
    naked_asm!(
        "mov r8, [rdi + 8]",   // its thread-local storage
        "lea r10, [r8 + rsi]", // cleared at its end
        "mov rsi, [rdi]",      // its stack
        // VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID
        "mov edi, 0x3d0f00",
        "mov eax, 56",
        "syscall",
        "test eax, eax",
        "jz 2f",
        "ret",
        "2:",
        "ldmxcsr [rsp]",
        "fldcw [rsp + 4]",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

const _: () = assert!(core::mem::offset_of!(Context, fs) == 8);
const _: () = assert!(core::mem::offset_of!(Context, parked) == 20);
const _: () = assert!(core::mem::offset_of!(Context, parking) == 24);
