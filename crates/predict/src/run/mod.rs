//! Asks all questions about a trace: window by window, several at a time, and every pair of places until
//! it is proven once.
//!
//! A race that a small window does not prove may be proven by a larger one, as more can be different there. So
//! windows grow, and what they have in common with the one before is not asked about again.
//!
//! Of the smallest windows those come first that hold pairs which look like races or deadlocks, of places that nobody has asked about
//! ([`likely`]); then the rest in the order of the trace; then larger ones. Which pairs a window is asked about does not depend on the windows
//! before it, so the order decides what is found only where there is less work to be done than there is to do.
//!
//! A long trace is handed over in *segments*, which have a part in common with the one before ([`Predictor`]): nobody has to
//! hold all of it. Windows grow within a segment. How things stand where a segment begins and what is known are carried over.
//!
//! What is found depends on the trace, the segments and the options alone. Windows are looked at in batches that are the same however many workers
//! there are; what is known when a batch begins is known to all of it, and what its windows find is put together in their order. Larger windows
//! have a share each of the work that may be done for them.

pub(crate) mod border;
mod contents;
mod in_trace;
mod likely;
mod look;
mod quiet;
mod relax;
mod segments;
pub(crate) mod windows;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use deadheat_trace::{Event, EventIndex, Pc, Skipped, Step};
use rustc_hash::{FxHashMap, FxHashSet};

use self::in_trace::InTrace;
use self::look::{Look, Looked};
pub use self::segments::Predictor;
use self::windows::{Asks, Extent, Piece, Pieces, Those};
use crate::check::Violation;
use crate::{Count, Effort, Goal, Places, Stage, Window};

/// A trace in memory.
pub struct Source<'a> {
    /// Its events.
    pub steps: &'a [Step],
    /// For each that reads: see [`Window::needed_by`], with positions in the trace.
    pub needed_by: &'a [u32],
    /// Operations on reference counts, by position.
    pub counts: &'a [(u32, Count)],
    /// Of which events races are reported.
    pub is_judged: &'a (dyn Fn(&Event) -> bool + Sync),
}

/// How large windows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// They grow, up to the whole trace.
    Auto,
    /// So many events.
    Events(usize),
}

/// How to ask.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The windows.
    pub size: Size,
    /// How much one question may take.
    pub budget: Effort,
    /// How much may be done for the smallest windows, which see all of the trace; of [`Effort`] only the work.
    pub first: Effort,
    /// How much may be done for larger windows, after the first round.
    pub growth: Effort,
    /// How many windows are looked at at once.
    pub jobs: usize,
    /// How many bytes all of it may take. A trace that takes more is looked at in segments.
    pub memory: usize,
}

/// A cut that can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proven {
    /// What it is.
    pub goal: Goal,
    /// Its events.
    pub next: Vec<EventIndex>,
    /// How many of these, the last, only wait for the others of a deadlock.
    pub bystanders: usize,
    /// Where the schedule begins: everything before that is executed as it was.
    pub start: EventIndex,
    /// How threads go on behind that, one after the other: each with all its events from where it was up to this one. (One that only has
    /// synchronisation names all of it.)
    pub schedule: Vec<EventIndex>,
    /// What threads of it skip: see [`crate::counts`]. None of these events is in the schedule.
    pub skipped: Vec<Skipped>,
    /// Which stage has found it.
    pub stage: Stage,
}

impl Proven {
    /// The events that it is about: of a deadlock those that hold each other up.
    pub fn core(&self) -> &[EventIndex] {
        &self.next[..self.next.len() - self.bystanders]
    }
}

/// A witness that the checker has refused: a bug.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Of what.
    pub next: Vec<EventIndex>,
    /// Why.
    pub violation: Violation,
}

/// Figures of a prediction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Windows that were looked at.
    pub windows: u64,
    /// Pairs of places that passed the quick check.
    pub candidates: u64,
    /// Cuts that were asked about.
    pub asked: u64,
    /// By stage: how many questions it answered with "yes" and with "no", and how long it took.
    pub stages: [StageFigures; Stage::ALL.len()],
    /// Questions without an answer within the budget.
    pub unknown: u64,
    /// Pairs that were not asked about, since there were too many of the same places.
    pub left_out: u64,
}

