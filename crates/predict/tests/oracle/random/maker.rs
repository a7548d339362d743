//! Step by step: what each thread can do next, to memory and to other threads.

use deadheat_predict::{Block, Border, Content};
use deadheat_trace::{Addr, Event, Op, Order, Pc, Step, ThreadId};
use rustc_hash::FxHashMap;

use super::Shape;
use super::objects::Objects;

/// The address of the first variable; each has 8 bytes.
const VARIABLES: u64 = 0x1000;
const ATOMIC: u64 = 0x2000;
const BLOCK: u64 = 0x3000;
const BLOCK_BYTES: u64 = 16;

#[derive(Clone, Copy, PartialEq)]
enum Life {
    Unborn,
    /// Its `Begin` comes next.
    Created,
    Runs,
    Ended,
    Joined,
}

/// What a thread does at once: one step, or several that stand together.
pub(super) type Action = Vec<Step>;

/// A window in the making.
pub(super) struct Maker {
    shape: Shape,
    lives: Vec<Life>,
    memory: FxHashMap<u64, u8>,
    block: bool,
    /// Whether threads mostly do what programs do: see `weight`.
    disciplined: bool,
    /// Threads begin and end without saying so, as in STD.
    silent: bool,
    objects: Objects,
    border: Border,
    steps: Vec<Step>,
}

impl Maker {
    /// Before the first step; `start` decides how things stand there.
    pub fn new(shape: Shape, start: u32) -> Self {
        let mut maker = Maker {
            shape,
            lives: vec![Life::Runs; shape.threads as usize],
            memory: FxHashMap::default(),
            block: false,
            disciplined: start >> 28 & 3 != 3,
            // In the paper's model every thread says when it begins and ends.
            silent: start >> 30 == 3 && shape.rest != Shape::PAPER.rest,
            objects: Objects::new(shape, start),
            border: Border::default(),
            steps: Vec::new(),
        };
        if shape.forks && start % 3 == 1 {
            maker.lives[1..].fill(Life::Unborn);
            maker.objects.forget_border();
        }
        maker.border.held = maker.objects.held_at_border();
        maker.remember(start);
        if shape.rest.heap && shape.rest.border && start & 2 == 2 {
            maker.block = true;
            let bytes = BLOCK_BYTES;
            let start = Addr(BLOCK);
            maker.border.blocks.push(Block { start, bytes });
        }
        for step in maker.objects.inits() {
            maker.steps.push(step);
        }
        maker
    }

    /// What memory holds at the border: all of it is known, or with gaps in what is known.
    fn remember(&mut self, start: u32) {
        let mut words: Vec<u64> = (0..self.shape.variables)
            .map(|i| VARIABLES + 8 * i)
            .collect();
        words.extend([ATOMIC, BLOCK, BLOCK + 8]);
        for (i, word) in words.into_iter().enumerate() {
            let holds = match self.shape.rest.border && start >> (8 + i) & 1 == 1 {
                true => 1,
                false => 0,
            };
            self.memory.insert(word, holds);
            let known = match start >> (16 + 2 * i) & 3 {
                0 if self.shape.rest.unknown => 0,
                1 if self.shape.rest.unknown => 0b0000_1111,
                _ => 0xFF,
            };
            let bytes = u64::from(holds);
            self.border
                .memory
                .insert(word / 8, Content { bytes, known });
        }
    }

    /// The window's events and border.
    pub fn finish(self) -> (Vec<Step>, Border) {
        (self.steps, self.border)
    }

    /// How many steps there are.
    pub fn length(&self) -> usize {
        self.steps.len()
    }

    /// One more: some thread does something that it can do, in a third of the cases the same as before.
    pub fn step(&mut self, who: u8, what: u16) {
        let last = self.steps.last().map_or(0, |last| last.event.thread().0);
        let same = self.possible(last);
        let all = (0..self.shape.threads).map(|thread| self.possible(thread));
        let able: Vec<Vec<Action>> = all.filter(|actions| !actions.is_empty()).collect();
        let actions = match (who < 80 && !same.is_empty(), able.len()) {
            (true, _) => &same,
            (false, 0) => return,
            (false, count) => &able[usize::from(who) % count],
        };
        for step in actions[usize::from(what) % actions.len()].clone() {
            self.apply(&step);
            if self.silent && matches!(step.event.op(), Op::Begin | Op::End) {
                continue;
            }
            let at = Pc(self.steps.len() as u32);
            self.steps.push(placed(&step, at));
        }
    }

