//! What the runtime sees inside real programs: annotations, objects, copies, deep recursion; and the
//! set of symbols that compilers and programs ask for.

mod support;

use std::collections::BTreeSet;
use std::process::Command;

use deadheat_trace::file::TraceFile;
use deadheat_trace::{Op, Steps, SyncKind, verify};
use object::{Object, ObjectSymbol};
use support::program::{build, operations, run};
use support::{compilers, succeed};

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
    __tsan_mutex_pre_lock(&lock, 1 << 4);
    __tsan_mutex_post_lock(&lock, 1 << 5, 0);
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
        operations.retain(|op| {
            ![
                Op::Begin,
                Op::Enter,
                Op::Leave,
                Op::Alloc,
                Op::End,
                Op::Exit,
            ]
            .contains(op)
        });
        use Op::{
            Acquire, Destroy, Init, ReadAcquire, ReadRelease, Receive, Refused, Release, Send,
        };
        let expected = [
            Init,
            Acquire,
            Refused,
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
        use SyncKind::{Barrier, Channel, Condition, Lock, Semaphore};
        // By the last one whoever takes the mutex now would come after whoever has destroyed it.
        let expected = [Barrier, Semaphore, Lock, Condition, Channel];
        assert_eq!(kinds, expected, "{mode}");
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

#[test]
fn attempts_in_vain_are_events() {
    const REFUSED: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
int main(void) {
    struct timespec past = {0};
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    int refused = pthread_mutex_trylock(&mutex) != 0;
    refused += pthread_mutex_timedlock(&mutex, &past) != 0;
    refused += pthread_mutex_unlock(&mutex) != 0;
    pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
    pthread_rwlock_rdlock(&shared);
    refused += pthread_rwlock_trywrlock(&shared) != 0;
    pthread_rwlock_unlock(&shared);
    pthread_rwlock_wrlock(&shared);
    refused += pthread_rwlock_tryrdlock(&shared) != 0;
    pthread_rwlock_unlock(&shared);
    pthread_spinlock_t spin;
    pthread_spin_init(&spin, 0);
    pthread_spin_lock(&spin);
    refused += pthread_spin_trylock(&spin) != 0;
    mtx_t plain;
    mtx_init(&plain, mtx_plain);
    mtx_lock(&plain);
    refused += mtx_trylock(&plain) != thrd_success;
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    refused += sem_trywait(&semaphore) != 0;
    refused += sem_timedwait(&semaphore, &past) != 0;
    return refused == 8 ? 0 : refused + 1;
}
"#;
    let here = build(REFUSED, "gcc", &[]);
    for mode in ["parallel", "serial"] {
        succeed(&mut run(&here, mode, &format!("mode={mode}")));
        let mut operations = operations(&here.path().join(mode));
        use Op::{ReadRefused, Refused, TakeRefused};
        operations.retain(|op| [Refused, ReadRefused, TakeRefused].contains(op));
        let expected = [
            Refused,
            Refused,
            Refused,
            ReadRefused,
            Refused,
            Refused,
            TakeRefused,
            TakeRefused,
        ];
        assert_eq!(operations, expected, "{mode}");
    }
}
