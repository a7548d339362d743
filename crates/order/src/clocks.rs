//! What chains and permanent edges alone say about the order, as one clock per station.
//!
//! A clock counts, for every chain, the nodes of that chain which come before the station. As chains
//! are ordered, "is x before y?" is one comparison. Permanent edges move clocks forward along
//! whatever follows; old values go to a journal, so that forgetting an edge puts them back.

use crate::stations::{NOWHERE, Node, Stations};

/// One value that a clock had before a permanent edge moved it.
struct Moved {
    slot: u32,
    old: u32,
    serial: u32,
}

/// The clocks of all stations and the permanent edges that they rest on.
#[derive(Default)]
pub(crate) struct Clocks {
    width: usize,
    rows: Vec<u32>,
    /// Per station: where its permanent edges lead, and the serial of each.
    successors: Vec<Vec<(u32, u32)>>,
    edges: Vec<(u32, u32, u32)>,
    journal: Vec<Moved>,
    keeps_journal: bool,
    moved: Vec<u32>,
}

impl Clocks {
    pub fn new(chains: usize) -> Clocks {
        Clocks {
            width: chains,
            ..Clocks::default()
        }
    }

    /// The permanent edges, each with its serial, oldest first.
    pub fn edges(&self) -> &[(u32, u32, u32)] {
        &self.edges
    }

    /// From now on edges can be forgotten.
    pub fn keep_journal(&mut self) {
        self.keeps_journal = true;
    }

    /// The clock of a station: per chain, how many of its nodes come before.
    fn row(&self, station: u32) -> &[u32] {
        let start = station as usize * self.width;
        &self.rows[start..start + self.width]
    }

    /// Takes in a station that was just made: it knows what its predecessor knows.
    pub fn make(&mut self, station: u32, stations: &Stations) {
        let start = self.rows.len();
        self.rows.resize(start + self.width, 0);
        let previous = stations.previous(station);
        if previous != NOWHERE {
            let from = previous as usize * self.width;
            self.rows.copy_within(from..from + self.width, start);
        }
        let node = stations.node(station);
        self.rows[start + node.chain as usize] = node.index;
        self.successors.push(Vec::new());
    }

    /// Whether chains and permanent edges put `x` before `y`.
    pub fn precedes(&self, x: Node, y: Node, stations: &Stations) -> bool {
        if x.chain == y.chain {
            return x.index < y.index;
        }
        stations
            .at_or_before(y)
            .is_some_and(|station| self.row(station)[x.chain as usize] > x.index)
    }

    /// Adds a permanent edge, which must not close a cycle.
    pub fn add(&mut self, x: u32, y: u32, serial: u32, stations: &Stations) {
        self.successors[x as usize].push((y, serial));
        self.edges.push((x, y, serial));
        self.moved.clear();
        self.moved.push(x);
        let node = stations.node(x);
        if self.learn(x, Some(node), y, serial) {
            self.moved.push(y);
        }
        let mut at = 1;
        while at < self.moved.len() {
            let station = self.moved[at];
            at += 1;
            let next = stations.next(station);
            if next != NOWHERE && self.learn(station, None, next, serial) {
                self.moved.push(next);
            }
            for k in 0..self.successors[station as usize].len() {
                let (next, _) = self.successors[station as usize][k];
                let node = stations.node(station);
                if self.learn(station, Some(node), next, serial) {
                    self.moved.push(next);
                }
            }
        }
    }

    /// `to` comes to know what `from` knows, and of `from` itself if it stands in another chain.
    fn learn(&mut self, from: u32, itself: Option<Node>, to: u32, serial: u32) -> bool {
        let (from, to) = (from as usize * self.width, to as usize * self.width);
        let mut moved = false;
        for chain in 0..self.width {
            let mut known = self.rows[from + chain];
            if let Some(node) = itself
                && node.chain as usize == chain
            {
                known = node.index + 1;
            }
            let slot = to + chain;
            if self.rows[slot] < known {
                if self.keeps_journal {
                    self.journal.push(Moved {
                        slot: slot as u32,
                        old: self.rows[slot],
                        serial,
                    });
                }
                self.rows[slot] = known;
                moved = true;
            }
        }
        moved
    }

    /// Drops the edges that were added after `serial`, and all but the first `stations` stations.
    pub fn forget_since(&mut self, serial: u32, stations: usize) {
        while let Some(moved) = self.journal.pop_if(|moved| moved.serial > serial) {
            self.rows[moved.slot as usize] = moved.old;
        }
        while let Some((from, _, _)) = self.edges.pop_if(|edge| edge.2 > serial) {
            self.successors[from as usize].pop();
        }
        self.rows.truncate(stations * self.width);
        self.successors.truncate(stations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CHAINS: u32 = 3;
    const LENGTH: u32 = 4;

    fn node(number: u32) -> Node {
        Node {
            chain: number / LENGTH,
            index: number % LENGTH,
        }
    }

    /// Which node comes before which, by going through all steps until nothing changes.
    fn closure(edges: &[(u32, u32)]) -> Vec<Vec<bool>> {
        let count = (CHAINS * LENGTH) as usize;
        let mut before = vec![vec![false; count]; count];
        for x in 0..count as u32 {
            for y in 0..count as u32 {
                let chained = node(x).chain == node(y).chain && x < y;
                before[x as usize][y as usize] = chained || edges.contains(&(x, y));
            }
        }
        for via in 0..count {
            for x in 0..count {
                for y in 0..count {
                    before[x][y] |= before[x][via] && before[via][y];
                }
            }
        }
        before
    }

    fn compare(clocks: &Clocks, stations: &Stations, edges: &[(u32, u32)]) {
        let before = closure(edges);
        for x in 0..CHAINS * LENGTH {
            for y in 0..CHAINS * LENGTH {
                let expected = before[x as usize][y as usize];
                assert_eq!(clocks.precedes(node(x), node(y), stations), expected);
            }
        }
    }

    proptest! {
        #[test]
        fn clocks_know_what_precedes_what(
            wishes in proptest::collection::vec((0..CHAINS * LENGTH, 0..CHAINS * LENGTH), 0..15),
            kept in 0..15usize,
        ) {
            let mut stations = Stations::new(&[LENGTH; CHAINS as usize]);
            let mut clocks = Clocks::new(CHAINS as usize);
            clocks.keep_journal();
            let mut edges = Vec::new();
            for (x, y) in wishes {
                if x == y || clocks.precedes(node(y), node(x), &stations) {
                    continue;
                }
                let serial = 1 + edges.len() as u32;
                let ends = [x, y].map(|end| {
                    let (station, is_new) = stations.make(node(end), serial);
                    if is_new {
                        clocks.make(station, &stations);
                    }
                    station
                });
                clocks.add(ends[0], ends[1], serial, &stations);
                edges.push((x, y));
                compare(&clocks, &stations, &edges);
            }
            stations.forget_since(kept as u32);
            clocks.forget_since(kept as u32, stations.len());
            edges.truncate(kept);
            compare(&clocks, &stations, &edges);
        }
    }
}
