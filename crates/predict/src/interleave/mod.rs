//! Schedules of synchronisation that may lead to a race or a deadlock: the generation of interleavings of Carril and
//! Tichy (SEPS 2015), for traces without values too.
//!
//! What is kept of a trace is its synchronisation, and which segment of which thread accesses which shared object
//! (`simplified`, `objects`). Any order of that is a candidate which keeps to the rules of threads, locks,
//! barriers and condition instances (`conditions`); whether the program takes the same way in another order is
//! not asked. So what is found is a *warning* until the schedule has been enforced on the program.
//!
//! | in the paper | here |
//! |---|---|
//! | processes THREAD, MUTEX, FORK, JOIN, BARRIER in parallel | the rules of the crate's table, without those of values |
//! | SIGNAL, one for each use of a condition | a message from the notification to the wait: `conditions` |
//! | RACE(p): two accesses to p with nothing in between | a cut of two segments that access p |
//! | refinement by FDR3 | the [`Asker`](crate::Asker), with everything read needed by nobody |
//! | deadlock as a refusal | a cut of lock requests and joins that hold each other up: [`crate::cycles`] |
//! | one model for each object | one for each window, as accesses to other objects are in nobody's way; one question for each pair of segments, however many objects they share |
//! | filter: happens-before without locks, then locksets | the same: the model's hard order, and locks held by both |
//! | windows, the observed order before, mutexes carried over | the same, but a window is so many events of the *simplified* trace and has a half in common with the one before; after the paper's size larger ones are tried, for a stated time |
//!
//! Deviations: two accesses of an object race only if they have bytes in common; read-write locks, semaphores, atomics, and
//! blocks of the heap have rules, too (`order`). A deadlock is a cycle of lock requests and joins, not any state in which
//! nothing goes on: what waits for a condition, a semaphore or a barrier that can never be is not found.
//!
//! Of an object not one pair of accesses is looked for, as in the paper, but one for each two places in the program: neighbouring
//! variables are one object.
//!
//! Known misses: pairs further apart than the largest window; of many objects with the same two places all but
//! [`PER_PLACES`]; orders that `conditions` forbids without need.

mod conditions;
mod cspm;
mod objects;
mod order;
mod questions;
mod simplified;

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Duration;

use deadheat_trace::{Event, EventIndex, Op, Step};
use rustc_hash::{FxHashMap, FxHashSet};

pub use cspm::cspm;
pub use order::LockWords;

use self::questions::Questions;
use self::simplified::{Simplified, What};
use crate::run::border::Standing;
use crate::run::windows::rounds;
use crate::{Budget, Effort, NOBODY, Observer, Options, Places, Prediction, Window};

/// So many candidates of the same two places are kept: one may be possible where another is not.
pub const PER_PLACES: u32 = 4;

/// How much may be done for windows of the smallest size, if that is less than what may be done for those of prediction.
const FIRST: Effort = Effort::about(Duration::from_secs(30));

/// A trace in memory, with or without values.
pub struct Observation<'a> {
    /// Its events.
    pub steps: &'a [Step],
    /// Of which accesses races are reported.
    pub is_judged: &'a (dyn Fn(&Event) -> bool + Sync),
    /// The words of locks that the program makes of atomics.
    pub lock_words: &'a LockWords,
}

/// Finds schedules that may lead to races and deadlocks. A schedule has synchronisation only; everything before its start
/// is executed in the observed order.
///
/// ```
/// use deadheat_predict::interleave::{LockWords, Observation, generate};
/// use deadheat_predict::{Effort, Observer, Options, Prediction, Size};
/// use deadheat_trace::{EventIndex, text};
/// # use std::sync::atomic::AtomicBool;
/// # struct Nobody(AtomicBool);
/// # impl Observer for Nobody {
/// #     fn progress(&self, _: u64, _: u64, _: &Prediction) {}
/// #     fn stop(&self) -> &AtomicBool { &self.0 }
/// # }
/// # let nobody = Nobody(AtomicBool::new(false));
/// # let options = Options { size: Size::Auto, budget: Effort::ALL, first: Effort::ALL, growth: Effort::ALL, jobs: 1, memory: usize::MAX };
/// // The first thread's section came first, and so hid the race on y.
/// let trace = text::parse("T0|w(y)|1\nT0|acq(m)|2\nT0|rel(m)|3\nT1|acq(m)|4\nT1|rel(m)|5\nT1|w(y)|6\n")?;
/// let observation = Observation { steps: &trace.steps, is_judged: &|_| true, lock_words: &LockWords::default() };
/// let found = generate(&observation, &options, &nobody);
/// assert_eq!(found.races[0].next, [EventIndex(0), EventIndex(5)]);
/// assert_eq!(found.races[0].schedule, [EventIndex(3), EventIndex(4)]);
/// # Ok::<(), text::ParseError>(())
/// ```
pub fn generate(
    observation: &Observation,
    options: &Options,
    observer: &dyn Observer,
) -> Prediction {
    let simplified = Simplified::of(
        observation.steps,
        observation.lock_words,
        observation.is_judged,
        observer.stop(),
    );
    let mut found = Found::default();
    let sizes = rounds(simplified.happenings.len(), options.size, options.memory);
    let mut round = Round {
        observation,
        simplified: &simplified,
        options,
        observer,
        rounds: sizes.len() as u64,
        number: 0,
        left: Budget {
            work: Some(FIRST.work.min(options.first.work)),
            deadline: None,
            stop: Some(observer.stop()),
            spent: Cell::default(),
        },
    };
    for size in sizes {
        let is_whole = round.look(size, &mut found);
        let is_first = round.number == 0;
        if !is_whole {
            found.prediction.is_unfinished |= is_first;
            found.prediction.is_cut_short |= !is_first;
            let late = |deadline| std::time::Instant::now() >= deadline;
            found.prediction.is_timed_out |= round.left.deadline.is_some_and(late);
            break;
        }
        if is_first {
            round.left = Budget {
                work: Some(options.growth.work),
                deadline: options.growth.deadline(),
                stop: Some(observer.stop()),
                spent: Cell::default(),
            };
        }
        round.number += 1;
    }
    found.finish(observer)
}

