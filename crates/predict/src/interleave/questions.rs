//! The questions about one window: for every shared object, whether two segments that access it can be next at once;
//! for every cycle of locks, whether its requests can.

use std::cell::Cell;
use std::time::{Duration, Instant};

use deadheat_trace::{Addr, Event, EventIndex, Op, Pc, Step};
use rustc_hash::FxHashMap;

use super::objects::is_access;
use super::simplified::{Access, Kind, Simplified};
use super::{Found, Observation, PER_PLACES};
use crate::candidates::{LockSets, pairs};
use crate::check;
use crate::{
    Answer, Asker, Budget, Cut, Effort, Goal, Model, Places, Proven, Refused, Schedule, Stage,
    Window, cycles,
};

/// About how much work it is to see an event of a window from all sides.
const OF_EVENT: u64 = 16;
/// What one question may take at most, so that a hard one leaves something to the others.
const QUESTION: Effort = Effort::about(Duration::from_millis(300));
/// So many pairs of kinds of accesses to one object are compared in a window.
const MOST_COMPARED: usize = 1 << 18;
/// About so many pairs of segments of one object is asked in a window.
const MOST_ASKED: usize = 256;

/// A window with all that is needed to ask about it.
pub struct Questions<'a> {
    /// The trace.
    pub observation: &'a Observation<'a>,
    /// The same simplified.
    pub simplified: &'a Simplified,
    /// Where the window begins in the latter.
    pub start: u32,
    /// What lies before that was in windows before.
    pub is_old: u32,
    /// The window.
    pub window: &'a Window,
    /// How much one question may take.
    pub budget: Effort,
    /// How much all of them may.
    pub left: &'a Budget<'a>,
    /// Smaller windows have been asked about.
    pub is_growing: bool,
}

/// Accesses of one thread to one object that are alike in all that matters.
struct Alike {
    key: Key,
    /// Positions in the window, and one of the accesses for each.
    segments: Vec<u32>,
    accesses: FxHashMap<u32, Access>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    thread: u32,
    pc: Pc,
    locks: u32,
    kind: Kind,
    bytes: (u64, u64),
}

impl Key {
    fn can_race_with(&self, other: &Key) -> bool {
        self.thread != other.thread
            && self.kind.conflicts_with(other.kind)
            && self.bytes.0 < other.bytes.1
            && other.bytes.0 < self.bytes.1
    }
}

/// Pairs of groups that can race, in the groups' order, and whether some were left out. An object may be a large array, with a group for each
/// of its elements: only those that overlap are compared.
fn compared(groups: &[Alike]) -> (Vec<(usize, usize)>, u64) {
    let mut by_start: Vec<usize> = (0..groups.len()).collect();
    by_start.sort_by_key(|at| groups[*at].key.bytes.0);
    let mut pairs = Vec::new();
    for (rank, &at) in by_start.iter().enumerate() {
        let one = &groups[at].key;
        let behind = by_start[rank + 1..].iter().copied();
        for other in behind.take_while(|other| groups[*other].key.bytes.0 < one.bytes.1) {
            if !one.can_race_with(&groups[other].key) {
                continue;
            }
            if pairs.len() == MOST_COMPARED {
                return (pairs, 1);
            }
            pairs.push((at.min(other), at.max(other)));
        }
    }
    pairs.sort_unstable();
    (pairs, 0)
}

/// What is kept between the questions of a window.
struct Asking<'m, 'w> {
    model: &'m Model<'w>,
    asker: Asker<'m, 'w>,
    locks: LockSets,
    /// What is known of pairs of segments: the schedule that leads to them, if there is one.
    known: FxHashMap<[u32; 2], Option<(Schedule, Stage)>>,
}

