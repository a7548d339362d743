//! Long runs are recorded without the memory that threads do not share, and nothing is lost by it.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use support::{Sandbox, succeed};

/// Each thread is busy with memory of its own; `CELL` is what they share, and `END` is what the last does.
const BUSY: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int racy, cells[64], *nothing;
static long sum;
static void *work(void *number) {
    volatile long own[64] = {0};
    for (long i = 0; i < 20000; i++)
        own[i & 63] += i;
    CELL;
    pthread_mutex_lock(&lock);
    sum += own[7];
    pthread_mutex_unlock(&lock);
    if (number) {
        END;
    }
    return 0;
}
static void run(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(threads + i, 0, work, (void *)(i / 2));
    for (long i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
}
int main(void) {
    MAIN;
    printf("%d\n", racy);
    return 0;
}
"#;

/// A program in a place of its own.
struct Busy {
    here: Sandbox,
}

/// How it went.
struct Told {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Told {
    fn has(&self, text: &str) -> &Self {
        let Told { out, err, .. } = self;
        let is_there = out.contains(text) || err.contains(text);
        assert!(is_there, "no {text:?} in\n{out}\n{err}");
        self
    }

    fn has_no(&self, text: &str) -> &Self {
        let Told { out, err, .. } = self;
        let is_there = out.contains(text) || err.contains(text);
        assert!(!is_there, "{text:?} in\n{out}\n{err}");
        self
    }

    /// How many events were recorded.
    fn events(&self) -> u64 {
        let (_, rest) = self.err.split_once("recorded ").expect(&self.err);
        let (count, _) = rest.split_once(" event").expect(&self.err);
        count.replace(',', "").parse().unwrap()
    }

    /// What was found: the line that names it, without how it was found.
    fn findings(&self) -> Vec<(String, String)> {
        let rungs = ["confirmed ", "proven ", "observed ", "warning: "];
        let is_one = |line: &&str| rungs.iter().any(|rung| line.starts_with(rung));
        let lines = self.out.lines().filter(is_one);
        let parts = lines.filter_map(|line| {
            let (what, id) = line.rsplit_once(" [")?;
            let what = what.split(" (").next()?;
            Some((what.to_owned(), id.to_owned()))
        });
        parts.collect()
    }
}

fn told(command: &mut Command) -> Told {
    let output = command.output().unwrap();
    Told {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Busy {
    fn new(cell: &str, end: &str, main: &str) -> Self {
        let here = Sandbox::new();
        here.file("p.c", BUSY);
        let names = [("CELL", cell), ("END", end), ("MAIN", main)];
        let names = names.map(|(name, text)| format!("-D{name}={text}"));
        let mut build = here.deadheat(["cc", "-g", "-O0", "-pthread", "p.c", "-o", "p"]);
        succeed(build.args(names));
        Busy { here }
    }

    fn check(&self, options: &[&str]) -> Command {
        let mut check = self.here.deadheat(["check"]);
        check.args(options).args(["--", "./p"]).stdin(Stdio::null());
        check
    }

    /// A long run is one of more than so many events here.
    fn long(&self) -> Told {
        told(&mut self.check(&["--survey-above", "50000"]))
    }

    fn whole(&self) -> Told {
        told(&mut self.check(&["--survey-above", "never"]))
    }
}

const LEFT_OUT: &str = "to memory that threads do not share were not recorded";

#[test]
fn what_is_left_out_is_not_missed() {
    let busy = Busy::new("racy++", "", "run()");
    let (long, whole) = (busy.long(), busy.whole());
    assert_eq!((long.code, whole.code), (Some(66), Some(66)));
    long.has(LEFT_OUT).has("confirmed race on racy");
    whole.has_no(LEFT_OUT);
    assert_eq!(long.findings(), whole.findings());
    assert!(long.events() * 1000 < whole.events(), "{}", long.events());
    let (_, id) = &long.findings()[0];
    let id = id.trim_end_matches(']');
    told(&mut busy.here.deadheat(["replay", id, "--times", "5"])).has("5 of 5 times");
}

/// What the store says of a recording is true of the run that was kept, not of the one that showed what is shared.
#[test]
fn the_store_describes_the_run_that_was_kept() {
    let busy = Busy::new("racy++", "", "run()");
    let long = busy.long();
    let listed = told(&mut busy.here.deadheat(["ls", "--json"]));
    let listed: serde_json::Value = serde_json::from_str(&listed.out).unwrap();
    let trace = &listed[0]["info"]["trace"];
    let file = busy
        .here
        .path()
        .join(".deadheat/recordings/000001/trace.dht");
    assert_eq!(trace["events"], long.events());
    assert_eq!(trace["bytes"], file.metadata().unwrap().len());
    let (_, rest) = long.err.split_once(" in ").unwrap();
    let left_out = rest
        .lines()
        .find_map(|line| line.strip_suffix(LEFT_OUT))
        .expect(&long.err);
    let left_out = left_out
        .trim_start_matches("deadheat: ")
        .trim_end_matches(" accesses ");
    assert_eq!(
        trace["left_out"],
        left_out.replace(',', "").parse::<u64>().unwrap()
    );
}

/// Nobody can run any more when a thread has ended, so it is none of the program's threads that notices.
#[test]
fn a_deadlock_that_the_end_of_a_thread_leaves_is_recorded_again() {
    let waits = "if (!number) { static pthread_cond_t never = PTHREAD_COND_INITIALIZER; \
                 pthread_mutex_lock(&lock); cells[0]++; pthread_cond_wait(&never, &lock); \
                 pthread_mutex_unlock(&lock); }";
    let until_all_wait = "for (int seen = 0; seen < 2;) { pthread_mutex_lock(&lock); \
                          seen = cells[0]; pthread_mutex_unlock(&lock); }";
    let busy = Busy::new(waits, until_all_wait, "run()");
    let long = busy.long();
    assert_eq!(long.code, Some(66));
    long.has(LEFT_OUT)
        .has("confirmed deadlock: a wait that nobody ends");
}

/// Room for the first run, and not for all of the second: what there is is looked at, and nobody says it was all.
#[test]
fn a_run_that_there_is_no_room_to_repeat_is_not_lost() {
    let shares = "for (int i = 0; i < 30000; i++) { pthread_mutex_lock(&lock); cells[i & 63]++; \
                  pthread_mutex_unlock(&lock); }";
    let busy = Busy::new(shares, "", "run()");
    for size in ["1M", "2M", "3M"] {
        let options = ["--survey-above", "50000", "--max-size", size];
        let told = told(&mut busy.check(&options));
        assert_eq!(told.code, Some(5), "{size}: {}", told.err);
        told.has("it has reached its largest size")
            .has("data races      none");
    }
}

/// Memory that code without hooks changes for the thread that has it: a stack that is used again, and what the C
/// library sorts and prints for it.
#[test]
fn what_one_thread_has_is_its_own_whoever_changes_it() {
    let here = Sandbox::new();
    here.file(
        "own.c",
        r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int racy;
__attribute__((noinline)) static void set(int *place, int value) { *place = value; }
__attribute__((noinline)) static int taken(int i) {
    int all[8];
    for (int k = 0; k < 8; k++)
        set(&all[k], i + k);
    return all[3];
}
__attribute__((noinline)) static int spilled(int i) {
    int a = i * 3, b = a + i, c = b * a, d = c - b, e = d * 2, f = e + a, g = f * b;
    return a + b + c + d + e + f + g;
}
static int by_value(const void *one, const void *other) {
    return *(const int *)one - *(const int *)other;
}
static void *work(void *nothing) {
    long sum = 0;
    int *numbers = malloc(64 * sizeof *numbers);
    for (int i = 0; i < 400; i++) {
        char text[32];
        sum += taken(i) + spilled(i);
        for (int k = 0; k < 64; k++)
            numbers[k] = (k * 7919 + i) % 101;
        qsort(numbers, 64, sizeof *numbers, by_value);
        snprintf(text, sizeof text, "%d", numbers[i & 63]);
        for (char *place = text; *place; place++)
            sum += *place;
    }
    racy += sum;
    free(numbers);
    return nothing;
}
int main(void) {
    for (int round = 0; round < 2; round++) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            pthread_create(threads + i, 0, work, 0);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], 0);
    }
    return racy == 0;
}
"#,
    );
    for level in ["-O0", "-O2"] {
        let mut build = here.deadheat(["cc", "-g", "-pthread", "own.c", "-o", "own"]);
        succeed(build.arg(level));
        let mut check = here.deadheat(["check", "--survey-above", "50000", "--", "./own"]);
        let long = told(check.stdin(Stdio::null()));
        assert_eq!(long.code, Some(66), "{}{}", long.out, long.err);
        long.has(LEFT_OUT).has("confirmed race on racy");
        assert!(long.events() < 2000, "{level}: {}", long.events());
    }
}

/// Several threads have it one after the other, and code without hooks changes it meanwhile: who it was is not known.
#[test]
fn what_several_threads_have_is_shared_if_code_without_hooks_changes_it() {
    let here = Sandbox::new();
    // In assembly, which has no hooks.
    here.file(
        "several.c",
        r#"
#include <pthread.h>
static int cells[64], racy;
static void unseen(int *place, int value) {
    __asm__ volatile("movl %1, (%0)" : : "r"(place), "r"(value) : "memory");
}
static void *work(void *nothing) {
    volatile long own[64] = {0};
    for (long i = 0; i < 30000; i++)
        own[i & 63] += i;
    for (int i = 0; i < 64; i++) {
        racy += cells[i];
        unseen(cells + i, i + racy);
        racy += cells[i];
    }
    return nothing;
}
int main(void) {
    pthread_t thread;
    for (int i = 0; i < 64; i++)
        cells[i] = i;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    for (int i = 0; i < 64; i++)
        racy += cells[i];
    return racy == 0;
}
"#,
    );
    succeed(&mut here.deadheat(["cc", "-g", "-O0", "-pthread", "several.c", "-o", "several"]));
    let mut check = here.deadheat(["check", "--survey-above", "50000", "--", "./several"]);
    let long = told(check.stdin(Stdio::null()));
    assert_eq!(long.code, Some(0), "{}{}", long.out, long.err);
    long.has(LEFT_OUT);
    // Each cell is read three times.
    assert!((3 * 64..2000).contains(&long.events()), "{}", long.events());
}

/// Rust's standard library copies and allocates without hooks, and what it does at one place is recorded in part.
#[test]
fn a_long_run_in_rust_is_confirmed() {
    let here = Sandbox::new();
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/real/kernels");
    let kernel = std::fs::read_to_string(kernels.join("raytrace.rs")).unwrap();
    here.file("raytrace.rs", &kernel);
    for seed in ["0", "1"] {
        let mut check = here.deadheat(["check", "--seed", seed, "--survey-above", "100000"]);
        check.args(["--cflags", "--cfg racing -O", "raytrace.rs", "4", "12"]);
        let long = told(check.stdin(Stdio::null()));
        assert_eq!(long.code, Some(66), "{}{}", long.out, long.err);
        long.has(LEFT_OUT).has("confirmed race on ");
    }
}

/// A copy of much memory of which threads share a little.
#[test]
fn of_a_range_what_is_shared_is_recorded() {
    let here = Sandbox::new();
    here.file(
        "range.c",
        r#"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct settings {
    long before[300];
    int level;
    long behind[300];
};
static struct settings common;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *number) {
    struct settings *own = malloc(sizeof *own);
    long sum = 0;
    for (int i = 0; i < 30; i++) {
        pthread_mutex_lock(&lock);
        memcpy(own, &common, sizeof *own);
        pthread_mutex_unlock(&lock);
        for (int k = 0; k < 300; k++)
            own->before[k] += own->level;
        sum += own->before[i];
    }
    if (number)
        common.level = sum != 0;
    else
        memmove(own, &common, sizeof *own);
    free(own);
    return 0;
}
int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(threads + i, 0, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#,
    );
    succeed(&mut here.deadheat(["cc", "-g", "-O0", "-pthread", "range.c", "-o", "range"]));
    for seed in ["0", "1", "2"] {
        let check = [
            "check",
            "--seed",
            seed,
            "--survey-above",
            "20000",
            "--",
            "./range",
        ];
        let long = told(here.deadheat(check).stdin(Stdio::null()));
        assert_eq!(long.code, Some(66), "{}{}", long.out, long.err);
        long.has(LEFT_OUT).has("confirmed race on common.level");
        assert!(long.events() < 1000, "{}", long.events());
        let (_, id) = &long.findings()[0];
        let id = id.trim_end_matches(']');
        let mut replay = here.deadheat(["replay", id, "--times", "3"]);
        told(&mut replay).has("3 of 3 times");
    }
}

