//! Serial recordings write a write down when the thread has its next event, because only then its
//! value is there. If that is a read of as many bytes elsewhere and the memory is as it was, both
//! may be one copy that is still to be made: then the read stands first. So where a write is
//! followed by such a read, the ways of the two may also be gone in the other order.

use rustc_hash::FxHashMap;

use super::{Mark, Node, Ways, join};
use crate::callee::{Callee, Size};
use crate::dataflow::sets::Sets;
use crate::graph::Graph;

/// Adds the ways that such recordings show.
pub(super) fn allow(
    graph: &Graph,
    sites: &FxHashMap<usize, u32>,
    ways: &mut Ways,
    sets: &mut Sets,
) {
    let mut writes: FxHashMap<Node, Size> = FxHashMap::default();
    let mut reads: FxHashMap<Node, Size> = FxHashMap::default();
    for (number, site) in sites {
        if let Callee::Access {
            reads: does_read,
            size,
            ..
        } = graph.callees[number]
        {
            let kind = if does_read { &mut reads } else { &mut writes };
            kind.insert(Node::Site(*site), size);
        }
    }
    let pairs: Vec<(Node, Node, Mark)> = ways
        .iter()
        .filter(|((from, to), _)| {
            let write = writes.get(from);
            write.is_some() && write == reads.get(to)
        })
        .map(|((from, to), mark)| (*from, *to, *mark))
        .collect();
    let mut add = |ways: &mut Ways, from: Node, to: Node, mark: Mark| {
        let known = ways.entry((from, to)).or_insert(mark);
        *known = join(sets, *known, mark);
    };
    // To the read first, past the write, and back to it.
    let mut into: FxHashMap<Node, Vec<(Node, Mark)>> = FxHashMap::default();
    for ((from, to), mark) in &*ways {
        into.entry(*to).or_default().push((*from, *mark));
    }
    for &(write, read, between) in &pairs {
        for &(from, mark) in into.get(&write).into_iter().flatten() {
            add(ways, from, read, mark);
            add(ways, from, read, between);
        }
        add(ways, read, write, between);
    }
    // On from the write as from the read.
    for &(write, read, _) in &pairs {
        let from_read = ways.range((read, Node::Entry)..=(read, Node::Site(u32::MAX)));
        let on: Vec<(Node, Mark)> = from_read.map(|((_, to), mark)| (*to, *mark)).collect();
        for (to, mark) in on {
            add(ways, write, to, mark);
        }
    }
}
