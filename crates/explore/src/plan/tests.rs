use super::*;
use deadheat_trace::{Op, text};
use deadheat_wire::plan::{PlanGoal, PlanHeader, PlanSegment, PlanThread};

const LISTING: &str = "\
T0|fork(T1)|1
T0|w(y)|2
T0|req(m)|3
T0|acq(m)|3
T0|w(x)|4
T0|rel(m)|5
T1|begin|6
T1|acq(m)|7
T1|w(x)|8
T1|rel(m)|9
T1|w(y)|10
";

fn plan(text: &str, request: &Request) -> Result<Plan, PlanError> {
    let trace = text::parse(text).unwrap();
    let mut planner = Planner::new(request, |_, _| false);
    for step in &trace.steps {
        planner.step(step, false, &trace.tables);
    }
    let collected = planner.finish()?;
    collected.plan(&collected.schedule, true)
}

fn request(start: u64, schedule: &[(u32, u64)], next: &[u64]) -> Request {
    Request {
        start: EventIndex(start),
        schedule: schedule
            .iter()
            .map(|(thread, count)| (ThreadId(*thread), *count))
            .collect(),
        skipped: Vec::new(),
        goal: Goal {
            kind: GoalKind::Race,
            next: next.iter().map(|index| EventIndex(*index)).collect(),
        },
    }
}

fn segments(plan: &Plan) -> Vec<(u32, u64)> {
    let segments = plan.segments.iter();
    segments
        .map(|segment| (plan.threads[segment.thread as usize].id, segment.upto))
        .collect()
}

#[test]
fn the_order_is_said_in_events_that_the_runtime_counts() {
    // The schedule of the paper: fork, then the other thread's critical section first.
    let plan = plan(LISTING, &request(0, &[(0, 1), (1, 4)], &[1, 10])).unwrap();
    assert_eq!(segments(&plan), [(0, 1), (1, 4)]);
    assert_eq!(plan.switches(), 1);
    let expected = [Op::Fork, Op::Begin, Op::Acquire, Op::Write, Op::Release];
    assert_eq!(plan.ops(), expected);
    assert_eq!(plan.goals.len(), 2);
    assert_eq!(plan.expected(ThreadId(1), 0), Some((Op::Begin, 0)));
    assert_eq!(plan.expected(ThreadId(1), 4), Some((Op::Write, 0)));
    assert_eq!(
        plan.expected(ThreadId(1), 1).map(|(op, _)| op),
        Some(Op::Acquire)
    );
}

#[test]
fn what_is_skipped_is_not_planned() {
    let request = Request {
        skipped: vec![Skipped {
            thread: ThreadId(1),
            first: EventIndex(7),
            last: EventIndex(9),
        }],
        ..request(0, &[(0, 6), (1, 1)], &[1, 10])
    };
    let plan = plan(LISTING, &request).unwrap();
    // The other thread's events in between are not skipped.
    assert_eq!(segments(&plan), [(0, 5), (1, 1)]);
    assert_eq!(plan.expected(ThreadId(1), 0), Some((Op::Begin, 0)));
    // Then it stands in front of its goal.
    assert_eq!(plan.expected(ThreadId(1), 1), Some((Op::Write, 0)));
    assert_eq!(plan.goals.len(), 2);
}

#[test]
fn requests_do_not_count_and_what_was_before_is_as_it_was() {
    // Two events of the first thread behind the beginning: of these one is a request.
    let plan = plan(LISTING, &request(2, &[(0, 2)], &[4, 6])).unwrap();
    assert_eq!(segments(&plan), [(0, 3)]);
    assert!(!plan.ops().contains(&Op::Request) && plan.threads[0].count == 3);
    // A thread that has done nothing yet has its goal all the same.
    assert_eq!((plan.threads[1].id, plan.threads[1].count), (1, 0));
}

#[test]
fn what_a_reader_made_up_does_not_count() {
    let trace = text::parse(LISTING).unwrap();
    let request = request(0, &[(0, 4)], &[4, 6]);
    let mut planner = Planner::new(&request, |_, _| false);
    for step in &trace.steps {
        planner.step(step, step.event.op() == Op::Acquire, &trace.tables);
    }
    let collected = planner.finish().unwrap();
    let plan = collected.plan(&collected.schedule, true).unwrap();
    assert_eq!(segments(&plan), [(0, 2)]);
}

#[test]
fn a_schedule_of_another_trace_is_refused() {
    let missing = plan(LISTING, &request(0, &[(1, 6)], &[1, 10]));
    assert!(matches!(
        missing,
        Err(PlanError::Missing {
            needed: 6,
            there: 5,
            ..
        })
    ));
    let none = plan(LISTING, &request(0, &[(0, 1)], &[1, 11]));
    assert_eq!(none, Err(PlanError::NoGoal(EventIndex(11))));
}

#[test]
fn bytes_are_as_long_as_the_types() {
    let plan = plan(LISTING, &request(0, &[(0, 1), (1, 4)], &[1, 10])).unwrap();
    let length = size_of::<PlanHeader>()
        + 2 * size_of::<PlanThread>()
        + 2 * size_of::<PlanSegment>()
        + plan.sites() * size_of::<PlanSite>()
        + 5 * size_of::<PlanEvent>()
        + 2 * size_of::<PlanGoal>();
    let mut bytes = Vec::new();
    plan.write_to(&mut bytes).unwrap();
    assert_eq!(bytes.len(), length);
}

#[test]
fn what_is_behind_the_last_event_that_matters_need_not_be_read() {
    let trace = text::parse(LISTING).unwrap();
    let request = request(1, &[(0, 2)], &[1, 4]);
    let mut planner = Planner::new(&request, |_, _| false);
    let complete = trace.steps.iter().position(|step| {
        planner.step(step, false, &trace.tables);
        planner.is_complete()
    });
    assert_eq!(complete, Some(4));
    assert!(planner.finish().is_ok());
}

#[test]
fn code_without_hooks_is_asked_about_once_for_a_place() {
    let twice = format!("{LISTING}T1|w(y)|10\n");
    let trace = text::parse(&twice).unwrap();
    let request = request(0, &[(0, 6), (1, 6)], &[1, 10]);
    let mut asked = Vec::new();
    let mut planner = Planner::new(&request, |event, _| {
        asked.push(event.pc());
        event.op() == Op::Write
    });
    for step in &trace.steps {
        planner.step(step, false, &trace.tables);
    }
    let collected = planner.finish().unwrap();
    let soft = collected.sites.iter().filter(|site| site.soft == 1);
    assert!(soft.count() >= 4);
    let mut places = asked.clone();
    places.dedup();
    assert_eq!(places, asked);
}
