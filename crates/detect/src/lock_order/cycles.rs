//! The search for cycles among requests.

use std::sync::atomic::{AtomicBool, Ordering};

use deadheat_trace::{EventIndex, Pc, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{LockPlace, MOST_VISITS, Request};

/// A thread in a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlockStep {
    /// Which.
    pub thread: ThreadId,
    /// What it holds, and the one before requests.
    pub holds: LockPlace,
    /// What it requests, and the next one holds.
    pub requests: LockPlace,
}

/// Threads that may wait for each other, in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The steps, starting with the one whose request came first.
    pub steps: Vec<DeadlockStep>,
}

impl Deadlock {
    /// The event at which the last of the requests came.
    pub fn last_request(&self) -> Option<EventIndex> {
        self.steps.iter().map(|step| step.requests.at).max()
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlocks {
    /// Each set of places once, in the order of their last requests.
    pub found: Vec<Deadlock>,
    /// No bound was met: there are no more.
    pub complete: bool,
}

/// The places of a cycle: what is held and what is requested, sorted.
type Signature = Vec<(Pc, Pc)>;

struct Search<'a> {
    requests: &'a [Request],
    /// Requests by the locks held.
    holding: FxHashMap<u32, Vec<usize>>,
    /// The requests of the chain that is followed, and the lock of each that is held against the one
    /// before.
    chain: Vec<(usize, LockPlace)>,
    seen: FxHashSet<Signature>,
    found: Vec<Deadlock>,
    visits: usize,
    stop: &'a AtomicBool,
    is_stopped: bool,
}

/// Visits between two looks at whether to stop.
const STRIDE: usize = 1 << 10;
/// So often requests are dropped that cannot be in a cycle; what is left then is searched.
const MOST_ROUNDS: usize = 64;

/// All cycles among requests, as far as the bound goes.
pub(super) fn search(requests: &[Request], stop: &AtomicBool) -> Deadlocks {
    let mut holding: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    let inside = in_cycles(requests);
    for (number, request) in requests.iter().enumerate() {
        if inside[number] {
            for held in &request.held {
                holding.entry(held.lock.0).or_default().push(number);
            }
        }
    }
    let mut search = Search {
        requests,
        holding,
        chain: Vec::new(),
        seen: FxHashSet::default(),
        found: Vec::new(),
        visits: 0,
        stop,
        is_stopped: false,
    };
    for (first, _) in inside.iter().enumerate().filter(|(_, inside)| **inside) {
        search.start(first);
    }
    let complete = search.visits < MOST_VISITS && !search.is_stopped;
    Deadlocks {
        found: search.found,
        complete,
    }
}

/// Which requests may be in a cycle: those that are left when those are dropped, again and again,
/// whose lock no other holds, or whose locks no other wants.
fn in_cycles(requests: &[Request]) -> Vec<bool> {
    let mut inside = vec![true; requests.len()];
    for _ in 0..MOST_ROUNDS {
        let (mut held, mut wanted) = (FxHashSet::default(), FxHashSet::default());
        for (request, _) in requests.iter().zip(&inside).filter(|(_, inside)| **inside) {
            held.extend(request.held.iter().map(|place| place.lock));
            wanted.insert(request.wanted.lock);
        }
        let mut changed = false;
        for (request, inside) in requests.iter().zip(&mut inside) {
            let stays = held.contains(&request.wanted.lock)
                && request
                    .held
                    .iter()
                    .any(|place| wanted.contains(&place.lock));
            changed |= *inside && !stays;
            *inside &= stays;
        }
        if !changed {
            break;
        }
    }
    inside
}

impl Search<'_> {
    /// All cycles whose first request is this one. Others in it come later in the trace.
    fn start(&mut self, first: usize) {
        let request = &self.requests[first];
        // Which of its locks the last step will want is not known yet.
        let any = request.held[0];
        self.chain.push((first, any));
        self.follow();
        self.chain.pop();
    }

    /// One step further. The depth is at most the number of threads.
    fn follow(&mut self) {
        let Some(((first, _), (last, _))) = self
            .chain
            .first()
            .zip(self.chain.last())
            .map(|(a, b)| (*a, *b))
        else {
            return;
        };
        let wanted = self.requests[last].wanted.hold();
        let Some(holders) = self.holding.get(&wanted.lock()).cloned() else {
            return;
        };
        if self.chain.len() > 1
            && let Some(closing) = self.requests[first].holds_against(wanted)
        {
            self.report(*closing);
        }
        for next in holders.into_iter().filter(|next| *next > first) {
            if self.visits >= MOST_VISITS || self.is_stopped {
                return;
            }
            self.visits += 1;
            self.is_stopped =
                self.visits.is_multiple_of(STRIDE) && self.stop.load(Ordering::Relaxed);
            let request = &self.requests[next];
            let mut chain = self.chain.iter();
            if let Some(held) = request.holds_against(wanted)
                && chain.all(|(other, _)| request.can_meet(&self.requests[*other]))
            {
                let held = *held;
                self.chain.push((next, held));
                self.follow();
                self.chain.pop();
            }
        }
    }

    fn report(&mut self, closing: LockPlace) {
        let mut steps = Vec::new();
        for (position, (number, held)) in self.chain.iter().enumerate() {
            let request = &self.requests[*number];
            steps.push(DeadlockStep {
                thread: request.thread,
                holds: if position == 0 { closing } else { *held },
                requests: request.wanted,
            });
        }
        let places = steps.iter().map(|step| (step.holds.pc, step.requests.pc));
        let mut signature: Signature = places.collect();
        signature.sort_unstable();
        if self.seen.insert(signature) {
            self.found.push(Deadlock { steps });
        }
    }
}
