//! The last stage: a search that finds a schedule or proves that there is none.
//!
//! All events and one more, the cut itself, are to be put into an order, by the order solver. It starts with what
//! [saturation](crate::saturate) found. Everything that must be before the cut is executed; the rest
//! is not, so nothing is asked of it. The order found is made a schedule ([`linear`]); the rules that it
//! breaks are told to the solver ([`encode`]), which tries again: most rules are never broken, and never
//! told.

mod encode;
mod linear;

use deadheat_order::{Limit, Outcome};
use rustc_hash::FxHashMap;

use self::encode::Encoder;
use self::linear::{Prefix, linear};
use crate::effort::Budget;
use crate::model::Seen;
use crate::question::Question;
use crate::saturate::Saturation;

/// A rule that an order breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The second section begins within the first.
    Sections(u32, u32),
    /// A needed read sees something else than it saw.
    Read {
        /// The read.
        read: u32,
        /// Where.
        atom: u32,
        /// What it sees. (If that is what it saw, the writer did not write what it wrote.)
        sees: Seen,
    },
    /// Nothing is given to this event.
    Token(u32),
    /// Something is used after its end.
    End {
        /// The end.
        end: u32,
        /// The use.
        usage: u32,
    },
    /// The end of something comes before uses of it: breaks nothing by itself.
    Early(u32),
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A schedule.
    Schedule(Vec<u32>),
    /// There is none.
    Impossible,
    /// Not known: the budget was used up.
    GaveUp,
}

/// No more literals and clauses are told about one question, or it is given up: about a hundred megabytes.
const MOST_TOLD: usize = 1 << 19;
/// How much work it is to tell one.
const OF_TOLD: u64 = 8;

/// Searches for a schedule. `must` is what saturation found for the same question.
pub fn search(question: &Question, must: &Saturation, budget: &Budget) -> Found {
    let model = question.model;
    let Some(mut encoder) = Encoder::new(question, must) else {
        return Found::Impossible;
    };
    let mut edges: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    loop {
        let limit = Limit {
            deadline: budget.deadline,
            stop: budget.stop,
            work: budget.left(),
            conflicts: None,
        };
        let before = encoder.work();
        let outcome = encoder.solve(&limit);
        budget.spend(encoder.work() - before + model.count() as u64);
        let solved = match outcome {
            Outcome::Solved(solved) => solved,
            Outcome::Impossible(_) => return Found::Impossible,
            Outcome::GaveUp(_) => return Found::GaveUp,
        };
        let executed = encoder.executed(&solved);
        let all_before = encoder.all_before(&solved, &executed);
        edges.values_mut().for_each(Vec::clear);
        for (from, to) in encoder.edges(&solved) {
            edges.entry(to).or_default().push(from);
        }
        let found = linear(&Prefix {
            question,
            executed: &executed,
            all_before: &all_before,
            edges: &edges,
        });
        let is_whole = found.order.len() == executed.iter().sum::<u32>() as usize;
        let mut told = false;
        for broken in &found.broken {
            let before = encoder.size();
            told |= encoder.tell(broken, &solved);
            budget.spend(OF_TOLD * encoder.size().saturating_sub(before) as u64);
            if encoder.size() > MOST_TOLD || budget.is_over() {
                return Found::GaveUp;
            }
        }
        let is_broken = found
            .broken
            .iter()
            .any(|broken| !matches!(broken, Broken::Early(_)));
        if is_whole && !is_broken {
            return Found::Schedule(found.order);
        }
        if !told || budget.is_over() {
            debug_assert!(
                told || !is_whole,
                "nothing new: {:?} in {}",
                found.broken,
                model.count()
            );
            return Found::GaveUp;
        }
    }
}
