//! The runtime inside real programs, where it could break: limits, forks, deadlocks, calls that
//! block unseen, annotations, and the set of symbols that compilers and programs ask for.

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use deadheat_trace::file::TraceFile;
use deadheat_trace::{Op, Steps, SyncKind, verify};
use object::{Object, ObjectSymbol};
use support::{Sandbox, compilers, printed, succeed};

/// Builds `source` as `prog` with a compiler and flags.
fn build(source: &str, compiler: &str, flags: &[&str]) -> Sandbox {
    let here = Sandbox::new();
    here.file("prog.c", source);
    let mut command = here.deadheat(["cc", "-pthread", "prog.c", "-o", "prog"]);
    succeed(command.env("DEADHEAT_CC", compiler).args(flags));
    here
}

/// Runs `prog` as the recorder would, without the recorder around it.
fn run(here: &Sandbox, trace: &str, options: &str) -> Command {
    let mut command = here.command(here.path().join("prog"));
    let trace = here.path().join(trace);
    command
        .env("DEADHEAT_TRACE", trace)
        .env("DEADHEAT_OPTIONS", options);
    command
}

/// The operations in a trace that must be well-formed.
fn operations(path: &Path) -> Vec<Op> {
    let file = TraceFile::open(path).unwrap();
    let report = verify::verify(&mut file.read()).unwrap();
    assert!(report.is_well_formed(), "{}: {report:?}", path.display());
    let steps = file.read().collect_trace().unwrap().steps;
    steps.iter().map(|step| step.event.op()).collect()
}

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
                    printed(&mut here.deadheat(["trace", "cat", name]))
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
static void *reader(void *arg) {
    char line[16];
    FILE *file = fdopen(ends[0], "r");
    if (fgets(line, sizeof line, file))
        fputs(line, stdout);
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
fn annotations_are_events() {
    const ANNOTATED: &str = r#"
void __tsan_acquire(void *), __tsan_release(void *);
void __tsan_mutex_create(void *, unsigned), __tsan_mutex_destroy(void *, unsigned);
void __tsan_mutex_pre_lock(void *, unsigned), __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned); void __tsan_mutex_post_unlock(void *, unsigned);
void AnnotateHappensBefore(const char *, int, const void *);
void AnnotateHappensAfter(const char *, int, const void *);
void AnnotateRWLockAcquired(const char *, int, const void *, long);
void AnnotateRWLockReleased(const char *, int, const void *, long);
void AnnotateIgnoreReadsBegin(const char *, int), AnnotateIgnoreReadsEnd(const char *, int);
int lock, channel, reader;
int main(void) {
    __tsan_mutex_create(&lock, 0);
    __tsan_mutex_pre_lock(&lock, 0);
    __tsan_mutex_post_lock(&lock, 0, 0);
    __tsan_mutex_pre_unlock(&lock, 0);
    __tsan_mutex_post_unlock(&lock, 0);
    __tsan_mutex_destroy(&lock, 0);
    __tsan_release(&channel);
    __tsan_acquire(&channel);
    AnnotateHappensBefore(__FILE__, __LINE__, &channel);
    AnnotateHappensAfter(__FILE__, __LINE__, &channel);
    AnnotateRWLockAcquired(__FILE__, __LINE__, &reader, 0);
    AnnotateRWLockReleased(__FILE__, __LINE__, &reader, 0);
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    return 0;
}
"#;
    let here = build(ANNOTATED, "gcc", &[]);
    for mode in ["parallel", "serial"] {
        succeed(&mut run(&here, mode, &format!("mode={mode}")));
        let mut operations = operations(&here.path().join(mode));
        operations.retain(|op| ![Op::Begin, Op::Enter, Op::Leave, Op::Alloc, Op::End].contains(op));
        use Op::{Acquire, Destroy, Init, ReadAcquire, ReadRelease, Receive, Release, Send};
        let expected = [
            Init,
            Acquire,
            Release,
            Destroy,
            Send,
            Receive,
            Send,
            Receive,
            ReadAcquire,
            ReadRelease,
        ];
        assert_eq!(operations, expected, "{mode}");
    }
}

