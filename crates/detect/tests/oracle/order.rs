//! Orders of a trace's steps and races by them, straight from the definitions: all pairs of steps.

use std::collections::{BTreeSet, HashMap};

use deadheat_trace::{LockId, Op, Order, Step, ThreadId, Trace};

use super::conflict;

/// What orders.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Which locks order, by a release and a later acquisition.
    pub locks: BTreeSet<LockId>,
    /// Whether a read comes after the write that it reads from.
    pub reads_from: bool,
}

impl Rules {
    /// Happens-before.
    pub fn happens_before(trace: &Trace) -> Self {
        let locks = trace.steps.iter().filter(|step| step.event.is_lock_op());
        Rules {
            locks: locks.map(|step| step.event.lock()).collect(),
            reads_from: false,
        }
    }

    /// Schedulable happens-before.
    pub fn schedulable(trace: &Trace) -> Self {
        Rules {
            reads_from: true,
            ..Rules::happens_before(trace)
        }
    }

    /// Without locks.
    pub fn messages() -> Self {
        Rules {
            locks: BTreeSet::new(),
            reads_from: false,
        }
    }
}

/// Which step is before which.
pub struct Before {
    /// By the later step; without what it reads from at its end.
    racing: Vec<Vec<bool>>,
    all: Vec<Vec<bool>>,
}

impl Before {
    /// Closes the rules over all steps.
    pub fn new(trace: &Trace, rules: &Rules) -> Self {
        let steps = &trace.steps;
        let mut all: Vec<Vec<bool>> = Vec::new();
        let mut racing = Vec::new();
        for j in 0..steps.len() {
            let close = |direct: &dyn Fn(usize) -> bool| {
                let mut before = vec![false; steps.len()];
                for i in (0..j).filter(|i| direct(*i)) {
                    before[i] = true;
                    for (mine, theirs) in before.iter_mut().zip(&all[i]) {
                        *mine |= theirs;
                    }
                }
                before
            };
            let direct = |i| is_direct(steps, i, j, rules);
            racing.push(close(&direct));
            let read = |i| direct(i) || (rules.reads_from && reads_from(steps, i, j));
            let closed = close(&read);
            all.push(closed);
        }
        Before { racing, all }
    }

    /// Whether the order puts the earlier step before the later one.
    pub fn is_before(&self, earlier: usize, later: usize) -> bool {
        self.all[later][earlier]
    }

    /// All pairs of steps that conflict and are not ordered.
    pub fn races(&self, trace: &Trace) -> BTreeSet<(usize, usize)> {
        let pairs = conflicts(trace);
        let unordered = pairs.into_iter().filter(|(i, j)| !self.racing[*j][*i]);
        unordered.collect()
    }
}

/// All pairs of steps of different threads that conflict on some byte, which was not handed out
/// anew in between. To give a block back is a write to all of its bytes that were accessed.
pub fn conflicts(trace: &Trace) -> BTreeSet<(usize, usize)> {
    let steps = &trace.steps;
    let bytes: Vec<BTreeSet<u64>> = (0..steps.len()).map(|i| touched(steps, i)).collect();
    let mut pairs = BTreeSet::new();
    for j in 0..steps.len() {
        for i in 0..j {
            let (a, b) = (&steps[i], &steps[j]);
            let freed = [a, b].iter().any(|step| step.event.op() == Op::Free);
            let other = a.event.thread() != b.event.thread();
            let same_life = |byte: &&u64| !steps[i + 1..j].iter().any(|k| renews(k, **byte));
            let common = bytes[i].intersection(&bytes[j]).find(same_life).is_some();
            if other && common && (freed || conflict(a, b)) {
                pairs.insert((i, j));
            }
        }
    }
    pairs
}

/// The bytes that a step reads or writes.
pub fn touched(steps: &[Step], i: usize) -> BTreeSet<u64> {
    let event = &steps[i].event;
    let start = event.addr().0;
    match event.op() {
        Op::ExternalWrite => BTreeSet::new(),
        Op::Free => {
            let alloc = |step: &Step| step.event.op() == Op::Alloc && step.event.addr().0 == start;
            let Some(life) = steps[..i].iter().rposition(alloc) else {
                return BTreeSet::new();
            };
            let size = steps[life].written().unwrap();
            let used: BTreeSet<u64> = (life + 1..i)
                .filter(|k| steps[*k].event.op() != Op::Free)
                .flat_map(|k| touched(steps, k))
                .collect();
            used.range(start..start + size).copied().collect()
        }
        op if op.is_access() => (start..start + event.size()).collect(),
        _ => BTreeSet::new(),
    }
}

/// Whether a step hands a byte out anew.
pub fn renews(step: &Step, byte: u64) -> bool {
    let start = step.event.addr().0;
    step.event.op() == Op::Alloc && (start..start + step.written().unwrap()).contains(&byte)
}

/// Whether step `j` reads a byte that step `i` wrote last.
fn reads_from(steps: &[Step], i: usize, j: usize) -> bool {
    let (write, read) = (&steps[i].event, &steps[j].event);
    let writes = |k: usize, byte: u64| {
        let event = &steps[k].event;
        event.op().writes() && touched(steps, k).contains(&byte)
    };
    write.op().writes()
        && read.op().reads()
        && touched(steps, j).into_iter().any(|byte| {
            let between = |k: usize| writes(k, byte) || renews(&steps[k], byte);
            writes(i, byte) && !(i + 1..j).any(between)
        })
}