/// Figures of one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageFigures {
    /// Cuts that can be reached.
    pub reached: u64,
    /// Cuts that cannot.
    pub impossible: u64,
    /// The time of the questions that it settled.
    pub took: Duration,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Prediction {
    /// One for each pair of places, in the order of the trace.
    pub races: Vec<Proven>,
    /// One for each set of places.
    pub deadlocks: Vec<Proven>,
    /// Candidates without an answer: one pair of events for each pair of places.
    pub unknown: Vec<[EventIndex; 2]>,
    /// Witnesses that the checker has refused. There must be none.
    pub refused: Vec<Refused>,
    /// Figures.
    pub statistics: Statistics,
    /// It was stopped before its end.
    pub is_stopped: bool,
    /// What may be done for larger windows was done before all of them were looked at.
    pub is_cut_short: bool,
    /// All that may be done was done before the smallest windows were looked at.
    pub is_unfinished: bool,
    /// A limit in time was hit.
    pub is_timed_out: bool,
    /// So much was found that no more was looked for.
    pub is_full: bool,
    /// Of so many bytes it was forgotten what they held, as there was no room for more: schedules that need it were not found.
    pub forgotten: u64,
}

impl Prediction {
    /// Whether something was left without an answer: that nothing was found says little then.
    pub fn is_open(&self) -> bool {
        let is_cut_off = self.is_stopped || self.is_unfinished || self.is_timed_out;
        is_cut_off || self.is_full || self.forgotten > 0 || self.statistics.unknown > 0
    }
}

/// Who wants to know how it goes, and may stop it.
pub trait Observer: Sync {
    /// So many events of all that there are to look at were looked at, never fewer than were told before; what is known so far.
    fn progress(&self, done: u64, all: u64, so_far: &Prediction);

    /// Becomes true when it is to stop.
    fn stop(&self) -> &AtomicBool;
}

/// So many windows are looked at before what they found is put together, or as many as there is room for.
const BATCH: usize = 8;
/// So many deadlocks are found, and schedules of so many steps in all: then no more is looked for.
const MOST_DEADLOCKS: usize = 1 << 12;
const MOST_STEPS: usize = 1 << 23;
/// One of the smallest windows may take such a part of what is left for all: a hard one leaves something to others.
const PART_OF_WINDOW: u64 = 16;

/// What is known so far.
#[derive(Default)]
struct Known {
    found: Prediction,
    /// The places of what was found, and of candidates.
    proven: FxHashSet<Places>,
    locked: FxHashSet<Vec<Pc>>,
    open: FxHashMap<Places, Option<[EventIndex; 2]>>,
    /// How many steps all schedules have.
    steps: usize,
}

/// One look at all windows of a size.
struct Round<'a> {
    source: &'a Source<'a>,
    options: &'a Options,
    observer: &'a dyn Observer,
    /// How many events there are to look at in all rounds, and how many were.
    all: u64,
    done: &'a Mutex<u64>,
    /// When time is over, if the user has set a limit. Later rounds are for as long as there is time.
    until: Option<Instant>,
    /// How much may be done for one window; `None` for the first round, in which smaller windows have not been looked at.
    share: Option<u64>,
}

/// Which windows of a round are looked at now.
struct Wanted<'a> {
    asks: &'a dyn Fn(&Extent) -> Option<Asks>,
    /// How many there are, if that is known: each has a share of what may be done. Else one may take a part of it.
    count: Option<u64>,
}

/// What came of them.
struct Came {
    /// Where those begin in the segment that were looked at, and to what there are answers.
    answered: Vec<(usize, Those)>,
    /// All were, and all was asked.
    is_whole: bool,
}

/// Finds all that a trace proves.
pub fn predict(source: &Source, options: &Options, observer: &dyn Observer) -> Prediction {
    let mut predictor = Predictor::new(source.steps.len() as u64, options, observer);
    predictor.glance(source, &[], &|_| false);
    predictor.look(source, &[]);
    predictor.go_on(source, &[]);
    predictor.finish()
}

