//! What a search has found: races, ends that a program should not come to, and what it is that programs end with at all.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Goal,
    dependence::{bytes, conflict},
    execution::{Deed, Ending, Execution, Site, Turn},
    journal::{ended_all, turns_of},
    races::{self, DataRace},
    unordered,
};

/// A way in which a run ended that it should not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadEnd {
    /// How.
    pub ending: Ending,
    /// Where the threads stood that had not ended, those that matter: thread and place in the program.
    pub places: Vec<(u32, Site)>,
    /// Where the program itself says that it failed, if it says so.
    pub named: Option<String>,
    /// The turns of the whole run.
    pub turns: Vec<Turn>,
}

/// The goal was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The turns behind which it is next.
    pub turns: Vec<Turn>,
    /// Who is about to do it.
    pub thread: u32,
    /// What it is about to do.
    pub deed: Deed,
    /// Who else is about to do what, if that was not given.
    pub other: Option<(u32, Deed)>,
}

/// What makes two ends the same: how, with which number, and where the threads stood, or where the
/// program says that it failed.
type EndKey = (u8, i32, Result<String, Vec<(u32, Site)>>);

/// What was found so far.
pub(super) struct Findings {
    goal: Goal,
    pub(super) races: Vec<DataRace>,
    /// Races by happens-before whose accesses nobody has seen side by side.
    unordered: Vec<DataRace>,
    known_unordered: FxHashSet<[Site; 2]>,
    known_races: FxHashSet<[Site; 2]>,
    pub(super) bad_ends: Vec<BadEnd>,
    known_ends: FxHashSet<EndKey>,
    pub(super) outcomes: FxHashMap<u64, Vec<Turn>>,
    pub(super) reached: Option<Reached>,
}

impl Findings {
    /// Nothing is found yet.
    pub(super) fn new(goal: Goal) -> Self {
        Findings {
            goal,
            races: Vec::new(),
            unordered: Vec::new(),
            known_unordered: FxHashSet::default(),
            known_races: FxHashSet::default(),
            bad_ends: Vec::new(),
            known_ends: FxHashSet::default(),
            outcomes: FxHashMap::default(),
            reached: None,
        }
    }

    /// Two accesses can be next at the same time, behind these turns.
    pub(super) fn race(
        &mut self,
        (first_thread, first): (u32, &Deed),
        (second_thread, second): (u32, &Deed),
        turns: impl FnOnce() -> Vec<Turn>,
    ) {
        let wanted = match &self.goal {
            Goal::Race { object, size } => [first, second].iter().all(|deed| {
                bytes(deed).is_some_and(|bytes| {
                    bytes.start < object.saturating_add(u64::from(*size)) && *object < bytes.end
                })
            }),
            _ => false,
        };
        let key = sites(first, second);
        let new = self.known_races.insert(key);
        if !new && (!wanted || self.reached.is_some()) {
            return;
        }
        let race = DataRace {
            first_thread,
            first: *first,
            second_thread,
            second: *second,
            turns: turns(),
        };
        if wanted && self.reached.is_none() {
            self.reached = Some(Reached {
                turns: race.turns.clone(),
                thread: second_thread,
                deed: *second,
                other: Some((first_thread, *first)),
            });
        }
        if new {
            self.races.push(race);
        }
    }

    /// A run is over. What it repeated of the one before need not be looked at again.
    pub(super) fn run(&mut self, execution: &Execution, repeated: usize) {
        self.look_for_access(execution, repeated);
        if let Ending::Refused(_) = execution.ending {
            return;
        }
        self.outcomes
            .entry(execution.outcome)
            .or_insert_with(|| turns_of(execution));
        let parked = matches!(self.goal, Goal::Access { .. });
        let (kind, number) = match execution.ending {
            // Whoever is parked may be all that the others wait for.
            Ending::Deadlock | Ending::Livelock if parked => return,
            Ending::Deadlock => (0, 0),
            Ending::Livelock => (1, 0),
            Ending::Hung => (2, 0),
            Ending::Killed(signal) => (3, signal),
            Ending::Exited(code) if code != 0 => (4, code),
            _ => return,
        };
        let places = places(execution);
        let named = execution.named.clone();
        let at = named.clone().ok_or_else(|| places.clone());
        if self.known_ends.insert((kind, number, at)) {
            self.bad_ends.push(BadEnd {
                ending: execution.ending.clone(),
                places,
                named,
                turns: turns_of(execution),
            });
        }
    }

