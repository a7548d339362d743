//! `deadheat predict --method maximal`: what it proves of traces and programs, and how it ends when it cannot.

mod support;

use std::collections::HashMap;
use std::process::{Command, Stdio};

use deadheat_trace::file::TraceFile;
use deadheat_trace::{Steps, text};
use serde_json::Value;
use support::findings::{found, of_kind};
use support::{Sandbox, succeed};

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/traces");
const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs");

/// Pairs of places, by STD files and by full text with values. No trace has branches, so every event needs
/// all that its thread has read.
///
/// * demo_example: RV-Predict finds 1, by values, which STD does not have.
/// * account: RV-Predict finds 2 and expects 4. Brute force finds 1 as long as all reads count.
/// * boundedbuffer: RV-Predict finds 11 and expects 12, as many as pass the quick check here. Four of these are
///   reads at 472 and 473 of what the same thread has just read at 470: who has seen the last write there is behind
///   all writes. So 8, as by SHB and sync-preserving detection. The full text has threads that wake up without anybody who
///   notifies (whoever does it was not recorded); no schedule goes beyond such a thing, so 4 remain.
/// * joinfeas: the two races are those on `y`; on `x`, where RV-Predict has one, there is none.
#[test]
fn traces_of_java_programs() {
    let here = Sandbox::new();
    for (name, in_std, in_text) in [
        ("demo_example", 0, 1),
        ("array", 0, 0),
        ("critical", 8, 8),
        ("account", 1, 1),
        ("airlinetickets", 6, 6),
        ("boundedbuffer", 8, 4),
        ("dl_real", 0, 0),
        ("dl_gate", 0, 0),
        ("joinfeas", 2, 2),
        ("joinfeas_java", 1, 1),
    ] {
        for (ending, expected) in [("std", in_std), ("dht.txt", in_text)] {
            let report = found(&here, &["predict", &format!("{TRACES}/{name}.{ending}")]);
            let races = of_kind(&report, "race");
            assert_eq!(races.len(), expected, "{name}.{ending}");
            assert!(races.iter().all(|race| race["rung"] == "witness"));
            let on_x = races.iter().any(|race| race["object"]["name"] == "x");
            assert!(!on_x, "{name}.{ending}");
            let deadlocks = usize::from(name == "dl_real");
            assert_eq!(of_kind(&report, "deadlock").len(), deadlocks, "{name}");
        }
    }
}

const NO_BRANCHES: &str = "the trace has no branches";

#[test]
fn that_there_are_no_branches_is_said() {
    let here = Sandbox::new();
    let told = here.told(&mut here.deadheat(["predict", &format!("{TRACES}/account.std")]));
    assert!(told.contains(NO_BRANCHES), "{told}");
    here.file("with.txt", "T0|r(x=0)|1\nT0|branch|1\nT1|w(x=1)|2\n");
    let told = here.told(&mut here.deadheat(["predict", "with.txt"]));
    assert!(told.starts_with("exit: 66"), "{told}");
    assert!(!told.contains(NO_BRANCHES), "{told}");
}

/// What the first thread reads of `x` decides nothing before it reads `y`.
const BY_BRANCH: &str = "\
T0|w(y=1)|1
T0|w(x=1)|2
T1|r(x=1)|3
T1|r(y=1)|4
T1|branch|5
";

