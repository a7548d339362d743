//! A queue of jobs that several threads work off: small, and tested in every way that Cargo knows.
//!
//! ```
//! let done = tested::work_off(2, vec![1, 2, 3], |job| job * job);
//! assert_eq!(done.iter().sum::<u32>(), 14);
//! ```
//
// NORACE

use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// Does all jobs on so many threads and returns the results, in the order in which they were done.
///
/// # Panics
///
/// When there are no threads, or a job panics.
pub fn work_off<J, R>(threads: usize, jobs: Vec<J>, work: impl Fn(J) -> R + Sync) -> Vec<R>
where
    J: Send,
    R: Send,
{
    assert!(threads > 0, "nobody works");
    let queue = Mutex::new(jobs.into_iter());
    let next = || {
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.next() // NORACE: queue
    };
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while let Some(job) = next() {
                    let result = work(job);
                    sender.send(result).expect("the receiver is kept");
                }
            });
        }
    });
    drop(sender);
    receiver.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// How many jobs all tests together have done: the harness runs them at the same time.
    static DONE: AtomicU32 = AtomicU32::new(0);

    fn square(job: u32) -> u32 {
        DONE.fetch_add(1, Ordering::Relaxed); // NORACE: DONE
        job * job
    }

    #[test]
    fn every_job_is_done_once() {
        let mut done = work_off(3, (0..20).collect(), square);
        done.sort_unstable();
        let expected: Vec<u32> = (0..20).map(|job| job * job).collect();
        assert_eq!(done, expected);
    }

    #[test]
    fn one_thread_keeps_the_order() {
        assert_eq!(work_off(1, vec![3, 1, 2], square), [9, 1, 4]);
    }

    #[test]
    fn no_jobs_no_results() {
        assert_eq!(work_off(4, Vec::new(), square), []);
    }

    #[test]
    fn results_can_own_memory() {
        let done = work_off(2, vec![3, 3, 3], |length| "x".repeat(length));
        assert_eq!(done.concat().len(), 9);
    }

    #[test]
    #[should_panic(expected = "nobody works")]
    fn no_threads_is_an_error() {
        work_off(0, vec![1], square);
    }

    #[test]
    #[ignore = "longer than the others"]
    fn many_jobs_on_many_threads() {
        let done = work_off(8, (0..400).collect(), square);
        assert_eq!(done.len(), 400);
        assert!(DONE.load(Ordering::Relaxed) >= 400);
    }
}
