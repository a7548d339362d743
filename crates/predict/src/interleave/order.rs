//! What comes before what in every schedule, apart from what the model of windows knows by itself (threads,
//! barriers, channels): conditions, atomics, and memory that is used by others than the one that got it.
//!
//! * Conditions: see [`super::conditions`].
//! * Atomics: an atomic read comes after the write that it read from, if that was another thread's. In
//!   the observed order that is the last one to these bytes. It is so for relaxed ones, too: not because they order
//!   anything, but because what the thread does next may depend on what it saw, and nothing is known of values here.
//!   The words of locks that are made of atomics are left out: their order is the lock's.
//! * Blocks: whoever accesses an object in a block comes after its allocation.
//!
//! The paper has neither of the latter two.

use deadheat_trace::{Addr, Op, Step, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::conditions::{self, Edge};
use super::objects::{Blocks, Objects, is_access};

/// Where the words of locks are that a program makes of atomics.
pub type LockWords = FxHashSet<Addr>;

/// What comes before what, as positions in the trace; of different threads.
pub fn edges(steps: &[Step], words: &LockWords, objects: &Objects) -> Vec<Edge> {
    let mut edges = conditions::edges(steps);
    edges.extend(atomics(steps, words));
    edges.extend(blocks(steps, objects));
    edges.retain(|(from, to)| {
        let thread = |at: &u32| steps[*at as usize].event.thread();
        from < to && thread(from) != thread(to)
    });
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn atomics(steps: &[Step], words: &LockWords) -> Vec<Edge> {
    let mut edges = Vec::new();
    // By eight bytes: the last write, and who has seen it.
    let mut written: FxHashMap<u64, (u32, Vec<ThreadId>)> = FxHashMap::default();
    for (at, step) in steps.iter().enumerate() {
        let event = &step.event;
        if !event.op().is_atomic() || words.contains(&event.addr()) {
            continue;
        }
        let (cell, thread) = (event.addr().0 >> 3, event.thread());
        if event.op().reads()
            && let Some((write, seen_by)) = written.get_mut(&cell)
            && !seen_by.contains(&thread)
        {
            edges.push((*write, at as u32));
            seen_by.push(thread);
        }
        if event.op().writes() {
            written.insert(cell, (at as u32, vec![thread]));
        }
    }
    edges
}

fn blocks(steps: &[Step], objects: &Objects) -> Vec<Edge> {
    let with_objects: FxHashSet<u32> = objects.all.iter().map(|object| object.life).collect();
    let mut blocks = Blocks::default();
    // By life: the allocation, and who has used the block.
    let mut users: FxHashMap<u32, (u32, Vec<ThreadId>)> = FxHashMap::default();
    let mut edges = Vec::new();
    let mut used = |at: usize, thread: ThreadId, life: u32, users: &mut FxHashMap<_, _>| {
        if let Some((allocation, known)) = users.get_mut(&life) {
            let known: &mut Vec<ThreadId> = known;
            if !known.contains(&thread) {
                known.push(thread);
                edges.push((*allocation, at as u32));
            }
        }
    };
    for (at, step) in steps.iter().enumerate() {
        let (addr, thread) = (step.event.addr().0, step.event.thread());
        match step.event.op() {
            Op::Alloc => {
                let life = blocks.allocate(step);
                if with_objects.contains(&life) {
                    users.insert(life, (at as u32, vec![thread]));
                }
            }
            Op::Free => {
                if let Some((life, _)) = blocks.release(addr) {
                    used(at, thread, life, &mut users);
                }
            }
            op if is_access(op) && !users.is_empty() => {
                used(at, thread, blocks.life(addr), &mut users);
            }
            _ => {}
        }
    }
    edges
}
