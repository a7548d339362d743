//! Deadlocks that are more than a cycle of locks: through the end of a thread, and waits that nobody can end.

mod oracle;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use deadheat_predict::{Effort, Observer, Options, Prediction, Size, Source, predict};
use oracle::{Needed, window};

struct Nobody(AtomicBool);

impl Observer for Nobody {
    fn progress(&self, _done: u64, _all: u64, _so_far: &Prediction) {}

    fn stop(&self) -> &AtomicBool {
        &self.0
    }
}

/// The deadlocks that a trace proves: of each the lines of those who hold each other up, from 1.
#[track_caller]
fn deadlocks(trace: &str) -> Vec<Vec<u64>> {
    let window = window(trace, Needed::ByBranch);
    let source = Source {
        steps: &window.steps,
        needed_by: &window.needed_by,
        counts: &[],
        is_judged: &|_| true,
    };
    let options = Options {
        size: Size::Auto,
        budget: Effort::about(Duration::from_secs(60)),
        first: Effort::ALL,
        growth: Effort::NONE,
        jobs: 1,
        memory: usize::MAX,
    };
    let found = predict(&source, &options, &Nobody(AtomicBool::new(false)));
    assert!(found.refused.is_empty(), "{:#?}", found.refused);
    let lines = found.deadlocks.iter().map(|proven| {
        let mut lines: Vec<u64> = proven.core().iter().map(|at| at.0 + 1).collect();
        lines.sort_unstable();
        lines
    });
    lines.collect()
}

/// Lines of a trace, each with a place of its own.
fn trace(lines: &[&str]) -> String {
    let numbered = lines.iter().zip(1..);
    numbered
        .map(|(line, number)| format!("{line}|{number}\n"))
        .collect()
}

const JOINED_WITH_A_LOCK: [&str; 8] = [
    "T0|fork(T1)",
    "T1|begin",
    "T1|acq(m)",
    "T1|rel(m)",
    "T1|end",
    "T0|acq(m)",
    "T0|join(T1)",
    "T0|rel(m)",
];

#[test]
fn a_lock_that_the_joined_thread_needs() {
    assert_eq!(deadlocks(&trace(&JOINED_WITH_A_LOCK)), [[3, 7]]);
}

#[test]
fn a_join_behind_the_lock_is_none() {
    let mut lines = JOINED_WITH_A_LOCK;
    lines.swap(6, 7);
    assert!(deadlocks(&trace(&lines)).is_empty());
}

#[test]
fn a_cycle_through_two_locks_and_a_join() {
    let lines = [
        "T0|fork(T1)",
        "T1|begin",
        "T1|fork(T2)",
        "T2|begin",
        "T2|acq(a)",
        "T2|rel(a)",
        "T2|end",
        "T1|acq(b)",
        "T1|join(T2)",
        "T1|rel(b)",
        "T1|end",
        "T0|acq(a)",
        "T0|acq(b)",
        "T0|rel(b)",
        "T0|rel(a)",
        "T0|join(T1)",
    ];
    assert_eq!(deadlocks(&trace(&lines)), [[5, 9, 13]]);
}

/// Main takes from a semaphore with a lock held that the one who posts needs first.
const TAKEN_WITH_A_LOCK: [&str; 11] = [
    "T0|init(sem:s=0)",
    "T0|fork(T1)",
    "T1|begin",
    "T1|acq(m)",
    "T1|rel(m)",
    "T1|post(s)",
    "T1|end",
    "T0|acq(m)",
    "T0|take(s)",
    "T0|rel(m)",
    "T0|join(T1)",
];

#[test]
fn a_post_that_never_comes() {
    assert_eq!(deadlocks(&trace(&TAKEN_WITH_A_LOCK)), [[4, 9]]);
}

#[test]
fn a_semaphore_that_may_hold_something_is_not_waited_for_in_vain() {
    for init in ["T0|init(sem:s=1)", "T0|init(sem:s)", "T0|w(x=1)"] {
        let mut lines = TAKEN_WITH_A_LOCK;
        lines[0] = init;
        assert!(deadlocks(&trace(&lines)).is_empty(), "{init}");
    }
}

