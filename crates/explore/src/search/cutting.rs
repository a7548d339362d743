//! Where the rest of a run was seen before, and what follows from that for the places before it.
//!
//! Either the thread that goes on sleeps, or the state is one that was left with everything seen ([`super::visited`]). The second is where this search
//! deviates most from Abdulla, Aronis, Jonsson and Sagonas: transitions that lie ahead would have raced with those before, and nothing
//! is known of them but what they do and whose they are. What their paper asks for is that for each race one of the threads is given the turn
//! before its earlier transition that can begin the row `v` that shows it the other way round (a *source set*). That holds for this:
//!
//! * What each thread does next is known from the run, which is executed to its end; its races are as exact as ever.
//! * All else that a thread may do happens after that, and after all that this depends on.
//! * If something stands in the run behind the earlier transition and does not happen after it, `v` begins with that, whatever
//!   follows. If nothing does, `v` begins with one of the threads that do not know of the earlier transition, and all of these are given
//!   the turn.

use deadheat_trace::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    clocks::Clock,
    dependence::wakes_up,
    dpor::Dpor,
    execution::{Deed, Execution},
    findings::Findings,
    node::{Later, Node},
    policy::Learned,
    races,
    tree::{Branch, Row},
    visited::{Revisit, Step, Visit},
};

impl Dpor {
    /// Who goes on sleeps. Some thread that does not sleep may have had no turn because it was asked to go last, or lets others go first.
    pub(super) fn cut(
        &mut self,
        execution: &Execution,
        place: usize,
        mut node: Node,
        findings: &mut Findings,
    ) {
        let waiting = self.waiting(execution, place, findings);
        node.steps = self.noted(&waiting);
        // A run that goes another way than its row says may come to threads that sleep and were not asked.
        let bit = |thread: u32| 1_u64.checked_shl(thread).unwrap_or(0);
        let sleeper = execution.transitions[place].thread;
        self.unasked |= self.last & bit(sleeper) == 0;
        let yielded = |thread: u32| execution.yielded & 1 << thread.min(u64::BITS - 1) != 0;
        let mut owed = Vec::new();
        for later in &waiting {
            let thread = later.thread;
            let asked = self.last & bit(thread) != 0;
            // Nobody's time is up as long as somebody else can go on.
            let timed = later
                .deeds
                .as_ref()
                .is_err_and(|deeds| deeds.iter().any(|deed| deed.tried));
            if (asked || timed || yielded(thread) || self.unasked) && !node.sleeps(thread) {
                owed.push(thread);
            }
        }
        if owed.is_empty() {
            self.nodes.push(node);
            self.reverse_all(&waiting, false);
        } else {
            node.owed = Some((owed, waiting));
            self.nodes.push(node);
        }
    }

    /// What all threads were about to do where the rest of a run was cut off. One that waits for a lock would have had its race later.
    fn waiting(
        &mut self,
        execution: &Execution,
        place: usize,
        findings: &mut Findings,
    ) -> Vec<Later> {
        let mut seen = Vec::new();
        let mut next: Vec<(u32, Vec<Deed>)> = Vec::new();
        for transition in &execution.transitions[place..] {
            // Who is created only behind that place is not there yet.
            let created = transition.deeds.iter().filter(|deed| deed.op == Op::Fork);
            seen.extend(created.filter_map(|deed| u32::try_from(deed.object).ok()));
            if !seen.contains(&transition.thread) {
                seen.push(transition.thread);
                next.push((transition.thread, transition.deeds.clone()));
            }
        }
        for pending in &execution.pending {
            if !seen.contains(&pending.thread) {
                next.push((pending.thread, pending.deed.into_iter().collect()));
            }
        }
        next.into_iter()
            .map(|(thread, deeds)| self.look(thread, deeds, findings))
            .collect()
    }

    /// What threads were about to do at a place is something that may lie ahead of others.
    pub(super) fn noted(&mut self, waiting: &[Later]) -> Vec<Step> {
        let Some(visited) = &mut self.journal.visited else {
            return Vec::new();
        };
        let deeds = waiting
            .iter()
            .filter_map(|later| Some((later.thread, later.deeds.as_ref().err()?)));
        deeds
            .map(|(thread, deeds)| visited.step(thread, deeds, None))
            .collect()
    }

    /// How a node is come to.
    pub(super) fn visit(&self, node: &Node, place: usize) -> Visit {
        let before = place.checked_sub(1).map(|place| self.thread_at(place));
        Visit {
            sleep: node.sleep.iter().map(|would| would.thread).collect(),
            spare: self
                .bound
                .map(|bound| bound.saturating_sub(node.preemptions)),
            before,
        }
    }

    /// Leaves the last node, all that follows from it was seen.
    pub(super) fn leave(&mut self) {
        let place = self.nodes.len() - 1;
        let Some(mut node) = self.nodes.pop() else {
            return;
        };
        if let Some(parent) = self.nodes.last_mut() {
            parent.put_off |= node.put_off;
        }
        let visit = self.visit(&node, place);
        if let (Some(key), Some(visited)) = (node.key, &mut self.journal.visited) {
            let steps = std::mem::take(&mut node.steps);
            visited.leave(key, visit, node.put_off, steps);
        }
    }

