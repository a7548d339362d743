//! All questions about one window.

use std::cell::{Cell, OnceCell};
use std::time::{Duration, Instant};

use deadheat_trace::{EventIndex, Pc};
use rustc_hash::FxHashSet;

use super::relax::Left;
use super::windows::{Piece, Those};
use super::{Known, Proven, Refused, Round, Statistics};
use crate::check::Observed;
use crate::standstill::exhaustive;
use crate::{Answer, Asker, Budget, Cut, Goal, Model, Places, Reduced, Stage};
use crate::{candidates, cycles, standstills};

/// About how much work it is to see an event of a window from all sides.
pub(super) const OF_EVENT: u64 = 16;

/// What a window has shown.
#[derive(Default)]
pub(super) struct Looked {
    pub races: Vec<(Places, Proven)>,
    pub deadlocks: Vec<(Vec<Pc>, Proven)>,
    /// Candidates that were not proven here; of those without an answer a pair of events.
    pub open: Vec<(Places, Option<[EventIndex; 2]>)>,
    pub refused: Vec<Refused>,
    pub statistics: Statistics,
    /// How much was done.
    pub work: u64,
    /// To what there is an answer, if not all was to be asked.
    pub answered: Those,
    /// Something was not asked about, or not for long enough, as there was no more work to be done for it.
    pub is_cut_short: bool,
    /// A question has hit a limit in time.
    pub is_timed_out: bool,
}

impl Looked {
    /// Of a window that was not looked at.
    pub fn not() -> Self {
        Looked {
            is_cut_short: true,
            ..Looked::default()
        }
    }
}

/// What came of a question.
enum Asked {
    Proven(Proven),
    Impossible,
    Unknown,
}

/// A window that is looked at.
pub(super) struct Look<'a> {
    round: &'a Round<'a>,
    known: &'a Known,
    pub(super) piece: &'a Piece,
    reduced: &'a Reduced,
    /// What the checker has read of the window, once there is a schedule to check.
    observed: OnceCell<Observed<'a>>,
    /// What may be done and was.
    pub(super) all: Budget<'a>,
    /// How much may have been done when the next question comes; and whether one was left without an answer because of that.
    limit: Option<u64>,
    is_limited: bool,
    /// The places of what was proven here.
    pub(super) proven: FxHashSet<Places>,
    pub(super) locked: FxHashSet<Vec<Pc>>,
    pub(super) looked: Looked,
    /// What was not proven here.
    left: Left,
}

impl<'a> Look<'a> {
    /// Looks at a window; `most` is how much one of the smallest may take.
    pub fn at(round: &'a Round<'a>, known: &'a Known, piece: &'a Piece, most: u64) -> Looked {
        let all = Budget {
            work: round.share.or(Some(most)),
            deadline: round.until,
            stop: Some(round.observer.stop()),
            spent: Cell::new(OF_EVENT * piece.window.steps.len() as u64),
        };
        let mut looked = Looked::default();
        if all.is_over() {
            looked.is_cut_short = true;
        } else if !piece.window.steps.is_empty() {
            let reduced = Reduced::of(&piece.window);
            let model = Model::new(&reduced.window);
            let mut look = Look {
                round,
                known,
                piece,
                reduced: &reduced,
                observed: OnceCell::new(),
                all,
                limit: None,
                is_limited: false,
                proven: FxHashSet::default(),
                locked: FxHashSet::default(),
                looked: Looked::default(),
                left: Left::default(),
            };
            let mut asker = Asker::new(&model);
            look.races(&model, &mut asker);
            if piece.asks.locks() {
                look.is_limited = false;
                look.deadlocks(&model, &mut asker);
                look.looked.answered.locks = !look.is_limited;
            }
            let left = std::mem::take(&mut look.left);
            look.relax(left);
            looked = look.looked;
            looked.work = look.all.spent.get();
        }
        looked.statistics.windows = u64::from(!piece.asks.is_only());
        looked
    }

