//! The solver as its callers see it: chains, edges, literals, clauses.

use rustc_hash::FxHashMap;

use crate::activity::Activity;
use crate::clauses::{Clauses, NO_CLAUSE};
use crate::clocks::Clocks;
use crate::decision::Recent;
use crate::graph::Graph;
use crate::limit::Statistics;
use crate::literal::Lit;
use crate::proof::{Proof, Step};
use crate::stations::{NOWHERE, Node, Stations};
use crate::trail::Trail;

/// A permanent edge was refused: the chains and the edges so far have it the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{before:?} cannot come before {after:?}: it comes after it already")]
pub struct Cycle {
    /// The node that was to be earlier.
    pub before: Node,
    /// The node that was to be later.
    pub after: Node,
}

/// The order solver.
///
/// Everything that is added gets a serial number. What is derived carries the serial of the youngest
/// thing that it rests on (`since`), so that it can outlive what is forgotten later.
pub struct Solver {
    pub(crate) stations: Stations,
    pub(crate) clocks: Clocks,
    pub(crate) graph: Graph,
    /// How many of the permanent edges are in the graph.
    pub(crate) permanent_taken: usize,
    pub(crate) trail: Trail,
    pub(crate) clauses: Clauses,
    pub(crate) activity: Activity,
    /// Per variable: the stations of its edge, or `NOWHERE`.
    pub(crate) edges: Vec<(u32, u32)>,
    pub(crate) births: Vec<u32>,
    /// Per variable: which value to try first.
    pub(crate) phases: Vec<bool>,
    pub(crate) order_literals: FxHashMap<(u32, u32), Lit>,
    pub(crate) serial: u32,
    /// If nothing can be solved any more: since when.
    pub(crate) impossible_since: Option<u32>,
    /// How much of the trail went through the clauses, and through the graph.
    pub(crate) clause_head: usize,
    pub(crate) order_head: usize,
    /// Per level: how many edges the graph had when it was opened.
    pub(crate) edge_counts: Vec<usize>,
    /// Where among the clauses that were asked for to look next.
    pub(crate) cursor: usize,
    pub(crate) recent: Recent,
    pub(crate) assumed: Vec<Lit>,
    pub(crate) learned_limit: usize,
    pub(crate) proof: Option<Proof>,
    pub(crate) statistics: Statistics,
    /// The literals, all false, of the clause or cycle that is in conflict; and since when.
    pub(crate) conflict: Vec<Lit>,
    pub(crate) conflict_since: u32,
    // Kept to be used again.
    pub(crate) learned: Vec<Lit>,
    pub(crate) seen: Vec<bool>,
    pub(crate) to_clear: Vec<u32>,
    pub(crate) scratch: Vec<Lit>,
    pub(crate) levels: Vec<u32>,
}

impl Solver {
    /// A solver for chains of these lengths. Takes time and memory for chains, not for nodes.
    pub fn new(chains: &[u32]) -> Solver {
        let mut solver = Solver {
            stations: Stations::new(chains),
            clocks: Clocks::new(chains.len()),
            graph: Graph::default(),
            permanent_taken: 0,
            trail: Trail::new(),
            clauses: Clauses::new(),
            activity: Activity::new(),
            edges: Vec::new(),
            births: Vec::new(),
            phases: Vec::new(),
            order_literals: FxHashMap::default(),
            serial: 0,
            impossible_since: None,
            clause_head: 0,
            order_head: 0,
            edge_counts: Vec::new(),
            cursor: 0,
            recent: Recent::default(),
            assumed: Vec::new(),
            learned_limit: 0,
            proof: None,
            statistics: Statistics::default(),
            conflict: Vec::new(),
            conflict_since: 0,
            learned: Vec::new(),
            seen: Vec::new(),
            to_clear: Vec::new(),
            scratch: Vec::new(),
            levels: Vec::new(),
        };
        let constant = solver.make_variable((NOWHERE, NOWHERE));
        solver.trail.assign(constant, NO_CLAUSE, 0);
        solver
    }

    /// The same solver, still empty, that records how it comes to its "impossible". Slower, and
    /// [`Solver::before`] does not answer [`Lit::FALSE`] then, as the proof has to show it.
    pub fn recording_proof(mut self) -> Solver {
        self.proof = Some(Proof::default());
        self
    }

    /// About how much it holds: literals and clauses, each some two hundred bytes.
    pub fn size(&self) -> usize {
        self.births.len() + self.clauses.literals() / 2
    }

    /// What was recorded, if anything was to be: for [`refutation::check`](crate::refutation::check).
    pub fn proof(&self) -> Option<&Proof> {
        self.proof.as_ref()
    }

