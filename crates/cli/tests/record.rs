//! `deadheat record`, `check`, `ls` and `rm` with real programs.

mod support;

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};

use deadheat_trace::file::TraceFile;
use deadheat_trace::{Mode, Steps, verify};
use deadheat_wire::FileHeader;
use support::{Sandbox, compilers, printed, succeed};

const THREADS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int count;
static void *work(void *arg) {
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}
int main(int argc, char **argv) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    printf("%d\n", count);
    return argc > 1 ? atoi(argv[1]) : 0;
}
"#;

/// Says `ready` and waits for ever, threads and all.
const WAITS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
int shared;
static void *work(void *arg) { shared = 1; for (;;) pause(); return arg; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    puts("ready");
    fflush(stdout);
    pthread_join(thread, 0);
    return 0;
}
"#;

fn with_program(source: &str) -> Sandbox {
    let here = Sandbox::new();
    here.file("prog.c", source);
    succeed(&mut here.deadheat(["cc", "-pthread", "prog.c", "-o", "prog"]));
    here
}

fn trace(here: &Sandbox, number: u32) -> TraceFile {
    let path = format!(".deadheat/recordings/{number:06}/trace.dht");
    TraceFile::open(here.path().join(path)).unwrap()
}

/// The same on every machine and in every run: times and sizes replaced.
fn steady(told: &str) -> String {
    let words = told
        .split_inclusive(char::is_whitespace)
        .collect::<Vec<_>>();
    let mut out = String::new();
    for (i, word) in words.iter().enumerate() {
        let next = words
            .get(i + 1)
            .map_or("", |next| next.trim_matches(&[':', ')', '\n', ' '][..]));
        let number = word
            .trim()
            .chars()
            .all(|c| c.is_ascii_digit() || ".,".contains(c));
        if number && ["ms", "s", "B", "kB", "event", "events"].contains(&next) {
            out += "[N] ";
        } else {
            out += word;
        }
    }
    out
}

#[test]
fn both_modes_record_a_program() {
    let here = with_program(THREADS);
    for (number, args) in [(1, vec!["record"]), (2, vec!["record", "--serial"])] {
        let output = succeed(here.deadheat(args).args(["--", "./prog"]));
        assert_eq!(
            output.stdout, b"100\n",
            "nothing of ours is on standard output"
        );
        let file = trace(&here, number);
        assert_eq!(
            file.mode(),
            if number == 1 {
                Mode::Parallel
            } else {
                Mode::Serial
            }
        );
        assert_eq!(file.tables().threads.len(), 3);
        let report = verify::verify(&mut file.read()).unwrap();
        assert!(report.is_well_formed(), "{report:?}");
    }
}

#[test]
fn the_programs_exit_code_is_told_and_not_taken() {
    let here = with_program(THREADS);
    let told = here.told(&mut here.deadheat(["record", "--", "./prog", "3"]));
    insta::assert_snapshot!("exit_code_told", steady(&told));
    let taken = here
        .deadheat(["record", "--exit-code-from-program", "./prog", "3"])
        .output();
    assert_eq!(taken.unwrap().status.code(), Some(3));
    let quiet = succeed(&mut here.deadheat(["record", "-q", "./prog"]));
    assert!(quiet.stderr.is_empty());
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let here = with_program(THREADS);
    let record = |seed: &str, extra: &[(&str, &str)]| {
        let mut command = here.deadheat(["record", "--seed", seed, "./prog"]);
        succeed(command.envs(extra.iter().copied()));
        printed(&mut here.deadheat(["trace", "cat"]))
    };
    let first = record("1", &[]);
    assert_eq!(first, record("1", &[]));
    assert_eq!(
        first,
        record("1", &[("SOMETHING_ELSE", "in the environment")])
    );
    assert_ne!(first, record("2", &[]));
}

