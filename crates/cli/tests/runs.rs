//! How runs go on and end with the runtime inside: limits, loops, schedules, deadlocks, calls that
//! block unseen, forks, jumps out of handlers.

mod support;

use std::collections::BTreeSet;

use deadheat_trace::file::TraceFile;
use deadheat_trace::{Op, verify};
use support::program::{build, operations, run};
use support::{printed, succeed};

const COUNTING: &str = r#"
#include <pthread.h>
int shared;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *count(void *arg) {
    for (int i = 0; i < 20000; i++) {
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
    return shared == 40000 ? 0 : 1;
}
"#;

#[test]
fn a_limit_on_file_sizes_ends_the_recording_and_not_the_program() {
    let here = build(COUNTING, "gcc", &[]);
    // With the smallest, there is no room for a second thread's buffer; with others, the
    // recording stops while threads start, work or end.
    let parallel = [100, 150, 220, 240, 260, 280, 300, 320, 340].map(|limit| ("parallel", limit));
    for (mode, limit) in parallel.into_iter().chain([("serial", 300)]) {
        let trace = here.path().join(format!("{mode}{limit}"));
        let mut limited = here.command("bash");
        limited
            .args(["-c", &format!("ulimit -f {limit}; exec ./prog")])
            .env("DEADHEAT_TRACE", &trace)
            .env("DEADHEAT_OPTIONS", format!("mode={mode}"));
        let output = succeed(&mut limited);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            told.contains("recording stopped: the trace reached the largest size"),
            "{told}"
        );
        let file = TraceFile::open(&trace).unwrap();
        assert!(file.closed().is_none());
        assert!(
            !file.damage().is_empty(),
            "it is said that the end is missing"
        );
        let report = verify::verify(&mut file.read()).unwrap();
        assert!(
            report.steps > if limit < 200 { 1 } else { 1000 },
            "{mode} {limit}: what was written can be read: {report:?}"
        );
        assert_eq!(report.errors, 0, "{mode} {limit}: {report:?}");
    }
}

/// Threads that are in the middle of loops when the program ends, or is ended.
const LOOPING: &str = r#"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>
int data[2][4096], rounds[2];
static void *loop(void *which) {
    int *mine = data[(long)which];
    for (;;) {
        for (int i = 0; i < 4096; i++)
            mine[i]++;
        __atomic_add_fetch(&rounds[(long)which], 1, __ATOMIC_RELAXED);
    }
}
static int is_going(int which) {
    return __atomic_load_n(&rounds[which], __ATOMIC_RELAXED) > 20;
}
int main(int argc, char **argv) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, loop, (void *)i);
    while (!is_going(0) || !is_going(1))
        sched_yield();
    if (argc > 1)
        kill(getpid(), SIGKILL);
    return 0;
}
"#;

#[test]
fn threads_in_loops_leave_whole_records() {
    let here = build(LOOPING, "gcc", &[]);
    for (number, args) in [&[][..], &["killed"]].repeat(6).into_iter().enumerate() {
        let trace = here.path().join(format!("trace{number}"));
        let mut run = here.command("./prog");
        let status = run
            .args(args)
            .env("DEADHEAT_TRACE", &trace)
            .status()
            .unwrap();
        assert_eq!(status.success(), args.is_empty());
        let file = TraceFile::open(&trace).unwrap();
        let mut reader = file.read();
        let report = verify::verify(&mut reader).unwrap();
        assert_eq!(report.errors, 0, "{report:?}");
        assert!(reader.damage().is_empty(), "{:?}", reader.damage());
        let told = file.damage().len();
        assert_eq!(told, usize::from(!args.is_empty()), "{:?}", file.damage());
        assert!(report.steps > 4096, "{report:?}");
    }
}

#[test]
fn every_policy_and_kind_of_thread_repeats_itself() {
    let here = build(COUNTING, "gcc", &[]);
    for threads in ["green", "real"] {
        for policy in ["random", "pct", "round-robin", "run-to-block"] {
            for preempt in ["sync", "access"] {
                let options = format!(
                    "mode=serial:seed=7:threads={threads}:policy={policy}:preempt={preempt}"
                );
                let texts = ["one", "two"].map(|name| {
                    let trace = here.path().join(name);
                    let _ = std::fs::remove_file(&trace);
                    let mut command = here.command("setarch");
                    command
                        .args(["--addr-no-randomize", "./prog"])
                        .env("DEADHEAT_TRACE", &trace)
                        .env("DEADHEAT_OPTIONS", &options);
                    succeed(&mut command);
                    assert!(operations(&trace).len() > 80_000, "{options}");
                    printed(&mut here.deadheat(["trace", "cat", "--no-symbols", name]))
                });
                assert!(texts[0] == texts[1], "{options}: two runs differ");
            }
        }
    }
}

