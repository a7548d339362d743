//! Whether a kernel thread sleeps in the kernel until another thread of the program wakes it, in
//! a call that nobody intercepts: libgomp makes its `futex` calls itself.

use crate::sys;

/// A wait as the kernel tells it: the call, its arguments, the stack and where it was made.
/// Two that are equal, without a step between them, are the same wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KernelWait([u64; 9]);

impl KernelWait {
    /// How a kernel thread of this process sleeps, if nothing but a wake-up or a signal can end that.
    pub fn of(tid: i32) -> Option<Self> {
        let mut text = [0; 256];
        let text = told_of(tid, &mut text)?;
        parse(text).filter(KernelWait::ends_by_others)
    }

    fn ends_by_others(&self) -> bool {
        const WAIT: u64 = libc::FUTEX_WAIT as u64;
        const WAIT_BITSET: u64 = libc::FUTEX_WAIT_BITSET as u64;
        const COMMAND: u64 = libc::FUTEX_CMD_MASK as u32 as u64;
        let [call, _, operation, _, limit, ..] = self.0;
        call == libc::SYS_futex as u64
            && matches!(operation & COMMAND, WAIT | WAIT_BITSET)
            && limit == 0
    }
}

/// What the kernel tells of the call that a kernel thread of this process is in.
pub fn told_of(tid: i32, text: &mut [u8; 256]) -> Option<&[u8]> {
    let mut path = [0; 48];
    let fd = sys::open(path_of(tid, &mut path), libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if fd < 0 {
        return None;
    }
    let count = sys::read(fd as i32, text);
    sys::close(fd as i32);
    text.get(..usize::try_from(count).ok()?)
}

/// `/proc/self/task/TID/syscall`, as a C string.
fn path_of(tid: i32, path: &mut [u8; 48]) -> &[u8] {
    let mut digits = [0; 10];
    let mut left = tid.unsigned_abs();
    let mut first = digits.len();
    while left > 0 || first == digits.len() {
        first -= 1;
        digits[first] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    let mut length = 0;
    for part in [&b"/proc/self/task/"[..], &digits[first..], b"/syscall\0"] {
        path[length..length + part.len()].copy_from_slice(part);
        length += part.len();
    }
    &path[..length]
}

/// `running`, or `-1 SP PC`, or the call's number in decimal and eight numbers in hexadecimal.
fn parse(text: &[u8]) -> Option<KernelWait> {
    let mut numbers = [0; 9];
    let mut words = text.trim_ascii().split(|byte| *byte == b' ');
    for (index, number) in numbers.iter_mut().enumerate() {
        let word = core::str::from_utf8(words.next()?).ok()?;
        *number = match word.strip_prefix("0x") {
            Some(digits) if index > 0 => u64::from_str_radix(digits, 16).ok()?,
            None if index == 0 => word.parse().ok()?,
            _ => return None,
        };
    }
    Some(KernelWait(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_lines_are_as_the_kernel_has_them() {
        let mut path = [0; 48];
        assert_eq!(path_of(1203, &mut path), b"/proc/self/task/1203/syscall\0");
        let wait = |text: &str| {
            parse(text.as_bytes())
                .filter(KernelWait::ends_by_others)
                .is_some()
        };
        assert!(
            wait("202 0x7f00 0x80 0x0 0x0 0x0 0x0 0x7ffc 0x7f58\n"),
            "a private wait"
        );
        assert!(
            wait("202 0x7f00 0x189 0x0 0x0 0x0 0xffffffff 0x7ffc 0x7f58\n"),
            "by real time"
        );
        assert!(
            !wait("202 0x7f00 0x80 0x0 0x7ffd 0x0 0x0 0x7ffc 0x7f58\n"),
            "it has a limit"
        );
        assert!(
            !wait("202 0x7f00 0x81 0x1 0x0 0x0 0x0 0x7ffc 0x7f58\n"),
            "a wake-up"
        );
        assert!(
            !wait("0 0x7f00 0x0 0x1 0x0 0x0 0x0 0x7ffc 0x7f58\n"),
            "a read"
        );
        assert!(!wait("running\n"));
        assert!(!wait("-1 0x7ffc 0x7f58\n"));
        assert!(!wait(""));
    }

    #[test]
    fn a_thread_that_waits_for_another_is_seen() {
        use std::sync::atomic::{AtomicI32, Ordering};
        let (tid, gate) = (AtomicI32::new(0), std::sync::Mutex::new(()));
        let held = gate.lock().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                tid.store(sys::gettid(), Ordering::SeqCst);
                drop(gate.lock());
            });
            // It ends by the wait being seen, or by the test runner.
            let wait = loop {
                match tid.load(Ordering::SeqCst) {
                    0 => std::thread::yield_now(),
                    tid => match KernelWait::of(tid) {
                        Some(wait) => break wait,
                        None => std::thread::yield_now(),
                    },
                }
            };
            assert!(KernelWait::of(tid.load(Ordering::SeqCst)) == Some(wait));
            assert!(KernelWait::of(sys::gettid()).is_none(), "this one runs");
            drop(held);
        });
    }
}