#[test]
fn options_reach_the_runtime() {
    let here = with_program(THREADS);
    for policy in ["random", "pct", "round-robin", "run-to-block"] {
        let args = [
            "record",
            "--policy",
            policy,
            "--preempt",
            "sync",
            "--",
            "./prog",
        ];
        assert_eq!(printed(&mut here.deadheat(args)), "100\n", "{policy}");
    }
    succeed(
        here.deadheat(["record", "./prog"])
            .env("DEADHEAT_OPTIONS", "mode=serial:seed=9"),
    );
    let file = trace(&here, 5);
    assert_eq!((file.mode(), file.seed()), (Mode::Serial, 9));
}

#[test]
fn a_trace_goes_where_it_is_told_to() {
    let here = with_program(THREADS);
    succeed(&mut here.deadheat(["record", "-o", "run.dht", "./prog"]));
    succeed(&mut here.deadheat(["record", "-o", "run.dht", "./prog"])); // replaced
    assert!(!here.path().join(".deadheat").exists());
    succeed(&mut here.deadheat(["trace", "verify", "run.dht"]));
    here.file("precious", "not a trace");
    let told = |args: &[&str]| here.told(&mut here.deadheat(args));
    insta::assert_snapshot!("onto_a_file", told(&["record", "-o", "precious", "./prog"]));
    insta::assert_snapshot!("no_folder", told(&["record", "-o", "no/run.dht", "./prog"]));
    let elsewhere = here.path().join("elsewhere");
    succeed(
        here.deadheat(["record", "./prog"])
            .env("DEADHEAT_STORE", &elsewhere),
    );
    assert!(elsewhere.join("recordings/000001/trace.dht").exists());
}

#[test]
fn what_cannot_be_recorded_is_said() {
    let here = Sandbox::new();
    here.file("plain.c", "int main(void) { return 0; }\n");
    let gcc = |args: &[&str]| succeed(here.command("gcc").args(args));
    gcc(&["plain.c", "-o", "plain"]);
    gcc(&["-static", "plain.c", "-o", "static"]);
    here.script("script", "#!/bin/sh\nexit 4\n");
    here.script("text", "no program\n");
    let told = |program: &str| here.told(&mut here.deadheat(["record", "--", program]));
    insta::assert_snapshot!("record_plain", told("./plain"));
    insta::assert_snapshot!("record_static", told("./static"));
    insta::assert_snapshot!("record_missing", told("./missing"));
    insta::assert_snapshot!("record_text", told("./text"));
    insta::assert_snapshot!("record_script", told("./script"));
    insta::assert_snapshot!("record_unqualified", told("plain"));
    assert_eq!(
        printed(&mut here.deadheat(["ls", "--json"])),
        "[]\n",
        "nothing is left behind"
    );
}

#[test]
fn a_script_and_what_it_starts() {
    let here = with_program(THREADS);
    here.script("run.sh", "#!/bin/sh\n./prog > first\nexec ./prog 5\n");
    let told = here.told(&mut here.deadheat(["record", "--", "./run.sh"]));
    assert!(told.contains("the program exited with 5"), "{told}");
    assert!(told.contains("1 more trace of other processes"), "{told}");
}

/// Processes have other numbers every time.
fn without_numbers(told: &str) -> String {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let line = |line: &str| match line.rsplit_once(".dht.") {
        Some((path, number)) if is_number(number) => format!("{path}.dht.[PID]\n"),
        _ => format!("{line}\n"),
    };
    told.lines().map(line).collect()
}

#[test]
fn of_many_processes_a_few_are_named() {
    const FORKS: &str = r#"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 0); i++)
        if (fork() == 0)
            return 0;
        else
            wait(0);
    return 0;
}
"#;
    let here = with_program(FORKS);
    let told = |count: &str| {
        let told = here.told(&mut here.deadheat(["record", "--", "./prog", count]));
        steady(&without_numbers(&told))
    };
    insta::assert_snapshot!("other_processes_five", told("5"));
    insta::assert_snapshot!("other_processes_many", told("12"));
}

