//! The functions at work among real threads, with the fast paths that the library inlines into
//! programs written out here.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::thread;
use std::time::Duration;

use crate::{futex, mutex, once, rwlock};

const THREADS: usize = 4;
const ROUNDS: usize = 500;

/// Runs it in several threads at once.
fn at_once(work: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for number in 0..THREADS {
            let work = &work;
            scope.spawn(move || work(number));
        }
    });
}

/// Adds one in two steps, between which others get their chance.
fn add_slowly(count: &AtomicUsize) {
    let before = count.load(Relaxed);
    thread::yield_now();
    count.store(before + 1, Relaxed);
}

#[test]
fn one_at_a_time_has_a_mutex() {
    let (word, count) = (AtomicU32::new(mutex::FREE), AtomicUsize::new(0));
    at_once(|_| {
        for _ in 0..ROUNDS {
            mutex::lock(&word);
            add_slowly(&count);
            mutex::unlock(&word);
        }
    });
    assert_eq!(count.load(SeqCst), THREADS * ROUNDS);
    assert_eq!(word.load(SeqCst), mutex::FREE);
}

/// What the library does first when it locks and unlocks.
fn write(lock: &rwlock::RwLock) {
    let free = lock
        .state()
        .compare_exchange_weak(0, rwlock::WRITER, Acquire, Relaxed);
    if free.is_err() {
        rwlock::write_contended(lock);
    }
}

fn write_unlock(lock: &rwlock::RwLock) {
    let now = lock.state().fetch_sub(rwlock::WRITER, Release) - rwlock::WRITER;
    if now & (rwlock::READERS_WAIT | rwlock::WRITERS_WAIT) != 0 {
        rwlock::wake_writer_or_readers(lock, now);
    }
}

fn read_unlock(lock: &rwlock::RwLock) {
    let now = lock.state().fetch_sub(rwlock::READER, Release) - rwlock::READER;
    if now & rwlock::WRITER == 0 && now & rwlock::WRITERS_WAIT != 0 {
        rwlock::wake_writer_or_readers(lock, now);
    }
}

#[test]
fn writers_are_alone_and_readers_are_not_starved() {
    let lock = rwlock::RwLock::new();
    let (count, inside) = (AtomicUsize::new(0), AtomicUsize::new(0));
    at_once(|number| {
        for round in 0..ROUNDS {
            if (round + number) % 3 == 0 {
                write(&lock);
                assert_eq!(inside.load(SeqCst), 0, "a reader is in while a writer is");
                add_slowly(&count);
                write_unlock(&lock);
            } else {
                rwlock::read_contended(&lock);
                inside.fetch_add(1, SeqCst);
                thread::yield_now();
                inside.fetch_sub(1, SeqCst);
                read_unlock(&lock);
            }
        }
    });
    let writes = (0..THREADS).flat_map(|number| (0..ROUNDS).map(move |round| round + number));
    assert_eq!(
        count.load(SeqCst),
        writes.filter(|sum| sum % 3 == 0).count()
    );
    assert_eq!(lock.state().load(SeqCst), 0);
}

#[test]
fn it_happens_once_and_all_wait_for_it() {
    for _ in 0..50 {
        let (word, calls) = (AtomicU32::new(once::INCOMPLETE), AtomicUsize::new(0));
        at_once(|_| {
            once::call(&word, false, &mut |state| {
                assert!(!state.poisoned);
                thread::yield_now();
                calls.fetch_add(1, SeqCst);
            });
            once::wait(&word, false);
            assert_eq!(calls.load(SeqCst), 1);
        });
        assert_eq!(word.load(SeqCst), once::COMPLETE);
    }
}

#[test]
fn a_panic_poisons_and_can_be_made_good() {
    let word = AtomicU32::new(once::INCOMPLETE);
    let tried = catch_unwind(AssertUnwindSafe(|| {
        once::call(&word, false, &mut |_| panic!("on purpose"));
    }));
    assert!(tried.is_err());
    assert_eq!(word.load(SeqCst), once::POISONED);
    let again = catch_unwind(AssertUnwindSafe(|| once::call(&word, false, &mut |_| ())));
    assert!(again.is_err());
    let mut poisoned = false;
    once::call(&word, true, &mut |state| poisoned = state.poisoned);
    assert!(poisoned);
    assert_eq!(word.load(SeqCst), once::COMPLETE);
    // What it is set to follows from what the function says.
    let word = AtomicU32::new(once::INCOMPLETE);
    once::call(&word, false, &mut |state| state.next = once::POISONED);
    assert_eq!(word.load(SeqCst), once::POISONED);
}

#[test]
fn sleeping_ends_when_the_time_is_up_or_the_word_is_another() {
    let word = AtomicU32::new(1);
    assert!(!futex::wait(&word, 1, Some(Duration::from_millis(1))));
    assert!(futex::wait(&word, 2, Some(Duration::from_secs(100))));
    assert!(futex::wait(&word, 2, Some(Duration::MAX)));
    assert_eq!(futex::wake(&word, 1), 0);
}
