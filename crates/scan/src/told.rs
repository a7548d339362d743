//! What was found, in words: variables, threads, stacks and locks by the names that people give them.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_report::{
    Access, Finding, Frame, Kind, Lock, Memory, Object, Rung, Thread, is_foreign_file,
};

use crate::analysis::Analysis;
use crate::ir::{Mark, PlaceId};
use crate::model::Mode;
use crate::pairs::{Pair, deadlocks};
use crate::path::{Base, PathId, Site};
use crate::state::Held;
use crate::summary::{Deed, What};

/// Puts what was found into words.
pub struct Teller<'a> {
    /// What is known of the program.
    pub analysis: Analysis<'a>,
    /// Threads, by the creations that lead to them.
    threads: BTreeMap<Vec<Site>, u32>,
}

impl<'a> Teller<'a> {
    /// Tells what this analysis has found.
    pub fn new(analysis: Analysis<'a>) -> Self {
        Teller {
            analysis,
            threads: BTreeMap::new(),
        }
    }

    /// How many variables the pairs are about: global variables, and members of structures by their types.
    pub fn variables(&mut self, pairs: &[Pair]) -> usize {
        let names = pairs.iter().map(|pair| {
            let member = pair.deeds.iter().find_map(|deed| self.member(deed));
            let is_global = pair.deeds.iter().any(|deed| {
                let origin = deed.path.map(|path| self.analysis.paths.origin(path));
                matches!(origin, Some(Base::Global(_)))
            });
            match member {
                Some(member) if !is_global => member,
                _ => self.variable(pair),
            }
        });
        let names: BTreeSet<String> = names.collect();
        names.len()
    }

    /// The member that an access is of, by its type: `account.balance`.
    fn member(&self, deed: &Deed) -> Option<String> {
        let What::Access { writes, .. } = deed.what else {
            return None;
        };
        let members = &self.analysis.members;
        let member = members.at(deed.site, writes)?;
        members.name(self.analysis.program, member)
    }

    /// What the accesses of a pair are of.
    pub fn variable(&self, pair: &Pair) -> String {
        let known = pair.deeds.iter().filter_map(|deed| {
            let size = match deed.what {
                What::Access { size, .. } => size,
                _ => 0,
            };
            Some((deed.path?, size, deed))
        });
        // A global's name says more than a pointer's.
        let best = known.min_by_key(|(path, _, _)| {
            let base = self.analysis.paths.origin(*path);
            let order = match base {
                Base::Global(_) => 0,
                Base::Local(..) | Base::Heap(_) | Base::Given(_) => 1,
                _ => 2,
            };
            (self.analysis.paths.loads(*path), order)
        });
        let Some((path, size, deed)) = best else {
            let mut members = pair.deeds.iter().filter_map(|deed| self.member(deed));
            return members.next().unwrap_or_else(|| "memory".to_owned());
        };
        let name = self.analysis.access_name(path, size);
        // Where a path ends in something that no pointer's type tells of, the access's own type does.
        let is_bare = self.analysis.model.has_types() && name.starts_with('*');
        match is_bare || name.contains('+') {
            true => self.member(deed).unwrap_or(name),
            false => name,
        }
    }

    /// A pair as a finding.
    pub fn race(&mut self, pair: &Pair) -> Finding {
        let name = self.variable(pair);
        let accesses = self.accesses(pair.deeds.iter().map(|deed| &**deed));
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

    /// A cycle as a finding.
    pub fn deadlock(&mut self, cycle: &deadlocks::Cycle) -> Finding {
        let accesses = self.accesses(cycle.deeds.iter().map(|deed| &**deed));
        Finding::new(Kind::Deadlock, Rung::Warning, "scan", accesses)
    }

    /// All sides of a finding.
    fn accesses<'d>(&mut self, deeds: impl Iterator<Item = &'d Deed>) -> Vec<Access> {
        let mut all: Vec<Access> = Vec::new();
        for deed in deeds {
            let mut access = self.access(deed);
            let number = access.thread.number;
            // Threads that are created at the same place have one name.
            if all.iter().any(|other| other.thread.number == number) {
                access.thread.name = format!("another {}", access.thread.name);
            }
            all.push(access);
        }
        all
    }

    /// One side of a finding.
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
                name: self.analysis.lock_name(path),
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
            locks: deed
                .moment
                .held
                .iter()
                .map(|held| self.lock(held))
                .collect(),
            waits_for,
            index: None,
        }
    }

    /// A lock that is held.
    fn lock(&self, held: &Held) -> Lock {
        let name = self.analysis.lock_name(held.lock);
        let member = self.analysis.members.at(held.at, false);
        let place = member.and_then(|member| member.outermost());
        let has_classes = self.analysis.model.has_lock_classes();
        Lock {
            name: match place {
                Some((layout, offset)) if has_classes && name.contains(['*', '+']) => {
                    self.analysis.program.member_name(layout, offset)
                }
                _ => name,
            },
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
        let calls: Vec<&Site> = deed.calls.iter().collect();
        for site in calls.into_iter().rev() {
            if Some(site) == created {
                break;
            }
            frames.extend(self.frames(*site));
        }
        frames
    }

    /// A statement, with what was inlined there.
    pub fn frames(&self, site: Site) -> Vec<Frame> {
        let mut frames = Vec::new();
        let mut at: Option<PlaceId> = self.analysis.place(site);
        let program = self.analysis.program;
        while let Some(place) = at {
            let place = &program.places[place.index()];
            at = place.inlined_at;
            let file = &program.files[place.file.index()];
            let own = Some(program.function(site.function).shown.clone());
            frames.push(Frame {
                function: place.function.clone().or(own),
                file: Some(file.clone()),
                line: (place.line > 0).then_some(place.line),
                column: (place.column > 0).then_some(place.column),
                inlined: at.is_some(),
                foreign: is_foreign_file(file),
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
}
