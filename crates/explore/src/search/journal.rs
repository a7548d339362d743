//! The run as it stands, with all that is found on the way: shared by all policies.

use super::{
    execution::{Deed, Ending, Execution, Pending, Standing, Transition, Turn},
    findings::Findings,
    path::{Arrival, Path},
    policy::repeats,
    races::{self, Race},
    states::{Key, States},
    visited::{Revisit, Step, Visit, Visited},
};

/// The run as it stands.
#[derive(Default)]
pub(super) struct Journal {
    pub(super) path: Path,
    states: States,
    /// States that were left, unless runs that come to them again are to go on.
    pub(super) visited: Option<Visited>,
}

/// How a run begins, compared with the one as it stands.
pub(super) enum Beginning {
    /// It repeats it up to where it was asked to.
    Same,
    /// It repeats it, with other addresses: all of it was entered anew.
    Moved,
    /// It does not.
    Different,
}

impl Journal {
    /// Goes back to where there were so many transitions.
    pub(super) fn truncate(&mut self, len: usize) {
        self.path.truncate(len);
        self.states.truncate(len);
    }

    /// Compares the part of a run that was to be repeated, all that stands in the path.
    pub(super) fn begin(&mut self, transitions: &[Transition]) -> Beginning {
        let len = self.path.len();
        if transitions.len() < len {
            return Beginning::Different;
        }
        let mut moved = false;
        for (place, now) in transitions[..len].iter().enumerate() {
            let before = &self.path.event(place).transition;
            if !repeats(before, now) {
                return Beginning::Different;
            }
            let at = |one: &Deed| (one.object, one.size);
            moved |= before
                .deeds
                .iter()
                .zip(&now.deeds)
                .any(|(before, now)| at(before) != at(now));
        }
        if !moved {
            return Beginning::Same;
        }
        self.truncate(0);
        for transition in &transitions[..len] {
            let arrival = self.path.arrival(transition.thread, &transition.deeds);
            self.enter(transition.clone(), &arrival);
        }
        Beginning::Moved
    }

    /// A new transition, and what it races with.
    pub(super) fn step(
        &mut self,
        transition: &Transition,
        findings: &mut Findings,
    ) -> (Arrival, Vec<Race>) {
        self.look(transition.thread, &transition.deeds, findings)
    }

    /// A thread that is about to do something, and what that races with.
    pub(super) fn look(
        &mut self,
        thread: u32,
        deeds: &[Deed],
        findings: &mut Findings,
    ) -> (Arrival, Vec<Race>) {
        let arrival = self.path.arrival(thread, deeds);
        let races = races::races(&self.path, &arrival);
        let path = &self.path;
        races::data_races(
            path,
            &arrival,
            &races,
            deeds,
            &mut |first, second, event| {
                findings.race(
                    (path.event(event).transition.thread, first),
                    (thread, second),
                    || races::turns_to_both(path, &arrival, event),
                );
            },
        );
        (arrival, races)
    }

    /// The transition has happened. It leads from one state to another, if states are kept.
    pub(super) fn enter(&mut self, transition: Transition, arrival: &Arrival) -> Option<Step> {
        self.states.push(&transition);
        self.states.count();
        let to = Some(self.states.key());
        let visited = self.visited.as_mut();
        let step = visited.map(|visited| visited.step(transition.thread, &transition.deeds, to));
        self.path.push(transition, arrival);
        step
    }

    /// Whether all that follows from the state of the run as it stands is known, if it is come to in this way.
    pub(super) fn find(&mut self, visit: &Visit) -> Option<Revisit> {
        let key = self.states.key();
        self.visited.as_mut()?.find(key, visit)
    }

    /// The state of the run as it stands.
    pub(super) fn key(&self) -> Key {
        self.states.key()
    }

    /// Compares how a run has ended with how others did, of whose transitions those behind the run as it stands are given. `known`: it should be
    /// an end that was seen. Says whether states say everything about the program, as far as this shows.
    pub(super) fn end(&mut self, rest: &[Transition], execution: &Execution, known: bool) -> bool {
        if !is_own(&execution.ending) {
            return true;
        }
        let Some(visited) = &mut self.visited else {
            return true;
        };
        let len = self.path.len();
        for transition in rest {
            self.states.push(transition);
        }
        let key = self.states.key();
        self.states.truncate(len);
        // Not all ways of being left behind by the program's end are looked at.
        let early = ended_all(&execution.ending) && execution.pending.iter().any(could_go_on);
        visited.end(key, execution.outcome, known && !early)
    }

    /// How many different states were seen.
    pub(super) fn states(&self) -> u64 {
        self.states.len()
    }

    /// How many bytes it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        let visited = self.visited.as_ref().map_or(0, Visited::bytes);
        self.path.bytes() + self.states.bytes() + visited
    }
}

/// The turns of a whole run.
pub(super) fn turns_of(execution: &Execution) -> Vec<Turn> {
    execution
        .transitions
        .iter()
        .map(super::path::turn)
        .collect()
}

/// Whether the last transition ended the program, whatever others were about to do.
pub(super) fn ended_all(ending: &Ending) -> bool {
    matches!(ending, Ending::Exited(_) | Ending::Killed(_))
}

/// Whether a run came to an end of the program's own.
pub(super) fn is_own(ending: &Ending) -> bool {
    ended_all(ending) || matches!(ending, Ending::Deadlock | Ending::Livelock)
}

/// Whether a thread that has not ended could have gone on.
pub(super) fn could_go_on(pending: &Pending) -> bool {
    matches!(pending.standing, Standing::Ready | Standing::Timed)
}

/// The threads that had not ended, without the one that ended the program.
pub(super) fn left_behind(
    execution: &Execution,
    last: Option<u32>,
) -> impl Iterator<Item = &Pending> {
    let culprit = last.filter(|_| ended_all(&execution.ending));
    execution
        .pending
        .iter()
        .filter(move |pending| Some(pending.thread) != culprit)
}
