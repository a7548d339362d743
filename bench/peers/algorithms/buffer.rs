// A bounded buffer: a mutex and two conditions. The broken one wakes a consumer only when the buffer was empty before: if two wait, and
// two values come before the first of them has run, the other sleeps for ever.
//
// Included into modules that say whose mutexes and threads are meant.

const PLACES: usize = 2;

struct Buffer {
    is_broken: bool,
    values: Mutex<Vec<usize>>,
    not_empty: Condvar,
    not_full: Condvar,
}

impl Buffer {
    fn put(&self, value: usize) {
        let mut values = self.values.lock().unwrap();
        while values.len() == PLACES {
            values = self.not_full.wait(values).unwrap();
        }
        values.push(value);
        if !self.is_broken || values.len() == 1 {
            self.not_empty.notify_one();
        }
    }

    fn take(&self) -> usize {
        let mut values = self.values.lock().unwrap();
        while values.is_empty() {
            values = self.not_empty.wait(values).unwrap();
        }
        let value = values.remove(0);
        self.not_full.notify_one();
        value
    }
}

/// Three values, and two consumers.
pub fn run(is_broken: bool) {
    let buffer = Arc::new(Buffer {
        is_broken,
        values: Mutex::new(Vec::with_capacity(PLACES)),
        not_empty: Condvar::new(),
        not_full: Condvar::new(),
    });
    let consumer = |count: usize| {
        let buffer = buffer.clone();
        thread::spawn(move || (0..count).map(|_| buffer.take()).sum::<usize>())
    };
    let consumers = [consumer(1), consumer(2)];
    for value in 1..=3 {
        buffer.put(value);
    }
    let mut sum = 0;
    for consumer in consumers {
        sum += consumer.join().unwrap();
    }
    assert_eq!(sum, 6);
}
