//! The order as a graph that never has a cycle, changed edge by edge.
//!
//! Follows Pearce and Kelly, *A dynamic topological sort algorithm for directed acyclic graphs* (JEA
//! 2006): every station has a place in one linear order; an edge against that order makes only the
//! stations between its ends move. Deviations: chain edges are not stored but read off the stations'
//! links, and the forward search is a 0-1 breadth-first search, in which an edge costs one if a
//! literal that may be undone asked for it. So the cycle that explains a conflict has the fewest
//! such literals. Edges leave in the reverse order of their coming; the linear order stays then.

use crate::literal::Lit;
use crate::stations::{NOWHERE, Stations};

/// Why two stations are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// They stand in one chain.
    Chain,
    /// A permanent edge, with its serial.
    Permanent(u32),
    /// An order literal that is true.
    Literal(Lit),
}

#[derive(Clone, Copy)]
struct Arc {
    station: u32,
    why: Why,
}

/// A step of a cycle: the station that it leaves, and why the next one comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub from: u32,
    pub why: Why,
}

/// The new edge would close a cycle; [`Graph::cycle`] has it.
#[derive(Debug)]
pub(crate) struct ClosesCycle;

/// Stations, the edges between them, and a linear order that has all of these.
#[derive(Default)]
pub(crate) struct Graph {
    out: Vec<Vec<Arc>>,
    into: Vec<Vec<Arc>>,
    places: Vec<u32>,
    by_place: Vec<u32>,
    added: Vec<(u32, u32)>,
    cycle: Vec<Step>,
    visited: u64,
    // Marks and lists of the searches, kept to be used again.
    stamp: u32,
    reached: Vec<u32>,
    settled: Vec<u32>,
    costs: Vec<u32>,
    parents: Vec<Step>,
    forward: Vec<u32>,
    backward: Vec<u32>,
    here: Vec<u32>,
    further: Vec<u32>,
    free_places: Vec<u32>,
}

impl Graph {
    /// How many stations the graph has taken in.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Where the station stands in the linear order.
    pub fn place(&self, station: u32) -> u32 {
        self.places[station as usize]
    }

    /// The stations in the linear order.
    pub fn in_order(&self) -> &[u32] {
        &self.by_place
    }

    /// How many edges there are besides those of the chains.
    pub fn edge_count(&self) -> usize {
        self.added.len()
    }

