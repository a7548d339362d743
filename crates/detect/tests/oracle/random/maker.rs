//! Step by step: what each thread can do next.

use deadheat_trace::{
    Addr, Event, LockId, Mode, Op, Order, Pc, Step, SyncId, SyncKind, SyncObject, Tables, Thread,
    ThreadId, Trace,
};

use super::{Atomics, Shape};

/// How many a barrier waits for.
const BARRIER: u64 = 2;
/// The address of the first variable; each has 16 bytes.
const VARIABLES: u64 = 0x1000;
const ATOMICS: u64 = 0x2000;
const BLOCK: Addr = Addr(0x3000);
const BLOCK_SIZE: u64 = 16;

#[derive(Clone, Copy, PartialEq)]
enum State {
    Unborn,
    Runs,
    Waits {
        woken: bool,
    },
    /// It has given the lock back and is about to wait, or was woken and must take it again.
    MustWait,
    MustLock,
    AtBarrier {
        round: u64,
    },
    Ended,
}

/// A trace in the making.
pub(super) struct Maker {
    shape: Shape,
    /// Threads end without saying so.
    silent: bool,
    states: Vec<State>,
    joined: Vec<bool>,
    /// Who holds each lock, and whether for reading.
    held: Vec<Vec<(u32, bool)>>,
    came: u64,
    posted: u64,
    block: bool,
    steps: Vec<Step>,
}

impl Maker {
    /// Before the first step. Threads are there from the start, or created.
    pub fn new(shape: Shape, forks: bool, silent: bool) -> Self {
        let mut states = vec![State::Runs; shape.threads as usize];
        if forks {
            states[1..].fill(State::Unborn);
        }
        let mut maker = Maker {
            shape,
            silent,
            joined: vec![false; states.len()],
            states,
            held: vec![Vec::new(); shape.locks as usize],
            came: 0,
            posted: 0,
            block: false,
            steps: Vec::new(),
        };
        if shape.barriers {
            let init = maker.event(0, Op::Init, maker.barrier().0.into());
            maker.steps.push(Step::new(init).with_written(BARRIER));
        }
        maker
    }

    fn condition(&self) -> SyncId {
        SyncId(self.shape.locks)
    }

    fn barrier(&self) -> SyncId {
        SyncId(self.shape.locks + 1)
    }

    fn semaphore(&self) -> SyncId {
        SyncId(self.shape.locks + 2)
    }

    fn channel(&self) -> SyncId {
        SyncId(self.shape.locks + 3)
    }

    fn event(&self, thread: u32, op: Op, target: u64) -> Event {
        Event::new(ThreadId(thread), op, target, self.place())
    }

    fn place(&self) -> Pc {
        Pc(self.steps.len() as u32)
    }

    fn access(&self, thread: u32, op: Op, addr: u64, size: u16) -> Step {
        Step::new(Event::access(
            ThreadId(thread),
            op,
            Addr(addr),
            size,
            self.place(),
        ))
    }

    /// One more: some thread does something that it can do.
    pub fn step(&mut self, who: u16, what: u16) {
        let all: Vec<Vec<Step>> = (0..self.shape.threads)
            .map(|thread| self.possible(thread))
            .collect();
        let able: Vec<&Vec<Step>> = all.iter().filter(|steps| !steps.is_empty()).collect();
        if able.is_empty() {
            return;
        }
        let steps = able[usize::from(who) % able.len()];
        let step = steps[usize::from(what) % steps.len()];
        self.apply(&step);
        if !(self.silent && step.event.op() == Op::End) {
            self.steps.push(step);
        }
    }

