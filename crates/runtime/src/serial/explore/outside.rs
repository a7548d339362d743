//! What copies may not do to the world: they share the program's files, sockets and terminals with the user.
//!
//! * What a copy prints goes to a file of the search's.
//! * A file that is opened for writing is a private copy in memory instead ([`answer`]), and so is one that was open before. Opened once more,
//!   for writing or for reading ([`reading`]), it is the same copy: locks on it keep threads apart, and what was written is read.
//! * A file that is read has a position of its own in every copy.
//! * Everything else that others could notice or miss ends the run: it is not let happen, and the tool is told what kind it was.
//!
//! The kernel watches over it (a seccomp filter, inherited by every copy), since the C library makes its calls without asking us.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use deadheat_wire::explore::{effect, ending};

use super::board::Shared;
use crate::{memory, sys};

/// Descriptors that are looked at; the runtime's own are above.
const MOST_FILES: usize = 256;
/// The largest file that is copied.
const MOST_BYTES: usize = 16 << 20;
/// An argument that the kernel does not look at, of our own calls: the server's `clone` (the third), and opening a copy again (the
/// last). These are let pass.
pub const PASS: usize = 0x6465_6164;

/// What is done about a descriptor in every copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    /// It is private, or nobody's business.
    None,
    /// It gets a position of its own.
    Reopen,
    /// It becomes a private copy.
    Copy,
    /// It may not be written.
    NoWrite,
    /// It may be neither read nor written.
    Nothing,
}

/// What was decided before the first copy.
struct Decided(UnsafeCell<([Care; MOST_FILES], Option<Shared>)>);
// SAFETY: written once, by the thread that has the turn, before there is a copy; copies only read it.
unsafe impl Sync for Decided {}
static DECIDED: Decided = Decided(UnsafeCell::new(([Care::None; MOST_FILES], None)));

/// Whether the filter is there.
static WATCHED: AtomicU32 = AtomicU32::new(0);

/// Before the first copy, in the program that is copied: looks at what is open, and sets the watch.
pub fn prepare(board: Shared) {
    let Some(mut filter) = Filter::new() else {
        return;
    };
    // SAFETY: see `Decided`.
    let (cares, known) = unsafe { &mut *DECIDED.0.get() };
    *known = Some(board);
    for (fd, care) in cares.iter_mut().enumerate() {
        *care = if fd == 1 || fd == 2 {
            Care::None
        } else {
            look_at(fd)
        };
    }
    for number in ALWAYS {
        filter.refuse_call(number);
    }
    filter.refuse_opening(libc::SYS_openat);
    filter.refuse_opening(libc::SYS_open);
    filter.refuse_processes();
    for (fd, care) in cares.iter().enumerate() {
        if matches!(care, Care::NoWrite | Care::Nothing) {
            WRITING
                .iter()
                .for_each(|call| filter.refuse_file(*call, fd));
        }
        if *care == Care::Nothing {
            READING
                .iter()
                .for_each(|call| filter.refuse_file(*call, fd));
        }
    }
    if handle_refusals() && filter.install() {
        WATCHED.store(1, Ordering::Relaxed);
    }
}

/// Whether copies are kept from the world.
pub fn is_watched() -> bool {
    WATCHED.load(Ordering::Relaxed) != 0
}

/// In every copy, before it runs.
pub fn contain() {
    // SAFETY: see `Decided`.
    let (cares, _) = unsafe { &*DECIDED.0.get() };
    for (fd, care) in cares.iter().enumerate() {
        let new = match care {
            Care::Reopen => reopen(fd),
            Care::Copy => copy_of(fd as isize),
            _ => continue,
        };
        if new >= 0 {
            let position = seek(fd, 0, libc::SEEK_CUR);
            seek(new as usize, position.max(0) as usize, libc::SEEK_SET);
            let keep = call(libc::SYS_fcntl, [fd, libc::F_GETFD as usize, 0]);
            let flags = if keep & libc::FD_CLOEXEC as isize != 0 {
                libc::O_CLOEXEC
            } else {
                0
            };
            call(libc::SYS_dup3, [new as usize, fd, flags as usize]);
            sys::close(new as i32);
        }
    }
}

