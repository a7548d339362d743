//! What a search has concluded, settled: everything becomes a finding, or is listed as unconfirmed.
//!
//! A search says of a schedule what would happen in it; a finding is what the program does when it
//! is run. What does not happen then is no finding. But it is no proof either that there is
//! nothing: so it is listed, and nobody says that all orders were seen and are free of it. Only
//! what certainly is none is dropped: see [`Evidence`].

use std::collections::{BTreeMap, BTreeSet};

use deadheat_analysis::assembly::Assembly;
use deadheat_explore::search::{BadEnd, Cut, DataRace, Ending, Manner, Outcome};
use deadheat_report::{Finding, Rung};
use deadheat_run::store::info::Ended;
use deadheat_session::error::Result;
use deadheat_session::progress::Counted;
use deadheat_session::signals;
use deadheat_trace::Tables;

use super::copies::Copies;
use super::ends::{self, Ends};
use super::evidence::{self, Archive, Evidence};
use super::unordered;

/// How many ends at the same places are recorded.
const ALIKE: usize = 6;

/// What became of it all.
pub struct Concluded {
    /// What was confirmed.
    pub findings: Vec<Finding>,
    /// What was not.
    pub unsettled: Vec<String>,
}

/// Records and enforces what a search has found. `usual`: an exit code that is no failure.
pub fn settle(
    copies: &mut Copies,
    tables: &Tables,
    usual: Option<Ended>,
    archive: &Archive,
    manner: &Manner,
    outcome: &Outcome,
) -> Result<Concluded> {
    let assembly = match outcome.races.is_empty() && outcome.unordered.is_empty() {
        true => None,
        false => Assembly::of(tables),
    };
    let is_uninstrumented = |cut: &Cut| matches!(cut, Cut::Uninstrumented(_));
    let count = outcome.races.len() + outcome.unordered.len() + outcome.bad_ends.len();
    let mut conclusions = Conclusions {
        copies,
        archive,
        manner,
        assembly,
        names_uninstrumented: outcome.cuts.iter().any(is_uninstrumented),
        progress: Counted::new("confirming what was found", count as u64),
        known: BTreeSet::new(),
        open: BTreeSet::new(),
        findings: Vec::new(),
        unsettled: Vec::new(),
    };
    for race in &outcome.races {
        conclusions.race(race, true)?;
    }
    for race in &outcome.unordered {
        conclusions.race(race, false)?;
    }
    conclusions.races_left();
    conclusions.ends(&outcome.bad_ends, usual)?;
    Ok(Concluded {
        findings: conclusions.findings,
        unsettled: conclusions.unsettled,
    })
}

struct Conclusions<'a, 'b> {
    copies: &'a mut Copies<'b>,
    archive: &'a Archive<'a>,
    manner: &'a Manner,
    assembly: Option<Assembly>,
    /// Code without hooks is named as left out.
    names_uninstrumented: bool,
    progress: Counted,
    /// Places of races that were confirmed.
    known: BTreeSet<Vec<String>>,
    /// Places of races that were not.
    open: BTreeSet<Vec<String>>,
    findings: Vec<Finding>,
    unsettled: Vec<String>,
}

impl Conclusions<'_, '_> {
    /// A race that some run has side by side, or that only nothing orders.
    fn race(&mut self, race: &DataRace, is_side_by_side: bool) -> Result<()> {
        self.progress.advance();
        let sites = [race.first.site(), race.second.site()];
        let mut places = sites.map(|site| self.copies.told(site)).to_vec();
        places.sort();
        if self.known.contains(&places) {
            return Ok(());
        }
        if signals::is_stopped() {
            self.open.insert(places);
            return Ok(());
        }
        let found = match is_side_by_side {
            true => {
                let sides = [
                    (race.first_thread, race.first),
                    (race.second_thread, race.second),
                ];
                evidence::race(self.copies, self.archive, &race.turns, sides, self.manner)?
            }
            false => unordered::unordered(self.copies, self.archive, race, self.manner)?,
        };
        match found {
            Evidence::Found(finding) if finding.rung > Rung::Warning => {
                let in_doubt = self.assembly.as_ref();
                // What happens without being side by side is not shown where assembly may order it.
                let in_doubt = in_doubt.filter(|one| !is_side_by_side || one.may_order(&finding));
                match in_doubt.map(|assembly| left_open(&finding, assembly)) {
                    Some(told) => self.list(told),
                    None => add(&mut self.findings, *finding),
                }
                self.known.insert(places);
            }
            Evidence::Unseen if self.names_uninstrumented => {}
            Evidence::Ordered => {}
            // Another pair of accesses of these lines may be a finding.
            Evidence::Found(_) | Evidence::Unseen | Evidence::Gone => {
                self.open.insert(places);
            }
        }
        Ok(())
    }

    /// Lists the races of which nothing came.
    fn races_left(&mut self) {
        for places in std::mem::take(&mut self.open) {
            if !self.known.contains(&places) {
                self.list(format!("race at {}", places.join(" and ")));
            }
        }
    }

    /// Ends that a program should not come to.
    fn ends(&mut self, ends: &[BadEnd], usual: Option<Ended>) -> Result<()> {
        // How often ends at the same places were recorded, and whether a finding has all of these.
        let mut tried: BTreeMap<(String, Vec<String>), (usize, bool)> = BTreeMap::new();
        for end in ends {
            self.progress.advance();
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
            let mut places: Vec<String> = match &end.named {
                Some(named) => vec![named.clone()],
                None => {
                    let sites = end.places.iter();
                    sites.map(|(_, site)| self.copies.told(*site)).collect()
                }
            };
            places.sort();
            let told = format!("{what} at {}", places.join(" and "));
            let (times, is_told) = tried.entry((what, places.clone())).or_default();
            // Waits inside of one function of a library may look the same wherever it was called
            // from: a few are told apart by running them.
            if *times == ALIKE || signals::is_stopped() {
                if !*is_told {
                    self.list(told);
                }
                continue;
            }
            *times += 1;
            let lasts = end.ending == Ending::Livelock;
            let found = match end.ending {
                Ending::Hung => Ends::default(),
                _ => ends::failure(self.copies, self.archive, &end.turns, self.manner, lasts)?,
            };
            *is_told |= found.is_named && found.findings.iter().any(|one| is_at(one, &places));
            if !found.is_named {
                self.list(told);
            }
            for finding in found.findings {
                add(&mut self.findings, finding);
            }
        }
        Ok(())
    }

    fn list(&mut self, told: String) {
        if !self.unsettled.contains(&told) {
            self.unsettled.push(told);
        }
    }
}

/// Whether a finding is about all of these places, which are sorted, and no others.
fn is_at(finding: &Finding, places: &[String]) -> bool {
    let accesses = finding.accesses.iter();
    let mut own: Vec<String> = accesses.map(|access| access.place.told()).collect();
    own.sort();
    own == places
}

/// A race that assembly may order, for people.
fn left_open(finding: &Finding, assembly: &Assembly) -> String {
    let sides: Vec<String> = finding.accesses.iter().map(|a| a.place.told()).collect();
    let (sides, at) = (sides.join(" and "), assembly.told());
    format!("race at {sides}, which assembly at {at} may order")
}

/// Adds a finding, unless it is known by its places.
fn add(findings: &mut Vec<Finding>, finding: Finding) {
    match findings.iter_mut().find(|known| known.id == finding.id) {
        Some(known) if known.rung < finding.rung => *known = finding,
        Some(_) => {}
        None => findings.push(finding),
    }
}
