//! From a schedule that a search has found to a finding: the run is recorded, and what it shows is enforced as any other
//! witness is.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use deadheat_analysis::unseen::Unseen;
use deadheat_analysis::witness::{self, Digest, Next, Trace, Witness};
use deadheat_explore::search::{Deed, Execution, Manner, Turn};
use deadheat_report::{Contexts, Explain, Finding, Kind, Names, Rung};
use deadheat_run::input;
use deadheat_run::recorder::Recorded;
use deadheat_run::store::Store;
use deadheat_session::error::Result;
use deadheat_trace::{Event, EventIndex, Op, Pc, Steps, Tables};

use super::copies::Copies;
use super::reach;
use crate::confirm::{self, Case};

/// What the method is called in findings.
pub const METHOD: &str = "explore";

/// Where recordings of found schedules go.
pub struct Archive<'a> {
    /// The project's recordings.
    pub store: &'a Store,
    /// What the user typed for the program.
    pub typed: Vec<OsString>,
    /// How far prediction goes, for deadlocks.
    pub options: deadheat_predict::Options,
}

impl Archive<'_> {
    /// Records the run of a schedule.
    pub fn record(
        &self,
        copies: &mut Copies,
        turns: &[Turn],
        manner: &Manner,
    ) -> Result<(Execution, Recorded)> {
        let recording = self.store.add()?;
        copies.record(turns, manner, self.typed.clone(), recording)
    }
}

/// One side of a race that a search has found: its thread, and what it does.
pub type Side = (u32, Deed);

/// What became of a race that a search has found.
pub enum Evidence {
    /// It was recorded and enforced.
    Found(Box<Finding>),
    /// It is one of code without hooks, whose synchronisation nobody sees: no race, as far as is known.
    Unseen,
    /// Both accesses happened, and the recording knows of something that orders them: it is none.
    Ordered,
    /// It did not show again.
    Gone,
}

impl Evidence {
    /// The finding, if it is confirmed.
    pub fn confirmed(self) -> Option<Finding> {
        match self {
            Evidence::Found(finding) if finding.rung == Rung::Confirmed => Some(*finding),
            _ => None,
        }
    }
}

/// The race at the end of these turns: they are recorded with both accesses behind them, one after the other, and the race is enforced.
pub fn race(
    copies: &mut Copies,
    archive: &Archive,
    turns: &[Turn],
    sides: [Side; 2],
    manner: &Manner,
) -> Result<Evidence> {
    let manner = Manner {
        parked: None,
        ..*manner
    };
    // Code without hooks may take another number of steps than in the run that showed the race.
    let led = reach::turns_to_both(copies, turns, sides, &manner)?;
    let turns = led.as_deref().unwrap_or(turns);
    let mut all = turns.to_vec();
    all.extend(sides.iter().map(|(thread, _)| Turn {
        thread: *thread,
        variant: 0,
    }));
    let (execution, recorded) = archive.record(copies, &all, &repeating(turns, &manner))?;
    let trace = &recorded.traces[0];
    let seen = Seen::read(trace)?;
    let exact = positions(&execution, all.len(), &seen, sides);
    // A run from the program's beginning may take its steps in other portions than a copy: then both are looked for anywhere, and only what is
    // confirmed counts.
    let Some(pair) = exact.or_else(|| latest(&seen, sides)) else {
        return Ok(Evidence::Gone);
    };
    let mut unseen = Unseen::of(&seen.tables);
    if pair
        .iter()
        .any(|index| unseen.is_unseen(&seen.events[*index], &seen.tables))
    {
        return Ok(Evidence::Unseen);
    }
    let Some(mut finding) = race_of(trace, pair)? else {
        return Ok(Evidence::Gone);
    };
    // Code of a library was called from elsewhere: another race.
    if !is_about(&finding, sides.map(|(_, deed)| copies.told(deed.site()))) {
        return Ok(Evidence::Gone);
    }
    let witness = seen.witness(&finding, pair);
    let path = trace.with_file_name(witness::file_name(&finding.id));
    confirm::settle(&mut finding, Case::new(witness)?, &path)?;
    match exact.is_some() || finding.rung == Rung::Confirmed {
        true => Ok(Evidence::Found(Box::new(finding))),
        false => Ok(Evidence::Gone),
    }
}

/// How a program goes by turns that are those of another run.
pub fn repeating(turns: &[Turn], manner: &Manner) -> Manner {
    Manner {
        repeated: turns.len() as u32,
        ..*manner
    }
}

/// Whether these are the program's own places of a finding.
pub fn is_about(finding: &Finding, mut own: [String; 2]) -> bool {
    let accesses = finding.accesses.iter();
    let mut places: Vec<String> = accesses.map(|access| access.place.told()).collect();
    places.sort();
    own.sort();
    places == own
}