/// A lock whose holder has panicked holds what it held.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Round<'_> {
    /// Whether the time for larger windows is over.
    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Whether the user has stopped it, or time is over.
    fn is_over(&self) -> bool {
        self.observer.stop().load(Ordering::Relaxed) || self.is_late()
    }

    /// Asks windows of a size what is wanted. What it has cost is no longer left.
    fn look(
        &self,
        mut pieces: Pieces,
        wanted: &Wanted,
        in_trace: &InTrace,
        known: &mut Known,
        left: &mut u64,
    ) -> Came {
        let (mut answered, mut is_whole, mut done) = (Vec::new(), true, 0);
        let most = windows::at_once(self.options.memory);
        while !self.is_over() && !known.found.is_full && (self.share.is_some() || *left > 0) {
            let mut batch = Vec::new();
            let mut events = 0;
            while batch.len() < BATCH
                && events < most
                && let Some(piece) = pieces.next(self.source, wanted.asks)
            {
                events += piece.window.steps.len();
                batch.push(piece);
            }
            if batch.is_empty() {
                break;
            }
            let most = match wanted.count {
                Some(count) => *left / count.saturating_sub(done).max(1),
                None => *left / PART_OF_WINDOW,
            };
            done += batch.len() as u64;
            let all = self.look_at(&batch, known, most);
            for (piece, mut looked) in batch.iter().zip(all) {
                in_trace.looked(&mut looked);
                if *left < u64::MAX {
                    *left = left.saturating_sub(looked.work);
                }
                if piece.asks.is_only() {
                    answered.push((piece.start, std::mem::take(&mut looked.answered)));
                }
                is_whole &= !looked.is_cut_short;
                known.take_in(looked);
            }
        }
        let is_whole = is_whole && pieces.is_over();
        Came { answered, is_whole }
    }

    /// Looks at some windows, several at a time; what each has shown, in their order. `most` is how much one may take.
    fn look_at(&self, batch: &[Piece], known: &Known, most: u64) -> Vec<Looked> {
        let looked: Vec<Mutex<Option<Looked>>> = batch.iter().map(|_| Mutex::default()).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while !self.is_over() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(piece) = batch.get(at) else { break };
                *lock(&looked[at]) = Some(Look::at(self, known, piece, most));
                let mut done = lock(self.done);
                *done += u64::from(if piece.asks.is_only() {
                    0
                } else {
                    piece.is_new
                });
                let done = self.all.min(*done);
                self.observer.progress(done, self.all, &known.found);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.options.jobs.clamp(1, batch.len()) {
                scope.spawn(work);
            }
            work();
        });
        let all = looked.into_iter();
        let all = all.map(|one| one.into_inner().unwrap_or_else(|one| one.into_inner()));
        // What was not looked at was stopped.
        all.map(|one| one.unwrap_or_else(Looked::not)).collect()
    }
}

impl Known {
    /// Takes in what a window has shown, after all windows before it.
    fn take_in(&mut self, looked: Looked) {
        let found = &mut self.found;
        found.statistics.add(&looked.statistics);
        found.refused.extend(looked.refused);
        found.is_timed_out |= looked.is_timed_out;
        for (places, proven) in looked.races {
            self.open.remove(&places);
            if self.proven.insert(places) {
                self.steps += proven.schedule.len();
                found.races.push(proven);
            }
        }
        for (places, proven) in looked.deadlocks {
            if self.locked.insert(places) {
                self.steps += proven.schedule.len();
                found.deadlocks.push(proven);
            }
        }
        found.is_full |= self.steps > MOST_STEPS || found.deadlocks.len() > MOST_DEADLOCKS;
        for (places, unknown) in looked.open {
            if !self.proven.contains(&places) {
                let known = self.open.entry(places).or_default();
                *known = known.or(unknown);
            }
        }
    }

    fn finish(self, observer: &dyn Observer) -> Prediction {
        let mut found = self.found;
        found.statistics.candidates = (self.open.len() + self.proven.len()) as u64;
        found.unknown = self.open.into_values().flatten().collect();
        found.unknown.sort_unstable();
        for all in [&mut found.races, &mut found.deadlocks] {
            all.sort_by(|a, b| a.next.iter().rev().cmp(b.next.iter().rev()));
        }
        found.is_stopped = observer.stop().load(Ordering::Relaxed);
        found
    }
}

impl Statistics {
    fn add(&mut self, other: &Statistics) {
        self.windows += other.windows;
        self.asked += other.asked;
        self.unknown += other.unknown;
        self.left_out += other.left_out;
        for (mine, theirs) in self.stages.iter_mut().zip(&other.stages) {
            mine.reached += theirs.reached;
            mine.impossible += theirs.impossible;
            mine.took += theirs.took;
        }
    }
}

impl Window {
    /// A whole trace.
    pub fn whole(steps: Vec<Step>, needed_by: Vec<u32>) -> Self {
        Window {
            steps,
            needed_by,
            ..Window::default()
        }
    }
}
