//! Step by step: what each thread can do next to locks, conditions, semaphores, barriers, channels and futexes.

use deadheat_predict::{Hold, Holding};
use deadheat_trace::{LockId, Op, Step, ThreadId};

use super::Shape;
use super::maker::{Action, plain};

const CONDITION: u32 = 3;
const SEMAPHORE: u32 = 4;
const BARRIER: u32 = 5;
const CHANNEL: u32 = 6;
const FUTEX: u32 = 7;
/// How many a barrier waits for: threads 0 and 1.
const BARRIER_COUNT: u64 = 2;

/// What keeps a thread from doing what it likes.
#[derive(Clone, Copy, PartialEq)]
enum Busy {
    No,
    /// It waits at the condition.
    Waits {
        woken: bool,
    },
    /// It was woken and takes the first lock again.
    MustLock,
    /// It asked for a lock and waits for it.
    Asked(u32, Hold),
    AtBarrier {
        round: u64,
    },
    OnFutex {
        woken: bool,
    },
}

/// The state of all objects.
pub(super) struct Objects {
    shape: Shape,
    busy: Vec<Busy>,
    /// Who holds each lock, how, and how many times.
    held: Vec<Vec<(u32, Hold, u32)>>,
    posted: u32,
    came: u64,
    /// Whether the objects that are initialised in the window are.
    inits: bool,
    destroyed: bool,
}

impl Objects {
    pub fn new(shape: Shape, start: u32) -> Self {
        let mut objects = Objects {
            shape,
            busy: vec![Busy::No; shape.threads as usize],
            held: vec![Vec::new(); shape.locks as usize],
            posted: 0,
            came: 0,
            inits: shape.rest.lives && start & 4 == 4,
            destroyed: false,
        };
        if shape.rest.border {
            let last = shape.locks as usize - 1;
            if start & 8 == 8 {
                // Twice if it is re-entrant.
                let times = if shape.rest.locks && start & 16 == 16 {
                    2
                } else {
                    1
                };
                objects.held[0].push((0, Hold::Write, times));
            }
            if shape.rest.locks && start & 24 == 16 && !objects.inits {
                objects.held[last].push((0, Hold::Read, 1));
                objects.held[last].push((1, Hold::Read, 1));
            }
            if start & 32 == 32 && shape.rest.barriers && !objects.inits {
                objects.busy[1] = Busy::AtBarrier { round: 0 };
                objects.came = 1;
            }
            if start & 64 == 64 {
                objects.posted = 1;
            }
            let last = objects.busy.last_mut().filter(|busy| **busy == Busy::No);
            if let Some(busy) = last.filter(|_| start & 128 == 128 && shape.rest.conditions) {
                let woken = start & 256 == 256;
                *busy = Busy::Waits { woken };
            }
        }
        objects
    }

    /// Nothing began before the window.
    pub fn forget_border(&mut self) {
        self.busy.fill(Busy::No);
        self.held.fill(Vec::new());
        self.posted = 0;
        self.came = 0;
    }

    pub fn held_at_border(&self) -> Vec<Holding> {
        let locks = (0..).zip(&self.held);
        let all = locks.flat_map(|(lock, holders)| {
            holders.iter().map(move |&(thread, hold, times)| Holding {
                thread: ThreadId(thread),
                lock: LockId(lock),
                hold,
                times,
            })
        });
        all.collect()
    }

    /// What begins in the window: the last lock, if there are several, the semaphore and the barrier.
    pub fn inits(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.inits && self.shape.locks > 1 {
            steps.push(plain(0, Op::Init, self.shape.locks - 1));
        }
        if self.inits && self.shape.rest.semaphores {
            steps.push(plain(0, Op::Init, SEMAPHORE).with_written(u64::from(self.posted)));
        }
        if self.inits && self.shape.rest.barriers {
            steps.push(plain(0, Op::Init, BARRIER).with_written(BARRIER_COUNT));
        }
        steps
    }

    /// Whether a thread cannot end now.
    pub fn holds_any(&self, thread: u32) -> bool {
        let mut holders = self.held.iter().flatten();
        holders.any(|&(holder, ..)| holder == thread)
    }

