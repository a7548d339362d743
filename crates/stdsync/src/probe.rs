//! Looks at the standard library's objects while they are at work, and prints where things lie.
//!
//! Built without instrumentation by the compiler whose library is asked about, and run once. It
//! prints `NAME=OFFSET` lines, or says what is not as `deadheat_stdsync` expects it and ends with
//! 1. No object that another thread may change is looked at without an atomic read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize};
use std::sync::{Barrier, Condvar, Mutex, Once, OnceState, RwLock};
use std::thread;

/// The 32-bit words of an object.
fn words<T>(object: &T) -> &[AtomicU32] {
    // SAFETY: the object is that large; its words are read atomically.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(object).cast(), size_of::<T>() / 4) }
}

/// Looks at one kind of object: `None` if it is not as expected.
type Look = fn() -> Option<()>;

fn main() {
    std::panic::set_hook(Box::new(|_| {})); // panics here are part of the show
    let looked: [(&str, Look); 7] = [
        ("Mutex", mutex),
        ("RwLock", rwlock),
        ("Condvar", condvar),
        ("Once", once),
        ("Barrier", barrier),
        ("thread::park", parker),
        ("thread::scope", scope),
    ];
    for (name, look) in looked {
        // In a thread of its own, whose record nobody else is still about to let go.
        let seen = thread::spawn(look).join();
        if !matches!(seen, Ok(Some(()))) {
            println!("differs={name}");
            std::process::exit(1);
        }
    }
}

/// Whether a word has a value.
fn is(word: &AtomicU32, value: u32) -> Option<()> {
    (word.load(SeqCst) == value).then_some(())
}

fn mutex() -> Option<()> {
    let mutex = Mutex::new(());
    let word = &words(&mutex)[0];
    is(word, 0)?;
    let guard = mutex.lock().ok()?;
    is(word, 1)?;
    thread::scope(|scope| {
        let waits = scope.spawn(|| drop(mutex.lock()));
        until(|| word.load(SeqCst) == 2)?;
        drop(guard);
        waits.join().ok()
    })?;
    is(word, 0)
}

fn rwlock() -> Option<()> {
    let lock = RwLock::new(());
    let state = &words(&lock)[0];
    is(state, 0)?;
    let first = lock.read().ok()?;
    let second = lock.read().ok()?;
    is(state, 2)?;
    thread::scope(|scope| {
        let writes = scope.spawn(|| drop(lock.write()));
        until(|| state.load(SeqCst) == 2 | 1 << 31)?;
        let reads = scope.spawn(|| drop(lock.read()));
        until(|| state.load(SeqCst) == 2 | 1 << 31 | 1 << 30)?;
        let calls = words(&lock)[1].load(SeqCst);
        drop((first, second));
        writes.join().ok()?;
        reads.join().ok()?;
        (words(&lock)[1].load(SeqCst) > calls).then_some(())
    })?;
    let guard = lock.write().ok()?;
    is(state, (1 << 30) - 1)?;
    drop(guard);
    is(state, 0)
}

fn condvar() -> Option<()> {
    let condvar = Condvar::new();
    let count = &words(&condvar)[0];
    is(count, 0)?;
    condvar.notify_one();
    condvar.notify_all();
    is(count, 2)
}

fn once() -> Option<()> {
    let once = Once::new();
    let word = &words(&once)[0];
    is(word, 3)?;
    let failed = catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!())));
    failed.err()?;
    is(word, 2)?;
    let mut seen = None;
    once.call_once_force(|state| seen = state_of(state, word));
    is(word, 0)?;
    // What a sleeper sets.
    let other = Once::new();
    let word = &words(&other)[0];
    let mut queued = None;
    thread::scope(|scope| {
        other.call_once(|| {
            scope.spawn(|| other.call_once(|| ()));
            queued = until(|| word.load(SeqCst) == 1 | 4);
        });
    });
    queued.and(seen)
}

/// Four bytes that say which state follows, then whether it was poisoned.
fn state_of(state: &OnceState, word: &AtomicU32) -> Option<()> {
    is(word, 1)?;
    if size_of::<OnceState>() != 8 || !state.is_poisoned() {
        return None;
    }
    // SAFETY: the first five of the object's eight bytes; the rest may be padding.
    let bytes: [u8; 5] = unsafe { *std::ptr::from_ref(state).cast() };
    (bytes == [0, 0, 0, 0, 1]).then_some(())
}