impl Questions<'_> {
    /// Asks them all.
    pub fn ask_all(&self, found: &mut Found) {
        self.left.spend(OF_EVENT * self.window.steps.len() as u64);
        let model = Model::new(self.window);
        let mut asking = Asking {
            asker: Asker::new(&model),
            model: &model,
            locks: LockSets::default(),
            known: FxHashMap::default(),
        };
        for accesses in self
            .simplified
            .accesses
            .chunk_by(|one, other| one.object == other.object)
        {
            if self.left.is_over() {
                return;
            }
            let range = self.start..self.start + self.window.steps.len() as u32;
            let first = accesses.partition_point(|access| access.segment < range.start);
            let last = accesses.partition_point(|access| access.segment < range.end);
            let here = &accesses[first..last];
            if !here.is_empty() {
                self.ask_about(here, &mut asking, found);
            }
        }
        self.deadlocks(&mut asking, found);
    }

    /// Asks about one object.
    fn ask_about(&self, accesses: &[Access], asking: &mut Asking, found: &mut Found) {
        let groups = self.groups(accesses, asking);
        let mut asked = 0;
        let mut is_candidate = false;
        let mut unknown = None;
        let object = accesses[0].object;
        let (compared, left_out) = compared(&groups);
        found.prediction.statistics.left_out += left_out;
        self.left.spend((groups.len() + compared.len()) as u64);
        'pairs: for (one, other) in compared {
            if self.left.is_over() {
                break;
            }
            let [one, other] = [&groups[one], &groups[other]];
            let places = places(one.key.pc, other.key.pc);
            let many = found.places.get(&places).copied().unwrap_or(0);
            let [first, second] = [one.segments[0], other.segments[0]];
            let model = asking.model;
            if many >= PER_PLACES
                || found.objects.contains(&(object, places))
                || model.locks.exclude(&model.threads, first, second)
            {
                continue;
            }
            for pair in pairs(&one.segments, &other.segments) {
                let [a, b] = pair;
                if model.is_before(a, b) || self.start + b < self.is_old {
                    continue;
                }
                is_candidate = true;
                if asked == MOST_ASKED {
                    found.prediction.statistics.left_out += 1;
                    continue;
                }
                asked += 1;
                match self.race(pair, asking, found) {
                    Some(Some((schedule, stage))) => {
                        let (one, other) = (&one.accesses, &other.accesses);
                        let sides = [a, b].map(|segment| one.get(&segment).or(other.get(&segment)));
                        let [Some(one), Some(other)] = sides else {
                            continue;
                        };
                        let next = self.accesses_of(one, other);
                        let proven = self.proven(Goal::Race, next, &schedule, stage);
                        found.prediction.races.push(proven);
                        found.objects.insert((object, places));
                        *found.places.entry(places).or_default() += 1;
                        continue 'pairs;
                    }
                    Some(None) => {}
                    None => unknown = unknown.or(Some(pair)),
                }
            }
        }
        if is_candidate && found.candidates.insert(object) {
            found.prediction.statistics.candidates += 1;
        }
        if let Some(pair) = unknown.filter(|_| !self.is_growing) {
            let index = |at: u32| self.simplified.index(self.start + at);
            found.prediction.unknown.push(pair.map(index));
        }
    }

    fn groups(&self, accesses: &[Access], asking: &mut Asking) -> Vec<Alike> {
        let mut groups: Vec<Alike> = Vec::new();
        let mut numbers: FxHashMap<Key, usize> = FxHashMap::default();
        for access in accesses {
            let segment = access.segment - self.start;
            let event = &self.observation.steps[access.first as usize].event;
            let key = Key {
                thread: event.thread().0,
                pc: event.pc(),
                locks: asking.locks.number(asking.model, segment),
                kind: access.kind,
                bytes: (access.start, access.end),
            };
            let at = *numbers.entry(key).or_insert_with(|| {
                groups.push(Alike {
                    key,
                    segments: Vec::new(),
                    accesses: FxHashMap::default(),
                });
                groups.len() - 1
            });
            let group = &mut groups[at];
            if group.segments.last() != Some(&segment) {
                group.segments.push(segment);
            }
            group.accesses.entry(segment).or_insert(*access);
        }
        groups
    }

    /// Whether two segments can be next at once: the schedule that leads there. `None` if that is not known.
    fn race(
        &self,
        pair: [u32; 2],
        asking: &mut Asking,
        found: &mut Found,
    ) -> Option<Option<(Schedule, Stage)>> {
        if let Some(known) = asking.known.get(&pair) {
            return Some(known.clone());
        }
        let cut = Cut {
            goal: Goal::Race,
            next: pair.to_vec(),
        };
        let (answer, stage) = self.ask(&cut, asking, found);
        let answer = match answer {
            Answer::Reached(schedule) => {
                // The checker asks for accesses of common memory, which is what the segments stand for.
                let mut window = self.window.clone();
                for at in pair {
                    let step = &mut window.steps[at as usize];
                    let event = step.event;
                    *step = Step::new(Event::access(
                        event.thread(),
                        Op::Write,
                        Addr(8),
                        1,
                        event.pc(),
                    ));
                }
                self.is_accepted(&window, &cut, &schedule, found)
                    .then_some((schedule, stage))
            }
            Answer::Impossible => None,
            Answer::Unknown => return None,
        };
        asking.known.insert(pair, answer.clone());
        Some(answer)
    }

    fn ask(&self, cut: &Cut, asking: &mut Asking, found: &mut Found) -> (Answer, Stage) {
        let started = Instant::now();
        let own = self.budget.deadline();
        let budget = Budget {
            work: self
                .left
                .left()
                .into_iter()
                .chain([self.budget.work, QUESTION.work])
                .min(),
            deadline: own.into_iter().chain(self.left.deadline).min(),
            stop: self.left.stop,
            spent: Cell::default(),
        };
        let (answer, stage) = asking.asker.ask(cut, &budget);
        // However little there is to do, asking is something; and what is found is checked.
        self.left.spend(budget.spent.get() + OF_EVENT);
        if let Answer::Reached(_) = answer {
            self.left.spend(self.window.steps.len() as u64);
        }
        if answer == Answer::Unknown && own.is_some_and(|own| Instant::now() >= own) {
            found.prediction.is_timed_out = true;
        }
        let figures = &mut found.prediction.statistics;
        figures.asked += 1;
        let of_stage = &mut figures.stages[stage as usize];
        of_stage.took += started.elapsed();
        match answer {
            Answer::Reached(_) => of_stage.reached += 1,
            Answer::Impossible => of_stage.impossible += 1,
            // A smaller window has answered.
            Answer::Unknown if self.is_growing => {}
            Answer::Unknown => figures.unknown += 1,
        }
        (answer, stage)
    }

    /// Whether the checker accepts a schedule. That it does not would be a bug.
    fn is_accepted(&self, window: &Window, cut: &Cut, schedule: &[u32], found: &mut Found) -> bool {
        match check::check(window, cut, schedule) {
            Ok(()) => true,
            Err(violation) => {
                let index = |at: &u32| self.simplified.index(self.start + at);
                found.prediction.refused.push(Refused {
                    next: cut.next.iter().map(index).collect(),
                    violation,
                });
                false
            }
        }
    }

    /// The accesses of two segments that race: the first ones that have bytes in common.
    fn accesses_of(&self, one: &Access, other: &Access) -> Vec<EventIndex> {
        let of = |access: &Access| {
            let steps = &self.observation.steps[access.first as usize..=access.last as usize];
            let thread = steps[0].event.thread();
            let is_it = move |event: &Event| {
                event.thread() == thread && (is_access(event.op()) || event.op() == Op::Free)
            };
            let first = access.first;
            steps
                .iter()
                .enumerate()
                .filter(move |(_, step)| is_it(&step.event))
                .map(move |(at, step)| (first + at as u32, step.event))
        };
        // Between its accesses to this object a segment may access others.
        let (start, end) = (one.start.max(other.start), one.end.min(other.end));
        let meets = |a: &Event, b: &Event| {
            // A release is one of the whole block.
            let is_free = a.op() == Op::Free || b.op() == Op::Free;
            let from = a.target().max(b.target()).max(start);
            let to = [a, b].map(|event| event.target() + event.size());
            is_free || a.conflicts_with(b) && from < to[0].min(to[1]).min(end)
        };
        let pair =
            of(one).find_map(|(at, a)| of(other).find(|(_, b)| meets(&a, b)).map(|(b, _)| [at, b]));
        let pair = pair.unwrap_or([one.first, other.first]);
        pair.map(|at| EventIndex(at.into())).to_vec()
    }

    fn deadlocks(&self, asking: &mut Asking, found: &mut Found) {
        for (places, cuts) in cycles(asking.model).cuts {
            for next in cuts {
                if found.locked.contains(&places) || self.left.is_over() {
                    break;
                }
                let goal = Goal::Deadlock;
                let cut = Cut { goal, next };
                if let (Answer::Reached(schedule), stage) = self.ask(&cut, asking, found)
                    && self.is_accepted(self.window, &cut, &schedule, found)
                {
                    let index = |at: &u32| self.simplified.index(self.start + at);
                    let next = cut.next.iter().map(index).collect();
                    let proven = self.proven(goal, next, &schedule, stage);
                    found.prediction.deadlocks.push(proven);
                    found.locked.insert(places.clone());
                }
            }
        }
    }

    fn proven(&self, goal: Goal, next: Vec<EventIndex>, schedule: &[u32], stage: Stage) -> Proven {
        let events = schedule.iter().map(|at| self.start + at);
        let events = events.filter(|at| self.simplified.is_event(*at));
        Proven {
            goal,
            next,
            bystanders: 0,
            start: self.simplified.index(self.start),
            schedule: events.map(|at| self.simplified.index(at)).collect(),
            skipped: Vec::new(),
            stage,
        }
    }
}

fn places(one: Pc, other: Pc) -> Places {
    (one.min(other), one.max(other))
}
