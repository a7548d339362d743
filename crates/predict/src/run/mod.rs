//! Asks all questions about a trace: window by window, several at a time, and every pair of places until
//! it is proven once.
//!
//! A race that a small window does not prove may be proven by a larger one, as more can be different there. So
//! windows grow, and what they have in common with the one before is not asked about again.

pub(crate) mod border;
mod quiet;
pub(crate) mod windows;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use deadheat_trace::{Event, EventIndex, Pc, Step};
use rustc_hash::{FxHashMap, FxHashSet};

use self::windows::{Piece, Pieces};
use crate::check::{self, Violation};
use crate::standstill::exhaustive;
use crate::{Answer, Asker, Budget, Cut, Goal, Model, Places, Reduced, Stage, Window};
use crate::{candidates, cycles, standstills};

/// A trace in memory.
pub struct Source<'a> {
    /// Its events.
    pub steps: &'a [Step],
    /// For each that reads: see [`Window::needed_by`], with positions in the trace.
    pub needed_by: &'a [u32],
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
    /// How long one question may take.
    pub budget: Duration,
    /// How long larger windows are tried for, after the first round.
    pub growth: Duration,
    /// How many windows are looked at at once.
    pub jobs: usize,
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
    /// The events behind that in the order in which they are executed.
    pub schedule: Vec<EventIndex>,
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
    /// The time for larger windows was over before all of them were looked at.
    pub is_cut_short: bool,
}

/// Who wants to know how it goes, and may stop it.
pub trait Observer: Sync {
    /// So many events of all that there are to look at were looked at, never fewer than were told before; what is known so far.
    fn progress(&self, done: u64, all: u64, so_far: &Prediction);

    /// Becomes true when it is to stop.
    fn stop(&self) -> &AtomicBool;
}

/// What came of a question.
enum Asked {
    Proven(Proven),
    Impossible,
    Unknown,
}

/// What all workers share.
struct Shared<'a> {
    source: &'a Source<'a>,
    options: &'a Options,
    observer: &'a dyn Observer,
    found: Mutex<Prediction>,
    /// The places of what was found, and of candidates.
    proven: Mutex<FxHashSet<Places>>,
    locked: Mutex<FxHashSet<Vec<Pc>>>,
    open: Mutex<FxHashMap<Places, Option<[EventIndex; 2]>>>,
    all: u64,
    done: Mutex<u64>,
    /// When the present round ends: later ones are for as long as there is time.
    until: Option<Instant>,
    /// Smaller windows have been looked at.
    is_growing: bool,
}

/// Finds all that a trace proves.
pub fn predict(source: &Source, options: &Options, observer: &dyn Observer) -> Prediction {
    let rounds = windows::rounds(source.steps.len(), options.size);
    let mut shared = Shared {
        source,
        options,
        observer,
        found: Mutex::default(),
        proven: Mutex::default(),
        locked: Mutex::default(),
        open: Mutex::default(),
        all: source.steps.len() as u64 * rounds.len() as u64,
        done: Mutex::default(),
        until: None,
        is_growing: false,
    };
    for (round, size) in rounds.iter().enumerate() {
        let pieces = Mutex::new(Pieces::new(source.steps, *size));
        let work = || {
            while !shared.is_stopped() {
                let Some(piece) = lock(&pieces).next(source) else {
                    break;
                };
                shared.look(&piece);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..options.jobs.max(1) {
                scope.spawn(work);
            }
            work();
        });
        if shared.is_stopped() {
            let is_last = round + 1 == rounds.len() && lock(&pieces).is_over();
            lock(&shared.found).is_cut_short = shared.is_growing && !is_last;
            break;
        }
        if round == 0 {
            // A time that is too far away to be told has no end.
            shared.until = Instant::now().checked_add(options.growth);
            shared.is_growing = true;
        }
    }
    shared.finish()
}

