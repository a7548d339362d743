//! tokio's channels and timers with two worker threads: many producers into a bounded channel, a
//! oneshot reply to each request, a watch, a short sleep and a time-out.
//
// NORACE
// EXPECT-STDOUT: sum 30
// EXPECT-STDOUT: reply 49
// EXPECT-STDOUT: watched 3
// EXPECT-STDOUT: timed out: true
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time;

async fn many_to_one() -> u32 {
    let (sender, mut receiver) = mpsc::channel(2);
    for _ in 0..3 {
        let sender = sender.clone();
        tokio::spawn(async move {
            for i in 0..5 {
                sender.send(Box::new(i)).await.unwrap(); // NORACE: message
            }
        });
    }
    drop(sender);
    let mut sum = 0;
    while let Some(message) = receiver.recv().await {
        sum += *message; // NORACE: message
    }
    sum
}

async fn ask(number: u32) -> u32 {
    let (requests, mut server) = mpsc::unbounded_channel::<(u32, oneshot::Sender<u32>)>();
    tokio::spawn(async move {
        while let Some((number, reply)) = server.recv().await {
            let _ = reply.send(number * number);
        }
    });
    let (reply, answer) = oneshot::channel();
    requests.send((number, reply)).unwrap();
    answer.await.unwrap()
}

async fn run() {
    println!("sum {}", many_to_one().await);
    println!("reply {}", ask(7).await);

    let (sender, mut watcher) = watch::channel(0);
    tokio::spawn(async move {
        time::sleep(Duration::from_millis(1)).await;
        sender.send(3).unwrap();
    });
    println!(
        "watched {}",
        *watcher.wait_for(|&seen| seen == 3).await.unwrap()
    );

    let never = std::future::pending::<()>();
    let waited = time::timeout(Duration::from_millis(1), never).await;
    println!("timed out: {}", waited.is_err());
}

fn main() {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_time().build();
    runtime.unwrap().block_on(run());
}
