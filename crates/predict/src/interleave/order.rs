//! What comes before what in every schedule, apart from what the model of windows knows by itself (threads,
//! barriers, channels): conditions, atomics, and memory that is used by others than the one that got it.
//!
//! * Conditions: see [`super::conditions`].
//! * Atomics: an acquiring read comes after the releasing writes of other threads whose values it saw, directly or through
//!   read-modify-writes. In the observed order these are the last write to the bytes and what was changed since. That is
//!   what orders accesses in C, C++ and Rust; whether a thread would take another way had it seen something else is not
//!   asked, as for everything that is read. Threads that use fences are taken to release and acquire always.
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

/// What an atomic variable says: the last releasing write of each thread since the last plain store.
#[derive(Default)]
struct Said {
    by: Vec<(ThreadId, u32)>,
    /// Who has learned how much of it.
    learned: FxHashMap<ThreadId, usize>,
    changes: usize,
}

impl Said {
    fn write(&mut self, thread: ThreadId, at: u32, releases: bool, is_store: bool) {
        self.changes += 1;
        match is_store {
            true => self.by.clear(),
            false => self.by.retain(|(writer, _)| *writer != thread || !releases),
        }
        if releases {
            self.by.push((thread, at));
        }
    }

    /// A thread learns it: from which writes, unless it knows them.
    fn read(&mut self, thread: ThreadId) -> &[(ThreadId, u32)] {
        match self.learned.insert(thread, self.changes) == Some(self.changes) {
            true => &[],
            false => &self.by,
        }
    }
}

fn atomics(steps: &[Step], words: &LockWords) -> Vec<Edge> {
    let fences = steps.iter().filter(|step| step.event.op() == Op::Fence);
    let fenced: FxHashSet<ThreadId> = fences.map(|step| step.event.thread()).collect();
    let mut edges = Vec::new();
    // By eight bytes.
    let mut said: FxHashMap<u64, Said> = FxHashMap::default();
    for (at, step) in steps.iter().enumerate() {
        let event = &step.event;
        if !event.op().is_atomic() || words.contains(&event.addr()) {
            continue;
        }
        let (at, thread, order) = (at as u32, event.thread(), event.order());
        let is_fenced = fenced.contains(&thread);
        let here = said.entry(event.addr().0 >> 3).or_default();
        if event.op().reads() && (order.acquires() || is_fenced) {
            let writes = here.read(thread).iter();
            edges.extend(writes.map(|(_, write)| (*write, at)));
        }
        if event.op().writes() {
            let is_store = event.op() == Op::AtomicWrite;
            here.write(thread, at, order.releases() || is_fenced, is_store);
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

#[cfg(test)]
mod tests {
    use deadheat_trace::text;

    use super::*;

    fn edges_of(trace: &str) -> Vec<Edge> {
        let steps = text::parse(trace).unwrap().steps;
        edges(&steps, &LockWords::default(), &Objects::default())
    }

    #[test]
    fn releases_are_before_the_acquisitions_that_saw_them() {
        let with = |write: &str, read: &str| {
            edges_of(&format!("T0|aw(f:4,{write})|1\nT1|ar(f:4,{read})|2\n"))
        };
        assert_eq!(with("rel", "acq"), [(0, 1)]);
        assert_eq!(with("seqcst", "seqcst"), [(0, 1)]);
        assert_eq!(with("rlx", "acq"), []);
        assert_eq!(with("rel", "rlx"), []);
        let fenced = "T0|fence(rel)|1\nT0|aw(f:4,rlx)|2\nT1|ar(f:4,rlx)|3\nT1|fence(acq)|4\n";
        assert_eq!(edges_of(fenced), [(1, 2)]);
    }

    #[test]
    fn changes_carry_on_what_a_store_began() {
        let trace = "T0|aw(f:4,rel)|1\nT1|rmw(f:4,rlx)|2\nT2|ar(f:4,acq)|3\nT2|ar(f:4,acq)|4\n";
        assert_eq!(edges_of(trace), [(0, 2)]);
        let stored = "T0|aw(f:4,rel)|1\nT1|aw(f:4,rlx)|2\nT2|ar(f:4,acq)|3\n";
        assert_eq!(edges_of(stored), []);
    }
}
