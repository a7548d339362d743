//! Small programs, and what each operation of a thread does to their state.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use deadheat_trace::{Op, Order};

use super::{
    super::{Deed, Ending},
    instruction::{Do, Value},
};

/// A program.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) threads: Vec<Vec<Do>>,
    pub(super) memory: Vec<u64>,
    pub(super) semaphores: Vec<u64>,
    /// Whoever is woken takes the lock in a transition of its own.
    pub(super) split: bool,
    /// The program ends with thread 0.
    pub(super) leaves: bool,
    /// How many runs there were.
    pub(super) runs: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    Going,
    Waiting,
    Woken,
    /// The lock is still to be taken.
    Relocking,
    NotStarted,
    Ended,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    at: usize,
    register: u64,
    pub(super) phase: Phase,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Lock {
    writer: Option<u32>,
    depth: u32,
    readers: Vec<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Barrier {
    arrived: Vec<u32>,
    free: Vec<u32>,
}

/// Something that is done once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Once {
    Running,
    Done,
}

/// A state of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) threads: Vec<Thread>,
    memory: Vec<u64>,
    locks: BTreeMap<u64, Lock>,
    waiters: BTreeMap<u64, Vec<u32>>,
    semaphores: Vec<u64>,
    barriers: BTreeMap<u64, Barrier>,
    channels: BTreeMap<u64, u64>,
    onces: BTreeMap<u64, Once>,
    pub(super) died: Option<(u32, u64)>,
    pub(super) left: bool,
}

const LOCKS: u64 = 0x1000;
const CONDITIONS: u64 = 0x2000;
const SEMAPHORES: u64 = 0x3000;
const BARRIERS: u64 = 0x4000;
const CHANNELS: u64 = 0x5000;
const ONCES: u64 = 0x6000;

impl Model {
    /// The state in which all runs begin.
    pub(super) fn start(&self) -> State {
        let forked = |number: usize| {
            self.threads
                .iter()
                .flatten()
                .any(|one| matches!(one, Do::Fork(thread) if *thread as usize == number))
        };
        let mut state = State {
            threads: (0..self.threads.len())
                .map(|number| Thread {
                    at: 0,
                    register: 0,
                    phase: if forked(number) {
                        Phase::NotStarted
                    } else {
                        Phase::Going
                    },
                })
                .collect(),
            memory: self.memory.clone(),
            locks: BTreeMap::new(),
            waiters: BTreeMap::new(),
            semaphores: self.semaphores.clone(),
            barriers: BTreeMap::new(),
            channels: BTreeMap::new(),
            onces: BTreeMap::new(),
            died: None,
            left: false,
        };
        for thread in 0..self.threads.len() as u32 {
            self.settle(&mut state, thread);
        }
        state
    }

    fn pc(&self, thread: u32, at: usize) -> u64 {
        u64::from(thread) * 1000 + at as u64
    }

    /// How many ways there are for a thread to go on: 0 if it cannot.
    pub(super) fn ways(&self, state: &State, thread: u32) -> u32 {
        let own = &state.threads[thread as usize];
        if state.died.is_some() || state.left {
            return 0;
        }
        let free = |lock: &u64| {
            state.locks.get(lock).is_none_or(|lock| {
                lock.writer.is_none_or(|writer| writer == thread) && lock.readers.is_empty()
            })
        };
        let unwritten = |lock: &u64| {
            state
                .locks
                .get(lock)
                .is_none_or(|lock| lock.writer.is_none())
        };
        let can = match own.phase {
            Phase::Ended | Phase::NotStarted => false,
            Phase::Going => match self.threads[thread as usize].get(own.at) {
                Some(Do::Lock(lock)) => free(lock),
                Some(Do::ReadLock(lock)) => unwritten(lock),
                Some(Do::Take(semaphore)) => state.semaphores[*semaphore as usize] > 0,
                Some(Do::Leave(barrier)) => state
                    .barriers
                    .get(barrier)
                    .is_some_and(|barrier| barrier.free.contains(&thread)),
                Some(Do::Receive(channel)) => {
                    state.channels.get(channel).is_some_and(|many| *many > 0)
                }
                Some(Do::Once(once, _)) => state.onces.get(once) != Some(&Once::Running),
                Some(Do::Join(other)) => state.threads[*other as usize].phase == Phase::Ended,
                Some(Do::Notify(condition)) => {
                    let waiters = state.waiters.get(condition).map_or(0, Vec::len);
                    return waiters.max(1) as u32;
                }
                _ => true,
            },
            phase => match self.threads[thread as usize].get(own.at) {
                Some(Do::Wait(_, lock)) => {
                    (phase == Phase::Woken && self.split) || (phase != Phase::Waiting && free(lock))
                }
                Some(Do::TimedWait(_, lock)) => {
                    (phase != Phase::Relocking && self.split) || free(lock)
                }
                _ => false,
            },
        };
        u32::from(can)
    }