    /// What a thread can do next; what it should do often comes up several times.
    fn possible(&self, thread: u32) -> Vec<Action> {
        let event = |op, target: u32| vec![plain(thread, op, target)];
        match self.lives[thread as usize] {
            Life::Unborn | Life::Ended | Life::Joined => return Vec::new(),
            Life::Created => return vec![event(Op::Begin, 0)],
            Life::Runs => {}
        }
        if let Some(actions) = self.objects.must(thread) {
            return actions;
        }
        let mut actions = Vec::new();
        self.accesses(thread, &mut actions);
        self.objects.can(thread, &mut actions);
        if self.shape.branches {
            actions.push(event(Op::Branch, 0));
        }
        if self.shape.rest.gaps {
            actions.push(event(Op::Lost, 0));
        }
        if self.shape.forks {
            for (other, life) in (0..).zip(&self.lives) {
                match life {
                    Life::Unborn => actions.extend(vec![event(Op::Fork, other); 16]),
                    Life::Ended => actions.extend(vec![event(Op::Join, other); 8]),
                    _ => {}
                }
            }
            let idle = !self.objects.holds_any(thread);
            if thread > 0 && idle && self.was_forked(thread) {
                actions.extend(vec![event(Op::End, 0); 3]);
            }
        }
        let weighted = actions.into_iter().flat_map(|action| {
            let times = self.weight(thread, &action[0]);
            std::iter::repeat_n(action, times)
        });
        weighted.collect()
    }

    /// How often an action should come up, given what its thread did last: windows without any discipline
    /// have few pairs of accesses that something keeps apart.
    fn weight(&self, thread: u32, step: &Step) -> usize {
        let mut own = self.steps.iter().rev();
        let own = own.find(|step| step.event.thread().0 == thread);
        let last = own.map(|last| last.event.op());
        let op = step.event.op();
        let nested = self.shape.locks > 2;
        match last.filter(|_| self.disciplined) {
            Some(Op::Acquire | Op::ReadAcquire) if op.is_access() => 4,
            Some(Op::Acquire | Op::ReadAcquire) if is_acquisition(step) && nested => 8,
            Some(Op::Acquire | Op::ReadAcquire) => 1,
            // What was read is acted upon, or passed on.
            Some(Op::Read) if op == Op::Branch => 12,
            Some(Op::Read) if self.is_change(step) => 4,
            Some(last) if last.is_access() && is_release(step) => 6,
            _ if is_acquisition(step) && !self.objects.holds_any(thread) => 3,
            _ if self.is_news(step) => 6,
            _ if self.is_change(step) => 2,
            _ => 1,
        }
    }

    /// Whether a step writes something else than is there.
    fn is_change(&self, step: &Step) -> bool {
        let now = self.value(step.event.target(), step.event.size());
        step.event.op().writes() && step.written().is_some_and(|value| value != now)
    }

    /// Whether a step reads what another thread wrote last.
    fn is_news(&self, step: &Step) -> bool {
        let writes = self.steps.iter().rev();
        let mut writes =
            writes.filter(|other| other.event.op().writes() && other.event.overlaps(&step.event));
        let last = writes.next();
        step.event.op().reads()
            && last.is_some_and(|last| last.event.thread() != step.event.thread())
    }