/// A look at the whole trace, window by window.
struct Round<'a> {
    observation: &'a Observation<'a>,
    simplified: &'a Simplified,
    options: &'a Options,
    observer: &'a dyn Observer,
    rounds: u64,
    number: u64,
    /// What may still be done.
    left: Budget<'a>,
}

impl Round<'_> {
    /// Asks about all windows of this size; false if no more may be done before that.
    fn look(&self, size: usize, found: &mut Found) -> bool {
        let happenings = &self.simplified.happenings;
        let all = happenings.len();
        let mut standing = Standing::default();
        let (mut start, mut stands_at, mut done) = (0, 0, 0);
        while start < all && !self.left.is_over() {
            let end = (start + size).min(all);
            // Nothing is known of what lies behind a gap: another window begins there.
            let gap = happenings[start..end]
                .iter()
                .position(|happening| happening.step.event.op() == Op::Lost);
            let end = gap.map_or(end, |gap| start + gap);
            for happening in &happenings[stands_at..start] {
                standing.step(&happening.step);
            }
            stands_at = start;
            let here = happenings[start..end].iter();
            let steps: Vec<Step> = here.map(|happening| happening.step).collect();
            let window = Window {
                start: EventIndex(start as u64),
                needed_by: vec![NOBODY; steps.len()],
                border: standing.border(&steps),
                steps,
                counts: Vec::new(),
            };
            Questions {
                observation: self.observation,
                simplified: self.simplified,
                start: start as u32,
                is_old: done as u32,
                window: &window,
                budget: self.options.budget,
                left: &self.left,
                is_growing: self.number > 0,
            }
            .ask_all(found);
            done = end;
            found.prediction.statistics.windows += 1;
            let so_far = self.number * all as u64 + end as u64;
            let total = self.rounds * all as u64;
            self.observer.progress(so_far, total, &found.prediction);
            start = match gap {
                Some(_) => end + 1,
                None if end == all => all,
                None => start + (size / 2).max(1),
            };
        }
        start >= all && !self.left.is_over()
    }
}

/// What was found so far.
#[derive(Default)]
struct Found {
    prediction: Prediction,
    /// Objects and places that have a candidate.
    objects: FxHashSet<(u32, Places)>,
    /// Objects that passed the filter.
    candidates: FxHashSet<u32>,
    /// How many candidates two places have.
    places: FxHashMap<Places, u32>,
    /// The places of deadlocks.
    locked: FxHashSet<Vec<deadheat_trace::Pc>>,
}

impl Found {
    fn finish(mut self, observer: &dyn Observer) -> Prediction {
        let found = &mut self.prediction;
        found.is_stopped = observer.stop().load(Ordering::Relaxed);
        found.unknown.sort_unstable();
        found.unknown.dedup();
        for all in [&mut found.races, &mut found.deadlocks] {
            all.sort_by(|a, b| a.next.iter().rev().cmp(b.next.iter().rev()));
        }
        self.prediction
    }
}

impl Simplified {
    /// Where an event of the simplified trace stands in the trace.
    fn index(&self, happening: u32) -> EventIndex {
        EventIndex(self.happenings[happening as usize].at.into())
    }

    /// Whether it is an event that the program can be made to wait for.
    fn is_event(&self, happening: u32) -> bool {
        self.happenings[happening as usize].what == What::Synchronisation
    }
}