#[test]
fn a_long_run_that_crashes_is_repeated_up_to_there() {
    let busy = Busy::new("racy++", "*nothing=1", "run()");
    let long = busy.long();
    assert_eq!(long.code, Some(66), "{}{}", long.out, long.err);
    long.has("the program crashes with SIGSEGV")
        .has("confirmed race on racy")
        .has("confirmed failure");
    assert!(long.events() < 1000, "{}", long.events());
}

#[test]
fn a_run_that_is_ended_is_repeated_up_to_where_it_was() {
    let busy = Busy::new("racy++", "for(long i=0;;i++)cells[i&63]++", "run()");
    let long = told(&mut busy.check(&["--survey-above", "50000", "--run-time", "1s"]));
    assert_eq!(long.code, Some(66), "{}{}", long.out, long.err);
    long.has(LEFT_OUT)
        .has("confirmed race on racy")
        .has("and was ended");
}

#[test]
fn other_processes_are_recorded_so_too() {
    let main = "if(fork()==0){run();_exit(0);}wait(0)";
    let busy = Busy::new("racy++", "", main);
    let long = busy.long();
    assert_eq!(long.code, Some(66), "{}{}", long.out, long.err);
    long.has("1 more trace of other processes")
        .has("proven race on racy");
}

#[test]
fn what_was_typed_is_typed_again() {
    let cell =
        "pthread_mutex_lock(&lock);racy+=getchar()-48;pthread_mutex_unlock(&lock);cells[racy]++";
    let busy = Busy::new(cell, "", "run()");
    let checked = |longest: &str| {
        let mut check = busy.check(&["--survey-above", longest]);
        let numbers = busy.here.file("numbers", "123");
        told(check.stdin(std::fs::File::open(numbers).unwrap()))
    };
    let (long, whole) = (checked("50000"), checked("never"));
    assert!(long.out.starts_with("6\n"), "{}", long.out);
    long.has(LEFT_OUT);
    assert_eq!(long.findings(), whole.findings());
}

