//! Races of the run as it stands: two transitions that could have come the other way round, with nothing between them that says
//! otherwise; and what is to be run to see it.
//!
//! Follows Abdulla, Aronis, Jonsson and Sagonas, *Optimal Dynamic Partial Order Reduction* (POPL 2014): `e` is the earlier, `e'` the later
//! transition, `v` what follows `e` and does not happen after it. Deviation: two acquisitions of a lock, two who lower a semaphore, or two
//! who receive from one channel are a race although a release or a message stands between, unless the later thread knew of the earlier one from elsewhere.

use deadheat_trace::Op;

use super::{
    dependence::{Relation, conflict},
    execution::{Deed, Ending, Execution, Turn},
    journal::ended_all,
    path::{Arrival, Path, Predecessor, turn},
};

/// A race of the new transition with an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Race {
    /// Where the earlier one stands.
    pub(super) event: usize,
    /// Nothing at all stands between: both can be next at the same time.
    pub(super) adjacent: bool,
}

/// Two accesses that were both next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataRace {
    /// Who does the first.
    pub first_thread: u32,
    /// The first.
    pub first: Deed,
    /// Who does the second.
    pub second_thread: u32,
    /// The second.
    pub second: Deed,
    /// The turns behind which both are next.
    pub turns: Vec<Turn>,
}

/// The races of a transition that is next, the latest first.
pub(super) fn races(path: &Path, arrival: &Arrival) -> Vec<Race> {
    let mut races: Vec<Race> = Vec::new();
    // All that stands between, and is known.
    let mut known = arrival.base.clone();
    let all = &arrival.predecessors;
    let mut next = 0;
    while next < all.len() {
        let event = all[next].event;
        let slot = path.event(event).slot;
        let group = all[next..]
            .iter()
            .take_while(|one| one.event == event)
            .count();
        let here = &all[next..next + group];
        let adjacent =
            !known.knows(slot, event) && here.iter().any(|one| one.relation == Relation::Race);
        let contended = here.iter().any(|one| {
            one.relation == Relation::Contention && {
                let mut known = arrival.base.clone();
                for later in &all[..next] {
                    let races = matches!(later.relation, Relation::Race | Relation::Contention);
                    if later.mine == one.mine && races && !sends_into_same(path, later, one) {
                        known.join(&path.event(later.event).clock);
                    }
                }
                !known.knows(slot, event)
            }
        });
        if adjacent || contended {
            races.push(Race { event, adjacent });
        }
        known.join(&path.event(event).clock);
        next += group;
    }
    races
}

/// Whether a transition sends something into the channel of another predecessor's operation. Whoever receives
/// may not be able to go before it, so that the two could not be seen the other way round. (What a transition
/// receives behind that does not count either: it comes with the sending.)
fn sends_into_same(path: &Path, later: &Predecessor, other: &Predecessor) -> bool {
    let deeds = |one: &Predecessor| path.event(one.event).transition.deeds.iter();
    let object = deeds(other).nth(other.theirs).map(|deed| deed.object);
    deeds(later).any(|deed| deed.op == Op::Send && Some(deed.object) == object)
}

/// Shows the data races among the races of a transition that is next: the earlier access, the later one, and where the earlier one stands.
pub(super) fn data_races(
    path: &Path,
    arrival: &Arrival,
    races: &[Race],
    deeds: &[Deed],
    show: &mut impl FnMut(&Deed, &Deed, usize),
) {
    for race in races.iter().filter(|race| race.adjacent) {
        let earlier = &path.event(race.event).transition;
        for one in arrival
            .predecessors
            .iter()
            .filter(|one| one.event == race.event)
        {
            if let (Some(first), Some(second)) =
                (earlier.deeds.get(one.theirs), deeds.get(one.mine))
                && conflict(first, second)
            {
                show(first, second, race.event);
            }
        }
    }
}

/// The turns that make both next: all before the earlier one, then what the later one's thread needs to get there.
pub(super) fn turns_to_both(path: &Path, arrival: &Arrival, event: usize) -> Vec<Turn> {
    let mut turns = path.turns(event);
    turns.extend(
        (event + 1..path.len())
            .filter(|&place| arrival.base.knows(path.event(place).slot, place))
            .map(|place| turn(&path.event(place).transition)),
    );
    turns
}

/// Shows the data races among what threads are about to do at each place of a run from this one on: two accesses with their threads, and
/// the place.
pub(super) fn side_by_side(
    execution: &Execution,
    from: usize,
    show: &mut impl FnMut((u32, &Deed), (u32, &Deed), usize),
) {
    let transitions = &execution.transitions;
    if matches!(execution.ending, Ending::Refused(_)) {
        return;
    }
    let pending = execution.pending.iter();
    let mut next: Vec<(u32, Deed)> = pending
        .filter_map(|pending| Some((pending.thread, pending.deed?)))
        .collect();
    for place in (from..=transitions.len()).rev() {
        if let Some(transition) = transitions.get(place) {
            // Who is created by it is not there yet.
            let created = |thread: u32| {
                let forks = |deed: &Deed| deed.op == Op::Fork && deed.object == u64::from(thread);
                transition.deeds.iter().any(forks)
            };
            next.retain(|(thread, _)| *thread != transition.thread && !created(*thread));
            if let Some(deed) = transition.deeds.first() {
                next.push((transition.thread, *deed));
            }
        }
        if place == transitions.len() && ended_all(&execution.ending) {
            continue;
        }
        for (number, (thread, deed)) in next.iter().enumerate() {
            for (other, theirs) in &next[number + 1..] {
                if conflict(deed, theirs) {
                    show((*thread, deed), (*other, theirs), place);
                }
            }
        }
    }
}
