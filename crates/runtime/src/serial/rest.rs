//! Whether the process has come to rest: no kernel thread of it runs but the one that asks.
//!
//! A thread that sleeps in a call that nobody intercepts may wait for another of the program, or only for a lock of the C library
//! that a thread holds which is about to end, and which the system has not let run for a while. As long as some kernel
//! thread runs, nobody can say that a sleeper will not wake up.

use crate::sys;

/// No kernel thread runs, and each that does not is in a system call. Looked at twice, with a pause between: a thread may wake another
/// just when that has been looked at, and sleep when it is looked at itself.
pub fn is_reached() -> bool {
    const BETWEEN: u64 = 2;
    static PAUSE: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);
    let Some(first) = sleepers() else {
        return false;
    };
    sys::futex_wait(&PAUSE, 0, BETWEEN);
    sleepers() == Some(first)
}

/// What all other kernel threads are in, as one number; `None` if one runs, or nobody can tell.
fn sleepers() -> Option<u64> {
    let fd = sys::open(
        b"/proc/self/task\0",
        libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC,
        0,
    );
    let fd = i32::try_from(fd).ok().filter(|fd| *fd >= 0)?;
    let all = all_in(fd);
    sys::close(fd);
    all
}

fn all_in(folder: i32) -> Option<u64> {
    let mine = sys::gettid();
    let mut all = 0;
    let mut entries = [0; 1024];
    loop {
        let length = sys::entries(folder, &mut entries);
        let mut left = entries.get(..usize::try_from(length).ok()?)?;
        if left.is_empty() {
            return Some(all);
        }
        while let Some((name, rest)) = first_entry(left) {
            left = rest;
            // The folder and the one that it is in have no number.
            match core::str::from_utf8(name)
                .ok()
                .and_then(|name| name.parse().ok())
            {
                Some(tid) if tid != mine => all = mixed(all, call_of(tid)?),
                _ => {}
            }
        }
    }
}

/// The name of the first of some entries of a folder as the kernel tells them, and the others.
fn first_entry(entries: &[u8]) -> Option<(&[u8], &[u8])> {
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let length = u16::from_ne_bytes([*entries.get(LENGTH)?, *entries.get(LENGTH + 1)?]);
    let (entry, rest) = entries.split_at_checked(usize::from(length))?;
    let name = entry.get(NAME..)?;
    let end = name.iter().position(|byte| *byte == 0)?;
    Some((&name[..end], rest))
}

/// The system call that a kernel thread is in, with everything that the kernel tells of it, as a number; `None` if it is in none.
fn call_of(tid: i32) -> Option<u64> {
    let mut text = [0; 256];
    let text = super::kernel_wait::told_of(tid, &mut text)?;
    let is_call = text.first().is_some_and(u8::is_ascii_digit);
    let number = text
        .iter()
        .fold(tid as u64, |all, byte| mixed(all, u64::from(*byte)));
    is_call.then_some(number)
}

fn mixed(all: u64, one: u64) -> u64 {
    (all ^ one).wrapping_mul(0x0000_0100_0000_01b3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

    #[test]
    fn entries_are_taken_apart() {
        let mut entries = Vec::new();
        for name in ["1", "1203"] {
            let length = (19 + name.len() + 1).next_multiple_of(8);
            let mut entry = vec![0; length];
            entry[16..18].copy_from_slice(&(length as u16).to_ne_bytes());
            entry[19..19 + name.len()].copy_from_slice(name.as_bytes());
            entries.extend(entry);
        }
        let (name, rest) = first_entry(&entries).unwrap();
        assert_eq!(name, b"1");
        let (name, rest) = first_entry(rest).unwrap();
        assert_eq!(name, b"1203");
        assert!(first_entry(rest).is_none());
        assert!(first_entry(&entries[..20]).is_none(), "cut short");
    }

    /// Other tests' threads run in the same process if they are not run each in its own, so only this one's is looked at.
    #[test]
    fn who_runs_is_in_no_call_and_who_waits_is_in_one() {
        let (tid, gate, stop) = (AtomicI32::new(0), Mutex::new(()), AtomicBool::new(false));
        let held = gate.lock().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                tid.store(sys::gettid(), Ordering::SeqCst);
                while !stop.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
                drop(gate.lock());
            });
            while tid.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            let tid = tid.load(Ordering::SeqCst);
            assert!(call_of(tid).is_none(), "it runs");
            assert!(sleepers().is_none());
            stop.store(true, Ordering::SeqCst);
            // It ends by the wait being seen, or by the test runner.
            while call_of(tid).is_none() {
                std::thread::yield_now();
            }
            drop(held);
        });
    }
}
