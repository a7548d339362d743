//! What the program gets from the system and would not get again: time, numbers of processes and
//! threads, numbers that all threads draw from one sequence.
//!
//! In a serial recording every such value is recorded. In a run that is to be the same (`DEADHEAT_INPUTS` names the file, see
//! `deadheat_wire::inputs`) the n-th that a thread asks for is the n-th that it got, whatever the schedule. If there
//! is no such value, or it is of another kind, the thread gets what is true now, and that is counted.
//!
//! The process that a recorded number names has another one now: [`pids`] knows which.

pub mod pids;

use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use deadheat_wire::inputs::{self as wire, InputsHeader, InputsThread, InputsValue};

use crate::local::local;
use crate::record::{Mode, mode};
use crate::{message, options, serial, sys, threads};

/// How far a thread is.
pub struct Inputs {
    /// The thread, by a name that is the same in every schedule.
    key: u64,
    /// How many threads it has created.
    children: u64,
    /// How many random numbers it has drawn.
    drawn: u64,
    /// How much later than true the time was that it saw last, in nanoseconds.
    skew: i64,
    /// The values that it gets: the next, and one behind the last.
    next: *const InputsValue,
    end: *const InputsValue,
}

/// The file, mapped; null if there is none.
static FILE: AtomicPtr<InputsHeader> = AtomicPtr::new(core::ptr::null_mut());
static MISMATCHES: AtomicU64 = AtomicU64::new(0);

impl Inputs {
    /// The first thread, at its start.
    pub fn of_first() -> Self {
        Self::of(wire::FIRST_THREAD)
    }

    /// A thread that this one creates.
    pub fn of_child(&mut self) -> Self {
        let key = wire::child(self.key, self.children);
        self.children += 1;
        Self::of(key)
    }

    fn of(key: u64) -> Self {
        let [next, end] = values_of(key);
        Inputs {
            key,
            children: 0,
            drawn: 0,
            skew: 0,
            next,
            end,
        }
    }

    /// The value that comes next, if it is of this kind. Whatever it is, it is over then.
    fn next(&mut self, kind: u32) -> Option<u64> {
        let value = self.peek(kind);
        if self.next != self.end {
            // SAFETY: one behind is within the values or their end.
            self.next = unsafe { self.next.add(1) };
        }
        value
    }

    /// The same, and it stays the next.
    fn peek(&self, kind: u32) -> Option<u64> {
        if self.next == self.end {
            return None;
        }
        // SAFETY: between the two there are values of the mapped file, as checked when it was loaded.
        let next = unsafe { *self.next };
        (next.kind == kind).then_some(next.value)
    }
}

/// Whether the running thread's inputs are kept.
#[inline]
pub fn kept() -> bool {
    mode() == Mode::Serial && threads::visible()
}

/// What the running thread gets: in a run that is to be the same what it got, else what is true now.
pub fn take(kind: u32, now: impl FnOnce() -> u64) -> u64 {
    if !kept() {
        return now();
    }
    let value = recorded(kind).unwrap_or_else(now);
    serial::input(kind, value);
    value
}

/// What the running thread sees on a clock that shows `now`.
pub fn take_time(kind: u32, now: u64) -> u64 {
    let seen = take(kind, || now);
    if !FILE.load(Ordering::Relaxed).is_null() && kept() {
        // SAFETY: the thread is known (`kept`), and the record is its own.
        unsafe { (*(*local()).thread).inputs.skew = seen.wrapping_sub(now) as i64 };
    }
    seen
}

/// The time `now` for the running thread, which may have computed with an earlier one that it saw.
pub fn as_seen(now: u64) -> u64 {
    if FILE.load(Ordering::Relaxed).is_null() || !kept() {
        return now;
    }
    // SAFETY: the thread is known (`kept`), and the record is its own.
    now.wrapping_add_signed(unsafe { (*(*local()).thread).inputs.skew })
}

