//! What is likely is asked about first: a budget that ends early has not gone to what lay in front of it.

mod support;

use std::process::Output;

use support::{Sandbox, succeed};

/// Two threads hand something over a few thousand times; then there is a race that the order of two critical sections hides.
const LATE: &str = r#"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, last = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int whose, handed[4], late;
static void wait_for(int mine) {
    pthread_mutex_lock(&lock);
    while (whose != mine)
        pthread_cond_wait(&turn, &lock);
    pthread_mutex_unlock(&lock);
}
static void hand_on(int to) {
    pthread_mutex_lock(&lock);
    whose = to;
    pthread_cond_signal(&turn);
    pthread_mutex_unlock(&lock);
}
static void work(int mine) {
    for (int i = 0; i < 3000; i++) {
        wait_for(mine);
        for (int j = 0; j < 4; j++)
            handed[j]++;
        hand_on(!mine);
    }
}
static void *other(void *unused) {
    work(1);
    pthread_mutex_lock(&last);
    pthread_mutex_unlock(&last);
    late++;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    work(0);
    late++;
    pthread_mutex_lock(&last);
    pthread_mutex_unlock(&last);
    pthread_join(thread, 0);
    return 0;
}
"#;

fn recorded() -> Sandbox {
    let here = Sandbox::new();
    here.file("p.c", LATE);
    succeed(&mut here.deadheat(["cc", "-g", "-O0", "-pthread", "p.c", "-o", "p"]));
    succeed(&mut here.deadheat(["record", "--serial", "./p"]));
    here
}

fn said(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// In the order of the trace four times as much is not enough. A trace that does not fit into memory is no other.
#[test]
fn a_late_race_is_found_within_a_small_budget() {
    let here = recorded();
    for memory in ["1GiB", "8M", "1M"] {
        let arguments = [
            "predict", "--budget", "1s", "--growth", "1ms", "--memory", memory,
        ];
        let output = here.deadheat(arguments).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(66), "{memory}: {said}");
        assert!(said.contains("proven race on late"), "{memory}: {said}");
        assert!(
            said.contains("--budget gives more"),
            "not all: {memory}: {said}"
        );
        assert!(said.contains("1 race in"), "{memory}: {said}");
    }
}

/// Another reading has to be paid for: where the budget is too small, there is none, and that is no end of what is found.
#[test]
fn readings_are_part_of_the_budget() {
    let here = recorded();
    let arguments = [
        "predict", "--memory", "1M", "--budget", "50ms", "--growth", "1ms",
    ];
    let output = here.deadheat(arguments).output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("--budget gives more"), "{said}");
}