    /// All that a busy thread can do.
    pub fn must(&self, thread: u32) -> Option<Vec<Action>> {
        let event = |op, object: u32| vec![plain(thread, op, object)];
        Some(match self.busy[thread as usize] {
            Busy::No => return None,
            Busy::Waits { woken: true } => vec![event(Op::Wake, CONDITION)],
            Busy::Waits { woken: false } => vec![event(Op::Timeout, CONDITION)],
            Busy::MustLock if self.free(0, thread, Hold::Write) => vec![event(Op::Acquire, 0)],
            Busy::Asked(lock, wanted) if self.free(lock, thread, wanted) => match wanted {
                Hold::Write => vec![event(Op::Acquire, lock)],
                Hold::Read => vec![event(Op::ReadAcquire, lock)],
            },
            // Its time is up.
            Busy::Asked(lock, wanted) if self.shape.rest.refused => match wanted {
                Hold::Write => vec![event(Op::Refused, lock)],
                Hold::Read => vec![event(Op::ReadRefused, lock)],
            },
            Busy::AtBarrier { round } if self.came >= (round + 1) * BARRIER_COUNT => {
                vec![event(Op::BarrierExit, BARRIER)]
            }
            Busy::OnFutex { woken: true } => vec![event(Op::FutexWoken, FUTEX)],
            _ => Vec::new(),
        })
    }

    /// What a thread that is not busy can do.
    pub fn can(&self, thread: u32, actions: &mut Vec<Action>) {
        let rest = &self.shape.rest;
        let event = |op, object: u32| vec![plain(thread, op, object)];
        self.lock_ops(thread, actions);
        if rest.conditions {
            actions.push(event(Op::Notify, CONDITION));
            actions.push(event(Op::NotifyAll, CONDITION));
            let once = [(thread, Hold::Write, 1)];
            if self.held.first().is_some_and(|holders| *holders == once) {
                let release = plain(thread, Op::Release, 0u32);
                let wait = plain(thread, Op::Wait, CONDITION);
                actions.extend(vec![vec![release, wait]; 3]);
            }
        }
        if rest.semaphores {
            actions.extend(vec![event(Op::Post, SEMAPHORE); 2]);
            if self.posted > 0 {
                actions.extend(vec![event(Op::Take, SEMAPHORE); 3]);
            } else if rest.refused {
                actions.extend(vec![event(Op::TakeRefused, SEMAPHORE); 2]);
            }
        }
        if rest.barriers && thread < 2 {
            actions.extend(vec![event(Op::BarrierEnter, BARRIER); 3]);
        }
        if rest.channels {
            actions.extend(vec![event(Op::Send, CHANNEL); 2]);
            actions.extend(vec![event(Op::Receive, CHANNEL); 2]);
        }
        if rest.futexes {
            actions.push(event(Op::FutexWake, FUTEX));
            // Woken for no reason, too.
            let wait = plain(thread, Op::FutexWait, FUTEX);
            actions.push(vec![wait, plain(thread, Op::FutexWoken, FUTEX)]);
            actions.push(vec![wait]);
        }
        let last = self.shape.locks.saturating_sub(1);
        if self.inits && !self.destroyed && last > 0 && self.held[last as usize].is_empty() {
            actions.push(event(Op::Destroy, last));
        }
    }

