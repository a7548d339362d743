//! crossbeam's work-stealing deque: one owner pushes and pops at its end, two thieves steal at the
//! other, and an injector feeds all of them. Every job is done once, whoever does it.
//
// NORACE
// EXPECT-STDOUT: jobs 60, sum 1770
use crossbeam::deque::{Injector, Steal, Stealer, Worker};
use std::iter;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

const JOBS: u32 = 60;

static DONE: AtomicU32 = AtomicU32::new(0);
static SUM: AtomicU32 = AtomicU32::new(0);

fn work(own: &Worker<Box<u32>>, injector: &Injector<Box<u32>>, others: &[Stealer<Box<u32>>]) {
    while DONE.load(Ordering::Acquire) < JOBS {
        let job = own.pop().or_else(|| {
            let steal = || {
                let injected = injector.steal_batch_and_pop(own);
                injected.or_else(|| others.iter().map(|other| other.steal()).collect())
            };
            iter::repeat_with(steal)
                .find(|steal| !steal.is_retry())
                .and_then(Steal::success)
        });
        match job {
            Some(job) => {
                SUM.fetch_add(*job, Ordering::Relaxed); // NORACE: job
                DONE.fetch_add(1, Ordering::Release);
            }
            None => thread::yield_now(),
        }
    }
}

fn main() {
    let injector = Injector::new();
    let workers = [Worker::new_lifo(), Worker::new_fifo(), Worker::new_fifo()];
    let stealers = [0, 1, 2].map(|i: usize| workers[i].stealer());
    for number in 0..JOBS / 2 {
        workers[0].push(Box::new(number));
        injector.push(Box::new(number + JOBS / 2));
    }
    thread::scope(|scope| {
        for own in workers {
            let (injector, stealers) = (&injector, &stealers);
            scope.spawn(move || work(&own, injector, stealers));
        }
    });
    let done = DONE.load(Ordering::Relaxed);
    println!("jobs {done}, sum {}", SUM.load(Ordering::Relaxed));
}
