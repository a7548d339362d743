//! Programs that do not end, and those that only take long.

mod support;

use serde_json::Value;
use support::Sandbox;

/// What `check` says and writes.
fn check(source: &str, options: &[&str]) -> (String, Value) {
    let here = Sandbox::new();
    here.file("p.c", source);
    let mut command = here.deadheat(["check", "--format", "json", "-o", "found.json"]);
    let told = here.told(command.args(options).arg("p.c"));
    let report = std::fs::read_to_string(here.path().join("found.json")).unwrap();
    (told, serde_json::from_str(&report).unwrap())
}

/// The program hangs: one confirmed failure with so many threads.
fn hangs(source: &str, threads: usize) {
    let (told, report) = check(source, &[]);
    assert!(told.starts_with("exit: 66"), "{told}");
    let findings = report["findings"].as_array().unwrap();
    let failures: Vec<&Value> = findings
        .iter()
        .filter(|finding| finding["kind"] == "failure")
        .collect();
    assert_eq!(failures.len(), 1, "{report:#}");
    assert_eq!(failures[0]["rung"], "confirmed", "{report:#}");
    assert_eq!(failures[0]["accesses"].as_array().unwrap().len(), threads);
    assert_eq!(
        failures[0]["consequence"]["endings"][0]["told"],
        "does not end"
    );
}

#[test]
fn a_loop_that_nobody_ends_is_a_failure() {
    for flag in ["int", "volatile int", "_Atomic int"] {
        hangs(
            &format!("{flag} x;\nint main(void) {{\n    while (!x)\n        ;\n}}\n"),
            1,
        );
    }
}

#[test]
fn attempts_that_nobody_lets_succeed_are_a_failure() {
    let source = "
#include <pthread.h>
#include <sched.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *try_it(void *unused) {
    while (pthread_mutex_trylock(&lock))
        sched_yield();
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, 0, try_it, 0);
    pthread_join(thread, 0);
}
";
    hangs(source, 2);
}

#[test]
fn a_loop_that_looks_again_after_a_while_is_a_failure() {
    let source = "
#include <pthread.h>
#include <unistd.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int done;
static void *wait_for_it(void *unused) {
    for (int seen = 0; !seen; usleep(100)) {
        pthread_mutex_lock(&lock);
        seen = done;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, wait_for_it, 0);
    pthread_join(thread, 0);
}
";
    hangs(source, 2);
}

#[test]
fn whoever_counts_attempts_or_computes_does_not_hang() {
    let bounded = "
_Atomic int x;
int main(void) {
    for (int i = 0; i < 20000; i++)
        if (x)
            break;
}
";
    let computes = "
int cells[64];
int main(void) {
    unsigned long sum = 0;
    for (int i = 0; i < 20000; i++)
        sum = sum * 3 + cells[i & 63];
    return sum != 0;
}
";
    for source in [bounded, computes] {
        let (told, report) = check(source, &[]);
        assert!(told.starts_with("exit: 0"), "{told}");
        assert_eq!(report["findings"].as_array().unwrap().len(), 0);
    }
}

#[test]
fn what_is_not_known_to_hang_is_ended_and_said() {
    let source = "int main(void) {\n    for (volatile unsigned i = 0;; i++)\n        ;\n}\n";
    let (told, _) = check(source, &["--run-time", "2s"]);
    assert!(told.starts_with("exit: 5"), "{told}");
    assert!(told.contains("was still running after"), "{told}");
}

#[test]
fn who_waits_for_something_outside_is_not_waited_for() {
    let waits = [
        "char c; int s[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, s); read(s[0], &c, 1);",
        "char c; int s[2]; socketpair(AF_UNIX, SOCK_DGRAM, 0, s); \
         recvfrom(s[0], &c, 1, 0, 0, 0);",
        "long v; read(eventfd(0, 0), &v, 8);",
        "struct epoll_event e; epoll_wait(epoll_create1(0), &e, 1, -1);",
        "int s[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, s); \
         struct pollfd p = {s[0], POLLIN, 0}; poll(&p, 1, -1);",
        "struct sockaddr_un a = {AF_UNIX}; int s = socket(AF_UNIX, SOCK_STREAM, 0); \
         bind(s, (void *)&a, sizeof(sa_family_t)); listen(s, 1); accept(s, 0, 0);",
    ];
    for wait in waits {
        let source = format!(
            "#include <poll.h>\n#include <sys/epoll.h>\n#include <sys/eventfd.h>\n\
             #include <sys/socket.h>\n#include <sys/un.h>\n#include <unistd.h>\n\
             int main(void) {{\n    {wait}\n}}\n"
        );
        let (told, report) = check(&source, &["--watchdog", "1", "--orders", "0"]);
        assert!(
            told.contains("waits for something outside"),
            "{wait} {told}"
        );
        assert!(told.starts_with("exit: 5"), "{wait} {told}");
        assert!(told.contains("what it would have done later"), "{told}");
        assert_eq!(report["findings"].as_array().unwrap().len(), 0);
    }
}

