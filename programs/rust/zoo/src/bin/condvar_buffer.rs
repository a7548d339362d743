//! A bounded buffer of two places: producers wait for room and consumers for items, on two
//! condition variables of one mutex. Fewer places than threads, so both wait often.
//
// NORACE
// EXPECT-STDOUT: sum 870
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::thread;

const PLACES: usize = 2;
const ITEMS: u32 = 10;

struct Buffer {
    items: Mutex<VecDeque<u32>>,
    room: Condvar,
    filled: Condvar,
}

impl Buffer {
    fn put(&self, item: u32) {
        let mut items = self.items.lock().unwrap();
        while items.len() == PLACES {
            items = self.room.wait(items).unwrap();
        }
        items.push_back(item); // NORACE: items
        self.filled.notify_one();
    }

    fn take(&self) -> u32 {
        let mut items = self.items.lock().unwrap();
        while items.is_empty() {
            items = self.filled.wait(items).unwrap();
        }
        let item = items.pop_front().unwrap(); // NORACE: items
        self.room.notify_one();
        item
    }
}

fn main() {
    let buffer = Buffer {
        items: Mutex::new(VecDeque::new()),
        room: Condvar::new(),
        filled: Condvar::new(),
    };
    let sum = thread::scope(|scope| {
        let buffer = &buffer;
        for producer in 0..3 {
            scope.spawn(move || (0..ITEMS).for_each(|i| buffer.put(producer * 20 + 2 * i)));
        }
        let consume = || (0..ITEMS).map(|_| buffer.take()).sum::<u32>();
        let consumers = [(); 3].map(|()| scope.spawn(consume));
        consumers
            .map(|each| each.join().unwrap())
            .iter()
            .sum::<u32>()
    });
    println!("sum {sum}");
}
