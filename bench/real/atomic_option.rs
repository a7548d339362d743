//! RUSTSEC-2020-0113: an `AtomicOption` hands anything to another thread, here a counted reference that is not atomic.

use std::rc::Rc;
use std::sync::atomic::Ordering;

use atomic_option::AtomicOption;

fn main() {
    let kept = Rc::new(7);
    let handed = AtomicOption::new(Box::new(Rc::clone(&kept)));
    let handed = &handed;
    std::thread::scope(|scope| {
        scope.spawn(move || drop(handed.take(Ordering::AcqRel)));
        assert_eq!(*Rc::clone(&kept), 7);
    });
    println!("ended");
}
