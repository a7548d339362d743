//! Who holds which lock.

use deadheat_trace::{Event, Op, ThreadId};

use super::{Broken, Observed};
use crate::Hold;

/// Who holds each lock, how, and how many times; by the number of the object.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Locks(Vec<Vec<(ThreadId, Hold, u32)>>);

impl Locks {
    /// As at the border.
    pub fn new(observed: &Observed<'_>) -> Self {
        let mut held = vec![Vec::new(); observed.objects.all.len()];
        for holding in &observed.window.border.held {
            if let Some(&object) = observed.objects.first.get(&holding.lock.0) {
                held[object as usize].push((holding.thread, holding.hold, holding.times.max(1)));
            }
        }
        Locks(held)
    }

    /// A thread other than this one that keeps it from taking the lock in this way.
    pub fn blockers(
        &self,
        object: u32,
        thread: ThreadId,
        wanted: Hold,
    ) -> impl Iterator<Item = ThreadId> + '_ {
        let holders = self.0[object as usize].iter();
        let blocking = holders.filter(move |&&(holder, hold, _)| {
            holder != thread && (wanted == Hold::Write || hold == Hold::Write)
        });
        blocking.map(|&(holder, ..)| holder)
    }

    /// Whether an operation on a lock can be executed.
    pub fn can(&self, event: &Event, object: u32) -> Result<(), Broken> {
        let (thread, lock) = (event.thread(), event.lock());
        if let Some(wanted) = taken_by(event.op()) {
            return match self.blockers(object, thread, wanted).next() {
                Some(holder) => Err(Broken::Held { lock, holder }),
                None => Ok(()),
            };
        }
        if let Some(wanted) = refused_by(event.op()) {
            // Who has it may be the thread itself.
            let mut holders = self.0[object as usize].iter();
            let blocks = |hold| wanted == Hold::Write || hold == Hold::Write;
            if !holders.any(|&(_, hold, _)| blocks(hold)) {
                return Err(Broken::NotRefused(lock));
            }
        }
        if let Some(given) = given_by(event.op()) {
            let mut holders = self.0[object as usize].iter();
            if !holders.any(|&(holder, hold, _)| (holder, hold) == (thread, given)) {
                return Err(Broken::NotHeld(lock));
            }
        }
        Ok(())
    }

    /// Executes an operation on a lock that can be executed.
    pub fn run(&mut self, event: &Event, object: u32) {
        let thread = event.thread();
        let holders = &mut self.0[object as usize];
        let wanted = taken_by(event.op()).or(given_by(event.op()));
        let mine = holders
            .iter()
            .position(|&(holder, hold, _)| holder == thread && Some(hold) == wanted);
        match (taken_by(event.op()), mine) {
            (Some(hold), None) => holders.push((thread, hold, 1)),
            (Some(_), Some(mine)) => holders[mine].2 = holders[mine].2.saturating_add(1),
            (None, Some(mine)) if holders[mine].2 > 1 => holders[mine].2 -= 1,
            (None, Some(mine)) => {
                holders.remove(mine);
            }
            (None, None) => {}
        }
    }
}

/// How an operation takes a lock.
fn taken_by(op: Op) -> Option<Hold> {
    match op {
        Op::Acquire => Some(Hold::Write),
        Op::ReadAcquire => Some(Hold::Read),
        _ => None,
    }
}

/// How a lock was wanted that an operation did not get.
fn refused_by(op: Op) -> Option<Hold> {
    match op {
        Op::Refused => Some(Hold::Write),
        Op::ReadRefused => Some(Hold::Read),
        _ => None,
    }
}

/// How a lock was held that an operation gives back.
fn given_by(op: Op) -> Option<Hold> {
    match op {
        Op::Release => Some(Hold::Write),
        Op::ReadRelease => Some(Hold::Read),
        _ => None,
    }
}