    /// What a thread can do next; what it should do often comes up several times.
    fn possible(&self, thread: u32) -> Vec<Step> {
        let event = |op, target| Step::new(self.event(thread, op, target));
        let condition = self.condition().0.into();
        match self.states[thread as usize] {
            State::Unborn | State::Ended => return Vec::new(),
            State::MustWait => return vec![event(Op::Wait, condition)],
            State::Waits { woken: true } => return vec![event(Op::Wake, condition)],
            State::Waits { woken: false } => return vec![event(Op::Timeout, condition)],
            State::MustLock => {
                let free = self.held[0].is_empty();
                return if free {
                    vec![event(Op::Acquire, 0)]
                } else {
                    Vec::new()
                };
            }
            State::AtBarrier { round } => {
                let full = self.came >= (round + 1) * BARRIER;
                let exit = event(Op::BarrierExit, self.barrier().0.into());
                return if full { vec![exit] } else { Vec::new() };
            }
            State::Runs => {}
        }
        let mut steps = Vec::new();
        self.accesses(thread, &mut steps);
        self.lock_ops(thread, &mut steps);
        self.thread_ops(thread, &mut steps);
        if self.shape.conditions {
            steps.push(event(Op::Notify, condition));
            steps.push(event(Op::NotifyAll, condition));
            if self.held[0] == [(thread, false)] {
                // The release of a wait is told by its place.
                let mut release = event(Op::Release, 0);
                release = release.with_read(1);
                steps.extend([release; 3]);
            }
        }
        if self.shape.barriers {
            steps.extend([event(Op::BarrierEnter, self.barrier().0.into()); 2]);
        }
        if self.shape.semaphores {
            steps.push(event(Op::Post, self.semaphore().0.into()));
            if self.posted > 0 {
                steps.push(event(Op::Take, self.semaphore().0.into()));
            }
        }
        if self.shape.channels {
            steps.push(event(Op::Send, self.channel().0.into()));
            steps.push(event(Op::Receive, self.channel().0.into()));
        }
        steps
    }

    fn accesses(&self, thread: u32, steps: &mut Vec<Step>) {
        for variable in 0..self.shape.variables {
            let addr = VARIABLES + 16 * variable;
            for op in [Op::Write, Op::Read] {
                let whole = self.access(thread, op, addr, 8);
                steps.extend([whole; 3]);
                if self.shape.parts {
                    steps.push(self.access(thread, op, addr + 2, 2));
                    steps.push(self.access(thread, op, addr + 6, 4));
                }
            }
        }
        if self.shape.heap {
            let op = if self.block { Op::Free } else { Op::Alloc };
            let step = Step::new(self.event(thread, op, BLOCK.0));
            steps.push(match op {
                Op::Alloc => step.with_written(BLOCK_SIZE),
                _ => step,
            });
            steps.push(self.access(thread, Op::Write, BLOCK.0, 8));
            steps.push(self.access(thread, Op::Read, BLOCK.0, 8));
        }
        let orders: &[[Order; 3]] = match self.shape.atomics {
            Atomics::None => return,
            // Of reads, of writes, of both.
            Atomics::Strong => &[[Order::Acquire, Order::Release, Order::AcqRel]],
            Atomics::All => &[
                [Order::Acquire, Order::Release, Order::AcqRel],
                [Order::Relaxed, Order::Relaxed, Order::Relaxed],
                [Order::SeqCst, Order::SeqCst, Order::Acquire],
                [Order::Consume, Order::Release, Order::Release],
            ],
        };
        let atomic = |op, addr, order| {
            let thread = ThreadId(thread);
            Step::new(Event::atomic(thread, op, addr, 8, order, self.place()))
        };
        let addr = Addr(ATOMICS);
        for [read, write, both] in orders {
            steps.push(atomic(Op::AtomicRead, addr, *read));
            steps.push(atomic(Op::AtomicWrite, addr, *write));
            steps.push(atomic(Op::AtomicRmw, addr, *both));
        }
        if self.shape.atomics == Atomics::All {
            for order in [Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst] {
                let place = self.place();
                let fence = Event::atomic(ThreadId(thread), Op::Fence, Addr(0), 0, order, place);
                steps.push(Step::new(fence));
            }
            // The same bytes as a plain variable: not both are atomic.
            for order in [Order::Relaxed, Order::Release] {
                steps.push(atomic(Op::AtomicWrite, Addr(VARIABLES), order));
            }
            for order in [Order::Relaxed, Order::Acquire] {
                steps.push(atomic(Op::AtomicRead, Addr(VARIABLES), order));
            }
        }
    }

