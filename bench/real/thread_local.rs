//! RUSTSEC-2022-0006: the iterator of `ThreadLocal` loads a table with too weak an order while another thread is making it. Since that one hands it out as
//! soon as it is prepared and says only later that there is something in it, the iterator meanwhile looks at it without having been told of the preparation.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use thread_local::ThreadLocal;

fn main() {
    // Without room for anybody, so that the table is made by the thread that needs it.
    let counts: Arc<ThreadLocal<AtomicU32>> = Arc::new(ThreadLocal::with_capacity(0));
    let adding = Arc::clone(&counts);
    let thread = std::thread::spawn(move || drop(adding.get_or(|| AtomicU32::new(1))));
    while counts.iter().next().is_none() {
        std::thread::yield_now();
    }
    thread.join().unwrap();
    println!("ended");
}
