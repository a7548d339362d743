//! The library from outside: queues that share what they count in, and tests that fail in threads.
//
// NORACE

use std::sync::Mutex;
use std::thread;

use tested::work_off;

#[test]
fn two_queues_at_once() {
    let total = Mutex::new(0);
    let add = |job: u32| *total.lock().unwrap() += job; // NORACE: total
    thread::scope(|scope| {
        scope.spawn(|| work_off(2, vec![1, 2, 3], add));
        scope.spawn(|| work_off(2, vec![4, 5, 6], add));
    });
    assert_eq!(total.into_inner().unwrap(), 21); // NORACE: total
}

#[test]
fn a_queue_inside_a_queue() {
    let done = work_off(2, vec![2, 3], |outer| {
        let inner = work_off(2, vec![outer; 4], |job: u32| job);
        inner.iter().sum::<u32>()
    });
    assert_eq!(done.iter().sum::<u32>(), 20);
}

#[test]
#[should_panic(expected = "a scoped thread panicked")]
fn a_job_that_panics_stops_the_caller() {
    work_off(2, vec![0, 1, 2], |job: u32| assert_ne!(job, 1));
}
