//! In which order runs are asked for: one trait, one file for each answer.
//!
//! * [`super::dpor`]: one run for each class of orders that cannot be told apart, give or take.
//! * [`super::brute`]: all orders. For small programs, and to check the other.

use super::{
    execution::{Execution, Transition, Turn},
    findings::Findings,
    journal::Journal,
};

/// A run that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Trial {
    /// What is repeated, and then turns that are new.
    pub(super) turns: Vec<Turn>,
    /// How many are repeated.
    pub(super) repeated: usize,
    /// See [`super::Manner::last`].
    pub(super) last: u64,
}

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Learned {
    /// It was a run like others.
    Run,
    /// The rest of it was seen before, in another order.
    Seen,
    /// It came to a state that is known.
    Revisit,
    /// The same, but what came of it is not what should have.
    Hidden,
    /// The thread that was to go on could not.
    Refused,
    /// The part that was repeated came out in another way.
    Different,
}

/// Chooses runs.
pub(super) trait Policy {
    /// The next run, if there is one.
    fn next(&mut self) -> Option<Trial>;

    /// What came of it.
    fn learn(&mut self, execution: Execution, findings: &mut Findings) -> Learned;

    /// How many turns were not taken because they would have needed more preemptions than allowed.
    fn put_off(&self) -> u64;

    /// The run as it stands.
    fn journal(&self) -> &Journal;

    /// Gives the run back, for another policy to go on with what was counted.
    fn into_journal(self: Box<Self>) -> Journal;

    /// How many bytes it takes, roughly.
    fn bytes(&self) -> usize;
}

/// Whether the part of a run that was asked for came out as it did before. Addresses may differ.
pub(super) fn repeats(before: &Transition, now: &Transition) -> bool {
    before.thread == now.thread
        && before.variant == now.variant
        && before.deeds.len() == now.deeds.len()
        && before
            .deeds
            .iter()
            .zip(&now.deeds)
            .all(|(before, now)| before.op == now.op)
}
