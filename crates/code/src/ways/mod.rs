//! What lies on the ways between the events of a function.
//!
//! From each call that may make an event all ways are followed to the next such calls. What they
//! pass is joined: the branches, with what they depend on, and calls that are opaque. A way
//! without either is straight, and then it is the only one.

mod late_writes;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::arch::Flow;
use crate::callee::{Atomic, Callee, Size};
use crate::dataflow::Solution;
use crate::dataflow::sets::{Set, Sets};
use crate::graph::Graph;

/// A place of a function between which ways lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Node {
    Entry,
    Exit,
    /// A call, by its number among those that may make events.
    Site(u32),
}

/// What a way passes: nothing, or branches that depend on this.
pub(crate) type Mark = Option<Set>;

/// All ways of a function.
pub(crate) type Ways = BTreeMap<(Node, Node), Mark>;

/// Where more blocks lie between two events they are not looked at.
const MOST_BLOCKS: usize = 4096;

/// The calls that may make events, by their instructions: the numbers of their sites.
pub(crate) fn sites(graph: &Graph) -> FxHashMap<usize, u32> {
    let mut calls: Vec<usize> = graph.callees.keys().copied().collect();
    calls.sort_unstable();
    let may_make_event = |number: &usize| {
        let jump = matches!(graph.instructions[*number].flow, Flow::Jump(_));
        let callee = graph.callees[number];
        !jump
            && matches!(
                callee,
                Callee::Access { .. }
                    | Callee::Atomic { .. }
                    | Callee::Library(_)
                    | Callee::Instrumented
                    | Callee::Opaque
            )
    };
    let calls = calls.into_iter().filter(may_make_event);
    calls.zip(0..).collect()
}

/// Something on a way through a block.
#[derive(Clone, Copy)]
enum Stop {
    /// The way ends here.
    End(Option<Node>),
    /// An event may happen here, of which the last part says whether it is behind a branch; or the
    /// way goes on and nothing is known of what it passed.
    Perhaps(Node, Mark),
}

/// What lies on the way through a block from some point on.
#[derive(Default)]
struct Stretch {
    reached: SmallVec<[(Node, Mark); 2]>,
    /// Where it goes on; nowhere if the way ends inside.
    next: SmallVec<[(usize, Mark); 2]>,
}

struct Search<'a> {
    graph: &'a Graph,
    conditions: &'a FxHashMap<usize, Set>,
    sets: &'a mut Sets,
    /// By block, in order: the instruction, and what it is.
    stops: Vec<Vec<(usize, Stop)>>,
}

/// All ways between the events of a function. `None` if it has no entry, or several.
pub(crate) fn ways(
    graph: &Graph,
    sites: &FxHashMap<usize, u32>,
    solution: &mut Solution,
) -> Option<Ways> {
    let mut enters = graph
        .callees
        .iter()
        .filter(|(_, callee)| **callee == Callee::Enter);
    let (Some((&enter, _)), None) = (enters.next(), enters.next()) else {
        return None;
    };
    if enter >= graph.blocks[0].end {
        return None;
    }
    let block_of = |number: usize| {
        let after = graph.blocks.partition_point(|block| block.start <= number);
        after - 1
    };
    let stops = stops(graph, sites, solution, block_of);
    let mut search = Search {
        graph,
        conditions: &solution.conditions,
        sets: &mut solution.sets,
        stops,
    };
    let mut ways = Ways::new();
    let mut froms: Vec<(usize, Node)> = sites
        .iter()
        .map(|(number, site)| (*number, Node::Site(*site)))
        .collect();
    froms.push((enter, Node::Entry));
    for (number, from) in froms {
        for (to, mark) in search.from(block_of(number), number) {
            ways.insert((from, to), mark);
        }
    }
    late_writes::allow(graph, sites, &mut ways, &mut solution.sets);
    for (&number, &site) in sites {
        let result = solution.sites.get(&number).copied();
        let again = match graph.callees[&number] {
            Callee::Library(_)
            | Callee::Access {
                size: Size::SecondArgument,
                ..
            } => None,
            Callee::Access {
                reads: true,
                writes: true,
                ..
            } => None,
            // The second event is there only if what was expected was not.
            Callee::Atomic {
                kind: Atomic::Compares,
                ..
            } => {
                let own = solution.sets.site(site);
                result.map(|result| solution.sets.union(result, own))
            }
            _ => continue,
        };
        let node = Node::Site(site);
        let mark = match ways.get(&(node, node)) {
            Some(&round) => join(&mut solution.sets, round, again),
            None => again,
        };
        ways.insert((node, node), mark);
    }
    Some(ways)
}

