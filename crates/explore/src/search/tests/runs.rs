//! How a small program runs when a search asks for it.

use super::{
    super::{Ending, Execution, Manner, Pending, Program, Standing, Transition, Turn},
    model::{Model, Phase},
};

impl Program for Model {
    type Error = std::convert::Infallible;

    fn run(&mut self, turns: &[Turn], manner: &Manner) -> Result<Execution, Self::Error> {
        self.runs += 1;
        let mut state = self.start();
        let mut transitions: Vec<Transition> = Vec::new();
        let threads: Vec<u32> = (0..self.threads.len() as u32)
            .filter(|&thread| Some(thread) != manner.parked)
            .collect();
        let ending = loop {
            if let Some(ending) = self.ending(&state) {
                break ending;
            }
            if manner.longest > 0 && transitions.len() >= manner.longest as usize {
                break Ending::Long;
            }
            let can = |thread: &u32| self.ways(&state, *thread) > 0;
            let turn = match turns.get(transitions.len()) {
                Some(turn) if turn.variant < self.ways(&state, turn.thread) => Some(*turn),
                Some(_) => break Ending::Refused(transitions.len()),
                None => {
                    let late = |thread: &u32| manner.last & (1 << thread) != 0;
                    let before = transitions.last().map(|last| last.thread);
                    let hint = manner.first.filter(|first| !late(first));
                    let timed = |thread: &u32| self.is_timed(&state, *thread);
                    let by_itself = hint
                        .into_iter()
                        .chain(before)
                        .chain(threads.iter().copied().filter(|thread| !late(thread)))
                        .chain(threads.iter().copied());
                    // Time passes only when nobody can go on.
                    by_itself
                        .clone()
                        .filter(|thread| !timed(thread))
                        .chain(by_itself)
                        .find(can)
                        .map(|thread| Turn { thread, variant: 0 })
                }
            };
            let Some(turn) = turn else {
                break Ending::Deadlock;
            };
            let variants = self.ways(&state, turn.thread);
            let deeds = self.step(&mut state, turn.thread, turn.variant);
            transitions.push(Transition {
                thread: turn.thread,
                variant: turn.variant,
                variants,
                deeds,
            });
        };
        let pending = (0..self.threads.len() as u32)
            .filter(|thread| {
                !matches!(
                    state.threads[*thread as usize].phase,
                    Phase::Ended | Phase::NotStarted
                )
            })
            .map(|thread| {
                let mut alive = state.clone();
                (alive.died, alive.left) = (None, false);
                Pending {
                    thread,
                    standing: if self.is_timed(&state, thread) {
                        Standing::Timed
                    } else if self.ways(&alive, thread) > 0 {
                        Standing::Ready
                    } else {
                        Standing::Blocked
                    },
                    deed: self.next(&state, thread),
                }
            })
            .collect();
        Ok(Execution {
            transitions,
            pending,
            outcome: self.outcome(&state),
            named: None,
            yielded: 0,
            ending,
        })
    }
}
