//! Functions whose accesses are not recorded.

mod support;

use std::process::Command;

use support::Sandbox;

/// What a command prints on both streams, and its exit code.
fn told(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let code = output.status.code().unwrap();
    (code, String::from_utf8(text).unwrap())
}

#[test]
fn functions_can_be_left_out() {
    let here = Sandbox::new();
    here.file(
        "prog.c",
        "\
#include <pthread.h>
static int hits;
static int noise[64];
static void log_it(int i) {
    for (int k = 0; k < 64; k++)
        noise[k] += i;
}
static void *worker(void *unused) {
    for (int i = 0; i < 10; i++)
        log_it(i);
    hits++;
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return hits - 2;
}
",
    );
    for choice in [["--except", "log_it"], ["--only", "worker"]] {
        let (code, told) = told(here.deadheat(["check"]).args(choice).arg("prog.c"));
        assert_eq!(code, 66, "{told}");
        let has = |text: &str| assert!(told.contains(text), "no {text:?} in\n{told}");
        has("data races      1 confirmed\n");
        has("confirmed race on hits");
        has("note: accesses of some functions were not recorded\n");
    }
    // What was found in a recording with gaps is replayed with the same gaps.
    let (_, all) = told(&mut here.deadheat(["check", "--except", "log_it", "prog.c"]));
    let id = all.split_once("replay: deadheat replay ").unwrap().1;
    let id = id.lines().next().unwrap();
    let (_, replayed) = told(&mut here.deadheat(["replay", id, "--times", "3"]));
    assert!(replayed.contains("3 of 3 times"), "{replayed}");
}

/// `second` goes on only when it has seen what `first` did.
const HANDSHAKE: &str = "\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;
static int value;
static __attribute__((noinline)) int is_done(void) { return done; }
static void *first(void *unused) {
    value = 1;
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_lock(&lock);
    int go = is_done();
    pthread_mutex_unlock(&lock);
    if (go)
        value = 2;
    return unused;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return value - 2;
}
";

#[test]
fn what_a_gap_makes_look_like_a_race_is_none() {
    let here = Sandbox::new();
    here.file("prog.c", HANDSHAKE);
    let args = ["check", "--policy", "run-to-block", "--except", "is_done"];
    let (code, told_all) = told(here.deadheat(args).args(["--no-confirm", "prog.c"]));
    assert_eq!(code, 0, "{told_all}");
    assert!(told_all.contains("data races      none\n"), "{told_all}");
    // The same from the recording alone: derived, and taken back.
    let (code, predicted) = told(&mut here.deadheat(["predict"]));
    assert_eq!(code, 66, "{predicted}");
    assert!(predicted.contains("possible race on value"), "{predicted}");
    assert!(
        predicted.contains("1 that could not be confirmed became warnings"),
        "{predicted}"
    );
    let (code, refused) = told(&mut here.deadheat(["explore", "1"]));
    assert_eq!(code, 2, "{refused}");
    assert!(
        refused.contains("searching it would settle nothing"),
        "{refused}"
    );
}

#[test]
fn names_must_be_there() {
    let here = Sandbox::new();
    here.file("prog.c", HANDSHAKE);
    let (code, told) = told(&mut here.deadheat(["check", "--only", "third", "prog.c"]));
    assert_eq!(code, 2, "{told}");
    assert!(
        told.contains("has no function third with accesses to memory"),
        "{told}"
    );
}
