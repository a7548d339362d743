//! tokio with two worker threads: tasks that are spawned and joined, a mutex that is held across an
//! await, blocking work on threads of its own, and a task that is aborted.
//
// NORACE
// EXPECT-STDOUT: total 15
// EXPECT-STDOUT: blocking 4950
// EXPECT-STDOUT: aborted: true
use std::sync::Arc;
use tokio::runtime::Builder;
use tokio::sync::Mutex;
use tokio::task;

async fn add(total: Arc<Mutex<u32>>) {
    for _ in 0..5 {
        let mut total = total.lock().await;
        let before = *total; // NORACE: total
        task::yield_now().await;
        *total = before + 1; // NORACE: total
    }
}

async fn run() {
    let total = Arc::new(Mutex::new(0));
    let tasks = [(); 3].map(|()| tokio::spawn(add(Arc::clone(&total))));
    for task in tasks {
        task.await.unwrap();
    }
    println!("total {}", total.lock().await);

    let numbers: Vec<u32> = (0..100).collect();
    let blocking = task::spawn_blocking(move || numbers.iter().sum::<u32>());
    println!("blocking {}", blocking.await.unwrap());

    let endless = tokio::spawn(std::future::pending::<()>());
    endless.abort();
    println!("aborted: {}", endless.await.unwrap_err().is_cancelled());
}

fn main() {
    let runtime = Builder::new_multi_thread().worker_threads(2).build();
    runtime.unwrap().block_on(run());
}