#[test]
fn a_program_that_was_linked_with_gccs_runtime() {
    let here = Sandbox::new();
    here.file("prog.c", THREADS);
    succeed(
        here.command("gcc")
            .args(["-fsanitize=thread", "-g", "prog.c", "-o", "prog"]),
    );
    for mode in ["--quiet", "--serial"] {
        assert_eq!(
            printed(&mut here.deadheat(["record", mode, "./prog"])),
            "100\n"
        );
        succeed(&mut here.deadheat(["trace", "verify"]));
    }
}

/// Starts a recording and waits until the program is ready.
fn start_waiting(here: &Sandbox) -> Child {
    let mut command = here.deadheat(["record", "--", "./prog"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
    assert_eq!(&line, b"ready\n");
    child
}

fn signal(process: u32, signal: i32) {
    let done = std::process::Command::new("kill")
        .args([format!("-{signal}"), process.to_string()])
        .status();
    assert!(done.unwrap().success());
}

#[test]
fn signals_end_the_program_and_not_the_recording() {
    let here = with_program(WAITS);
    for (number, sent) in [(1, 15), (2, 2)] {
        let child = start_waiting(&here);
        signal(child.id(), sent);
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{:?}",
            output.status.signal()
        );
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            told.contains(&format!("was killed by signal {sent}")),
            "{told}"
        );
        assert!(trace(&here, number).read().next_step().unwrap().is_some());
    }
}

#[test]
fn a_killed_program_leaves_a_readable_trace() {
    let here = with_program(WAITS);
    let child = start_waiting(&here);
    let children = printed(
        here.command("cat")
            .arg(format!("/proc/{0}/task/{0}/children", child.id())),
    );
    signal(children.trim().parse().unwrap(), 9);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("was killed by signal 9 (SIGKILL)"), "{told}");
    assert!(told.contains("the recording was not closed"), "{told}");
    succeed(&mut here.deadheat(["trace", "verify"]));
    assert!(printed(&mut here.deadheat(["ls"])).contains("cut short"));
}

#[test]
fn damaged_recordings_are_read_as_far_as_they_go() {
    let here = with_program(THREADS);
    succeed(&mut here.deadheat(["record", "-o", "whole.dht", "./prog"]));
    let whole = std::fs::read(here.path().join("whole.dht")).unwrap();
    let with = |name: &str, bytes: &[u8]| {
        std::fs::write(here.path().join(name), bytes).unwrap();
        let output = here.deadheat(["trace", "stats", name]).output().unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, told) = with("short.dht", &whole[..whole.len() - 100]);
    assert_eq!(code, Some(0));
    assert!(told.contains("note: "), "{told}");
    let mut bent = whole.clone();
    let middle = whole.len() / 2;
    bent[middle] ^= 1;
    assert_eq!(with("bent.dht", &bent).0, Some(0));
    let told = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        std::fs::write(here.path().join(name), bytes).unwrap();
        here.told(&mut here.deadheat(["trace", "stats", name]))
    };
    insta::assert_snapshot!("damaged_header", told("header.dht", &|b| b[20] ^= 1));
    insta::assert_snapshot!("newer", told("newer.dht", &|b| make_newer(b)));
    insta::assert_snapshot!("only_a_magic", told("magic.dht", &|b| b.truncate(8)));
    insta::assert_snapshot!("no_magic", told("nomagic.dht", &|b| b[0] ^= 0x80));
}

/// Gives a recording the header of a version that is not known yet.
fn make_newer(recording: &mut [u8]) {
    let mut header = FileHeader::new(0, 0, 1);
    header.version += 1;
    for (at, word) in header.to_words().into_iter().enumerate() {
        recording[8 * at..8 * at + 8].copy_from_slice(&word.to_le_bytes());
    }
}

