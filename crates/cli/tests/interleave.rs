//! Schedules of synchronisation from parallel recordings, enforced on the program: `deadheat predict --method interleave`.

mod support;

use std::process::Command;

use serde_json::Value;
use support::{Sandbox, printed, succeed};

fn built(source: &str) -> Sandbox {
    let here = Sandbox::new();
    here.file("prog.c", source);
    succeed(&mut here.deadheat(["cc", "-g", "-O0", "-pthread", "prog.c", "-o", "prog"]));
    here
}

/// Records once, in parallel; false if the program hung.
fn record(here: &Sandbox) -> bool {
    record_with(here, &[])
}

/// The same with arguments for the program.
fn record_with(here: &Sandbox, args: &[&str]) -> bool {
    let mut command = here.command("timeout");
    command.args(["10", support::DEADHEAT, "record", "--quiet", "--", "./prog"]);
    command.args(args).output().unwrap().status.success()
}

fn findings(mut command: Command) -> Vec<Value> {
    let output = command.output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    report["findings"].as_array().unwrap().clone()
}

fn predicted(here: &Sandbox, args: &[&str]) -> Vec<Value> {
    let mut command = here.deadheat(["predict", "--format", "json", "--method"]);
    command.args(args);
    findings(command)
}

/// Records until a run's own order shows no race.
fn record_without_race(here: &Sandbox) {
    let is_hidden = |_| record(here) && predicted(here, &["hb"]).is_empty();
    assert!((0..500).any(is_hidden), "the race shows in every run");
}

fn places(finding: &Value) -> Vec<u64> {
    let sides = finding["accesses"].as_array().unwrap().iter();
    let mut lines: Vec<u64> = sides.map(|side| side["line"].as_u64().unwrap()).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_race_that_the_order_of_locks_has_hidden_is_confirmed() {
    let source = include_str!("../../../programs/papers/listing1.c");
    let here = built(source);
    record_without_race(&here);
    let warned = predicted(&here, &["interleave"]);
    assert_eq!(warned.len(), 1, "{warned:#?}");
    assert_eq!(warned[0]["rung"], "warning");
    assert_eq!(warned[0]["object"]["name"], "y");
    for _ in 0..5 {
        let found = predicted(&here, &["interleave", "--enforce"]);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0]["rung"], "confirmed");
        assert_eq!(places(&found[0]), [21, 29]);
    }
    let found = predicted(&here, &["interleave", "--enforce"]);
    let id = found[0]["id"].as_str().unwrap();
    assert_eq!(found[0]["replay"], format!("deadheat replay {id}"));
    let told = here.told(&mut here.deadheat(["replay", id, "--times", "20"]));
    assert!(told.starts_with("exit: 66"), "{told}");
    assert!(told.contains("the race was seen 20 of 20 times"), "{told}");
    // From elsewhere, by its file.
    let witness = here.path().join(found[0]["witness"].as_str().unwrap());
    std::fs::create_dir(here.path().join("elsewhere")).unwrap();
    let mut replay = here.deadheat(["replay"]);
    replay
        .arg(&witness)
        .current_dir(here.path().join("elsewhere"));
    let told = here.told(&mut replay);
    assert!(told.contains("the race was seen: "), "{told}");
    let told = here.told(&mut here.deadheat(["replay", id, "--order", "ab"]));
    assert!(told.starts_with("exit: 2"), "{told}");
    // Another trace is not run.
    let text = std::fs::read_to_string(&witness).unwrap();
    let digest = serde_json::from_str::<Value>(&text).unwrap()["trace"]["digest"].clone();
    let other = text.replace(digest.as_str().unwrap(), "0000000000000000");
    std::fs::write(&witness, other).unwrap();
    let told = here.told(&mut here.deadheat(["replay", id]));
    assert!(told.contains("is not the trace that the witness"), "{told}");
}

/// The access is there only if the other thread was first.
const DEPENDENT: &str = r#"
#include <pthread.h>

int x, ready, count;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;

static void *task(void *arg) {
    x = 1;
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t thread;
    int seen = 0;
    pthread_create(&thread, 0, task, 0);
    while (!seen) {
        pthread_mutex_lock(&m);
        seen = ready;
        pthread_mutex_unlock(&m);
    }
    pthread_mutex_lock(&n);
    count++;
    pthread_mutex_unlock(&n);
    x++;
    pthread_join(thread, 0);
    return 0;
}
"#;

#[test]
fn what_the_program_never_does_is_infeasible_at_a_step() {
    let here = built(DEPENDENT);
    assert!(record(&here));
    assert_eq!(predicted(&here, &["hb"]).len(), 0);
    let found = predicted(&here, &["interleave", "--enforce"]);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["rung"], "warning");
    assert_eq!(found[0]["object"]["name"], "x");
    let why = found[0]["not_enforced"].as_str().unwrap();
    // It goes around once more instead of leaving the loop.
    assert!(
        why.starts_with(
            "T0 came to the taking of a lock where the schedule has the taking of a lock at "
        ),
        "{why}"
    );
    assert!(why.contains("(step "), "{why}");
}

