//! `deadheat trace cat` on recordings: functions, lines, branches.

mod support;

use support::{Sandbox, compilers, printed, succeed};

const PROGRAM: &str = r"
#include <pthread.h>
int x = 1, y, k = 1, a[4];
static inline __attribute__((always_inline)) int inner(void) { return x; }
static void *work(void *arg) {
    if (inner())
        y = 1;
    a[k] = 2;
    return arg;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
";

fn recorded(compiler: &str, options: &[&str]) -> Sandbox {
    let here = Sandbox::new();
    here.file("prog.c", PROGRAM);
    let args = [
        "cc",
        "--compiler",
        compiler,
        "-g",
        "-O1",
        "-pthread",
        "prog.c",
        "-o",
        "prog",
    ];
    succeed(&mut here.deadheat(args));
    let mut record = here.deadheat(["record"]);
    succeed(record.args(options).args(["--", "./prog"]));
    here
}

/// The same in every build: addresses, and lines of the runtime.
fn normal(text: &str) -> String {
    let mut normal = String::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some(at) = rest.find("0x") {
            let digits = rest[at + 2..]
                .bytes()
                .take_while(u8::is_ascii_hexdigit)
                .count();
            normal += &rest[..at];
            normal += "[ADDRESS]";
            rest = &rest[at + 2 + digits..];
        }
        match rest.split_once("deadheat/crates/runtime/") {
            Some((before, _)) => normal += &format!("{before}[RUNTIME]"),
            None => normal += rest,
        }
        normal.push('\n');
    }
    normal
}

fn cat(here: &Sandbox, args: &[&str]) -> String {
    printed(here.deadheat(["trace", "cat"]).args(args))
}

#[test]
fn events_have_lines_and_branches() {
    let here = recorded("gcc", &["--serial"]);
    let text = cat(&here, &["--thread", "T1"]);
    insta::assert_snapshot!("cat_symbols", normal(&text));
    let frames = cat(&here, &["--thread", "T1", "--frames"]);
    insta::assert_snapshot!("cat_frames", normal(&frames));
}

#[test]
fn all_compilers_show_the_same_lines() {
    for compiler in compilers() {
        let here = recorded(compiler, &["--serial"]);
        let text = cat(&here, &["--thread", "T1"]);
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("prog.c:"))
            .collect();
        let part = |from: &str| lines.iter().any(|line| line.contains(from));
        assert!(part("# branch on prog.c:4"), "{compiler}: {text}");
        assert!(part("|branch|prog.c:7"), "{compiler}: {text}");
        assert!(part("# address depends on prog.c:8"), "{compiler}: {text}");
    }
}

#[test]
fn what_is_printed_reads_back() {
    let here = recorded("gcc", &["--serial"]);
    let text = cat(&here, &["--frames"]);
    here.file("again.trace", &text);
    let again = cat(&here, &["again.trace"]);
    let events = |text: &str| {
        let lines = text
            .lines()
            .filter(|line| !line.starts_with("# ") && !line.starts_with("#  "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(events(&again), events(&text));
}

#[test]
fn json_has_them_as_fields() {
    let here = recorded("gcc", &["--serial"]);
    let json = cat(&here, &["--format", "json", "--thread", "T1"]);
    let lines = json.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<serde_json::Value> = lines.collect();
    let write = lines
        .iter()
        .find(|line| line["location"] == "prog.c:7")
        .unwrap();
    assert_eq!(write["branch"], serde_json::json!(["prog.c:4"]));
    assert_eq!(write["op"], "write");
    let read = lines
        .iter()
        .find(|line| line["location"] == "prog.c:4")
        .unwrap();
    assert_eq!(read["functions"][0]["function"], "inner");
    assert_eq!(read["functions"][0]["inlined"], true);
    assert_eq!(read["functions"][1]["function"], "work");
    assert_eq!(read["functions"][1]["line"], 6);
    assert!(read.get("branch").is_none(), "{read}");
    let indexed = lines
        .iter()
        .find(|line| !line["address_depends"].is_null())
        .unwrap();
    assert_eq!(indexed["address_depends"], serde_json::json!(["prog.c:8"]));
}

#[test]
fn a_parallel_recording_has_lines_but_no_branches() {
    let here = recorded("gcc", &[]);
    let text = cat(&here, &["--thread", "T1"]);
    assert!(text.contains("|prog.c:7"), "{text}");
    assert!(text.contains("# address depends on prog.c:8"), "{text}");
    assert!(!text.contains("branch"), "{text}");
}

#[test]
fn without_symbols_places_are_as_recorded() {
    let here = recorded("gcc", &["--serial"]);
    let text = cat(&here, &["--thread", "T1", "--no-symbols"]);
    assert!(text.contains("|prog+0x"), "{text}");
    assert!(
        !text.contains("prog.c") && !text.contains("branch"),
        "{text}"
    );
}

#[test]
fn a_program_that_is_gone_or_changed_is_told_about_once() {
    let here = recorded("gcc", &["--serial"]);
    let told = |here: &Sandbox| {
        let output = succeed(&mut here.deadheat(["trace", "cat", "--thread", "T1"]));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("|prog+0x"), "{text}");
        let notes = String::from_utf8(output.stderr).unwrap();
        let path = here.path().canonicalize().unwrap();
        notes.replace(&*path.to_string_lossy(), "[HERE]")
    };
    here.file("prog.c", &PROGRAM.replace("a[4]", "a[5]"));
    succeed(&mut here.deadheat(["cc", "-g", "-O2", "-pthread", "prog.c", "-o", "prog"]));
    insta::assert_snapshot!("cat_changed", told(&here));
    std::fs::remove_file(here.path().join("prog")).unwrap();
    insta::assert_snapshot!("cat_gone", told(&here));
}