/// A lock whose holder has panicked holds what it held.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Shared<'_> {
    fn look(&self, piece: &Piece) {
        if !piece.window.steps.is_empty() {
            self.ask_all(piece);
        }
        let mut found = lock(&self.found);
        found.statistics.windows += 1;
        // Counted while `found` is held, so that the figures come in their order.
        let mut done = lock(&self.done);
        *done += piece.is_new as u64;
        let done = self.all.min(*done);
        self.observer.progress(done, self.all, &found);
    }

    fn ask_all(&self, piece: &Piece) {
        let reduced = Reduced::of(&piece.window);
        let model = Model::new(&reduced.window);
        let place = Place {
            shared: self,
            piece,
            reduced: &reduced,
        };
        let mut asker = Asker::new(&model);
        self.races(&place, &model, &mut asker);
        self.deadlocks(&place, &model, &mut asker);
    }

    /// Whether the user has stopped it, or the time for larger windows is over.
    fn is_stopped(&self) -> bool {
        self.observer.stop().load(Ordering::Relaxed)
            || self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn races(&self, place: &Place, model: &Model, asker: &mut Asker) {
        let steps = &model.window.steps;
        let is_judged = |event: u32| (self.source.is_judged)(&steps[event as usize].event);
        let is_known = |places: Places| lock(&self.proven).contains(&places);
        let candidates = candidates(model, is_judged, is_known);
        lock(&self.found).statistics.left_out += candidates.left_out;
        for (places, pairs) in candidates.pairs {
            let mut unknown = None;
            for pair in pairs {
                if is_known(places) || self.is_stopped() {
                    break;
                }
                // What lies in the part that was in the window before, too, was asked about there.
                let whole = pair.map(|event| place.reduced.position(event));
                if whole[1] < place.piece.is_old {
                    continue;
                }
                match self.ask(place, asker, Goal::Race, &pair) {
                    Asked::Proven(proven) => {
                        if lock(&self.proven).insert(places) {
                            lock(&self.found).races.push(proven);
                        }
                        lock(&self.open).remove(&places);
                        break;
                    }
                    Asked::Unknown if self.is_growing => {}
                    Asked::Unknown => {
                        unknown = unknown.or(Some(whole.map(|at| place.index(at))));
                    }
                    Asked::Impossible => {}
                }
            }
            if !is_known(places) {
                let mut open = lock(&self.open);
                let known = open.entry(places).or_default();
                *known = known.or(unknown);
            }
        }
    }

    fn deadlocks(&self, place: &Place, model: &Model, asker: &mut Asker) {
        for (places, cuts) in cycles(model).cuts {
            for cut in cuts {
                if lock(&self.locked).contains(&places) || self.is_stopped() {
                    break;
                }
                if let Asked::Proven(proven) = self.ask(place, asker, Goal::Deadlock, &cut)
                    && lock(&self.locked).insert(places.clone())
                {
                    lock(&self.found).deadlocks.push(proven);
                }
            }
        }
        self.standstills(place, model, asker);
    }

    /// Waits that nobody can end. Of all that stand still together those are told that hold each other up: the fewest.
    fn standstills(&self, place: &Place, model: &Model, asker: &mut Asker) {
        let guessed = standstills(model).into_iter();
        let guessed = guessed.map(|(places, still)| (places, still, None));
        let reached = exhaustive::reached(model).into_iter();
        let reached = reached.map(|reached| {
            let exhaustive::Reached {
                places,
                still,
                schedule,
            } = reached;
            (places, still, Some(schedule))
        });
        let mut all: Vec<_> = guessed.chain(reached).collect();
        all.sort_by_key(|(_, still, _)| still.core.len());
        let mut proven_cuts: Vec<Vec<u32>> = Vec::new();
        for (places, still, schedule) in all {
            let next = still.next();
            let mut cut = next.clone();
            cut.sort_unstable();
            if proven_cuts.contains(&cut)
                || lock(&self.locked).contains(&places)
                || self.is_stopped()
            {
                continue;
            }
            let asked = match schedule {
                None => self.ask(place, asker, Goal::Deadlock, &next),
                Some(schedule) => {
                    let answer = (Answer::Reached(schedule), Stage::Search);
                    self.settled(place, Goal::Deadlock, &next, answer, Duration::ZERO)
                }
            };
            if let Asked::Proven(proven) = asked
                && lock(&self.locked).insert(places)
            {
                proven_cuts.push(cut);
                let bystanders = still.bystanders.len();
                let proven = Proven {
                    bystanders,
                    ..proven
                };
                lock(&self.found).deadlocks.push(proven);
            }
        }
    }

    /// Asks about a cut of the reduced window; the witness, if there is one that the checker accepts.
    fn ask(&self, place: &Place, asker: &mut Asker, goal: Goal, next: &[u32]) -> Asked {
        let started = Instant::now();
        let deadline = started.checked_add(self.options.budget);
        let budget = Budget {
            deadline: deadline.into_iter().chain(self.until).min(),
            stop: Some(self.observer.stop()),
        };
        let inner = Cut {
            goal,
            next: next.to_vec(),
        };
        let answer = asker.ask(&inner, &budget);
        self.settled(place, goal, next, answer, started.elapsed())
    }

    /// An answer about a cut of the reduced window; the witness, if it is one that the checker accepts.
    fn settled(
        &self,
        place: &Place,
        goal: Goal,
        next: &[u32],
        (answer, stage): (Answer, Stage),
        took: Duration,
    ) -> Asked {
        let whole = Cut {
            goal,
            next: next
                .iter()
                .map(|event| place.reduced.position(*event))
                .collect(),
        };
        let schedule = match &answer {
            Answer::Reached(schedule) => Some(place.reduced.schedule(schedule, &whole)),
            _ => None,
        };
        let checked = schedule
            .as_ref()
            .map(|schedule| check::check(&place.piece.window, &whole, schedule));
        let mut found = lock(&self.found);
        let figures = &mut found.statistics;
        figures.asked += 1;
        let of_stage = &mut figures.stages[stage as usize];
        of_stage.took += took;
        match answer {
            Answer::Reached(_) => of_stage.reached += 1,
            Answer::Impossible => of_stage.impossible += 1,
            // A smaller window has answered.
            Answer::Unknown if self.is_growing => {}
            Answer::Unknown => figures.unknown += 1,
        }
        let Some(schedule) = schedule else {
            return match answer {
                Answer::Impossible => Asked::Impossible,
                _ => Asked::Unknown,
            };
        };
        let next: Vec<EventIndex> = whole.next.iter().map(|at| place.index(*at)).collect();
        if let Some(Err(violation)) = checked {
            found.refused.push(Refused { next, violation });
            return Asked::Unknown;
        }
        Asked::Proven(Proven {
            goal,
            next,
            bystanders: 0,
            start: place.piece.window.start,
            schedule: schedule.into_iter().map(|at| place.index(at)).collect(),
            stage,
        })
    }

    fn finish(self) -> Prediction {
        let is_stopped = self.observer.stop().load(Ordering::Relaxed);
        let open = self
            .open
            .into_inner()
            .unwrap_or_else(|open| open.into_inner());
        let proven = self
            .proven
            .into_inner()
            .unwrap_or_else(|proven| proven.into_inner());
        let mut found = self
            .found
            .into_inner()
            .unwrap_or_else(|found| found.into_inner());
        found.statistics.candidates = (open.len() + proven.len()) as u64;
        found.unknown = open.into_values().flatten().collect();
        found.unknown.sort_unstable();
        for all in [&mut found.races, &mut found.deadlocks] {
            all.sort_unstable_by(|a, b| a.next.iter().rev().cmp(b.next.iter().rev()));
        }
        found.is_stopped = is_stopped;
        found
    }
}

/// Where questions are asked.
struct Place<'a, 'b> {
    shared: &'a Shared<'b>,
    piece: &'a Piece,
    reduced: &'a Reduced,
}

impl Place<'_, '_> {
    fn index(&self, position: u32) -> EventIndex {
        debug_assert!((position as usize) < self.shared.source.steps.len());
        EventIndex(self.piece.window.start.0 + u64::from(position))
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
