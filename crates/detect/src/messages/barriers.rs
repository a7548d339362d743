//! Barriers: whoever leaves knows what all of the same round knew when they came.
//!
//! A round is full when as many came as the barrier waits for, if the trace says how many, and in
//! any case when the first one leaves: then the next to come opens another round. So those who leave
//! late do not learn from those who came again early.

use deadheat_trace::ThreadId;

use super::Clock;

/// A barrier, with the rounds that somebody has yet to leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Barrier<C> {
    /// How many it waits for, if that is known.
    count: Option<u64>,
    rounds: Vec<Round<C>>,
}

#[derive(Clone, Debug)]
struct Round<C> {
    inside: Vec<ThreadId>,
    came: u64,
    full: bool,
    sent: C,
}

impl<C: Clock> Barrier<C> {
    /// A barrier that waits for so many.
    pub fn of(count: u64) -> Self {
        Barrier {
            count: Some(count),
            rounds: Vec::new(),
        }
    }

    /// A thread comes.
    pub fn enter(&mut self, thread: ThreadId, clock: &C) {
        if self.rounds.last().is_none_or(|round| round.full) {
            self.rounds.push(Round {
                inside: Vec::new(),
                came: 0,
                full: false,
                sent: C::default(),
            });
        }
        if let Some(round) = self.rounds.last_mut() {
            round.inside.push(thread);
            round.sent.join(clock);
            round.came += 1;
            round.full = self.count == Some(round.came);
        }
    }

    /// A thread leaves.
    pub fn exit(&mut self, thread: ThreadId, clock: &mut C) {
        for (number, round) in self.rounds.iter_mut().enumerate() {
            if let Some(at) = round.inside.iter().position(|inside| *inside == thread) {
                clock.join(&round.sent);
                round.full = true;
                round.inside.swap_remove(at);
                if round.inside.is_empty() {
                    self.rounds.remove(number);
                }
                return;
            }
        }
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        let round = |round: &Round<C>| size_of::<Round<C>>() + round.sent.memory();
        self.rounds.iter().map(round).sum()
    }
}
