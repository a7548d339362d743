//! All that a scan does, from a program to its warnings.

use std::time::{Duration, Instant};

use deadheat_report::{Finding, Kind};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::analysis::Analysis;
use crate::explain;
use crate::habits::Habits;
use crate::ir::{FunctionId, Program};
use crate::left_out::{self, LeftOut};
use crate::model::Model;
use crate::pairs::{self, Counts, Pair, Root, cover, deadlocks};
use crate::rank::{self, Reason};
use crate::told::Teller;

/// What a scan has found.
pub struct Scanned {
    /// The warnings, the most urgent first.
    pub findings: Vec<Finding>,
    /// How many were left at each stage.
    pub figures: Figures,
    /// What was not analysed.
    pub left_out: Vec<LeftOut>,
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
    /// One for each two places.
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
    covered: Vec<Option<usize>>,
    habits: Habits,
    counts: Counts,
    time: Duration,
}

/// Scans a program.
pub fn scan(program: &Program, model: &Model, roots: &[Root]) -> Scanned {
    Scan::of(program, model, roots).scanned()
}

/// What a deadlock's locks say for it.
const OF_DEADLOCK: i32 = 2;

impl<'a> Scan<'a> {
    /// Looks for what may go wrong.
    pub fn of(program: &'a Program, model: &'a Model, roots: &'a [Root]) -> Self {
        let started = Instant::now();
        let functions: Vec<FunctionId> = roots.iter().map(|root| root.function).collect();
        let mut analysis = Analysis::of(program, model, &functions);
        let (pairs, counts) = pairs::find(&mut analysis, roots);
        let covered = cover::covers(&analysis, &pairs);
        let cycles = deadlocks::find(&mut analysis, roots);
        let habits = Habits::of(&mut analysis, roots);
        Scan {
            teller: Teller::new(analysis),
            roots,
            pairs,
            cycles,
            covered,
            habits,
            counts,
            time: started.elapsed(),
        }
    }

    /// The warnings, one for each two places.
    pub fn scanned(&mut self) -> Scanned {
        let started = Instant::now();
        let mut ranked: Vec<(i32, Finding)> = Vec::new();
        for number in 0..self.pairs.len() {
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
        let functions = &self.teller.analysis.program.functions;
        let figures = Figures {
            functions: functions.iter().filter(|one| one.is_defined()).count(),
            shared_variables: self.teller.variables(&self.pairs),
            disjoint: self.counts.disjoint,
            warnings: self.counts.disjoint - self.counts.inconsistent - self.counts.ordered,
            after_reduction: self.covered.iter().filter(|one| one.is_none()).count(),
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
            left_out: left_out::of(&self.teller.analysis),
        }
    }

    fn reasons(&mut self, pair: usize) -> Vec<Reason> {
        let covered = self.covered[pair].is_some();
        let pair = &self.pairs[pair];
        rank::reasons(&mut self.teller.analysis, &self.habits, pair, covered)
    }

    /// Everything about one warning; `None` if no warning has that name.
    pub fn explain(&mut self, id: &str) -> Option<String> {
        for number in 0..self.pairs.len() {
            let finding = self.teller.race(&self.pairs[number]);
            if finding.id == id {
                let reasons = self.reasons(number);
                let pair = self.pairs[number].clone();
                let told = explain::race(&mut self.teller, self.roots, &pair, &finding, &reasons);
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