/// A thread waits in such a loop for what nobody does.
fn waits_in_a_loop(pause: &str) -> String {
    format!(
        "#define _GNU_SOURCE\n#include <poll.h>\n#include <pthread.h>\n#include <sched.h>\n\
         #include <sys/select.h>\n#include <time.h>\n#include <unistd.h>\n\
         _Atomic int flag;\npthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
         pthread_cond_t cond = PTHREAD_COND_INITIALIZER;\n\
         static void *work(void *u) {{\n    long seen = 0;\n    struct timespec t = {{0, 1000}};\n\
         while (!flag) {{ {pause}; }}\n    return u;\n}}\n\
         int main(void) {{\n    pthread_t thread;\n    pthread_create(&thread, 0, work, 0);\n\
         pthread_join(thread, 0);\n}}\n"
    )
}

#[test]
fn threads_that_only_wait_in_loops_are_ended() {
    let pauses = [
        "clock_gettime(CLOCK_MONOTONIC, &t); seen += t.tv_nsec",
        "seen += time(0); sched_yield()",
        "nanosleep(&t, 0); seen++",
        "poll(0, 0, 1); clock_gettime(CLOCK_MONOTONIC, &t)",
        "pthread_mutex_lock(&lock); clock_gettime(CLOCK_REALTIME, &t); t.tv_nsec++; \
         pthread_cond_timedwait(&cond, &lock, &t); pthread_mutex_unlock(&lock)",
    ];
    for pause in pauses {
        let (told, report) = check(&waits_in_a_loop(pause), &[]);
        let is_ended = told.starts_with("exit: 5") && told.contains("whether it would ever go on");
        // Where nothing that varies goes into the loop it is known to hang.
        let hangs = told.starts_with("exit: 66") && !pause.contains("clock");
        assert!(is_ended || hangs, "{pause} {told}");
        let findings = report["findings"].as_array().unwrap();
        assert_eq!(findings.len(), usize::from(hangs), "{pause} {report:#}");
    }
}

#[test]
fn who_waits_for_time_to_pass_is_waited_for() {
    let sources = [
        // A second of the program's time.
        "#include <time.h>\nint main(void) {\n    struct timespec t, end;\n\
         clock_gettime(CLOCK_MONOTONIC, &end);\n    do clock_gettime(CLOCK_MONOTONIC, &t);\n\
         while ((t.tv_sec - end.tv_sec) * 1000 + (t.tv_nsec - end.tv_nsec) / 1000000 < 1000);\n}\n",
        // Ten minutes, in which time passes faster and faster.
        "#include <time.h>\nint main(void) {\n    time_t end = time(0) + 600;\n\
         while (time(0) < end);\n}\n",
        // Many sleeps, each of which brings it nearer.
        "#include <unistd.h>\nint left = 100000;\nint main(void) {\n\
         while (left-- > 0) usleep(10);\n}\n",
    ];
    for source in sources {
        let (told, _) = check(source, &[]);
        assert!(told.starts_with("exit: 0"), "{source} {told}");
    }
}

#[test]
fn what_calls_of_its_own_may_order_is_a_warning() {
    let source = "
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
int ends[2], handed;
static void *take(void *unused) {
    char c;
    syscall(SYS_read, ends[0], &c, 1);
    handed++;
    return unused;
}
int main(void) {
    pthread_t thread;
    pipe(ends);
    pthread_create(&thread, 0, take, 0);
    handed++;
    SENDS;
    pthread_join(thread, 0);
}
";
    // The C library's own function sends elsewhere than such a call receives.
    for sends in [
        "syscall(SYS_write, ends[1], \"\", 1)",
        "write(ends[1], \"\", 1)",
    ] {
        let (told, report) = check(&source.replace("SENDS", sends), &["--warnings"]);
        assert!(
            told.contains("the program makes the system call read by itself"),
            "{told}"
        );
        let findings = report["findings"].as_array().unwrap();
        let is_warning = |finding: &Value| finding["rung"] == "warning";
        assert!(findings.iter().all(is_warning), "{sends} {report:#}");
    }
}