#[test]
fn a_schedule_that_deadlocks_is_reported_and_recorded() {
    const LOCKS: &str = r#"
#include <pthread.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *b_then_a(void *arg) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return arg;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, b_then_a, 0);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_join(thread, 0);
    return 0;
}
"#;
    let here = build(LOCKS, "gcc", &[]);
    let mut codes = BTreeSet::new();
    for threads in ["green", "real"] {
        for seed in 0..20 {
            let name = format!("{threads}{seed}");
            let output = run(
                &here,
                &name,
                &format!("mode=serial:seed={seed}:threads={threads}"),
            )
            .output();
            let output = output.unwrap();
            codes.insert((threads, output.status.code()));
            let operations = operations(&here.path().join(&name));
            if output.status.code() == Some(66) {
                let told = String::from_utf8_lossy(&output.stderr);
                assert!(told.contains("deadlock: no thread can go on"), "{told}");
                let requests = operations.iter().filter(|op| **op == Op::Request).count();
                assert_eq!(
                    requests, 2,
                    "both threads' requests are the last that is recorded"
                );
            }
        }
    }
    let both = |threads| [(threads, Some(0)), (threads, Some(66))];
    assert_eq!(
        codes,
        BTreeSet::from_iter(both("green").into_iter().chain(both("real")))
    );
}

#[test]
fn the_watchdog_passes_a_call_that_is_not_seen() {
    const UNSEEN: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
int ends[2], shared;
static long unseen_read(long fd, char *buffer, long length) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(0L), "D"(fd), "S"(buffer), "d"(length) : "rcx", "r11", "memory");
    return result;
}
static void *reader(void *arg) {
    char line[16];
    if (unseen_read(ends[0], line, sizeof line) == 5)
        fwrite(line, 1, 5, stdout);
    return arg;
}
int main(void) {
    pthread_t thread;
    if (pipe(ends)) return 1;
    pthread_create(&thread, 0, reader, 0);
    for (int i = 0; i < 3000; i++) shared += i;
    if (write(ends[1], "line\n", 5) != 5) return 1;
    pthread_join(thread, 0);
    return 0;
}
"#;
    let here = build(UNSEEN, "gcc", &[]);
    for threads in ["green", "real"] {
        let options = format!("mode=serial:seed=1:watchdog=1:threads={threads}");
        let output = succeed(&mut run(&here, threads, &options));
        assert_eq!(output.stdout, b"line\n");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("took no step for 1 s"), "{threads}: {told}");
        operations(&here.path().join(threads));
    }
}

#[test]
fn a_forked_child_has_a_recording_of_its_own() {
    const FORK: &str = r#"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
int shared;
static void *work(void *arg) { shared++; return arg; }
int main(void) {
    int status;
    pid_t child = fork();
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    if (child == 0) return 7;
    return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7 ? 0 : 1;
}
"#;
    let here = build(FORK, "gcc", &[]);
    for options in ["mode=parallel", "mode=serial", "mode=serial:threads=real"] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = run(&here, "unused", options);
        succeed(command.env("DEADHEAT_TRACE", folder.path().join("trace")));
        let mut names: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        names.sort();
        assert_eq!(
            names.len(),
            2,
            "{options}: two traces, no live file: {names:?}"
        );
        for name in names {
            let operations = operations(&name);
            assert!(
                operations.contains(&Op::Join),
                "{options}: {}",
                name.display()
            );
        }
    }
}

#[test]
fn a_jump_out_of_a_signal_handler() {
    const JUMP: &str = r#"
#include <setjmp.h>
#include <signal.h>
int shared;
jmp_buf place, within;
sigjmp_buf signal_place;
static void jump(int number) {
    (void)number;
    if (setjmp(within) == 0)
        longjmp(within, 1);
    longjmp(place, 1);
}
static void signal_jump(int number) { (void)number; siglongjmp(signal_place, 1); }
static void deeper(int number) { raise(number); }
int main(void) {
    signal(SIGUSR1, jump);
    signal(SIGUSR2, signal_jump);
    if (setjmp(place) == 0)
        deeper(SIGUSR1);
    shared = 1;
    if (sigsetjmp(signal_place, 1) == 0)
        deeper(SIGUSR2);
    shared = 2;
    return 0;
}
"#;
    for flags in [&["-O0"][..], &["-O2", "-D_FORTIFY_SOURCE=2"]] {
        let here = build(JUMP, "gcc", flags);
        for options in ["mode=parallel", "mode=serial", "mode=serial:threads=real"] {
            let name = options.replace(['=', ':'], "-");
            let _ = std::fs::remove_file(here.path().join(&name));
            succeed(&mut run(&here, &name, options));
            let operations = operations(&here.path().join(&name));
            let writes = operations.iter().filter(|op| **op == Op::Write).count();
            assert!(
                writes >= 2,
                "{options} {flags:?}: events after both jumps are there"
            );
        }
    }
}
