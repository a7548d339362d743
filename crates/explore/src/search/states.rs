//! Which state of the program a run has come to: a number that is the same for two runs if all that can follow is the same.
//!
//! Memory is not looked at. A thread is where its own operations have brought it, with what each of them told it, so a state is what
//! each thread has done and was told (which also says who holds which lock and how high a semaphore stands), what was written
//! last to each byte, who waits at which condition and futex, and the order in which barriers and channels were used. Bytes whose value
//! a run does not tell are what their writer was when it wrote them. One thing is made more different than it is: a thread that
//! reads the same again and again (whom a run may let wait until something changes) remembers the states in which it did.

use deadheat_trace::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    dependence::{awakens, bytes, falls_asleep, is_counted, keeps_order, wakes_up},
    execution::{Deed, Transition},
};

/// The number of a state. Wide enough that two different ones never have the same.
pub(super) type Key = u128;

/// What a state consists of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    /// All that a thread has done.
    Thread(u32),
    /// A byte of memory.
    Byte(u64),
    /// Many bytes that were written at once, from the first to the one behind the last.
    Block(u64, u64),
    /// Who waits at an object, or what was done to it in its order.
    Object(u64),
}

/// How to take something back.
enum Change {
    Part(Part, Option<u128>),
    Waiting(u64, Vec<u32>),
}

/// A transition of the run as it stands.
struct Step {
    thread: u32,
    /// The thread's last one before it.
    before: Option<usize>,
    /// How many changes there were before it.
    changes: usize,
    /// What it asked and was told, if it only asked.
    asked: Option<u128>,
    /// It has changed something, others may go on because of it.
    acted: bool,
    /// The state behind it.
    key: Key,
}

/// Follows the states along the run as it stands, and counts them.
#[derive(Default)]
pub(super) struct States {
    parts: FxHashMap<Part, u128>,
    /// All blocks that are parts.
    blocks: Vec<(u64, u64)>,
    /// Who waits at which object, in the order in which they came.
    waiting: FxHashMap<u64, Vec<u32>>,
    /// The sum of all parts.
    sum: Key,
    changes: Vec<Change>,
    steps: Vec<Step>,
    /// Each thread's last step.
    last: FxHashMap<u32, usize>,
    seen: FxHashSet<Key>,
}

/// Writes of more bytes than this are one part.
const MANY_BYTES: u64 = 64;
/// How far back a thread's reads are compared.
const LOOP: usize = 64;

/// One number for several.
fn number(of: &[u128]) -> u128 {
    const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let mut all = 0x2545_f491_4f6c_dd1d_u128;
    for one in of {
        all = (all ^ one).wrapping_mul(ODD);
        all ^= all >> 67;
    }
    all = all.wrapping_mul(ODD);
    all ^ (all >> 61)
}

fn weight(part: Part, value: u128) -> u128 {
    let (kind, a, b) = match part {
        Part::Thread(thread) => (0, thread.into(), 0),
        Part::Byte(at) => (1, at, 0),
        Part::Block(start, end) => (2, start, end),
        Part::Object(object) => (3, object, 0),
    };
    number(&[kind, a.into(), b.into(), value])
}

impl States {
    /// Goes back to where there were so many transitions.
    pub(super) fn truncate(&mut self, len: usize) {
        while self.steps.len() > len {
            let Some(step) = self.steps.pop() else {
                return;
            };
            match step.before {
                Some(before) => self.last.insert(step.thread, before),
                None => self.last.remove(&step.thread),
            };
            while self.changes.len() > step.changes {
                match self.changes.pop() {
                    Some(Change::Part(part, before)) => {
                        self.put(part, before);
                        if let (Part::Block(..), None) = (part, before) {
                            self.blocks.pop();
                        }
                    }
                    Some(Change::Waiting(object, before)) => {
                        self.waiting.insert(object, before);
                    }
                    None => {}
                }
            }
        }
    }

    fn put(&mut self, part: Part, value: Option<u128>) -> Option<u128> {
        let before = match value {
            Some(value) => self.parts.insert(part, value),
            None => self.parts.remove(&part),
        };
        let weight = |value: Option<u128>| value.map_or(0, |value| weight(part, value));
        self.sum = self
            .sum
            .wrapping_sub(weight(before))
            .wrapping_add(weight(value));
        before
    }

    fn change(&mut self, part: Part, value: u128) {
        let before = self.put(part, Some(value));
        if let (Part::Block(start, end), None) = (part, before) {
            self.blocks.push((start, end));
        }
        self.changes.push(Change::Part(part, before));
    }

    /// The state of the run as it stands.
    pub(super) fn key(&self) -> Key {
        self.steps.last().map_or(0, |step| step.key)
    }

    /// What was written at once to bytes among these.
    fn blocks(&self, start: u64, end: u64) -> u128 {
        let mut all = 0_u128;
        for &(first, behind) in &self.blocks {
            if first < end && start < behind {
                let part = Part::Block(first, behind);
                let value = self.parts.get(&part).copied().unwrap_or_default();
                all = all.wrapping_add(weight(part, value));
            }
        }
        all
    }

    /// What these bytes hold.
    fn content(&self, start: u64, end: u64) -> u128 {
        let mut all = self.blocks(start, end);
        let mut add = |part: Part, value: u128| all = all.wrapping_add(weight(part, value));
        if end - start > self.parts.len() as u64 {
            for (part, value) in &self.parts {
                if matches!(part, Part::Byte(at) if (start..end).contains(at)) {
                    add(*part, *value);
                }
            }
        } else {
            for part in (start..end).map(Part::Byte) {
                if let Some(value) = self.parts.get(&part) {
                    add(part, *value);
                }
            }
        }
        all
    }

