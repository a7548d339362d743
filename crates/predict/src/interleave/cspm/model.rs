//! The processes of a trace: what each thread does, and what it synchronises with.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_trace::{Op, ThreadId};

use super::super::Observation;
use super::super::objects::Object;
use super::super::simplified::{Access, Simplified, What};

/// The processes of a trace.
#[derive(Default)]
pub struct Model {
    /// What each thread does: names of events, or of segments.
    pub threads: BTreeMap<ThreadId, Vec<Deed>>,
    /// Who created whom.
    pub forks: Vec<(ThreadId, ThreadId)>,
    /// Who waited for whose end.
    pub joins: Vec<(ThreadId, ThreadId)>,
    /// Locks, and whether they are taken for reading, too.
    pub locks: BTreeMap<u64, bool>,
    /// Messages by the events that send them: who does.
    pub signals: BTreeMap<u64, ThreadId>,
    /// Rounds of barriers: who takes part.
    pub barriers: Vec<BTreeSet<ThreadId>>,
    /// Semaphores: how many were posted, and how many were there in the beginning.
    pub semaphores: BTreeMap<u64, (u32, u32)>,
}

/// Something that a thread does.
pub enum Deed {
    /// An event.
    Event(String),
    /// Accesses to objects: by how it is called, to which.
    Segment(BTreeMap<&'static str, BTreeSet<u32>>),
}

/// While a trace is read.
#[derive(Default)]
struct Reading {
    /// How many times each thread has taken each lock.
    held: BTreeMap<(ThreadId, u64), u32>,
    /// By barrier: the rounds that it had, and whether somebody has left the last of them.
    rounds: BTreeMap<u64, (Vec<usize>, bool)>,
    /// The last send of each thread to each channel.
    sent: BTreeMap<(u64, ThreadId), u64>,
    /// What each semaphore holds.
    level: BTreeMap<u64, u32>,
    /// The semaphores that are ever taken.
    taken: BTreeSet<u64>,
}

impl Model {
    /// The processes of a trace, with its objects.
    pub fn of(observation: &Observation, simplified: &Simplified, objects: &[Object]) -> Self {
        let mut model = Model::default();
        model.threads.entry(ThreadId(0)).or_default();
        for step in observation.steps {
            model.threads.entry(step.event.thread()).or_default();
        }
        let takes = observation.steps.iter();
        let takes = takes.filter(|step| step.event.op() == Op::Take);
        let mut reading = Reading {
            taken: takes.map(|step| step.event.target()).collect(),
            ..Reading::default()
        };
        let mut accesses: BTreeMap<u32, Vec<&Access>> = BTreeMap::new();
        for access in &simplified.accesses {
            accesses.entry(access.segment).or_default().push(access);
        }
        for (place, happening) in simplified.happenings.iter().enumerate() {
            let thread = happening.step.event.thread();
            match happening.what {
                What::Segment => {
                    let here = accesses.remove(&(place as u32)).unwrap_or_default();
                    let mut by_name: BTreeMap<&'static str, BTreeSet<u32>> = BTreeMap::new();
                    for access in here {
                        let name = match (access.kind.writes, access.kind.is_atomic) {
                            (false, false) => "read",
                            (true, false) => "write",
                            (false, true) => "atomic_read",
                            (true, true) => "atomic_write",
                        };
                        let life = simplified.objects.all[access.object as usize].life;
                        let first = (life, access.start, 0);
                        let first =
                            objects.partition_point(|part| (part.life, part.start, 0) < first);
                        let parts = objects[first..].iter().enumerate();
                        let parts = parts
                            .take_while(|(_, part)| part.life == life && part.start < access.end);
                        let numbers = parts.map(|(at, _)| (first + at) as u32);
                        by_name.entry(name).or_default().extend(numbers);
                    }
                    model.does(thread, Deed::Segment(by_name));
                }
                What::Message => {
                    let event = &happening.step.event;
                    model.message(thread, event.op(), event.target());
                }
                What::Synchronisation => {
                    model.synchronises(observation, happening.at as usize, &mut reading);
                }
            }
        }
        for (_, joined) in model.joins.clone() {
            model.says(joined, format!("finish.{}", name(joined)));
        }
        model
    }

    fn does(&mut self, thread: ThreadId, deed: Deed) {
        self.threads.entry(thread).or_default().push(deed);
    }

