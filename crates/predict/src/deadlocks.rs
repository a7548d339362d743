//! Which cuts of lock requests and joins to ask about: cycles of threads each of which wants a lock that the next one
//! holds, or waits for its end.
//!
//! Any length. Threads that all hold one more lock (a guard) are left out, as no two of them can be there at once;
//! an attempt that would not have waited is no request. A thread's end is like a lock that it holds all the time and that joins want. That
//! matters only if somebody joins with a lock held, as every cycle through a join has such a one.

use deadheat_trace::{Op, Pc};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Hold;
use crate::model::Model;

/// So many cycles are asked about in a window.
const MOST: usize = 4096;
/// So many chains of wishes are followed.
const MOST_STEPS: usize = 1 << 20;

/// A thread that wants a lock, or another thread's end, while it holds others.
struct Wish {
    thread: u32,
    /// The lock, and how it is wanted. Numbers behind those of the locks are threads' ends.
    lock: u32,
    hold: Hold,
    /// What it holds: locks and how.
    held: Vec<(u32, Hold)>,
    /// Those of them that somebody wants.
    held_in_cycles: Vec<(u32, Hold)>,
    /// The first and the last request of this kind.
    requests: Vec<u32>,
}

/// The cycles of a window: by their places, the cuts to ask about.
#[derive(Debug, Default)]
pub struct Cycles {
    /// For each cycle of places the cuts that have it.
    pub cuts: Vec<(Vec<Pc>, Vec<Vec<u32>>)>,
    /// There are more.
    pub is_cut_short: bool,
}

/// The cycles of a window.
pub fn cycles(model: &Model) -> Cycles {
    let mut wishes = wishes(model);
    keep_cyclic(&mut wishes);
    let mut holders: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for (number, wish) in wishes.iter().enumerate() {
        for (lock, _) in &wish.held_in_cycles {
            holders.entry(*lock).or_default().push(number);
        }
    }
    let mut finder = Finder {
        model,
        wishes: &wishes,
        holders,
        path: Vec::new(),
        found: FxHashMap::default(),
        count: 0,
        steps: 0,
    };
    for first in 0..wishes.len() {
        finder.path.push(first);
        finder.go_on();
        finder.path.pop();
    }
    let mut cuts: Vec<_> = finder.found.into_iter().collect();
    cuts.sort_unstable();
    Cycles {
        is_cut_short: finder.count > MOST || finder.steps > MOST_STEPS,
        cuts,
    }
}

/// Leaves out wishes that no cycle of locks goes through.
fn keep_cyclic(wishes: &mut Vec<Wish>) {
    loop {
        // Locks that somebody wants, and that somebody holds who wants another.
        let wanted: FxHashSet<u32> = wishes.iter().map(|wish| wish.lock).collect();
        let held: FxHashSet<u32> = wishes
            .iter()
            .flat_map(|wish| wish.held.iter().map(|(lock, _)| *lock))
            .collect();
        let before = wishes.len();
        wishes.retain(|wish| {
            held.contains(&wish.lock) && wish.held.iter().any(|(lock, _)| wanted.contains(lock))
        });
        for wish in wishes.iter_mut() {
            wish.held_in_cycles = wish
                .held
                .iter()
                .copied()
                .filter(|(lock, _)| wanted.contains(lock))
                .collect();
        }
        if wishes.len() == before {
            return;
        }
    }
}

