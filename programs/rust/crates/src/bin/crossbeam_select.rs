//! crossbeam's `select!`: one thread listens to two channels and a clock at once until both senders
//! have gone.
//
// NORACE
// EXPECT-STDOUT: evens 10, odds 10, sum 190
// EXPECT-STDOUT: the clock ticked: true
use crossbeam::channel::{self, Receiver};
use crossbeam::select;
use std::thread;
use std::time::Duration;

/// Receives from both until both are closed: how many from each, and their sum.
fn listen(mut evens: Receiver<u32>, mut odds: Receiver<u32>) -> (u32, u32, u32) {
    let (mut even, mut odd, mut sum, mut open) = (0, 0, 0, 2);
    while open > 0 {
        select! {
            recv(evens) -> message => match message {
                Ok(number) => (even, sum) = (even + 1, sum + number),
                Err(_) => (evens, open) = (channel::never(), open - 1),
            },
            recv(odds) -> message => match message {
                Ok(number) => (odd, sum) = (odd + 1, sum + number),
                Err(_) => (odds, open) = (channel::never(), open - 1),
            },
        }
    }
    (even, odd, sum)
}

fn main() {
    let (even_sender, evens) = channel::bounded(1);
    let (odd_sender, odds) = channel::bounded(0);
    thread::spawn(move || (0..10).for_each(|i| even_sender.send(2 * i).unwrap()));
    thread::spawn(move || (0..10).for_each(|i| odd_sender.send(2 * i + 1).unwrap()));
    let (even, odd, sum) = listen(evens, odds);
    println!("evens {even}, odds {odd}, sum {sum}");

    let clock = channel::after(Duration::from_millis(1));
    let silence: Receiver<()> = channel::never();
    let ticked = select! {
        recv(clock) -> _ => true,
        recv(silence) -> _ => false,
    };
    println!("the clock ticked: {ticked}");
}
