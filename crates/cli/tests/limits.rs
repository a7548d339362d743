//! Recordings that end before the program does: at the size that is allowed, and before the disk is full.

mod support;

use std::process::Command;

use deadheat_trace::file::{Damage, TraceFile};
use deadheat_trace::verify;
use support::program::{build, run};
use support::{Sandbox, succeed};

/// Two threads, a race at their start, then more events than there is room for.
const MANY: &str = r#"
#include <pthread.h>
#include <stdio.h>
int racy, shared;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *count(void *arg) {
    racy++;
    for (int i = 0; i < 100000; i++) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, count, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    printf("%d\n", shared);
    return 0;
}
"#;

/// What was printed, with counts that depend on luck or on the machine as `N`.
fn steady(told: &str) -> String {
    let mut steady = String::new();
    for line in told.lines() {
        for word in line.split_inclusive(' ') {
            let digits = word.rfind(|c: char| c.is_ascii_digit());
            let behind = &word[digits.map_or(0, |last| last + 1)..];
            match line.contains(" events ") && word.starts_with(|c: char| c.is_ascii_digit()) {
                true => steady += &format!("N{behind}"),
                false => steady += word,
            }
        }
        steady.push('\n');
    }
    steady.replace("N s:", "N ms:")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a recording takes: its trace and the buffers beside it.
fn taken(here: &Sandbox, name: &str) -> u64 {
    let size = |name: &str| here.path().join(name).metadata().unwrap().len();
    size(name) + size(&format!("{name}.live"))
}

#[test]
fn a_recording_ends_at_its_largest_size_and_the_program_does_not() {
    let here = build(MANY, "gcc", &["-g"]);
    for (mode, flags) in [("parallel", &[][..]), ("serial", &["--serial"])] {
        let mut record = here.deadheat(["record", "-o", mode, "--max-size", "1M"]);
        let told = here.told(record.args(flags).arg("./prog"));
        insta::assert_snapshot!(format!("largest_size_{mode}"), steady(&told));

        let taken = taken(&here, mode);
        assert!(
            (850_000..=1_000_000).contains(&taken),
            "{mode}: {taken} bytes"
        );
        let file = TraceFile::open(here.path().join(mode)).unwrap();
        assert!(
            matches!(file.damage(), [Damage::Stopped { salvaged: 1.., .. }]),
            "{mode}: {:?}",
            file.damage()
        );
        let report = verify::verify(&mut file.read()).unwrap();
        assert!(
            report.errors == 0 && report.steps > 30_000,
            "{mode}: {report:?}"
        );
    }
    let predicted = here.deadheat(["predict", "serial"]).output().unwrap();
    assert_eq!(predicted.status.code(), Some(66));
    assert!(text(&predicted.stdout).contains("proven race on racy"));
    let predicted = here.deadheat(["predict", "parallel"]).output().unwrap();
    assert!([0, 66].contains(&predicted.status.code().unwrap()));
}

#[test]
fn a_recording_that_is_small_enough_is_whole() {
    let here = build(MANY, "gcc", &[]);
    let mut record = here.deadheat(["record", "-o", "trace", "--max-size", "100M", "./prog"]);
    let output = succeed(&mut record);
    assert!(!text(&output.stderr).contains("stopped"));
    let file = TraceFile::open(here.path().join("trace")).unwrap();
    assert!(file.closed().is_some() && file.damage().is_empty());
}

/// What is found in the part that was recorded is confirmed by the whole program.
#[test]
fn a_program_is_checked_as_far_as_it_was_recorded() {
    let here = build(MANY, "gcc", &["-g"]);
    let mut check = here.deadheat(["check", "--max-size", "1M", "--orders", "0", "./prog"]);
    let output = check.output().unwrap();
    let (shown, told) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(66), "{shown}{told}");
    assert!(shown.contains("confirmed race on racy"), "{shown}{told}");
    assert!(
        told.contains("note: the recording stopped before the program ended"),
        "{told}"
    );
}

#[test]
fn a_project_sets_the_size_once() {
    let here = build(MANY, "gcc", &[]);
    here.file("deadheat.toml", "max-size = \"2MB\"\n");
    succeed(&mut here.deadheat(["record", "-o", "by_file", "./prog"]));
    let by_file = taken(&here, "by_file");
    assert!((1_850_000..=2_000_000).contains(&by_file), "{by_file}");
    let mut record = here.deadheat(["record", "-o", "by_variable", "./prog"]);
    succeed(record.env("DEADHEAT_OPTIONS", "max_size=1M"));
    let by_variable = taken(&here, "by_variable");
    assert!(
        (850_000..=1_000_000).contains(&by_variable),
        "{by_variable}"
    );
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    let here = Sandbox::new();
    for (name, size) in [
        ("unit", "5X"),
        ("too_small", "500"),
        ("too_large", "99999999T"),
    ] {
        let mut record = here.deadheat(["record", "--max-size", size, "./prog"]);
        insta::assert_snapshot!(format!("wrong_size_{name}"), here.told(&mut record));
    }
}