/// What the running thread got next, if it was of this kind: for what it does to come to the same.
pub fn expected(kind: u32) -> Option<u64> {
    if FILE.load(Ordering::Relaxed).is_null() || !kept() {
        return None;
    }
    // SAFETY: the thread is known (`kept`), and the record is its own.
    unsafe { (*(*local()).thread).inputs.peek(kind) }
}

/// The running thread got this, whatever was expected.
pub fn keep(kind: u32, value: u64) {
    if !kept() {
        return;
    }
    if recorded(kind).is_some_and(|then| then != value) {
        MISMATCHES.fetch_add(1, Ordering::Relaxed);
    }
    serial::input(kind, value);
}

fn recorded(kind: u32) -> Option<u64> {
    if FILE.load(Ordering::Relaxed).is_null() {
        return None;
    }
    // SAFETY: the thread is known (`kept`), and the record is its own.
    let value = unsafe { (*(*local()).thread).inputs.next(kind) };
    if value.is_none() {
        MISMATCHES.fetch_add(1, Ordering::Relaxed);
    }
    value
}

/// How many values were not as recorded: there was none, or one of another kind.
pub fn mismatches() -> u64 {
    MISMATCHES.load(Ordering::Relaxed)
}

/// The running thread's next random number; the caller has asked [`kept`].
pub fn draw() -> u64 {
    let file = FILE.load(Ordering::Relaxed);
    // SAFETY: the thread is known, and the record is its own; a loaded file stays mapped.
    unsafe {
        let seed = file.as_ref().map_or(options::SEED.get(), |head| head.seed);
        let mine = &mut (*(*local()).thread).inputs;
        mine.drawn += 1;
        wire::random(seed, mine.key, mine.drawn - 1)
    }
}

/// Loads what a variable names, before there are threads.
pub fn load() {
    let Some(path) = options::INPUTS.path() else {
        return;
    };
    let file = map(path);
    if file.is_null() {
        message::say(format_args!(
            "{} cannot be read: the program gets other inputs than before",
            wire::INPUTS
        ));
    }
    FILE.store(file, Ordering::Release);
}

/// Says in the recording, at its start, that random numbers follow from another seed than the schedule.
pub fn tell_seed() {
    // SAFETY: a loaded file stays mapped.
    if let Some(head) = unsafe { FILE.load(Ordering::Relaxed).as_ref() } {
        serial::input(wire::kind::SEED, head.seed);
    }
}

/// In a forked process: what is in the file is not its.
pub fn unload() {
    FILE.store(core::ptr::null_mut(), Ordering::Release);
}

