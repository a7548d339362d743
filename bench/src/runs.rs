//! Runs made up from a seed, with values and branches: for measuring prediction.
//!
//! The first thread forks the others, which live for a while; some are joined. A thread does one small task after
//! the other: critical sections of one lock or several nested ones with accesses to the lock's variables, or accesses to some
//! variable without a lock. Locks are nested in their order, so that no run ends in a deadlock.

use std::collections::VecDeque;

use deadheat_trace::{Addr, Event, LockId, Op, Pc, Step, ThreadId};

/// What a run is like. Shares are per mille.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// How many events.
    pub events: usize,
    /// How many threads.
    pub threads: u32,
    /// How many locks.
    pub locks: u32,
    /// How many variables; a quarter of them belongs to no lock.
    pub variables: u32,
    /// How many values there are.
    pub values: u64,
    /// Branches after accesses.
    pub branches: u32,
    /// Tasks without a lock.
    pub careless: u32,
    /// Writes of all accesses.
    pub writes: u32,
    /// Another lock inside a critical section.
    pub nesting: u32,
    /// Changes to another thread after an event.
    pub switches: u32,
    /// How many places of the program each variable is accessed at.
    pub places: u32,
    /// Another seed, another run.
    pub seed: u64,
}

impl Default for Run {
    fn default() -> Self {
        Run {
            events: 10_000,
            threads: 8,
            locks: 20,
            variables: 200,
            values: 3,
            branches: 300,
            careless: 100,
            writes: 400,
            nesting: 200,
            switches: 250,
            places: 1,
            seed: 1,
        }
    }
}

#[derive(Clone, Copy)]
enum Task {
    Read(u32),
    Write(u32),
    Acquire(u32),
    Release(u32),
    Branch,
}

struct Random(u64);

impl Random {
    /// Xorshift.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, end: u32) -> u32 {
        (self.next() % u64::from(end.max(1))) as u32
    }

    fn happens(&mut self, per_mille: u32) -> bool {
        self.below(1000) < per_mille
    }

    /// The small ones more often.
    fn skewed(&mut self, end: u32) -> u32 {
        let at = u64::from(self.below(1000));
        (at * at * u64::from(end) / 1_000_000) as u32
    }
}

impl Run {
    /// The steps of the run.
    pub fn steps(&self) -> Vec<Step> {
        let mut maker = Maker {
            run: *self,
            random: Random(self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            memory: vec![0; self.variables as usize],
            owner: vec![None; self.locks as usize],
            tasks: vec![VecDeque::new(); self.threads as usize],
            is_alive: vec![false; self.threads as usize],
            steps: Vec::with_capacity(self.events),
        };
        maker.make();
        maker.steps
    }
}

struct Maker {
    run: Run,
    random: Random,
    memory: Vec<u64>,
    owner: Vec<Option<u32>>,
    tasks: Vec<VecDeque<Task>>,
    is_alive: Vec<bool>,
    steps: Vec<Step>,
}

impl Maker {
    fn make(&mut self) {
        let threads = self.run.threads;
        self.is_alive[0] = true;
        let (mut starts, mut ends) = (
            vec![0; threads as usize],
            vec![usize::MAX; threads as usize],
        );
        for thread in 1..threads as usize {
            let late = if self.random.happens(600) { 10 } else { 2 };
            starts[thread] = self.random.below((self.run.events / late) as u32) as usize;
            if self.random.happens(300) {
                ends[thread] = starts[thread] + self.random.below(self.run.events as u32) as usize;
            }
        }
        let mut current = 0;
        while self.steps.len() < self.run.events {
            let now = self.steps.len();
            if self.tasks[0].is_empty() {
                for thread in 1..threads {
                    if starts[thread as usize] <= now {
                        starts[thread as usize] = usize::MAX;
                        self.is_alive[thread as usize] = true;
                        self.push(
                            0,
                            Event::new(ThreadId(0), Op::Fork, u64::from(thread), Pc(0)),
                        );
                        self.push(
                            thread,
                            Event::new(ThreadId(thread), Op::Begin, u64::from(thread), Pc(1)),
                        );
                    }
                    if ends[thread as usize] == 0 && self.random.happens(50) {
                        ends[thread as usize] = usize::MAX;
                        self.push(
                            0,
                            Event::new(ThreadId(0), Op::Join, u64::from(thread), Pc(2)),
                        );
                    }
                }
            }
            if !self.is_alive[current as usize] || self.random.happens(self.run.switches) {
                current = self.random.below(threads);
                continue;
            }
            if self.tasks[current as usize].is_empty() {
                if current != 0 && ends[current as usize] <= now {
                    ends[current as usize] = 0;
                    self.is_alive[current as usize] = false;
                    self.push(
                        current,
                        Event::new(ThreadId(current), Op::End, u64::from(current), Pc(3)),
                    );
                    continue;
                }
                self.plan(current);
            }
            if !self.go_on(current) {
                current = self.random.below(threads);
            }
        }
    }

