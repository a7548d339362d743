//! Small problems, solved by looking at every linear order and every assignment.

use deadheat_order::{Lit, Model, Node, Solver};
use proptest::prelude::*;

/// A literal of a problem, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Node `x` before node `y`, by number.
    Before(usize, usize),
    /// A boolean variable and the value that it should have.
    Bool(usize, bool),
}

/// What an order solver is asked for.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    pub chains: Vec<u32>,
    pub bools: usize,
    pub edges: Vec<(usize, usize)>,
    pub clauses: Vec<Vec<Word>>,
}

impl Problem {
    pub fn node_count(&self) -> usize {
        self.chains.iter().sum::<u32>() as usize
    }

    /// Chain and index of node `number`.
    pub fn place(&self, number: usize) -> (u32, u32) {
        let mut index = number as u32;
        for (chain, &length) in (0..).zip(&self.chains) {
            if index < length {
                return (chain, index);
            }
            index -= length;
        }
        panic!("no such node");
    }

    pub fn number(&self, node: Node) -> usize {
        let before = &self.chains[..node.chain() as usize];
        (before.iter().sum::<u32>() + node.index()) as usize
    }

    fn chain_edges(&self) -> impl Iterator<Item = (usize, usize)> {
        (1..self.node_count())
            .filter(|&y| self.place(y).1 > 0)
            .map(|y| (y - 1, y))
    }

    /// Whether `edges` with the chains have no cycle.
    pub fn is_acyclic(&self, edges: &[(usize, usize)]) -> bool {
        self.linear(edges).is_some()
    }

    /// A linear order with the chains and these edges.
    pub fn linear(&self, edges: &[(usize, usize)]) -> Option<Vec<usize>> {
        let mut order = Vec::new();
        let all: Vec<_> = self.chain_edges().chain(edges.iter().copied()).collect();
        while order.len() < self.node_count() {
            let next = (0..self.node_count()).find(|node| {
                !order.contains(node)
                    && !all.iter().any(|&(x, y)| y == *node && !order.contains(&x))
            })?;
            order.push(next);
        }
        Some(order)
    }

    /// Whether some order and assignment has all edges, clauses and assumptions.
    pub fn is_possible(&self, assumptions: &[Word]) -> bool {
        let edges: Vec<_> = self.chain_edges().chain(self.edges.clone()).collect();
        let mut positions = vec![usize::MAX; self.node_count()];
        self.some_order(&edges, &mut positions, 0, assumptions)
    }

    fn some_order(
        &self,
        edges: &[(usize, usize)],
        positions: &mut Vec<usize>,
        placed: usize,
        assumptions: &[Word],
    ) -> bool {
        if placed == positions.len() {
            return (0..1u32 << self.bools)
                .any(|bits| self.is_satisfied(positions, |b| bits >> b & 1 == 1, assumptions));
        }
        for node in 0..positions.len() {
            let free = positions[node] == usize::MAX;
            let ready = |&(x, y): &(usize, usize)| y != node || positions[x] < placed;
            if free && edges.iter().all(ready) {
                positions[node] = placed;
                if self.some_order(edges, positions, placed + 1, assumptions) {
                    return true;
                }
                positions[node] = usize::MAX;
            }
        }
        false
    }

    /// Whether clauses and assumptions hold, given the position of every node and the variables.
    pub fn is_satisfied(
        &self,
        positions: &[usize],
        bools: impl Fn(usize) -> bool,
        assumptions: &[Word],
    ) -> bool {
        let holds = |&word: &Word| match word {
            Word::Before(x, y) => positions[x] < positions[y],
            Word::Bool(b, value) => bools(b) == value,
        };
        self.clauses.iter().all(|clause| clause.iter().any(holds)) && assumptions.iter().all(holds)
    }