#[test]
fn a_run_that_shares_more_when_it_is_repeated_is_repeated_again() {
    // Each run has another cell, as a file counts them.
    let main = "FILE*f=fopen(\"runs\",\"r+\");int n=0;fscanf(f,\"%d\",&n);rewind(f);\
        fprintf(f,\"%d\",n+1);fclose(f);nothing=cells+n*2;run()";
    let busy = Busy::new("(*nothing)++", "", main);
    busy.here.file("runs", "0");
    let long = busy.long();
    // After a few tries it is recorded whole.
    long.has_no(LEFT_OUT);
    assert!(long.events() > 100_000, "{}", long.events());
    let runs = std::fs::read_to_string(busy.here.path().join("runs")).unwrap();
    assert!(runs.parse::<u32>().unwrap() >= 5, "{runs}");
    // Nothing is left of the tries.
    let folder = busy.here.path().join(".deadheat/recordings/000001");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            !name.contains("shared") && !name.contains("repeated"),
            "{name}"
        );
    }
}

#[test]
fn programs_have_the_same_findings() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    for name in [
        "papers/maximal_fig2_case2.c",
        "scenarios/c/claim_race.c",
        "scenarios/c/double_checked.c",
        "scenarios/c/freelist_race.c",
        "scenarios/c/gate_shared_deadlock.c",
        "scenarios/c/seqlock_race.c",
        "scenarios/c/tcp_race.c",
    ] {
        let program = programs.join(name);
        let of = |longest: &str| {
            let here = Sandbox::new();
            let mut check = here.deadheat(["check", "--survey-above", longest]);
            told(check.arg(&program).stdin(Stdio::null()))
        };
        let (long, whole) = (of("0"), of("never"));
        long.has(LEFT_OUT);
        assert_eq!(long.code, whole.code, "{name}");
        assert_eq!(long.findings(), whole.findings(), "{name}");
    }
}
