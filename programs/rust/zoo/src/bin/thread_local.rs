//! Thread-locals: every thread counts for itself, and what a thread leaves behind is destroyed when
//! it ends: the destructor, which runs after the thread's function, adds to a shared total.
//
// NORACE
// EXPECT-STDOUT: total 60, main has 0
use std::cell::Cell;
use std::sync::Mutex;
use std::thread;

static TOTAL: Mutex<u32> = Mutex::new(0);

struct Count(Cell<u32>);

impl Drop for Count {
    fn drop(&mut self) {
        *TOTAL.lock().unwrap() += self.0.get(); // NORACE: TOTAL
    }
}

thread_local! {
    static COUNT: Count = const { Count(Cell::new(0)) };
}

fn count(rounds: u32) {
    for _ in 0..rounds {
        COUNT.with(|count| count.0.set(count.0.get() + 1)); // NORACE: COUNT
    }
}

fn main() {
    let threads = [10, 20, 30].map(|rounds| thread::spawn(move || count(rounds)));
    for thread in threads {
        thread.join().unwrap();
    }
    let main_has = COUNT.with(|count| count.0.get());
    println!("total {}, main has {main_has}", TOTAL.lock().unwrap());
}