/// More is to stay free than there is: the program runs, and it is said that nothing was recorded.
#[test]
fn a_disk_without_room_to_spare() {
    let here = build(MANY, "gcc", &[]);
    for (mode, flags) in [("parallel", &[][..]), ("serial", &["--serial"])] {
        let mut record = here.deadheat(["record", "--keep-free", "1000000T"]);
        let told = here.told(record.args(flags).arg("./prog"));
        insta::assert_snapshot!(format!("no_room_{mode}"), told);
        assert_eq!(
            text(&succeed(&mut here.deadheat(["ls"])).stdout),
            "",
            "nothing is left of it"
        );
    }
}

/// However little is allowed, the program runs and what is there can be read.
#[test]
fn the_runtime_keeps_to_any_size() {
    let here = build(MANY, "gcc", &[]);
    let slot = 69_632; // what a thread's buffer takes
    let sizes = [1, 100, 1000, slot, slot + 4000, 2 * slot + 4000, 5 * slot];
    for mode in ["parallel", "serial"] {
        for size in sizes {
            let name = format!("{mode}{size}");
            let options = format!("mode={mode}:max_size={size}");
            let output = succeed(&mut run(&here, &name, &options));
            assert_eq!(text(&output.stdout), "200000\n");
            let told = text(&output.stderr);
            assert_eq!(told.matches("recording stopped").count(), 1, "{told}");
            assert_eq!(told.lines().count(), 1, "{told}");
            let taken = taken(&here, &name);
            assert!(taken <= size.max(1000), "{name}: {taken} bytes");
            let file = TraceFile::open(here.path().join(&name)).unwrap();
            assert!(
                matches!(file.damage(), [Damage::Stopped { .. }]),
                "{name}: {:?}",
                file.damage()
            );
            let report = verify::verify(&mut file.read()).unwrap();
            assert_eq!(report.errors, 0, "{name}: {report:?}");
        }
    }
}

/// A process that is forked has a trace of its own, with a size of its own, even if its parent's has ended.
#[test]
fn each_process_is_held_to_the_size() {
    const FORKS: &str = r#"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
int shared;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *count(void *arg) {
    for (int i = 0; i < 100000; i++) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}
int main(void) {
    int status;
    pthread_t thread;
    pthread_create(&thread, 0, count, 0);
    pthread_join(thread, 0);
    pid_t child = fork();
    pthread_create(&thread, 0, count, 0);
    pthread_join(thread, 0);
    if (child == 0)
        return shared == 200000 ? 7 : 8;
    return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7 ? 0 : 1;
}
"#;
    let here = build(FORKS, "gcc", &[]);
    succeed(&mut run(&here, "trace", "mode=serial:max_size=1000000"));
    let files = std::fs::read_dir(here.path()).unwrap();
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_trace = |name: &String| name.starts_with("trace") && !name.ends_with("live");
    let traces: Vec<String> = names.filter(is_trace).collect();
    assert_eq!(traces.len(), 2, "{traces:?}");
    for name in traces {
        let taken = taken(&here, &name);
        assert!((850_000..=1_000_000).contains(&taken), "{name}: {taken}");
        let file = TraceFile::open(here.path().join(&name)).unwrap();
        assert!(matches!(file.damage(), [Damage::Stopped { .. }]), "{name}");
        let report = verify::verify(&mut file.read()).unwrap();
        assert_eq!(report.errors, 0, "{name}: {report:?}");
    }
}

/// Runs a script where `$DISK` is an empty disk of three megabytes; none if such cannot be made here.
fn on_small_disk(here: &Sandbox, script: &str) -> Option<String> {
    const NO_DISK: i32 = 99;
    let disk = here.path().join("disk");
    std::fs::create_dir_all(&disk).unwrap();
    let mount = "mount -t tmpfs -o size=3M tmpfs \"$DISK\" || exit 99";
    let mut command: Command = here.command("unshare");
    command.args(["--map-root-user", "--mount", "bash", "-c"]);
    command.arg(format!("{mount}\nexec 2>&1\n{script}"));
    command.env("DISK", &disk).env("DEADHEAT_STORE", &disk);
    let output = command.output().unwrap();
    let is_there = output.status.code() != Some(NO_DISK);
    let cannot = !is_there || text(&output.stderr).contains("unshare:");
    (!cannot).then(|| text(&output.stdout))
}

