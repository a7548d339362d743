//! Possible deadlocks: cycles in the order in which threads take locks, that no common lock guards.

use std::rc::Rc;

use crate::analysis::Analysis;
use crate::model::Mode;
use crate::path::PathId;
use crate::summary::{Deed, What};

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
const LONGEST: usize = 4;
/// How many steps of the search there are, at most.
const STEPS: usize = 200_000;

/// One lock is taken while another is held.
struct Edge {
    deed: Rc<Deed>,
    from: PathId,
    to: PathId,
    mode: (Mode, Mode),
}

/// All cycles of up to four locks; one for each set of statements.
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
            for held in &deed.held {
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
        let mut search = Search {
            edges: &edges,
            root,
            steps: 0,
            found: Vec::new(),
        };
        for first in 0..edges.len() {
            search.extend(analysis, &mut vec![first]);
        }
        found.extend(search.found);
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

struct Search<'a> {
    edges: &'a [Edge],
    root: &'a Root,
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
                other.from != edge.from && meet(analysis, self.root, other, edge)
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
fn meet(analysis: &mut Analysis, root: &Root, one: &Edge, other: &Edge) -> bool {
    let ways = together(&analysis.spawns, root.is_parallel, &one.deed, &other.deed);
    ways.into_iter()
        .any(|way| !is_guarded(analysis, &one.deed, &other.deed, way))
}

fn is_guarded(analysis: &mut Analysis, one: &Deed, other: &Deed, way: Together) -> bool {
    for left in &one.held {
        for right in &other.held {
            let alone = left.mode == Mode::Write || right.mode == Mode::Write;
            let locks = [left.lock, right.lock];
            if alone && alias::is_same_lock(analysis, [one, other], locks, way) {
                return true;
            }
        }
    }
    false
}
