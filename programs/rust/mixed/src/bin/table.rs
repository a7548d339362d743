//! A table that C guards with a read-write lock and a condition variable; Rust's threads fill it,
//! wait until it is full and read it, all by calling C.
//
// NORACE
// EXPECT-STDOUT: sums [60, 60]
use std::ffi::c_int;
use std::thread;

unsafe extern "C" {
    fn table_add(number: c_int);
    fn table_wait_full();
    fn table_sum() -> c_int;
}

fn fill(step: c_int) {
    for i in 0..4 {
        // SAFETY: the table has a lock of its own.
        unsafe { table_add(step * i) };
    }
}

fn read() -> c_int {
    // SAFETY: the table has locks of its own.
    unsafe {
        table_wait_full();
        table_sum()
    }
}

fn main() {
    let sums = thread::scope(|scope| {
        let readers = [(); 2].map(|()| scope.spawn(read));
        for step in [3, 7] {
            scope.spawn(move || fill(step));
        }
        readers.map(|reader| reader.join().unwrap())
    });
    println!("sums {sums:?}");
}