    /// Whether no more may be done.
    pub(super) fn is_over(&mut self) -> bool {
        let is_over = self.all.is_over();
        self.looked.is_cut_short |= is_over;
        let is_at_limit = self
            .limit
            .is_some_and(|limit| self.all.spent.get() >= limit);
        self.is_limited |= is_over || is_at_limit;
        is_over || is_at_limit
    }

    fn is_growing(&self) -> bool {
        self.round.share.is_some()
    }

    pub(super) fn is_proven(&self, places: Places) -> bool {
        self.known.proven.contains(&places) || self.proven.contains(&places)
    }

    pub(super) fn is_locked(&self, places: &Vec<Pc>) -> bool {
        self.known.locked.contains(places) || self.locked.contains(places)
    }

    fn races(&mut self, model: &Model, asker: &mut Asker) {
        let steps = &model.window.steps;
        let source = self.round.source;
        let is_judged = |event: u32| (source.is_judged)(&steps[event as usize].event);
        let asks = &self.piece.asks;
        let is_known = |places| self.known.proven.contains(&places) || !asks.races(places);
        let candidates = candidates(model, is_judged, is_known);
        self.looked.statistics.left_out += candidates.left_out;
        let locks = usize::from(asks.locks());
        let count = candidates.pairs.len();
        for (at, (places, pairs)) in candidates.pairs.into_iter().enumerate() {
            let (mut unknown, mut left) = (None, Vec::new());
            self.is_limited = false;
            // What is likely is not left unasked because of what else is.
            if self.piece.asks.is_only()
                && let Some(left) = self.all.left()
            {
                let share = left / (count - at + locks) as u64;
                self.limit = Some(self.all.spent.get().saturating_add(share));
            }
            for pair in pairs {
                if self.is_proven(places) || self.is_over() {
                    break;
                }
                // What lies in the part that was in the window before, too, was asked about there.
                let whole = pair.map(|event| self.reduced.position(event));
                if whole[1] < self.piece.is_old {
                    continue;
                }
                match self.ask(asker, Goal::Race, &pair) {
                    Asked::Proven(proven) => {
                        self.proven.insert(places);
                        self.looked.races.push((places, proven));
                        break;
                    }
                    // A smaller window has answered.
                    Asked::Unknown if self.is_growing() => {}
                    Asked::Unknown => {
                        unknown = unknown.or(Some(whole.map(|at| self.index(at))));
                    }
                    Asked::Impossible => {}
                }
                left.push(whole.to_vec());
            }
            if !self.is_proven(places) {
                self.looked.open.push((places, unknown));
                self.left.races.push((places, left));
            }
            if !self.is_limited {
                self.looked.answered.races.push(places);
            }
        }
        self.limit = None;
    }

    fn deadlocks(&mut self, model: &Model, asker: &mut Asker) {
        for (places, cuts) in cycles(model).cuts {
            let mut left = Vec::new();
            for cut in cuts {
                if self.is_locked(&places) || self.is_over() {
                    break;
                }
                if let Asked::Proven(proven) = self.ask(asker, Goal::Deadlock, &cut) {
                    self.locked.insert(places.clone());
                    self.looked.deadlocks.push((places.clone(), proven));
                } else {
                    left.push(cut.iter().map(|at| self.reduced.position(*at)).collect());
                }
            }
            if !self.is_locked(&places) {
                self.left.cycles.push((places, left));
            }
        }
        self.standstills(model, asker);
    }

