//! System calls, made directly: the C library's wrappers are intercepted, set `errno`, and may
//! not be there yet.

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering};

/// A system call with up to six arguments; a result in -4095..0 is a negated error number.
#[inline]
pub fn call(number: libc::c_long, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the kernel preserves all registers but rax, rcx and r11, as declared. What the
    // call does to memory is the caller's business: each wrapper below passes valid pointers.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            in("r8") args[4],
            in("r9") args[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

fn call3(number: libc::c_long, a: usize, b: usize, c: usize) -> isize {
    call(number, [a, b, c, 0, 0, 0])
}

/// Writes bytes; the number written or a negated error number.
pub fn write(fd: i32, bytes: &[u8]) -> isize {
    call3(
        libc::SYS_write,
        fd as usize,
        bytes.as_ptr() as usize,
        bytes.len(),
    )
}

/// Reads bytes; the number read or a negated error number.
pub fn read(fd: i32, bytes: &mut [u8]) -> isize {
    call3(
        libc::SYS_read,
        fd as usize,
        bytes.as_mut_ptr() as usize,
        bytes.len(),
    )
}

/// Reads entries of a folder; the number of bytes or a negated error number.
pub fn entries(folder: i32, bytes: &mut [u8]) -> isize {
    call3(
        libc::SYS_getdents64,
        folder as usize,
        bytes.as_mut_ptr() as usize,
        bytes.len(),
    )
}

/// Writes two pieces as one.
pub fn writev(fd: i32, first: &[u64], second: &[u64]) -> isize {
    let pieces = [
        libc::iovec {
            iov_base: first.as_ptr() as *mut _,
            iov_len: size_of_val(first),
        },
        libc::iovec {
            iov_base: second.as_ptr() as *mut _,
            iov_len: size_of_val(second),
        },
    ];
    call3(libc::SYS_writev, fd as usize, pieces.as_ptr() as usize, 2)
}

/// Opens a file; `path` ends with a zero byte.
pub fn open(path: &[u8], flags: i32, mode: u32) -> isize {
    debug_assert_eq!(path.last(), Some(&0));
    call(
        libc::SYS_openat,
        [
            libc::AT_FDCWD as usize,
            path.as_ptr() as usize,
            flags as usize,
            mode as usize,
            0,
            0,
        ],
    )
}

/// Closes a file.
pub fn close(fd: i32) {
    call3(libc::SYS_close, fd as usize, 0, 0);
}

/// Moves a descriptor out of the range that programs count on; an error stays one.
pub fn high(fd: isize) -> isize {
    if fd < 0 {
        return fd;
    }
    let moved = call(
        libc::SYS_fcntl,
        [fd as usize, libc::F_DUPFD_CLOEXEC as usize, 900, 0, 0, 0],
    );
    if moved < 0 {
        return fd;
    }
    close(fd as i32);
    moved
}

/// Removes a file; `path` ends with a zero byte.
pub fn unlink(path: &[u8]) {
    debug_assert_eq!(path.last(), Some(&0));
    call3(libc::SYS_unlink, path.as_ptr() as usize, 0, 0);
}

/// Maps memory: anonymous if `fd` is negative, otherwise that part of the file, shared.
/// Null on failure.
pub fn map(bytes: usize, fd: i32, offset: usize) -> *mut u8 {
    let flags = if fd < 0 {
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE
    } else {
        libc::MAP_SHARED
    };
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let address = call(
        libc::SYS_mmap,
        [
            0,
            bytes,
            protection as usize,
            flags as usize,
            fd as isize as usize,
            offset,
        ],
    );
    if (-4095..0).contains(&address) {
        core::ptr::null_mut()
    } else {
        address as *mut u8
    }
}

/// The process.
pub fn getpid() -> u32 {
    call3(libc::SYS_getpid, 0, 0, 0) as u32
}

/// The kernel thread that runs this.
pub fn gettid() -> i32 {
    call3(libc::SYS_gettid, 0, 0, 0) as i32
}

/// Whether a kernel thread of this process still exists.
pub fn thread_exists(tid: i32) -> bool {
    call3(libc::SYS_tgkill, getpid() as usize, tid as usize, 0) == 0
}

/// Lets other threads run.
pub fn yield_now() {
    call3(libc::SYS_sched_yield, 0, 0, 0);
}

/// Dies at once, and whatever the program has to say about that.
pub fn kill_oneself() -> ! {
    loop {
        call3(libc::SYS_kill, getpid() as usize, libc::SIGKILL as usize, 0);
    }
}

/// Ends the process.
pub fn exit_group(code: i32) -> ! {
    loop {
        call3(libc::SYS_exit_group, code as usize, 0, 0);
    }
}

/// Sleeps until `word` is not `expected`, a wake-up, or the time is up (0: no limit).
pub fn futex_wait(word: &AtomicU32, expected: u32, milliseconds: u64) {
    let limit = libc::timespec {
        tv_sec: (milliseconds / 1000) as i64,
        tv_nsec: (milliseconds % 1000 * 1_000_000) as i64,
    };
    let limit = if milliseconds == 0 {
        0
    } else {
        &raw const limit as usize
    };
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    let word = word.as_ptr() as usize;
    call(
        libc::SYS_futex,
        [word, operation as usize, expected as usize, limit, 0, 0],
    );
}

/// Wakes up to `count` sleepers of `word`.
pub fn futex_wake(word: &AtomicU32, count: u32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    call3(
        libc::SYS_futex,
        word.as_ptr() as usize,
        operation as usize,
        count as usize,
    );
}

/// The same between processes, in memory that they share.
pub fn futex_wait_shared(word: &AtomicU32, expected: u32, milliseconds: u64) {
    let limit = libc::timespec {
        tv_sec: (milliseconds / 1000) as i64,
        tv_nsec: (milliseconds % 1000 * 1_000_000) as i64,
    };
    let (word, limit) = (word.as_ptr() as usize, &raw const limit as usize);
    call(
        libc::SYS_futex,
        [
            word,
            libc::FUTEX_WAIT as usize,
            expected as usize,
            limit,
            0,
            0,
        ],
    );
}

/// Wakes all sleepers of a word that is shared between processes.
pub fn futex_wake_shared(word: &AtomicU32) {
    let all = i32::MAX as usize;
    call3(
        libc::SYS_futex,
        word.as_ptr() as usize,
        libc::FUTEX_WAKE as usize,
        all,
    );
}

/// Milliseconds of a clock that only goes forward.
pub fn milliseconds() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    call3(
        libc::SYS_clock_gettime,
        libc::CLOCK_MONOTONIC as usize,
        &raw mut time as usize,
        0,
    );
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}

/// A lock for the runtime's rare slow paths; held for a few instructions or one system call.
pub struct Spin(AtomicU32);

impl Spin {
    /// An open lock.
    pub const fn new() -> Self {
        Spin(AtomicU32::new(0))
    }

    /// Takes it.
    #[inline]
    pub fn lock(&self) {
        while self
            .0
            .compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            let mut spins = 0;
            while self.0.load(Ordering::Relaxed) != 0 {
                core::hint::spin_loop();
                spins += 1;
                if spins > 100 {
                    yield_now();
                    spins = 0;
                }
            }
        }
    }

    /// Gives it back.
    #[inline]
    pub fn unlock(&self) {
        self.0.store(0, Ordering::Release);
    }
}
