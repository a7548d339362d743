//! All that a scan does, from a program to its warnings.

use std::time::{Duration, Instant};

use deadheat_report::{Finding, Kind};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::analysis::Analysis;
use crate::explain;
use crate::habits::Habits;
use crate::ir::{FunctionId, Program};
use crate::left_out::{self, LeftOut};
use crate::model::Model;
use crate::pairs::{self, Counts, Done, Pair, Root, Wanted, deadlocks};
use crate::rank::{self, Reason};
use crate::told::Teller;
use crate::unshared::{self, Unshared};

/// What a scan has found.
pub struct Scanned {
    /// The warnings, the most urgent first.
    pub findings: Vec<Finding>,
    /// How many were left at each stage.
    pub figures: Figures,
    /// What was not analysed.
    pub left_out: Vec<LeftOut>,
    /// Functions that touch nothing of another thread's.
    pub unshared: Vec<Unshared>,
}

/// How many there were at each stage, as in the paper's table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figures {
    /// Functions with a body.
    pub functions: usize,
    /// Variables that several threads can reach and that are written, by their names.
    pub shared_variables: usize,
    /// Pairs of accesses with disjoint locksets, in all contexts.
    pub disjoint: usize,
    /// Those that remain when histories of locks are compared, and what orders threads: the warnings.
    pub warnings: usize,
    /// Those that no other warning covers.
    pub after_reduction: usize,
    /// Without contexts: one for each place, or one for each two if all pairs are wanted.
    pub after_contexts: usize,
    /// Possible deadlocks.
    pub deadlocks: usize,
    /// How long that took, without the compiler.
    pub seconds: f64,
}

/// A program that was scanned, with all that is known of it.
pub struct Scan<'a> {
    teller: Teller<'a>,
    roots: &'a [Root],
    pairs: Vec<Pair>,
    cycles: Vec<deadlocks::Cycle>,
    done: Vec<Done>,
    wanted: Wanted,
    habits: Habits,
    counts: Counts,
    time: Duration,
}

/// Scans a program.
pub fn scan(program: &Program, model: &Model, roots: &[Root]) -> Scanned {
    Scan::of(program, model, roots, Wanted::All).scanned()
}

/// What a deadlock's locks say for it.
const OF_DEADLOCK: i32 = 2;

impl<'a> Scan<'a> {
    /// Looks for what may go wrong.
    pub fn of(program: &'a Program, model: &'a Model, roots: &'a [Root], wanted: Wanted) -> Self {
        let started = Instant::now();
        let functions: Vec<FunctionId> = roots.iter().map(|root| root.function).collect();
        let mut analysis = Analysis::of(program, model, &functions);
        let done = pairs::all(&mut analysis, roots);
        let (pairs, counts) = pairs::find(&mut analysis, &done, wanted);
        let cycles = deadlocks::find(&mut analysis, &done);
        let habits = Habits::of(&mut analysis, &done);
        Scan {
            teller: Teller::new(analysis),
            roots,
            pairs,
            cycles,
            done,
            wanted,
            habits,
            counts,
            time: started.elapsed(),
        }
    }

    /// The warnings: of pairs one for each two places, or so many that each place is in one.
    pub fn scanned(&mut self) -> Scanned {
        let started = Instant::now();
        let mut ranked: Vec<(i32, Finding)> = Vec::new();
        for number in self.chosen() {
            let reasons = self.reasons(number);
            let mut finding = self.teller.race(&self.pairs[number]);
            finding.reasons = reasons.iter().map(|reason| reason.told.clone()).collect();
            ranked.push((rank::rank(&reasons), finding));
        }
        for cycle in &self.cycles {
            ranked.push((OF_DEADLOCK, self.teller.deadlock(cycle)));
        }
        ranked.sort_by(|(left, one), (right, other)| {
            right
                .cmp(left)
                .then_with(|| one.signature.cmp(&other.signature))
        });
        let mut findings: Vec<Finding> = Vec::new();
        let mut known: FxHashMap<String, usize> = FxHashMap::default();
        for (_, finding) in ranked {
            match known.get(&finding.id) {
                Some(known) => findings[*known].count += finding.count,
                None => {
                    known.insert(finding.id.clone(), findings.len());
                    findings.push(finding);
                }
            }
        }
        if self.wanted == Wanted::EachPlace {
            let mut named = FxHashSet::default();
            findings.retain(|finding| tells_new_place(finding, &mut named));
        }
        let warnings = self.counts.disjoint - self.counts.inconsistent - self.counts.ordered;
        let functions = &self.teller.analysis.program.functions;
        let figures = Figures {
            functions: functions.iter().filter(|one| one.is_defined()).count(),
            shared_variables: self.teller.variables(&self.pairs),
            disjoint: self.counts.disjoint,
            warnings,
            after_reduction: warnings - self.counts.covered,
            after_contexts: findings
                .iter()
                .filter(|finding| finding.kind == Kind::Race)
                .count(),
            deadlocks: self.cycles.len(),
            seconds: (self.time + started.elapsed()).as_secs_f64(),
        };
        Scanned {
            findings,
            figures,
            left_out: left_out::of(&self.teller.analysis, &self.counts),
            unshared: unshared::of(&mut self.teller.analysis),
        }
    }

    /// The pairs that are told: all, or the first by rank that have a statement that none before them has.
    fn chosen(&mut self) -> Vec<usize> {
        let all = 0..self.pairs.len();
        if self.wanted == Wanted::All {
            return all.collect();
        }
        let open = all.filter(|number| !self.pairs[*number].is_covered);
        let mut ranked: Vec<(i32, usize)> = open.map(|number| (0, number)).collect();
        for (rank, number) in &mut ranked {
            *rank = -rank::rank(&self.reasons(*number));
        }
        ranked.sort_unstable();
        let mut named = FxHashSet::default();
        let mut is_new = |number: &usize| {
            let [one, other] = &self.pairs[*number].deeds;
            let new = [one, other].map(|deed| named.insert((deed.site, deed.what)));
            new[0] || new[1]
        };
        let numbers = ranked.into_iter().map(|(_, number)| number);
        numbers.filter(|number| is_new(number)).collect()
    }

    fn reasons(&mut self, pair: usize) -> Vec<Reason> {
        rank::reasons(&mut self.teller.analysis, &self.habits, &self.pairs[pair])
    }

    /// Everything about one warning; `None` if no warning has that name.
    pub fn explain(&mut self, id: &str) -> Option<String> {
        for number in 0..self.pairs.len() {
            let finding = self.teller.race(&self.pairs[number]);
            if finding.id == id {
                let reasons = self.reasons(number);
                let pair = self.pairs[number].clone();
                let known = (self.roots, &self.done[..]);
                let told = explain::race(&mut self.teller, known, &pair, &finding, &reasons);
                return Some(told);
            }
        }
        for cycle in &self.cycles {
            let finding = self.teller.deadlock(cycle);
            if finding.id == id {
                return Some(explain::deadlock(&mut self.teller, cycle, &finding));
            }
        }
        None
    }
}

/// Whether a warning has an access that none before it has.
fn tells_new_place(finding: &Finding, named: &mut FxHashSet<(String, String)>) -> bool {
    let mut is_new = finding.kind != Kind::Race;
    for access in &finding.accesses {
        is_new |= named.insert((access.op.clone(), access.place.at()));
    }
    is_new
}
