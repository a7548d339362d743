//! `deadheat check` to its end, and `deadheat replay`: schedules enforced on the real program.

mod support;

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use support::Sandbox;
use support::findings::{found, of_kind};

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs");

/// Checks a program of the zoo, or a source in the sandbox.
fn check(here: &Sandbox, source: &str, more: &[&str]) -> Value {
    let mut args = vec!["check", "--format", "json"];
    args.extend(more);
    args.push(source);
    found(here, &args)
}

fn program(name: &str) -> String {
    format!("{PROGRAMS}/{name}")
}

/// The only finding of a report.
fn only<'a>(report: &'a Value, kind: &str) -> &'a Value {
    let all = of_kind(report, kind);
    assert_eq!(all.len(), 1, "{report:#}");
    all[0]
}

#[test]
fn what_is_found_is_confirmed_and_replays_every_time() {
    for (name, kind) in [
        ("papers/listing1.c", "race"),
        ("papers/maximal_fig1.c", "race"),
        ("zoo/c/pipe_race.c", "race"),
        ("zoo/c/struct_copy_race.c", "race"),
        ("zoo/c/memset_race.c", "race"),
        ("zoo/c/deadlock_three.c", "deadlock"),
        ("scenarios/c/signal_lost_deadlock.c", "deadlock"),
        ("scenarios/c/join_holding_deadlock.c", "deadlock"),
    ] {
        let here = Sandbox::new();
        let report = check(&here, &program(name), &[]);
        let finding = only(&report, kind);
        assert_eq!(finding["rung"], "confirmed", "{name}: {finding:#}");
        let id = finding["id"].as_str().unwrap();
        assert_eq!(finding["replay"], format!("deadheat replay {id}"));
        let told = here.told(&mut here.deadheat(["replay", id, "--times", "20"]));
        assert!(told.starts_with("exit: 66"), "{name}: {told}");
        assert!(told.contains("20 of 20 times"), "{name}: {told}");
    }
}

/// A thread that is about to wait for a mutex may find it free again, and leaves no event then. In a replay
/// it looks at another moment, and must not wait all the same.
#[test]
fn locks_of_rust_that_many_ask_for_replay() {
    for seed in ["0", "1", "2"] {
        let here = Sandbox::new();
        let source = program("rust/zoo/src/bin/mutex_contended_race.rs");
        let report = check(&here, &source, &["--seed", seed, "--orders", "0"]);
        let finding = only(&report, "race");
        assert_eq!(finding["rung"], "confirmed", "seed {seed}: {finding:#}");
        let id = finding["id"].as_str().unwrap();
        let told = here.told(&mut here.deadheat(["replay", id, "--times", "20"]));
        assert!(told.contains("20 of 20 times"), "seed {seed}: {told}");
    }
}

#[test]
fn programs_without_errors_get_no_finding() {
    for name in [
        "papers/maximal_fig2_case2.c",
        "zoo/c/bounded_buffer.c",
        "zoo/c/deadlock_gate.c",
        "zoo/c/trylock_path_good.c",
    ] {
        let here = Sandbox::new();
        let report = check(&here, &program(name), &[]);
        assert_eq!(report["findings"], Value::Array(Vec::new()), "{name}");
    }
}

/// Whether the pointer is looked at before or after it is taken away decides.
const TAKEN_AWAY: &str = r#"
#include <pthread.h>
#include <stdio.h>
int value = 42;
int *volatile place = &value;
static void *take(void *unused) {
    place = NULL;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, take, NULL);
    if (place != NULL)
        printf("%d\n", *place);
    else
        puts("gone");
    pthread_join(thread, NULL);
    return 0;
}
"#;

