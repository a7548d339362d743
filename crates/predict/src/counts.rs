//! Reference counts: that one reached zero orders nothing but what its release and acquire order.
//!
//! Whoever gives up its share of an object takes one off the object's count, and asks one thing of
//! what it read: was it 1? Only the last owner goes on to *release* the object: it runs the
//! destructor and frees the block. In the maximal model any other value read would be another
//! program. Here it need not be. An operation that is known to be one on a reference count
//! ([`Count`], by the functions that it is in) means, in another schedule:
//!
//! | in the recording | in the schedule it finds | then |
//! |---|---|---|
//! | one owner more | anything | it goes on: what it read is only looked at for an overflow |
//! | one less, not the last | a value other than 1 | it goes on |
//! | one less, not the last | 1, or nobody knows | the program would release: the thread stops here |
//! | one less, the last | 1 | it goes on, with its release |
//! | one less, the last | another value | it goes on **behind** its release, which is *skipped* |
//! | one less, the last | nobody knows | the same, if the release does no more than free blocks |
//!
//! Whatever it finds, the count is one more or less afterwards. All other reads of a count
//! (`strong_count`, `get_mut`, `try_unwrap`) are plain reads of a value, and nothing changes for them.
//!
//! **Why a release may be skipped.** A release is a call that returns nothing, in a branch that both
//! sides leave at the same place: what follows is the same code. So it does what it did in the
//! recording as far as what it reads is the same, and that is asked of it as of everything else:
//! nothing that the release did has happened. What it wrote is not there (a read that saw it
//! sees something else); what it freed is alive, and as blocks of different lives are
//! different memory, that a later allocation got the same address means nothing; what it allocated,
//! created or sent is not there for others, who wait for it in vain; locks are as they were.
//!
//! **What nobody saw.** A release may call code without hooks, and nobody knows what that does. So only a
//! release is a [`Release`] here that runs none but the standard library's own code, for its own types: what of it
//! has no hooks frees what the release owns, and does nothing else that anybody could notice. It does not unwind
//! either. Destructors of the program are another matter: those releases cannot be skipped.
//! What code without hooks writes to memory that several threads use has to have happened as it was in any
//! case, which is not so where a release is missing.
//!
//! **Nobody knows.** The standard library takes counts down in code without hooks, too: a thread's own handle
//! at its end. In a schedule that changes what this thread does nobody knows what is left of the count.
//! So there are two cases, and the schedule has to be one in both. If the thread is not the last, the
//! release is skipped. If it is, it frees some blocks, and nobody may use those afterwards. That is easily asked for where the
//! release has nothing but fences and frees.
//!
//! **How it is searched for.** [`Relaxed`] is the window without releases that may be skipped, with counts that are
//! only written. A schedule of it need not be one of the window: the checker has the rules above and says so.
//! If a release could not be skipped, counts at that address are taken as they are, and the question is asked
//! again. So nothing is found that the rules do not allow, and not everything that they do.

use deadheat_trace::{Event, Op, Step, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{NONE, Threads};
use crate::{Cut, NOBODY, Schedule, Window};

/// What an operation does to a reference count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// One owner more.
    Up,
    /// One owner less.
    Down(
        /// Of the last owner: the release that follows, if it is known where it ends.
        Option<Release>,
    ),
}

/// What the last owner does: all events of its thread between these positions, both included. The
/// first is right behind the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// Its first event.
    pub first: u32,
    /// Its last event.
    pub last: u32,
}

/// The part of a trace's counts that lies in a window, with positions in it. A release that goes on behind the window has no
/// end there.
pub fn within(counts: &[(u32, Count)], start: usize, end: usize) -> Vec<(u32, Count)> {
    let from = counts.partition_point(|(at, _)| (*at as usize) < start);
    let to = counts.partition_point(|(at, _)| (*at as usize) < end);
    let here = |at: u32| at - start as u32;
    let count = |count: Count| match count {
        Count::Down(Some(release)) if (release.last as usize) < end => Count::Down(Some(Release {
            first: here(release.first),
            last: here(release.last),
        })),
        Count::Down(_) => Count::Down(None),
        Count::Up => Count::Up,
    };
    let counts = counts[from..to].iter();
    counts.map(|(at, it)| (here(*at), count(*it))).collect()
}

/// A window without releases that may be skipped, whose counts are only written.
pub struct Relaxed {
    /// The window.
    pub window: Window,
    /// The position of each event of it in the whole window.
    positions: Vec<u32>,
    /// The other way round; [`NONE`] for what was left out.
    places: Vec<u32>,
}