    /// Whether a thread waits, but not for ever.
    pub(super) fn is_timed(&self, state: &State, thread: u32) -> bool {
        let own = &state.threads[thread as usize];
        let instruction = self.threads[thread as usize].get(own.at);
        own.phase == Phase::Waiting && matches!(instruction, Some(Do::TimedWait(..)))
    }

    /// What a thread is about to do or waits to do.
    pub(super) fn next(&self, state: &State, thread: u32) -> Option<Deed> {
        let own = &state.threads[thread as usize];
        let pc = self.pc(thread, own.at);
        let deed = |op, object, size, tried| Deed {
            op,
            object,
            size,
            order: Order::SeqCst,
            tried,
            pc,
            own: 0,
            value: 0,
        };
        let instruction = self.threads[thread as usize].get(own.at).copied();
        if matches!(own.phase, Phase::Ended | Phase::NotStarted) {
            return None;
        }
        if own.phase != Phase::Going {
            return match instruction {
                Some(Do::Wait(_, lock) | Do::TimedWait(_, lock))
                    if own.phase == Phase::Relocking =>
                {
                    Some(deed(Op::Acquire, LOCKS + lock, 0, false))
                }
                Some(Do::Wait(condition, _)) => {
                    Some(deed(Op::Wake, CONDITIONS + condition, 0, false))
                }
                Some(Do::TimedWait(condition, _)) => {
                    Some(deed(Op::Wake, CONDITIONS + condition, 0, true))
                }
                _ => None,
            };
        }
        Some(match instruction? {
            Do::Read(at) => deed(Op::Read, at * 4, 4, false),
            Do::ReadAt => deed(
                Op::Read,
                (own.register % self.memory.len() as u64) * 4,
                4,
                false,
            ),
            Do::Write(at, _) => deed(Op::Write, at * 4, 4, false),
            Do::WriteBoth(at) => deed(Op::Write, at * 4, 8, false),
            Do::AtomicRead(at) => deed(Op::AtomicRead, at * 4, 4, false),
            Do::AtomicWrite(at, _) => deed(Op::AtomicWrite, at * 4, 4, false),
            Do::Add(at) | Do::Cas(at, ..) => deed(Op::AtomicRmw, at * 4, 4, false),
            Do::Lock(lock) => deed(Op::Acquire, LOCKS + lock, 0, false),
            Do::ReadLock(lock) => deed(Op::ReadAcquire, LOCKS + lock, 0, false),
            Do::TryLock(lock, _) => deed(Op::Acquire, LOCKS + lock, 0, true),
            Do::TryReadLock(lock, _) => deed(Op::ReadAcquire, LOCKS + lock, 0, true),
            Do::Unlock(lock) => deed(Op::Release, LOCKS + lock, 0, false),
            Do::ReadUnlock(lock) => deed(Op::ReadRelease, LOCKS + lock, 0, false),
            Do::Wait(condition, _) => deed(Op::Wait, CONDITIONS + condition, 0, false),
            Do::TimedWait(condition, _) => deed(Op::Wait, CONDITIONS + condition, 0, true),
            Do::Notify(condition) => deed(Op::Notify, CONDITIONS + condition, 0, false),
            Do::NotifyAll(condition) => deed(Op::NotifyAll, CONDITIONS + condition, 0, false),
            Do::Post(semaphore) => deed(Op::Post, SEMAPHORES + semaphore, 0, false),
            Do::Take(semaphore) => deed(Op::Take, SEMAPHORES + semaphore, 0, false),
            Do::TryTake(semaphore) => deed(Op::Take, SEMAPHORES + semaphore, 0, true),
            Do::Barrier(barrier, _) => deed(Op::BarrierEnter, BARRIERS + barrier, 0, false),
            Do::Leave(barrier) => deed(Op::BarrierExit, BARRIERS + barrier, 0, false),
            Do::Send(channel) => deed(Op::Send, CHANNELS + channel, 0, false),
            Do::Receive(channel) => deed(Op::Receive, CHANNELS + channel, 0, false),
            Do::Once(once, _) => deed(Op::Receive, ONCES + once, 0, false),
            Do::Done(once) => deed(Op::Send, ONCES + once, 0, false),
            Do::Fork(thread) => deed(Op::Fork, u64::from(thread), 0, false),
            Do::Join(thread) => deed(Op::Join, u64::from(thread), 0, false),
            Do::Unless(..) | Do::Skip(_) | Do::DieIf(_) => return None,
        })
    }

