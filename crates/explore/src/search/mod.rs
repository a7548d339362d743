//! Which schedules there are: the program is run again and again from one state, each time in another order, until all orders that
//! matter have been seen. Follows the second phase of the *prefix* paper with the program itself in place of a model of it.
//!
//! [`Search::run`] asks a [`Program`] for runs, one after the other, and learns from each which orders are still to be tried. What
//! it finds are races, ends that a program should not come to, or the one access that it was sent for; each with the turns
//! that lead there.

mod bounds;
mod brute;
mod budget;
mod clocks;
mod cutting;
mod dependence;
mod dpor;
mod execution;
mod findings;
mod journal;
mod memory;
mod node;
mod objects;
mod path;
mod policy;
mod races;
mod states;
#[cfg(test)]
mod tests;
mod tree;
mod unordered;
mod visited;

pub use bounds::Bound;
pub use budget::{Budget, Cut, Progress};
pub use dependence::conflict;
pub use execution::{
    Deed, Ending, Execution, Manner, Pending, Program, Site, Standing, Transition, Turn,
};
pub use findings::{BadEnd, Reached};
pub use races::DataRace;
pub use visited::Revisits;

use budget::Spent;
use findings::Findings;
use journal::Journal;
use policy::{Learned, Policy};
use visited::Visited;

/// What the search is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// Whatever there is to be found.
    #[default]
    Everything,
    /// An access of another thread that conflicts with this one, which its thread is about to do, and which the [`Manner`] keeps parked.
    Access {
        /// Who is parked.
        thread: u32,
        /// In front of what.
        deed: Deed,
    },
    /// Any race on these bytes.
    Race {
        /// The first byte.
        object: u64,
        /// How many.
        size: u32,
    },
}

/// How runs are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// One run for each class of orders that cannot be told apart, give or take.
    #[default]
    Dpor,
    /// All orders.
    Brute,
}

/// A search that can be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// What for.
    pub goal: Goal,
    /// How runs are chosen.
    pub choice: Choice,
    /// Whether runs are cut off at states that are known.
    pub revisits: Revisits,
    /// How many preemptions a run may have.
    pub bound: Bound,
    /// How runs go on by themselves; what is [`Manner::last`] is the search's own business.
    pub manner: Manner,
    /// How much it may cost.
    pub budget: Budget,
}

/// What came of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The goal, if there was one and it was reached. Then the search ended there.
    pub reached: Option<Reached>,
    /// All races, one for each pair of places in the program.
    pub races: Vec<DataRace>,
    /// Races by happens-before, one for each pair of places: no run that was seen has the accesses side by side. The turns end
    /// with the later access.
    pub unordered: Vec<DataRace>,
    /// All ways in which runs ended that they should not have.
    pub bad_ends: Vec<BadEnd>,
    /// For each outcome that was seen the turns of one run that had it, by the outcome's number.
    pub outcomes: Vec<(u64, Vec<Turn>)>,
    /// How much was done.
    pub progress: Progress,
    /// Why there may be orders that were not seen. Empty: there are none.
    pub cuts: Vec<Cut>,
}

impl Outcome {
    /// Whether all orders that matter were seen.
    pub fn exhausted(&self) -> bool {
        self.cuts.is_empty() && self.reached.is_none()
    }
}

impl Search {
    /// Makes the search. `now` tells how much time has passed since any moment, `report` is called after each run and may stop the
    /// search by answering `false`.
    ///
    /// # Errors
    /// When the program could not be run at all.
    pub fn run<P: Program>(
        &self,
        program: &mut P,
        mut now: impl FnMut() -> std::time::Duration,
        mut report: impl FnMut(&Progress) -> bool,
    ) -> Result<Outcome, P::Error> {
        let mut findings = Findings::new(self.goal);
        let mut spent = Spent::new(self.budget, now());
        let mut journal = Journal::default();
        let mut cuts = self.revisits == Revisits::Cut;
        let mut round = 0;
        while let Some(bound) = self.bound.of_round(round) {
            journal.visited = cuts.then(Visited::default);
            let mut policy: Box<dyn Policy> = match self.choice {
                Choice::Dpor => Box::new(dpor::Dpor::new(journal, bound)),
                Choice::Brute => Box::new(brute::Brute::new(journal, bound)),
            };
            spent.begin_round(bound);
            let mut through = true;
            let mut hidden = false;
            while let Some(trial) = policy.next() {
                let memory = || policy.bytes() + findings.bytes();
                if spent.is_over(&mut now, memory) {
                    through = false;
                    break;
                }
                let manner = Manner {
                    last: trial.last,
                    repeated: trial.repeated as u32,
                    ..self.manner
                };
                let mut execution = program.run(&trial.turns, &manner)?;
                // Who is parked takes no part.
                let parked = self.manner.parked;
                execution
                    .pending
                    .retain(|pending| Some(pending.thread) != parked);
                spent.count(&execution.ending, execution.transitions.len());
                let repeated = trial.repeated;
                findings.run(&execution, repeated);
                if policy.journal().visited.is_some() {
                    findings.side_by_side(&execution, repeated);
                }
                findings.unordered(&execution);
                let learned = policy.learn(execution, &mut findings);
                spent.learned(learned, policy.journal().states(), &findings);
                if !report(&spent.progress) {
                    spent.stop();
                    through = false;
                }
                hidden = learned == Learned::Hidden;
                if findings.reached.is_some() || !through {
                    through = false;
                    break;
                }
                if hidden {
                    break;
                }
            }
            let put_off = policy.put_off();
            journal = policy.into_journal();
            if through && hidden {
                // States do not say everything: once more, without cuts.
                cuts = false;
                continue;
            }
            spent.end_round(put_off);
            if !through || put_off == 0 {
                break;
            }
            round += 1;
        }
        let unordered = findings.take_unordered();
        let mut outcomes: Vec<_> = findings.outcomes.into_iter().collect();
        outcomes.sort_unstable();
        Ok(Outcome {
            unordered,
            reached: findings.reached,
            races: findings.races,
            bad_ends: findings.bad_ends,
            outcomes,
            cuts: spent.cuts(),
            progress: spent.progress,
        })
    }
}