/// The race of these two events of a trace, explained.
pub fn race_of(trace: &Path, pair: [usize; 2]) -> Result<Option<Finding>> {
    explained(trace, pair, |explain, pair| {
        explain.race(pair, Rung::Witness, METHOD)
    })
}

/// The events of a recorded run.
pub struct Seen {
    /// All of them.
    pub events: Vec<Event>,
    /// What its numbers stand for.
    pub tables: Tables,
    /// Where they stand.
    pub trace: Trace,
}

impl Seen {
    /// Reads them.
    pub fn read(path: &Path) -> Result<Self> {
        let mut steps = input::open(path)?;
        let mut events = Vec::new();
        let mut digest = Digest::of(&steps);
        while let Some(step) = steps
            .next_step()
            .map_err(|error| input::broken(path, &error))?
        {
            digest.add(&step.event);
            events.push(step.event);
        }
        let trace = Trace {
            path: path.to_path_buf(),
            events: events.len() as u64,
            digest: digest.text(),
        };
        Ok(Seen {
            events,
            tables: steps.tables().clone(),
            trace,
        })
    }

    /// Where the program has ended itself, in its own code; else the last thing that it did.
    pub fn place_of_death(&self) -> Option<usize> {
        let own = |(_, event): &(usize, &Event)| self.is_own(event);
        let mut all = self.events.iter().enumerate().rev().filter(own);
        let ended = all.clone().find(|(_, event)| event.op() == Op::Exit);
        let found = ended.or_else(|| all.find(|(_, event)| !is_passage(event.op())));
        found.map(|(index, _)| index)
    }

    /// Whether it was done by the program's own code.
    fn is_own(&self, event: &Event) -> bool {
        let program = self.tables.modules.first().map(|module| module.start);
        let module = self.tables.module_of(event.pc());
        module.map(|(module, _)| module.start) == program
    }

    /// The last thing that each thread did which has not ended, in its own code and in the
    /// beginning of the run: the thread that did something last comes first.
    pub fn last_of_each(&self) -> Vec<usize> {
        let mut known = HashSet::new();
        let mut found = Vec::new();
        let beginning = &self.events[..self.beginning()];
        for (index, event) in beginning.iter().enumerate().rev() {
            if event.op() == Op::End {
                known.insert(event.thread());
            } else if !is_passage(event.op()) && self.is_own(event) && known.insert(event.thread())
            {
                found.push(index);
            }
        }
        found
    }

    /// Where the part of a run that would never end is over which says something: every thread goes round in its
    /// loop, and has done so twice.
    fn beginning(&self) -> usize {
        /// So many events at the end of a long run are what is repeated.
        const ROUNDS: usize = 1000;
        let key = |event: &Event| (event.thread(), event.op(), event.pc(), event.target());
        let many = self.events.len();
        if many < 4 * ROUNDS {
            return many;
        }
        let repeated: HashSet<_> = self.events[many - ROUNDS..].iter().map(key).collect();
        let mut all = self.events.iter();
        let new = all.rposition(|event| !repeated.contains(&key(event)));
        many.min(new.map_or(0, |at| at + 1) + 2 * repeated.len())
    }

    /// A witness that is the beginning of a run.
    pub fn witness_of_beginning(&self, finding: &Finding) -> Witness {
        Witness::new(finding, self.trace.clone(), self.beginning() as u64)
    }

    /// A witness that is the whole run.
    pub fn witness_of_all(&self, finding: &Finding) -> Witness {
        Witness::new(finding, self.trace.clone(), self.events.len() as u64)
    }

    /// A place in the recorded run's memory.
    pub fn place(&self, pc: Pc) -> Option<u64> {
        let (module, address) = self.tables.module_of(pc)?;
        Some(address.wrapping_add(module.bias))
    }

    /// Everything before the first access as it was, then what the second's thread did until its own.
    fn witness(&self, finding: &Finding, [first, second]: [usize; 2]) -> Witness {
        let thread = |index: usize| self.events[index].thread();
        let between = &self.events[first..second];
        let own = between
            .iter()
            .filter(|event| event.thread() == thread(second));
        let schedule = match own.count() as u64 {
            0 => Vec::new(),
            count => vec![(thread(second).0, count)],
        };
        let mut witness = Witness::new(finding, self.trace.clone(), first as u64).with(schedule);
        witness.next = self.next_of(&[first, second]);
        witness
    }

    /// These events as what is next in the end.
    pub fn next_of(&self, indexes: &[usize]) -> Vec<Next> {
        let next = |index: &usize| Next {
            index: *index as u64,
            thread: self.events[*index].thread().0,
        };
        indexes.iter().map(next).collect()
    }

