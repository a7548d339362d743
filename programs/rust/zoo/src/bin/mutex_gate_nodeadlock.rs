//! Two mutexes taken in opposite orders, but always under a third one: the cycle cannot close.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: moved
use std::sync::Mutex;
use std::thread;

static GATE: Mutex<()> = Mutex::new(());
static A: Mutex<u32> = Mutex::new(10);
static B: Mutex<u32> = Mutex::new(10);

fn main() {
    let b_to_a = thread::spawn(|| {
        let _gate = GATE.lock().unwrap();
        let mut b = B.lock().unwrap();
        *A.lock().unwrap() += 1; // NORACE: A
        *b -= 1; // NORACE: B
    });
    let gate = GATE.lock().unwrap();
    let mut a = A.lock().unwrap();
    *B.lock().unwrap() += 1; // NORACE: B
    *a -= 1; // NORACE: A
    drop((a, gate));
    b_to_a.join().unwrap();
    println!("moved");
}
