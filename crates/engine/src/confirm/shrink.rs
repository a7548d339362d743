//! The same finding with fewer switches between threads: whole threads are left out, parts of a thread put together, and
//! what still leads the program there is kept. The program itself is the judge.

use std::time::Duration;

use deadheat_analysis::budget::{self, Allowance};
use deadheat_analysis::witness::Witness;
use deadheat_explore::After;
use deadheat_session::error::Result;
use deadheat_session::signals;
use deadheat_trace::ThreadId;

use super::Case;
use super::fine::{self, Enforced, Manner, Output};

/// How much is tried: about a second, for a small program.
const WORK: u64 = 30_000_000;
/// How many parts a schedule may have that is made shorter.
const MOST: usize = 400;

/// A schedule that cannot be followed is given up soon: there are others.
const MANNER: Manner = Manner {
    output: Output::Captured,
    real: false,
    watchdog: 1,
    limit: Some(Duration::from_secs(5)),
    copies: 0,
};

type Schedule = Vec<(ThreadId, u64)>;

/// Makes the schedule of a case shorter; the last run that still led to the finding, if there was one.
pub fn shrink(case: &mut Case) -> Result<Option<Enforced>> {
    let allowance = Allowance::of(WORK);
    let cost = budget::run(0, case.executed());
    let mut best = joined(&case.collected.schedule);
    let mut reached = None;
    if best.len() > MOST {
        return Ok(None);
    }
    'again: loop {
        for candidate in shorter(&best, &|thread| case.collected.has_goal(thread)) {
            if !allowance.pays(cost) || signals::is_stopped() {
                break 'again;
            }
            let Ok(plan) = case.collected.plan(&candidate, case.again.is_steady()) else {
                continue;
            };
            let run = fine::run(&case.again, &plan.clone().then(After::Go, 0), MANNER)?;
            if run.is_reached() {
                (best, reached) = (candidate, Some(run));
                case.plan = plan;
                continue 'again;
            }
        }
        break;
    }
    if reached.is_none() {
        return Ok(None);
    }
    let schedule = best.iter().map(|(thread, count)| (thread.0, *count));
    let mut witness = case.witness.clone();
    witness.start = 0;
    as_kept(case, witness.with(schedule.collect()))
}

/// What is kept is what will be replayed, so it has to stand as it is written; else the longer schedule stays.
fn as_kept(case: &mut Case, witness: Witness) -> Result<Option<Enforced>> {
    let shorter = Case::new(witness)?;
    let run = shorter.enforce(After::Go, 0, Output::Captured)?;
    if !shorter.stands(&run) {
        let longer = Case::new(case.witness.clone())?;
        *case = longer;
        return Ok(None);
    }
    *case = shorter;
    Ok(Some(run))
}

/// Schedules with fewer switches than this one, the shortest first: without one of the threads, or without a return to one.
fn shorter(schedule: &Schedule, has_goal: &dyn Fn(ThreadId) -> bool) -> Vec<Schedule> {
    let mut all: Vec<Schedule> = Vec::new();
    let mut threads: Vec<ThreadId> = schedule.iter().map(|(thread, _)| *thread).collect();
    threads.sort_unstable();
    threads.dedup();
    for thread in threads.into_iter().filter(|thread| !has_goal(*thread)) {
        let without = schedule.iter().filter(|(other, _)| *other != thread);
        all.push(joined(&without.copied().collect()));
    }
    for (at, (thread, count)) in schedule.iter().enumerate() {
        let behind = schedule[at + 1..].iter();
        let next = behind
            .map(|(other, _)| other)
            .position(|other| other == thread);
        let Some(next) = next.map(|next| at + 1 + next) else {
            // Its last part, which nobody may need.
            if !has_goal(*thread) {
                let mut without = schedule.clone();
                without.remove(at);
                all.push(joined(&without));
            }
            continue;
        };
        // The later part at once, or the earlier one not before.
        let mut sooner = schedule.clone();
        let later = sooner.remove(next);
        sooner[at].1 += later.1;
        all.push(joined(&sooner));
        let mut delayed = schedule.clone();
        delayed[next].1 += count;
        delayed.remove(at);
        all.push(joined(&delayed));
    }
    all.retain(|candidate| candidate.len() < schedule.len());
    all.sort_by_key(Vec::len);
    all.dedup();
    all
}

/// The same with parts of one thread that follow each other as one.
fn joined(schedule: &Schedule) -> Schedule {
    let mut joined: Schedule = Vec::new();
    for (thread, count) in schedule {
        match joined.last_mut() {
            Some((last, sum)) if last == thread => *sum += count,
            _ => joined.push((*thread, *count)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<const N: usize>(parts: [(u32, u64); N]) -> Schedule {
        parts
            .map(|(thread, count)| (ThreadId(thread), count))
            .into()
    }

    #[test]
    fn parts_of_one_thread_are_joined() {
        let parts = of([(0, 1), (0, 2), (1, 1), (0, 3), (0, 1)]);
        assert_eq!(joined(&parts), of([(0, 3), (1, 1), (0, 4)]));
    }

    #[test]
    fn shorter_schedules_keep_what_the_goals_need() {
        let schedule = of([(0, 1), (1, 2), (2, 5), (0, 3), (1, 1)]);
        let all = shorter(&schedule, &|thread| thread.0 < 2);
        // Without the third thread; with either thread put together, before or behind.
        assert!(all.contains(&of([(0, 1), (1, 2), (0, 3), (1, 1)])));
        assert!(all.contains(&of([(0, 4), (1, 2), (2, 5), (1, 1)])));
        assert!(all.contains(&of([(1, 2), (2, 5), (0, 4), (1, 1)])));
        let total = |schedule: &Schedule, id: u32| -> u64 {
            let own = schedule.iter().filter(|(thread, _)| thread.0 == id);
            own.map(|(_, count)| count).sum()
        };
        assert!(all.iter().all(|shorter| {
            shorter.len() < schedule.len() && total(shorter, 0) == 4 && total(shorter, 1) == 3
        }));
    }
}