    /// A witness of nothing yet: everything before `start` as it was, then this.
    pub fn open_witness(&self, start: usize, schedule: Vec<(u32, u64)>) -> Witness {
        let nothing = Finding::new(Kind::Race, Rung::Warning, METHOD, Vec::new());
        Witness::new(&nothing, self.trace.clone(), start as u64).with(schedule)
    }
}

/// Whether it only says where a thread is.
fn is_passage(op: Op) -> bool {
    matches!(op, Op::Enter | Op::Leave | Op::Begin | Op::End | Op::Exit)
}

/// Where the accesses of the last two turns stand in the trace.
fn positions(
    execution: &Execution,
    turns: usize,
    seen: &Seen,
    sides: [Side; 2],
) -> Option<[usize; 2]> {
    let numbers = [turns.checked_sub(2)?, turns - 1];
    let one = pieces(execution, numbers[0], seen, &sides[0].1)?;
    let other = pieces(execution, numbers[1], seen, &sides[1].1)?;
    let meet = |[first, second]: &[usize; 2]| {
        let (a, b) = (&seen.events[*first], &seen.events[*second]);
        a.conflicts_with(b) || [a.op(), b.op()].contains(&Op::Free)
    };
    let pairs = one
        .iter()
        .flat_map(|first| other.iter().map(move |second| [*first, *second]));
    pairs.filter(|[first, second]| first < second).find(meet)
}

/// The last events of the trace that are the two sides, if they touch the same memory; the earlier one first.
pub fn latest(seen: &Seen, sides: [Side; 2]) -> Option<[usize; 2]> {
    let last = |(thread, deed): &Side| {
        seen.events.iter().rposition(|event| {
            event.thread().0 == *thread
                && is_like(event.op(), deed.op)
                && seen.place(event.pc()) == Some(deed.pc)
        })
    };
    let [one, other] = [last(&sides[0])?, last(&sides[1])?];
    let pair = [one.min(other), one.max(other)];
    let [a, b] = pair.map(|index| &seen.events[index]);
    a.conflicts_with(b).then_some(pair)
}

/// Which events of the trace are this operation of a transition. A search notes a range as one operation, and a trace has it as several events; so both are
/// read from the end, and each operation takes as many events as it has bytes.
fn pieces(execution: &Execution, number: usize, seen: &Seen, deed: &Deed) -> Option<Vec<usize>> {
    let transition = execution.transitions.get(number)?;
    let thread = transition.thread;
    let is_same = |other: &Deed| other.pc == deed.pc && is_like(other.op, deed.op);
    let own = transition.deeds.iter().position(is_same)?;
    let behind = execution.transitions[number + 1..].iter();
    let behind = behind.filter(|other| other.thread == thread);
    let later = transition.deeds[own..]
        .iter()
        .chain(behind.flat_map(|other| &other.deeds))
        .filter(|other| is_same(other));
    // What is no access (a block that is given back) is one event, whatever its size.
    let size = |other: &Deed| match other.op.is_access() {
        true => u64::from(other.size).max(1),
        false => 1,
    };
    let sizes: Vec<u64> = later.map(size).collect();
    let mut of_place = seen.events.iter().enumerate().rev().filter(|(_, event)| {
        event.thread().0 == thread
            && is_like(event.op(), deed.op)
            && seen.place(event.pc()) == Some(deed.pc)
    });
    let mut found = Vec::new();
    for size in sizes.iter().rev() {
        found.clear();
        let mut bytes = 0;
        while bytes < *size {
            let (index, event) = of_place.next()?;
            bytes += event.size().max(1);
            found.push(index);
        }
    }
    found.reverse();
    Some(found)
}

/// Whether two operations may be the same: what an atomic access does is known only when it is done.
fn is_like(one: Op, other: Op) -> bool {
    one == other || one.is_atomic() && other.is_atomic()
}

/// What the two events are, in words.
pub fn explained(
    path: &Path,
    pair: [usize; 2],
    explain: impl FnOnce(&Explain, [EventIndex; 2]) -> Option<Finding>,
) -> Result<Option<Finding>> {
    let pair = pair.map(|index| EventIndex(index as u64));
    let mut contexts = Contexts::of(pair);
    let mut steps = input::open(path)?;
    let mut index = 0;
    while let Some(step) = steps
        .next_step()
        .map_err(|error| input::broken(path, &error))?
    {
        contexts.step(EventIndex(index), &step);
        index += 1;
    }
    let names = Names::of(steps.tables());
    let with = Explain {
        names: &names,
        tables: steps.tables(),
        contexts: &contexts,
    };
    Ok(explain(&with, pair))
}
