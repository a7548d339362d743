//! What one run of a long program shows of many schedules: copies of it follow those that leave the recorded run.

mod support;

use std::process::Stdio;

use support::{Sandbox, succeed};

/// In each round one thread uses a variable before its critical section, the other one behind its own, and both are busy with
/// memory of their own for long. In the last one they take two locks, in different orders, one after the other.
const ROUNDS: &str = r#"
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t round_ends;
static int cells[4];
static volatile long done[2];
static void work(int who, int much) {
    volatile long own[64] = {0};
    for (int i = 0; i < much; i++)
        own[i & 63] += i;
    done[who] += own[7];
}
#define ROUND(k) \
    static void before##k(void) { cells[k] = 1; pthread_mutex_lock(&m); pthread_mutex_unlock(&m); } \
    static int behind##k(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return cells[k]; }
ROUND(0)
ROUND(1)
ROUND(2)
ROUND(3)
static void locks(pthread_mutex_t *one, pthread_mutex_t *other) {
    pthread_mutex_lock(one);
    pthread_mutex_lock(other);
    pthread_mutex_unlock(other);
    pthread_mutex_unlock(one);
}
static void *first(void *nothing) {
#define FIRST(k) work(0, MUCH); before##k(); pthread_barrier_wait(&round_ends);
    FIRST(0) FIRST(1) FIRST(2) FIRST(3)
    locks(&m, &n);
    return nothing;
}
static void *second(void *nothing) {
    long sum = 0;
#define SECOND(k) work(1, MUCH + 1000); sum += behind##k(); pthread_barrier_wait(&round_ends);
    SECOND(0) SECOND(1) SECOND(2) SECOND(3)
    work(1, 1000);
    locks(&n, &m);
    printf("%ld\n", sum);
    return nothing;
}
int main(void) {
    pthread_t one, other;
    pthread_barrier_init(&round_ends, 0, 2);
    pthread_create(&one, 0, first, 0);
    pthread_create(&other, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
"#;

/// What `check` says of it with so much of a budget, where each round has so many steps.
fn checked(much: u32, budget: &str) -> (String, String) {
    let here = Sandbox::new();
    here.file("p.c", ROUNDS);
    let mut build = here.deadheat(["cc", "-g", "-O0", "-pthread", "p.c", "-o", "p"]);
    succeed(build.arg(format!("-DMUCH={much}")));
    let mut check = here.deadheat(["check", "--budget", budget, "--orders", "0", "--", "./p"]);
    let output = check.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(66), "{out}\n{err}");
    (out, err)
}

fn confirmed(out: &str) -> usize {
    let lines = out.lines();
    lines.filter(|line| line.starts_with("confirmed ")).count()
}

/// The budget pays for two runs of the program: each witness by itself would take one.
#[test]
fn one_run_shows_what_many_schedules_of_a_long_run_lead_to() {
    let (out, err) = checked(150_000, "2s");
    assert_eq!(confirmed(&out), 5, "{out}\n{err}");
    assert!(
        out.contains("4 confirmed") && out.contains("1 confirmed"),
        "{out}"
    );
}

/// There is nothing about what was confirmed so that could not be replayed.
#[test]
fn what_a_copy_has_come_to_replays() {
    let here = Sandbox::new();
    here.file("p.c", ROUNDS);
    let mut build = here.deadheat(["cc", "-g", "-O0", "-pthread", "p.c", "-o", "p"]);
    succeed(build.arg("-DMUCH=150000"));
    let mut check = here.deadheat(["check", "--budget", "2s", "--orders", "0", "--", "./p"]);
    let output = check.stdin(Stdio::null()).output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let replays = out
        .lines()
        .filter_map(|line| line.trim().strip_prefix("replay: deadheat replay "));
    let ids: Vec<&str> = replays.collect();
    assert_eq!(ids.len(), 5, "{out}");
    for id in ids {
        let replay = here.deadheat(["replay", id]).output().unwrap();
        let said = String::from_utf8_lossy(&replay.stderr);
        assert_eq!(replay.status.code(), Some(66), "{id}: {said}");
    }
}
