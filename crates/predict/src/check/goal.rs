//! The end of a schedule: are the events of the cut next, and do they race or hold each other up?

use deadheat_trace::{Op, ThreadId};
use rustc_hash::FxHashSet;

use super::{Broken, Simulation, Violation};
use crate::{Cut, Goal, Hold, NOBODY};

impl Simulation<'_> {
    /// Whether all events of a cut are next now, and are what it says.
    pub fn reached(&self, cut: &Cut) -> Result<(), Violation> {
        for &event in &cut.next {
            self.is_next(event)
                .map_err(|broken| self.not_next(event, broken))?;
        }
        // All are in the window, or would not be next.
        let mut threads: Vec<(u32, u32)> =
            cut.next.iter().map(|&at| (self.thread(at), at)).collect();
        threads.sort_unstable();
        if let Some(two) = threads.windows(2).find(|two| two[0].0 == two[1].0) {
            let id = self.observed.window.steps[two[0].1 as usize].event.thread();
            return Err(Violation::SameThread(two[0].1, two[1].1, id));
        }
        match (cut.goal, cut.next.as_slice()) {
            (Goal::Race, &[a, b]) => self.race(a, b),
            (Goal::Deadlock, [_, ..]) => self.deadlock(&cut.next),
            _ => Err(Violation::Size(cut.next.len())),
        }
    }

    fn not_next(&self, event: u32, broken: Broken) -> Violation {
        Violation::NotNext {
            steps: self.steps(),
            event,
            broken,
        }
    }

    fn thread(&self, position: u32) -> u32 {
        self.observed.threads.of[position as usize]
    }

    fn race(&self, a: u32, b: u32) -> Result<(), Violation> {
        let none = |why| Err(Violation::NoRace(a, b, why));
        let steps = &self.observed.window.steps;
        let [op_a, op_b] = [a, b].map(|at| steps[at as usize].event.op());
        let cells = &self.observed.cells;
        if op_a == Op::ExternalWrite || op_b == Op::ExternalWrite {
            return none("code that nobody saw is not judged");
        }
        for (free, other) in [(a, b), (b, a)] {
            if let Some(&life) = cells.freed.get(&free) {
                let mut lives = cells
                    .of(other)
                    .iter()
                    .map(|&cell| cells.all[cell as usize].life);
                return match lives.any(|its| its == life) {
                    true => Ok(()),
                    false => none("the block that is given back is not accessed"),
                };
            }
        }
        if !op_a.is_access() || !op_b.is_access() {
            return none("both must be accesses, or one the release of memory");
        }
        if !op_a.writes() && !op_b.writes() {
            return none("nobody writes");
        }
        if op_a.is_atomic() && op_b.is_atomic() {
            return none("both are atomic");
        }
        let of_a: FxHashSet<u32> = cells.of(a).iter().copied().collect();
        if !cells.of(b).iter().any(|cell| of_a.contains(cell)) {
            return none("they have no bytes in common");
        }
        self.still_themselves(a, b, op_a, op_b)
    }

    /// An access that depends on what it reads must read that, unless it does not matter for the race: whether an atomic one
    /// writes matters only against a read.
    fn still_themselves(&self, a: u32, b: u32, op_a: Op, op_b: Op) -> Result<(), Violation> {
        for (at, op, other) in [(a, op_a, op_b), (b, op_b, op_a)] {
            let needs_itself = op.reads() && self.observed.needed_by(at) == at;
            let depends = match op.is_atomic() {
                true => needs_itself && op == Op::AtomicRmw && !other.writes(),
                false => needs_itself,
            };
            let step = &self.observed.window.steps[at as usize];
            if depends && !self.state.memory.same(self.observed, at, step) {
                return Err(self.not_next(at, Broken::WouldReadElse));
            }
        }
        Ok(())
    }

    /// Whether a thread that waits at this position stops because its time is up.
    fn gives_up(&self, event: u32) -> bool {
        let own = &self.observed.threads.positions[self.thread(event) as usize];
        let behind = own.partition_point(|&at| at <= event);
        let steps = &self.observed.window.steps;
        let asks = steps[event as usize].event;
        own.get(behind).is_some_and(|&next| {
            let next = steps[next as usize].event;
            let ops = (asks.op(), next.op());
            let is_end = matches!(
                ops,
                (Op::Request, Op::Refused) | (Op::ReadRequest, Op::ReadRefused)
            );
            is_end && asks.lock() == next.lock()
        })
    }

    fn deadlock(&self, next: &[u32]) -> Result<(), Violation> {
        let steps = &self.observed.window.steps;
        let in_cut = |thread| {
            let mut events = next.iter();
            events.any(|&at| steps[at as usize].event.thread() == thread)
        };
        let mut is_still = false;
        for &event in next {
            let step = &steps[event as usize];
            let object = self.observed.objects.of[event as usize];
            let thread = step.event.thread();
            let wanted = match step.event.op() {
                Op::Acquire | Op::Request => Hold::Write,
                Op::ReadAcquire | Op::ReadRequest => Hold::Read,
                Op::Join if step.event.peer() != thread && in_cut(step.event.peer()) => continue,
                Op::Take | Op::Wake | Op::BarrierExit if !step.was_tried() => {
                    let tokens = &self.state.tokens;
                    if !tokens.lacks(self.observed, &step.event, event, object) {
                        return Err(Violation::NotInVain(event));
                    }
                    is_still = true;
                    continue;
                }
                _ => return Err(Violation::NoRequest(event)),
            };
            if step.was_tried() || self.gives_up(event) {
                return Err(Violation::NoRequest(event));
            }
            let lock = step.event.lock();
            let mut blockers = self.state.locks.blockers(object, thread, wanted);
            if !blockers.any(in_cut) {
                return Err(Violation::NotBlocked { event, lock });
            }
        }
        match is_still {
            true => self.standstill(in_cut),
            false => Ok(()),
        }
    }

    /// Whether nobody outside of the cut can do anything: all others have ended, or have not begun. Only the first thread
    /// was created by nobody; when it ends, so does the program. Where somebody cancels threads nothing is said.
    fn standstill(&self, in_cut: impl Fn(ThreadId) -> bool) -> Result<(), Violation> {
        let observed = self.observed;
        let steps = &observed.window.steps;
        let has_all = observed.window.start.0 == 0 && observed.gaps.is_empty();
        if !has_all || !observed.cancelled.is_empty() {
            return Err(Violation::NotAll);
        }
        for (thread, positions) in observed.threads.positions.iter().enumerate() {
            let id = steps[positions[0] as usize].event.thread();
            let forks = &observed.threads.forks[thread];
            let has_begun = forks
                .iter()
                .all(|&fork| self.state.executed(observed, fork));
            let next = self.state.next(observed, thread as u32);
            let last = positions
                .last()
                .map(|&last| steps[last as usize].event.op());
            let has_ended = next == NOBODY && last == Some(Op::End) && !forks.is_empty();
            if has_begun && !has_ended && !in_cut(id) {
                return Err(Violation::StillRuns(id));
            }
        }
        Ok(())
    }
}