#[test]
fn what_nothing_depends_on_may_be_different() {
    let here = Sandbox::new();
    here.file("by_branch.txt", BY_BRANCH);
    let places = |method: &str| -> Vec<String> {
        let report = found(&here, &["predict", "by_branch.txt", "--method", method]);
        let races = of_kind(&report, "race").into_iter();
        races
            .map(|race| race["signature"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(places("said"), ["2 | 3"]);
    assert_eq!(places("maximal"), ["2 | 3", "1 | 4"]);
}

/// By values, and no order that is near the recorded one: only the search finds it.
#[test]
fn what_takes_too_long_is_open() {
    let here = Sandbox::new();
    let path = format!("{TRACES}/demo_example.dht.txt");
    let mut predict = here.deadheat(["predict", &path, "--question", "0.000001ms"]);
    let told = here.told(&mut predict);
    assert!(told.starts_with("exit: 5"), "{told}");
    assert!(
        told.contains("maximal could not settle 1 question within the budget"),
        "{told}"
    );
    // What is found otherwise is reported all the same.
    let text = std::fs::read_to_string(&path).unwrap();
    here.file("more.txt", &(text + "T1|w(more=1)|1\nT13|w(more=2)|2\n"));
    let mut predict = here.deadheat(["predict", "more.txt", "--question", "0.000001ms"]);
    let told = here.told(&mut predict);
    assert!(told.starts_with("exit: 66"), "{told}");
    assert!(told.contains("race on more"), "{told}");
    assert!(told.contains("could not settle"), "{told}");
}

#[test]
fn what_is_no_number_is_said() {
    let here = Sandbox::new();
    here.file("x.txt", "T0|w(x)|1\n");
    for (option, value) in [
        ("--window", "1"),
        ("--window", "large"),
        ("--question", "0s"),
        ("--question", "soon"),
        ("--question", "1e30m"),
        ("--jobs", "0"),
        ("--jobs", "many"),
    ] {
        let told = here.told(&mut here.deadheat(["predict", "x.txt", option, value]));
        assert!(told.starts_with("exit: 2"), "{option} {value}: {told}");
        assert!(told.contains("--help"), "{option} {value}: {told}");
        assert!(told.contains(option), "{option} {value}: {told}");
    }
}

/// One race, and a great many pairs that a flag excludes, one by one.
fn long_trace() -> String {
    let mut trace = "T0|w(y=1)|1\nT1|w(y=2)|2\n".to_owned();
    for place in 10..500 {
        trace += &format!("T0|w(x=1)|{place}\n");
    }
    trace += "T0|w(flag=1)|3\nT1|r(flag=1)|4\nT1|branch|4\n";
    for place in 1000..1500 {
        trace += &format!("T1|w(x=2)|{place}\n");
    }
    trace
}

/// Waits until a process has its own way with interrupts, and has worked for so many ticks of the clock.
fn wait_for(process: u32, ticks: u64) {
    loop {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{process}/{name}")).unwrap();
        let status = read("status");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.unwrap_or("0").trim(), 16).unwrap();
        let stat = read("stat");
        // The numbers begin behind the program's name; the 14th field is the time that it has worked.
        let fields = stat.rsplit(')').next().unwrap_or_default();
        let worked = fields.split_whitespace().nth(11).unwrap_or("0");
        if caught & 1 << (libc::SIGINT - 1) != 0 && worked.parse::<u64>().unwrap() >= ticks {
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn an_interrupt_keeps_what_was_proven() {
    let here = Sandbox::new();
    here.file("long.txt", &long_trace());
    // The race is the first thing that is asked about; how long it takes to get there depends on the machine.
    for ticks in [0, 50, 200, 800] {
        let child = here
            .deadheat(["predict", "long.txt", "--jobs", "1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for(child.id(), ticks);
        succeed(Command::new("kill").args(["-INT", &child.id().to_string()]));
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        // It may come before the first question is asked.
        let is_said = ["maximal was interrupted", "stopped: there may be more"];
        assert!(is_said.iter().any(|said| told.contains(said)), "{told}");
        let found = String::from_utf8_lossy(&output.stdout);
        if found.contains("race on y") {
            assert_eq!(output.status.code(), Some(66), "{found}{told}");
            return;
        }
        assert_eq!(output.status.code(), Some(5), "{found}{told}");
    }
    panic!("nothing was proven before the interrupt");
}

/// Whether a witness leads where it says: its schedule, thread by thread, ends right before the events that are next.
fn adds_up(witness: &Value, threads: &[u32]) {
    let number = |value: &Value| value.as_u64().unwrap();
    let mut executed: HashMap<u64, u64> = HashMap::new();
    let start = number(&witness["start"]) as usize;
    for thread in &threads[..start] {
        *executed.entry(u64::from(*thread)).or_default() += 1;
    }
    let schedule = witness["schedule"].as_array().unwrap();
    for step in schedule {
        *executed.entry(number(&step[0])).or_default() += number(&step[1]);
    }
    assert_eq!(
        number(&witness["switches"]) as usize,
        schedule.len().saturating_sub(1)
    );
    for next in witness["next"].as_array().unwrap() {
        let (index, thread) = (number(&next["index"]) as usize, number(&next["thread"]));
        assert_eq!(u64::from(threads[index]), thread);
        let before = threads[..index]
            .iter()
            .filter(|of| u64::from(**of) == thread);
        let done = executed.get(&thread).copied().unwrap_or(0);
        assert_eq!(before.count() as u64, done, "{witness}");
    }
}

fn read_json(path: &std::path::Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn witnesses_are_files() {
    let here = Sandbox::new();
    for name in [
        "critical.dht.txt",
        "demo_example.dht.txt",
        "dl_real.dht.txt",
    ] {
        let path = format!("{TRACES}/{name}");
        // Next to a trace from elsewhere nothing is written.
        let without = found(&here, &["predict", &path]);
        let without = without["findings"].as_array().unwrap();
        assert!(without.iter().all(|finding| finding["witness"].is_null()));

        let report = found(&here, &["predict", &path, "--witnesses", "proofs/here"]);
        let trace = text::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let threads: Vec<u32> = trace
            .steps
            .iter()
            .map(|step| step.event.thread().0)
            .collect();
        let findings = report["findings"].as_array().unwrap();
        assert!(!findings.is_empty());
        for finding in findings {
            let id = finding["id"].as_str().unwrap();
            let file = finding["witness"].as_str().unwrap();
            assert_eq!(file, format!("proofs/here/witness-{id}.json"));
            let witness = read_json(&here.path().join(file));
            assert_eq!(witness["version"], 1);
            for same in ["kind", "signature"] {
                assert_eq!(witness[same], finding[same]);
            }
            assert_eq!(witness["finding"], finding["id"]);
            assert_eq!(witness["trace"]["events"], trace.steps.len());
            assert_eq!(witness["trace"]["digest"].as_str().unwrap().len(), 16);
            let accesses = finding["accesses"].as_array().unwrap().iter();
            let mut of_finding: Vec<_> = accesses.map(|access| access["index"].as_u64()).collect();
            let next = witness["next"].as_array().unwrap().iter();
            let mut of_witness: Vec<_> = next.map(|next| next["index"].as_u64()).collect();
            of_finding.sort();
            of_witness.sort();
            assert_eq!(of_finding, of_witness);
            adds_up(&witness, &threads);
        }
    }
}

/// Other methods may know another pair of the same places, which has no witness: what is shown is the one that has.
#[test]
fn whatever_is_proven_has_its_witness() {
    let here = Sandbox::new();
    for name in ["account", "airlinetickets", "boundedbuffer", "dl_real"] {
        let path = format!("{TRACES}/{name}.std");
        let args = ["predict", &path, "--method", "all", "--witnesses", "proofs"];
        let report = found(&here, &args);
        let findings = report["findings"].as_array().unwrap().iter();
        let proven: Vec<_> = findings
            .filter(|finding| finding["rung"] == "witness")
            .collect();
        assert!(!proven.is_empty());
        for finding in proven {
            assert!(finding["witness"].is_string(), "{name}: {finding:#}");
        }
    }
}

#[test]
fn a_witness_that_cannot_be_kept_is_a_remark() {
    let here = Sandbox::new();
    let path = format!("{TRACES}/dl_real.dht.txt");
    let mut predict = here.deadheat(["predict", &path, "--witnesses", "/proc/self"]);
    let told = here.told(&mut predict);
    assert!(told.starts_with("exit: 66"), "{told}");
    assert!(
        told.contains("cannot be kept: /proc/self/witness-"),
        "{told}"
    );
    assert!(!told.contains("\n  witness:"), "{told}");
}

#[test]
fn a_recording_that_is_not_serial_is_judged_by_its_own_order() {
    let here = Sandbox::new();
    let source = format!("{PROGRAMS}/zoo/c/mutex_race.c");
    succeed(&mut here.deadheat(["cc", "-g", "-O1", "-pthread", &source, "-o", "prog"]));
    succeed(&mut here.deadheat(["record", "-o", "run.dht", "--", "./prog"]));
    let told = here.told(&mut here.deadheat(["predict", "run.dht"]));
    assert!(told.contains("this recording is not serial"), "{told}");
    assert!(told.contains("(hb"), "{told}");
    let told = here.told(&mut here.deadheat(["predict", "run.dht", "--method", "hb,maximal"]));
    assert!(told.contains("maximal needs the exact order"), "{told}");
}

/// Checks a program of `programs/`; what was found, and the folder of the recording.
fn checked(here: &Sandbox, program: &str, args: &[&str]) -> (Option<i32>, String) {
    let source = format!("{PROGRAMS}/{program}");
    let mut check = here.deadheat(["check", "--cflags", "-O0"]);
    let output = check.args(args).arg(source).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), told)
}

/// The lines of a program that its witnesses are about.
fn proven(here: &Sandbox) -> Vec<(Value, Vec<u64>)> {
    let report = found(here, &["predict"]);
    let findings = report["findings"].as_array().unwrap().clone();
    let proven = findings
        .into_iter()
        .filter(|finding| finding["rung"] == "witness");
    let lines = |finding: Value| {
        let accesses = finding["accesses"].as_array().unwrap().iter();
        let mut lines: Vec<u64> = accesses
            .map(|access| access["line"].as_u64().unwrap())
            .collect();
        lines.sort_unstable();
        (finding, lines)
    };
    proven.map(lines).collect()
}

/// A seed in which the first thread goes first: what is there to be found is then not there to be seen.
const MAIN_FIRST: [&str; 3] = ["--policy", "run-to-block", "--no-confirm"];

#[test]
fn the_paper_s_first_figure() {
    let here = Sandbox::new();
    let (exit, told) = checked(&here, "papers/maximal_fig1.c", &MAIN_FIRST);
    assert_eq!(exit, Some(66), "{told}");
    assert!(told.contains("data races      1 with a witness"), "{told}");
    assert!(told.contains("race on x (hybrid, "), "{told}");
    let found = proven(&here);
    let [(finding, lines)] = &found[..] else {
        panic!("not one: {found:?}");
    };
    assert_eq!(*lines, [21, 31]);
    let witness = here.path().join(finding["witness"].as_str().unwrap());
    let file = TraceFile::open(witness.with_file_name("trace.dht")).unwrap();
    let steps = file.read().collect_trace().unwrap().steps;
    let threads: Vec<u32> = steps.iter().map(|step| step.event.thread().0).collect();
    adds_up(&read_json(&witness), &threads);
}

#[test]
fn the_paper_s_second_figure_and_its_array() {
    let here = Sandbox::new();
    let (exit, told) = checked(&here, "papers/maximal_fig2_case1.c", &MAIN_FIRST);
    assert_eq!(exit, Some(66), "{told}");
    let found = proven(&here);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1, [18, 25]);
    for program in ["papers/maximal_fig2_case2.c", "papers/maximal_array.c"] {
        let (exit, told) = checked(&here, program, &MAIN_FIRST);
        assert_eq!(exit, Some(0), "{told}");
        assert!(told.contains("data races      none\n"), "{told}");
    }
}

#[test]
fn a_deadlock_that_did_not_happen() {
    let here = Sandbox::new();
    let (exit, told) = checked(&here, "zoo/c/deadlock_abba.c", &MAIN_FIRST);
    assert_eq!(exit, Some(66), "{told}");
    assert!(told.contains("deadlocked      no\n"), "{told}");
    assert!(told.contains("deadlocks       1 with a witness"), "{told}");
    assert!(told.contains("warnings        none"), "{told}");
    assert!(told.contains("deadlock of 2 threads ("), "{told}");
    assert_eq!(proven(&here).len(), 1);
    let (exit, told) = checked(&here, "zoo/c/deadlock_gate.c", &MAIN_FIRST);
    assert_eq!(exit, Some(0), "{told}");
}

/// Two threads that share nothing but what a lock protects. The standard library, which has no hooks, copies and frees for them.
const LOCKED: &str = "\
use std::sync::Mutex;
use std::thread;

fn main() {
    let names = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for number in 0..2 {
            let names = &names;
            scope.spawn(move || names.lock().unwrap().push(format!(\"thread {number}\")));
        }
    });
    println!(\"{}\", names.into_inner().unwrap().len());
}
";

/// The races that are proven of the latest recording.
fn proven_races(here: &Sandbox) -> usize {
    let report = here
        .deadheat(["predict", "--format", "json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    report["findings"].as_array().unwrap().len()
}

#[test]
fn without_the_program_s_file_nothing_is_proven_that_is_not_so() {
    let here = Sandbox::new();
    here.file("locked.rs", LOCKED);
    succeed(&mut here.deadheat(["rustc", "-g", "locked.rs"]));
    for seed in ["0", "1", "2", "3"] {
        let record = ["record", "--quiet", "--serial", "--seed", seed, "--"];
        succeed(here.deadheat(record).arg("./locked"));
        assert_eq!(proven_races(&here), 0, "seed {seed}");
        std::fs::rename(here.path().join("locked"), here.path().join("away")).unwrap();
        assert_eq!(proven_races(&here), 0, "seed {seed}, without the program");
        std::fs::rename(here.path().join("away"), here.path().join("locked")).unwrap();
    }
}

#[test]
fn without_the_program_s_file_races_are_still_proven() {
    let here = Sandbox::new();
    here.file(
        "prog.c",
        "#include <pthread.h>\nint x;\nstatic void *add(void *a) { x++; return a; }\nint main(void) {\n\
         pthread_t t;\npthread_create(&t, 0, add, 0);\nx++;\npthread_join(t, 0);\nreturn 0;\n}\n",
    );
    succeed(&mut here.deadheat(["cc", "-g", "-pthread", "prog.c", "-o", "prog"]));
    succeed(&mut here.deadheat(["record", "--quiet", "--serial", "--", "./prog"]));
    std::fs::remove_file(here.path().join("prog")).unwrap();
    assert!(proven_races(&here) > 0);
}

/// Threads that are joined and never say that they end, as in STD.
#[test]
fn joins_without_an_end() {
    let here = Sandbox::new();
    here.file(
        "silent.std",
        "T70|w(a)|1\nT1|join(T70)|2\nT1|fork(T77)|3\nT77|w(b)|4\nT81|w(b)|5\n",
    );
    here.file(
        "ordered.std",
        "T0|fork(T1)|1\nT1|w(x)|2\nT0|join(T1)|3\nT0|w(x)|4\n",
    );
    for method in ["maximal", "said", "syncp", "hb", "shb", "wcp", "cp"] {
        let told = here.told(&mut here.deadheat(["predict", "silent.std", "--method", method]));
        assert!(told.starts_with("exit: 66"), "{method}: {told}");
        assert!(told.contains("race on b"), "{method}: {told}");
        let told = here.told(&mut here.deadheat(["predict", "ordered.std", "--method", method]));
        assert!(told.starts_with("exit: 0"), "{method}: {told}");
    }
}

#[test]
fn what_is_no_trace_is_refused() {
    let here = Sandbox::new();
    here.file(
        "two_owners.std",
        "T0|acq(m)|1\nT1|acq(m)|2\nT1|w(y)|3\nT0|w(y)|4\nT0|rel(m)|5\nT1|rel(m)|6\n",
    );
    let told = here.told(&mut here.deadheat(["predict", "two_owners.std"]));
    assert!(told.starts_with("exit: 2"), "{told}");
    assert!(told.contains("line 2: "), "{told}");
    assert!(told.contains("T1 acquires m, which T0 holds"), "{told}");
}

/// A semaphore that STD cannot say keeps the accesses apart.
#[test]
fn an_std_file_that_lacks_something_proves_nothing_about_other_orders() {
    let here = Sandbox::new();
    let text = "T0|fork(T1)|1\nT0|w(x)|2\nT0|post(s)|3\nT1|take(s)|4\nT1|w(x)|5\n";
    here.file("whole.txt", text);
    let mut convert = here.deadheat(["trace", "convert", "whole.txt", "--to", "std"]);
    let told = here.told(convert.args(["-o", "part.std"]));
    assert!(told.contains("STD cannot say semaphores"), "{told}");
    let told = here.told(&mut here.deadheat(["predict", "part.std"]));
    assert!(told.starts_with("exit: 0"), "{told}");
    assert!(
        told.contains("only the trace's own order is judged"),
        "{told}"
    );
    let mut predict = here.deadheat(["predict", "part.std", "--method", "maximal"]);
    let told = here.told(&mut predict);
    assert!(told.starts_with("exit: 2"), "{told}");
    assert!(told.contains("semaphores, which STD cannot say"), "{told}");
}

/// The notification may come before the wait; then both wait for each other.
#[test]
fn a_wait_that_nobody_ends_is_found() {
    let here = Sandbox::new();
    let lines = [
        "T0|init(sem:s=0)",
        "T0|fork(T2)",
        "T2|acq(m)",
        "T2|wait(c)",
        "T2|rel(m)",
        "T0|notify(c)",
        "T2|wake(c)",
        "T2|acq(m)",
        "T2|rel(m)",
        "T2|post(s)",
        "T2|end",
        "T0|take(s)",
        "T0|join(T2)",
    ];
    let numbered = lines.iter().zip(1..);
    let text: String = numbered
        .map(|(line, at)| format!("{line}|{at}\n"))
        .collect();
    here.file("lost.txt", &text);
    let report = found(&here, &["predict", "lost.txt"]);
    assert_eq!(of_kind(&report, "deadlock").len(), 1);
}
