//! `deadheat watch`, on programs that are built here.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;
use support::{Sandbox, succeed};

const BANK: &str = r#"
#include <pthread.h>
#include <stdlib.h>

/* A barrier that the detector does not see. */
void __tsan_testonly_barrier_init(unsigned long *, unsigned); void __tsan_testonly_barrier_wait(unsigned long *);
static unsigned long met[2];
struct account { long id; int balance; } accounts[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void deposit(struct account *to) {
    to->balance++;
}

static void *careful(void *unused) {
    pthread_mutex_lock(&lock);
    deposit(&accounts[1]);
    pthread_mutex_unlock(&lock);
    __tsan_testonly_barrier_wait(met);
    return unused;
}

static void *careless(void *unused) {
    __tsan_testonly_barrier_wait(met);
    deposit(&accounts[1]);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    __tsan_testonly_barrier_init(met, 2);
    pthread_create(&threads[0], 0, careful, 0);
    pthread_create(&threads[1], 0, careless, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 3;
}
"#;

fn built(name: &str, source: &str) -> Sandbox {
    let here = Sandbox::new();
    here.file(&format!("{name}.c"), source);
    let file = format!("{name}.c");
    succeed(&mut here.deadheat(["cc", "-g", "-O0", "-pthread", &file, "-o", name]));
    here
}

fn findings(here: &Sandbox, args: &[&str]) -> Vec<Value> {
    let mut watch = here.deadheat(["watch", "--format", "json", "-o", "found.json"]);
    let output = watch.args(args).output().unwrap();
    let text = std::fs::read_to_string(here.path().join("found.json"));
    let text = text.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let report: Value = serde_json::from_str(&text).unwrap();
    report["findings"].as_array().unwrap().clone()
}

#[test]
fn a_race_is_told_with_everything_around_it() {
    let here = built("bank", BANK);
    let found = findings(&here, &["--", "./bank"]);
    assert_eq!(found.len(), 1, "{found:#?}");
    let race = &found[0];
    assert_eq!(race["rung"], "observed");
    assert_eq!(race["object"]["name"], "accounts[1].balance");
    let sides = race["accesses"].as_array().unwrap();
    let side = |caller: &str| {
        let calls = |access: &&Value| access["stack"][1]["function"] == caller;
        sides
            .iter()
            .find(calls)
            .unwrap_or_else(|| panic!("{race:#}"))
    };
    for caller in ["careful", "careless"] {
        assert_eq!(side(caller)["function"], "deposit");
        assert_eq!(side(caller)["line"], 12);
        assert_eq!(side(caller)["thread"]["created_at"][0]["function"], "main");
    }
    let held = &side("careful")["locks"];
    assert_eq!(held[0]["name"], "lock");
    assert_eq!(held[0]["acquired_at"][0]["line"], 16);
    assert_eq!(side("careless")["locks"].as_array().unwrap().len(), 0);
}

#[test]
fn exit_codes_and_the_last_line() {
    let here = built("bank", BANK);
    let told = here.told(&mut here.deadheat(["watch", "--", "./bank"]));
    assert!(told.starts_with("exit: 66"), "{told}");
    assert!(
        told.contains("race on accounts[1].balance (happens-before)"),
        "{told}"
    );
    assert!(
        told.contains("deadheat: the program exited with 3"),
        "{told}"
    );
    assert!(told.contains("deadheat: 1 race in "), "{told}");
    let own = ["watch", "--exit-code-from-program", "--", "./bank"];
    assert!(here.told(&mut here.deadheat(own)).starts_with("exit: 3"));
    here.file("known.txt", "race:accounts*balance\n");
    let quiet = ["watch", "--suppressions", "known.txt", "--", "./bank"];
    let told = here.told(&mut here.deadheat(quiet));
    assert!(told.starts_with("exit: 0"), "{told}");
    assert!(
        told.contains("no races, ") && told.contains(" suppressed"),
        "{told}"
    );
}

#[test]
fn memory_that_was_freed_is_named() {
    let here = built(
        "freed",
        r#"
#include <pthread.h>
#include <stdlib.h>
void __tsan_testonly_barrier_init(unsigned long *, unsigned); void __tsan_testonly_barrier_wait(unsigned long *);
static unsigned long met[2];
static void *look(void *block) {
    char first = *(char *)block;
    __tsan_testonly_barrier_wait(met);
    return first ? block : 0;
}
int main(void) {
    pthread_t thread;
    __tsan_testonly_barrier_init(met, 2);
    char *block = calloc(3, 8);
    pthread_create(&thread, 0, look, block);
    __tsan_testonly_barrier_wait(met);
    free(block);
    pthread_join(thread, 0);
}
"#,
    );
    let found = findings(&here, &["--", "./freed"]);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["object"]["memory"], "heap");
    assert_eq!(found[0]["object"]["length"], 24);
    assert_eq!(found[0]["object"]["allocated_at"][0]["line"], 14);
    let ops = [
        &found[0]["accesses"][0]["op"],
        &found[0]["accesses"][1]["op"],
    ];
    assert!(ops.iter().any(|op| *op == "free"), "{found:#?}");
}

#[test]
fn what_cannot_be_watched_is_said() {
    let here = Sandbox::new();
    insta::assert_snapshot!(here.told(&mut here.deadheat(["watch", "--", "./nothing"])));
    insta::assert_snapshot!(here.told(&mut here.deadheat(["watch", "--", "/bin/true"])));
    here.script("script", "#!/bin/sh\nexit 0\n");
    insta::assert_snapshot!(here.told(&mut here.deadheat(["watch", "--", "./script"])));
}

#[test]
fn a_stopped_program_goes_on_when_it_is_told_to() {
    let here = built("bank", BANK);
    for format in ["text", "json"] {
        goes_on(&here, format);
    }
}

fn goes_on(here: &Sandbox, format: &str) {
    let mut watch = here.deadheat(["watch", "--on-race", "stop", "--format", format]);
    watch.args(["--", "./bank"]).stdout(Stdio::null());
    let mut child = watch.stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut stops = 0;
    for line in lines.map(Result::unwrap) {
        let Some(rest) = line.split("deadheat: process ").nth(1) else {
            continue;
        };
        let pid = rest.split(' ').next().unwrap();
        // The signal is sent; it stops thread after thread.
        let status = || std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        while !status().contains("State:\tT") {
            assert!(child.try_wait().unwrap().is_none());
            std::thread::yield_now();
        }
        succeed(Command::new("kill").args(["-CONT", pid]));
        stops += 1;
    }
    assert_eq!((stops, child.wait().unwrap().code()), (1, Some(66)));
}

#[test]
fn a_debugger_stands_before_the_second_access() {
    let here = built("bank", BANK);
    let mut watch = here.deadheat(["watch", "--on-race", "gdb", "--", "./bank"]);
    watch
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = watch.spawn().unwrap();
    let mut commands = child.stdin.take().unwrap();
    writeln!(commands, "info frame\nprint to->balance\ndetach\nquit").unwrap();
    drop(commands);
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(66), "{told}");
    let forbidden = told.contains("ptrace: Operation not permitted");
    assert!(forbidden || told.contains("in deposit"), "{told}");
    assert!(forbidden || told.contains("$1 = "), "{told}");
}