/// What is to be done about a descriptor.
fn look_at(fd: usize) -> Care {
    // SAFETY: a place for the kernel's answer.
    let mut about: libc::stat = unsafe { core::mem::zeroed() };
    if call(libc::SYS_fstat, [fd, &raw mut about as usize, 0]) < 0 {
        return Care::None;
    }
    let mode = call(libc::SYS_fcntl, [fd, libc::F_GETFL as usize, 0]) as i32;
    let writes = mode & libc::O_ACCMODE != libc::O_RDONLY;
    match about.st_mode & libc::S_IFMT {
        libc::S_IFREG if writes && about.st_size as usize <= MOST_BYTES => Care::Copy,
        libc::S_IFREG if writes => Care::NoWrite,
        libc::S_IFREG => Care::Reopen,
        // Zeroes and random numbers are the same for all; a terminal is not.
        libc::S_IFCHR if about.st_rdev >> 8 == 1 => Care::None,
        libc::S_IFCHR | libc::S_IFSOCK => Care::Nothing,
        libc::S_IFIFO if is_shared(fd, &about) => Care::Nothing,
        // What has no file at all (`epoll`, `eventfd`): all copies would have one between them.
        0 => Care::Nothing,
        _ => Care::None,
    }
}

/// Whether the other end of a pipe is somebody else's.
fn is_shared(fd: usize, about: &libc::stat) -> bool {
    let end =
        |fd: usize| call(libc::SYS_fcntl, [fd, libc::F_GETFL as usize, 0]) as i32 & libc::O_ACCMODE;
    !(0..MOST_FILES).any(|other| {
        // SAFETY: a place for the kernel's answer.
        let mut its: libc::stat = unsafe { core::mem::zeroed() };
        other != fd
            && call(libc::SYS_fstat, [other, &raw mut its as usize, 0]) == 0
            && (its.st_dev, its.st_ino) == (about.st_dev, about.st_ino)
            && end(other) != end(fd)
    })
}

/// The same file with a position of its own, for reading.
fn reopen(fd: usize) -> isize {
    reopen_for(fd, libc::O_RDONLY | libc::O_CLOEXEC)
}

/// The same file, opened once more.
fn reopen_for(fd: usize, flags: i32) -> isize {
    let mut path = *b"/proc/self/fd/\0\0\0\0";
    let digits = [fd / 100, fd / 10 % 10, fd % 10];
    let first = digits.iter().position(|digit| *digit > 0).unwrap_or(2);
    for (at, digit) in digits[first..].iter().enumerate() {
        path[14 + at] = b'0' + *digit as u8;
    }
    let (folder, path) = (libc::AT_FDCWD as usize, path.as_ptr() as usize);
    // The path is a link of the kernel's own.
    let flags = flags & !libc::O_NOFOLLOW;
    sys::call(libc::SYS_openat, [folder, path, flags as usize, 0, 0, PASS])
}

/// A private copy of a file's contents, in memory.
fn copy_of(fd: isize) -> isize {
    let name = c"deadheat".as_ptr() as usize;
    let copy = call(libc::SYS_memfd_create, [name, 0, 0]);
    if copy >= 0 && fd >= 0 {
        let mut from = 0i64;
        let mut left = MOST_BYTES;
        while left > 0 {
            let args = [
                copy as usize,
                fd as usize,
                &raw mut from as usize,
                left,
                0,
                0,
            ];
            match sys::call(libc::SYS_sendfile, args) {
                got @ 1.. => left = left.saturating_sub(got as usize),
                _ => break,
            }
        }
        seek(copy as usize, 0, libc::SEEK_SET);
    }
    copy
}

fn seek(fd: usize, to: usize, from: i32) -> isize {
    call(libc::SYS_lseek, [fd, to, from as usize])
}

fn call(number: libc::c_long, [a, b, c]: [usize; 3]) -> isize {
    sys::call(number, [a, b, c, 0, 0, 0])
}

/// Catches what the filter refuses.
fn handle_refusals() -> bool {
    // SAFETY: a plain record; zero is a valid value of all its parts.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = refused as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
    // SAFETY: a handler of the right type, which touches only its own memory.
    unsafe { crate::intercept::real::sigaction(libc::SIGSYS, &raw const action as usize, 0) == 0 }
}