    fn lock_ops(&self, thread: u32, steps: &mut Vec<Step>) {
        let event = |op, lock: u32| Step::new(self.event(thread, op, lock.into()));
        for lock in 0..self.shape.locks {
            let held = &self.held[lock as usize];
            let shared = self.shape.read_locks && lock + 1 == self.shape.locks;
            let mine = held.iter().find(|(holder, _)| *holder == thread);
            match mine {
                Some((_, false)) => {
                    steps.extend([event(Op::Release, lock); 4]);
                    if lock == 0 {
                        steps.push(event(Op::Acquire, lock));
                    }
                }
                Some((_, true)) => steps.extend([event(Op::ReadRelease, lock); 4]),
                None => {
                    if held.is_empty() {
                        steps.extend([event(Op::Acquire, lock); 3]);
                    }
                    if shared && held.iter().all(|(_, shared)| *shared) {
                        steps.extend([event(Op::ReadAcquire, lock); 3]);
                    }
                }
            }
        }
    }

    fn thread_ops(&self, thread: u32, steps: &mut Vec<Step>) {
        for other in 0..self.shape.threads {
            let event = |op| Step::new(self.event(thread, op, other.into()));
            match self.states[other as usize] {
                State::Unborn => steps.extend([event(Op::Fork); 6]),
                State::Ended if !self.joined[other as usize] => {
                    steps.extend([event(Op::Join); 6]);
                }
                _ => {}
            }
        }
        let holds = |held: &Vec<(u32, bool)>| held.iter().any(|(holder, _)| *holder == thread);
        if !self.held.iter().any(holds) {
            steps.push(Step::new(self.event(thread, Op::End, thread.into())));
        }
    }

    fn apply(&mut self, step: &Step) {
        let event = &step.event;
        let thread = event.thread().0;
        let mine = thread as usize;
        let lock = event.lock().index();
        match event.op() {
            Op::Acquire | Op::ReadAcquire => {
                self.held[lock].push((thread, event.op() == Op::ReadAcquire));
                if self.states[mine] == State::MustLock {
                    self.states[mine] = State::Runs;
                }
            }
            Op::Release | Op::ReadRelease => {
                let at = self.held[lock].iter().rposition(|held| held.0 == thread);
                self.held[lock].remove(at.unwrap());
                if step.read().is_some() {
                    self.states[mine] = State::MustWait;
                }
            }
            Op::Fork => self.states[event.peer().index()] = State::Runs,
            Op::End => self.states[mine] = State::Ended,
            Op::Join => self.joined[event.peer().index()] = true,
            Op::Wait => self.states[mine] = State::Waits { woken: false },
            Op::Wake | Op::Timeout => self.states[mine] = State::MustLock,
            Op::Notify | Op::NotifyAll => {
                let asleep = |state: &&mut State| **state == State::Waits { woken: false };
                let all = event.op() == Op::NotifyAll;
                let waiting = self.states.iter_mut().filter(asleep);
                for state in waiting.take(if all { usize::MAX } else { 1 }) {
                    *state = State::Waits { woken: true };
                }
            }
            Op::BarrierEnter => {
                let round = self.came / BARRIER;
                self.states[mine] = State::AtBarrier { round };
                self.came += 1;
            }
            Op::BarrierExit => self.states[mine] = State::Runs,
            Op::Post => self.posted += 1,
            Op::Take => self.posted -= 1,
            Op::Alloc => self.block = true,
            Op::Free => self.block = false,
            _ => {}
        }
    }

    /// What was made.
    pub fn trace(self) -> Trace {
        let object = |kind| SyncObject {
            kind,
            addr: Addr(0),
            name: None,
        };
        let mut syncs = vec![object(SyncKind::Lock); self.shape.locks as usize];
        syncs.extend([
            object(SyncKind::Condition),
            object(SyncKind::Barrier),
            object(SyncKind::Semaphore),
            object(SyncKind::Channel),
        ]);
        let plain = |step: &Step| match step.event.op() {
            Op::Release => Step::new(Event::new(
                step.event.thread(),
                Op::Release,
                LockId(step.event.lock().0).0.into(),
                step.event.pc(),
            )),
            _ => *step,
        };
        Trace {
            mode: Mode::Serial,
            tables: Tables {
                threads: vec![Thread::default(); self.shape.threads as usize],
                syncs,
                locations: (0..self.steps.len()).map(|i| i.to_string()).collect(),
                ..Tables::default()
            },
            steps: self.steps.iter().map(plain).collect(),
        }
    }
}