/// The order of two critical sections hides the race on `shared` from happens-before; locksets see it.
const HIDDEN: &str = r#"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ticks, shared, seen;
static void tick(void) {
    pthread_mutex_lock(&lock);
    ticks++;
    pthread_mutex_unlock(&lock);
}
static void *reader(void *unused) {
    tick();
    for (int i = 0; i < 3; i++)
        seen += shared;
    return unused;
}
int main(void) {
    pthread_t thread;
    shared = 1;
    pthread_create(&thread, 0, reader, 0);
    tick();
    pthread_join(thread, 0);
    pthread_create(&thread, 0, reader, 0);
    shared = 2;
    tick();
    pthread_join(thread, 0);
}
"#;

#[test]
fn two_passes_look_closer_at_what_the_first_flagged() {
    let here = built("hidden", HIDDEN);
    let told = here.told(&mut here.deadheat(["watch", "--two-pass", "--", "./hidden"]));
    assert!(told.starts_with("exit: 66"), "{told}");
    assert!(told.contains("deadheat: first pass: "), "{told}");
    assert!(told.contains("possible race on shared (hybrid)"), "{told}");
    assert!(!told.contains("race on ticks"), "{told}");
    let found = findings(&here, &["--two-pass", "--", "./hidden"]);
    assert!(found.iter().all(|finding| finding["rung"] == "warning"));
    assert!(
        found
            .iter()
            .all(|finding| finding["accesses"].as_array().unwrap().len() == 2)
    );
}

#[test]
fn two_passes_of_a_program_without_mistakes_find_nothing() {
    let here = built(
        "clean",
        r#"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void *add(void *unused) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        total++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return total != 200;
}
"#,
    );
    let told = here.told(&mut here.deadheat(["watch", "--two-pass", "--", "./clean"]));
    assert!(told.starts_with("exit: 0"), "{told}");
    let simple = ["watch", "--detector", "simple", "--", "./clean"];
    let told = here.told(&mut here.deadheat(simple));
    assert!(told.contains("warning"), "{told}");
}