fn wishes(model: &Model) -> Vec<Wish> {
    type Key = (u32, Pc, u32, bool, Vec<(u32, bool)>);
    let mut wishes: Vec<Wish> = Vec::new();
    let mut numbers: FxHashMap<Key, usize> = FxHashMap::default();
    let ends_count = holds_and_joins(model);
    let end_of = |thread: usize| (model.locks.ids.len() + thread) as u32;
    for (position, step) in model.window.steps.iter().enumerate() {
        let (event, op) = (position as u32, step.event.op());
        let hold = match op {
            Op::Acquire | Op::Request => Hold::Write,
            Op::ReadAcquire | Op::ReadRequest => Hold::Read,
            Op::Join if ends_count => Hold::Write,
            _ => continue,
        };
        let thread = model.thread(event);
        // A request whose acquisition follows is asked about as that.
        let is_last = model.index(event) as usize + 1 == model.threads.chains[thread].len();
        if matches!(op, Op::Request | Op::ReadRequest) && !is_last {
            continue;
        }
        let open = model.locks.open(&model.threads, thread, model.index(event));
        let lock = match op {
            Op::Join => model.threads.find(step.event.peer()).map(end_of),
            _ => model.locks.number_of(step.event.lock()),
        };
        let Some(lock) = lock else {
            continue;
        };
        let own_end = ends_count.then_some((end_of(thread), Hold::Write));
        let held: Vec<(u32, Hold)> = open
            .iter()
            .map(|section| &model.locks.sections[*section as usize])
            .map(|section| (section.lock, section.hold))
            .chain(own_end)
            .collect();
        let has_it = held.iter().any(|(held, _)| *held == lock);
        if held.is_empty() || has_it || step.was_tried() {
            continue;
        }
        let mut names: Vec<_> = held
            .iter()
            .map(|(lock, hold)| (*lock, *hold == Hold::Write))
            .collect();
        names.sort_unstable();
        let key = (
            thread as u32,
            step.event.pc(),
            lock,
            hold == Hold::Write,
            names,
        );
        let number = *numbers.entry(key).or_insert_with(|| {
            wishes.push(Wish {
                thread: thread as u32,
                lock,
                hold,
                held,
                held_in_cycles: Vec::new(),
                requests: Vec::new(),
            });
            wishes.len() - 1
        });
        let requests = &mut wishes[number].requests;
        requests.truncate(1);
        requests.push(event);
    }
    wishes
}

/// Whether somebody waits for a thread's end with a lock held.
fn holds_and_joins(model: &Model) -> bool {
    let steps = model.window.steps.iter().zip(0..);
    let joins = steps.filter(|(step, _)| step.event.op() == Op::Join && !step.was_tried());
    joins.into_iter().any(|(_, event)| {
        let open = model
            .locks
            .open(&model.threads, model.thread(event), model.index(event));
        !open.is_empty()
    })
}

struct Finder<'a, 'w> {
    model: &'a Model<'w>,
    wishes: &'a [Wish],
    holders: FxHashMap<u32, Vec<usize>>,
    path: Vec<usize>,
    found: FxHashMap<Vec<Pc>, Vec<Vec<u32>>>,
    count: usize,
    steps: usize,
}

/// Whether holding a lock one way keeps others from having it the other way.
fn blocks(held: Hold, wanted: Hold) -> bool {
    held == Hold::Write || wanted == Hold::Write
}

impl Finder<'_, '_> {
    fn go_on(&mut self) {
        self.steps += 1;
        if self.count > MOST || self.steps > MOST_STEPS {
            return;
        }
        let first = &self.wishes[self.path[0]];
        let last = &self.wishes[self.path[self.path.len() - 1]];
        let is_closed = first
            .held
            .iter()
            .any(|(lock, hold)| *lock == last.lock && blocks(*hold, last.hold));
        if self.path.len() > 1 && is_closed {
            self.add();
            // Longer cycles through a closed one have it in them.
            return;
        }
        let next = self.holders.get(&last.lock).cloned().unwrap_or_default();
        for number in next {
            let wish = &self.wishes[number];
            let holds = wish.held.iter();
            let blocks_last = holds
                .clone()
                .any(|(lock, hold)| *lock == last.lock && blocks(*hold, last.hold));
            // Each cycle is begun by its first thread.
            let fits = wish.thread > first.thread
                && blocks_last
                && self.path.iter().all(|other| {
                    let other = &self.wishes[*other];
                    other.thread != wish.thread && !is_guarded(other, wish)
                });
            if fits {
                self.path.push(number);
                self.go_on();
                self.path.pop();
            }
        }
    }

    fn add(&mut self) {
        self.count += 1;
        let steps = &self.model.window.steps;
        let mut places: Vec<Pc> = self
            .path
            .iter()
            .map(|number| steps[self.wishes[*number].requests[0] as usize].event.pc())
            .collect();
        places.sort_unstable();
        let mut cuts: Vec<Vec<u32>> = vec![Vec::new()];
        for number in &self.path {
            let requests = &self.wishes[*number].requests;
            cuts = cuts
                .iter()
                .flat_map(|cut| {
                    requests.iter().map(move |request| {
                        let mut longer = cut.clone();
                        longer.push(*request);
                        longer
                    })
                })
                .collect();
        }
        self.found.entry(places).or_default().extend(cuts);
    }
}

/// Whether two threads can never be there at once.
fn is_guarded(one: &Wish, other: &Wish) -> bool {
    one.held.iter().any(|(lock, hold)| {
        other
            .held
            .iter()
            .any(|(theirs, their_hold)| lock == theirs && blocks(*hold, *their_hold))
    })
}
