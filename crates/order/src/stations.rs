//! Stations: the few nodes of the chains that somebody mentioned.
//!
//! A chain may have a million nodes. Only those that stand in an edge or a literal matter to the
//! order; they are the chain's stations, kept as a sorted list, each linked to its neighbours.

/// A node: place `index` of chain `chain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    pub(crate) chain: u32,
    pub(crate) index: u32,
}

impl Node {
    /// Which chain it stands in.
    pub const fn chain(self) -> u32 {
        self.chain
    }

    /// How many nodes of its chain stand before it.
    pub const fn index(self) -> u32 {
        self.index
    }
}

/// No station: beyond either end of a chain.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// The stations of all chains, numbered in the order in which they were made.
#[derive(Default)]
pub(crate) struct Stations {
    lengths: Vec<u32>,
    /// Per chain: index and station, by index.
    chains: Vec<Vec<(u32, u32)>>,
    nodes: Vec<Node>,
    next: Vec<u32>,
    previous: Vec<u32>,
    ranks: Vec<u64>,
    births: Vec<u32>,
}

impl Stations {
    pub fn new(lengths: &[u32]) -> Stations {
        Stations {
            lengths: lengths.to_vec(),
            chains: vec![Vec::new(); lengths.len()],
            ..Stations::default()
        }
    }

    pub fn chain_count(&self) -> usize {
        self.lengths.len()
    }

    pub fn length(&self, chain: u32) -> u32 {
        self.lengths[chain as usize]
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn node(&self, station: u32) -> Node {
        self.nodes[station as usize]
    }

    pub fn next(&self, station: u32) -> u32 {
        self.next[station as usize]
    }

    pub fn previous(&self, station: u32) -> u32 {
        self.previous[station as usize]
    }

    pub fn rank(&self, station: u32) -> u64 {
        self.ranks[station as usize]
    }

    pub fn set_rank(&mut self, station: u32, rank: u64) {
        self.ranks[station as usize] = rank;
    }

    /// The last station at or before `node` in its chain.
    pub fn at_or_before(&self, node: Node) -> Option<u32> {
        let chain = &self.chains[node.chain as usize];
        let after = chain.partition_point(|&(index, _)| index <= node.index);
        after.checked_sub(1).map(|place| chain[place].1)
    }

    /// The station of `node`, made if there is none yet; and whether it is new.
    pub fn make(&mut self, node: Node, birth: u32) -> (u32, bool) {
        let chain = &mut self.chains[node.chain as usize];
        let place = chain.partition_point(|&(index, _)| index < node.index);
        if let Some(&(index, station)) = chain.get(place)
            && index == node.index
        {
            return (station, false);
        }
        let station = self.nodes.len() as u32;
        let previous = place.checked_sub(1).map_or(NOWHERE, |p| chain[p].1);
        let next = chain.get(place).map_or(NOWHERE, |&(_, s)| s);
        chain.insert(place, (node.index, station));
        self.nodes.push(node);
        self.ranks.push(0);
        self.births.push(birth);
        self.previous.push(previous);
        self.next.push(next);
        self.link(previous, station);
        self.link(station, next);
        (station, true)
    }

    fn link(&mut self, left: u32, right: u32) {
        if left != NOWHERE {
            self.next[left as usize] = right;
        }
        if right != NOWHERE {
            self.previous[right as usize] = left;
        }
    }

    /// Drops the stations that were made after `serial`.
    pub fn forget_since(&mut self, serial: u32) {
        let kept = self.births.partition_point(|&birth| birth <= serial);
        while self.nodes.len() > kept {
            let (Some(node), Some(next), Some(previous)) =
                (self.nodes.pop(), self.next.pop(), self.previous.pop())
            else {
                break;
            };
            let chain = &mut self.chains[node.chain as usize];
            if let Ok(place) = chain.binary_search_by_key(&node.index, |&(index, _)| index) {
                chain.remove(place);
            }
            if previous != NOWHERE {
                self.next[previous as usize] = next;
            }
            if next != NOWHERE {
                self.previous[next as usize] = previous;
            }
        }
        self.ranks.truncate(kept);
        self.births.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(chain: u32, index: u32) -> Node {
        Node { chain, index }
    }

    #[test]
    fn stations_stand_in_the_order_of_their_chain() {
        let mut stations = Stations::new(&[100, 5]);
        let (far, _) = stations.make(node(0, 90), 1);
        let (near, _) = stations.make(node(0, 10), 2);
        let (middle, _) = stations.make(node(0, 50), 3);
        assert_eq!(stations.make(node(0, 50), 4), (middle, false));
        assert_eq!(stations.next(near), middle);
        assert_eq!(stations.next(middle), far);
        assert_eq!(stations.previous(far), middle);
        assert_eq!(stations.at_or_before(node(0, 89)), Some(middle));
        assert_eq!(stations.at_or_before(node(0, 9)), None);
        assert_eq!(stations.at_or_before(node(1, 4)), None);
    }

    #[test]
    fn forgetting_links_the_neighbours_again() {
        let mut stations = Stations::new(&[100]);
        let (near, _) = stations.make(node(0, 10), 1);
        let (far, _) = stations.make(node(0, 90), 2);
        stations.make(node(0, 50), 3);
        stations.make(node(0, 5), 4);
        stations.forget_since(2);
        assert_eq!(stations.len(), 2);
        assert_eq!(stations.next(near), far);
        assert_eq!(stations.previous(near), NOWHERE);
        assert_eq!(stations.at_or_before(node(0, 60)), Some(near));
    }
}