    /// Bytes are written by a thread that has done this so far.
    fn write(&mut self, deed: &Deed, start: u64, end: u64, history: u128) {
        let under = self.blocks(start, end);
        if end - start > MANY_BYTES {
            self.change(Part::Block(start, end), number(&[history, under]));
            return;
        }
        let is_told = matches!(deed.op, Op::Write | Op::AtomicWrite) && end - start <= 8;
        for (number_of, at) in (start..end).enumerate() {
            let value = match is_told {
                true => u128::from(deed.value.to_le_bytes()[number_of]),
                false => number(&[history, number_of as u128]),
            };
            let value = if under == 0 {
                value
            } else {
                number(&[value, under])
            };
            self.change(Part::Byte(at), value);
        }
    }

    /// Where a thread asked the same and was told the same, with nothing between that it has done itself.
    fn asked_before(&self, thread: u32, asked: u128) -> Option<&Step> {
        let mut at = self.last.get(&thread).copied();
        for _ in 0..LOOP {
            let step = &self.steps[at?];
            if step.acted {
                return None;
            }
            if step.asked == Some(asked) {
                return Some(step);
            }
            at = step.before;
        }
        None
    }

    /// Somebody begins or ends to wait, or others do. What the thread has done so far is the same afterwards, unless it is not known who was woken.
    fn wait(&mut self, transition: &Transition, deed: &Deed, history: u128) -> u128 {
        let queue = self.waiting.entry(deed.object).or_default();
        let before = queue.clone();
        let mut history = history;
        if falls_asleep(deed.op) {
            queue.push(transition.thread);
        } else if wakes_up(deed.op) {
            queue.retain(|thread| *thread != transition.thread);
        } else if queue.is_empty() {
            return history;
        } else if deed.op == Op::Notify || transition.variants > 1 {
            queue.remove((transition.variant as usize).min(queue.len() - 1));
        } else {
            if deed.op == Op::FutexWake && deed.value < queue.len() as u64 {
                let order: Vec<u128> = queue.iter().map(|thread| u128::from(*thread)).collect();
                history = number(&[history, number(&order)]);
            }
            queue.clear();
        }
        let mut all: Vec<u128> = queue.iter().map(|thread| u128::from(*thread)).collect();
        all.sort_unstable();
        self.changes.push(Change::Waiting(deed.object, before));
        self.change(Part::Object(deed.object), number(&all));
        history
    }

    /// A transition has happened.
    pub(super) fn push(&mut self, transition: &Transition) {
        let thread = transition.thread;
        let changes = self.changes.len();
        let own = Part::Thread(thread);
        let mut history = self.parts.get(&own).copied().unwrap_or_default();
        let mut asked = Some(0);
        let mut acted = false;
        for deed in &transition.deeds {
            let told = if is_counted(deed.op) {
                0
            } else {
                deed.value.into()
            };
            let bytes = bytes(deed);
            let more = match &bytes {
                Some(bytes) if deed.op.reads() && bytes.end - bytes.start > 8 => {
                    self.content(bytes.start, bytes.end)
                }
                _ => 0,
            };
            let what = number(&[
                deed.op as u128,
                deed.object.into(),
                deed.size.into(),
                deed.tried.into(),
                deed.pc.into(),
                told,
                more,
            ]);
            history = number(&[history, what]);
            asked = asked.filter(|_| asks(deed.op));
            asked = asked.map(|asked| number(&[asked, what]));
            acted |= !asks(deed.op) && !matches!(deed.op, Op::Write | Op::Fence | Op::Alloc);
            if let Some(bytes) = bytes
                && bytes.write
                && deed.op != Op::Free
            {
                self.write(deed, bytes.start, bytes.end, history);
            }
            if falls_asleep(deed.op) || wakes_up(deed.op) || awakens(deed.op) {
                history = self.wait(transition, deed, history);
            }
            if keeps_order(deed.op) {
                let object = Part::Object(deed.object);
                let before = self.parts.get(&object).copied().unwrap_or_default();
                self.change(object, number(&[before, thread.into()]));
            }
        }
        if let Some(step) = asked.and_then(|asked| self.asked_before(thread, asked)) {
            history = number(&[history, step.key, self.sum]);
        }
        self.change(own, history);
        let step = Step {
            thread,
            before: self.last.insert(thread, self.steps.len()),
            changes,
            asked,
            acted,
            key: self.sum,
        };
        self.steps.push(step);
    }

    /// The state is one that was seen. Says whether it is a new one.
    pub(super) fn count(&mut self) -> bool {
        self.seen.insert(self.sum)
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.seen.len() as u64
    }

    /// How many bytes they take, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.seen.capacity() * (size_of::<Key>() + 1)
            + self.parts.capacity() * size_of::<(Part, u128)>()
            + self.changes.capacity() * size_of::<Change>()
            + self.steps.capacity() * size_of::<Step>()
    }
}

/// It may have changed nothing.
fn asks(op: Op) -> bool {
    op.reads()
        || matches!(
            op,
            Op::Refused | Op::ReadRefused | Op::TakeRefused | Op::ReceiveRefused
        )
}
