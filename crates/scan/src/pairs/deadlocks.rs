//! Possible deadlocks: cycles in the order in which threads take locks, that no common lock guards.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::analysis::Analysis;
use crate::model::Mode;
use crate::path::{Base, PathId};
use crate::summary::{Deed, What};

use super::protect::{Order, order};
use super::threads::{Together, together};
use super::{Done, same_lock};

/// Threads that may wait for each other: each holds a lock, and takes the next one's.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// Where each takes the next one's lock.
    pub deeds: Vec<Rc<Deed>>,
    /// The lock that each holds.
    pub holds: Vec<PathId>,
}

/// How many threads a cycle may have.
const LONGEST: usize = 5;
/// How many steps of the search there are, at most.
const STEPS: usize = 200_000;

/// One lock is taken while another is held.
struct Edge {
    root: usize,
    deed: Rc<Deed>,
    from: PathId,
    to: PathId,
    mode: (Mode, Mode),
}

/// All cycles of up to five locks; one for each set of statements.
pub fn find(analysis: &mut Analysis, done: &[Done]) -> Vec<Cycle> {
    let mut edges = Vec::new();
    for (root, done) in done.iter().enumerate() {
        for deed in &done.locks {
            let (What::Lock(mode), Some(to)) = (deed.what, deed.path) else {
                continue;
            };
            let to = analysis.paths.plain(to);
            for held in &deed.moment.held {
                let from = analysis.paths.plain(held.lock);
                if from != to {
                    edges.push(Edge {
                        root,
                        deed: Rc::clone(deed),
                        from,
                        to,
                        mode: (held.mode, mode),
                    });
                }
            }
        }
    }
    let mut onward: FxHashMap<PathId, Vec<usize>> = FxHashMap::default();
    for (number, edge) in edges.iter().enumerate() {
        onward.entry(edge.from).or_default().push(number);
    }
    let mut search = Search {
        edges: &edges,
        onward,
        done,
        steps: 0,
        found: Vec::new(),
    };
    for first in 0..edges.len() {
        search.extend(analysis, &mut vec![first]);
    }
    let mut found = search.found;
    found.extend(among_elements(analysis, done, &edges));
    let key = |cycle: &Cycle| {
        let mut sites: Vec<_> = cycle.deeds.iter().map(|deed| deed.site).collect();
        sites.sort_unstable();
        sites
    };
    found.sort_by_key(key);
    found.dedup_by_key(|cycle| key(cycle));
    found
}

/// Threads that take two locks of the same array, nobody knows in which order: the dining philosophers.
fn among_elements(analysis: &mut Analysis, done: &[Done], edges: &[Edge]) -> Vec<Cycle> {
    let mut found = Vec::new();
    let arrays: Vec<Option<PathId>> = edges
        .iter()
        .map(|edge| {
            let [from, to] = [edge.from, edge.to].map(|path| analysis.paths.nameless(path));
            let is_alone = edge.mode == (Mode::Write, Mode::Write);
            (from == to && from != edge.from && is_alone).then_some(from)
        })
        .collect();
    for (number, one) in edges.iter().enumerate() {
        for (other, array) in edges.iter().zip(&arrays).skip(number) {
            if array.is_some() && *array == arrays[number] && meet(analysis, done, one, other) {
                found.push(Cycle {
                    deeds: vec![Rc::clone(&one.deed), Rc::clone(&other.deed)],
                    holds: vec![one.from, other.from],
                });
            }
        }
    }
    found
}

struct Search<'a> {
    edges: &'a [Edge],
    /// By the lock that is held.
    onward: FxHashMap<PathId, Vec<usize>>,
    done: &'a [Done],
    steps: usize,
    found: Vec<Cycle>,
}

impl Search<'_> {
    /// Goes on from the last edge. The first is the smallest, so that each cycle is found once.
    fn extend(&mut self, analysis: &mut Analysis, chosen: &mut Vec<usize>) {
        self.steps += 1;
        let first = chosen[0];
        let last = chosen[chosen.len() - 1];
        if self.steps > STEPS || chosen.len() > LONGEST {
            return;
        }
        let before = &self.edges[last];
        let onward = self.onward.get(&before.to).cloned().unwrap_or_default();
        for next in onward {
            let edge = &self.edges[next];
            let is_closing = next == first && chosen.len() > 1;
            if next <= first && !is_closing {
                continue;
            }
            // Readers do not keep each other out.
            if edge.mode.0 == Mode::Read && before.mode.1 == Mode::Read {
                continue;
            }
            if is_closing {
                self.found.push(Cycle {
                    deeds: chosen
                        .iter()
                        .map(|edge| Rc::clone(&self.edges[*edge].deed))
                        .collect(),
                    holds: chosen.iter().map(|edge| self.edges[*edge].from).collect(),
                });
                continue;
            }
            let fits = chosen.iter().all(|other| {
                let other = &self.edges[*other];
                other.from != edge.from && meet(analysis, self.done, other, edge)
            });
            if fits {
                chosen.push(next);
                self.extend(analysis, chosen);
                chosen.pop();
            }
        }
    }
}

/// Whether two threads can be there at the same time, with no lock that both need to hold alone.
fn meet(analysis: &mut Analysis, done: &[Done], one: &Edge, other: &Edge) -> bool {
    let scene = &done[one.root];
    let ways = match one.root == other.root {
        true => together(&analysis.spawns, scene.is_parallel, &one.deed, &other.deed),
        false => vec![Together::Strangers],
    };
    ways.into_iter().any(|way| {
        (way != Together::Strangers || are_known_outside(analysis, one))
            && !is_guarded(analysis, &one.deed, &other.deed, way)
            && order(analysis, scene, &one.deed, &other.deed) != Order::Sure
    })
}

/// Whether two calls from outside of the program can mean the same locks: they have nothing in common but what is global or given to both.
fn are_known_outside(analysis: &Analysis, edge: &Edge) -> bool {
    let mut origins = [edge.from, edge.to]
        .map(|path| analysis.paths.origin(path))
        .into_iter();
    origins.all(|base| matches!(base, Base::Global(_) | Base::Given(_) | Base::Named(_)))
}

fn is_guarded(analysis: &mut Analysis, one: &Deed, other: &Deed, way: Together) -> bool {
    for left in &one.moment.held {
        for right in &other.moment.held {
            let alone = left.mode == Mode::Write || right.mode == Mode::Write;
            let locks = [left.lock, right.lock];
            if alone && same_lock::is_same_lock(analysis, [one, other], locks, way) {
                return true;
            }
        }
    }
    false
}