#[test]
fn whatever_links_with_gccs_runtime_links_with_ours() {
    let output = Command::new("gcc")
        .arg("-print-file-name=libtsan.so.2")
        .output()
        .unwrap();
    let path = String::from_utf8(output.stdout).unwrap();
    let stock = std::fs::read(path.trim()).expect("gcc's own runtime, which comes with gcc");
    let here = build("int main(void) { return 0; }\n", "gcc", &[]);
    let ours = std::fs::read(here.path().join("prog")).unwrap();
    let names = |bytes: &[u8]| -> BTreeSet<String> {
        let file = object::File::parse(bytes).unwrap();
        let defined = file
            .dynamic_symbols()
            .filter(|symbol| symbol.is_definition());
        defined
            .map(|symbol| symbol.name().unwrap().to_owned())
            .collect()
    };
    let asked_for = |name: &&String| {
        ["__tsan_", "Annotate", "WTFAnnotate"]
            .iter()
            .any(|p| name.starts_with(p))
    };
    // What a program may define for the runtime to call, and the runtime's own inner life.
    let not_for_programs = [
        "__tsan_default_options",
        "__tsan_default_suppressions",
        "__tsan_on_report",
        "__tsan_symbolize_external",
        "__tsan_symbolize_external_ex",
        "__tsan_resume",
    ];
    let ours = names(&ours);
    let missing: Vec<_> = names(&stock)
        .iter()
        .filter(asked_for)
        .filter(|name| !ours.contains(*name) && !not_for_programs.contains(&name.as_str()))
        .cloned()
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn objects_are_known_by_kind_with_their_counts() {
    const OBJECTS: &str = r#"
#include <pthread.h>
#include <semaphore.h>
pthread_barrier_t barrier;
sem_t semaphore;
pthread_mutex_t mutex;
pthread_cond_t condition;
int main(void) {
    pthread_barrier_init(&barrier, 0, 1);
    pthread_barrier_wait(&barrier);
    pthread_barrier_destroy(&barrier);
    sem_init(&semaphore, 0, 3);
    sem_wait(&semaphore);
    sem_destroy(&semaphore);
    pthread_mutex_init(&mutex, 0);
    pthread_cond_init(&condition, 0);
    pthread_cond_signal(&condition);
    pthread_cond_destroy(&condition);
    pthread_mutex_destroy(&mutex);
    return 0;
}
"#;
    let here = build(OBJECTS, "gcc", &[]);
    for mode in ["parallel", "serial"] {
        succeed(&mut run(&here, mode, &format!("mode={mode}")));
        let trace = here.path().join(mode);
        operations(&trace);
        let trace = TraceFile::open(trace)
            .unwrap()
            .read()
            .collect_trace()
            .unwrap();
        let kinds: Vec<_> = trace
            .tables
            .syncs
            .iter()
            .map(|object| object.kind)
            .collect();
        use SyncKind::{Barrier, Condition, Lock, Semaphore};
        assert_eq!(kinds, [Barrier, Semaphore, Lock, Condition], "{mode}");
        let counts: Vec<_> = trace
            .steps
            .iter()
            .filter(|step| step.event.op() == Op::Init)
            .map(|step| step.written())
            .collect();
        assert_eq!(counts, [Some(1), Some(3), None], "{mode}");
    }
}

#[test]
fn optional_hooks_of_both_compilers_are_there() {
    const VOLATILE: &str = r#"
volatile int flag;
int plain;
struct __attribute__((packed)) { char c; long l; } odd;
int main(void) {
    flag = 1;
    plain += flag;
    odd.l++;
    return plain - 1;
}
"#;
    for compiler in compilers() {
        let flags: &[&str] = if compiler == "gcc" {
            &["--param", "tsan-distinguish-volatile=1"]
        } else {
            &[
                "-mllvm",
                "-tsan-distinguish-volatile",
                "-mllvm",
                "-tsan-compound-read-before-write",
            ]
        };
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let here = build(VOLATILE, compiler, &[flags, &[level]].concat());
            for mode in ["parallel", "serial"] {
                succeed(&mut run(&here, mode, &format!("mode={mode}")));
                let operations = operations(&here.path().join(mode));
                let count = |op| operations.iter().filter(|found| **found == op).count();
                assert!(
                    count(Op::Read) >= 2 && count(Op::Write) >= 3,
                    "{compiler} {level} {mode}"
                );
            }
        }
    }
}