#[test]
fn each_order_has_its_consequence() {
    let here = Sandbox::new();
    here.file("taken.c", TAKEN_AWAY);
    let report = check(&here, "taken.c", &["--runs", "4"]);
    let races = of_kind(&report, "race");
    let check = races
        .iter()
        .find(|race| race["signature"].as_str().unwrap().contains("taken.c:13"))
        .unwrap_or_else(|| panic!("{report:#}"));
    let writes_first = check["accesses"][0]["op"] == "write";
    let ending = |write_first: bool| {
        let at = usize::from(write_first != writes_first);
        &check["consequence"]["endings"][at]
    };
    assert_eq!(ending(true)["stdout"], "gone\n", "{check:#}");
    assert_eq!(ending(true)["exit"], 0);
    // Looked at, taken away, used.
    assert_eq!(ending(false)["signal"], libc::SIGSEGV, "{check:#}");
    let told = ending(false)["told"].as_str().unwrap();
    assert!(told.contains("crashes with SIGSEGV in main"), "{told}");
    assert!(told.contains("taken.c:14"), "{told}");
    assert_eq!(check["consequence"]["differs"][0], "how the program ends");

    let id = check["id"].as_str().unwrap();
    let order = if writes_first { "ab" } else { "ba" };
    let told = here.told(&mut here.deadheat(["replay", id, "--order", order]));
    assert!(told.contains("gone"), "{told}");
    let other = if writes_first { "ba" } else { "ab" };
    let told = here.told(&mut here.deadheat(["replay", id, "--order", other]));
    assert!(told.contains("SIGSEGV") && !told.contains("gone"), "{told}");
}

const LOST: &str = r#"
#include <pthread.h>
int count;
static void *work(void *unused) {
    count++;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    count++;
    pthread_join(thread, NULL);
    return 0;
}
"#;

/// One of the orders loses an update, and nothing but the variable shows it.
#[test]
fn what_the_variable_holds_in_the_end_is_compared() {
    let here = Sandbox::new();
    here.file("lost.c", LOST);
    let report = check(&here, "lost.c", &[]);
    let races = of_kind(&report, "race");
    let values = |race: &&Value| {
        let endings = race["consequence"]["endings"].as_array().unwrap().clone();
        let mut values: Vec<u64> = endings
            .iter()
            .map(|one| one["value"].as_u64().unwrap())
            .collect();
        values.sort_unstable();
        values
    };
    let lost: Vec<&&Value> = races.iter().filter(|race| values(race) == [1, 2]).collect();
    assert!(!lost.is_empty(), "{report:#}");
    assert_eq!(
        lost[0]["consequence"]["differs"][0],
        "what the variable holds in the end"
    );
}

const FORKS: &str = r#"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
int shared, own;
static void *work(void *unused) {
    shared = 1;
    return unused;
}
int main(void) {
    pthread_t thread;
    int status;
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 100; i++)
            own += i;
        _exit(own == 4950 ? 0 : 1);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        return 1;
    pthread_create(&thread, NULL, work, NULL);
    shared = 2;
    pthread_join(thread, NULL);
    return 0;
}
"#;

/// What a program forks follows no schedule, and is not harmed by that of its parent.
#[test]
fn a_forked_process_goes_its_own_way() {
    let here = Sandbox::new();
    here.file("forks.c", FORKS);
    let report = check(&here, "forks.c", &[]);
    let finding = only(&report, "race");
    assert_eq!(finding["rung"], "confirmed", "{finding:#}");
    for ending in finding["consequence"]["endings"].as_array().unwrap() {
        assert_eq!(ending["exit"], 0, "{finding:#}");
    }
}

/// Which way the second thread goes depends on a file.
const BY_FILE: &str = r#"
#include <pthread.h>
#include <stdio.h>
int shared, other;
static void *work(void *unused) {
    FILE *file = fopen("way", "r");
    int way = file ? fgetc(file) : '0';
    if (file)
        fclose(file);
    if (way == '1')
        shared = 1;
    else
        other = 1;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    shared = 2;
    pthread_join(thread, NULL);
    return 0;
}
"#;

