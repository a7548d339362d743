//! What threads get from the system is kept with a recording, and is the same when the program runs again in
//! another schedule.

mod support;

use std::path::PathBuf;

use deadheat_trace::file::TraceFile;
use support::{Sandbox, printed, succeed};

fn with_program(source: &str) -> Sandbox {
    let here = Sandbox::new();
    here.file("prog.c", source);
    succeed(&mut here.deadheat(["cc", "-pthread", "prog.c", "-o", "prog"]));
    here
}

fn beside(here: &Sandbox, number: u32, what: &str) -> PathBuf {
    let name = format!(".deadheat/recordings/{number:06}/{what}");
    here.path().join(name)
}

/// Two threads, each of which creates another, get from the system all that there is; what each got is
/// printed in the end, in the same order whoever was first.
const SYSTEM: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
enum { ROUNDS = 5, PLACES = 32 };
static long got[4][ROUNDS][PLACES];
static void get(long *at) {
    struct timespec spec;
    struct timeval val;
    struct tms used;
    struct rusage usage;
    clock_gettime(CLOCK_MONOTONIC, &spec), *at++ = spec.tv_sec, *at++ = spec.tv_nsec;
    clock_gettime(CLOCK_REALTIME, &spec), *at++ = spec.tv_sec, *at++ = spec.tv_nsec;
    timespec_get(&spec, TIME_UTC), *at++ = spec.tv_sec, *at++ = spec.tv_nsec;
    gettimeofday(&val, 0), *at++ = val.tv_sec, *at++ = val.tv_usec;
    *at++ = time(0);
    *at++ = clock();
    *at++ = times(&used), *at++ = used.tms_utime;
    getrusage(RUSAGE_SELF, &usage), *at++ = usage.ru_utime.tv_usec, *at++ = usage.ru_maxrss;
    *at++ = getpid(), *at++ = getppid(), *at++ = gettid();
    *at++ = syscall(SYS_getpid), *at++ = syscall(SYS_getppid), *at++ = syscall(SYS_gettid);
    *at++ = sched_getcpu();
    *at++ = rand(), *at++ = random(), *at++ = lrand48(), *at++ = mrand48(), *at++ = drand48() * 1e9;
    getrandom(at++, sizeof *at, 0), getentropy(at++, sizeof *at);
    syscall(SYS_getrandom, at++, sizeof *at, 0);
}
static void *work(void *arg) {
    long me = (long)arg;
    pthread_t child;
    for (int i = 0; i < ROUNDS; i++) {
        get(got[me][i]);
        if (i == 1 && me < 2) pthread_create(&child, 0, work, (void *)(me + 2));
    }
    if (me < 2) pthread_join(child, 0);
    return 0;
}
int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    for (int t = 0; t < 4; t++)
        for (int r = 0; r < ROUNDS; r++)
            for (int p = 0; p < PLACES; p++)
                printf("%ld%c", got[t][r][p], p + 1 < PLACES ? ' ' : '\n');
    return 0;
}
"#;

/// Records with a seed; what the program prints.
fn recorded(here: &Sandbox, seed: &str, options: &str) -> String {
    let mut command = here.deadheat(["record", "--seed", seed, "--", "./prog"]);
    printed(command.env("DEADHEAT_OPTIONS", options))
}

/// The columns of [`SYSTEM`]'s random numbers that are drawn from the system.
fn random_numbers(printed: &str) -> Vec<Vec<&str>> {
    let lines = printed.lines();
    lines
        .map(|line| line.split(' ').skip(26).take(3).collect())
        .collect()
}

#[test]
fn threads_get_the_same_in_another_schedule() {
    let here = with_program(SYSTEM);
    for options in ["", "clock=real:random=real", "threads=real"] {
        let first = recorded(&here, "1", options);
        assert_ne!(first, recorded(&here, "2", options), "another schedule");
        let number = std::fs::read_dir(here.path().join(".deadheat/recordings"));
        let number = number.unwrap().count() - 1;
        for seed in ["2", "3", "4", "5"] {
            let again = ["record", "--again", &number.to_string(), "--seed", seed];
            let output = succeed(&mut here.deadheat(again));
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(!told.contains("other values"), "{told}");
            let second = String::from_utf8_lossy(&output.stdout);
            assert_eq!(second, first, "{options:?}, seed {seed}");
        }
        let again = ["record", "--again", "latest", "--seed", "6"];
        let third = printed(&mut here.deadheat(again));
        assert_eq!(third, first, "{options:?}, of a run that was one again");
    }
}