/// A call that is not let happen: it is answered in another way, or the run ends.
extern "C" fn refused(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes both; the number of the call stands behind the address of its instruction.
    unsafe {
        let number = (info as *const u32).byte_add(24).read();
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let argument = |register: i32| registers[register as usize] as usize;
        let kind = effect_of(number.into());
        let (_, Some(board)) = *DECIDED.0.get() else {
            sys::exit_group(0);
        };
        let (folder, path, flags) = match libc::c_long::from(number) {
            libc::SYS_openat => (
                argument(libc::REG_RDI),
                argument(libc::REG_RSI),
                argument(libc::REG_RDX),
            ),
            libc::SYS_open => (
                libc::AT_FDCWD as usize,
                argument(libc::REG_RDI),
                argument(libc::REG_RSI),
            ),
            _ => {
                board.board().effects |= kind;
                board.board().ending = ending::OUTSIDE;
                sys::exit_group(0);
            }
        };
        if flags & WRITES as usize == 0 {
            registers[libc::REG_RAX as usize] = reading(folder, path, flags as i32) as i64;
            return;
        }
        board.board().effects |= kind;
        let Some(answer) = answer(folder, path, flags as i32) else {
            board.board().ending = ending::OUTSIDE;
            sys::exit_group(0);
        };
        registers[libc::REG_RAX as usize] = answer as i64;
    }
}

/// Files of which this copy of the program has private copies, so many at most, with descriptors that are kept for them.
struct Copied {
    /// Which file, as a number that is not 0.
    files: [AtomicU64; MOST_COPIED],
    kept: [AtomicU32; MOST_COPIED],
}

const MOST_COPIED: usize = 64;
/// The first of the descriptors that are kept: programs use lower ones.
const KEPT_FROM: usize = 512;

static COPIED: Copied = Copied {
    files: [const { AtomicU64::new(0) }; MOST_COPIED],
    kept: [const { AtomicU32::new(0) }; MOST_COPIED],
};

impl Copied {
    /// Whether no file has a copy.
    fn is_empty(&self) -> bool {
        self.files[0].load(Ordering::Acquire) == 0
    }

    /// The descriptor that is kept for a file.
    fn find(&self, file: u64) -> Option<usize> {
        let mut files = self.files.iter();
        let at = files.position(|known| known.load(Ordering::Acquire) == file)?;
        let kept = self.kept[at].load(Ordering::Acquire);
        (kept != 0).then_some(kept as usize)
    }