/// What system calls in assembly may order is a warning, and no search claims to have seen all.
#[test]
fn system_calls_in_assembly_are_noticed() {
    let source = "
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
int ends[2], handed;
HOOKS static long call(long number, long a, long b, long c) {
    long result;
    __asm__ volatile(\"syscall\"
        : \"=a\"(result)
        : \"0\"(number), \"D\"(a), \"S\"(b), \"d\"(c)
        : \"rcx\", \"r11\", \"memory\");
    return result;
}
static void *take(void *unused) {
    char c;
    while (call(SYS_read, ends[0], (long)&c, 1) != 1)
        sched_yield();
    handed++;
    return unused;
}
int main(void) {
    pthread_t thread;
    pipe2(ends, O_NONBLOCK);
    pthread_create(&thread, 0, take, 0);
    handed++;
    call(SYS_write, ends[1], (long)\"\", 1);
    pthread_join(thread, 0);
}
";
    for hooks in ["", "__attribute__((noinline, no_sanitize(\"thread\")))"] {
        let source = source.replace("HOOKS", hooks);
        for seed in ["0", "1", "2"] {
            let (told, report) = check(&source, &["--warnings", "--seed", seed]);
            let findings = report["findings"].as_array().unwrap();
            let is_warning = |finding: &Value| finding["rung"] == "warning";
            assert!(findings.iter().all(is_warning), "{hooks} {report:#}");
            assert!(
                !told.contains("all orders that can be told apart"),
                "{told}"
            );
        }
    }
}

#[test]
fn who_takes_a_destroyed_mutex_is_told_so() {
    let source = "
#include <pthread.h>
int kept;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *late(void *unused) {
    pthread_mutex_lock(&lock);
    kept = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, late, 0);
    pthread_mutex_lock(&lock);
    kept = 0;
    pthread_mutex_unlock(&lock);
    pthread_mutex_destroy(&lock);
    pthread_join(thread, 0);
}
";
    let mut misused = 0;
    for seed in ["0", "1", "2", "3"] {
        let (told, report) = check(source, &["--seed", seed]);
        let findings = report["findings"].as_array().unwrap();
        assert!(!told.contains("unconfirmed     race"), "{told}");
        assert!(findings.iter().all(|one| one["kind"] == "failure"));
        let is_misuse = findings.len() == 1;
        assert_eq!(
            is_misuse,
            told.contains("taken after it had been destroyed: that fails with EINVAL, and")
                && told.starts_with("exit: 66")
        );
        // Other orders show it, too.
        assert!(is_misuse || told.starts_with("exit: 5"), "{told}");
        misused += usize::from(is_misuse);
    }
    assert!(misused > 0);
}

/// A thread spins for a lock whose owner waits for a child.
const SPINS_MEANWHILE: &str = r#"
use std::process::Command;
use std::sync::Mutex;
static LOCK: Mutex<()> = Mutex::new(());
fn work() {
    let _guard = loop {
        if let Ok(guard) = LOCK.try_lock() {
            break guard;
        }
        std::thread::yield_now();
    };
    let output = Command::new("sh").args(["-c", "sleep 0.3; echo hi"]).output().unwrap();
    assert!(output.stdout == b"hi\n");
}
fn main() {
    let threads = [(); 2].map(|()| std::thread::spawn(work));
    threads.map(|thread| thread.join().unwrap());
    println!("all done");
}
"#;

#[test]
fn who_waits_for_a_child_goes_on_though_others_spin() {
    let here = Sandbox::new();
    here.file("p.rs", SPINS_MEANWHILE);
    let told = here.told(&mut here.deadheat(["explore", "--search-time", "1s", "p.rs"]));
    assert!(told.contains("all done"), "{told}");
    assert!(!told.contains("was not closed"), "{told}");
}

/// What a thread does before it sends a signal to another process, or by a descriptor of this one.
const SENDS: [&str; 2] = [
    "
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
int value;
pid_t child;
static void *ends_it(void *unused) {
    value = 1;
    kill(child, SIGTERM);
    return unused;
}
int main(void) {
    pthread_t thread;
    int status;
    child = fork();
    if (child == 0)
        for (;;)
            pause();
    pthread_create(&thread, 0, ends_it, 0);
    waitpid(child, &status, 0);
    int seen = value;
    pthread_join(thread, 0);
    return seen != 1;
}
",
    "
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
int value;
sigset_t set;
static void *waits(void *unused) {
    int number;
    sigwait(&set, &number);
    value++;
    return unused;
}
int main(void) {
    pthread_t thread;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_create(&thread, 0, waits, 0);
    value = 1;
    int file = syscall(SYS_pidfd_open, getpid(), 0);
    syscall(SYS_pidfd_send_signal, file, SIGUSR1, 0, 0);
    pthread_join(thread, 0);
    return value != 2;
}
",
];

#[test]
fn what_was_done_before_a_signal_is_known_to_whoever_sees_what_comes_of_it() {
    for source in SENDS {
        for seed in ["0", "1", "2"] {
            let (told, report) = check(source, &["--warnings", "--seed", seed]);
            assert!(told.starts_with("exit: 0"), "{told}");
            assert_eq!(report["findings"].as_array().unwrap().len(), 0, "{told}");
        }
    }
}