/// What a way passes that passes both.
fn join(sets: &mut Sets, one: Mark, two: Mark) -> Mark {
    match (one, two) {
        (Some(one), Some(two)) => Some(sets.union(one, two)),
        (one, two) => one.or(two),
    }
}

/// Whether a call may make no event though others of its kind do: a lock that was not to be had,
/// a range of no bytes, a pointer to nothing that is freed.
fn may_be_silent(callee: Callee) -> bool {
    match callee {
        Callee::Library(_) => true,
        Callee::Access { size, .. } => !matches!(size, Size::Bytes(_)),
        _ => false,
    }
}

fn stops(
    graph: &Graph,
    sites: &FxHashMap<usize, u32>,
    solution: &Solution,
    block_of: impl Fn(usize) -> usize,
) -> Vec<Vec<(usize, Stop)>> {
    let mut stops = vec![Vec::new(); graph.blocks.len()];
    for (&number, callee) in &graph.callees {
        let site = sites.get(&number).map(|site| Node::Site(*site));
        let stop = match (callee, site) {
            (Callee::Exit, _) => Stop::End(Some(Node::Exit)),
            (Callee::Enter | Callee::Never | Callee::Again, _) => Stop::End(None),
            (Callee::Transparent | Callee::ThreadVariable, _) => continue,
            (_, None) => Stop::End(None),
            (Callee::Opaque, Some(site)) => {
                let called = match graph.instructions[number].flow {
                    Flow::CallIndirect => solution.sites.get(&number).copied(),
                    _ => None,
                };
                Stop::Perhaps(site, Some(called.unwrap_or(Set::EVERYTHING)))
            }
            (callee, Some(site)) if may_be_silent(*callee) => Stop::Perhaps(site, None),
            (_, Some(site)) => Stop::End(Some(site)),
        };
        stops[block_of(number)].push((number, stop));
    }
    for stops in &mut stops {
        stops.sort_unstable_by_key(|(number, _)| *number);
    }
    stops
}

impl Search<'_> {
    /// The ways from behind an instruction: where they end, and what they pass.
    fn from(&mut self, block: usize, behind: usize) -> BTreeMap<Node, Mark> {
        let mut ends = BTreeMap::new();
        let mut known: FxHashMap<usize, Mark> = FxHashMap::default();
        let mut open = Vec::new();
        let first = self.stretch(block, Some(behind));
        self.follow(first, None, &mut ends, &mut known, &mut open);
        while let Some(block) = open.pop() {
            if known.len() > MOST_BLOCKS {
                return BTreeMap::new();
            }
            let stretch = self.stretch(block, None);
            self.follow(stretch, known[&block], &mut ends, &mut known, &mut open);
        }
        ends
    }

    fn follow(
        &mut self,
        stretch: Stretch,
        passed: Mark,
        ends: &mut BTreeMap<Node, Mark>,
        known: &mut FxHashMap<usize, Mark>,
        open: &mut Vec<usize>,
    ) {
        for (node, mark) in stretch.reached {
            let mark = join(self.sets, passed, mark);
            let end = ends.entry(node).or_insert(mark);
            *end = join(self.sets, *end, mark);
        }
        for (next, mark) in stretch.next {
            let mark = join(self.sets, passed, mark);
            let joined = match known.get(&next) {
                Some(&before) => {
                    let joined = join(self.sets, before, mark);
                    if joined == before {
                        continue;
                    }
                    joined
                }
                None => mark,
            };
            known.insert(next, joined);
            open.push(next);
        }
    }

    /// The way through a block, from its start or from behind an instruction.
    fn stretch(&mut self, number: usize, behind: Option<usize>) -> Stretch {
        let block = &self.graph.blocks[number];
        let mut stretch = Stretch::default();
        let mut passed = None;
        for &(at, stop) in &self.stops[number] {
            if behind.is_some_and(|behind| at <= behind) {
                continue;
            }
            match stop {
                Stop::End(node) => {
                    stretch.reached.extend(node.map(|node| (node, passed)));
                    return stretch;
                }
                Stop::Perhaps(node, called) => {
                    let mark = join(self.sets, passed, called);
                    stretch.reached.push((node, mark));
                    passed = Some(Set::EVERYTHING);
                }
            }
        }
        let last = block.end - 1;
        let branch = match self.graph.instructions[last].flow {
            Flow::Branch(_) | Flow::JumpIndirect => Some(
                self.conditions
                    .get(&last)
                    .copied()
                    .unwrap_or(Set::EVERYTHING),
            ),
            _ => None,
        };
        let mark = join(self.sets, passed, branch);
        stretch
            .next
            .extend(block.next.iter().map(|next| (*next, mark)));
        stretch
            .next
            .extend(block.pad.map(|pad| (pad, Some(Set::EVERYTHING))));
        stretch
    }
}