    /// Keeps a descriptor for a file that was not known. Where there is no room, it will not be known again.
    fn keep(&self, file: u64, copy: isize) {
        let kept = call(
            libc::SYS_fcntl,
            [copy as usize, libc::F_DUPFD_CLOEXEC as usize, KEPT_FROM],
        );
        if !(1..1000).contains(&kept) {
            return;
        }
        let free = |place: &&AtomicU64| {
            place
                .compare_exchange(0, file, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
        };
        match self.files.iter().position(|place| free(&place)) {
            Some(at) => self.kept[at].store(kept as u32, Ordering::Release),
            None => sys::close(kept as i32),
        }
    }
}

/// A number for a file: one that is there by what the kernel calls it, one that is not by its path.
fn number_of(there: isize, path: usize) -> u64 {
    const PRIME: u64 = 0x100_0000_01b3;
    if there >= 0 {
        // SAFETY: a place for the kernel's answer.
        let mut about: libc::stat = unsafe { core::mem::zeroed() };
        call(
            libc::SYS_fstat,
            [there as usize, &raw mut about as usize, 0],
        );
        return (about.st_dev << 40 ^ about.st_ino) | 1 << 63;
    }
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for at in 0.. {
        // SAFETY: the program's path, which ends with a zero; the kernel has read it, too.
        let byte = unsafe { *((path + at) as *const u8) };
        if byte == 0 {
            break;
        }
        hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    }
    (hash >> 1) | 1
}

/// How a file is opened for writing, or made.
const WRITES: i32 = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;

/// A file is to be opened for reading: if there is a private copy of it, that is.
fn reading(folder: usize, path: usize, flags: i32) -> isize {
    let there = sys::call(libc::SYS_openat, [folder, path, flags as usize, 0, 0, PASS]);
    if there < 0 && there != -(libc::ENOENT as isize) || COPIED.is_empty() {
        return there;
    }
    let Some(kept) = COPIED.find(number_of(there, path)) else {
        return there;
    };
    if there >= 0 {
        sys::close(there as i32);
    }
    reopen_for(kept, flags)
}

/// A file is to be opened for writing: a private copy of it is. `None` if it is a FIFO, which leads elsewhere.
fn answer(folder: usize, path: usize, flags: i32) -> Option<isize> {
    let read = (libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK) as usize;
    let there = sys::call(libc::SYS_openat, [folder, path, read, 0, 0, PASS]);
    let is_missing = there == -(libc::ENOENT as isize);
    if there < 0 && !(is_missing && flags & libc::O_CREAT != 0) {
        return Some(there);
    }
    if there >= 0 && is_fifo(there as usize) {
        return None;
    }
    if there >= 0 && flags & libc::O_EXCL != 0 {
        sys::close(there as i32);
        return Some(-(libc::EEXIST as isize));
    }
    let file = number_of(there, path);
    if let Some(kept) = COPIED.find(file) {
        if there >= 0 {
            sys::close(there as i32);
        }
        // One that this copy has made is there now.
        if flags & libc::O_EXCL != 0 {
            return Some(-(libc::EEXIST as isize));
        }
        return Some(reopen_for(kept, flags & !libc::O_CREAT));
    }
    let from = if flags & libc::O_TRUNC != 0 {
        -1
    } else {
        there
    };
    let copy = copy_of(from);
    if there >= 0 {
        sys::close(there as i32);
    }
    if copy >= 0 {
        COPIED.keep(file, copy);
    }
    if copy >= 0 && flags & libc::O_APPEND != 0 {
        call(
            libc::SYS_fcntl,
            [
                copy as usize,
                libc::F_SETFL as usize,
                libc::O_APPEND as usize,
            ],
        );
    }
    Some(copy)
}

/// Whether a descriptor is an end of a FIFO.
fn is_fifo(fd: usize) -> bool {
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    call(libc::SYS_fstat, [fd, status.as_mut_ptr() as usize, 0]);
    // SAFETY: zero, or filled in by the system.
    let mode = unsafe { status.assume_init_ref() }.st_mode;
    mode & libc::S_IFMT == libc::S_IFIFO
}

/// What kind of effect a call has.
fn effect_of(number: libc::c_long) -> u32 {
    match number {
        libc::SYS_connect
        | libc::SYS_bind
        | libc::SYS_listen
        | libc::SYS_accept
        | libc::SYS_accept4
        | libc::SYS_sendto
        | libc::SYS_sendmsg
        | libc::SYS_sendmmsg => effect::SOCKETS,
        libc::SYS_mq_open
        | libc::SYS_mq_unlink
        | libc::SYS_mq_timedsend
        | libc::SYS_mq_timedreceive
        | libc::SYS_msgget
        | libc::SYS_msgsnd
        | libc::SYS_msgrcv
        | libc::SYS_semget
        | libc::SYS_semop
        | libc::SYS_semtimedop
        | libc::SYS_flock => effect::SHARING,
        libc::SYS_clone
        | libc::SYS_fork
        | libc::SYS_vfork
        | libc::SYS_execve
        | libc::SYS_execveat
        | libc::SYS_kill
        | libc::SYS_pidfd_send_signal
        | libc::SYS_rt_sigqueueinfo
        | libc::SYS_process_vm_writev => effect::PROCESSES,
        libc::SYS_read
        | libc::SYS_readv
        | libc::SYS_pread64
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_epoll_ctl
        | libc::SYS_epoll_wait
        | libc::SYS_epoll_pwait => effect::READING,
        _ => effect::FILES,
    }
}

/// Calls that are never let happen.
const ALWAYS: [libc::c_long; 50] = [
    libc::SYS_creat,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_rmdir,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    libc::SYS_chmod,
    libc::SYS_fchmodat,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_mknod,
    libc::SYS_mknodat,
    libc::SYS_setxattr,
    libc::SYS_mount,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_timedreceive,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_flock,
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
    libc::SYS_pidfd_send_signal,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_process_vm_writev,
];
/// Calls that write to a descriptor, and calls that read from one.
const WRITING: [libc::c_long; 10] = [
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_pwritev,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_sendfile,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
];
const READING: [libc::c_long; 8] = [
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
];

/// A program of the kernel's filter language: a row of tests, each of which ends in a verdict or goes on to the next.
struct Filter {
    code: &'static mut [libc::sock_filter],
    len: usize,
}

/// As long as the kernel takes.
const MOST_CODE: usize = 4096;

impl Filter {
    /// An empty one; `None` if there is no memory. It is too large for a small stack.
    fn new() -> Option<Self> {
        let code: *mut libc::sock_filter = memory::pages(MOST_CODE);
        (!code.is_null()).then(|| Filter {
            // SAFETY: just mapped, zeroed, and nobody else knows of it.
            code: unsafe { core::slice::from_raw_parts_mut(code, MOST_CODE) },
            len: 0,
        })
    }

