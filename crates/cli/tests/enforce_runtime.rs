//! What the runtime does with schedules of synchronisation, said by hand: which it follows, and where it gives up.

mod support;

use deadheat_explore::{CoarsePlanner, CoarseRequest, Verdict};
use deadheat_trace::{EventIndex, Op, ThreadId, text};
use support::Sandbox;
use support::program::build;

/// Runs `prog` by the events of a text trace in their order; those of `deadlock` are not executed, but stand in the end.
fn enforced(here: &Sandbox, trace: &str, deadlock: &[u64]) -> Verdict {
    let trace = text::parse(trace).unwrap();
    let count = trace.steps.len() as u64;
    let goals: Vec<EventIndex> = deadlock.iter().map(|at| EventIndex(*at)).collect();
    let request = CoarseRequest {
        start: EventIndex(0),
        schedule: (0..count)
            .map(EventIndex)
            .filter(|at| !goals.contains(at))
            .collect(),
        deadlock: goals,
    };
    let mut planner = CoarsePlanner::new(&request);
    for step in &trace.steps {
        planner.step(step, false, &trace.tables);
    }
    let folder = tempfile::tempdir_in(here.path()).unwrap();
    let plan = folder.path().join("plan");
    let mut file = std::fs::File::create(&plan).unwrap();
    planner.finish(false).unwrap().write_to(&mut file).unwrap();
    let mut command = here.command("timeout");
    command
        .args(["--signal=KILL", "8"])
        .arg(here.path().join("prog"))
        .env("DEADHEAT_PLAN", &plan)
        .env("DEADHEAT_REPORT", folder.path().join("report"))
        .env("DEADHEAT_OPTIONS", "mode=watch:watchdog=3");
    // What cannot be followed may end in a deadlock of the program's own.
    let output = command.output().unwrap();
    let verdict = std::fs::read_to_string(folder.path().join("plan.verdict"));
    let verdict = verdict.unwrap_or_else(|_| panic!("{output:?}"));
    Verdict::parse(&verdict).unwrap()
}

fn compiled(source: &str) -> Sandbox {
    build(source, support::compilers()[0], &[])
}

const WAITS: &str = r#"
#include <pthread.h>
static int ready;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static void *task(void *arg) {
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, task, 0);
    pthread_mutex_lock(&m);
    while (!ready)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    pthread_join(thread, 0);
    return 0;
}
"#;

const WAITING: &str = "T0|acq(m)|0\nT0|rel(m)|0\nT0|wait(c)|0\n";
const WOKEN: &str = "T0|wake(c)|0\nT0|acq(m)|0\n";
const SETTING: &str = "T1|begin|0\nT1|acq(m)|0\nT1|notify(c)|0\nT1|rel(m)|0\nT1|end|0\n";
const REST: &str = "T0|rel(m)|0\nT0|join(T1)|0\n";

#[test]
fn a_wait_happens_as_planned() {
    let here = compiled(WAITS);
    let trace = format!("T0|fork(T1)|0\n{WAITING}{SETTING}{WOKEN}{REST}");
    for _ in 0..20 {
        assert!(enforced(&here, &trace, &[]).is_reached());
    }
}

#[test]
fn a_wait_that_is_not_needed_any_more_is_passed_over() {
    let here = compiled(WAITS);
    let trace = format!("T0|fork(T1)|0\n{SETTING}{WAITING}{WOKEN}{REST}");
    for _ in 0..20 {
        assert!(enforced(&here, &trace, &[]).is_reached());
    }
    // And one that is not in the plan at all.
    let trace = format!("T0|fork(T1)|0\n{SETTING}T0|acq(m)|0\n{REST}");
    assert!(enforced(&here, &trace, &[]).is_reached());
}

#[test]
fn what_the_program_does_instead_is_told() {
    let here = compiled(WAITS);
    // The first thread gives the lock back in order to wait; the plan has it go on.
    let trace = format!("T0|fork(T1)|0\nT0|acq(m)|0\nT0|rel(m)|0\nT0|join(T1)|0\n{SETTING}");
    let verdict = enforced(&here, &trace, &[]);
    let Verdict::Diverged { thread, done, came } = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!((thread, done, came.op), (ThreadId(0), 2, Op::Release));
    // There is one more thread in the plan than in the program.
    let trace = format!("T0|fork(T1)|0\nT0|fork(T2)|0\n{SETTING}");
    let verdict = enforced(&here, &trace, &[]);
    let Verdict::Diverged { thread, done, came } = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!((thread, done, came.op), (ThreadId(0), 1, Op::Acquire));
}

const TWO_LOCKS: &str = r#"
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *task(void *arg) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return arg;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, task, 0);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_join(thread, 0);
    return 0;
}
"#;

#[test]
fn a_deadlock_stands_if_each_waits_for_another() {
    let here = compiled(TWO_LOCKS);
    let both = "T0|fork(T1)|0\nT1|begin|0\nT0|acq(a)|0\nT1|acq(b)|0\n";
    let trace = format!("{both}T0|acq(b)|0\nT1|acq(a)|0\n");
    for _ in 0..10 {
        let verdict = enforced(&here, &trace, &[4, 5]);
        let Verdict::Reached(goals) = verdict else {
            panic!("{verdict:?}");
        };
        let threads: Vec<ThreadId> = goals.iter().map(|(thread, _)| *thread).collect();
        assert_eq!(threads, [ThreadId(0), ThreadId(1)]);
    }
    // The other thread has not taken its first lock yet: nobody holds what is asked for.
    let trace = "T0|fork(T1)|0\nT1|begin|0\nT0|acq(a)|0\nT0|acq(b)|0\nT1|acq(b)|0\n";
    let verdict = enforced(&here, trace, &[3, 4]);
    assert!(matches!(verdict, Verdict::Got { .. }), "{verdict:?}");
}

#[test]
fn a_lock_that_is_taken_cannot_be_taken() {
    let here = compiled(TWO_LOCKS);
    let trace = "T0|fork(T1)|0\nT1|begin|0\nT0|acq(a)|0\nT1|acq(b)|0\nT1|acq(a)|0\n";
    let verdict = enforced(&here, trace, &[]);
    let Verdict::Blocked { thread, done, .. } = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!((thread, done), (ThreadId(1), 2));
}

#[test]
fn a_program_that_ends_or_spins_cannot_follow() {
    let ends = compiled(
        "#include <pthread.h>\nstatic void *task(void *arg) { return arg; }\n\
         int main(void) { pthread_t thread; pthread_create(&thread, 0, task, 0); return 0; }\n",
    );
    let verdict = enforced(&ends, "T0|fork(T1)|0\nT1|begin|0\nT0|join(T1)|0\n", &[]);
    let (thread, done) = (ThreadId(0), 1);
    assert_eq!(verdict, Verdict::Ended { thread, done });
    let spins = compiled(
        r#"
#include <pthread.h>
#include <stdatomic.h>
static atomic_int go;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *task(void *arg) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    atomic_store(&go, 1);
    return arg;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, task, 0);
    while (!atomic_load(&go))
        ;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_join(thread, 0);
    return 0;
}
"#,
    );
    // The first thread waits for what the second does only later.
    let trace = "T0|fork(T1)|0\nT1|begin|0\nT0|acq(m)|0\nT0|rel(m)|0\nT1|acq(m)|0\nT1|rel(m)|0\n";
    let verdict = enforced(&spins, trace, &[]);
    assert_eq!(verdict, Verdict::Passed { thread, done });
}