    /// Gives a thread the turn, which it can take.
    pub(super) fn step(&self, state: &mut State, thread: u32, way: u32) -> Vec<Deed> {
        let number = thread as usize;
        let Some(&instruction) = self.threads[number].get(state.threads[number].at) else {
            state.threads[number].phase = Phase::Ended;
            state.left |= self.leaves && thread == 0;
            return vec![Deed {
                op: Op::End,
                object: u64::from(thread),
                size: 0,
                order: Order::SeqCst,
                tried: false,
                pc: self.pc(thread, state.threads[number].at),
                own: 0,
                value: 0,
            }];
        };
        let mut next = self.next(state, thread).expect("not local");
        let register = state.threads[number].register;
        let of = |value| match value {
            Value::Number(number) => number,
            Value::Next => register + 1,
        };
        let mut deeds = Vec::new();
        let mut on = 1;
        let mut holds = register;
        match instruction {
            Do::Read(_) | Do::ReadAt | Do::AtomicRead(_) => {
                holds = state.memory[next.object as usize / 4];
                next.value = holds;
            }
            Do::Write(at, value) | Do::AtomicWrite(at, value) => {
                state.memory[at as usize] = of(value);
                next.value = of(value);
            }
            Do::WriteBoth(at) => {
                let index = at as usize;
                let behind = (index + 1) % state.memory.len();
                (state.memory[index], state.memory[behind]) = (5, 5);
                next.value = 0x0005_0000_0005;
            }
            Do::Add(at) => {
                holds = state.memory[at as usize];
                state.memory[at as usize] += 1;
                next.value = holds;
            }
            Do::Cas(at, value, skip) => {
                let there = &mut state.memory[at as usize];
                next.value = *there;
                if *there == 0 {
                    *there = value;
                    on += skip;
                } else {
                    next.op = Op::AtomicRead;
                }
            }
            Do::Lock(lock) => take(state, lock, thread),
            Do::TryLock(lock, skip) => {
                let held = state.locks.entry(lock).or_default();
                if held.writer.is_some_and(|writer| writer != thread) || !held.readers.is_empty() {
                    next.op = Op::Refused;
                    on += skip;
                } else {
                    take(state, lock, thread);
                }
            }
            Do::Unlock(lock) => give(state, lock),
            Do::ReadLock(lock) => read(state, lock, thread),
            Do::TryReadLock(lock, skip) => {
                if state.locks.entry(lock).or_default().writer.is_some() {
                    next.op = Op::ReadRefused;
                    on += skip;
                } else {
                    read(state, lock, thread);
                }
            }
            Do::ReadUnlock(lock) => {
                let readers = &mut state.locks.entry(lock).or_default().readers;
                if let Some(place) = readers.iter().position(|reader| *reader == thread) {
                    readers.remove(place);
                }
            }
            Do::Wait(condition, lock) | Do::TimedWait(condition, lock) => {
                on = 0;
                let acquire = Deed {
                    op: Op::Acquire,
                    object: LOCKS + lock,
                    tried: false,
                    ..next
                };
                let waiters = state.waiters.entry(condition).or_default();
                match state.threads[number].phase {
                    Phase::Going => {
                        waiters.push(thread);
                        state.threads[number].phase = Phase::Waiting;
                        deeds.push(Deed {
                            op: Op::Release,
                            object: LOCKS + lock,
                            tried: false,
                            ..next
                        });
                        give(state, lock);
                    }
                    phase => {
                        if phase == Phase::Waiting {
                            waiters.retain(|waiter| *waiter != thread);
                            next.op = Op::Timeout;
                            holds = 9;
                        }
                        if phase != Phase::Relocking && self.split {
                            state.threads[number].phase = Phase::Relocking;
                        } else {
                            take(state, lock, thread);
                            state.threads[number].phase = Phase::Going;
                            on = 1;
                            deeds.push(next);
                            next = acquire;
                            if phase == Phase::Relocking {
                                deeds.clear();
                            }
                        }
                    }
                }
            }
            Do::Notify(condition) => {
                let waiters = state.waiters.entry(condition).or_default();
                if !waiters.is_empty() {
                    let woken = waiters.remove(way as usize);
                    state.threads[woken as usize].phase = Phase::Woken;
                }
            }
            Do::NotifyAll(condition) => {
                for woken in std::mem::take(state.waiters.entry(condition).or_default()) {
                    state.threads[woken as usize].phase = Phase::Woken;
                }
            }
            Do::Post(semaphore) => {
                next.value = state.semaphores[semaphore as usize];
                state.semaphores[semaphore as usize] += 1;
            }
            Do::Take(semaphore) | Do::TryTake(semaphore) => {
                let value = &mut state.semaphores[semaphore as usize];
                next.value = *value;
                if *value == 0 {
                    next.op = Op::TakeRefused;
                }
                if next.tried {
                    holds = u64::from(*value > 0);
                }
                *value = value.saturating_sub(1);
            }
            Do::Barrier(barrier, parties) => {
                let barrier = state.barriers.entry(barrier).or_default();
                next.value = barrier.arrived.len() as u64;
                barrier.arrived.push(thread);
                holds = 0;
                if barrier.arrived.len() >= parties {
                    holds = 1;
                    barrier.free.append(&mut barrier.arrived);
                    barrier.free.sort_unstable();
                }
            }
            Do::Leave(barrier) => {
                let barrier = state.barriers.entry(barrier).or_default();
                barrier.free.retain(|one| *one != thread);
            }
            Do::Send(channel) => *state.channels.entry(channel).or_default() += 1,
            Do::Receive(channel) => {
                let there = state.channels.entry(channel).or_default();
                holds = *there;
                *there -= 1;
            }
            Do::Once(once, skip) => match state.onces.insert(once, Once::Running) {
                None => {}
                Some(before) => {
                    state.onces.insert(once, before);
                    on += skip;
                }
            },
            Do::Done(once) => {
                state.onces.insert(once, Once::Done);
                deeds.push(next);
                next.op = Op::Receive;
            }
            Do::Fork(other) => state.threads[other as usize].phase = Phase::Going,
            Do::Join(_) => {}
            Do::Unless(..) | Do::Skip(_) | Do::DieIf(_) => unreachable!("local"),
        }
        deeds.push(next);
        state.threads[number].register = holds;
        state.threads[number].at += on;
        self.settle(state, thread);
        deeds
    }

