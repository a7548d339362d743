//! A parallel loop over indices that counts in a `static mut`: the tasks on rayon's two
//! threads add to it without a lock.
//
// EXPECT-STDOUT: counted
use rayon::prelude::*;

static mut COUNT: u32 = 0;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
    pool.build_global().unwrap();
    (0..40).into_par_iter().for_each(|_| {
        // SAFETY: unsound on purpose.
        unsafe { COUNT += 1 }; // RACE: COUNT with line 14
    });
    println!("counted");
}
