//! A solution: which literals are true, and the order that they make.
//!
//! A model stands on its own, so that it can be read while clauses are added to the solver that
//! gave it. What comes before a node is computed for all stations at once, at the first question.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

use crate::literal::Lit;
use crate::stations::{NOWHERE, Node, Stations};

/// What a solver answers with: an assignment, and an order without cycles.
#[derive(Debug, Clone)]
pub struct Model {
    /// Per variable: whether it is true.
    values: Vec<bool>,
    /// The stations in a linear order that has all edges.
    stations: Vec<Node>,
    /// The place of the station before each in its chain, or `NOWHERE`.
    previous: Vec<u32>,
    /// Per chain: index and place of each station, by index.
    chains: Vec<Vec<(u32, u32)>>,
    /// Edges between places, by the later one.
    edges: Vec<(u32, u32)>,
    /// Per place and chain: how many nodes of the chain come before it.
    clocks: OnceLock<Vec<u32>>,
}

impl Model {
    /// `in_order` are the stations in a linear order; `edges` are between stations.
    pub(crate) fn new(
        values: Vec<bool>,
        stations: &Stations,
        in_order: &[u32],
        edges: &[(u32, u32)],
    ) -> Model {
        let mut places = vec![NOWHERE; stations.len()];
        let mut chains = vec![Vec::new(); stations.chain_count()];
        let mut previous = Vec::with_capacity(in_order.len());
        for (place, &station) in in_order.iter().enumerate() {
            places[station as usize] = place as u32;
            let node = stations.node(station);
            chains[node.chain as usize].push((node.index, place as u32));
            let before = stations.previous(station);
            previous.push(match before {
                NOWHERE => NOWHERE,
                _ => places[before as usize],
            });
        }
        let mut edges: Vec<(u32, u32)> = edges
            .iter()
            .map(|&(x, y)| (places[x as usize], places[y as usize]))
            .collect();
        edges.sort_unstable_by_key(|&(_, later)| later);
        Model {
            values,
            stations: in_order.iter().map(|&s| stations.node(s)).collect(),
            previous,
            chains,
            edges,
            clocks: OnceLock::new(),
        }
    }

    /// Whether `lit` is true. An order literal that is not may hold in the order all the same.
    pub fn is_true(&self, lit: Lit) -> bool {
        self.values
            .get(lit.variable())
            .is_some_and(|&value| value == lit.is_positive())
    }

    /// The edges between chains: what was permanent, and what true literals ask for. Any order of
    /// all nodes that keeps to these and to the chains is a solution.
    pub fn edges(&self) -> impl Iterator<Item = (Node, Node)> {
        let node = |place: u32| self.stations[place as usize];
        self.edges.iter().map(move |&(x, y)| (node(x), node(y)))
    }

    /// The stations (nodes that somebody mentioned) in one order that is a solution.
    pub fn stations(&self) -> &[Node] {
        &self.stations
    }

    /// Whether `x` comes before `y` in every order that has the edges and the chains.
    pub fn is_before(&self, x: Node, y: Node) -> bool {
        if x.chain == y.chain {
            return x.index < y.index;
        }
        self.knowing(y)
            .is_some_and(|clock| clock[x.chain as usize] > x.index)
    }

    /// For every chain, how many of its nodes come before `node`.
    pub fn downset(&self, node: Node) -> Vec<u32> {
        let mut downset = match self.knowing(node) {
            Some(clock) => clock.to_vec(),
            None => vec![0; self.chains.len()],
        };
        if let Some(own) = downset.get_mut(node.chain as usize) {
            *own = node.index;
        }
        downset
    }

    /// The clock of the last station at or before `node`.
    fn knowing(&self, node: Node) -> Option<&[u32]> {
        let chain = self.chains.get(node.chain as usize)?;
        let after = chain.partition_point(|&(index, _)| index <= node.index);
        let (_, place) = *chain.get(after.checked_sub(1)?)?;
        let width = self.chains.len();
        let start = place as usize * width;
        Some(&self.clocks()[start..start + width])
    }

    fn clocks(&self) -> &[u32] {
        self.clocks.get_or_init(|| {
            let width = self.chains.len();
            let mut clocks = vec![0; self.stations.len() * width];
            let mut edges = self.edges.iter().peekable();
            for (place, node) in self.stations.iter().enumerate() {
                let (earlier, mine) = clocks.split_at_mut(place * width);
                let mine = &mut mine[..width];
                let before = self.previous[place];
                if before != NOWHERE {
                    let from = before as usize * width;
                    mine.copy_from_slice(&earlier[from..from + width]);
                }
                while let Some(&(x, _)) = edges.next_if(|&&(_, later)| later as usize == place) {
                    let from = x as usize * width;
                    for (mine, &theirs) in mine.iter_mut().zip(&earlier[from..from + width]) {
                        *mine = theirs.max(*mine);
                    }
                    let x = self.stations[x as usize];
                    let known = &mut mine[x.chain as usize];
                    *known = (x.index + 1).max(*known);
                }
                mine[node.chain as usize] = node.index;
            }
            clocks
        })
    }

    /// The stations in an order that is a solution, always going on with the one that `rank` puts
    /// first among those that can come next.
    pub fn linear(&self, rank: impl Fn(Node) -> u64) -> Vec<Node> {
        let count = self.stations.len();
        let mut waits_for = vec![0u32; count];
        let mut releases: Vec<Vec<u32>> = vec![Vec::new(); count];
        let chained = self.previous.iter().zip(0u32..);
        let chained = chained
            .filter(|&(&x, _)| x != NOWHERE)
            .map(|(&x, y)| (x, y));
        for (x, y) in self.edges.iter().copied().chain(chained) {
            waits_for[y as usize] += 1;
            releases[x as usize].push(y);
        }
        let ready = (0..count).filter(|&place| waits_for[place] == 0);
        let mut heap: BinaryHeap<Reverse<(u64, usize)>> = ready
            .map(|place| Reverse((rank(self.stations[place]), place)))
            .collect();
        let mut order = Vec::with_capacity(count);
        while let Some(Reverse((_, place))) = heap.pop() {
            order.push(self.stations[place]);
            for &next in &releases[place] {
                let next = next as usize;
                waits_for[next] -= 1;
                if waits_for[next] == 0 {
                    heap.push(Reverse((rank(self.stations[next]), next)));
                }
            }
        }
        order
    }
}