fn barrier() -> Option<()> {
    // Only its address counts.
    Barrier::new(1).wait().is_leader().then_some(())
}

/// How much of a thread's or scope's record is looked through, in bytes.
const RECORD: usize = 48;

fn parker() -> Option<()> {
    if size_of::<thread::Thread>() != size_of::<usize>() {
        return None;
    }
    let thread = thread::current();
    // SAFETY: a handle is as large as a pointer, and the record behind it at least as large as
    // its two counts, id, name and parking word.
    let record: &[AtomicU32; RECORD / 4] = unsafe { *std::ptr::from_ref(&thread).cast() };
    let count = record[0].load(SeqCst);
    let clone = thread.clone();
    is(&record[0], count + 1)?; // `Me` in park.rs
    drop(clone);
    let changed = |before: &[u32], value: u32| {
        let differs = |at: &usize| record[*at].load(SeqCst) != before[*at];
        let mut places = (0..record.len()).filter(differs);
        match (places.next(), places.next()) {
            (Some(at), None) => is(&record[at], value).map(|()| at),
            _ => None,
        }
    };
    let now = || -> Vec<u32> { record.iter().map(|word| word.load(SeqCst)).collect() };
    let before = now();
    thread.unpark();
    let at = changed(&before, 1)?;
    thread::park();
    is(&record[at], 0)?;
    // What a sleeper sets.
    thread::scope(|scope| {
        let sleeps = scope.spawn(thread::park);
        let handle = sleeps.thread().clone();
        // SAFETY: as above.
        let its: &[AtomicU32; RECORD / 4] = unsafe { *std::ptr::from_ref(&handle).cast() };
        until(|| its[at].load(SeqCst) == u32::MAX)?;
        handle.unpark();
        sleeps.join().ok()
    })?;
    println!("DEADHEAT_PARKER={}", at * 4);
    Some(())
}

fn scope() -> Option<()> {
    if size_of::<thread::Scope<'_, '_>>() != size_of::<usize>() {
        return None;
    }
    let main = thread::current();
    // SAFETY: a handle is as large as a pointer.
    let main: usize = unsafe { *std::ptr::from_ref(&main).cast() };
    let go = Barrier::new(3);
    let mut found = None;
    // The scope panics in the end, because one of its threads does.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        thread::scope(|scope| found = look_at_scope(scope, main, &go));
    }));
    outcome.err().and(found)
}

fn look_at_scope<'a>(scope: &'a thread::Scope<'a, '_>, main: usize, go: &'a Barrier) -> Option<()> {
    // A scope begins with a counted pointer to its record, behind two counts.
    // SAFETY: see `Scope`'s size; the record has a count, a flag and a thread.
    let record = unsafe { (*std::ptr::from_ref(scope).cast::<*const u8>()).add(16) };
    // SAFETY: as above; atomic reads of whole words of the record.
    let word = |at: usize| unsafe { &*record.add(at).cast::<AtomicUsize>() };
    let all = [0, 8, 16];
    let main_at = all.into_iter().find(|at| word(*at).load(SeqCst) == main)?;
    let threads = [(); 2].map(|()| scope.spawn(|| go.wait()));
    let count_at = all.into_iter().find(|at| word(*at).load(SeqCst) == 2)?;
    go.wait();
    for thread in threads {
        thread.join().ok()?;
    }
    until(|| word(count_at).load(SeqCst) == 0)?;
    let flag_at = all
        .into_iter()
        .find(|at| ![main_at, count_at].contains(at))?;
    // SAFETY: as above; a single byte.
    let flag = unsafe { &*record.add(flag_at).cast::<AtomicU8>() };
    let before = flag.load(SeqCst);
    scope.spawn(|| panic!());
    until(|| flag.load(SeqCst) == 1)?;
    println!("DEADHEAT_SCOPE_MAIN={main_at}");
    println!("DEADHEAT_SCOPE_RUNNING={count_at}");
    println!("DEADHEAT_SCOPE_PANICKED={flag_at}");
    (before == 0).then_some(())
}

/// Waits until something is so, for a while.
fn until(mut so: impl FnMut() -> bool) -> Option<()> {
    for _ in 0..100_000 {
        if so() {
            return Some(());
        }
        thread::yield_now();
    }
    for _ in 0..1000 {
        if so() {
            return Some(());
        }
        thread::sleep(std::time::Duration::from_millis(5));
    }
    None
}