/// Maps a file that makes sense; null if it does not.
fn map(path: &[u8]) -> *mut InputsHeader {
    /// Far from everything else: addresses stay what they are without it.
    const PLACE: usize = 0x2000_0000_0000;
    let file = sys::open(path, libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if file < 0 {
        return core::ptr::null_mut();
    }
    let fd = file as usize;
    let bytes = sys::call(libc::SYS_lseek, [fd, 0, libc::SEEK_END as usize, 0, 0, 0]);
    let bytes = usize::try_from(bytes).unwrap_or(0);
    let flags = (libc::MAP_PRIVATE | libc::MAP_FIXED_NOREPLACE) as usize;
    let protection = libc::PROT_READ as usize;
    let place = sys::call(libc::SYS_mmap, [PLACE, bytes, protection, flags, fd, 0]);
    sys::close(file as i32);
    if place < 0 || bytes < size_of::<InputsHeader>() {
        return core::ptr::null_mut();
    }
    let head = place as *mut InputsHeader;
    // SAFETY: as many bytes are mapped, readable, at a page's start, and nobody writes to them.
    match unsafe { makes_sense(head, bytes) } {
        true => head,
        false => core::ptr::null_mut(),
    }
}

/// Whether all of the file is where it should be.
///
/// # Safety
/// `head` points to so many bytes, at least a header's.
unsafe fn makes_sense(head: *const InputsHeader, bytes: usize) -> bool {
    // SAFETY: as the caller says; the threads are looked at only if they are there.
    unsafe {
        let InputsHeader {
            magic,
            version,
            threads,
            values,
            ..
        } = *head;
        let size = (values as u128) * size_of::<InputsValue>() as u128
            + u128::from(threads) * size_of::<InputsThread>() as u128
            + size_of::<InputsHeader>() as u128;
        magic == wire::MAGIC
            && version == wire::VERSION
            && size == bytes as u128
            && threads_of(head).iter().all(|thread| {
                let end = thread.first.checked_add(thread.count);
                end.is_some_and(|end| end <= values)
            })
    }
}

/// The threads of a file.
///
/// # Safety
/// The file has as many as its header says, and stays.
unsafe fn threads_of<'a>(head: *const InputsHeader) -> &'a [InputsThread] {
    // SAFETY: as the caller says; eight bytes are what each field is aligned to.
    unsafe { core::slice::from_raw_parts(head.add(1).cast(), (*head).threads as usize) }
}

/// The first of a thread's values and the end of them.
fn values_of(key: u64) -> [*const InputsValue; 2] {
    let file = FILE.load(Ordering::Acquire);
    if file.is_null() {
        return [core::ptr::null(); 2];
    }
    // SAFETY: the file makes sense, else it would not be here, and stays mapped.
    unsafe {
        let threads = threads_of(file);
        let values: *const InputsValue = threads.as_ptr().add(threads.len()).cast();
        match threads.iter().find(|thread| thread.key == key) {
            Some(thread) => {
                let first = values.add(thread.first as usize);
                [first, first.add(thread.count as usize)]
            }
            None => [values; 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with these threads (key, first, count) and values, as words.
    fn file(threads: &[[u64; 3]], values: &[[u64; 2]]) -> Vec<u64> {
        let mut words = vec![
            u64::from_le_bytes(wire::MAGIC),
            u64::from(wire::VERSION) | (threads.len() as u64) << 32,
            7,
            values.len() as u64,
        ];
        words.extend(threads.concat());
        words.extend(values.concat());
        words
    }

    fn is_good(words: &[u64]) -> bool {
        // SAFETY: the words are there; none of the files here has less than a header.
        unsafe { makes_sense(words.as_ptr().cast(), words.len() * 8) }
    }

    #[test]
    fn files_are_looked_at_before_they_are_used() {
        let good = file(&[[0, 0, 1], [5, 1, 1]], &[[10, 1], [20, 2]]);
        assert!(is_good(&good));
        assert!(is_good(&file(&[], &[])));
        assert!(!is_good(&good[..good.len() - 1]));
        assert!(!is_good(&file(&[[0, 1, 2]], &[[10, 1], [20, 2]])));
        assert!(!is_good(&file(&[[0, u64::MAX, 1]], &[[10, 1]])));
        for word in [0, 1, 3] {
            let mut bad = good.clone();
            bad[word] ^= 1 << 40;
            assert!(!is_good(&bad), "word {word}");
            bad[word] = u64::MAX;
            assert!(!is_good(&bad), "word {word}");
        }
    }

    #[test]
    fn values_come_in_order_and_by_kind() {
        let child = wire::child(wire::FIRST_THREAD, 0);
        let words = file(&[[child, 1, 2], [0, 0, 1]], &[[10, 1], [20, 1], [30, 2]]);
        FILE.store(words.as_ptr().cast_mut().cast(), Ordering::Release);
        let mut first = Inputs::of_first();
        let (mut created, mut unknown) = (first.of_child(), first.of_child());
        FILE.store(core::ptr::null_mut(), Ordering::Release);
        assert_eq!((first.peek(1), first.peek(2)), (Some(10), None));
        assert_eq!((first.next(1), first.next(1)), (Some(10), None));
        assert_eq!((created.next(2), created.next(2)), (None, Some(30)));
        assert_eq!(created.next(2), None);
        assert_eq!(unknown.next(1), None);
    }
}