#[test]
fn a_wait_with_a_time_limit_ends() {
    let mut lines = TAKEN_WITH_A_LOCK;
    lines[8] = "T0|take(s=1)";
    assert!(deadlocks(&trace(&lines)).is_empty());
}

#[test]
fn somebody_who_still_runs_may_post() {
    let mut lines = TAKEN_WITH_A_LOCK.to_vec();
    lines.insert(2, "T0|fork(T2)");
    lines.extend(["T2|begin", "T2|w(x=1)"]);
    assert!(deadlocks(&trace(&lines)).is_empty());
    lines.push("T2|end");
    assert_eq!(deadlocks(&trace(&lines)), [[5, 10]]);
}

#[test]
fn two_semaphores_in_opposite_orders() {
    let lines = [
        "T0|init(sem:a=1)",
        "T0|init(sem:b=1)",
        "T0|fork(T1)",
        "T1|begin",
        "T1|take(b)",
        "T1|take(a)",
        "T1|post(a)",
        "T1|post(b)",
        "T1|end",
        "T0|take(a)",
        "T0|take(b)",
        "T0|post(b)",
        "T0|post(a)",
        "T0|join(T1)",
    ];
    assert_eq!(deadlocks(&trace(&lines)), [[6, 11]]);
    let mut roomy = lines;
    roomy[1] = "T0|init(sem:b=2)";
    assert!(deadlocks(&trace(&roomy)).is_empty());
}

#[test]
fn a_barrier_with_a_lock_held() {
    let mut lines = [
        "T0|init(barrier:b=2)",
        "T0|fork(T1)",
        "T1|begin",
        "T1|acq(m)",
        "T1|rel(m)",
        "T1|benter(b)",
        "T0|acq(m)",
        "T0|benter(b)",
        "T0|bexit(b)",
        "T0|rel(m)",
        "T1|bexit(b)",
        "T1|end",
        "T0|join(T1)",
    ];
    assert_eq!(deadlocks(&trace(&lines)), [[4, 9]]);
    // Nobody knows how many it waits for.
    lines[0] = "T0|init(barrier:b)";
    assert!(deadlocks(&trace(&lines)).is_empty());
}

#[test]
fn a_notification_that_comes_before_the_wait() {
    let lines = [
        "T0|fork(T1)",
        "T1|begin",
        "T1|acq(m)",
        "T1|rel(m)",
        "T1|wait(c)",
        "T0|notify(c)",
        "T1|wake(c)",
        "T1|acq(m)",
        "T1|rel(m)",
        "T1|end",
        "T0|join(T1)",
    ];
    assert_eq!(deadlocks(&trace(&lines)), [[7]]);
    let mut limited = lines;
    limited[6] = "T1|wake(c=1)";
    assert!(deadlocks(&trace(&limited)).is_empty());
    // Nothing was seen that ended it: somebody may have cancelled it.
    let mut cancelled = lines;
    cancelled[5] = "T0|w(x=1)";
    assert!(deadlocks(&trace(&cancelled)).is_empty());
}

/// What is cancelled later stops waiting, though nobody notifies it.
#[test]
fn a_thread_that_is_cancelled_waits_for_nothing() {
    let lines = [
        "T0|fork(T1)",
        "T1|begin",
        "T1|acq(m)",
        "T1|rel(m)",
        "T1|wait(c)",
        "T0|notify(c)",
        "T1|wake(c)",
        "T1|acq(m)",
        "T1|rel(m)",
        "T1|wait(c)",
        "T0|send(t=2)",
        "T1|recv(t)",
        "T1|timeout(c)",
        "T1|acq(m)",
        "T1|rel(m)",
        "T1|end",
        "T0|join(T1)",
    ];
    assert!(deadlocks(&trace(&lines)).is_empty());
}

/// The first thread may be the one that is left.
#[test]
fn a_wait_of_the_first_thread_when_all_others_have_ended() {
    let lines = [
        "T0|fork(T1)",
        "T1|begin",
        "T0|acq(m)",
        "T0|rel(m)",
        "T0|wait(c)",
        "T1|notify(c)",
        "T1|end",
        "T0|wake(c)",
        "T0|acq(m)",
        "T0|rel(m)",
        "T0|join(T1)",
    ];
    assert_eq!(deadlocks(&trace(&lines)), [[8]]);
    // What another does later is not known.
    let mut unended = lines;
    unended[6] = "T1|w(x=1)";
    assert!(deadlocks(&trace(&unended)).is_empty());
}