    /// Whether `model` solves the problem: in a linear order made of nothing but its edges.
    pub fn is_solved_by(&self, model: &Model, bools: &[Lit], assumptions: &[Word]) -> bool {
        let mut edges: Vec<_> = model
            .edges()
            .map(|(x, y)| (self.number(x), self.number(y)))
            .collect();
        edges.extend(&self.edges);
        let Some(order) = self.linear(&edges) else {
            return false;
        };
        let mut positions = vec![0; order.len()];
        for (position, &node) in order.iter().enumerate() {
            positions[node] = position;
        }
        self.is_satisfied(&positions, |b| model.is_true(bools[b]), assumptions)
    }
}

/// A solver together with the literals of the problem that it was told.
pub struct Told {
    pub solver: Solver,
    pub bools: Vec<Lit>,
}

impl Told {
    pub fn new(problem: &Problem, mut solver: Solver) -> Told {
        let bools = (0..problem.bools).map(|_| solver.new_variable()).collect();
        let mut told = Told { solver, bools };
        for &(x, y) in &problem.edges {
            let (x, y) = (told.node(problem, x), told.node(problem, y));
            told.solver.add_edge(x, y).expect("no cycle");
        }
        for clause in &problem.clauses {
            told.add_clause(problem, clause);
        }
        told
    }

    pub fn node(&self, problem: &Problem, number: usize) -> Node {
        let (chain, index) = problem.place(number);
        self.solver.node(chain, index)
    }

    pub fn lit(&mut self, problem: &Problem, word: Word) -> Lit {
        match word {
            Word::Bool(b, true) => self.bools[b],
            Word::Bool(b, false) => !self.bools[b],
            Word::Before(x, y) => {
                let (x, y) = (self.node(problem, x), self.node(problem, y));
                self.solver.before(x, y)
            }
        }
    }

    pub fn lits(&mut self, problem: &Problem, words: &[Word]) -> Vec<Lit> {
        words.iter().map(|&word| self.lit(problem, word)).collect()
    }

    pub fn add_clause(&mut self, problem: &Problem, clause: &[Word]) {
        let lits = self.lits(problem, clause);
        self.solver.add_clause(&lits);
    }
}

fn word(nodes: usize, bools: usize) -> impl Strategy<Value = Word> {
    let order = (0..nodes, 0..nodes).prop_map(|(x, y)| Word::Before(x, y));
    let boolean = (0..bools, any::<bool>()).prop_map(|(b, value)| Word::Bool(b, value));
    prop_oneof![3 => order, 2 => boolean]
}

pub fn words(
    nodes: usize,
    bools: usize,
    count: impl Into<proptest::collection::SizeRange>,
) -> impl Strategy<Value = Vec<Word>> {
    proptest::collection::vec(word(nodes, bools), count)
}

/// Chains, without anything asked for yet.
pub fn chains() -> impl Strategy<Value = Problem> {
    let lengths = prop_oneof![
        proptest::collection::vec(1..=4u32, 2),
        proptest::collection::vec(1..=3u32, 2..=3),
        proptest::collection::vec(1..=2u32, 3..=4),
    ];
    (lengths, 1..=4usize).prop_map(|(chains, bools)| Problem {
        chains,
        bools,
        ..Problem::default()
    })
}

/// Problems of up to nine nodes; edges that would close a cycle are left out.
pub fn problem() -> impl Strategy<Value = Problem> {
    chains().prop_flat_map(|base| {
        let nodes = base.node_count();
        let edges = proptest::collection::vec((0..nodes, 0..nodes), 0..3);
        let clauses = proptest::collection::vec(words(nodes, base.bools, 1..=4), 0..14);
        (Just(base), edges, clauses).prop_map(|(mut problem, edges, clauses)| {
            for edge in edges {
                let mut more = problem.edges.clone();
                more.push(edge);
                if edge.0 != edge.1 && problem.is_acyclic(&more) {
                    problem.edges = more;
                }
            }
            problem.clauses = clauses;
            problem
        })
    })
}
