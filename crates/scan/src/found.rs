//! Warnings as people see them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use deadheat_report::{Access, Finding, Frame, Kind, Lock, Memory, Object, Rung, Thread};
use serde::Serialize;

use crate::analysis::Analysis;
use crate::ir::{FunctionId, Mark, PlaceId, Program};
use crate::model::{Mode, Model};
use crate::pairs::{self, Pair, Root, cover, deadlocks};
use crate::path::{Base, PathId, Site};
use crate::rank::{self, Habits};
use crate::state::Held;
use crate::summary::{Deed, What};

/// What a scan has found.
pub struct Scanned {
    /// The warnings, the most urgent first.
    pub findings: Vec<Finding>,
    /// How many were left at each stage.
    pub figures: Figures,
    /// What was not analysed, in words.
    pub left_out: Vec<String>,
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

/// Scans a program.
pub fn scan(program: &Program, model: &Model, roots: &[Root]) -> Scanned {
    let started = Instant::now();
    let functions: Vec<FunctionId> = roots.iter().map(|root| root.function).collect();
    let mut analysis = Analysis::of(program, model, &functions);
    let (pairs, counts) = pairs::find(&mut analysis, roots);
    let covered = cover::covers(&analysis, &pairs);
    let cycles = deadlocks::find(&mut analysis, roots);
    let habits = Habits::of(&mut analysis, roots);
    let mut teller = Teller {
        analysis,
        threads: BTreeMap::new(),
    };
    let mut ranked: Vec<(i32, Finding)> = Vec::new();
    for (pair, covered) in pairs.iter().zip(&covered) {
        let reasons = rank::reasons(&mut teller.analysis, &habits, pair, covered.is_some());
        let mut finding = teller.race(pair);
        finding.reasons = reasons.iter().map(|reason| reason.told.clone()).collect();
        ranked.push((rank::rank(&reasons), finding));
    }
    for cycle in &cycles {
        ranked.push((2, teller.deadlock(cycle)));
    }
    ranked.sort_by(|(left, one), (right, other)| {
        let places = |finding: &Finding| finding.signature.clone();
        right
            .cmp(left)
            .then_with(|| places(one).cmp(&places(other)))
    });
    let mut findings: Vec<Finding> = Vec::new();
    for (_, finding) in ranked {
        match findings.iter_mut().find(|known| known.id == finding.id) {
            Some(known) => known.count += finding.count,
            None => findings.push(finding),
        }
    }
    let figures = Figures {
        functions: program
            .functions
            .iter()
            .filter(|one| one.is_defined())
            .count(),
        shared_variables: teller.variables(&pairs),
        disjoint: counts.disjoint,
        warnings: counts.disjoint - counts.inconsistent - counts.ordered,
        after_reduction: covered.iter().filter(|covered| covered.is_none()).count(),
        after_contexts: findings
            .iter()
            .filter(|finding| finding.kind == Kind::Race)
            .count(),
        deadlocks: cycles.len(),
        seconds: Duration::as_secs_f64(&started.elapsed()),
    };
    Scanned {
        findings,
        figures,
        left_out: teller.left_out(),
    }
}

/// Puts what was found into words.
struct Teller<'a> {
    analysis: Analysis<'a>,
    /// Threads, by the creations that lead to them.
    threads: BTreeMap<Vec<Site>, u32>,
}