    fn lock_ops(&self, thread: u32, actions: &mut Vec<Action>) {
        let event = |op, lock: u32| vec![plain(thread, op, lock)];
        for lock in 0..self.shape.locks {
            let last = lock + 1 == self.shape.locks;
            if last && self.destroyed {
                continue;
            }
            let special = self.shape.rest.locks;
            let mut holders = self.held[lock as usize].iter();
            let mine = holders.find(|&&(holder, ..)| holder == thread);
            match mine {
                Some((_, Hold::Write, times)) => {
                    actions.extend(vec![event(Op::Release, lock); 4]);
                    if self.shape.rest.refused && (lock > 0 || !special) {
                        actions.push(event(Op::Refused, lock));
                    }
                    if special && lock == 0 && *times < 3 {
                        actions.push(event(Op::Acquire, lock));
                    }
                }
                Some(_) => actions.extend(vec![event(Op::ReadRelease, lock); 4]),
                None => {
                    if self.free(lock, thread, Hold::Write) {
                        actions.extend(vec![event(Op::Acquire, lock); 8]);
                    }
                    if special && last && self.free(lock, thread, Hold::Read) {
                        actions.extend(vec![event(Op::ReadAcquire, lock); 8]);
                    }
                    if special && self.free(lock, thread, Hold::Write) {
                        actions.push(vec![plain(thread, Op::Acquire, lock).with_written(1)]);
                    }
                    if special && !self.free(lock, thread, Hold::Write) {
                        actions.push(event(Op::Request, lock));
                    }
                    if special && last && !self.free(lock, thread, Hold::Read) {
                        actions.push(event(Op::ReadRequest, lock));
                    }
                    let refused = self.shape.rest.refused;
                    if refused && !self.free(lock, thread, Hold::Write) {
                        actions.extend(vec![event(Op::Refused, lock); 2]);
                    }
                    if refused && special && last && !self.free(lock, thread, Hold::Read) {
                        actions.extend(vec![event(Op::ReadRefused, lock); 2]);
                    }
                }
            }
        }
    }

    fn free(&self, lock: u32, thread: u32, wanted: Hold) -> bool {
        let mut holders = self.held[lock as usize].iter();
        !holders.any(|&(holder, hold, _)| {
            holder != thread && (wanted == Hold::Write || hold == Hold::Write)
        })
    }

    pub fn apply(&mut self, step: &Step) {
        let thread = step.event.thread().0;
        let object = step.event.target() as u32;
        let busy = &mut self.busy[thread as usize];
        match step.event.op() {
            Op::Acquire => {
                *busy = Busy::No;
                self.take(object, thread, Hold::Write);
            }
            Op::ReadAcquire => {
                *busy = Busy::No;
                self.take(object, thread, Hold::Read);
            }
            Op::Release | Op::ReadRelease => self.give(object, thread),
            Op::Request => *busy = Busy::Asked(object, Hold::Write),
            Op::ReadRequest => *busy = Busy::Asked(object, Hold::Read),
            Op::Wait => *busy = Busy::Waits { woken: false },
            Op::Wake | Op::Timeout => *busy = Busy::MustLock,
            Op::Notify => {
                let mut waiting = self.busy.iter_mut();
                if let Some(first) = waiting.find(|busy| **busy == Busy::Waits { woken: false }) {
                    *first = Busy::Waits { woken: true };
                }
            }
            Op::NotifyAll => self.wake(Busy::Waits { woken: false }, Busy::Waits { woken: true }),
            Op::FutexWait => *busy = Busy::OnFutex { woken: false },
            Op::FutexWoken | Op::Refused | Op::ReadRefused => *busy = Busy::No,
            Op::FutexWake => {
                self.wake(
                    Busy::OnFutex { woken: false },
                    Busy::OnFutex { woken: true },
                );
            }
            Op::Post => self.posted += 1,
            Op::Take => self.posted -= 1,
            Op::BarrierEnter => {
                let round = self.came / BARRIER_COUNT;
                *busy = Busy::AtBarrier { round };
                self.came += 1;
            }
            Op::BarrierExit => *busy = Busy::No,
            Op::Destroy => self.destroyed = true,
            _ => {}
        }
    }

    fn wake(&mut self, from: Busy, to: Busy) {
        for busy in self.busy.iter_mut().filter(|busy| **busy == from) {
            *busy = to;
        }
    }

    fn take(&mut self, lock: u32, thread: u32, hold: Hold) {
        let holders = &mut self.held[lock as usize];
        match holders.iter_mut().find(|(holder, ..)| *holder == thread) {
            Some((.., times)) => *times += 1,
            None => holders.push((thread, hold, 1)),
        }
    }

    fn give(&mut self, lock: u32, thread: u32) {
        let holders = &mut self.held[lock as usize];
        if let Some((.., times)) = holders.iter_mut().find(|(holder, ..)| *holder == thread) {
            *times -= 1;
        }
        holders.retain(|&(_, _, times)| times > 0);
    }
}
