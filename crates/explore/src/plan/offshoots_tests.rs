//! A plan with offshoots says of each schedule what a plan of its own says.

use deadheat_trace::{Op, text};
use deadheat_wire::plan::PlanHeader;
use proptest::prelude::*;

use super::file::Plan;
use super::{EventIndex, Goal, GoalKind, PlanError, Planner, Request, ThreadId, TrunkPlanner};

/// Thread, operation and place of an event, or of a goal.
type Shown = (u32, u8, u64);

/// What a plan has the program do: which thread goes on until how many of its events have happened, what these are, and the
/// goals.
#[derive(Debug, PartialEq)]
struct Told {
    order: Vec<(u32, u64)>,
    events: Vec<Shown>,
    goals: Vec<Shown>,
}

fn told(plan: &Plan, segments: &[(u32, u64)], goals: std::ops::Range<usize>) -> Told {
    let mut order: Vec<(u32, u64)> = Vec::new();
    for (thread, upto) in segments {
        match order.last_mut() {
            Some((last, sum)) if last == thread => *sum = *upto,
            _ => order.push((*thread, *upto)),
        }
    }
    let mut last: Vec<(u32, u64)> = order.clone();
    last.sort_unstable();
    let shown = |thread: u32, done: u64| {
        let (op, pc) = plan.expected(ThreadId(thread), done).unwrap();
        (thread, op as u8, pc)
    };
    let mut events = Vec::new();
    let mut threads: Vec<u32> = last.iter().map(|(thread, _)| *thread).collect();
    threads.dedup();
    for thread in threads {
        let own = last.iter().filter(|(other, _)| *other == thread);
        let count = own.map(|(_, upto)| *upto).max().unwrap_or(0);
        events.extend((0..count).map(|done| shown(thread, done)));
    }
    let goals = plan.goals[goals].iter().map(|goal| {
        let site = plan.site(goal.event.site);
        (plan.threads[goal.thread as usize].id, site.op, site.pc)
    });
    Told {
        order,
        events,
        goals: goals.collect(),
    }
}

fn segments(plan: &Plan, range: std::ops::Range<usize>) -> Vec<(u32, u64)> {
    let all = plan.segments[range].iter();
    all.map(|segment| (plan.threads[segment.thread as usize].id, segment.upto))
        .collect()
}

/// The schedule by itself.
fn alone(trace: &deadheat_trace::Trace, request: &Request) -> Told {
    let mut planner = Planner::new(request, |_, _| false);
    for step in &trace.steps {
        planner.step(step, false, &trace.tables);
    }
    let collected = planner.finish().unwrap();
    let plan = collected.plan(&collected.schedule, true).unwrap();
    let all = segments(&plan, 0..plan.segments.len());
    told(&plan, &all, 0..plan.goals.len())
}

fn together(trace: &deadheat_trace::Trace, requests: &[Request]) -> Result<Plan, PlanError> {
    let mut planner = TrunkPlanner::new(requests, |_, _| false);
    for step in &trace.steps {
        if planner.is_complete() {
            break;
        }
        planner.step(step, false, &trace.tables);
    }
    planner.finish(true)
}

/// Threads take turns; each event has a place of its own. Every third is a request, which plans do not count.
fn listing(turns: &[u8]) -> String {
    let mut text = String::from("T0|fork(T1)|1\nT0|fork(T2)|2\n");
    for (at, turn) in turns.iter().enumerate() {
        let (thread, place) = (turn % 3, at + 3);
        match turn / 3 % 3 {
            0 => text += &format!("T{thread}|w(x)|{place}\n"),
            1 => text += &format!("T{thread}|r(y)|{place}\n"),
            _ => text += &format!("T{thread}|req(m)|{place}\n"),
        }
    }
    text
}

