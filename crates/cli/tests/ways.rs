//! How findings come about, what is kept of them, and how they look.

mod support;

use serde_json::Value;
use support::Sandbox;
use support::findings::{found, of_kind};

const BANK: &str = r#"#include <pthread.h>
#include <stdio.h>

static long balance = 100;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void deposit(long amount) {
    pthread_mutex_lock(&m);
    balance = balance + amount;
    pthread_mutex_unlock(&m);
}

static void fee(void) {
    balance -= 1;
}

static void *customer(void *unused) {
    for (int i = 0; i < 3; i++)
        deposit(10);
    return unused;
}

static void *bank(void *unused) {
    deposit(5);
    fee();
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, customer, 0);
    pthread_create(&b, 0, bank, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf("%ld\n", balance);
    return 0;
}
"#;

fn bank() -> Sandbox {
    let here = Sandbox::new();
    here.file("bank.c", BANK);
    here
}

/// What a command that runs a program reports: its options stand before the program.
fn report_of(here: &Sandbox, command: &str, args: &[&str]) -> Value {
    let mut command = here.deadheat([command, "--format", "json"]);
    let output = command.args(args).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 66)), "{told}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What was kept of a recording.
fn kept(here: &Sandbox, number: u32) -> Value {
    let path = format!(".deadheat/recordings/{number:06}/report.json");
    let text = std::fs::read_to_string(here.path().join(path)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn numbers(of: &Value, name: &str) -> Vec<u64> {
    let all = of.as_array().unwrap().iter();
    all.filter_map(|one| one[name].as_u64()).collect()
}

#[test]
fn a_finding_is_understood_in_a_few_lines() {
    let here = bank();
    let told = here.told(&mut here.deadheat(["check", "--cflags", "-O0", "bank.c"]));
    let report = told.find("confirmed race").map(|at| &told[at..]);
    let report = report.unwrap_or_else(|| panic!("{told}"));
    let end = report.find("\n--- ").unwrap_or(report.len());
    assert!(!report.contains('\u{1b}'), "{report}");
    insta::assert_snapshot!("bank", &report[..end]);
}

#[test]
fn stacks_are_shown_on_request() {
    let here = bank();
    let check = |more: &[&str]| {
        let args = ["check", "--cflags", "-O0"];
        here.told(here.deadheat(args).args(more).arg("bank.c"))
    };
    let stack = "      fee bank.c:14\n      bank bank.c:25\n";
    let told = check(&["--stacks"]);
    assert!(told.contains(stack), "{told}");
    let told = check(&[]);
    assert!(!told.contains(stack), "{told}");
    assert!(
        told.contains("in fee, called from bank bank.c:25"),
        "{told}"
    );
    let predicted = here.told(&mut here.deadheat(["predict", "--stacks"]));
    assert!(predicted.contains(stack), "{predicted}");
}

/// The steps that are told are the end of the schedule that is kept, made shorter or not.
#[test]
fn the_kept_schedule_is_told() {
    let here = bank();
    let report = report_of(&here, "check", &["bank.c"]);
    let races = of_kind(&report, "race");
    assert_eq!(races.len(), 1, "{report:#}");
    let race = races[0];
    assert_eq!(race["rung"], "confirmed");
    let witness = here.path().join(race["witness"].as_str().unwrap());
    let witness: Value = serde_json::from_slice(&std::fs::read(witness).unwrap()).unwrap();
    let steps = &race["interleaving"]["steps"];
    let ends = steps.as_array().unwrap().len() - 2;
    let indexes = numbers(steps, "index");
    assert_eq!(indexes[ends..], numbers(&witness["next"], "index"));
    // Which side stands where in the finding does not matter.
    for step in &steps.as_array().unwrap()[ends..] {
        let side = &race["accesses"][step["side"].as_u64().unwrap() as usize];
        assert_eq!(side["index"], step["index"], "{race:#}");
        assert_eq!(side["thread"]["number"], step["thread"], "{race:#}");
    }
    // Threads go on in the order of the schedule.
    let mut threads: Vec<u64> = numbers(steps, "thread")[..ends].to_vec();
    threads.dedup();
    let mut schedule: Vec<u64> = Vec::new();
    if witness["start"] != 0 {
        panic!("the schedule is short enough to be made shorter from the beginning: {witness}");
    }
    for part in witness["schedule"].as_array().unwrap() {
        schedule.push(part[0].as_u64().unwrap());
    }
    let mut parts = schedule.iter();
    assert!(
        threads
            .iter()
            .all(|thread| parts.any(|part| part == thread)),
        "{threads:?} in {schedule:?}"
    );
    let few = steps
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| step["key"] == true);
    assert!((3..=10).contains(&few.count()), "{race:#}");
}

#[test]
fn reports_are_kept_with_warnings_and_go_with_the_recording() {
    let here = bank();
    let shown = report_of(&here, "check", &["bank.c"]);
    let report = kept(&here, 1);
    assert_eq!(report["version"], 1);
    let ids = |report: &Value| -> Vec<Value> {
        let findings = report["findings"].as_array().unwrap().iter();
        findings.map(|finding| finding["id"].clone()).collect()
    };
    assert_eq!(ids(&report), ids(&shown));
    assert_eq!(report["findings"], shown["findings"]);
    // Another look at the same recording replaces it; warnings are kept, too.
    let predicted = found(&here, &["predict", "1", "--method", "lockset"]);
    let report = kept(&here, 1);
    assert_eq!(report["findings"], predicted["findings"]);
    assert_eq!(report["findings"][0]["rung"], "warning", "{report:#}");
    assert!(here.deadheat(["rm", "1"]).status().unwrap().success());
    assert!(!here.path().join(".deadheat/recordings/000001").exists());
}

#[test]
fn warnings_that_are_not_shown_are_kept() {
    let here = Sandbox::new();
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs");
    let chain = format!("{programs}/scenarios/c/lock_chain.c");
    let shown = report_of(&here, "check", &["--orders", "0", &chain]);
    assert_eq!(shown["findings"], serde_json::json!([]), "{shown:#}");
    let all = kept(&here, 1);
    assert_eq!(all["findings"][0]["rung"], "warning", "{all:#}");
    assert_eq!(all["stats"], shown["stats"]);
}

#[test]
fn traces_of_others_get_no_report() {
    let here = Sandbox::new();
    let trace = "T0|fork(T1)|1\nT0|w(x)|2\nT1|r(x)|3\n";
    here.file("other.std", trace);
    let report = found(&here, &["predict", "other.std"]);
    let steps = &report["findings"][0]["interleaving"]["steps"];
    assert_eq!(numbers(steps, "index"), [0, 1, 2], "{report:#}");
    assert!(!here.path().join("report.json").exists());
    let seen = found(&here, &["predict", "other.std", "--method", "hb"]);
    let race = &seen["findings"][0];
    assert_eq!(race["rung"], "observed");
    let sides = &race["interleaving"]["steps"];
    assert_eq!(numbers(sides, "side"), [0, 1], "{seen:#}");
}

#[test]
fn failures_that_were_searched_for_are_told_and_kept() {
    let here = Sandbox::new();
    let source = "#include <assert.h>\n#include <pthread.h>\nstatic int *shared;\nstatic int value = 3;\n\
        static void *clear(void *unused) {\n    __atomic_store_n(&shared, 0, __ATOMIC_SEQ_CST);\n    return unused;\n}\n\
        int main(void) {\n    __atomic_store_n(&shared, &value, __ATOMIC_SEQ_CST);\n    pthread_t thread;\n\
        pthread_create(&thread, 0, clear, 0);\n    int *seen = __atomic_load_n(&shared, __ATOMIC_SEQ_CST);\n\
        assert(seen);\n    pthread_join(thread, 0);\n    return 0;\n}\n";
    here.file("clear.c", source);
    let report = report_of(&here, "explore", &["clear.c"]);
    let failures = of_kind(&report, "failure");
    assert_eq!(failures.len(), 1, "{report:#}");
    let steps = failures[0]["interleaving"]["steps"].as_array().unwrap();
    let key = |step: &&Value| step["key"] == true;
    let told: Vec<String> = steps
        .iter()
        .filter(key)
        .map(|step| format!("{} {} {}", step["thread"], step["op"], step["on"]))
        .collect();
    assert!(
        told.contains(&"1 \"atomic write\" \"shared\"".to_owned()),
        "{told:?} of {report:#}"
    );
    assert_eq!(kept(&here, 1)["findings"], report["findings"]);
}

/// What happens inside the standard library is shown where the program called it.
#[test]
fn a_race_in_rust_is_shown_where_the_program_s_own_code_is() {
    let here = Sandbox::new();
    let source = "use std::cell::UnsafeCell;\nuse std::sync::Arc;\n\nstruct Shared(UnsafeCell<Vec<u32>>);\n\
        // Says what is not true.\nunsafe impl Sync for Shared {}\n\nfn main() {\n    let shared = Arc::new(Shared(Vec::new().into()));\n\
        let mine = shared.clone();\n    let other = std::thread::spawn(move || unsafe { (*mine.0.get()).push(1) });\n\
        unsafe { (*shared.0.get()).push(2) };\n    other.join().unwrap();\n}\n";
    here.file("hits.rs", source);
    let told = here.told(&mut here.deadheat(["check", "hits.rs"]));
    let has = |text: &str| assert!(told.contains(text), "no {text:?} in\n{told}");
    has("confirmed race on a heap block");
    has("11 |     let other = std::thread::spawn(move || unsafe { (*mine.0.get()).push(1) });");
    has("T0 in hits::main through ");
    has("T1 in hits::main::{closure#0} through ");
    has("how it comes about:");
    assert!(!told.contains("/rustc/"), "{told}");
    let stacks = here.told(&mut here.deadheat(["check", "--stacks", "hits.rs"]));
    assert!(stacks.contains("(inlined)"), "{stacks}");
}