    fn push(&mut self, code: u32, k: u32, jt: u8, jf: u8) {
        if let Some(place) = self.code.get_mut(self.len) {
            let code = code as u16;
            *place = libc::sock_filter { code, jt, jf, k };
        }
        self.len += 1;
    }

    /// Looks at a word: the call's number, or the lower half of an argument.
    fn load(&mut self, at: u32) {
        self.push(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, 0, 0);
    }

    fn load_argument(&mut self, index: u32) {
        self.load(16 + 8 * index);
    }

    /// If it is `k`, the next `then` instructions are skipped, else `other`.
    fn equals(&mut self, k: u32, then: u8, other: u8) {
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, k, then, other);
    }

    fn has(&mut self, bits: u32, then: u8, other: u8) {
        self.push(
            libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K,
            bits,
            then,
            other,
        );
    }

    fn verdict(&mut self, verdict: u32) {
        self.push(libc::BPF_RET | libc::BPF_K, verdict, 0, 0);
    }

    fn refuse_call(&mut self, number: libc::c_long) {
        self.load(0);
        self.equals(number as u32, 0, 1);
        self.verdict(libc::SECCOMP_RET_TRAP);
    }

    /// Opening, unless it is our own: which files have copies is not known to the kernel.
    fn refuse_opening(&mut self, number: libc::c_long) {
        self.load(0);
        self.equals(number as u32, 0, 3);
        // The kernel does not look at this one: it marks our own calls.
        self.load_argument(5);
        self.equals(PASS as u32, 1, 0);
        self.verdict(libc::SECCOMP_RET_TRAP);
    }

    /// New processes, unless they are threads or the search's own; and signals for others. What the newer call for both makes cannot be told apart
    /// here: it is said not to be there, and the C library makes the older one.
    fn refuse_processes(&mut self) {
        self.load(0);
        self.equals(libc::SYS_clone3 as u32, 0, 1);
        self.verdict(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32);
        self.load(0);
        self.equals(libc::SYS_clone as u32, 0, 5);
        self.load_argument(0);
        self.has(libc::CLONE_THREAD as u32, 3, 0);
        self.load_argument(2);
        self.equals(PASS as u32, 1, 0);
        self.verdict(libc::SECCOMP_RET_TRAP);
        self.load(0);
        self.equals(libc::SYS_kill as u32, 0, 3);
        self.load_argument(1);
        self.equals(0, 1, 0);
        self.verdict(libc::SECCOMP_RET_TRAP);
    }

    fn refuse_file(&mut self, number: libc::c_long, fd: usize) {
        self.load(0);
        self.equals(number as u32, 0, 3);
        self.load_argument(0);
        self.equals(fd as u32, 0, 1);
        self.verdict(libc::SECCOMP_RET_TRAP);
    }

    /// Puts it in force for this kernel thread and all that it makes.
    fn install(&mut self) -> bool {
        self.verdict(libc::SECCOMP_RET_ALLOW);
        if self.len > MOST_CODE {
            return false;
        }
        let program = libc::sock_fprog {
            len: self.len as u16,
            filter: self.code.as_mut_ptr(),
        };
        let no_new = [libc::PR_SET_NO_NEW_PRIVS as usize, 1, 0, 0, 0, 0];
        let filter = [
            libc::SECCOMP_SET_MODE_FILTER as usize,
            0,
            &raw const program as usize,
        ];
        sys::call(libc::SYS_prctl, no_new) == 0 && call(libc::SYS_seccomp, filter) == 0
    }
}
