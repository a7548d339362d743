//! Deadlocks that the recorded run itself has ended in: findings like others, confirmed and replayed.

mod support;

use serde_json::Value;
use support::findings::{found, of_kind};
use support::{Sandbox, succeed};

/// Programs that deadlock in every run, and the lines at which somebody waits whom the finding shows.
const ALWAYS: [(&str, &[u64], &str); 6] = [
    (
        "twice",
        &[5],
        r#"#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    return 0;
}
"#,
    ),
    (
        "unheard",
        &[6],
        r#"#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&never, &lock);
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, NULL);
    return 0;
}
"#,
    ),
    (
        "alone",
        &[11],
        r#"#include <pthread.h>
#include <semaphore.h>
static sem_t free_places;
static void *work(void *unused) {
    return unused;
}
int main(void) {
    pthread_t thread;
    sem_init(&free_places, 0, 1);
    for (int i = 0; i < 2; i++)
        sem_wait(&free_places);
    pthread_create(&thread, NULL, work, NULL);
    return 0;
}
"#,
    ),
    (
        "missing",
        &[4],
        r#"#include <pthread.h>
static pthread_barrier_t meeting;
static void *work(void *unused) {
    pthread_barrier_wait(&meeting);
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_barrier_init(&meeting, NULL, 3);
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
"#,
    ),
    (
        "holding",
        &[6, 16],
        r#"#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t posted;
static void *post(void *unused) {
    pthread_mutex_lock(&lock);
    sem_post(&posted);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t thread;
    sem_init(&posted, 0, 0);
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, post, NULL);
    sem_wait(&posted);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
"#,
    ),
    (
        "in_a_ring",
        &[4, 9, 16],
        r#"#include <pthread.h>
static pthread_t first;
static void *second(void *unused) {
    pthread_join(first, NULL);
    return unused;
}
static void *work(void *other) {
    pthread_t *thread = other;
    pthread_join(*thread, NULL);
    return other;
}
int main(void) {
    pthread_t one, two;
    first = pthread_self();
    pthread_create(&one, NULL, second, NULL); pthread_create(&two, NULL, work, &one);
    pthread_join(two, NULL);
    return 0;
}
"#,
    ),
];

fn lines(finding: &Value) -> Vec<u64> {
    let sides = finding["accesses"].as_array().unwrap().iter();
    let mut lines: Vec<u64> = sides.map(|side| side["line"].as_u64().unwrap()).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_run_that_ends_in_a_deadlock_is_its_witness() {
    for (name, expected, source) in ALWAYS {
        let here = Sandbox::new();
        let file = format!("{name}.c");
        here.file(&file, source);
        let report = found(&here, &["check", "--format", "json", &file]);
        let deadlocks = of_kind(&report, "deadlock");
        assert_eq!(deadlocks.len(), 1, "{name}: {report:#}");
        let finding = deadlocks[0];
        assert_eq!(finding["rung"], "confirmed", "{name}: {finding:#}");
        assert_eq!(lines(finding), expected, "{name}: {finding:#}");
        let id = finding["id"].as_str().unwrap();
        let told = here.told(&mut here.deadheat(["replay", id, "--times", "5"]));
        assert!(told.starts_with("exit: 66"), "{name}: {told}");
        assert!(told.contains("stood 5 of 5 times"), "{name}: {told}");
        // What has happened is there without another run, too.
        let report = found(&here, &["predict"]);
        let deadlocks = of_kind(&report, "deadlock");
        assert_eq!(deadlocks.len(), 1, "{name}: {report:#}");
        assert_eq!(deadlocks[0]["rung"], "witness", "{name}");
        assert_eq!(deadlocks[0]["id"], id, "{name}");
    }
}

#[test]
fn who_holds_what_and_waits_at_what_is_told() {
    let here = Sandbox::new();
    let (_, _, source) = ALWAYS[4];
    here.file("holding.c", source);
    let told = here.told(&mut here.deadheat(["check", "holding.c"]));
    let report = told.find("confirmed deadlock").map(|at| &told[at..]);
    let report = report.unwrap_or_else(|| panic!("{told}"));
    let end = report.find("\n--- ").unwrap_or(report.len());
    insta::assert_snapshot!("holding", &report[..end]);
}

/// The same deadlock has the same name, whether it was predicted from a run that did not end in it or a run has ended in it.
#[test]
fn what_was_predicted_and_then_happens_is_one_finding() {
    for name in ["signal_lost", "sem_holding", "barrier_holding"] {
        let here = Sandbox::new();
        let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs");
        let file = format!("{programs}/scenarios/c/{name}_deadlock.c");
        let build = ["cc", "-g", "-O0", "-pthread", &file, "-o", "prog"];
        succeed(&mut here.deadheat(build));
        let check = |seed: u32| {
            let seed = seed.to_string();
            let args = ["check", "--no-confirm", "--policy", "pct", "--seed", &seed];
            let told = here.told(here.deadheat(args).arg("./prog"));
            let ended = told.contains("this run ended in one");
            let is_head = |line: &&str| line.starts_with("proven deadlock");
            let found: Vec<&str> = told.lines().filter(is_head).collect();
            assert_eq!(found.len(), 1, "{told}");
            (ended, found[0].rsplit(' ').next().unwrap().to_owned())
        };
        // Threads that are held back for long make it happen.
        let mut runs = (1..100).map(check);
        let mut names: [Option<String>; 2] = [None, None];
        while names.contains(&None) {
            let (ended, name) = runs.next().expect("some run ends in it, and some does not");
            names[usize::from(ended)] = Some(name);
        }
        assert_eq!(names[0], names[1], "{name}");
    }
}
