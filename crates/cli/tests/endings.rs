//! The end of a program is a step, and one that it should not take is a finding.

mod support;

use serde_json::Value;
use support::Sandbox;
use support::findings::of_kind;

/// Threads that nobody joins: the assertion fails only if both run, one after the other.
const UNJOINED: &str = r#"
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int a, b;
static void *one(void *u) { pthread_mutex_lock(&m); a = 1; pthread_mutex_unlock(&m); return u; }
static void *two(void *u) {
    pthread_mutex_lock(&m);
    b = a;
    assert(b == 0);
    pthread_mutex_unlock(&m);
    return u;
}
int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, one, 0);
    pthread_create(&y, 0, two, 0);
    return 0;
}
"#;

/// The run itself dies, in a thread, after a race.
const ABORTS: &str = r#"
#include <pthread.h>
#include <stdlib.h>
int g;
static void *f(void *u) {
    g = 1;
    abort();
    return u;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    g = 2;
    pthread_join(t, 0);
    return 0;
}
"#;

/// Two different panics, each in some schedules only.
const PANICS: &str = r#"use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
static A: AtomicUsize = AtomicUsize::new(0);
fn main() {
    let t = thread::spawn(|| {
        A.store(1, SeqCst);
        A.store(2, SeqCst);
    });
    let a = A.load(SeqCst);
    if a == 1 {
        panic!("first bug");
    }
    let b = A.load(SeqCst);
    if a == 0 && b == 2 {
        panic!("second bug");
    }
    t.join().unwrap();
}
"#;

/// A relaxed publication: the two accesses are never side by side.
const PUBLISHES: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
int g, h;
static atomic_int a;
static void *f(void *u) {
    g = 3;
    atomic_store_explicit(&a, 1, memory_order_relaxed);
    return u;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    if (atomic_load_explicit(&a, memory_order_acquire))
        h = g;
    pthread_join(t, 0);
    return 0;
}
"#;

/// A lock made of assembly keeps the two apart, which nobody sees.
const ASSEMBLY: &str = r#"
#include <pthread.h>
int x, *volatile p = &x;
static int *take(void) {
    for (;;) {
        int *v = p;
        if (!v) continue;
        unsigned char ok;
        __asm__ __volatile__("lock; cmpxchgq %2,%1; sete %0"
            : "=q"(ok), "+m"(*(int *volatile *)&p) : "r"((int *)0), "a"(v) : "memory", "cc");
        if (ok) return v;
    }
}
static void *work(void *u) {
    for (int i = 0; i < 3; i++) {
        int *v = take();
        ++*v;
        p = v;
    }
    return u;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// What a command reports of a source file.
fn report(here: &Sandbox, command: &[&str], file: &str) -> Value {
    let mut command = here.deadheat(command);
    let output = command.args(["--format", "json", file]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"))
}

fn line(finding: &Value, side: usize) -> u64 {
    finding["accesses"][side]["line"].as_u64().unwrap_or(0)
}

#[test]
fn threads_that_are_never_joined_may_run_before_the_end() {
    let here = Sandbox::new();
    here.file("p.c", UNJOINED);
    for command in ["check", "explore"] {
        let report = report(&here, &[command], "p.c");
        let failures = of_kind(&report, "failure");
        assert_eq!(failures.len(), 1, "{command}: {report:#}");
        assert_eq!(failures[0]["rung"], "confirmed");
        assert_eq!(line(failures[0], 0), 10);
    }
}

#[test]
fn a_recorded_run_that_dies_is_a_finding_beside_the_others() {
    let here = Sandbox::new();
    here.file("p.c", ABORTS);
    let report = report(&here, &["check"], "p.c");
    let (failures, races) = (of_kind(&report, "failure"), of_kind(&report, "race"));
    assert_eq!((failures.len(), races.len()), (1, 1), "{report:#}");
    assert_eq!(failures[0]["rung"], "confirmed");
    assert_eq!(line(failures[0], 0), 7);
}

#[test]
fn two_panics_are_two_findings_at_their_places() {
    let here = Sandbox::new();
    here.file("p.rs", PANICS);
    let report = report(&here, &["check"], "p.rs");
    let mut lines: Vec<u64> = of_kind(&report, "failure")
        .iter()
        .map(|one| line(one, 0))
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, [11, 15], "{report:#}");
}

#[test]
fn a_relaxed_publication_is_confirmed_as_unordered() {
    let here = Sandbox::new();
    here.file("p.c", PUBLISHES);
    for command in ["check", "explore"] {
        let report = report(&here, &[command], "p.c");
        let races = of_kind(&report, "race");
        assert_eq!(races.len(), 1, "{command}: {report:#}");
        assert_eq!(races[0]["rung"], "confirmed");
        assert_eq!(races[0]["evidence"], "unordered");
        let id = races[0]["id"].as_str().unwrap_or_default();
        let told = here.told(&mut here.deadheat(["replay", id, "--times", "5"]));
        assert!(told.contains("nothing ordered them 5 of 5 times"), "{told}");
    }
}

#[test]
fn what_assembly_may_order_is_a_warning_that_names_it() {
    let here = Sandbox::new();
    here.file("p.c", ASSEMBLY);
    for seed in ["1", "2", "3"] {
        let report = report(&here, &["check", "--seed", seed, "--warnings"], "p.c");
        // The word of the lock is accessed side by side, too: it is an atomic variable in all but
        // type.
        for race in of_kind(&report, "race") {
            let because = race["reasons"].to_string();
            assert!(
                race["rung"] == "warning"
                    && (race["refuted"].is_string() || because.contains("assembly")),
                "{race:#}"
            );
        }
    }
}
