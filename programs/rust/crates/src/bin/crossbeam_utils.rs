//! crossbeam's smaller tools: scoped threads that get their scope as an argument, a `Parker`, a
//! `WaitGroup`, a `Backoff` and an `AtomicCell`.
//
// NORACE
// EXPECT-STDOUT: nested sum 6
// EXPECT-STDOUT: woken with 5
// EXPECT-STDOUT: group done 3
use crossbeam::atomic::AtomicCell;
use crossbeam::sync::{Parker, WaitGroup};
use crossbeam::utils::Backoff;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

fn nested(numbers: &[u32]) -> u32 {
    let sum = Mutex::new(0);
    crossbeam::scope(|scope| {
        for number in numbers {
            let sum = &sum;
            scope.spawn(move |scope| {
                scope.spawn(move |_| *sum.lock().unwrap() += number); // NORACE: sum
            });
        }
    })
    .unwrap();
    sum.into_inner().unwrap() // NORACE: sum
}

fn woken() -> u32 {
    let parker = Parker::new();
    let unparker = parker.unparker().clone();
    let value = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&value);
    let waker = thread::spawn(move || {
        *shared.lock().unwrap() = 5; // NORACE: value
        unparker.unpark();
    });
    parker.park();
    waker.join().unwrap();
    *value.lock().unwrap() // NORACE: value
}

fn group() -> u32 {
    let group = WaitGroup::new();
    let go = Arc::new(AtomicBool::new(false));
    let done = Arc::new(AtomicCell::new(0u32));
    for _ in 0..3 {
        let (group, go, done) = (group.clone(), Arc::clone(&go), Arc::clone(&done));
        thread::spawn(move || {
            let backoff = Backoff::new();
            while !go.load(Ordering::Acquire) {
                backoff.snooze();
            }
            done.fetch_add(1); // NORACE: done
            drop(group);
        });
    }
    go.store(true, Ordering::Release);
    group.wait();
    done.load() // NORACE: done
}

fn main() {
    println!("nested sum {}", nested(&[1, 2, 3]));
    println!("woken with {}", woken());
    println!("group done {}", group());
}
