//! Asks once more about what a window does not prove, with reference counts for what they are: see [`crate::counts`].
//!
//! One relaxed window serves all questions at first. If its schedule is none because a release was not to be skipped, or a thread that
//! was not the last owner would be, the counts at that address are taken as they are, in a window for this question alone.

use std::time::Instant;

use deadheat_trace::{EventIndex, Pc};
use rustc_hash::FxHashSet;

use super::Proven;
use super::look::{Look, OF_EVENT};
use crate::check::{Broken, Observed, Simulation, Violation};
use crate::counts::{Relaxed, address_around};
use crate::{Answer, Asker, Cut, Goal, Model, Places, Reduced, Window};

/// So many addresses are taken as they are for one question, and for all questions about a window.
const OF_QUESTION: u32 = 6;
const OF_WINDOW: u32 = 64;

/// What was asked about and not proven, by positions of the whole window.
#[derive(Default)]
pub(super) struct Left {
    pub races: Vec<(Places, Vec<Vec<u32>>)>,
    pub cycles: Vec<(Vec<Pc>, Vec<Vec<u32>>)>,
}

/// What came of a question.
enum Asked {
    Proven(Proven),
    /// Counts at this address have to be as they are.
    Exact(u64),
    No,
}

/// A relaxed window, ready to be asked about.
struct Ready<'r, 'm, 'w> {
    relaxed: &'r Relaxed,
    reduced: &'r Reduced,
    asker: Asker<'m, 'w>,
}

/// The window with its counts, and what is known of it.
struct Whole<'w> {
    window: &'w Window,
    observed: Observed<'w>,
    private: FxHashSet<u64>,
}

impl Look<'_> {
    /// Asks about all that is left.
    pub(super) fn relax(&mut self, left: Left) {
        if self.piece.counts.is_empty() || left.races.is_empty() && left.cycles.is_empty() {
            return;
        }
        let window = Window {
            counts: self.piece.counts.clone(),
            ..self.piece.window.clone()
        };
        let private = Relaxed::private(&window);
        let Some(relaxed) = Relaxed::of(&window, &private) else {
            return;
        };
        self.all.spend(OF_EVENT * window.steps.len() as u64);
        let whole = Whole {
            window: &window,
            observed: Observed::new(&window),
            private,
        };
        let reduced = Reduced::of(&relaxed.window);
        let model = Model::new(&reduced.window);
        let mut ready = Ready {
            relaxed: &relaxed,
            reduced: &reduced,
            asker: Asker::new(&model),
        };
        let mut refinements = OF_WINDOW;
        for (places, cuts) in left.races {
            for next in cuts {
                if self.is_proven(places) || self.is_over() {
                    break;
                }
                let goal = Goal::Race;
                let cut = Cut { goal, next };
                if let Some(proven) = self.relaxed(&whole, &mut ready, &cut, &mut refinements) {
                    self.proven.insert(places);
                    self.looked.races.push((places, proven));
                }
            }
        }
        for (places, cuts) in left.cycles {
            for next in cuts {
                if self.is_locked(&places) || self.is_over() {
                    break;
                }
                let goal = Goal::Deadlock;
                let cut = Cut { goal, next };
                if let Some(proven) = self.relaxed(&whole, &mut ready, &cut, &mut refinements) {
                    self.locked.insert(places.clone());
                    self.looked.deadlocks.push((places.clone(), proven));
                }
            }
        }
    }

    /// Asks about one cut, with as many counts relaxed as can be.
    fn relaxed(
        &mut self,
        whole: &Whole,
        ready: &mut Ready,
        cut: &Cut,
        refinements: &mut u32,
    ) -> Option<Proven> {
        let mut exact = whole.private.clone();
        let mut asked = self.ask_relaxed(whole, ready, cut);
        for _ in 0..OF_QUESTION {
            let address = match asked {
                Asked::Proven(proven) => return Some(proven),
                Asked::Exact(address) => address,
                Asked::No => return None,
            };
            if !exact.insert(address) || *refinements == 0 || self.is_over() {
                return None;
            }
            *refinements -= 1;
            self.all.spend(OF_EVENT * whole.window.steps.len() as u64);
            let relaxed = Relaxed::of(whole.window, &exact)?;
            let reduced = Reduced::of(&relaxed.window);
            let model = Model::new(&reduced.window);
            let mut ready = Ready {
                relaxed: &relaxed,
                reduced: &reduced,
                asker: Asker::new(&model),
            };
            asked = self.ask_relaxed(whole, &mut ready, cut);
        }
        match asked {
            Asked::Proven(proven) => Some(proven),
            _ => None,
        }
    }

    fn ask_relaxed(&mut self, whole: &Whole, ready: &mut Ready, cut: &Cut) -> Asked {
        let Some(relaxed) = ready.relaxed.cut(cut) else {
            let mut around = cut.next.iter();
            let around = around.find_map(|at| address_around(whole.window, *at));
            return around.map_or(Asked::No, Asked::Exact);
        };
        let Some(reduced) = ready.reduced.cut(&relaxed) else {
            return Asked::No;
        };
        let started = Instant::now();
        let budget = self.budget();
        let (answer, stage) = ready.asker.ask(&reduced, &budget);
        self.all.spend(budget.spent.get() + OF_EVENT);
        let schedule = match answer {
            Answer::Reached(schedule) => schedule,
            Answer::Impossible => return Asked::No,
            Answer::Unknown => {
                self.is_unanswered(&budget);
                return Asked::No;
            }
        };
        let schedule = ready.reduced.schedule(&schedule, &relaxed);
        let schedule = ready.relaxed.schedule(&schedule);
        self.all.spend(whole.window.steps.len() as u64);
        let mut simulation = Simulation::new(&whole.observed);
        let mut run = schedule.iter().map(|at| simulation.run(*at));
        let checked = run.find_map(Result::err);
        let checked = checked.map_or_else(|| simulation.reached(cut), Err);
        if let Err(violation) = checked {
            return reason(whole.window, &violation).map_or(Asked::No, Asked::Exact);
        }
        let figures = &mut self.looked.statistics;
        figures.asked += 1;
        figures.stages[stage as usize].reached += 1;
        figures.stages[stage as usize].took += started.elapsed();
        let index = |at: &u32| EventIndex(whole.window.start.0 + u64::from(*at));
        Asked::Proven(Proven {
            goal: cut.goal,
            next: cut.next.iter().map(index).collect(),
            bystanders: 0,
            start: whole.window.start,
            schedule: schedule.iter().map(index).collect(),
            skipped: simulation.skipped(),
            stage,
        })
    }
}

/// The address of the count because of which a schedule is none.
fn reason(window: &Window, violation: &Violation) -> Option<u64> {
    let (Violation::Step { broken, .. } | Violation::NotNext { broken, .. }) = violation else {
        return None;
    };
    match *broken {
        Broken::NotInTurn(next) => address_around(window, next),
        Broken::ReadElse(read) => {
            let found = window.counts.binary_search_by_key(&read, |(at, _)| *at);
            found
                .is_ok()
                .then(|| window.steps[read as usize].event.target())
        }
        _ => None,
    }
}
