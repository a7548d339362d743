//! `deadheat explore` where one of several threads is the first, and decides something by that; and waits at
//! pipes that nobody ends.

mod support;

use serde_json::Value;
use support::Sandbox;
use support::findings::of_kind;

fn explored(name: &str, text: &str) -> Value {
    let here = Sandbox::new();
    here.file(name, text);
    let mut command = here.deadheat(["explore", "--format", "json", "-o", "found.json", name]);
    let told = here.told(&mut command);
    assert!(told.starts_with("exit: 66"), "{told}");
    let report = std::fs::read_to_string(here.path().join("found.json")).unwrap();
    serde_json::from_str(&report).unwrap()
}

/// If the second thread runs the routine, nothing orders it with what the first has done before.
const ONCE: &str = "
#include <pthread.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int value;
static void make(void) { value = 3; }
static void *first(void *unused) {
    value = 2;
    pthread_once(&once, make);
    return unused;
}
static void *second(void *unused) {
    pthread_once(&once, make);
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, first, 0);
    pthread_create(&other, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
";

#[test]
fn another_thread_may_do_it_once() {
    let report = explored("once.c", ONCE);
    let races = of_kind(&report, "race");
    assert_eq!(races.len(), 1, "{report:#}");
    assert_eq!(races[0]["rung"], "confirmed", "{report:#}");
}

const PIPE: &str = "
#include <pthread.h>
#include <unistd.h>
static int ends[2];
static void *reader(void *unused) {
    char byte;
    return read(ends[0], &byte, 1) == 1 ? unused : 0;
}
int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&thread, 0, reader, 0);
    pthread_join(thread, 0);
    return 0;
}
";

#[test]
fn a_wait_at_a_pipe_that_nobody_ends_is_confirmed() {
    let report = explored("pipe.c", PIPE);
    let deadlocks = of_kind(&report, "deadlock");
    assert_eq!(deadlocks.len(), 1, "{report:#}");
    assert_eq!(deadlocks[0]["rung"], "confirmed", "{report:#}");
}