impl Teller<'_> {
    /// How many variables the pairs are about.
    fn variables(&mut self, pairs: &[Pair]) -> usize {
        let mut names: Vec<String> = pairs.iter().map(|pair| self.variable(pair)).collect();
        names.sort();
        names.dedup();
        names.len()
    }

    fn variable(&mut self, pair: &Pair) -> String {
        let known = pair.deeds.iter().filter_map(|deed| deed.path);
        // A global's name says more than a pointer's.
        let best = known.min_by_key(|path| {
            let base = self.analysis.paths.origin(*path);
            let order = match base {
                Base::Global(_) => 0,
                Base::Local(..) | Base::Heap(_) | Base::Given(_) => 1,
                _ => 2,
            };
            (self.analysis.paths.loads(*path), order)
        });
        best.map_or_else(|| "memory".to_owned(), |path| self.analysis.name(path))
    }

    fn race(&mut self, pair: &Pair) -> Finding {
        let name = self.variable(pair);
        let accesses = pair.deeds.iter().map(|deed| self.access(deed)).collect();
        let mut finding = Finding::new(Kind::Race, Rung::Warning, "scan", accesses);
        let size = pair.deeds.iter().map(|deed| match deed.what {
            What::Access { size, .. } => size,
            _ => 0,
        });
        let known = pair.deeds.iter().find_map(|deed| deed.path);
        finding.count = pair.contexts as u64;
        finding.object = Some(Object {
            name,
            address: 0,
            size: size.min().unwrap_or(0),
            memory: known.map_or(Memory::Unknown, |path| self.memory(path)),
        });
        finding
    }

    fn memory(&self, path: PathId) -> Memory {
        match self.analysis.paths.origin(path) {
            Base::Global(global) if !self.analysis.paths.loads(path) => {
                let global = self.analysis.program.global(global);
                Memory::Global {
                    variable: global.shown.clone(),
                    offset: 0,
                    declared: global.place.map(|place| self.analysis.told(place)),
                }
            }
            _ => Memory::Unknown,
        }
    }

    fn deadlock(&mut self, cycle: &deadlocks::Cycle) -> Finding {
        let accesses = cycle.deeds.iter().map(|deed| self.access(deed)).collect();
        Finding::new(Kind::Deadlock, Rung::Warning, "scan", accesses)
    }

    fn access(&mut self, deed: &Deed) -> Access {
        let stack = self.stack(deed);
        let (op, size) = match deed.what {
            What::Access { writes, size, mark } => {
                let kind = match writes {
                    true => "write",
                    false => "read",
                };
                let op = match mark {
                    Mark::Plain => kind.to_owned(),
                    Mark::Volatile => format!("volatile {kind}"),
                    Mark::Atomic => format!("atomic {kind}"),
                };
                (op, size)
            }
            _ => ("lock".to_owned(), 0),
        };
        let waits_for = match deed.what {
            What::Lock(mode) => deed.path.map(|path| Lock {
                name: self.analysis.name(path),
                address: 0,
                read: mode == Mode::Read,
                acquired_at: Vec::new(),
            }),
            _ => None,
        };
        Access {
            thread: self.thread(&deed.chain),
            op,
            size,
            address: 0,
            place: deadheat_report::own_place(&stack),
            stack,
            folded: false,
            locks: deed.held.iter().map(|held| self.lock(held)).collect(),
            waits_for,
            index: None,
        }
    }

    fn lock(&self, held: &Held) -> Lock {
        Lock {
            name: self.analysis.name(held.lock),
            address: 0,
            read: held.mode == Mode::Read,
            acquired_at: self.frames(held.at),
        }
    }

    fn thread(&mut self, chain: &[Site]) -> Thread {
        let next = self.threads.len() as u32;
        let number = match chain {
            [] => 0,
            _ => *self.threads.entry(chain.to_vec()).or_insert(next + 1),
        };
        let parent = match chain {
            [] => None,
            [.., _] => {
                let before = &chain[..chain.len() - 1];
                Some(self.threads.get(before).copied().unwrap_or(0))
            }
        };
        Thread {
            number,
            name: format!("T{number}"),
            parent,
            created_at: chain
                .last()
                .map_or_else(Vec::new, |site| self.frames(*site)),
        }
    }

    /// The functions of the deed's thread, innermost first.
    fn stack(&self, deed: &Deed) -> Vec<Frame> {
        let mut frames = self.frames(deed.site);
        let created = deed.chain.last();
        for site in deed.calls.iter().rev() {
            if Some(site) == created {
                break;
            }
            frames.extend(self.frames(*site));
        }
        frames
    }

    /// A statement, with what was inlined there.
    fn frames(&self, site: Site) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut at: Option<PlaceId> = self.analysis.place(site);
        let program = self.analysis.program;
        while let Some(place) = at {
            let place = &program.places[place.index()];
            at = place.inlined_at;
            let own = Some(program.function(site.function).shown.clone());
            frames.push(Frame {
                function: place.function.clone().or(own),
                file: Some(program.files[place.file.index()].clone()),
                line: (place.line > 0).then_some(place.line),
                column: (place.column > 0).then_some(place.column),
                inlined: at.is_some(),
                ..Frame::default()
            });
        }
        if frames.is_empty() {
            frames.push(Frame {
                function: Some(program.function(site.function).shown.clone()),
                ..Frame::default()
            });
        }
        frames
    }

    /// What was not analysed.
    fn left_out(&self) -> Vec<String> {
        let program = self.analysis.program;
        let mut all: Vec<String> = program.unread.clone();
        let name = |id: &FunctionId| program.function(*id).shown.clone();
        let mut unknown: Vec<String> = self.analysis.unknown.keys().map(name).collect();
        unknown.sort();
        if !unknown.is_empty() {
            let listed = unknown.join(", ");
            all.push(format!(
                "functions without a body, and not in any model: {listed}"
            ));
        }
        let calls = self.analysis.unresolved.len();
        if calls > 0 {
            all.push(format!(
                "{calls} calls through pointers, or assembly, of which nobody knows what they do"
            ));
        }
        let mut cut: Vec<String> = self.analysis.cut.iter().map(name).collect();
        cut.sort();
        if !cut.is_empty() {
            all.push(format!(
                "too much is done in: {}; what is known of its contexts was put together",
                cut.join(", ")
            ));
        }
        all
    }
}