impl Relaxed {
    /// The addresses of counts that only one thread uses: nothing about them can be otherwise.
    pub fn private(window: &Window) -> FxHashSet<u64> {
        let mut users: FxHashMap<u64, Option<ThreadId>> = FxHashMap::default();
        for (at, _) in &window.counts {
            let event = &window.steps[*at as usize].event;
            let user = users
                .entry(event.target())
                .or_insert_with(|| Some(event.thread()));
            *user = user.filter(|user| *user == event.thread());
        }
        // What others change without hooks they change as well.
        for step in &window.steps {
            let event = &step.event;
            if let Some(user) = users.get_mut(&event.target()) {
                let is_own = *user == Some(event.thread()) && event.op() != Op::ExternalWrite;
                *user = user.filter(|_| is_own || !event.op().writes());
            }
        }
        let private = users.into_iter().filter(|(_, user)| user.is_some());
        private.map(|(address, _)| address).collect()
    }

    /// Leaves out releases and what counts read, but for counts at `exact` addresses. `None`: there is nothing to leave out.
    pub fn of(window: &Window, exact: &FxHashSet<u64>) -> Option<Self> {
        let threads = Threads::of(window);
        let mut is_left_out = vec![false; window.steps.len()];
        let mut is_count = vec![false; window.steps.len()];
        let mut has_any = false;
        for (at, count) in &window.counts {
            let step = &window.steps[*at as usize];
            if step.event.op() != Op::AtomicRmw || exact.contains(&step.event.target()) {
                continue;
            }
            has_any = true;
            is_count[*at as usize] = true;
            if let (Count::Down(Some(release)), Some(1)) = (count, step.read()) {
                let chain = &threads.chains[threads.of[*at as usize] as usize];
                let behind = threads.index[*at as usize] as usize + 1;
                let inside = chain[behind..].iter();
                for event in inside.take_while(|event| **event <= release.last) {
                    is_left_out[*event as usize] = true;
                }
            }
        }
        if !has_any {
            return None;
        }
        let all = 0..window.steps.len() as u32;
        let positions: Vec<u32> = all.filter(|at| !is_left_out[*at as usize]).collect();
        let mut places = vec![NONE; window.steps.len()];
        for (place, position) in positions.iter().enumerate() {
            places[*position as usize] = place as u32;
        }
        let place_behind = |by: u32| {
            let index = *threads.index.get(by as usize)?;
            let chain = &threads.chains[threads.of[by as usize] as usize];
            let mut behind = chain[index as usize..].iter();
            behind.find_map(|at| Some(places[*at as usize]).filter(|place| *place != NONE))
        };
        let needed_by = positions.iter().map(|at| {
            let by = window.needed_by.get(*at as usize).copied();
            match is_count[*at as usize] {
                true => NOBODY,
                false => by.and_then(place_behind).unwrap_or(NOBODY),
            }
        });
        let steps = positions.iter().map(|at| {
            let step = window.steps[*at as usize];
            match is_count[*at as usize] {
                true => only_written(&step),
                false => step,
            }
        });
        Some(Relaxed {
            window: Window {
                start: window.start,
                steps: steps.collect(),
                needed_by: needed_by.collect(),
                border: window.border.clone(),
                counts: Vec::new(),
            },
            positions,
            places,
        })
    }

    /// A cut of the whole window in this one, if its events are in it.
    pub fn cut(&self, cut: &Cut) -> Option<Cut> {
        let place = |position: &u32| {
            let place = self.places.get(*position as usize)?;
            (*place != NONE).then_some(*place)
        };
        Some(Cut {
            goal: cut.goal,
            next: cut.next.iter().map(place).collect::<Option<_>>()?,
        })
    }

    /// A schedule of this window for the whole one.
    pub fn schedule(&self, schedule: &[u32]) -> Schedule {
        let position = |place: &u32| self.positions[*place as usize];
        schedule.iter().map(position).collect()
    }
}

/// A count as a write of something.
fn only_written(step: &Step) -> Step {
    let event = &step.event;
    let (thread, addr, size) = (event.thread(), event.addr(), event.size() as u8);
    Step::new(Event::atomic(
        thread,
        Op::AtomicWrite,
        addr,
        size,
        event.order(),
        event.pc(),
    ))
}

/// The address of the count whose release has this event, or the one before which it was to be skipped: the reason why a
/// schedule without it is none.
pub fn address_around(window: &Window, position: u32) -> Option<u64> {
    let thread = window.steps.get(position as usize)?.event.thread();
    let has = |(at, count): &&(u32, Count)| match count {
        Count::Down(Some(release)) => {
            let own = window.steps[*at as usize].event.thread() == thread;
            own && release.first <= position && position <= release.last
        }
        _ => false,
    };
    // The outermost: it would be left out first.
    let (at, _) = window.counts.iter().find(has)?;
    Some(window.steps[*at as usize].event.target())
}