    fn push(&mut self, _thread: u32, event: Event) {
        self.steps.push(Step::new(event));
    }

    /// Plans a thread's next task.
    fn plan(&mut self, thread: u32) {
        let run = self.run;
        let guarded = (run.variables * 3 / 4).max(1);
        let mut tasks = VecDeque::new();
        if self.random.happens(run.careless) {
            let variable = match run.variables > guarded && self.random.happens(700) {
                true => guarded + self.random.below(run.variables - guarded),
                false => self.random.skewed(guarded),
            };
            for _ in 0..=self.random.below(2) {
                self.access(&mut tasks, variable);
            }
        } else {
            let mut held = vec![self.random.skewed(run.locks)];
            loop {
                let lock = held[held.len() - 1];
                tasks.push_back(Task::Acquire(lock));
                for _ in 0..=self.random.below(3) {
                    let each = (guarded / run.locks).max(1);
                    let variable = (self.random.below(each) * run.locks + lock) % guarded;
                    self.access(&mut tasks, variable);
                }
                if held.len() == 4 || lock + 1 >= run.locks || !self.random.happens(run.nesting) {
                    break;
                }
                held.push(lock + 1 + self.random.below(run.locks - lock - 1));
            }
            tasks.extend(held.into_iter().rev().map(Task::Release));
        }
        self.tasks[thread as usize] = tasks;
    }

    fn access(&mut self, tasks: &mut VecDeque<Task>, variable: u32) {
        tasks.push_back(match self.random.happens(self.run.writes) {
            true => Task::Write(variable),
            false => Task::Read(variable),
        });
        if self.random.happens(self.run.branches) {
            tasks.push_back(Task::Branch);
        }
    }

    /// Does the next thing of a thread; false if it has to wait.
    fn go_on(&mut self, thread: u32) -> bool {
        let Some(task) = self.tasks[thread as usize].front().copied() else {
            return false;
        };
        let id = ThreadId(thread);
        let place = |random: &mut Random, variable: u32, places: u32| {
            Pc(16 + (variable * places + random.below(places)) * 2)
        };
        let access = |op, variable: u32, pc| {
            Event::access(id, op, Addr(0x1000 + 8 * u64::from(variable)), 8, pc)
        };
        let step = match task {
            Task::Acquire(lock) => {
                if self.owner[lock as usize].is_some() {
                    return false;
                }
                self.owner[lock as usize] = Some(thread);
                Step::new(Event::new(
                    id,
                    Op::Acquire,
                    u64::from(LockId(lock).0),
                    Pc(4),
                ))
            }
            Task::Release(lock) => {
                self.owner[lock as usize] = None;
                Step::new(Event::new(
                    id,
                    Op::Release,
                    u64::from(LockId(lock).0),
                    Pc(5),
                ))
            }
            Task::Read(variable) => {
                let pc = place(&mut self.random, variable, self.run.places);
                Step::new(access(Op::Read, variable, pc)).with_read(self.memory[variable as usize])
            }
            Task::Write(variable) => {
                let Pc(pc) = place(&mut self.random, variable, self.run.places);
                let value = self.random.next() % self.run.values;
                self.memory[variable as usize] = value;
                Step::new(access(Op::Write, variable, Pc(pc + 1))).with_written(value)
            }
            Task::Branch => Step::new(Event::new(id, Op::Branch, 0, Pc(6))),
        };
        self.tasks[thread as usize].pop_front();
        self.steps.push(step);
        true
    }
}
