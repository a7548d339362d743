//! The graph against plain searches.

use proptest::prelude::*;

use super::*;
use crate::stations::Node;

const CHAINS: u32 = 3;
const LENGTH: u32 = 4;

fn all_stations() -> Stations {
    let mut stations = Stations::new(&[LENGTH; CHAINS as usize]);
    for chain in 0..CHAINS {
        for index in 0..LENGTH {
            stations.make(Node { chain, index }, 0);
        }
    }
    stations
}

/// The fewest literals on a way from `from` to `to`, if there is one.
fn fewest_literals(edges: &[(u32, u32)], from: u32, to: u32) -> Option<usize> {
    let mut cost = vec![usize::MAX; (CHAINS * LENGTH) as usize];
    cost[from as usize] = 0;
    for _ in 0..cost.len() {
        for station in 0..CHAINS * LENGTH - 1 {
            if station % LENGTH != LENGTH - 1 {
                let next = station as usize + 1;
                cost[next] = cost[next].min(cost[station as usize]);
            }
        }
        for &(x, y) in edges {
            let through = cost[x as usize].saturating_add(1);
            cost[y as usize] = cost[y as usize].min(through);
        }
    }
    Some(cost[to as usize]).filter(|&cost| cost != usize::MAX)
}

fn assert_in_order(graph: &Graph, stations: &Stations) {
    for station in 0..stations.len() as u32 {
        let next = stations.next(station);
        assert!(next == NOWHERE || graph.place(station) < graph.place(next));
    }
    for &(x, y) in graph.edges() {
        assert!(graph.place(x) < graph.place(y));
    }
    for (place, &station) in graph.in_order().iter().enumerate() {
        assert_eq!(graph.place(station), place as u32);
    }
}

/// The literal of an edge in these tests.
fn literal(x: u32, y: u32) -> Lit {
    Lit::positive(1 + x * CHAINS * LENGTH + y)
}

proptest! {
    #[test]
    fn edges_come_and_go(
        wishes in proptest::collection::vec((0..CHAINS * LENGTH, 0..CHAINS * LENGTH, 0..12usize), 0..40),
    ) {
        let stations = all_stations();
        let mut graph = Graph::default();
        graph.take_in(&stations);
        let mut edges = Vec::new();
        for (x, y, back) in wishes {
            if back > 9 {
                edges.truncate(edges.len().saturating_sub(back - 7));
                graph.shrink(edges.len());
            }
            let way_back = if x == y { Some(0) } else { fewest_literals(&edges, y, x) };
            let why = Why::Literal(literal(x, y));
            let added = graph.add((x, y), why, &stations, |_| false);
            prop_assert_eq!(added.is_ok(), way_back.is_none());
            if let Some(fewest) = way_back {
                let cycle = graph.cycle();
                prop_assert_eq!(cycle[0], Step { from: x, why });
                let literals = cycle.iter().filter(|step| step.why != Why::Chain);
                prop_assert_eq!(literals.count(), fewest + 1);
                for (k, step) in cycle.iter().enumerate() {
                    let to = cycle[(k + 1) % cycle.len()].from;
                    match step.why {
                        Why::Literal(lit) => prop_assert_eq!(lit, literal(step.from, to)),
                        Why::Chain => prop_assert_eq!(stations.next(step.from), to),
                        Why::Permanent(_) => prop_assert!(false, "there are none"),
                    }
                }
            } else {
                edges.push((x, y));
            }
            prop_assert_eq!(graph.edges(), &edges[..]);
            assert_in_order(&graph, &stations);
        }
    }

    #[test]
    fn new_stations_find_their_place(
        nodes in proptest::collection::vec((0..3u32, 0..20u32, 0..100u64), 1..40),
        edges in proptest::collection::vec((0..10u32, 0..10u32), 0..10),
        batch in 1..10usize,
    ) {
        let mut stations = Stations::new(&[20; 3]);
        let mut graph = Graph::default();
        let mut edges = edges.into_iter();
        for batch in nodes.chunks(batch) {
            for &(chain, index, rank) in batch {
                let (station, _) = stations.make(Node { chain, index }, 0);
                stations.set_rank(station, rank);
            }
            graph.take_in(&stations);
            assert_in_order(&graph, &stations);
            if let Some((x, y)) = edges.next()
                && x.max(y) < stations.len() as u32
            {
                // Whether there is room for the edge does not matter here.
                let _ = graph.add((x, y), Why::Permanent(1), &stations, |_| true);
                assert_in_order(&graph, &stations);
            }
        }
    }
}

#[test]
fn ranks_order_what_nothing_else_orders() {
    let mut stations = Stations::new(&[1; 5]);
    let mut graph = Graph::default();
    for (chain, rank) in [(0, 30), (1, 10), (2, 20)] {
        let (station, _) = stations.make(Node { chain, index: 0 }, 0);
        stations.set_rank(station, rank);
    }
    graph.take_in(&stations);
    assert_eq!(graph.in_order(), [1, 2, 0]);
    for (chain, rank) in [(3, 25), (4, 5)] {
        let (station, _) = stations.make(Node { chain, index: 0 }, 0);
        stations.set_rank(station, rank);
    }
    graph.take_in(&stations);
    assert_eq!(graph.in_order(), [4, 1, 2, 3, 0]);
}
