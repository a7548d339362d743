//! The static analyser beside the rest: how it is found, and what recorded runs say of its warnings.

mod support;

use support::{DEADHEAT, Sandbox, scanner};

/// A race in what every run does, one in what this run does not, and one that a lock keeps from happening.
const PROGRAM: &str = "\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static int errors;
static int sum;
static int mode;
static void *worker(void *unused)
{
    (void)unused;
    count++;
    if (mode == 7)
        errors++;
    pthread_mutex_lock(&lock);
    sum++;
    pthread_mutex_unlock(&lock);
    return 0;
}
int main(int argc, char **argv)
{
    (void)argv;
    mode = argc;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return count - 2;
}
";

#[test]
fn without_it_there_is_advice() {
    let here = Sandbox::new();
    // Alone in its folder.
    let alone = here.path().join("deadheat");
    std::fs::copy(DEADHEAT, &alone).unwrap();
    let mut command = here.command(&alone);
    command.env("PATH", "/usr/bin:/bin").args(["scan", "x.c"]);
    insta::assert_snapshot!("no_scanner", here.told(&mut command));
}

#[test]
fn all_arguments_are_its_own() {
    scanner::build();
    let here = Sandbox::new();
    here.file("prog.c", PROGRAM);
    let output = here
        .deadheat(["scan", "--limit", "1", "prog.c", "--", "-DX"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(66));
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("possible race on count"), "{told}");
    assert!(!told.contains("possible race on errors"), "{told}");
}

#[test]
fn runs_say_what_became_of_warnings() {
    scanner::build();
    let here = Sandbox::new();
    here.file("prog.c", PROGRAM);
    let output = here
        .deadheat(["check", "--scan", "--warnings", "prog.c"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(66));
    let told = String::from_utf8(output.stdout).unwrap();
    let has = |text: &str| assert!(told.contains(text), "no {text:?} in\n{told}");
    has("scan            2 warnings: 1 proven, 1 not reached\n");
    has("confirmed race on count (scan, hb");
    has("possible race on errors (scan");
    has("in this run: never reached: write in worker prog.c:12\n");
    assert!(!told.contains("race on sum"), "{told}");
}

#[test]
fn what_runs_and_is_not_proven_is_told() {
    scanner::build();
    let here = Sandbox::new();
    // A flag that is only ever taken by one: the analyser does not see why.
    here.file(
        "prog.c",
        "\
#include <pthread.h>
static _Atomic int turn;
static int shared;
static void *worker(void *number)
{
    int own = number != 0;
    while (turn != own)
        ;
    shared++;
    turn = 1;
    return 0;
}
int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, worker, 0);
    pthread_create(&threads[1], 0, worker, &turn);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return shared - 2;
}
",
    );
    let output = here
        .deadheat(["check", "--scan=prog.c", "--warnings", "prog.c"])
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let has = |text: &str| assert!(told.contains(text), "no {text:?} in\n{told}");
    has("1 executed but not proven\n");
    has("in this run: all of its places were executed, and nothing was proven\n");
}

#[test]
fn programs_say_what_is_to_be_scanned() {
    scanner::build();
    let here = Sandbox::new();
    here.file("prog.c", PROGRAM);
    support::succeed(&mut here.deadheat(["cc", "-pthread", "prog.c", "-o", "prog"]));
    insta::assert_snapshot!(
        "nothing_to_scan",
        here.told(&mut here.deadheat(["check", "--scan", "./prog"]))
    );
    let list = format!(
        r#"[{{"directory":"{}","file":"prog.c","arguments":["cc","-c","prog.c"]}}]"#,
        here.path().display()
    );
    here.file("compile_commands.json", &list);
    let output = here
        .deadheat([
            "check",
            "--scan=compile_commands.json",
            "--warnings",
            "--format",
            "json",
            "./prog",
        ])
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["stats"]["scan"]["warnings"], 2);
    assert_eq!(report["stats"]["scan"]["proven"], 1);
    assert_eq!(report["stats"]["scan"]["unreached"], 1);
}

/// What each thread does with memory of its own, and a race.
const OWN: &str = "\
#include <pthread.h>
static int count;
static int fill(int *own)
{
    int sum = 0;
    for (int i = 0; i < 1000; i++) {
        own[i % 10] += i;
        sum += own[i % 10];
    }
    return sum;
}
static void *worker(void *unused)
{
    int own[10] = {0};
    if (fill(own) > 0)
        count++;
    return unused;
}
int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
";

#[test]
fn what_one_thread_alone_can_reach_need_not_be_recorded() {
    scanner::build();
    let here = Sandbox::new();
    here.file("own.c", OWN);
    let told = |options: &[&str]| {
        let arguments = [&["check", "--scan"], options, &["own.c"]].concat();
        let output = here.deadheat(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(66));
        String::from_utf8(output.stdout).unwrap()
    };
    let events = |told: &str| -> u64 {
        let line = told
            .lines()
            .find(|line| line.starts_with("events"))
            .unwrap();
        let digits: String = line.chars().filter(char::is_ascii_digit).collect();
        digits.parse().unwrap()
    };
    let (all, lean) = (told(&[]), told(&["--lean"]));
    assert!(events(&all) > 4000, "{all}");
    assert!(events(&lean) < 200, "{lean}");
    for told in [all, lean] {
        assert!(told.contains("confirmed race on count (scan, hb"), "{told}");
    }
}

#[test]
fn leaving_out_needs_a_scan() {
    let here = Sandbox::new();
    here.file("own.c", OWN);
    insta::assert_snapshot!(
        "lean_without_scan",
        here.told(&mut here.deadheat(["check", "--lean", "own.c"]))
    );
}

#[test]
fn the_project_may_set_its_options() {
    scanner::build();
    let here = Sandbox::new();
    here.file("prog.c", PROGRAM);
    let warnings = || {
        let mut scan = here.deadheat(["scan", "--format", "json", "prog.c"]);
        let output = scan.output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        report["findings"].as_array().unwrap().len()
    };
    assert!(warnings() > 0);
    here.file("deadheat.toml", "[scan]\nexcept = ['prog.c']\n");
    assert_eq!(warnings(), 0, "by the command's table");
    std::fs::remove_file(here.path().join("deadheat.toml")).unwrap();
    here.file("known.txt", "race:*\n");
    let cargo = "[workspace.metadata.deadheat]\nsuppressions = ['known.txt']\n";
    here.file("Cargo.toml", cargo);
    assert_eq!(warnings(), 0, "by suppressions in Cargo.toml");
}

#[test]
fn both_programs_explain_the_same_options() {
    scanner::build();
    let here = Sandbox::new();
    let options = |text: &[u8]| {
        let text = String::from_utf8_lossy(text).into_owned();
        text.split_once("Options:").unwrap().1.to_owned()
    };
    let ours = here.deadheat(["scan", "--help"]).output().unwrap();
    let theirs = here
        .command("deadheat-scan")
        .arg("--help")
        .output()
        .unwrap();
    assert_eq!(options(&ours.stdout), options(&theirs.stdout));
}
