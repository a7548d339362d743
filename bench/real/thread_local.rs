//! RUSTSEC-2022-0006: the iterator of `ThreadLocal` loads the address of a table with too weak an order while another thread is making it. Since that one hands
//! it out as soon as it is prepared, and says only later that there is something in it, the iterator may look at it without having been told of the preparation.

use std::sync::atomic::AtomicU32;

use thread_local::ThreadLocal;

fn main() {
    // The moment is short: several look, several times.
    for _ in 0..12 {
        // Without room for anybody, so that the table is made by the thread that needs it.
        let counts: ThreadLocal<AtomicU32> = ThreadLocal::with_capacity(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| while counts.iter().next().is_none() {});
            }
            scope.spawn(|| _ = counts.get_or(|| AtomicU32::new(1)));
        });
    }
    println!("ended");
}