#[test]
fn random_numbers_follow_from_the_seed_and_the_thread() {
    // Without any file: the same in every schedule.
    let here = with_program(SYSTEM);
    let of_policy = |policy: &str| {
        let args = ["record", "--seed", "7", "--policy", policy, "--", "./prog"];
        printed(&mut here.deadheat(args))
    };
    let (one, other) = (of_policy("random"), of_policy("round-robin"));
    assert_ne!(one, other, "the schedules differ");
    let drawn = random_numbers(&one);
    assert_eq!(drawn, random_numbers(&other));
    let all: std::collections::BTreeSet<_> = drawn.iter().flatten().collect();
    assert_eq!(all.len(), 4 * 5 * 3, "each number once");
    assert_ne!(drawn, random_numbers(&recorded(&here, "8", "")));
}

#[test]
fn a_time_to_wait_for_is_as_far_away_as_it_was() {
    // What the thread saw is ten days later than now; it waits for a second from there, and no longer: time
    // that has passed meanwhile is seen by the other thread.
    let here = with_program(
        r#"
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static long now(void) { struct timespec time; clock_gettime(CLOCK_REALTIME, &time); return time.tv_sec; }
static void *wait(void *arg) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&lock);
    pthread_cond_timedwait(&condition, &lock, &until);
    pthread_mutex_unlock(&lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, 0);
    return arg;
}
int main(int argc, char **argv) {
    pthread_t thread;
    pthread_create(&thread, 0, wait, 0);
    pthread_join(thread, 0);
    if (argc > 1) printf("%ld\n", now());
    return 0;
}
"#,
    );
    let late = "mode=serial:epoch=1800864000";
    let mut command = here.deadheat(["record", "--serial", "--", "./prog"]);
    succeed(command.env("DEADHEAT_OPTIONS", late));
    let trace = TraceFile::open(beside(&here, 1, "trace.dht")).unwrap();
    std::fs::write(here.path().join("inputs"), trace.inputs().to_bytes()).unwrap();
    let mut command = here.command(here.path().join("prog"));
    command
        .arg("print")
        .env("DEADHEAT_OPTIONS", "mode=serial")
        .env("DEADHEAT_TRACE", here.path().join("again.dht"))
        .env("DEADHEAT_INPUTS", here.path().join("inputs"));
    assert_eq!(printed(&mut command), "1800000002\n");
}

#[test]
fn where_a_program_asks_for_something_else_it_gets_what_is_true() {
    let here = with_program(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n#include <unistd.h>\n\
         int main(void) { int other = getenv(\"OTHER\") != 0;\n\
         printf(\"%d\\n\", other ? (int)time(0) : getpid()); printf(\"%d\\n\", getpid());\n\
         if (other) printf(\"%d\\n\", getppid() > 0); }",
    );
    let first = recorded(&here, "1", "");
    let told: Vec<&str> = first.lines().collect();
    assert_eq!(told[0], told[1]);
    succeed(&mut here.deadheat(["record", "--again", "1"]));
    let mut command = here.command(here.path().join("prog"));
    command
        .env("OTHER", "1")
        .env("DEADHEAT_OPTIONS", "mode=serial")
        .env("DEADHEAT_TRACE", here.path().join("other.dht"))
        .env("DEADHEAT_INPUTS", beside(&here, 1, "trace.dht.inputs"));
    let other = printed(&mut command);
    let other: Vec<&str> = other.lines().collect();
    assert!(
        other[0].starts_with("18000000"),
        "the scheduler's time: {other:?}"
    );
    assert_eq!(other[1..], [told[1], "1"], "the second is as recorded");
    let file = TraceFile::open(here.path().join("other.dht")).unwrap();
    let notes = &file.tables().notes;
    assert!(
        notes.iter().any(|note| note.contains("other values")),
        "{notes:?}"
    );
}

#[test]
fn numbers_of_processes_mean_whom_they_mean_now() {
    // With all its signals and children the program ends well: recorded numbers reach the real processes.
    let here = with_program(
        r#"
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t signals;
static void count(int signal) { (void)signal; signals++; }
static int ends(int how) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) { for (;;) pause(); }
    printf("%d %d\n", getpid(), child);
    if (kill(child, 0) || kill(child, SIGKILL)) return 1;
    if (how == 0 && waitpid(child, &status, 0) != child) return 2;
    if (how == 1 && wait(&status) != child) return 3;
    if (how == 2 && wait4(child, &status, 0, 0) != child) return 4;
    siginfo_t info;
    if (how == 3 && (waitid(P_PID, child, &info, WEXITED) || info.si_pid != child)) return 5;
    return how < 3 && !WIFSIGNALED(status) ? 6 : 0;
}
int main(void) {
    signal(SIGUSR1, count);
    kill(getpid(), SIGUSR1);
    tgkill(getpid(), gettid(), SIGUSR1);
    syscall(SYS_kill, getpid(), SIGUSR1);
    sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1});
    if (signals != 4) return 10 + signals;
    for (int how = 0; how < 4; how++) { int wrong = ends(how); if (wrong) return wrong; }
    return 0;
}
"#,
    );
    for threads in ["green", "real"] {
        let args = ["record", "--serial", "--exit-code-from-program"];
        let mut command = here.deadheat(args);
        let first = printed(command.args(["--threads", threads, "--", "./prog"]));
        let args = ["record", "--exit-code-from-program", "--again", "latest"];
        let second = printed(&mut here.deadheat(args));
        assert_eq!(second, first, "{threads}");
    }
}