    /// Runs what nobody else can notice.
    fn settle(&self, state: &mut State, thread: u32) {
        let own = &mut state.threads[thread as usize];
        while let Some(&instruction) = self.threads[thread as usize].get(own.at)
            && instruction.is_local()
        {
            own.at += 1;
            match instruction {
                Do::Unless(value, skip) if own.register != value => own.at += skip,
                Do::Skip(skip) => own.at += skip,
                Do::DieIf(value) if own.register == value => {
                    let at = own.at - 1;
                    state.died = Some((thread, self.pc(thread, at)));
                    return;
                }
                _ => {}
            }
        }
    }

    /// How the program has ended, if it has.
    pub(super) fn ending(&self, state: &State) -> Option<Ending> {
        if state.died.is_some() {
            return Some(Ending::Killed(6));
        }
        if state.left || state.threads.iter().all(|one| one.phase == Phase::Ended) {
            return Some(Ending::Exited(0));
        }
        let stuck = (0..self.threads.len()).all(|thread| self.ways(state, thread as u32) == 0);
        stuck.then_some(Ending::Deadlock)
    }

    /// A number for a state in which a program has ended. Of one that died, only where.
    pub(super) fn outcome(&self, state: &State) -> u64 {
        let mut hasher = DefaultHasher::new();
        match state.died {
            Some(died) => died.hash(&mut hasher),
            None => {
                state.memory.hash(&mut hasher);
                state.threads.hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

fn take(state: &mut State, lock: u64, thread: u32) {
    let lock = state.locks.entry(lock).or_default();
    lock.writer = Some(thread);
    lock.depth += 1;
}

fn give(state: &mut State, lock: u64) {
    let lock = state.locks.entry(lock).or_default();
    lock.depth = lock.depth.saturating_sub(1);
    if lock.depth == 0 {
        lock.writer = None;
    }
}

fn read(state: &mut State, lock: u64, thread: u32) {
    let readers = &mut state.locks.entry(lock).or_default().readers;
    readers.push(thread);
    readers.sort_unstable();
}
