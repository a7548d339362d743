// A bounded lock-free queue for several producers and one consumer. A producer claims a place by advancing the tail, then
// puts its value there. The broken one claims without comparing: two producers may get the same place.
//
// Included into modules that say whose atomics and threads are meant.

const PLACES: usize = 4;
const PUSHES: usize = 2;

struct Queue {
    is_broken: bool,
    head: AtomicUsize,
    tail: AtomicUsize,
    places: [AtomicUsize; PLACES], // 0: nothing
}

impl Queue {
    fn new(is_broken: bool) -> Self {
        Queue {
            is_broken,
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            places: [
                AtomicUsize::new(0),
                AtomicUsize::new(0),
                AtomicUsize::new(0),
                AtomicUsize::new(0),
            ],
        }
    }

    fn claim(&self, place: usize) -> bool {
        if self.is_broken {
            self.tail.store(place + 1, Ordering::Release);
            return true;
        }
        self.tail
            .compare_exchange(place, place + 1, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    fn push(&self, value: usize) -> bool {
        loop {
            let head = self.head.load(Ordering::Acquire); // first: the tail is never behind it
            let place = self.tail.load(Ordering::Acquire);
            if place - head >= PLACES {
                return false;
            }
            if self.claim(place) {
                self.places[place % PLACES].store(value, Ordering::Release);
                return true;
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        let place = self.head.load(Ordering::Acquire);
        let value = self.places[place % PLACES].load(Ordering::Acquire);
        if value == 0 {
            return None;
        }
        self.places[place % PLACES].store(0, Ordering::Release);
        self.head.store(place + 1, Ordering::Release);
        Some(value)
    }
}

/// Two producers, and a consumer that looks once while they are at it: everything comes out.
pub fn run(is_broken: bool) {
    let queue = Arc::new(Queue::new(is_broken));
    let producer = |base: usize| {
        let queue = queue.clone();
        thread::spawn(move || {
            for number in 1..=PUSHES {
                assert!(queue.push(base + number));
            }
        })
    };
    let producers = [producer(10), producer(20)];
    let mut sum = queue.pop().unwrap_or(0);
    for producer in producers {
        producer.join().unwrap();
    }
    while let Some(value) = queue.pop() {
        sum += value;
    }
    assert_eq!(sum, 11 + 12 + 21 + 22);
}