    /// Waits that nobody can end. Of all that stand still together those are told that hold each other up: the fewest.
    fn standstills(&mut self, model: &Model, asker: &mut Asker) {
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
            if proven_cuts.contains(&cut) || self.is_locked(&places) || self.is_over() {
                continue;
            }
            let asked = match schedule {
                None => self.ask(asker, Goal::Deadlock, &next),
                Some(schedule) => {
                    let answer = (Answer::Reached(schedule), Stage::Search);
                    self.settled(Goal::Deadlock, &next, answer, Duration::ZERO)
                }
            };
            if let Asked::Proven(proven) = asked {
                proven_cuts.push(cut);
                self.locked.insert(places.clone());
                let bystanders = still.bystanders.len();
                let proven = Proven {
                    bystanders,
                    ..proven
                };
                self.looked.deadlocks.push((places, proven));
            }
        }
    }

    /// Asks about a cut of the reduced window; the witness, if there is one that the checker accepts.
    fn ask(&mut self, asker: &mut Asker, goal: Goal, next: &[u32]) -> Asked {
        let started = Instant::now();
        let budget = self.budget();
        let inner = Cut {
            goal,
            next: next.to_vec(),
        };
        let answer = asker.ask(&inner, &budget);
        // However little there is to do, asking is something.
        self.all.spend(budget.spent.get() + OF_EVENT);
        if answer.0 == Answer::Unknown {
            self.is_unanswered(&budget);
        }
        self.settled(goal, next, answer, started.elapsed())
    }

    /// What one question may take.
    pub(super) fn budget(&self) -> Budget<'a> {
        let effort = &self.round.options.budget;
        let own = effort.deadline();
        Budget {
            work: self.left().into_iter().chain([effort.work]).min(),
            deadline: own.into_iter().chain(self.all.deadline).min(),
            stop: self.all.stop,
            spent: Cell::default(),
        }
    }

    /// How much may be done for one question.
    fn left(&self) -> Option<u64> {
        let here = self
            .limit
            .map(|limit| limit.saturating_sub(self.all.spent.get()));
        self.all.left().into_iter().chain(here).min()
    }

    /// A question has no answer within its budget.
    pub(super) fn is_unanswered(&mut self, budget: &Budget) {
        self.is_limited |= budget
            .work
            .is_some_and(|work| work < self.round.options.budget.work);
        let is_late = |deadline: Instant| Instant::now() >= deadline;
        let has_limit = self.round.options.budget.deadline().is_some();
        self.looked.is_timed_out |= has_limit && budget.deadline.is_some_and(is_late);
        self.looked.is_cut_short |= self.is_growing();
    }

    /// An answer about a cut of the reduced window; the witness, if it is one that the checker accepts.
    fn settled(
        &mut self,
        goal: Goal,
        next: &[u32],
        (answer, stage): (Answer, Stage),
        took: Duration,
    ) -> Asked {
        let is_growing = self.is_growing();
        let figures = &mut self.looked.statistics;
        figures.asked += 1;
        let of_stage = &mut figures.stages[stage as usize];
        of_stage.took += took;
        let schedule = match answer {
            Answer::Reached(schedule) => {
                of_stage.reached += 1;
                schedule
            }
            Answer::Impossible => {
                of_stage.impossible += 1;
                return Asked::Impossible;
            }
            // A smaller window has answered, or it will be asked again.
            Answer::Unknown if is_growing || self.is_limited && self.piece.asks.is_only() => {
                return Asked::Unknown;
            }
            Answer::Unknown => {
                figures.unknown += 1;
                return Asked::Unknown;
            }
        };
        let positions = next.iter().map(|event| self.reduced.position(*event));
        let whole = Cut {
            goal,
            next: positions.collect(),
        };
        let schedule = self.reduced.schedule(&schedule, &whole);
        self.all.spend(self.piece.window.steps.len() as u64);
        let next: Vec<EventIndex> = whole.next.iter().map(|at| self.index(*at)).collect();
        let observed = self
            .observed
            .get_or_init(|| Observed::new(&self.piece.window));
        if let Err(violation) = observed.check(&whole, &schedule) {
            self.looked.refused.push(Refused { next, violation });
            return Asked::Unknown;
        }
        Asked::Proven(Proven {
            goal,
            next,
            bystanders: 0,
            start: self.piece.window.start,
            schedule: schedule.into_iter().map(|at| self.index(at)).collect(),
            skipped: Vec::new(),
            stage,
        })
    }

    fn index(&self, position: u32) -> EventIndex {
        EventIndex(self.piece.window.start.0 + u64::from(position))
    }
}
