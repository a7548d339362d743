// Waiting for others: conditions, what runs once, channels, parking, barriers, atomics.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Barrier, Condvar, LazyLock, Mutex, Once, OnceLock};
use std::thread;

struct Bare(UnsafeCell<u32>);

// SAFETY: the promise is broken where the marks say so.
unsafe impl Sync for Bare {}

static READY: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();
static ONCE: Once = Once::new();
static CELL: OnceLock<u32> = OnceLock::new();
static LAZY: LazyLock<u32> = LazyLock::new(|| {
    unsafe { LAZILY = 1 }; // NORACE
    7
});
static VISITS: AtomicU32 = AtomicU32::new(0);
static BARE: Bare = Bare(UnsafeCell::new(0));
static mut UNDER_LOCK: u32 = 0;
static mut AFTER_LOCK: u32 = 0;
static mut MADE: u32 = 0;
static mut UNMADE: u32 = 0;
static mut LAZILY: u32 = 0;
static mut SENT: u32 = 0;
static mut TOO_LATE: u32 = 0;
static mut PARKED: u32 = 0;
static mut BEFORE: u32 = 0;
static mut AFTER: u32 = 0;

fn conditions() {
    let other = thread::spawn(|| {
        let mut ready = READY.lock().unwrap();
        while !*ready { // NORACE
            ready = CHANGED.wait(ready).unwrap();
        }
        unsafe { UNDER_LOCK += 1 }; // NORACE
        drop(ready);
        unsafe { AFTER_LOCK += 1 }; // RACE!
    });
    {
        let mut ready = READY.lock().unwrap();
        *ready = true; // NORACE
        unsafe { UNDER_LOCK += 1 }; // NORACE
    }
    CHANGED.notify_one();
    unsafe { AFTER_LOCK += 1 }; // RACE!
    other.join().unwrap();
}

fn make() {
    ONCE.call_once(|| {
        unsafe { MADE = 1 }; // NORACE
    });
    unsafe { BARE.0.get().write(MADE) }; // RACE!
    unsafe { UNMADE += 1 }; // RACE!
    let seven = *LAZY;
    CELL.get_or_init(|| seven); // NORACE
    VISITS.fetch_add(1, Ordering::Relaxed); // NORACE
}

fn once() {
    let other = thread::spawn(make);
    make();
    other.join().unwrap();
}

fn channels() {
    let (sender, receiver) = channel();
    let other = thread::spawn(move || {
        let mut message = Box::new(1);
        *message += 1; // NORACE
        unsafe { SENT += 1 }; // NORACE
        sender.send(message).unwrap();
        unsafe { TOO_LATE += 1 }; // RACE!
    });
    let mut message = receiver.recv().unwrap();
    *message += 1; // NORACE
    unsafe { SENT += 1 }; // NORACE
    unsafe { TOO_LATE += 1 }; // RACE!
    other.join().unwrap();
}

fn parking() {
    let sleeper = thread::spawn(|| {
        thread::park();
        unsafe { PARKED += 1 }; // NORACE
    });
    unsafe { PARKED += 1 }; // NORACE
    sleeper.thread().unpark();
    sleeper.join().unwrap();
}

fn barriers() {
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { BEFORE += 1 }; // NORACE
            barrier.wait();
            unsafe { AFTER += 1 }; // RACE!
        });
        barrier.wait();
        unsafe { BEFORE += 1 }; // NORACE
        unsafe { AFTER += 1 }; // RACE!
    });
}

fn main() {
    conditions();
    once();
    channels();
    parking();
    barriers();
}