/// gcc announces the copy of a structure as a write, a read, and then copies; and a thread that
/// spins after it has written what was there before must still let others run.
#[test]
fn copies_of_structures_have_the_values_that_were_copied() {
    const COPIES: &str = r#"
#include <pthread.h>
#include <stdlib.h>
struct pair { int a, b; } source, target;
struct large { long a[5]; } from, to;
volatile int flag, same;
static void *copy(void *arg) {
    for (int i = 0; i < 50; i++) {
        source.a = i;
        target = source;
        struct pair *heap = malloc(sizeof *heap);
        *heap = target;
        if (heap->a != i) return 0;
        free(heap);
        from.a[4] = i;
        to = from;
        if (to.a[4] != i) return 0;
    }
    same = 0;
    while (!flag) {}
    return arg;
}
int main(void) {
    pthread_t thread;
    void *copied;
    pthread_create(&thread, 0, copy, &source);
    flag = 1;
    pthread_join(thread, &copied);
    return copied ? 0 : 1;
}
"#;
    for level in ["-O0", "-O1", "-O2"] {
        let here = build(COPIES, "gcc", &[level]);
        for policy in ["random", "pct", "run-to-block"] {
            succeed(&mut run(
                &here,
                policy,
                &format!("mode=serial:policy={policy}"),
            ));
            let file = TraceFile::open(here.path().join(policy)).unwrap();
            let report = verify::verify(&mut file.read()).unwrap();
            assert!(report.is_well_formed(), "{level} {policy}: {report:?}");
            assert_eq!(report.mismatches, 0, "{level} {policy}: {report:?}");
            assert!(report.values_checked > 150, "{level} {policy}: {report:?}");
        }
    }
}

#[test]
fn recursion_deeper_than_the_shadow_stack() {
    const DEEP: &str = r#"
#include <pthread.h>
int shared;
static int down(int depth) { shared++; return depth == 0 ? 0 : 1 + down(depth - 1); }
static void *work(void *arg) {
    int first = down(150000);
    int second = down(3);
    return first == 150000 && second == 3 ? 0 : arg;
}
int main(void) {
    pthread_attr_t large;
    pthread_t thread;
    void *failed = 0;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, 256 << 20);
    pthread_create(&thread, &large, work, &large);
    pthread_join(thread, &failed);
    return failed ? 1 : 0;
}
"#;
    let here = build(DEEP, "gcc", &["-O0"]);
    for mode in ["parallel", "serial"] {
        succeed(&mut run(&here, mode, &format!("mode={mode}")));
        let operations = operations(&here.path().join(mode));
        let count = |op| operations.iter().filter(|found| **found == op).count();
        assert!(count(Op::Enter) > 100_000, "{mode}");
        assert_eq!(count(Op::Enter), count(Op::Leave), "{mode}");
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

#[test]
fn a_program_with_an_allocator_of_its_own() {
    const ALLOCATOR: &str = r#"
#include <stddef.h>
#include <string.h>
static char pool[1 << 20];
static size_t used;
static int calls;
void *malloc(size_t size) { void *p = pool + used; used += (size + 15) / 16 * 16; calls++; return p; }
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t size) { return memset(malloc(n * size), 0, n * size); }
void *realloc(void *p, size_t size) { (void)p; return malloc(size); }
int main(void) { int *p = malloc(4); *p = 5; free(p); return calls > 0 ? 0 : 1; }
"#;
    let here = build(ALLOCATOR, "gcc", &["-fno-builtin"]);
    for mode in ["parallel", "serial"] {
        succeed(&mut run(&here, mode, &format!("mode={mode}")));
        operations(&here.path().join(mode));
    }
}
