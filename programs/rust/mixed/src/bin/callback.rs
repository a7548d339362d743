//! C starts threads that call back into Rust, and waits for them. The callback gets a pointer to a
//! Rust struct, counts under a Rust mutex, and uses a thread-local that is destroyed when C's
//! thread ends.
//
// NORACE
// EXPECT-STDOUT: C says 0
// EXPECT-STDOUT: calls 20, sum 90, threads that ended 2
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

type Callback = unsafe extern "C" fn(*const c_void, c_int);

unsafe extern "C" {
    fn call_from_threads(callback: Callback, data: *const c_void, calls: c_int) -> c_int;
}

struct Tally {
    calls: Mutex<(u32, c_int)>,
}

static ENDED: AtomicU32 = AtomicU32::new(0);

struct Guest(Cell<u32>);

impl Drop for Guest {
    fn drop(&mut self) {
        ENDED.fetch_add(u32::from(self.0.get() == 10), Ordering::Relaxed); // NORACE: Guest
    }
}

thread_local! {
    static GUEST: Guest = const { Guest(Cell::new(0)) };
}

unsafe extern "C" fn count(data: *const c_void, number: c_int) {
    // SAFETY: C hands back the pointer that it was given, and main keeps the tally alive.
    let tally = unsafe { &*data.cast::<Tally>() };
    let mut calls = tally.calls.lock().unwrap();
    calls.0 += 1; // NORACE: calls
    calls.1 += number; // NORACE: calls
    GUEST.with(|guest| guest.0.set(guest.0.get() + 1)); // NORACE: Guest
}

fn main() {
    let tally = Tally {
        calls: Mutex::new((0, 0)),
    };
    // SAFETY: the callback fits the data, and both outlive the call.
    let failed = unsafe { call_from_threads(count, (&raw const tally).cast(), 10) };
    println!("C says {failed}");
    let (calls, sum) = tally.calls.into_inner().unwrap(); // NORACE: calls
    let ended = ENDED.load(Ordering::Relaxed);
    println!("calls {calls}, sum {sum}, threads that ended {ended}");
}