#[test]
fn recordings_are_listed_and_deleted() {
    let here = with_program(THREADS);
    for _ in 0..4 {
        succeed(&mut here.deadheat(["record", "-q", "--serial", "./prog"]));
    }
    let list = printed(&mut here.deadheat(["ls"]));
    assert_eq!(list.lines().count(), 5);
    assert!(
        list.lines().last().unwrap().contains("serial, seed 0"),
        "{list}"
    );
    succeed(&mut here.deadheat(["rm", "1", "latest"]));
    succeed(&mut here.deadheat(["rm", "--keep", "1"]));
    let json = printed(&mut here.deadheat(["ls", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 1);
    assert_eq!(json[0]["number"], 3);
    assert_eq!(json[0]["info"]["command"][0], "./prog");
    let told = |args: &[&str]| here.told(&mut here.deadheat(args));
    insta::assert_snapshot!("rm_missing", told(&["rm", "9"]));
    insta::assert_snapshot!("rm_nonsense", told(&["rm", "prog"]));
    succeed(&mut here.deadheat(["rm", "--all"]));
    insta::assert_snapshot!("ls_empty", told(&["ls"]));
}

#[test]
fn check_builds_records_and_sums_up() {
    for compiler in compilers() {
        let here = Sandbox::new();
        here.file("prog.c", THREADS);
        let told = here.told(&mut here.deadheat(["check", "--compiler", compiler, "prog.c"]));
        assert!(
            told.starts_with("exit: 0\n--- stdout\n100\nthreads         3\n"),
            "{told}"
        );
        assert!(told.contains("well-formed"), "{told}");
        assert!(told.contains("data races      none\n"), "{told}");
        let again = here.told(&mut here.deadheat(["check", "prog.c", "7"]));
        assert!(again.contains("the program exited with 7"), "{again}");
        let list = printed(&mut here.deadheat(["ls"]));
        assert!(list.lines().last().unwrap().ends_with("prog.c 7"), "{list}");
    }
}

#[test]
fn check_takes_several_files_options_and_programs() {
    let here = Sandbox::new();
    here.file(
        "main.cpp",
        "int f(); int main(int n, char **) { return f() + n; }\n",
    );
    here.file(
        "f.cpp",
        "#include <string>\nint f() { return NUMBER + std::string{}.size(); }\n",
    );
    let args = [
        "check",
        "--cflags",
        "-DNUMBER='40' -std=c++20",
        "main.cpp",
        "f.cpp",
        "--",
        "x.c",
    ];
    let told = here.told(&mut here.deadheat(args));
    assert!(told.contains("the program exited with 42"), "{told}");
    succeed(&mut here.deadheat(["c++", "-DNUMBER=1", "main.cpp", "f.cpp", "-o", "prog"]));
    let told = here.told(&mut here.deadheat(["check", "--", "./prog", "--serial"]));
    assert!(told.contains("the program exited with 3"), "{told}");
}

#[test]
fn check_says_what_it_cannot() {
    let here = Sandbox::new();
    here.file("broken.c", "int main(void) { return }\n");
    here.file("main.rs", "fn main() { 1 }\n");
    let told = |args: &[&str]| here.told(&mut here.deadheat(args));
    let broken = told(&["check", "broken.c"]);
    assert!(broken.starts_with("exit: 3"), "{broken}");
    assert!(broken.contains("broken.c could not be built"), "{broken}");
    insta::assert_snapshot!("check_missing", told(&["check", "missing.c"]));
    let broken = told(&["check", "main.rs"]);
    assert!(broken.starts_with("exit: 3"), "{broken}");
    assert!(broken.contains("main.rs could not be built"), "{broken}");
    insta::assert_snapshot!("check_two_rust", told(&["check", "main.rs", "main.rs"]));
    insta::assert_snapshot!("check_plain", told(&["check", "/bin/true"]));
    assert_eq!(printed(&mut here.deadheat(["ls", "--json"])), "[]\n");
}
