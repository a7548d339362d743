//! Attempts that were refused: what made them fail must be there in every schedule that has them.
//!
//! An attempt at a lock stays within a critical section that kept the lock from it: after the beginning, before the
//! end. Of several it is the one that lasted longest; if it is the thread's own, nothing else is asked. An
//! attempt at a semaphore stays behind all that was taken before it, and before all that was posted after it. Both are
//! more than need be: another section, or fewer of both, could make it fail as well.
//!
//! An attempt that nothing explains (somebody unknown had the lock) can never be executed.
//!
//! That a section begins first is hard; that it ends later holds among those events that a schedule has, as for
//! ends of lives.

use std::cmp::Reverse;

use deadheat_trace::Op;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::NONE;
use super::lives::End;
use super::locks::Locks;
use super::threads::Threads;
use crate::{Hold, Window};

/// The refused attempts of a window.
#[derive(Default)]
pub struct Refusals {
    /// Releases and posts, with the attempts of other threads that come before each.
    pub ends: Vec<End>,
    /// Attempts that nobody knows the reason of.
    pub unexplained: Vec<u32>,
    beginnings: Vec<(u32, u32)>,
    /// The numbers of the ends.
    numbers: FxHashMap<u32, u32>,
    /// The ends that an attempt comes before.
    ends_of: FxHashMap<u32, SmallVec<[u32; 2]>>,
}

/// A semaphore, followed through the window.
#[derive(Default)]
struct Semaphore {
    /// What was posted and not taken, and the least that was ever.
    level: i64,
    lowest: i64,
    /// The last of each thread that took something.
    takes: FxHashMap<u32, u32>,
    /// The last attempt of each thread.
    last_attempts: FxHashMap<u32, u32>,
    /// Attempts, with what was there.
    attempts: Vec<(u32, i64)>,
    /// How many attempts the last post of each thread came after.
    passed: FxHashMap<u32, usize>,
}

impl Refusals {
    /// The refused attempts of a window.
    pub fn of(window: &Window, threads: &Threads, locks: &Locks) -> Self {
        let mut refusals = Refusals::default();
        let is_attempt = |op| matches!(op, Op::Refused | Op::ReadRefused | Op::TakeRefused);
        let mut ops = window.steps.iter().map(|step| step.event.op());
        if ops.any(is_attempt) {
            refusals.of_locks(window, threads, locks);
            refusals.of_semaphores(window, threads);
        }
        refusals
    }

    fn of_locks(&mut self, window: &Window, threads: &Threads, locks: &Locks) {
        let mut open: Vec<Vec<u32>> = vec![Vec::new(); locks.of_lock.len()];
        let at_border = locks.sections.iter().zip(0..);
        for (section, number) in at_border.take_while(|(section, _)| section.acquire == NONE) {
            open[section.lock as usize].push(number);
        }
        for (position, step) in window.steps.iter().enumerate() {
            let (event, thread) = (position as u32, threads.of[position]);
            let wanted = match step.event.op() {
                Op::Refused => Hold::Write,
                Op::ReadRefused => Hold::Read,
                _ => {
                    if let Some(number) = locks.section_at(event) {
                        let section = &locks.sections[number as usize];
                        let open = &mut open[section.lock as usize];
                        match section.acquire == event {
                            true => open.push(number),
                            false => open.retain(|other| *other != number),
                        }
                    }
                    continue;
                }
            };
            let lock = locks.number_of(step.event.lock());
            let open = lock.map_or(&[][..], |lock| &open[lock as usize]);
            let holding = open.iter().map(|number| &locks.sections[*number as usize]);
            let keeping =
                holding.filter(|section| wanted == Hold::Write || section.hold == Hold::Write);
            // What began or ends outside of the window lasted longer than all that did not.
            let best = keeping.max_by_key(|section| {
                let began = section.acquire.wrapping_add(1);
                (section.thread == thread, section.release, Reverse(began))
            });
            match best {
                None => self.unexplained.push(event),
                Some(section) if section.thread == thread => {}
                Some(section) => {
                    if section.acquire != NONE {
                        self.beginnings.push((section.acquire, event));
                    }
                    if section.release != NONE {
                        self.comes_before(section.release, event, thread);
                    }
                }
            }
        }
    }

