//! What is to happen once.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::futex;

/// It has happened.
pub const COMPLETE: u32 = 0;
/// It is happening.
pub const RUNNING: u32 = 1;
/// It was tried, and panicked.
pub const POISONED: u32 = 2;
/// It was not tried.
pub const INCOMPLETE: u32 = 3;
/// In a word of its own bit: somebody sleeps until it has happened.
pub const QUEUED: u32 = 4;
const STATE: u32 = 3;

/// What the library hands to the function: which state follows, and whether it was poisoned.
#[repr(C)]
pub struct State {
    /// The state that follows.
    pub next: u32,
    /// An earlier try panicked.
    pub poisoned: bool,
}

/// Sets the state that follows when it is dropped, also by a panic.
struct Running<'a> {
    word: &'a AtomicU32,
    next: u32,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.word.swap(self.next, Release) & QUEUED != 0 {
            futex::wake(self.word, i32::MAX);
        }
    }
}

/// Calls `function` unless it was called; waits for whoever is calling it.
#[track_caller]
pub fn call(word: &AtomicU32, even_if_poisoned: bool, function: &mut dyn FnMut(&mut State)) {
    let mut now = word.load(Acquire);
    loop {
        match now & STATE {
            COMPLETE => return,
            RUNNING => now = sleep(word, now),
            POISONED if !even_if_poisoned => panic!("Once instance has previously been poisoned"),
            state => {
                // Those who sleep already stay asleep until it is done.
                let taken = RUNNING | now & QUEUED;
                if let Err(other) = word.compare_exchange_weak(now, taken, Acquire, Acquire) {
                    now = other;
                    continue;
                }
                let mut running = Running {
                    word,
                    next: POISONED,
                };
                let mut told = State {
                    next: COMPLETE,
                    poisoned: state == POISONED,
                };
                function(&mut told);
                running.next = told.next;
                return;
            }
        }
    }
}

/// Waits until it has happened.
#[track_caller]
pub fn wait(word: &AtomicU32, even_if_poisoned: bool) {
    let mut now = word.load(Acquire);
    loop {
        match now & STATE {
            COMPLETE => return,
            POISONED if !even_if_poisoned => panic!("Once instance has previously been poisoned"),
            _ => now = sleep(word, now),
        }
    }
}

/// Says that somebody sleeps, sleeps until the word changes, and gives what it says then.
fn sleep(word: &AtomicU32, now: u32) -> u32 {
    let queued = now | QUEUED;
    if now != queued
        && let Err(other) = word.compare_exchange_weak(now, queued, Relaxed, Acquire)
    {
        return other;
    }
    futex::wait(word, queued, None);
    word.load(Acquire)
}
