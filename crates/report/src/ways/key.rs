//! Which steps tell the story where there is room for a few lines only.
//!
//! What matters most first: the sides; where the locks were taken that they hold; what was in the memory, and what the threads had read of it;
//! who created the threads; how a lock or a wake-up went from one to the other; which critical section a thread has behind it.

use deadheat_trace::{Event, Op, ThreadId};

use super::schedule::Kept;
use crate::finding::Kind;

/// So many steps are worth telling in a few lines.
const FEW: usize = 10;
/// Of the last reads of a thread that fails so many are told, with where the values came from.
const READS: usize = 3;

/// A step of a schedule.
pub struct Candidate<'a> {
    /// The event, with what surrounds it.
    pub kept: &'a Kept,
    /// Whether it is a side of the finding.
    pub is_side: bool,
}

impl Candidate<'_> {
    fn event(&self) -> &Event {
        &self.kept.context.step.event
    }

    fn thread(&self) -> ThreadId {
        self.event().thread()
    }
}

/// For each step whether it is one of those.
pub fn of(steps: &[Candidate], kind: Kind) -> Vec<bool> {
    let mut story = Story {
        steps,
        is_key: vec![false; steps.len()],
        many: 0,
    };
    let sides: Vec<usize> = (0..steps.len()).filter(|at| steps[*at].is_side).collect();
    for side in &sides {
        story.tell(Some(*side));
    }
    sides.iter().for_each(|side| story.locks_of(*side));
    match kind {
        Kind::Race => sides.iter().for_each(|side| story.memory_of(*side)),
        Kind::Failure => sides.iter().for_each(|side| story.values_of(*side)),
        Kind::Deadlock => sides.iter().for_each(|side| story.others_at(*side)),
    }
    story.creations_of(&sides);
    sides.iter().for_each(|side| story.handed_to(*side));
    sides.iter().for_each(|side| story.section_before(*side));
    story.is_key
}

struct Story<'a> {
    steps: &'a [Candidate<'a>],
    is_key: Vec<bool>,
    many: usize,
}

