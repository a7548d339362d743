//! Refused attempts as the predictor has them: each with the reason that it had when it was observed. The checker takes any
//! reason, so what is missed must be out of reach in this way.

use deadheat_predict::check::Simulation;
use deadheat_predict::{Hold, Window};
use deadheat_trace::{Op, ThreadId};

/// What must have been executed when an attempt is made, and what must not.
#[derive(Clone, Debug, Default)]
struct Pin {
    done: Vec<u32>,
    not_done: Vec<u32>,
}

/// Somebody who holds a lock at some time: from when and until when, if the window has it.
#[derive(Clone, Copy)]
struct Holder {
    thread: ThreadId,
    hold: Hold,
    times: u32,
    since: Option<u32>,
    until: Option<u32>,
}

/// For each position what its attempt needs; nothing for other events.
pub struct Pins(Vec<Pin>);

impl Pins {
    pub fn of(window: &Window) -> Self {
        let positions = 0..window.steps.len() as u32;
        Pins(positions.map(|at| pin(window, at)).collect())
    }

    /// Whether the event that is next is no attempt, or one with the reason that it had.
    pub fn allow(&self, window: &Window, at: &Simulation<'_>, position: u32) -> bool {
        let next: Vec<u32> = at.next().collect();
        let executed = |other: &u32| {
            let thread = |at: u32| window.steps[at as usize].event.thread();
            let own = next.iter().find(|next| thread(**next) == thread(*other));
            own.is_none_or(|next| other < next)
        };
        let pin = &self.0[position as usize];
        pin.done.iter().all(executed) && !pin.not_done.iter().any(executed)
    }
}

fn pin(window: &Window, at: u32) -> Pin {
    match window.steps[at as usize].event.op() {
        Op::Refused => lock(window, at, Hold::Write),
        Op::ReadRefused => lock(window, at, Hold::Read),
        Op::TakeRefused => semaphore(window, at),
        _ => Pin::default(),
    }
}

fn semaphore(window: &Window, at: u32) -> Pin {
    let target = window.steps[at as usize].event.target();
    let same = |op: Op| {
        let all = window.steps.iter().zip(0..);
        let same =
            all.filter(move |(step, _)| step.event.op() == op && step.event.target() == target);
        same.map(|(_, position)| position)
    };
    Pin {
        done: same(Op::Take).filter(|take| *take < at).collect(),
        not_done: same(Op::Post).filter(|post| *post > at).collect(),
    }
}

fn lock(window: &Window, at: u32, wanted: Hold) -> Pin {
    let event = window.steps[at as usize].event;
    let holders = holders(window, at);
    let blocking = holders
        .into_iter()
        .filter(|holder| wanted == Hold::Write || holder.hold == Hold::Write);
    let mut blocking: Vec<Holder> = blocking.collect();
    if blocking
        .iter()
        .any(|holder| holder.thread == event.thread())
    {
        return Pin::default();
    }
    // Who holds it longest: into the future, then into the past.
    blocking.sort_by_key(|holder| {
        let since = holder.since.map_or(0, |since| since + 1);
        (holder.until.unwrap_or(u32::MAX), u32::MAX - since)
    });
    let longest = blocking.last().expect("somebody made it fail");
    Pin {
        done: longest.since.into_iter().collect(),
        not_done: longest.until.into_iter().collect(),
    }
}

/// Who holds the lock of the attempt at a position, in the order observed.
fn holders(window: &Window, at: u32) -> Vec<Holder> {
    let lock = window.steps[at as usize].event.lock();
    let border = window.border.held.iter();
    let border = border.filter(|holding| holding.lock == lock);
    let mut holders: Vec<Holder> = border
        .map(|holding| Holder {
            thread: holding.thread,
            hold: holding.hold,
            times: holding.times,
            since: None,
            until: None,
        })
        .collect();
    for (step, position) in window.steps.iter().zip(0..) {
        let event = step.event;
        let mine = |holder: &Holder| holder.thread == event.thread() && holder.times > 0;
        let own = holders.iter().position(mine);
        match (event.op(), own) {
            _ if !event.is_lock_op() || event.lock() != lock => {}
            (Op::Acquire | Op::ReadAcquire, Some(own)) => holders[own].times += 1,
            (op @ (Op::Acquire | Op::ReadAcquire), None) if position < at => {
                let hold = match op {
                    Op::Acquire => Hold::Write,
                    _ => Hold::Read,
                };
                holders.push(Holder {
                    thread: event.thread(),
                    hold,
                    times: 1,
                    since: Some(position),
                    until: None,
                });
            }
            (Op::Release | Op::ReadRelease, Some(own)) => {
                holders[own].times -= 1;
                if holders[own].times == 0 {
                    holders[own].until = Some(position);
                }
            }
            _ => {}
        }
        if position < at {
            holders.retain(|holder| holder.times > 0);
        }
    }
    holders
}