#[test]
fn files_that_make_no_sense_are_said_and_not_used() {
    let here = with_program(SYSTEM);
    let first = recorded(&here, "1", "");
    for (contents, what) in [("", "empty"), ("DHINPUTS and more", "damaged")] {
        here.file("inputs", contents);
        let mut command = here.deadheat(["record", "--seed", "1", "--", "./prog"]);
        let output = succeed(command.env("DEADHEAT_INPUTS", here.path().join("inputs")));
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            told.contains("DEADHEAT_INPUTS cannot be read"),
            "{what}: {told}"
        );
        let random = |text: &str| format!("{:?}", random_numbers(text));
        let second = String::from_utf8_lossy(&output.stdout);
        assert_eq!(random(&second), random(&first), "{what}");
    }
}

/// How often the loops of both threads go around depends on time, random numbers, a process's number and the
/// standard input.
const RACE: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
static int shared, given;
static volatile int rounds_of_one, rounds_of_other;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned got(void) {
    struct timespec now;
    unsigned drawn;
    clock_gettime(CLOCK_MONOTONIC, &now);
    getrandom(&drawn, sizeof drawn, 0);
    return now.tv_nsec / 1000 + drawn + rand() + getpid() + given;
}
static void *one(void *arg) {
    for (unsigned i = got() % 200; i > 0; i--) rounds_of_one++;
    shared = 1;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return arg;
}
static void *other(void *arg) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    for (unsigned i = got() % 200; i > 0; i--) rounds_of_other++;
    if (shared) puts("set");
    return arg;
}
int main(void) {
    char line[100];
    pthread_t threads[2];
    while (fgets(line, sizeof line, stdin)) given += atoi(line);
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, other, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
"#;

#[test]
fn a_race_behind_inputs_is_confirmed_and_replayed() {
    let here = Sandbox::new();
    here.file("race.c", RACE);
    let input = here.file("input", "5\n200\n");
    let mut finding = String::new();
    for seed in ["1", "3"] {
        let mut command = here.deadheat(["check", "--seed", seed, "race.c"]);
        command.stdin(std::fs::File::open(&input).unwrap());
        let told = here.told(&mut command);
        assert!(told.starts_with("exit: 66\n"), "{told}");
        assert!(told.contains("1 confirmed"), "seed {seed}: {told}");
        let replay = told.split("deadheat replay ").nth(1);
        finding = replay
            .unwrap()
            .split_whitespace()
            .next()
            .unwrap()
            .to_owned();
    }
    let replay = || here.told(&mut here.deadheat(["replay", &finding]));
    for _ in 0..3 {
        let told = replay();
        assert!(told.starts_with("exit: 66\n"), "{told}");
    }
    // Without its inputs the program goes another way, and that is noticed.
    let mut nothing = deadheat_wire::inputs::MAGIC.to_vec();
    let version = u64::from(deadheat_wire::inputs::VERSION);
    for word in [version, 99, 0] {
        nothing.extend(word.to_le_bytes());
    }
    std::fs::write(beside(&here, 2, "trace.dht.inputs"), nothing).unwrap();
    let told = replay();
    assert!(told.starts_with("exit: 4\n"), "{told}");
}