impl Story<'_> {
    fn tell(&mut self, at: Option<usize>) {
        if let Some(at) = at
            && !self.is_key[at]
            && (self.many < FEW || self.steps[at].is_side)
        {
            self.is_key[at] = true;
            self.many += 1;
        }
    }

    /// The last step before this one that is like that.
    fn last_before(&self, at: usize, is_it: impl Fn(&Candidate) -> bool) -> Option<usize> {
        self.steps[..at].iter().rposition(is_it)
    }

    /// Where the locks were taken that a side holds.
    fn locks_of(&mut self, side: usize) {
        let own = &self.steps[side];
        for held in &own.kept.context.locks {
            let taken = self.last_before(side, |step| {
                let event = step.event();
                step.thread() == own.thread() && is_take(event.op()) && event.lock() == held.lock
            });
            self.tell(taken);
        }
    }

    /// Who wrote the memory of a side last, and what its thread has read of it before.
    fn memory_of(&mut self, side: usize) {
        let own = self.steps[side].event();
        let touches = |step: &Candidate| {
            let event = step.event();
            !step.is_side && event.op().is_access() && event.overlaps(own)
        };
        let written = self.last_before(side, |step| touches(step) && step.event().op().writes());
        if own.op().writes() {
            let is_own_read = |step: &Candidate| {
                step.thread() == own.thread() && touches(step) && step.event().op().reads()
            };
            let read = self.last_before(side, is_own_read);
            let is_used = read.is_some_and(|read| side - read <= super::NEAR);
            self.tell(read.filter(|_| is_used));
        }
        self.tell(written);
    }

    /// What a thread has read last, and who had written it.
    fn values_of(&mut self, side: usize) {
        let thread = self.steps[side].thread();
        let own = (0..=side)
            .rev()
            .filter(|at| self.steps[*at].thread() == thread);
        let reads: Vec<usize> = own
            .filter(|at| self.steps[*at].event().op().reads())
            .take(READS)
            .collect();
        for read in reads {
            let event = self.steps[read].event();
            let written = self.last_before(read, |step| {
                let other = step.event();
                other.op().writes() && other.overlaps(event)
                    || other.op() == Op::Free && other.addr() == event.addr()
            });
            if let Some(written) = written
                && self.steps[written].thread() != thread
            {
                self.tell(Some(read));
                self.tell(Some(written));
            }
        }
    }

    /// What another thread has done last to what a side waits for, if that is no lock: a notification that came too early.
    fn others_at(&mut self, side: usize) {
        let own = self.steps[side].event();
        let is_thread = |op: Op| matches!(op, Op::Join | Op::JoinRequest | Op::Fork);
        if own.is_lock_op() || own.op().is_access() || is_thread(own.op()) {
            return;
        }
        let done = self.last_before(side, |step| {
            let other = step.event();
            let speaks_of_it = !other.op().is_access() && !is_thread(other.op());
            speaks_of_it && other.thread() != own.thread() && other.target() == own.target()
        });
        self.tell(done);
    }

    /// Who created the threads of the sides, if there is room for all of that.
    fn creations_of(&mut self, sides: &[usize]) {
        let created = sides.iter().filter_map(|side| {
            let thread = self.steps[*side].thread();
            self.last_before(*side, |step| {
                step.event().op() == Op::Fork && step.event().peer() == thread
            })
        });
        let created: Vec<usize> = created.collect();
        if self.many + created.len() <= FEW {
            created.into_iter().for_each(|at| self.tell(Some(at)));
        }
    }

    /// The critical section that the thread of a side has left last, if there is room for both ends of it.
    fn section_before(&mut self, side: usize) {
        let thread = self.steps[side].thread();
        let left = self.last_before(side, |step| {
            step.thread() == thread && is_release(step.event().op())
        });
        let Some(left) = left else {
            return;
        };
        let lock = self.steps[left].event().lock();
        let taken = self.last_before(left, |step| {
            let event = step.event();
            step.thread() == thread && is_take(event.op()) && event.lock() == lock
        });
        let new = |at: &usize| !self.is_key[*at];
        let ends: Vec<usize> = taken.into_iter().chain([left]).filter(new).collect();
        if self.many + ends.len() <= FEW {
            ends.into_iter().for_each(|at| self.tell(Some(at)));
        }
    }

    /// What the thread of a side got from another thread last: a lock, a wake-up, a message, an end.
    fn handed_to(&mut self, side: usize) {
        let thread = self.steps[side].thread();
        let taken = self.last_before(side, |step| {
            step.thread() == thread && gives(step.event().op()).is_some()
        });
        let Some(taken) = taken else {
            return;
        };
        let (event, giving) = (
            self.steps[taken].event(),
            gives(self.steps[taken].event().op()),
        );
        let given = self.last_before(taken, |step| {
            let other = step.event();
            step.thread() != thread
                && giving.is_some_and(|ops| ops.contains(&other.op()))
                && other.target() == event.target()
        });
        if given.is_some() {
            self.tell(given);
            self.tell(Some(taken));
        }
    }
}

fn is_take(op: Op) -> bool {
    matches!(op, Op::Acquire | Op::ReadAcquire)
}

fn is_release(op: Op) -> bool {
    matches!(op, Op::Release | Op::ReadRelease)
}

/// What another thread does so that this can happen.
fn gives(op: Op) -> Option<&'static [Op]> {
    Some(match op {
        Op::Acquire | Op::ReadAcquire => &[Op::Release, Op::ReadRelease],
        Op::Wake => &[Op::Notify, Op::NotifyAll],
        Op::Take => &[Op::Post],
        Op::Receive => &[Op::Send],
        Op::BarrierExit => &[Op::BarrierEnter],
        Op::FutexWoken => &[Op::FutexWake],
        _ => return None,
    })
}
