//! "All orders" is said only of programs that do nothing unseen.

mod support;

use serde_json::Value;
use support::{Sandbox, compilers, succeed};

/// Two threads that go on with what functions elsewhere tell them.
const CALLER: &str = r#"
#include <pthread.h>
#include <stdlib.h>
int get(int);
void put(int);
static void *work(void *u) {
    put(get(0) + 1);
    return u;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return get(0) < 0;
}
"#;

/// A variable that they have in common.
const SHARING: &str = r#"
static int hidden;
int get(int at) { return at + hidden; }
void put(int value) { hidden = value; }
"#;

/// Functions that have nothing in common: constants, and their own stack.
const SHARING_NOTHING: &str = r#"
static const int table[4] = {3, 1, 2, 0};
int get(int at) { return table[at & 3]; }
void put(int value) { int own = value; (void)own; }
"#;

/// The thread's function itself has no hooks.
const THREAD: &str = r#"
#include <pthread.h>
void *work(void *);
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

const THREADS_FUNCTION: &str = "static int n; void *work(void *u) { n++; return u; }";

/// What `explore` says of a program of two files, of which the second may be without hooks.
fn explored(files: [&str; 2], compiler: &str, flag: &str, hooks: bool) -> Value {
    let here = Sandbox::new();
    here.file("main.c", files[0]);
    here.file("rest.c", files[1]);
    let compile = [flag, "-g", "-c", "rest.c", "-o", "rest.o"];
    match hooks {
        true => succeed(
            here.deadheat(["cc"])
                .args(compile)
                .env("DEADHEAT_CC", compiler),
        ),
        false => succeed(here.command(compiler).args(compile)),
    };
    let link = ["cc", flag, "-g", "-pthread", "main.c", "rest.o", "-o", "p"];
    succeed(here.deadheat(link).env("DEADHEAT_CC", compiler));
    let output = here
        .deadheat(["explore", "--format", "json", "--", "./p"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    });
    report["stats"].clone()
}

#[test]
fn functions_without_hooks_are_named_as_left_out() {
    for compiler in compilers() {
        for flag in ["-O0", "-O2"] {
            let stats = explored([CALLER, SHARING], compiler, flag, false);
            assert_eq!(stats["exhausted"], false, "{compiler} {flag}: {stats:#}");
            let cuts = stats["cuts"].to_string();
            assert!(cuts.contains("get rest.c:3"), "{compiler} {flag}: {cuts}");
            assert!(cuts.contains("put rest.c:4"), "{compiler} {flag}: {cuts}");
            let stats = explored([THREAD, THREADS_FUNCTION], compiler, flag, false);
            let cuts = stats["cuts"].to_string();
            assert!(cuts.contains("work rest.c:1"), "{compiler} {flag}: {cuts}");
        }
    }
}

#[test]
fn functions_that_share_nothing_need_no_hooks() {
    for compiler in compilers() {
        for flag in ["-O0", "-O2"] {
            let stats = explored([CALLER, SHARING_NOTHING], compiler, flag, false);
            assert_eq!(stats["exhausted"], true, "{compiler} {flag}: {stats:#}");
        }
    }
}

#[test]
fn functions_with_hooks_leave_nothing_out() {
    for compiler in compilers() {
        let stats = explored([CALLER, SHARING], compiler, "-O0", true);
        assert_eq!(stats["exhausted"], true, "{compiler}: {stats:#}");
    }
}

/// What one thread changes by a call another one sees by a call: no memory of the program's is in between.
#[test]
fn what_the_c_library_keeps_for_all_threads_is_named() {
    let program = r#"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static void *change(void *unused) {
    setenv("MODE", "fast", 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, change, 0);
    assert(!getenv("MODE"));
    pthread_join(thread, 0);
    return 0;
}
"#;
    let stats = explored([program, ""], "gcc", "-O0", true);
    assert_eq!(stats["exhausted"], false, "{stats:#}");
    let cuts = stats["cuts"].to_string();
    assert!(cuts.contains("by calls of setenv"), "{cuts}");
}

/// Two threads, each of which does one thing.
fn two_threads(one: &str, other: &str, end: &str) -> String {
    format!(
        "
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
static int last;
static void first(void) {{ last = 1; }}
static void second(void) {{ last = 2; }}
static void mine(int signal) {{ last = signal; }}
static void end(void) {{ if (last == 2) abort(); }}
static void *one(void *unused) {{ {one} return unused; }}
static void *other(void *unused) {{ {other} return unused; }}
int main(void) {{
    pthread_t a, b;
    atexit(end);
    signal(SIGUSR1, mine);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    {end}
}}
"
    )
}