/// A schedule: it begins there, has so many events of which thread, as far as there are so many, and ends before the next ones of
/// two threads.
fn request(threads: &[u32], start: usize, parts: &[(u32, u64)]) -> Option<Request> {
    let start = start.min(threads.len());
    let own = |thread: u32| (start..threads.len()).filter(move |at| threads[*at] == thread);
    let mut taken = [0u64; 3];
    let mut schedule = Vec::new();
    for (thread, count) in parts {
        let left = own(*thread).count() as u64 - taken[*thread as usize];
        // The last one is the goal.
        let count = (*count).min(left.saturating_sub(1));
        taken[*thread as usize] += count;
        if count > 0 {
            schedule.push((ThreadId(*thread), count));
        }
    }
    let next = |thread: u32| own(thread).nth(taken[thread as usize] as usize);
    let next = [next(0)?, next(1)?].map(|at| EventIndex(at as u64));
    Some(Request {
        start: EventIndex(start as u64),
        schedule,
        skipped: Vec::new(),
        goal: Goal {
            kind: GoalKind::Race,
            next: next.to_vec(),
        },
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn offshoots_are_what_each_schedule_is_by_itself(
        turns in prop::collection::vec(any::<u8>(), 4..40),
        wanted in prop::collection::vec(
            (0usize..42, prop::collection::vec((0u32..3, 0u64..6), 0..5)),
            1..6,
        ),
    ) {
        let trace = text::parse(&listing(&turns)).unwrap();
        let threads: Vec<u32> = trace.steps.iter().map(|step| step.event.thread().0).collect();
        let requests: Vec<Request> = wanted
            .iter()
            .filter_map(|(start, parts)| request(&threads, *start, parts))
            .collect();
        prop_assume!(!requests.is_empty());
        let plan = together(&trace, &requests).unwrap();
        prop_assert_eq!(plan.offshoots.len(), requests.len());
        let trunk = plan.header.trunk as usize;
        for (request, offshoot) in requests.iter().zip(&plan.offshoots) {
            prop_assert!(offshoot.at as usize <= trunk);
            let first = offshoot.segment as usize;
            let mut order = segments(&plan, 0..offshoot.at as usize);
            order.extend(segments(&plan, first..first + offshoot.segments as usize));
            let goals = offshoot.goal as usize..(offshoot.goal + offshoot.goals) as usize;
            let (mut one, mut other) = (told(&plan, &order, goals), alone(&trace, request));
            // Stretches without an event that is counted are nothing.
            for told in [&mut one, &mut other] {
                let mut done = [0u64; 3];
                told.order.retain(|(thread, upto)| {
                    let done = &mut done[*thread as usize];
                    std::mem::replace(done, *upto) < *upto
                });
            }
            prop_assert_eq!(one.events, other.events);
            prop_assert_eq!(one.goals, other.goals);
            prop_assert_eq!(joined(one.order), joined(other.order));
        }
    }
}

fn joined(order: Vec<(u32, u64)>) -> Vec<(u32, u64)> {
    let mut all: Vec<(u32, u64)> = Vec::new();
    for (thread, upto) in order {
        match all.last_mut() {
            Some((last, sum)) if *last == thread => *sum = upto,
            _ => all.push((thread, upto)),
        }
    }
    all
}

#[test]
fn what_the_trace_does_not_have_is_no_offshoot() {
    let trace = text::parse(&listing(&[0, 1, 2, 0, 1])).unwrap();
    let of = |schedule: Vec<(ThreadId, u64)>, next: u64| Request {
        start: EventIndex(2),
        schedule,
        skipped: Vec::new(),
        goal: Goal {
            kind: GoalKind::Race,
            next: vec![EventIndex(next)],
        },
    };
    let missing = together(&trace, &[of(vec![(ThreadId(1), 3)], 6)]);
    assert!(matches!(missing, Err(PlanError::Missing { there: 2, .. })));
    let none = together(&trace, &[of(Vec::new(), 70)]);
    assert_eq!(none, Err(PlanError::NoGoal(EventIndex(70))));
}

#[test]
fn bytes_are_as_long_as_the_types() {
    let trace = text::parse(&listing(&[0, 1, 2, 0, 1, 4, 0])).unwrap();
    let request = Request {
        start: EventIndex(3),
        schedule: vec![(ThreadId(1), 1)],
        skipped: Vec::new(),
        goal: Goal {
            kind: GoalKind::Race,
            next: vec![EventIndex(5), EventIndex(6)],
        },
    };
    let plan = together(&trace, &[request.clone(), request]).unwrap();
    let mut bytes = Vec::new();
    plan.write_to(&mut bytes).unwrap();
    let (header, parts) = (&plan.header, size_of::<PlanHeader>());
    let length = parts
        + 24 * header.threads as usize
        + 16 * (header.segments + header.sites + header.events) as usize
        + 24 * header.goals as usize
        + 40 * header.offshoots as usize;
    assert_eq!(
        (bytes.len(), header.offshoots, header.goals),
        (length, 2, 4)
    );
    assert!(plan.ops().contains(&Op::Fork));
}