/// Records on a small disk; what was said, how verification and prediction ended, and what was left free.
fn recorded_on_small_disk(here: &Sandbox, flags: &str) -> Option<(String, [String; 2], u64)> {
    const FIGURES: &str = "figures: ";
    let script = format!(
        "deadheat record {flags} ./prog; echo \"exit: $?\"\n\
         free=$(df --output=avail -B1 $DISK | tail -n 1)\n\
         deadheat trace verify >/dev/null 2>&1; verified=$?\n\
         deadheat predict >/dev/null 2>&1; predicted=$?\n\
         echo {FIGURES}$free $verified $predicted"
    );
    let all = on_small_disk(here, &script)?;
    let (told, figures) = all.split_once(FIGURES).unwrap();
    let mut numbers = figures.split_whitespace().map(str::to_owned);
    let mut next = || numbers.next().unwrap();
    let free = next().parse().unwrap();
    Some((told.to_owned(), [next(), next()], free))
}

#[test]
fn some_of_the_disk_stays_free() {
    let here = build(MANY, "gcc", &["-g"]);
    let cases = [
        // About a twentieth of three megabytes is left: a block more or less.
        ("parallel", "", 80_000..250_000),
        ("serial", "--serial", 80_000..250_000),
        ("asked", "--serial --keep-free 1M", 930_000..1_100_000),
        ("nothing", "--serial --keep-free 0", 0..70_000),
        ("nothing_parallel", "--keep-free 0", 0..70_000),
    ];
    for (name, flags, expected) in cases {
        let Some((told, [verified, predicted], free)) = recorded_on_small_disk(&here, flags) else {
            eprintln!("skipped: file systems cannot be mounted here");
            return;
        };
        assert!(
            expected.contains(&free),
            "{name}: {free} bytes are free\n{told}"
        );
        assert_eq!(verified, "0", "{name}");
        // Whether the second thread gets as far as its race is up to luck, unless threads take turns.
        let found = flags.contains("--serial") || predicted != "0";
        assert_eq!(predicted, if found { "66" } else { "0" }, "{name}");
        if flags.contains("--keep-free 0") {
            // Where the last block is cut off is up to the disk.
            assert!(
                told.contains("recording stopped: the disk is full (error 28)"),
                "{told}"
            );
            assert!(told.contains("exit: 0\n"), "{told}");
        } else {
            insta::assert_snapshot!(format!("small_disk_{name}"), steady(&told));
        }
    }
}

/// A copy of the standard input that does not fit is given up; the program gets all of it, and is recorded.
#[test]
fn the_standard_input_does_not_fill_the_disk() {
    const READS: &str = r#"
#include <stdio.h>
#include <unistd.h>
int main(void) {
    static char buffer[65536];
    long total = 0;
    for (ssize_t got; (got = read(0, buffer, sizeof buffer)) > 0;)
        total += got;
    printf("%ld\n", total);
    return 0;
}
"#;
    let here = build(READS, "gcc", &[]);
    here.file("input", &"input\n".repeat(1_000_000));
    let cases = [
        ("pipe", "cat input | deadheat record ./prog"),
        ("file", "deadheat record ./prog <input"),
    ];
    for (name, command) in cases {
        let Some(told) = on_small_disk(&here, &format!("{command}; echo \"exit: $?\"")) else {
            eprintln!("skipped: file systems cannot be mounted here");
            return;
        };
        insta::assert_snapshot!(format!("input_{name}"), steady(&told));
    }
}

#[test]
fn all_runs_of_a_command_have_one_limit() {
    let here = build(MANY, "gcc", &["-g"]);
    let mut check = here.deadheat(["check", "--runs", "4", "--max-size", "1M"]);
    let output = check
        .args(["--no-confirm", "--orders", "0", "--", "./prog"])
        .output()
        .unwrap();
    let told = text(&output.stderr);
    assert!(
        told.contains("together they take what a command may have of the disk"),
        "{told}"
    );
    let mut folders = vec![here.path().join(".deadheat/recordings")];
    let mut taken = 0;
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap().flatten() {
            let known = entry.metadata().unwrap();
            match known.is_dir() {
                true => folders.push(entry.path()),
                false => taken += known.len(),
            }
        }
    }
    assert!((700_000..=1_200_000).contains(&taken), "{taken}");
}