    /// The edges besides those of the chains.
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.added
    }

    /// The cycle that the last refused edge would have closed; that edge comes first.
    pub fn cycle(&self) -> &[Step] {
        &self.cycle
    }

    /// How many stations all searches have looked at.
    pub fn visited(&self) -> u64 {
        self.visited
    }

    /// Takes in the stations that were made since: each goes where its rank wants it among the
    /// others, as far as its neighbours in the chain allow.
    pub fn take_in(&mut self, stations: &Stations) {
        let old = self.len();
        if old == stations.len() {
            return;
        }
        let slots = self.slots(stations, old);
        let mut fresh: Vec<(u32, u64, u32)> = slots;
        fresh.sort_by_key(|&(slot, rank, station)| (slot, rank, stations.node(station)));
        let mut merged = Vec::with_capacity(stations.len());
        let mut fresh = fresh.into_iter().peekable();
        for slot in 0..=old {
            while let Some((_, _, station)) = fresh.next_if(|f| f.0 as usize == slot) {
                merged.push(station);
            }
            if slot < old {
                merged.push(self.by_place[slot]);
            }
        }
        self.by_place = merged;
        self.resize(stations.len());
        self.number();
    }

    /// For every new station the old place before which it goes, and its rank.
    fn slots(&self, stations: &Stations, old: usize) -> Vec<(u32, u64, u32)> {
        let mut latest = 0;
        let times: Vec<u64> = self
            .by_place
            .iter()
            .map(|&station| {
                latest = latest.max(stations.rank(station));
                latest
            })
            .collect();
        let is_new = |station: u32| station != NOWHERE && station as usize >= old;
        let mut fresh: Vec<u32> = (old as u32..stations.len() as u32).collect();
        fresh.sort_unstable_by_key(|&station| stations.node(station));
        // No later than the next old station of the chain.
        let mut limits = vec![old as u32; fresh.len()];
        for k in (0..fresh.len()).rev() {
            let next = stations.next(fresh[k]);
            limits[k] = if is_new(next) {
                limits[k + 1]
            } else if next == NOWHERE {
                old as u32
            } else {
                self.places[next as usize]
            };
        }
        let mut slots: Vec<(u32, u64, u32)> = Vec::with_capacity(fresh.len());
        for (k, &station) in fresh.iter().enumerate() {
            let previous = stations.previous(station);
            let (earliest, rank) = if is_new(previous) {
                (slots[k - 1].0, slots[k - 1].1)
            } else if previous == NOWHERE {
                (0, 0)
            } else {
                (self.places[previous as usize] + 1, stations.rank(previous))
            };
            let rank = rank.max(stations.rank(station));
            let wish = times.partition_point(|&time| time <= rank) as u32;
            slots.push((wish.max(earliest).min(limits[k]), rank, station));
        }
        slots
    }

    fn resize(&mut self, stations: usize) {
        self.out.resize_with(stations, Vec::new);
        self.into.resize_with(stations, Vec::new);
        self.places.resize(stations, 0);
        self.reached.resize(stations, 0);
        self.settled.resize(stations, 0);
        self.costs.resize(stations, 0);
        let nothing = Step {
            from: NOWHERE,
            why: Why::Chain,
        };
        self.parents.resize(stations, nothing);
    }

    fn number(&mut self) {
        for (place, &station) in self.by_place.iter().enumerate() {
            self.places[station as usize] = place as u32;
        }
    }

    /// Drops all but the first `stations` stations; no edge may touch the others any more.
    pub fn truncate(&mut self, stations: usize) {
        if stations < self.len() {
            self.by_place
                .retain(|&station| (station as usize) < stations);
            self.resize(stations);
            self.number();
        }
    }

    /// Adds the edge `x` before `y`, unless that would close a cycle. `is_fixed` says of a literal
    /// whether it will stay true for good, so that naming it in an explanation costs nothing.
    pub fn add(
        &mut self,
        (x, y): (u32, u32),
        why: Why,
        stations: &Stations,
        is_fixed: impl Fn(Lit) -> bool,
    ) -> Result<(), ClosesCycle> {
        if x == y {
            self.cycle.clear();
            self.cycle.push(Step { from: x, why });
            return Err(ClosesCycle);
        }
        if self.place(x) > self.place(y) {
            if let Some(last) = self.search_forward(x, y, stations, is_fixed) {
                self.trace_cycle(x, why, last);
                return Err(ClosesCycle);
            }
            self.search_backward(x, y, stations);
            self.reorder();
        }
        self.out[x as usize].push(Arc { station: y, why });
        self.into[y as usize].push(Arc { station: x, why });
        self.added.push((x, y));
        Ok(())
    }

    /// Takes the youngest edges away until `count` are left.
    pub fn shrink(&mut self, count: usize) {
        while self.added.len() > count {
            if let Some((x, y)) = self.added.pop() {
                self.out[x as usize].pop();
                self.into[y as usize].pop();
            }
        }
    }

    /// A mark that no station has.
    fn next_stamp(&mut self) {
        if self.stamp == u32::MAX {
            self.stamp = 0;
            self.reached.fill(0);
            self.settled.fill(0);
        }
        self.stamp += 1;
    }

    /// Collects what `y` reaches below the place of `x`, cheapest first. If `x` is among it: the last
    /// step of a cheapest way there.
    fn search_forward(
        &mut self,
        x: u32,
        y: u32,
        stations: &Stations,
        is_fixed: impl Fn(Lit) -> bool,
    ) -> Option<Step> {
        self.next_stamp();
        let limit = self.place(x);
        let mut cost = 0;
        let mut found: Option<(u32, Step)> = None;
        self.forward.clear();
        self.here.clear();
        self.further.clear();
        self.reached[y as usize] = self.stamp;
        self.costs[y as usize] = 0;
        self.parents[y as usize].from = NOWHERE;
        self.here.push(y);
        loop {
            let Some(station) = self.here.pop() else {
                if self.further.is_empty() || found.is_some_and(|(best, _)| best <= cost + 1) {
                    break;
                }
                std::mem::swap(&mut self.here, &mut self.further);
                cost += 1;
                continue;
            };
            let s = station as usize;
            if self.costs[s] != cost || self.settled[s] == self.stamp {
                continue;
            }
            self.settled[s] = self.stamp;
            self.forward.push(station);
            self.visited += 1;
            let next = stations.next(station);
            let chain = (next != NOWHERE).then_some(Arc {
                station: next,
                why: Why::Chain,
            });
            for k in 0..=self.out[s].len() {
                let arc = match (k.checked_sub(1), chain) {
                    (Some(k), _) => self.out[s][k],
                    (None, Some(arc)) => arc,
                    (None, None) => continue,
                };
                let free = match arc.why {
                    Why::Literal(lit) => is_fixed(lit),
                    Why::Chain | Why::Permanent(_) => true,
                };
                let new_cost = cost + u32::from(!free);
                let step = Step {
                    from: station,
                    why: arc.why,
                };
                if arc.station == x {
                    if found.is_none_or(|(best, _)| new_cost < best) {
                        found = Some((new_cost, step));
                    }
                    continue;
                }
                let t = arc.station as usize;
                let better = self.reached[t] != self.stamp || new_cost < self.costs[t];
                if self.places[t] < limit && better {
                    self.reached[t] = self.stamp;
                    self.costs[t] = new_cost;
                    self.parents[t] = step;
                    if free {
                        self.here.push(arc.station);
                    } else {
                        self.further.push(arc.station);
                    }
                }
            }
        }
        found.map(|(_, step)| step)
    }

    fn trace_cycle(&mut self, x: u32, why: Why, last: Step) {
        self.cycle.clear();
        self.cycle.push(Step { from: x, why });
        let mut step = last;
        while step.from != NOWHERE {
            self.cycle.push(step);
            step = self.parents[step.from as usize];
        }
        self.cycle[1..].reverse();
    }

    /// Collects what reaches `x` from above the place of `y`.
    fn search_backward(&mut self, x: u32, y: u32, stations: &Stations) {
        self.next_stamp();
        let limit = self.place(y);
        self.backward.clear();
        self.here.clear();
        self.here.push(x);
        self.reached[x as usize] = self.stamp;
        while let Some(station) = self.here.pop() {
            self.backward.push(station);
            self.visited += 1;
            let previous = stations.previous(station);
            if previous != NOWHERE {
                self.reach_backward(previous, limit);
            }
            for k in 0..self.into[station as usize].len() {
                self.reach_backward(self.into[station as usize][k].station, limit);
            }
        }
    }

    fn reach_backward(&mut self, station: u32, limit: u32) {
        let s = station as usize;
        if self.places[s] > limit && self.reached[s] != self.stamp {
            self.reached[s] = self.stamp;
            self.here.push(station);
        }
    }

    /// Puts all of `backward` before all of `forward`, in the places that they have together.
    fn reorder(&mut self) {
        let places = &self.places;
        self.backward.sort_unstable_by_key(|&s| places[s as usize]);
        self.forward.sort_unstable_by_key(|&s| places[s as usize]);
        let moving = || self.backward.iter().chain(&self.forward);
        self.free_places.clear();
        self.free_places
            .extend(moving().map(|&s| places[s as usize]));
        self.free_places.sort_unstable();
        for (&station, &place) in moving().zip(&self.free_places) {
            self.places[station as usize] = place;
            self.by_place[place as usize] = station;
        }
    }
}

#[cfg(test)]
mod tests;