/// Whoever is first to set a handler decides what comes later, and a search does not try both.
#[test]
fn handlers_that_threads_set_are_named() {
    for (one, other, exhausted) in [
        ("atexit(first);", "atexit(second);", false),
        ("atexit(first);", "", true),
        ("signal(SIGUSR1, SIG_IGN);", "", false),
        ("", "", true),
    ] {
        let program = two_threads(one, other, "signal(SIGUSR1, SIG_DFL);");
        let stats = explored([&program, ""], "gcc", "-O0", true);
        assert_eq!(stats["exhausted"], exhausted, "{one} {other}: {stats:#}");
        let cuts = stats["cuts"].to_string();
        assert_eq!(cuts.contains("set handlers"), !exhausted, "{cuts}");
    }
}

#[test]
fn a_program_that_accesses_nothing_leaves_nothing_out() {
    let stats = explored(["int main(void) { return 0; }", ""], "gcc", "-O2", true);
    assert_eq!(stats["exhausted"], true, "{stats:#}");
}

#[test]
fn a_library_without_hooks_is_named() {
    let here = Sandbox::new();
    here.file("main.c", CALLER);
    here.file("rest.c", SHARING);
    succeed(
        here.command("gcc")
            .args(["-shared", "-fPIC", "rest.c", "-o", "librest.so"]),
    );
    let link = [
        "cc",
        "-g",
        "-pthread",
        "main.c",
        "-L.",
        "-lrest",
        "-Wl,-rpath,$ORIGIN",
        "-o",
        "p",
    ];
    succeed(&mut here.deadheat(link));
    let told = here.told(&mut here.deadheat(["explore", "--", "./p"]));
    assert!(told.contains("is not seen (librest.so)"), "{told}");
}

/// A thread that nobody joins yields before it races with `main`.
const YIELDS: &str = r#"
use std::cell::UnsafeCell;
struct Plain(UnsafeCell<i32>);
unsafe impl Sync for Plain {}
static V: Plain = Plain(UnsafeCell::new(0));
fn main() {
    std::thread::spawn(|| {
        std::thread::yield_now();
        unsafe { *V.0.get() = 1 };
    });
    println!("{}", unsafe { *V.0.get() });
}
"#;

/// The same in C.
const YIELDS_IN_C: &str = "
#include <pthread.h>
#include <sched.h>
static int shared;
static void *work(void *unused) {
    sched_yield();
    shared = 1;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    return shared < 0;
}
";

#[test]
fn what_a_thread_does_behind_a_yield_is_found_though_the_process_ends() {
    let here = Sandbox::new();
    for (name, text) in [("p.rs", YIELDS), ("p.c", YIELDS_IN_C)] {
        here.file(name, text);
        let output = here
            .deadheat(["explore", "--format", "json", name])
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let races = report["findings"].as_array().unwrap();
        assert_eq!(races.len(), 1, "{report:#}");
        assert_eq!(races[0]["rung"], "confirmed", "{report:#}");
        assert_eq!(report["stats"]["exhausted"], true, "{report:#}");
    }
}

/// Both the first thread and another one end the process. Whoever stands before that has the other one's end come first, and
/// what a third one can do before either is searched.
#[test]
fn two_threads_may_end_the_process() {
    for end in ["exit(0);", "_Exit(0);", "quick_exit(0);", ""] {
        let program = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static int shared;
static _Atomic int flag;
static void *set(void *unused) {
    int expected = 0;
    shared = 3;
    atomic_compare_exchange_strong_explicit(&flag, &expected, 1, memory_order_acquire, memory_order_acquire);
    END
    return unused;
}
static void *see(void *unused) {
    int expected = 1;
    if (atomic_compare_exchange_strong(&flag, &expected, 5))
        shared = 2;
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, see, 0);
    pthread_create(&other, 0, set, 0);
    return 0;
}
"#;
        let here = Sandbox::new();
        here.file("p.c", &program.replace("END", end));
        let told = here.told(&mut here.deadheat(["explore", "p.c"]));
        assert!(told.contains("confirmed race on shared"), "{end}: {told}");
    }
}