    fn was_forked(&self, thread: u32) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| step.event.op() == Op::Begin && step.event.thread().0 == thread)
    }

    fn accesses(&self, thread: u32, actions: &mut Vec<Action>) {
        for variable in 0..self.shape.variables {
            let addr = VARIABLES + 8 * variable;
            self.plain_accesses(thread, addr, 8, 2, actions);
            if self.shape.rest.parts {
                self.plain_accesses(thread, addr, 4, 1, actions);
                self.plain_accesses(thread, addr + 2, 4, 1, actions);
                self.plain_accesses(thread, addr + 4, 8, 1, actions);
            }
            if self.shape.rest.external {
                for value in 0..self.shape.values {
                    let step = access(thread, Op::ExternalWrite, addr, 8);
                    actions.push(vec![step.with_written(value)]);
                }
            }
        }
        if self.shape.rest.heap {
            let step = plain(thread, Op::Free, BLOCK);
            match self.block {
                true => {
                    self.plain_accesses(thread, BLOCK + 8, 8, 2, actions);
                    actions.extend(vec![vec![step]; 2]);
                }
                false => {
                    let step = plain(thread, Op::Alloc, BLOCK);
                    actions.extend(vec![vec![step.with_written(BLOCK_BYTES)]; 2]);
                }
            }
        }
        if self.shape.rest.atomics {
            for addr in [ATOMIC, ATOMIC, VARIABLES] {
                let at = |op| {
                    Step::new(Event::atomic(
                        ThreadId(thread),
                        op,
                        Addr(addr),
                        8,
                        Order::SeqCst,
                        Pc(0),
                    ))
                };
                let now = self.value(addr, 8);
                actions.push(vec![at(Op::AtomicRead).with_read(now)]);
                for value in 0..self.shape.values {
                    actions.push(vec![at(Op::AtomicWrite).with_written(value)]);
                    let both = at(Op::AtomicRmw).with_read(now);
                    actions.push(vec![both.with_written(value)]);
                }
            }
        }
    }

    fn plain_accesses(
        &self,
        thread: u32,
        addr: u64,
        size: u16,
        often: usize,
        actions: &mut Vec<Action>,
    ) {
        let read = access(thread, Op::Read, addr, size);
        let now = self.value(addr, size.into());
        actions.extend(vec![
            vec![read.with_read(now)];
            often * self.shape.values as usize
        ]);
        for value in 0..self.shape.values {
            let write = access(thread, Op::Write, addr, size);
            actions.extend(vec![vec![write.with_written(value)]; often]);
        }
        if self.shape.rest.unknown {
            actions.push(vec![read]);
            actions.push(vec![access(thread, Op::Write, addr, size)]);
        }
    }

    fn value(&self, addr: u64, bytes: u64) -> u64 {
        let bytes = (0..bytes).rev().map(|i| self.memory.get(&(addr + i)));
        bytes.fold(0, |value, byte| value << 8 | u64::from(*byte.unwrap_or(&0)))
    }

    fn apply(&mut self, step: &Step) {
        let thread = step.event.thread().index();
        match step.event.op() {
            Op::Fork => self.lives[step.event.peer().index()] = Life::Created,
            Op::Begin => self.lives[thread] = Life::Runs,
            Op::End => self.lives[thread] = Life::Ended,
            Op::Join => self.lives[step.event.peer().index()] = Life::Joined,
            Op::Alloc => {
                self.block = true;
                self.memory.remove(&(BLOCK + 8));
            }
            Op::Free => self.block = false,
            op if op.writes() => {
                // What is not told is another value than all that are.
                let value = step.written().unwrap_or(self.shape.values);
                for i in 0..step.event.size() {
                    let at = step.event.target() + i;
                    self.memory.insert(at, (value >> (8 * i)) as u8);
                }
            }
            _ => self.objects.apply(step),
        }
    }
}

/// An event that is no access.
pub(super) fn plain(thread: u32, op: Op, target: impl Into<u64>) -> Step {
    Step::new(Event::new(ThreadId(thread), op, target.into(), Pc(0)))
}

fn access(thread: u32, op: Op, addr: u64, size: u16) -> Step {
    Step::new(Event::access(ThreadId(thread), op, Addr(addr), size, Pc(0)))
}

fn is_release(step: &Step) -> bool {
    matches!(step.event.op(), Op::Release | Op::ReadRelease)
}

fn is_acquisition(step: &Step) -> bool {
    matches!(step.event.op(), Op::Acquire | Op::ReadAcquire)
}

/// The same step at another place.
fn placed(step: &Step, pc: Pc) -> Step {
    let old = step.event;
    let (thread, op) = (old.thread(), old.op());
    let event = match op {
        op if op.is_atomic() => {
            Event::atomic(thread, op, old.addr(), old.size() as u8, old.order(), pc)
        }
        op if op.is_access() => Event::access(thread, op, old.addr(), old.size() as u16, pc),
        _ => Event::new(thread, op, old.target(), pc),
    };
    let mut new = Step::new(event);
    if let Some(value) = step.read() {
        new = new.with_read(value);
    }
    if let Some(value) = step.written() {
        new = new.with_written(value);
    }
    new
}
