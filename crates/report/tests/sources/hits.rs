use std::thread;

fn main() {
    let shared = Shared::default();
    let other = thread::spawn(move || unsafe { (*shared.0.get()).push(1) });
    unsafe { (*shared.0.get()).push(2) };
    other.join().unwrap();
}
