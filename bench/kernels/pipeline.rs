//! A pipeline of three stages over bounded channels: the first fills boxes with numbers, the second
//! scrambles them, the third adds them up and frees the boxes.
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

const MESSAGES: u64 = 10_000;
const LENGTH: usize = 64;
const PLACES: usize = 64;

type Message = Box<[u64; LENGTH]>;

fn fill(messages: u64, out: &SyncSender<Message>) {
    for i in 0..messages {
        let mut message: Message = Box::new([0; LENGTH]);
        for (number, j) in message.iter_mut().zip(i..) {
            *number = j;
        }
        out.send(message).unwrap();
    }
}

fn scramble(from: &Receiver<Message>, out: &SyncSender<Message>) {
    for mut message in from {
        for i in 1..LENGTH {
            message[i] ^= message[i - 1] << 7;
        }
        out.send(message).unwrap();
    }
}

fn add_up(from: &Receiver<Message>) -> u64 {
    let mut sum = 0u64;
    for message in from {
        for number in message.iter() {
            sum = sum.wrapping_add(*number);
        }
    }
    sum
}

fn main() {
    let rounds: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let (first, to_second) = mpsc::sync_channel(PLACES);
    let (second, to_third) = mpsc::sync_channel(PLACES);
    let filling = thread::spawn(move || fill(rounds * MESSAGES, &first));
    let scrambling = thread::spawn(move || scramble(&to_second, &second));
    println!("{}", add_up(&to_third));
    filling.join().unwrap();
    scrambling.join().unwrap();
}
