//! Threads that create each other in circles, as far as anybody knows: they are told apart by the place that created them, and no further.
//!
//! A thread is known by the chain of creations that lead to it. Where each of `n` places may create a thread that comes to each of the others,
//! as calls through pointers make it look, there are `n!` such chains. Of creations in one circle only the last is kept, so each place counts
//! once; as the chain does not say any more who came first, all threads of a circle may run at the same time, and each of them twice.
//! Chains without circles can be as many as there are ways through layers of creations. If they are too many, all places are one circle.

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::analysis::Analysis;
use crate::ir::FunctionId;
use crate::path::Site;
use crate::summary::{Deed, What};

/// How many chains may be told apart, beside a few for each place that creates threads.
const MOST_CHAINS: usize = 256;

/// As many more for each place.
const MOST_FOR_EACH: usize = 4;

/// Places, with an edge to each that their threads come to.
type Created = DiGraphMap<Site, (), FxBuildHasher>;

/// Which places create threads that come back to them, and in which circle.
#[derive(Debug, Default)]
pub struct Circles {
    of: FxHashMap<Site, usize>,
}

impl Circles {
    /// Those of everything that begins with these deeds. Threads of one circle are noted to run at the same time.
    pub fn of(analysis: &mut Analysis, begin: &[Deed]) -> Self {
        let created = created(analysis, begin);
        let circles = Circles::among(&created);
        for (site, circle) in &circles.of {
            let Some(spawn) = analysis.spawns.get_mut(site) else {
                continue;
            };
            let together = circles.of.iter().filter(|(_, other)| *other == circle);
            spawn.live_before.extend(together.map(|(site, _)| *site));
            spawn.is_multiple = true;
            spawn.has_number = false;
        }
        circles
    }

    /// Those among places of which each leads to those behind its edges.
    fn among(created: &Created) -> Self {
        // Those that lead to others come behind them.
        let groups = tarjan_scc(created);
        let mut group_of = FxHashMap::default();
        for (number, group) in groups.iter().enumerate() {
            group_of.extend(group.iter().map(|site| (*site, number)));
        }
        let mut chains = vec![1usize; groups.len()];
        for (number, group) in groups.iter().enumerate().rev() {
            chains[number] = chains[number].saturating_mul(group.len());
            let next = group.iter().flat_map(|site| created.neighbors(*site));
            let next: FxHashSet<usize> = next.map(|site| group_of[&site]).collect();
            for next in next.into_iter().filter(|next| *next != number) {
                chains[next] = chains[next].saturating_add(chains[number]);
            }
        }
        let all = chains
            .iter()
            .fold(0usize, |all, some| all.saturating_add(*some));
        if all > MOST_CHAINS + MOST_FOR_EACH * created.node_count() {
            return Circles {
                of: created.nodes().map(|site| (site, 0)).collect(),
            };
        }
        let is_circle = |group: &&Vec<Site>| {
            group.len() > 1 || group.iter().any(|site| created.contains_edge(*site, *site))
        };
        let circles = groups.iter().filter(is_circle).enumerate();
        Circles {
            of: circles
                .flat_map(|(number, group)| group.iter().map(move |site| (*site, number)))
                .collect(),
        }
    }

    /// The chain of a thread that others of `chain` have created, one after the other.
    pub fn chain(&self, chain: &[Site], then: &[Site]) -> Vec<Site> {
        let mut all: Vec<Site> = Vec::with_capacity(chain.len() + then.len());
        for site in chain.iter().chain(then) {
            let circle = self.of.get(site);
            match all.last_mut() {
                Some(last) if circle.is_some() && self.of.get(last) == circle => *last = *site,
                _ => all.push(*site),
            }
        }
        all
    }
}

/// Which place's threads come to which other places that create threads.
fn created(analysis: &Analysis, begin: &[Deed]) -> Created {
    let mut created = Created::default();
    let mut entered: FxHashSet<(FunctionId, Option<Site>)> = FxHashSet::default();
    let mut work = Vec::new();
    let mut note = |deed: &Deed, thread: Option<Site>, work: &mut Vec<_>| {
        let mut last = thread;
        for site in &deed.chain {
            match last {
                Some(last) => _ = created.add_edge(last, *site, ()),
                None => _ = created.add_node(*site),
            }
            last = Some(*site);
        }
        if let What::Enter(function) = deed.what
            && entered.insert((function, last))
        {
            work.push((function, last));
        }
    };
    for deed in begin {
        note(deed, None, &mut work);
    }
    while let Some((function, thread)) = work.pop() {
        if let Some(summary) = &analysis.summaries[function.index()] {
            for deed in &summary.deeds {
                note(deed, thread, &mut work);
            }
        }
    }
    created
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(number: u32) -> Site {
        Site {
            statement: number,
            ..Site::default()
        }
    }

    fn graph(edges: &[(u32, u32)]) -> Created {
        let edges = edges.iter().map(|(from, to)| (place(*from), place(*to)));
        Created::from_edges(edges)
    }

    fn chain(circles: &Circles, places: &[u32]) -> Vec<u32> {
        let places: Vec<Site> = places.iter().map(|number| place(*number)).collect();
        let whole = circles.chain(&[], &places);
        // In whatever parts a chain is put together.
        for at in 0..=places.len() {
            let first = circles.chain(&[], &places[..at]);
            assert_eq!(circles.chain(&first, &places[at..]), whole);
        }
        whole.iter().map(|site| site.statement).collect()
    }

    #[test]
    fn without_circles_everything_is_told_apart() {
        let circles = Circles::among(&graph(&[(1, 2), (1, 3), (2, 4), (3, 4)]));
        assert_eq!(chain(&circles, &[1, 2, 4]), [1, 2, 4]);
        assert_eq!(chain(&circles, &[1, 3, 4]), [1, 3, 4]);
    }

    #[test]
    fn of_a_circle_the_last_is_kept() {
        let circles = Circles::among(&graph(&[(1, 2), (2, 3), (3, 2), (3, 4), (5, 5)]));
        assert_eq!(chain(&circles, &[1, 2, 3, 2, 3]), [1, 3]);
        assert_eq!(chain(&circles, &[1, 2, 3, 4]), [1, 3, 4]);
        assert_eq!(chain(&circles, &[5, 5, 5]), [5]);
    }

    #[test]
    fn chains_are_bounded_where_each_leads_to_each() {
        let edges: Vec<(u32, u32)> = (0..30)
            .flat_map(|from| (0..30).map(move |to| (from, to)))
            .collect();
        let circles = Circles::among(&graph(&edges));
        let many: Vec<u32> = (0..30).collect();
        assert_eq!(chain(&circles, &many), [29]);
    }

    #[test]
    fn too_many_ways_through_layers_are_one_circle() {
        let layers = |count: u32| -> Vec<(u32, u32)> {
            let next = |at: u32| {
                [
                    (at, at + 2),
                    (at, at + 3),
                    (at + 1, at + 2),
                    (at + 1, at + 3),
                ]
            };
            (0..count).flat_map(|layer| next(2 * layer)).collect()
        };
        let few = Circles::among(&graph(&layers(4)));
        assert_eq!(chain(&few, &[0, 2, 4, 6, 8]), [0, 2, 4, 6, 8]);
        let many = Circles::among(&graph(&layers(40)));
        assert_eq!(chain(&many, &[0, 2, 4, 6, 8]), [8]);
    }
}