    /// Looks for races by happens-before in a run.
    pub(super) fn unordered(&mut self, execution: &Execution) {
        if self.goal != Goal::Everything || matches!(execution.ending, Ending::Refused(_)) {
            return;
        }
        for pair in unordered::of(execution) {
            let [(first_thread, first), (second_thread, second)] = [pair.first, pair.second];
            let key = sites(&first, &second);
            if self.known_races.contains(&key) || !self.known_unordered.insert(key) {
                continue;
            }
            let mut turns = turns_of(execution);
            turns.truncate(pair.len);
            self.unordered.push(DataRace {
                first_thread,
                first,
                second_thread,
                second,
                turns,
            });
        }
    }

    /// All races by happens-before of which no run has the accesses side by side.
    pub(super) fn take_unordered(&mut self) -> Vec<DataRace> {
        let mut all = std::mem::take(&mut self.unordered);
        all.retain(|race| {
            let key = sites(&race.first, &race.second);
            !self.known_races.contains(&key)
        });
        all
    }

    /// Looks for races among what threads are about to do at places of a run, but for those that repeat another one: a run that is cut off
    /// may not come to both accesses.
    pub(super) fn side_by_side(&mut self, execution: &Execution, repeated: usize) {
        races::side_by_side(execution, repeated, &mut |first, second, place| {
            self.race(first, second, || {
                let mut turns = turns_of(execution);
                turns.truncate(place);
                turns
            });
        });
    }

    /// Looks for an access that conflicts with the one that is parked.
    fn look_for_access(&mut self, execution: &Execution, repeated: usize) {
        let Goal::Access { thread, deed } = self.goal else {
            return;
        };
        if self.reached.is_some() {
            return;
        }
        let done = execution
            .transitions
            .iter()
            .enumerate()
            .skip(repeated)
            .flat_map(|(place, transition)| {
                transition
                    .deeds
                    .iter()
                    .map(move |deed| (place, transition.thread, *deed))
            });
        let next = execution.pending.iter().filter_map(|pending| {
            Some((execution.transitions.len(), pending.thread, pending.deed?))
        });
        let found = done
            .chain(next)
            .find(|(_, other, second)| *other != thread && conflict(&deed, second));
        if let Some((place, thread, deed)) = found {
            let mut turns = turns_of(execution);
            turns.truncate(place);
            self.reached = Some(Reached {
                turns,
                thread,
                deed,
                other: None,
            });
        }
    }

    /// How many bytes it takes, roughly.
    pub(super) fn bytes(&self) -> usize {
        let turns = self
            .races
            .iter()
            .map(|race| race.turns.len())
            .sum::<usize>()
            + self
                .bad_ends
                .iter()
                .map(|end| end.turns.len())
                .sum::<usize>()
            + self.outcomes.values().map(Vec::len).sum::<usize>();
        turns * size_of::<Turn>() + self.races.len() * size_of::<DataRace>()
    }
}

/// Where two accesses are done, whichever comes first.
fn sites(first: &Deed, second: &Deed) -> [Site; 2] {
    let [one, other] = [first.site(), second.site()];
    [one.min(other), one.max(other)]
}

/// Where the threads stand that make an end what it is: all that wait, or the one that ended it.
fn places(execution: &Execution) -> Vec<(u32, Site)> {
    if ended_all(&execution.ending) {
        let last = execution.transitions.last();
        return last
            .map(|last| {
                let site = last.deeds.last().map(Deed::site);
                (last.thread, site.unwrap_or_default())
            })
            .into_iter()
            .collect();
    }
    let mut places: Vec<(u32, Site)> = execution
        .pending
        .iter()
        .map(|pending| {
            // Who is in the middle of a wait has nothing more to do: where it began, two waits are told apart.
            let site = pending.deed.map(|deed| deed.site());
            let site = site.or_else(|| last_place(execution, pending.thread));
            (pending.thread, site.unwrap_or_default())
        })
        .collect();
    places.sort_unstable();
    places
}

/// Where a thread did what it did last.
fn last_place(execution: &Execution, thread: u32) -> Option<Site> {
    let mut own = execution
        .transitions
        .iter()
        .rev()
        .filter(|transition| transition.thread == thread);
    own.find_map(|transition| transition.deeds.last())
        .map(Deed::site)
}