/// With an argument the wait happens in any case: the lock is held before there is somebody to notify. Without it never does.
const SIGNALLED: &str = r#"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
int y, x, ready;
atomic_int is_set;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void *task(void *arg) {
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    atomic_store(&is_set, 1);
    y++;
    pthread_mutex_lock(&n);
    x++;
    pthread_mutex_unlock(&n);
    return arg;
}

int main(int argc, char **argv) {
    pthread_t thread;
    if (argc > 1)
        pthread_mutex_lock(&m);
    pthread_create(&thread, 0, task, 0);
    if (argc == 1) {
        while (!atomic_load(&is_set))
            sched_yield();
        pthread_mutex_lock(&m);
    }
    while (!ready)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&n);
    x++;
    pthread_mutex_unlock(&n);
    y++;
    pthread_join(thread, 0);
    return 0;
}
"#;

#[test]
fn waits_at_conditions_happen_as_the_schedule_has_them() {
    let here = built(SIGNALLED);
    for args in [&["first"][..], &[]] {
        for _ in 0..3 {
            assert!(record_with(&here, args));
            let trace = printed(&mut here.deadheat(["trace", "cat"]));
            assert_eq!(trace.contains("|wait("), !args.is_empty(), "{trace}");
            let found = predicted(&here, &["interleave", "--enforce"]);
            assert_eq!(found.len(), 1, "{found:#?}");
            assert_eq!(found[0]["rung"], "confirmed", "{found:#?}\n{trace}");
            assert_eq!(places(&found[0]), [16, 39]);
        }
    }
}

/// Barriers, semaphores and read-write locks around a race that the order of `n` hides.
const ALL_KINDS: &str = r#"
#include <pthread.h>
#include <semaphore.h>

int y, x, z;
pthread_mutex_t n = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t w = PTHREAD_RWLOCK_INITIALIZER;
pthread_barrier_t b;
sem_t s;

static void *task(void *arg) {
    pthread_barrier_wait(&b);
    sem_post(&s);
    pthread_rwlock_rdlock(&w);
    int seen = z;
    pthread_rwlock_unlock(&w);
    y++;
    pthread_mutex_lock(&n);
    x += seen;
    pthread_mutex_unlock(&n);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&b, 0, 2);
    sem_init(&s, 0, 0);
    pthread_create(&thread, 0, task, 0);
    pthread_barrier_wait(&b);
    sem_wait(&s);
    pthread_rwlock_wrlock(&w);
    z++;
    pthread_rwlock_unlock(&w);
    pthread_mutex_lock(&n);
    x++;
    pthread_mutex_unlock(&n);
    y++;
    pthread_join(thread, 0);
    return 0;
}
"#;

#[test]
fn all_kinds_of_synchronisation_are_enforced() {
    let here = built(ALL_KINDS);
    for _ in 0..4 {
        assert!(record(&here));
        let found = predicted(&here, &["interleave", "--enforce"]);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0]["rung"], "confirmed", "{found:#?}");
        assert_eq!(places(&found[0]), [17, 37]);
    }
}

/// Two locks in both orders; on the heap, where addresses differ from run to run.
const CROSSED: &str = r#"
#include <pthread.h>
#include <stdlib.h>

struct account { pthread_mutex_t lock; int balance; } *one, *other;

static void transfer(struct account *from, struct account *to) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance--;
    to->balance++;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *task(void *arg) {
    transfer(other, one);
    return arg;
}

int main(void) {
    pthread_t thread;
    one = calloc(1, sizeof *one);
    other = calloc(1, sizeof *other);
    pthread_create(&thread, 0, task, 0);
    transfer(one, other);
    pthread_join(thread, 0);
    return 0;
}
"#;

#[test]
fn a_deadlock_is_run_into() {
    let here = built(CROSSED);
    assert!((0..20).any(|_| record(&here)), "it hangs every time");
    for _ in 0..5 {
        let found = predicted(&here, &["interleave", "--enforce"]);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0]["kind"], "deadlock");
        assert_eq!(found[0]["rung"], "confirmed", "{found:#?}");
        let id = found[0]["id"].as_str().unwrap();
        let told = here.told(&mut here.deadheat(["replay", id, "--times", "5"]));
        assert!(told.contains("the deadlock stood 5 of 5 times"), "{told}");
    }
}

#[test]
fn race_free_programs_stay_without_a_candidate() {
    let here = built(
        r#"
#include <pthread.h>
int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *task(void *arg) {
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t threads[2];
    x = 1;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, task, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return x - 3;
}
"#,
    );
    assert!(record(&here));
    assert_eq!(predicted(&here, &["interleave"]).len(), 0);
}

#[test]
fn a_model_for_fdr() {
    let here = Sandbox::new();
    here.file(
        "listing.txt",
        "\
T0|fork(T1)|1
T0|w(y)|2
T0|acq(m)|3
T0|w(x)|4
T0|rel(m)|5
T1|begin|6
T1|acq(m)|7
T1|w(x)|8
T1|rel(m)|9
T1|w(y)|10
T1|end|11
T0|join(T1)|12
",
    );
    let convert = ["trace", "convert", "listing.txt", "--to", "csp"];
    insta::assert_snapshot!("model", printed(&mut here.deadheat(convert)));
}
