//! A stack without locks whose nodes are freed by crossbeam's epochs: a node that was popped is
//! kept until no thread can be looking at it.
//
// NORACE
// EXPECT-STDOUT: pushed 60, popped sum 1770
use crossbeam::epoch::{self, Atomic, Owned};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Node {
    number: ManuallyDrop<Box<u32>>,
    next: Atomic<Node>,
}

static TOP: Atomic<Node> = Atomic::null();
static SUM: AtomicU32 = AtomicU32::new(0);

fn push(number: u32) {
    let guard = epoch::pin();
    let mut node = Owned::new(Node {
        number: ManuallyDrop::new(Box::new(number)),
        next: Atomic::null(),
    });
    loop {
        let top = TOP.load(Ordering::Relaxed, &guard);
        node.next.store(top, Ordering::Relaxed);
        match TOP.compare_exchange(top, node, Ordering::Release, Ordering::Relaxed, &guard) {
            Ok(_) => return,
            Err(lost) => node = lost.new,
        }
    }
}

fn pop() -> Option<Box<u32>> {
    let guard = epoch::pin();
    loop {
        let top = TOP.load(Ordering::Acquire, &guard);
        // SAFETY: nodes are freed only after all guards of their time have gone.
        let node = unsafe { top.as_ref() }?;
        let next = node.next.load(Ordering::Relaxed, &guard);
        let swapped = TOP.compare_exchange(top, next, Ordering::Relaxed, Ordering::Relaxed, &guard);
        if swapped.is_ok() {
            // SAFETY: only who took the node off reads the number, and the node does not drop it;
            // nobody can reach the node any more.
            unsafe {
                guard.defer_destroy(top);
                let number = std::ptr::read(&node.number); // NORACE: number
                return Some(ManuallyDrop::into_inner(number));
            }
        }
    }
}

fn main() {
    thread::scope(|scope| {
        for part in 0..3 {
            scope.spawn(move || (0..20).for_each(|i| push(part * 20 + i)));
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..30 {
                    let number = loop {
                        match pop() {
                            Some(number) => break number,
                            None => thread::yield_now(),
                        }
                    };
                    SUM.fetch_add(*number, Ordering::Relaxed); // NORACE: number
                }
            });
        }
    });
    println!("pushed 60, popped sum {}", SUM.load(Ordering::Relaxed));
}
