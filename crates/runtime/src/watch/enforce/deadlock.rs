//! A deadlock: all threads of the goals ask for the locks that they should ask for, and each of these is held by another of
//! them; or they wait for another of them to end.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use deadheat_wire::Op;
use deadheat_wire::plan::After;

use super::order::{Deed, Row};
use super::over;
use super::verdict::Verdict;
use crate::watch::context;
use crate::{record, sys};

/// The exit code of a program that was stopped at its goal.
const REACHED: i32 = 66;

/// The most threads that a deadlock may have.
const MOST_GOALS: usize = 64;
/// What those who stand before their goals ask for (plus one), from where, and what they hold.
static ASKED: [AtomicUsize; MOST_GOALS] = [const { AtomicUsize::new(0) }; MOST_GOALS];
static PLACES: [AtomicUsize; MOST_GOALS] = [const { AtomicUsize::new(0) }; MOST_GOALS];
static HELD: [AtomicU32; MOST_GOALS] = [const { AtomicU32::new(0) }; MOST_GOALS];

/// A thread whose part is done stands before its goal, if it has one: which. If it is about to do something else, that
/// is the verdict.
pub fn stand(row: &Row, thread: usize, deed: &Deed) -> Result<Option<usize>, Verdict<'static>> {
    let goals = row.plan.goals;
    let goal = goals.iter().position(|goal| goal.thread as usize == thread);
    let Some(goal) = goal.filter(|goal| *goal < MOST_GOALS) else {
        return Ok(None);
    };
    if !row.is_like(&row.plan.planned(&goals[goal].event), deed) {
        let done = row.plan.threads[thread].count;
        return Err(Verdict::Diverged(row.id(thread), done, *deed));
    }
    let held = crate::watch::mine().map_or(0, |mine| mine.held);
    HELD[goal].store(held, Ordering::Relaxed);
    PLACES[goal].store(deed.pc, Ordering::Relaxed);
    ASKED[goal].store(deed.addr + 1, Ordering::Release);
    Ok(Some(goal))
}

/// Once all stand before their goals: does each wait for another of them?
pub fn judge(row: &Row) {
    let goals = row.plan.goals.len().min(MOST_GOALS);
    if (0..goals).any(|goal| ASKED[goal].load(Ordering::Acquire) == 0) {
        return;
    }
    let asked = |goal: usize| ASKED[goal].load(Ordering::Relaxed) - 1;
    for goal in 0..goals {
        let planned = row.plan.planned(&row.plan.goals[goal].event);
        let is_join = planned.op == Op::Join as u8;
        let has = |other: usize| {
            if is_join {
                return row.id(row.plan.goals[other].thread as usize) as usize == asked(goal);
            }
            let held = HELD[other].load(Ordering::Relaxed);
            context::locks(held).any(|held| held.lock as usize == asked(goal))
        };
        if !(0..goals).any(|other| other != goal && has(other)) {
            let thread = row.id(row.plan.goals[goal].thread as usize);
            return over(row, &Verdict::Got(thread, asked(goal)));
        }
    }
    let mut stand = [(0, Deed::default()); MOST_GOALS];
    for (goal, stands) in stand[..goals].iter_mut().enumerate() {
        let event = &row.plan.goals[goal];
        let deed = Deed {
            op: row.plan.planned(&event.event).op,
            addr: asked(goal),
            size: 0,
            pc: PLACES[goal].load(Ordering::Relaxed),
            ..Deed::default()
        };
        *stands = (row.id(event.thread as usize), deed);
    }
    over(row, &Verdict::Reached(&stand[..goals]));
    if row.plan.header.after == After::Stop as u32 {
        record::close("the schedule's goal is reached", true);
        sys::exit_group(REACHED);
    }
}
