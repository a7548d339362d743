//! The order in which a deadlock's locks are taken everywhere else.

use deadheat_trace::{Event, LockId, Op, Pc};
use rustc_hash::FxHashMap;

use super::{is_near, lock_name, place};
use crate::context::{Context, Held};
use crate::explain::Explain;
use crate::finding::{Finding, Frame};

/// So many pairs of locks are remembered; with more, nothing is suggested.
const MOST_PAIRS: usize = 1 << 16;
/// So many places of a pair.
const MOST_PLACES: usize = 64;

/// Which locks were taken while others were held.
#[derive(Default)]
pub struct Nested {
    /// Where the second was taken with the first held, and how often.
    pairs: FxHashMap<(LockId, LockId), (u64, Vec<Pc>)>,
    is_incomplete: bool,
}

/// A side of a deadlock: it holds a lock that another wants, and wants one that another holds.
#[derive(Clone, Copy)]
struct Edge {
    side: usize,
    holds: LockId,
    wants: LockId,
}

impl Nested {
    /// A lock was taken.
    pub fn take(&mut self, event: &Event, held: &[Held]) {
        for outer in held.iter().filter(|held| held.lock != event.lock()) {
            if self.pairs.len() >= MOST_PAIRS {
                self.is_incomplete = true;
                return;
            }
            let (count, places) = self.pairs.entry((outer.lock, event.lock())).or_default();
            *count += 1;
            if !places.contains(&event.pc()) {
                self.is_incomplete |= places.len() >= MOST_PLACES;
                places.push(event.pc());
            }
        }
    }

    /// In which order to take the locks, if one side alone takes them in another.
    pub fn told(&self, finding: &Finding, sides: &[&Context], explain: &Explain) -> Option<String> {
        let ring = ring(sides, explain)?;
        if self.is_incomplete {
            return None;
        }
        let turned = |at: usize| {
            let mut ring = ring.clone();
            ring.rotate_left(at);
            ring
        };
        let name = |lock: LockId| format!("`{}`", lock_name(lock, explain));
        let order = |ring: &[Edge]| -> Vec<String> {
            let wanted = ring.iter().map(|edge| name(edge.wants));
            wanted.collect()
        };
        let mut ways: Vec<Vec<Edge>> = (0..ring.len()).map(turned).collect();
        // Who does it least often is asked to change; of several, so that the order is easy to remember.
        ways.sort_by_key(|ring| {
            let pair = (ring[0].holds, ring[0].wants);
            let often = self.pairs.get(&pair).map_or(0, |(count, _)| *count);
            (often, !order(ring).is_sorted())
        });
        let mut ways = ways.into_iter();
        let ring = ways.find(|ring| self.is_kept_elsewhere(ring, finding, explain))?;
        let (odd, order) = (ring[0], order(&ring));
        let side = &finding.accesses[odd.side];
        let mut held = sides[odd.side].locks.iter();
        let taken = held.position(|held| held.lock == odd.holds)?;
        let taken = crate::own_place(&side.locks.get(taken)?.acquired_at).at();
        let thread = &side.thread.name;
        Some(match &ring[..] {
            [_, other] => {
                let other = &finding.accesses[other.side];
                format!(
                    "take {} before {} in both: {} does ({}), {thread} takes {} first ({taken})",
                    order[0],
                    order[1],
                    other.thread.name,
                    other.place.at(),
                    order[1]
                )
            }
            _ => format!(
                "take {} in this order everywhere: {thread} takes {} before {} ({taken})",
                order.join(", "),
                name(odd.holds),
                name(odd.wants)
            ),
        })
    }

    /// Whether all takings of these locks but those near the first side are in the order in which the sides want them.
    fn is_kept_elsewhere(&self, ring: &[Edge], finding: &Finding, explain: &Explain) -> bool {
        let odd: &Frame = &finding.accesses[ring[0].side].place;
        let rank = |lock: LockId| ring.iter().position(|edge| edge.wants == lock);
        self.pairs.iter().all(|((outer, inner), (_, places))| {
            let (Some(outer_rank), Some(inner_rank)) = (rank(*outer), rank(*inner)) else {
                return true;
            };
            let is_odd = (*outer, *inner) == (ring[0].holds, ring[0].wants);
            let is_near_odd = |pc: &Pc| is_near(odd, &place(*pc, explain));
            outer_rank < inner_rank || is_odd && places.iter().all(is_near_odd)
        })
    }
}

/// The sides in such an order that each wants what the next holds; `None` if it is no ring of locks.
fn ring(sides: &[&Context], explain: &Explain) -> Option<Vec<Edge>> {
    let wanted: Option<Vec<LockId>> = sides.iter().map(|side| wants(side, explain)).collect();
    let wanted = wanted?;
    let mut ring: Vec<Edge> = Vec::new();
    let mut side = 0;
    loop {
        let wants = wanted[side];
        let holds = |other: &usize| sides[*other].locks.iter().any(|held| held.lock == wants);
        let next = (0..sides.len()).find(|other| *other != side && holds(other))?;
        if ring.iter().any(|edge| edge.side == next) {
            break;
        }
        ring.push(Edge {
            side: next,
            holds: wants,
            wants: wanted[next],
        });
        side = next;
    }
    let is_closed = ring.len() == sides.len() && ring.len() > 1;
    is_closed.then_some(ring)
}

/// The lock that a side waits for.
fn wants(side: &Context, explain: &Explain) -> Option<LockId> {
    let event = &side.step.event;
    match event.op() {
        Op::Acquire | Op::Request | Op::ReadAcquire | Op::ReadRequest => Some(event.lock()),
        Op::FutexWait | Op::FutexWoken => explain.tables.lock_of_word(event.sync()),
        _ => None,
    }
}