/// Whether one rule alone puts step `i` before step `j`.
pub fn is_direct(steps: &[Step], i: usize, j: usize, rules: &Rules) -> bool {
    let (a, b) = (&steps[i].event, &steps[j].event);
    let same_object = a.target() == b.target();
    if a.thread() == b.thread() {
        return true;
    }
    match (a.op(), b.op()) {
        (Op::Fork, _) if a.peer() == b.thread() => true,
        (_, Op::Join) if b.peer() == a.thread() => true,
        // A thread that does nothing.
        (Op::Fork, Op::Join) => a.peer() == b.peer(),
        (Op::Release, Op::Acquire | Op::ReadAcquire) | (Op::ReadRelease, Op::Acquire) => {
            same_object && rules.locks.contains(&a.lock())
        }
        (Op::Notify | Op::NotifyAll, Op::Wake) => same_object && waits_at(steps, i, j),
        (Op::BarrierEnter, Op::BarrierExit) => {
            same_object && round(steps, i) == exit_round(steps, j)
        }
        (Op::Post, Op::Take) | (Op::Send, Op::Receive) => same_object,
        _ => synchronizes(steps, i, j),
    }
}

/// Whether the thread of the wake-up `j` was waiting there already at step `i`.
fn waits_at(steps: &[Step], i: usize, j: usize) -> bool {
    let wake = &steps[j].event;
    let wait = (0..j).rfind(|k| {
        let event = &steps[*k].event;
        event.op() == Op::Wait && event.thread() == wake.thread() && event.sync() == wake.sync()
    });
    wait.is_some_and(|wait| wait < i)
}

fn round(steps: &[Step], enter: usize) -> u64 {
    let barrier = steps[enter].event.sync();
    let is = |step: &&Step, op| step.event.op() == op && step.event.sync() == barrier;
    let init = steps.iter().find(|step| is(step, Op::Init)).unwrap();
    let before = steps[..enter].iter().filter(|s| is(s, Op::BarrierEnter));
    before.count() as u64 / init.written().unwrap()
}

fn exit_round(steps: &[Step], exit: usize) -> u64 {
    let mine = |k: &usize| {
        let event = &steps[*k].event;
        event.op() == Op::BarrierEnter && event.thread() == steps[exit].event.thread()
    };
    round(steps, (0..exit).rfind(mine).unwrap())
}

/// C++20: release operations and fences synchronize with acquire operations and fences.
fn synchronizes(steps: &[Step], i: usize, j: usize) -> bool {
    let releasing = |k: usize, order: Order| {
        steps[k].event.order() == order
            || [Order::AcqRel, Order::SeqCst].contains(&steps[k].event.order())
    };
    let atomic = |k: usize| steps[k].event.op().is_atomic();
    let fence = |k: usize| steps[k].event.op() == Op::Fence;
    let thread = |k: usize| steps[k].event.thread();
    // The writes that may head the release sequence, and the reads that may see it.
    let heads: Vec<usize> = if atomic(i) && steps[i].event.op().writes() {
        vec![i]
            .into_iter()
            .filter(|k| releasing(*k, Order::Release))
            .collect()
    } else if fence(i) && releasing(i, Order::Release) {
        let later = (i + 1..j).filter(|k| thread(*k) == thread(i));
        later
            .filter(|k| atomic(*k) && steps[*k].event.op().writes())
            .collect()
    } else {
        return false;
    };
    let acquiring =
        |k: usize| releasing(k, Order::Acquire) || steps[k].event.order() == Order::Consume;
    let reads: Vec<usize> = if atomic(j) && steps[j].event.op().reads() {
        vec![j].into_iter().filter(|k| acquiring(*k)).collect()
    } else if fence(j) && acquiring(j) {
        let earlier = (0..j).filter(|k| thread(*k) == thread(j));
        earlier
            .filter(|k| atomic(*k) && steps[*k].event.op().reads())
            .collect()
    } else {
        return false;
    };
    let seen = |head: &usize, read: &usize| reads_sequence(steps, *head, *read);
    heads
        .iter()
        .any(|head| reads.iter().any(|read| seen(head, read)))
}

/// Whether an atomic read takes its value from the release sequence that a write heads.
fn reads_sequence(steps: &[Step], head: usize, read: usize) -> bool {
    let same = |k: &usize| steps[*k].event.addr() == steps[head].event.addr();
    let writes = |k: &usize| steps[*k].event.op().is_atomic() && steps[*k].event.op().writes();
    let goes_on = |k: usize| steps[k].event.op() == Op::AtomicRmw;
    head < read && same(&read) && (head + 1..read).filter(same).filter(writes).all(goes_on)
}

/// The locks that each thread holds at each step: which, and whether for reading.
pub fn held_at(trace: &Trace) -> Vec<HashMap<LockId, bool>> {
    let mut counts: HashMap<(ThreadId, LockId, bool), i32> = HashMap::new();
    let mut all = Vec::new();
    for step in &trace.steps {
        let event = &step.event;
        let mine = counts
            .iter()
            .filter(|(key, n)| key.0 == event.thread() && **n > 0);
        let mut held = HashMap::new();
        for ((_, lock, shared), _) in mine {
            let entry = held.entry(*lock).or_insert(true);
            *entry &= shared;
        }
        all.push(held);
        let (change, shared) = match event.op() {
            Op::Acquire => (1, false),
            Op::ReadAcquire => (1, true),
            Op::Release => (-1, false),
            Op::ReadRelease => (-1, true),
            _ => continue,
        };
        *counts
            .entry((event.thread(), event.lock(), shared))
            .or_default() += change;
    }
    all
}
