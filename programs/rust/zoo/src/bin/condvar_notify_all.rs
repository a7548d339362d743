//! Several threads wait for one gate with `wait_while`; main waits until all are there, opens it
//! and wakes all at once.
//
// NORACE
// EXPECT-STDOUT: 4 went through
use std::sync::{Condvar, Mutex};
use std::thread;

const THREADS: u32 = 4;

struct Gate {
    waiting: u32,
    open: bool,
    passed: u32,
}

static GATE: Mutex<Gate> = Mutex::new(Gate {
    waiting: 0,
    open: false,
    passed: 0,
});
static ARRIVED: Condvar = Condvar::new();
static OPENED: Condvar = Condvar::new();

fn pass() {
    let mut gate = GATE.lock().unwrap();
    gate.waiting += 1; // NORACE: GATE
    ARRIVED.notify_one();
    let mut gate = OPENED.wait_while(gate, |gate| !gate.open).unwrap();
    gate.passed += 1; // NORACE: GATE
}

fn main() {
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(pass);
        }
        let gate = GATE.lock().unwrap();
        let mut gate = ARRIVED
            .wait_while(gate, |gate| gate.waiting < THREADS)
            .unwrap();
        gate.open = true; // NORACE: GATE
        OPENED.notify_all();
    });
    println!("{} went through", GATE.lock().unwrap().passed);
}
