//! Two threads of a scope take two mutexes in opposite orders.
//
// NORACE
// EXPECT-STDOUT: 2 2
use std::sync::Mutex;
use std::thread;

static A: Mutex<u32> = Mutex::new(0);
static B: Mutex<u32> = Mutex::new(0);

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut a = A.lock().unwrap();
            let mut b = B.lock().unwrap(); // DEADLOCK: waits for B holding A, with line 20
            (*a, *b) = (*a + 1, *b + 1);
        });
        scope.spawn(|| {
            let mut b = B.lock().unwrap();
            let mut a = A.lock().unwrap(); // DEADLOCK: waits for A holding B, with line 15
            (*a, *b) = (*a + 1, *b + 1);
        });
    });
    println!("{} {}", *A.lock().unwrap(), *B.lock().unwrap());
}
