//! All schedules of a program from its beginning: races, deadlocks, crashes, failures and hangs among them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use deadheat_explore::search::{Ending, Goal, Manner, Outcome, Search};
use deadheat_report::Finding;
use deadheat_trace::Tables;
use deadheat_wire::explore::effect;

use super::assumptions;
use super::copies::Copies;
use super::ends::{self, Ends};
use super::evidence::{self, Archive, Evidence};
use super::limits::Limits;
use super::told::Shown;
use crate::again::Again;
use crate::assembly::Assembly;
use crate::error::Result;
use crate::progress::Counted;
use crate::signals;
use crate::store::info::Ended;
use crate::unseen_calls::UnseenCalls;

/// How many ends at the same places are recorded.
const ALIKE: usize = 6;

/// What came of a search.
pub struct Explored {
    /// What was found and confirmed.
    pub findings: Vec<Finding>,
    /// What the search says.
    pub outcome: Outcome,
    /// How long it took, without confirming.
    pub took: Duration,
    /// Whether executions were copies.
    pub is_copied: bool,
    /// What the program wants from the world outside.
    pub effects: u32,
    /// What was found and did not show again.
    pub unsettled: Vec<String>,
}

/// Searches. `usual`: how the program ends if its threads run one after the other; an exit code that it has then is no failure.
pub fn explore(
    again: &Again,
    tables: &Tables,
    usual: Option<Ended>,
    archive: &Archive,
    limits: &Limits,
) -> Result<Explored> {
    let search = limits.search(Goal::Everything, Manner::default(), limits.time());
    let all = |snapshots: bool| {
        let copies = Copies::new(again, tables, None, snapshots)?;
        self::search(copies, tables, usual, archive, &search)
    };
    let explored = all(limits.snapshots())?;
    // Copies would have in common what is in the kernel: each run has its own from the beginning.
    match explored.is_copied && explored.effects & effect::SHARING != 0 {
        true => all(false),
        false => Ok(explored),
    }
}

/// Searches among copies of the program that stand at its beginning.
pub fn search(
    mut copies: Copies,
    tables: &Tables,
    usual: Option<Ended>,
    archive: &Archive,
    search: &Search,
) -> Result<Explored> {
    let mut shown = Shown::new();
    let started = std::time::Instant::now();
    let mut outcome = search.run(
        &mut copies,
        || started.elapsed(),
        |progress| {
            shown.update(progress);
            !signals::is_stopped()
        },
    )?;
    outcome.cuts.extend(copies.left_out());
    outcome.cuts.extend(assumptions::not_met(tables));
    let mut explored = Explored {
        findings: Vec::new(),
        took: shown.elapsed(),
        is_copied: copies.is_copied,
        effects: copies.effects,
        unsettled: Vec::new(),
        outcome,
    };
    drop(shown);
    let mut known: BTreeSet<Vec<String>> = BTreeSet::new();
    let outcome = &explored.outcome;
    let assembly = match outcome.races.is_empty() && outcome.unordered.is_empty() {
        true => None,
        false => Assembly::of(tables),
    };
    let count = outcome.races.len() + outcome.unordered.len() + outcome.bad_ends.len();
    let mut progress = Counted::new("confirming what was found", count as u64);
    for race in &explored.outcome.races {
        progress.advance();
        if signals::is_stopped() {
            break;
        }
        let mut places = vec![
            copies.told(race.first.site()),
            copies.told(race.second.site()),
        ];
        places.sort();
        if known.contains(&places) {
            continue;
        }
        let sides = [
            (race.first_thread, race.first),
            (race.second_thread, race.second),
        ];
        let found = evidence::race(&mut copies, archive, &race.turns, sides, &search.manner)?;
        match found {
            Evidence::Found(finding) => {
                known.insert(places);
                match &assembly {
                    Some(assembly) if assembly.may_order(&finding) => {
                        left_open(&mut explored.unsettled, &finding, assembly);
                    }
                    _ => add(&mut explored.findings, *finding),
                }
            }
            // What the search has concluded, and the program does not do, is no race. Another pair of accesses of these lines may be one.
            Evidence::Unseen | Evidence::Gone => {}
        }
    }
    for race in &explored.outcome.unordered {
        progress.advance();
        if signals::is_stopped() {
            break;
        }
        let mut places = vec![
            copies.told(race.first.site()),
            copies.told(race.second.site()),
        ];
        places.sort();
        if known.contains(&places) {
            continue;
        }
        let found = evidence::unordered(&mut copies, archive, race, &search.manner)?;
        // A finding stands for all accesses of its lines, as `x += 1` has two: if it is not about these, it is about the next.
        if let Evidence::Found(finding) = found {
            known.insert(places);
            match &assembly {
                Some(assembly) => left_open(&mut explored.unsettled, &finding, assembly),
                None => add(&mut explored.findings, *finding),
            }
        }
    }
    let mut ends: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for end in &explored.outcome.bad_ends {
        progress.advance();
        if signals::is_stopped() {
            break;
        }
        let what = match end.ending {
            Ending::Exited(code) if usual == Some(Ended::Exit(code)) && end.named.is_none() => {
                continue;
            }
            Ending::Exited(code) => format!("exit code {code}"),
            Ending::Killed(signal) => format!("signal {signal}"),
            Ending::Deadlock => "deadlock".to_owned(),
            Ending::Livelock => "threads that wait in loops for ever".to_owned(),
            _ => "an execution that does not end".to_owned(),
        };
        let places = end.places.iter().map(|(_, site)| copies.told(*site));
        let mut key: Vec<String> = match &end.named {
            Some(named) => vec![named.clone()],
            None => places.collect(),
        };
        key.sort();
        let at = key.join(" and ");
        key.push(what.clone());
        // Waits inside of one function of a library look the same wherever it was called from: a few are told apart by running them.
        let tried = ends.entry(key).or_insert(0);
        *tried += 1;
        if *tried > ALIKE {
            continue;
        }
        let lasts = end.ending == Ending::Livelock;
        let found = match end.ending {
            Ending::Hung => Ends::default(),
            _ => ends::failure(&mut copies, archive, &end.turns, &search.manner, lasts)?,
        };
        let unsettled = format!("{what} at {at}");
        if !found.is_named && !explored.unsettled.contains(&unsettled) {
            explored.unsettled.push(unsettled);
        }
        for finding in found.findings {
            add(&mut explored.findings, finding);
        }
    }
    if let Some(calls) = UnseenCalls::anywhere(tables) {
        calls.take_back(&mut explored.findings, true);
    }
    Ok(explored)
}

/// Lists a race that assembly may order among what is not confirmed.
fn left_open(unsettled: &mut Vec<String>, finding: &Finding, assembly: &Assembly) {
    let sides: Vec<String> = finding.accesses.iter().map(|a| a.place.told()).collect();
    let at = assembly.told();
    let what = format!(
        "race at {}, which assembly at {at} may order",
        sides.join(" and ")
    );
    if !unsettled.contains(&what) {
        unsettled.push(what);
    }
}

/// Adds a finding, unless it is known by its places.
fn add(findings: &mut Vec<Finding>, finding: Finding) {
    match findings.iter_mut().find(|known| known.id == finding.id) {
        Some(known) if known.rung < finding.rung => *known = finding,
        Some(_) => {}
        None => findings.push(finding),
    }
}
