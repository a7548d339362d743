//! Critical sections: from the acquisition that makes a thread hold a lock to the release after which it holds
//! it no more. Re-entrant locks: the outermost pair.

use deadheat_trace::{LockId, Op};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::NONE;
use super::threads::Threads;
use crate::{Hold, Window};

/// A critical section.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// The thread.
    pub thread: u32,
    /// The lock, by its number among those of the window.
    pub lock: u32,
    /// How it is held.
    pub hold: Hold,
    /// The acquisition; [`NONE`] if it lies before the window.
    pub acquire: u32,
    /// The release; [`NONE`] if the window has none.
    pub release: u32,
}

impl Section {
    /// Whether two of the same lock exclude each other.
    #[inline]
    pub fn excludes(&self, other: &Section) -> bool {
        self.thread != other.thread && (self.hold == Hold::Write || other.hold == Hold::Write)
    }
}

/// The critical sections of a window.
pub struct Locks {
    /// All of them.
    pub sections: Vec<Section>,
    /// Those of each lock by thread, in the thread's order.
    pub of_lock: Vec<Vec<(u32, Vec<u32>)>>,
    /// What the locks are called in the trace.
    pub ids: Vec<LockId>,
    numbers: FxHashMap<LockId, u32>,
    /// The section that each event begins, or ends; [`NONE`] for others.
    of_event: Vec<u32>,
    /// Which set of sections is open behind each event.
    open_behind: Vec<u32>,
    /// Which was open at the border, by thread.
    open_at_border: Vec<u32>,
    sets: Vec<SmallVec<[u32; 4]>>,
}

/// A lock that a thread holds.
struct Held {
    lock: u32,
    section: u32,
    times: u32,
}

impl Locks {
    /// The critical sections of a window.
    pub fn of(window: &Window, threads: &Threads) -> Self {
        let mut locks = Locks {
            sections: Vec::new(),
            of_lock: Vec::new(),
            ids: Vec::new(),
            numbers: FxHashMap::default(),
            of_event: vec![NONE; window.steps.len()],
            open_behind: Vec::with_capacity(window.steps.len()),
            open_at_border: vec![0; threads.count()],
            sets: vec![SmallVec::new()],
        };
        let mut held: Vec<Vec<Held>> = Vec::new();
        held.resize_with(threads.count(), Vec::new);
        let mut open = vec![0; threads.count()];
        for holding in &window.border.held {
            // Who does nothing in the window holds what it holds: a thread of its own.
            let thread = threads.find(holding.thread);
            let number = thread.map_or(NONE, |thread| thread as u32);
            let lock = locks.number(holding.lock);
            let section = locks.begin(number, lock, holding.hold, NONE);
            if let Some(thread) = thread {
                held[thread].push(Held {
                    lock,
                    section,
                    times: holding.times.max(1),
                });
                open[thread] = locks.set(&held[thread]);
                locks.open_at_border[thread] = open[thread];
            }
        }
        for (position, step) in window.steps.iter().enumerate() {
            let (event, thread) = (position as u32, threads.of[position] as usize);
            let op = step.event.op();
            let hold = match op {
                Op::Acquire | Op::Release => Hold::Write,
                Op::ReadAcquire | Op::ReadRelease => Hold::Read,
                _ => {
                    locks.open_behind.push(open[thread]);
                    continue;
                }
            };
            let lock = locks.number(step.event.lock());
            let mine = held[thread].iter().position(|held| held.lock == lock);
            if matches!(op, Op::Acquire | Op::ReadAcquire) {
                match mine {
                    Some(at) => held[thread][at].times += 1,
                    None => {
                        let section = locks.begin(thread as u32, lock, hold, event);
                        locks.of_event[position] = section;
                        held[thread].push(Held {
                            lock,
                            section,
                            times: 1,
                        });
                    }
                }
            } else if let Some(at) = mine {
                held[thread][at].times -= 1;
                if held[thread][at].times == 0 {
                    let ended = held[thread].remove(at);
                    locks.sections[ended.section as usize].release = event;
                    locks.of_event[position] = ended.section;
                }
            }
            open[thread] = locks.set(&held[thread]);
            locks.open_behind.push(open[thread]);
        }
        locks
    }

    fn number(&mut self, id: LockId) -> u32 {
        *self.numbers.entry(id).or_insert_with(|| {
            self.ids.push(id);
            self.of_lock.push(Vec::new());
            self.ids.len() as u32 - 1
        })
    }

    /// The number of a lock that is used in the window.
    pub fn number_of(&self, id: LockId) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    fn begin(&mut self, thread: u32, lock: u32, hold: Hold, acquire: u32) -> u32 {
        let number = self.sections.len() as u32;
        self.sections.push(Section {
            thread,
            lock,
            hold,
            acquire,
            release: NONE,
        });
        let of_lock = &mut self.of_lock[lock as usize];
        match of_lock.iter_mut().find(|(owner, _)| *owner == thread) {
            Some((_, sections)) => sections.push(number),
            None => of_lock.push((thread, vec![number])),
        }
        number
    }

    fn set(&mut self, held: &[Held]) -> u32 {
        if held.is_empty() {
            return 0;
        }
        self.sets
            .push(held.iter().map(|held| held.section).collect());
        self.sets.len() as u32 - 1
    }

    /// The section that an event begins or ends, if it does.
    #[inline]
    pub fn section_at(&self, event: u32) -> Option<u32> {
        Some(self.of_event[event as usize]).filter(|section| *section != NONE)
    }

    /// The sections that are open when a thread has executed so many events.
    #[inline]
    pub fn open(&self, threads: &Threads, thread: usize, executed: u32) -> &[u32] {
        let set = match executed {
            0 => self.open_at_border[thread],
            _ => {
                let last = threads.chains[thread][executed as usize - 1];
                self.open_behind[last as usize]
            }
        };
        &self.sets[set as usize]
    }

    /// Which set of sections is open when a thread has executed so many events: equal numbers, equal
    /// sets.
    #[inline]
    pub fn open_set(&self, threads: &Threads, thread: usize, executed: u32) -> u32 {
        match executed {
            0 => self.open_at_border[thread],
            _ => self.open_behind[threads.chains[thread][executed as usize - 1] as usize],
        }
    }

    /// Whether two events can never be next at once, because their threads would hold a lock both.
    pub fn exclude(&self, threads: &Threads, one: u32, other: u32) -> bool {
        let open = |event: u32| {
            let thread = threads.of[event as usize] as usize;
            self.open(threads, thread, threads.index[event as usize])
        };
        let theirs = open(other);
        open(one).iter().any(|mine| {
            let mine = &self.sections[*mine as usize];
            theirs.iter().any(|other| {
                let other = &self.sections[*other as usize];
                mine.lock == other.lock && mine.excludes(other)
            })
        })
    }
}
