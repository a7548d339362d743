//! Possible deadlocks: cycles in the order in which threads take locks, that no common lock guards.

use std::rc::Rc;

use crate::analysis::Analysis;
use crate::model::Mode;
use crate::path::PathId;
use crate::summary::{Deed, What};

use super::protect::{Order, order};
use super::threads::{Together, together};
use super::{Root, alias};

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

/// Where cycles are looked for.
#[derive(Clone, Copy)]
struct Scene<'a> {
    root: &'a Root,
    /// All that is done there.
    all: &'a [Deed],
}

/// One lock is taken while another is held.
struct Edge {
    deed: Rc<Deed>,
    from: PathId,
    to: PathId,
    mode: (Mode, Mode),
}

/// All cycles of up to five locks; one for each set of statements.
pub fn find(analysis: &mut Analysis, roots: &[Root]) -> Vec<Cycle> {
    let mut found: Vec<Cycle> = Vec::new();
    for root in roots {
        let deeds = root.deeds(analysis);
        let mut edges = Vec::new();
        for deed in &deeds {
            let (What::Lock(mode), Some(to)) = (deed.what, deed.path) else {
                continue;
            };
            let deed = Rc::new(deed.clone());
            let to = analysis.paths.plain(to);
            for held in &deed.moment.held {
                let from = analysis.paths.plain(held.lock);
                if from != to {
                    edges.push(Edge {
                        deed: Rc::clone(&deed),
                        from,
                        to,
                        mode: (held.mode, mode),
                    });
                }
            }
        }
        let scene = Scene { root, all: &deeds };
        let mut search = Search {
            edges: &edges,
            scene,
            steps: 0,
            found: Vec::new(),
        };
        for first in 0..edges.len() {
            search.extend(analysis, &mut vec![first]);
        }
        found.extend(search.found);
        found.extend(among_elements(analysis, scene, &edges));
    }
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
fn among_elements(analysis: &mut Analysis, scene: Scene, edges: &[Edge]) -> Vec<Cycle> {
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
            if array.is_some() && *array == arrays[number] && meet(analysis, scene, one, other) {
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
    scene: Scene<'a>,
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
        for next in 0..self.edges.len() {
            let (edge, before) = (&self.edges[next], &self.edges[last]);
            let is_closing = next == first && chosen.len() > 1;
            if (next <= first && !is_closing) || edge.from != before.to {
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
                other.from != edge.from && meet(analysis, self.scene, other, edge)
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
fn meet(analysis: &mut Analysis, scene: Scene, one: &Edge, other: &Edge) -> bool {
    let is_parallel = scene.root.is_parallel;
    let ways = together(&analysis.spawns, is_parallel, &one.deed, &other.deed);
    ways.into_iter().any(|way| {
        !is_guarded(analysis, &one.deed, &other.deed, way)
            && order(analysis, scene.all, &one.deed, &other.deed) != Order::Sure
    })
}

fn is_guarded(analysis: &mut Analysis, one: &Deed, other: &Deed, way: Together) -> bool {
    for left in &one.moment.held {
        for right in &other.moment.held {
            let alone = left.mode == Mode::Write || right.mode == Mode::Write;
            let locks = [left.lock, right.lock];
            if alone && alias::is_same_lock(analysis, [one, other], locks, way) {
                return true;
            }
        }
    }
    false
}