/// Where a wait begins before the lock is given back, a notification in between is heard.
#[test]
fn a_wait_that_begins_with_the_lock_held() {
    let lines = [
        "T0|fork(T1)",
        "T1|begin",
        "T1|acq(m)",
        "T1|wait(c)",
        "T1|rel(m)",
        "T0|notify(c)",
        "T1|wake(c)",
        "T1|acq(m)",
        "T1|rel(m)",
        "T1|end",
        "T0|join(T1)",
    ];
    assert_eq!(deadlocks(&trace(&lines)), [[7]]);
    let heard = [
        "T0|fork(T1)",
        "T1|begin",
        "T1|acq(m)",
        "T1|wait(c)",
        "T1|w(f=1)",
        "T1|rel(m)",
        "T0|r(f=1)",
        "T0|branch",
        "T0|notify(c)",
        "T1|wake(c)",
        "T1|acq(m)",
        "T1|rel(m)",
        "T1|end",
        "T0|join(T1)",
    ];
    assert!(deadlocks(&trace(&heard)).is_empty());
}

/// The flag is looked at under the lock, and the release of the lock and the wait are one.
#[test]
fn a_flag_under_the_lock_loses_no_notification() {
    let lines = [
        "T0|fork(T1)",
        "T1|begin",
        "T1|acq(m)",
        "T1|r(f=0)",
        "T1|branch",
        "T1|rel(m)",
        "T1|wait(c)",
        "T0|acq(m)",
        "T0|w(f=1)",
        "T0|notifyall(c)",
        "T0|rel(m)",
        "T1|wake(c)",
        "T1|acq(m)",
        "T1|r(f=1)",
        "T1|branch",
        "T1|rel(m)",
        "T1|end",
        "T0|join(T1)",
    ];
    assert!(deadlocks(&trace(&lines)).is_empty());
}

/// The thread that the barrier lacks is created by one who wants a lock that the other holds at the barrier.
#[test]
fn a_thread_that_is_never_created() {
    let lines = [
        "T0|init(barrier:b=2)",
        "T0|fork(T2)",
        "T2|acq(m)",
        "T2|fork(T1)",
        "T2|rel(m)",
        "T0|acq(m)",
        "T0|benter(b)",
        "T1|benter(b)",
        "T0|bexit(b)",
    ];
    assert_eq!(deadlocks(&trace(&lines)), [[3, 9]]);
}

/// Of two who wait one is woken; the notification is used up.
#[test]
fn a_notification_that_somebody_else_uses_up() {
    let lines = [
        "T0|fork(T1)",
        "T0|fork(T2)",
        "T1|wait(c)",
        "T2|wait(c)",
        "T0|notify(c)",
        "T1|wake(c)",
        "T1|end",
        "T0|notify(c)",
        "T2|wake(c)",
        "T2|end",
        "T0|join(T1)",
        "T0|join(T2)",
    ];
    // T1 waits after the first notification, T2 after the second; or either uses up what the other waits for.
    let found = deadlocks(&trace(&lines));
    assert!(
        found.contains(&vec![6]) && found.contains(&vec![9]),
        "{found:?}"
    );
}

/// Main notifies too early, and then waits for the one who waits for that.
#[test]
fn a_lost_wake_up_behind_a_semaphore() {
    let lines = [
        "T0|init(sem:s=0)",
        "T0|fork(T1)",
        "T1|notify(c)",
        "T1|end",
        "T0|fork(T2)",
        "T2|acq(m)",
        "T2|wait(c)",
        "T2|rel(m)",
        "T0|notify(c)",
        "T2|wake(c)",
        "T2|acq(m)",
        "T2|rel(m)",
        "T2|post(s)",
        "T2|end",
        "T0|take(s)",
        "T0|join(T1)",
        "T0|join(T2)",
    ];
    assert_eq!(deadlocks(&trace(&lines)), [[10]]);
}