    /// Not all that follows from the present nodes can be seen.
    pub(super) fn give_up_states(&mut self) {
        for node in &mut self.nodes {
            node.key = None;
        }
    }

    /// The run has come to a state that is known.
    pub(super) fn revisit(
        &mut self,
        execution: &Execution,
        place: usize,
        revisit: &Revisit,
        findings: &mut Findings,
    ) -> Learned {
        let waiting = self.waiting(execution, place, findings);
        self.reverse_all(&waiting, false);
        self.foresee(&waiting, &revisit.ahead);
        if revisit.put_off {
            self.put_off += 1;
            if let Some(node) = self.nodes.last_mut() {
                node.put_off = true;
            }
        }
        let rest = &execution.transitions[place..];
        match self.journal.end(rest, execution, revisit.whole) {
            true => Learned::Revisit,
            false => Learned::Hidden,
        }
    }

    /// What lies ahead is to be seen the other way round with what it may race with, unless it was.
    fn foresee(&mut self, waiting: &[Later], ahead: &[u32]) {
        let Some(visited) = self.journal.visited.take() else {
            return;
        };
        let ahead: Vec<(u32, &[Deed])> = ahead.iter().map(|what| visited.deeds(*what)).collect();
        let known = self.known(waiting, &ahead);
        let path = &mut self.journal.path;
        let mut events: FxHashSet<usize> = FxHashSet::default();
        for &(thread, deeds) in &ahead {
            let arrival = path.ahead(thread, deeds, &known[&thread]);
            if deeds.iter().any(|deed| wakes_up(deed.op)) {
                // It depends on one of them, and on which is not known.
                events.extend(arrival.predecessors.iter().map(|one| one.event));
            } else {
                let races = races::races(path, &arrival);
                events.extend(races.iter().map(|race| race.event));
            }
        }
        for event in events {
            let node = &mut self.nodes[event];
            if let Some(mut row) = Row::open(path, event) {
                if !row.is_led_by(node.seen()) {
                    row.put_into(&mut node.tree);
                }
                continue;
            }
            let earlier = path.event(event);
            for later in waiting {
                let thread = later.thread;
                let there = |branch: &Branch| branch.turn.thread == thread;
                if thread != earlier.transition.thread
                    && !known[&thread].knows(earlier.slot, event)
                    && !node.seen().any(|would| would.thread == thread)
                    && !node.tree.iter().any(there)
                {
                    node.tree.push(Branch::alone(thread));
                }
            }
        }
        self.journal.visited = Some(visited);
    }

    /// What each thread will know of the run as it stands when it does anything but the first of what lies ahead.
    fn known(&mut self, waiting: &[Later], ahead: &[(u32, &[Deed])]) -> FxHashMap<u32, Clock> {
        let mut known: FxHashMap<u32, Clock> = FxHashMap::default();
        for later in waiting {
            let deeds = later.deeds.as_ref().err().map_or(&[][..], Vec::as_slice);
            known.insert(later.thread, self.known_behind(later.thread, deeds));
        }
        // Who is still to be created will know what its creator does.
        loop {
            let before = known.len();
            for (thread, deeds) in ahead {
                let created = deeds.iter().filter(|deed| deed.op == Op::Fork);
                let created = created.filter_map(|deed| u32::try_from(deed.object).ok());
                for child in created {
                    let by_others = ahead.iter().any(|(other, deeds)| {
                        let forks =
                            |deed: &Deed| deed.op == Op::Fork && deed.object == u64::from(child);
                        other != thread && deeds.iter().any(forks)
                    });
                    if !by_others
                        && !known.contains_key(&child)
                        && let Some(clock) = known.get(thread).cloned()
                    {
                        known.insert(child, clock);
                    }
                }
            }
            if known.len() == before {
                break;
            }
        }
        for (thread, _) in ahead {
            known
                .entry(*thread)
                .or_insert_with(|| self.journal.path.arrival(*thread, &[]).base);
        }
        known
    }

    /// What a thread will know behind its next transition at least, if that is this one when it is taken at once.
    fn known_behind(&mut self, thread: u32, deeds: &[Deed]) -> Clock {
        let path = &mut self.journal.path;
        let is_fixed = |deed: &Deed| {
            !deed.tried
                && !wakes_up(deed.op)
                && !matches!(
                    deed.op,
                    Op::Refused
                        | Op::ReadRefused
                        | Op::TakeRefused
                        | Op::ReceiveRefused
                        | Op::FutexWait
                )
        };
        if !deeds.iter().all(is_fixed) {
            return path.arrival(thread, &[]).base;
        }
        let mut deeds = deeds.to_vec();
        for deed in &mut deeds {
            if deed.op == Op::AtomicRmw {
                // It may turn out to change nothing.
                deed.op = Op::AtomicRead;
            }
        }
        let arrival = path.arrival(thread, &deeds);
        let mut known = arrival.base;
        for one in &arrival.predecessors {
            known.join(&path.event(one.event).clock);
        }
        known
    }
}
