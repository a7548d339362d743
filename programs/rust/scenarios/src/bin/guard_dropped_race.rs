//! A raw pointer taken out of a mutex guard outlives the guard: the author copied the pointer and dropped the
//! guard, to keep the section short. Another thread changes the value under the lock, usually long before.
//
// EXPECT-STDOUT: done
use std::sync::Mutex;
use std::thread;

static SHARED: Mutex<u32> = Mutex::new(1);

fn change() {
    *SHARED.lock().unwrap() += 1; // RACE: SHARED with line 28
}

/// Meanwhile the other thread usually gets through, but nothing makes it.
fn dawdle() {
    for _ in 0..1000 {
        thread::yield_now();
    }
}

fn main() {
    let changer = thread::spawn(change);
    dawdle();
    let guard = SHARED.lock().unwrap();
    let pointer: *const u32 = &raw const *guard;
    drop(guard);
    // SAFETY: unsound on purpose.
    let seen = unsafe { *pointer }; // RACE: SHARED with line 11
    changer.join().unwrap();
    assert!(seen > 0);
    println!("done");
}