    fn says(&mut self, thread: ThreadId, event: String) {
        self.does(thread, Deed::Event(event));
    }

    fn message(&mut self, thread: ThreadId, op: Op, number: u64) {
        let verb = match op {
            Op::Send => {
                self.signals.insert(number, thread);
                "signal"
            }
            _ => "wait",
        };
        self.says(thread, format!("{verb}.{}.c{number}", name(thread)));
    }

    fn synchronises(&mut self, observation: &Observation, at: usize, reading: &mut Reading) {
        let event = &observation.steps[at].event;
        let (thread, target) = (event.thread(), event.target());
        let me = name(thread);
        match event.op() {
            Op::Fork => {
                let child = event.peer();
                self.forks.push((thread, child));
                self.says(thread, format!("fork.{me}.{}", name(child)));
                self.says(child, format!("begin.{}", name(child)));
            }
            Op::Join => {
                self.joins.push((thread, event.peer()));
                self.says(thread, format!("join.{me}.{}", name(event.peer())));
            }
            op @ (Op::Acquire | Op::ReadAcquire) => {
                let times = reading.held.entry((thread, target)).or_default();
                *times += 1;
                if *times == 1 {
                    let is_read = op == Op::ReadAcquire;
                    *self.locks.entry(target).or_default() |= is_read;
                    let verb = if is_read { "read_lock" } else { "lock" };
                    self.says(thread, format!("{verb}.{me}.m{target}"));
                }
            }
            op @ (Op::Release | Op::ReadRelease) => {
                let times = reading.held.entry((thread, target)).or_default();
                if *times == 1 {
                    let is_read = op == Op::ReadRelease;
                    let verb = if is_read { "read_unlock" } else { "unlock" };
                    self.says(thread, format!("{verb}.{me}.m{target}"));
                }
                *times = times.saturating_sub(1);
            }
            Op::BarrierEnter | Op::BarrierExit => {
                self.barrier(thread, event.op(), target, reading);
            }
            Op::Init if reading.taken.contains(&target) => {
                let holds = observation.steps[at].written().unwrap_or(0) as u32;
                self.semaphores.entry(target).or_default().1 += holds;
                *reading.level.entry(target).or_default() += holds;
            }
            Op::Post => {
                self.semaphores.entry(target).or_default().0 += 1;
                *reading.level.entry(target).or_default() += 1;
                self.says(thread, format!("post.{me}.s{target}"));
            }
            Op::Take => {
                let level = reading.level.entry(target).or_default();
                match level.checked_sub(1) {
                    Some(left) => *level = left,
                    // It held something before.
                    None => self.semaphores.entry(target).or_default().1 += 1,
                }
                self.says(thread, format!("take.{me}.s{target}"));
            }
            Op::Send => {
                // Above the numbers of all other messages.
                let number = (1 << 40) + at as u64;
                reading.sent.insert((target, thread), number);
                self.message(thread, Op::Send, number);
            }
            Op::Receive => {
                let sent = reading
                    .sent
                    .range((target, ThreadId(0))..=(target, ThreadId(u32::MAX)));
                let others = sent.filter(|((_, sender), _)| *sender != thread);
                let numbers: Vec<u64> = others.map(|(_, number)| *number).collect();
                for number in numbers {
                    self.message(thread, Op::Receive, number);
                }
            }
            _ => {}
        }
    }

    fn barrier(&mut self, thread: ThreadId, op: Op, barrier: u64, reading: &mut Reading) {
        let (rounds, is_over) = reading.rounds.entry(barrier).or_default();
        if op == Op::BarrierEnter {
            if rounds.is_empty() || *is_over {
                rounds.push(self.barriers.len());
                self.barriers.push(BTreeSet::new());
                *is_over = false;
            }
            let round = rounds[rounds.len() - 1];
            self.barriers[round].insert(thread);
            self.says(thread, format!("enter.{}.b{round}", name(thread)));
            return;
        }
        let mine = |round: &&usize| self.barriers[**round].contains(&thread);
        // Who leaves without having come is let go.
        if let Some(round) = rounds.iter().rev().find(mine).copied() {
            *is_over |= rounds.last() == Some(&round);
            self.says(thread, format!("leave.{}.b{round}", name(thread)));
        }
    }
}

/// What a thread is called.
pub fn name(thread: ThreadId) -> String {
    format!("t{}", thread.0)
}