    fn of_semaphores(&mut self, window: &Window, threads: &Threads) {
        let mut semaphores: FxHashMap<u64, Semaphore> = FxHashMap::default();
        for (position, step) in window.steps.iter().enumerate() {
            let (event, thread) = (position as u32, threads.of[position]);
            let (op, object) = (step.event.op(), step.event.target());
            match op {
                Op::Post => {
                    let semaphore = semaphores.entry(object).or_default();
                    semaphore.level += 1;
                    let passed = semaphore.passed.entry(thread).or_default();
                    for (attempt, _) in &semaphore.attempts[*passed..] {
                        let theirs = threads.of[*attempt as usize];
                        if theirs != thread {
                            self.comes_before(event, *attempt, theirs);
                        }
                    }
                    *passed = semaphore.attempts.len();
                }
                Op::Take => {
                    let semaphore = semaphores.entry(object).or_default();
                    semaphore.level -= 1;
                    semaphore.lowest = semaphore.lowest.min(semaphore.level);
                    semaphore.takes.insert(thread, event);
                }
                Op::TakeRefused => {
                    let semaphore = semaphores.entry(object).or_default();
                    let last = semaphore.last_attempts.insert(thread, event);
                    let takes = semaphore.takes.values().copied();
                    let new = takes.filter(|take| last.is_none_or(|last| last < *take));
                    self.beginnings.extend(new.map(|take| (take, event)));
                    semaphore.attempts.push((event, semaphore.level));
                }
                Op::Init | Op::Destroy => {
                    let ended = semaphores.remove(&object);
                    self.unexplained
                        .extend(ended.iter().flat_map(Semaphore::unexplained));
                }
                _ => {}
            }
        }
        let unexplained = semaphores.values().flat_map(Semaphore::unexplained);
        self.unexplained.extend(unexplained);
    }

    /// An attempt comes before an event of another thread.
    fn comes_before(&mut self, end: u32, attempt: u32, thread: u32) {
        let number = *self.numbers.entry(end).or_insert_with(|| {
            self.ends.push(End {
                event: end,
                uses: Vec::new(),
            });
            self.ends.len() as u32 - 1
        });
        let uses = &mut self.ends[number as usize].uses;
        match uses.iter_mut().find(|(user, _)| *user == thread) {
            Some((_, attempts)) => attempts.push(attempt),
            None => uses.push((thread, vec![attempt])),
        }
        self.ends_of.entry(attempt).or_default().push(end);
    }

    /// Edges from what came first to the attempts.
    pub fn beginnings(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.beginnings.iter().copied()
    }

    /// The end that an event is.
    #[inline]
    pub fn end_at(&self, event: u32) -> Option<&End> {
        if self.ends.is_empty() {
            return None;
        }
        let number = self.numbers.get(&event)?;
        Some(&self.ends[*number as usize])
    }

    /// The events that an attempt comes before.
    #[inline]
    pub fn ends_after(&self, attempt: u32) -> &[u32] {
        if self.ends.is_empty() {
            return &[];
        }
        self.ends_of
            .get(&attempt)
            .map_or(&[], |ends| ends.as_slice())
    }
}

impl Semaphore {
    /// Attempts when there was more than at some other time: it was not at zero, as far as anybody knows.
    fn unexplained(&self) -> impl Iterator<Item = u32> + '_ {
        let attempts = self.attempts.iter();
        let with_some = attempts.filter(|(_, level)| *level != self.lowest);
        with_some.map(|(attempt, _)| *attempt)
    }
}