#[test]
fn a_program_that_does_something_else_diverges_and_says_where() {
    let here = Sandbox::new();
    here.file("by_file.c", BY_FILE);
    here.file("way", "1");
    let report = check(&here, "by_file.c", &[]);
    let finding = only(&report, "race");
    assert_eq!(finding["rung"], "confirmed");
    let id = finding["id"].as_str().unwrap();
    here.file("way", "0");
    let told = here.told(&mut here.deadheat(["replay", id]));
    assert!(told.starts_with("exit: 4"), "{told}");
    let where_it_was = "came to a write at work by_file.c:13";
    assert!(told.contains(where_it_was), "{told}");
    assert!(told.contains("has a write at work by_file.c:11"), "{told}");
}

#[test]
fn what_cannot_be_replayed_is_said() {
    let here = Sandbox::new();
    here.file("taken.c", TAKEN_AWAY);
    let told = here.told(&mut here.deadheat(["replay", "0badcafe"]));
    assert!(told.starts_with("exit: 2"), "{told}");
    assert!(told.contains("no witness of a finding 0badcafe"), "{told}");
    here.file("broken.json", "{\"version\":1}");
    let told = here.told(&mut here.deadheat(["replay", "broken.json"]));
    assert!(
        told.starts_with("exit: 2") && told.contains("is no witness"),
        "{told}"
    );

    let report = check(&here, "taken.c", &[]);
    let finding = of_kind(&report, "race")[0];
    let witness = here.path().join(finding["witness"].as_str().unwrap());
    let text = std::fs::read_to_string(&witness).unwrap();
    // Of another trace.
    let digest = serde_json::from_str::<Value>(&text).unwrap()["trace"]["digest"].clone();
    let other = text.replace(digest.as_str().unwrap(), "0000000000000000");
    let beside = witness.with_file_name("other.json");
    std::fs::write(&beside, other).unwrap();
    let told = here.told(&mut here.deadheat(["replay", beside.to_str().unwrap()]));
    assert!(told.starts_with("exit: 2"), "{told}");
    assert!(told.contains("is not the trace that the witness"), "{told}");
    // Without its program.
    std::fs::remove_file(witness.with_file_name("taken")).unwrap();
    let id = finding["id"].as_str().unwrap();
    let told = here.told(&mut here.deadheat(["replay", id]));
    assert!(told.starts_with("exit: 3"), "{told}");
}

#[test]
fn several_runs_find_what_one_does_not_and_say_what_they_showed() {
    let here = Sandbox::new();
    let name = program("zoo/c/mutex_trylock_race.c");
    let told = here.told(&mut here.deadheat(["check", "--runs", "12", &name]));
    assert!(told.starts_with("exit: 66"), "{told}");
    assert!(told.contains("run 12 of 12: "), "{told}");
    assert!(told.contains("12 runs showed "), "{told}");
    assert!(told.contains("data races      1 confirmed"), "{told}");
}

#[test]
fn a_debugger_sees_both_threads_before_their_accesses() {
    let here = Sandbox::new();
    let report = check(&here, &program("zoo/c/mutex_race.c"), &[]);
    let finding = only(&report, "race");
    let id = finding["id"].as_str().unwrap();
    let mut replay = here.deadheat(["replay", id, "--gdb"]);
    replay
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = replay.spawn().unwrap();
    let mut commands = child.stdin.take().unwrap();
    writeln!(commands, "thread apply all backtrace\nkill\nquit").unwrap();
    drop(commands);
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(66), "{told}");
    if told.contains("ptrace: Operation not permitted") {
        return;
    }
    // Both sides of the race have their hook on the stack.
    let sides = finding["accesses"].as_array().unwrap();
    for side in sides {
        let function = side["function"].as_str().unwrap();
        let frame = format!("in {function} ");
        let line = format!("{}:{}", base(side), side["line"]);
        let stands = told
            .lines()
            .any(|text| text.contains(&frame) && text.contains(&line));
        assert!(stands, "{function} {line}: {told}");
    }
}

fn base(side: &Value) -> String {
    let path = Path::new(side["file"].as_str().unwrap());
    path.file_name().unwrap().to_string_lossy().into_owned()
}
