//! The thread is never joined: main looks at its result before it can know that there is one, and
//! may end before the thread does.
//
// EXPECT-STDOUT: done
use std::hint::black_box;
use std::thread;

static mut RESULT: u32 = 0;

fn main() {
    thread::spawn(|| {
        // SAFETY: unsound on purpose.
        unsafe { RESULT = 42 }; // RACE: RESULT with line 16
    });
    // SAFETY: unsound on purpose.
    black_box(unsafe { RESULT }); // RACE: RESULT with line 13
    println!("done");
}
