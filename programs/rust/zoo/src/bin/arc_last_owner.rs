//! Every owner writes its place before it drops its share, and the last one reads all of them in the
//! destructor: the count orders that, and nothing else has to.
//
// NORACE
// EXPECT-STDOUT: 6
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::thread;

struct Places([UnsafeCell<u32>; 3]);

// SAFETY: each owner has a place of its own, and the destructor comes after all owners.
unsafe impl Sync for Places {}

impl Places {
    fn set(&self, place: usize) {
        // SAFETY: as above.
        unsafe { *self.0[place].get() = place as u32 + 1 } // NORACE: places
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        let sum: u32 = self.0.iter_mut().map(|place| *place.get_mut()).sum(); // NORACE: places
        println!("{sum}");
    }
}

fn main() {
    let places = Arc::new(Places([0, 0, 0].map(UnsafeCell::new)));
    let set = |place: usize| {
        let places = Arc::clone(&places);
        move || {
            places.set(place);
            drop(places);
        }
    };
    let first = thread::spawn(set(0));
    let second = thread::spawn(set(1));
    places.set(2);
    drop(places);
    first.join().unwrap();
    second.join().unwrap();
}
