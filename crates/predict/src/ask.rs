//! Asks one question after the other about a window: cheap answers first.

use crate::closure::Closure;
use crate::effort::Budget;
use crate::model::Model;
use crate::question::Question;
use crate::saturate::{Saturated, Saturation};
use crate::search::{self, Found};
use crate::tidy::tidy;
use crate::{Cut, Schedule};

/// Which stage settled a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Locks that both hold, or an order that always is.
    Quick,
    /// The window's own order, without what is not needed.
    Closure,
    /// What must be.
    Saturation,
    /// The order solver.
    Search,
}

impl Stage {
    /// All of them, in their order.
    pub const ALL: [Stage; 4] = [
        Stage::Quick,
        Stage::Closure,
        Stage::Saturation,
        Stage::Search,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Quick => "quick",
            Stage::Closure => "closure",
            Stage::Saturation => "saturation",
            Stage::Search => "search",
        }
    }
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The cut can be reached: so.
    Reached(Schedule),
    /// It cannot.
    Impossible,
    /// Not known: the budget was used up.
    Unknown,
}

/// Asks about a window.
pub struct Asker<'m, 'w> {
    model: &'m Model<'w>,
    closure: Closure,
    saturation: Option<Saturation<'m, 'w>>,
}

impl<'m, 'w> Asker<'m, 'w> {
    /// For questions about a window.
    pub fn new(model: &'m Model<'w>) -> Self {
        Asker {
            model,
            closure: Closure::new(model),
            saturation: None,
        }
    }

    /// Can this cut be reached? With the stage that settled it.
    pub fn ask(&mut self, cut: &Cut, budget: &Budget) -> (Answer, Stage) {
        match self.settle(cut, budget) {
            (Answer::Reached(schedule), stage) => {
                (Answer::Reached(tidy(self.model, &schedule)), stage)
            }
            other => other,
        }
    }

    fn settle(&mut self, cut: &Cut, budget: &Budget) -> (Answer, Stage) {
        let model = self.model;
        let Some(question) = Question::new(model, cut) else {
            return (Answer::Impossible, Stage::Quick);
        };
        let threads = &model.threads;
        for (at, one) in cut.next.iter().enumerate() {
            let mut others = cut.next[at + 1..].iter();
            if others.any(|other| model.locks.exclude(threads, *one, *other)) {
                return (Answer::Impossible, Stage::Quick);
            }
        }
        let schedule = self.closure.schedule(&question);
        budget.spend(self.closure.work());
        if let Some(schedule) = schedule {
            return (Answer::Reached(schedule), Stage::Closure);
        }
        let must = self
            .saturation
            .get_or_insert_with(|| Saturation::new(model));
        match must.run(&question, budget) {
            Saturated::Whole => {}
            Saturated::Impossible => return (Answer::Impossible, Stage::Saturation),
            Saturated::GaveUp => return (Answer::Unknown, Stage::Saturation),
        }
        let answer = match search::search(&question, must, budget) {
            Found::Schedule(schedule) => Answer::Reached(schedule),
            Found::Impossible => Answer::Impossible,
            Found::GaveUp => Answer::Unknown,
        };
        (answer, Stage::Search)
    }
}