    /// What was done so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            visited: self.graph.visited(),
            ..self.statistics
        }
    }

    /// The node at place `index` of a chain.
    ///
    /// # Panics
    /// If there is no such chain or it is not that long.
    pub fn node(&self, chain: u32, index: u32) -> Node {
        assert!(index < self.stations.length(chain), "beyond the chain");
        Node { chain, index }
    }

    /// Says where `node` would like to stand among the nodes of all chains: a lower rank is earlier.
    /// Of nodes that nothing else orders, the solver tries the order of their ranks first. Ranks should
    /// grow along a chain. A node without a rank stands right behind the one before it.
    pub fn suggest_rank(&mut self, node: Node, rank: u64) {
        let station = self.station(node);
        self.stations.set_rank(station, rank);
    }

    /// Adds a permanent edge: `before` comes before `after` in every solution from now on.
    pub fn add_edge(&mut self, before: Node, after: Node) -> Result<(), Cycle> {
        if before == after || self.clocks.precedes(after, before, &self.stations) {
            return Err(Cycle { before, after });
        }
        if self.clocks.precedes(before, after, &self.stations) {
            return Ok(());
        }
        let (x, y) = (self.station(before), self.station(after));
        self.serial += 1;
        self.clocks.add(x, y, self.serial, &self.stations);
        self.record(|| Step::Edge { before, after }, self.serial);
        Ok(())
    }

    /// A new boolean variable.
    pub fn new_variable(&mut self) -> Lit {
        self.make_variable((NOWHERE, NOWHERE))
    }

    /// The literal "`x` comes before `y`". The same one for the same nodes; [`Lit::TRUE`] or
    /// [`Lit::FALSE`] if the chains and permanent edges so far decide it.
    ///
    /// Its negation does not say that `y` comes before `x`, it says nothing about the order.
    pub fn before(&mut self, x: Node, y: Node) -> Lit {
        if self.clocks.precedes(x, y, &self.stations) {
            return Lit::TRUE;
        }
        let refuted = x == y || self.clocks.precedes(y, x, &self.stations);
        if refuted && self.proof.is_none() {
            return Lit::FALSE;
        }
        let edge = (self.station(x), self.station(y));
        if let Some(&lit) = self.order_literals.get(&edge) {
            return lit;
        }
        let lit = self.make_variable(edge);
        self.order_literals.insert(edge, lit);
        self.record(
            || Step::Meaning {
                lit,
                before: x,
                after: y,
            },
            self.serial,
        );
        lit
    }

    /// Which way to try the variable of `lit` first.
    pub fn prefer(&mut self, lit: Lit) {
        self.phases[lit.variable()] = lit.is_positive();
    }

    /// Asks for one of `lits` to be true. Clauses without literals make everything impossible.
    ///
    /// # Panics
    /// If a literal is not one of this solver's.
    pub fn add_clause(&mut self, lits: &[Lit]) {
        self.serial += 1;
        self.record(|| Step::Clause(lits.to_vec()), self.serial);
        if self.impossible_since.is_some() {
            return;
        }
        let mut clause = std::mem::take(&mut self.scratch);
        clause.clear();
        clause.extend_from_slice(lits);
        clause.sort_unstable();
        clause.dedup();
        let contradicts = clause.windows(2).any(|pair| pair[1] == !pair[0]);
        let satisfied = |&lit: &Lit| self.trail.is_true(lit) && self.trail.is_fixed(lit);
        if !contradicts && !clause.iter().any(satisfied) {
            clause.retain(|&lit| !self.trail.is_fixed(lit));
            self.attach_clause(&mut clause);
        }
        self.scratch = clause;
    }

    /// Takes in a clause without fixed literals, undoing only as many decisions as it contradicts.
    fn attach_clause(&mut self, clause: &mut [Lit]) {
        let since = self.serial;
        match *clause {
            [] => {
                self.impossible_since = Some(since);
                return;
            }
            [lit] => {
                self.undo_to(0);
                self.trail.assign(lit, NO_CLAUSE, since);
                return;
            }
            _ => {}
        }
        // What is not false first, then what became false last.
        let trail = &self.trail;
        clause.sort_by_key(|&lit| match trail.is_false(lit) {
            true => u32::MAX - trail.level_of(lit),
            false => 0,
        });
        if self.trail.is_false(clause[1]) && !self.trail.is_true(clause[0]) {
            // At most one literal is open: go back to where it would have been forced.
            let level = self.trail.level_of(clause[1]);
            let all_at_once =
                self.trail.is_false(clause[0]) && self.trail.level_of(clause[0]) == level;
            self.undo_to(level - u32::from(all_at_once));
        }
        let id = self.clauses.add(clause, false, since, 0);
        if self.trail.is_open(clause[0]) && self.trail.is_false(clause[1]) {
            self.trail.assign(clause[0], id, since);
        }
    }

    /// The stations of an order literal, either sign.
    pub(crate) fn edge_of(&self, lit: Lit) -> Option<(u32, u32)> {
        let edge = self.edges[lit.variable()];
        (edge.0 != NOWHERE).then_some(edge)
    }

    pub(crate) fn record(&mut self, step: impl FnOnce() -> Step, since: u32) {
        if let Some(proof) = &mut self.proof {
            proof.push(step(), since);
        }
    }

    fn make_variable(&mut self, edge: (u32, u32)) -> Lit {
        let variable = self.trail.variable_count() as u32;
        self.serial += 1;
        self.trail.add_variable();
        self.clauses.add_variable();
        self.activity.add_variable();
        self.edges.push(edge);
        self.births.push(self.serial);
        self.phases.push(false);
        self.seen.push(false);
        Lit::positive(variable)
    }

    fn station(&mut self, node: Node) -> u32 {
        self.serial += 1;
        let (station, is_new) = self.stations.make(node, self.serial);
        if is_new {
            self.clocks.make(station, &self.stations);
        }
        station
    }
}
