//! What a program gets from outside is kept with its recording, and is there again when it runs again.

mod support;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use deadheat_trace::file::TraceFile;
use support::{Sandbox, printed, succeed};

/// Prints its arguments, a variable, its folder, where its stack is, and all of its input.
const SURROUNDINGS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char folder[4096], line[4096];
    for (int i = 0; i < argc; i++) printf("arg %s\n", argv[i]);
    const char *set = getenv("SET");
    printf("set %s\nfolder %s\n", set ? set : "(null)", getcwd(folder, sizeof folder));
    printf("stack %p\n", (void *)&argc);
    while (fgets(line, sizeof line, stdin)) printf("in %s", line);
    return 0;
}
"#;

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

fn info(here: &Sandbox, number: u32) -> String {
    std::fs::read_to_string(beside(here, number, "info.json")).unwrap()
}

/// What the program of a recording prints when it runs again, with another schedule and from elsewhere.
fn again(here: &Sandbox, recording: &str) -> String {
    let mut command = here.deadheat(["record", "--again", recording, "--seed", "99"]);
    let store = here.path().join(".deadheat");
    command
        .env("DEADHEAT_STORE", store)
        .env("SET", "something else")
        .current_dir("/")
        .stdin(Stdio::null());
    String::from_utf8_lossy(&succeed(&mut command).stdout).into_owned()
}

/// Runs a command with this text coming through a pipe.
fn fed(command: &mut Command, text: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = stdin.write_all(text); // the program may not read it all
        });
        child.wait_with_output().unwrap()
    })
}

#[test]
fn arguments_variables_folder_and_a_pipe_come_back() {
    let here = with_program(SURROUNDINGS);
    let mut command = here.deadheat(["record", "--serial", "--", "./prog", "a b"]);
    command
        .arg(std::ffi::OsStr::from_bytes(b"\xFF="))
        .arg("")
        .env("SET", std::ffi::OsStr::from_bytes(b"x=\xFE\ny"));
    let first = fed(&mut command, b"one\ntwo");
    assert!(first.status.success(), "{first:?}");
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let first = shown(&first.stdout);
    assert!(first.ends_with("in one\nin two"), "{first}");
    assert!(info(&here, 1).contains(r#""stdin": "pipe""#));

    let mut command = here.deadheat(["record", "--again", "1", "--seed", "99"]);
    let store = here.path().join(".deadheat");
    command.env("DEADHEAT_STORE", store).current_dir("/");
    let second = succeed(command.env("SET", "else").stdin(Stdio::null()));
    assert_eq!(shown(&second.stdout), first, "addresses and all");
    assert_eq!(again(&here, "2"), first, "and again");
}

#[test]
fn what_may_hold_secrets_is_for_its_owner_only() {
    let here = with_program(SURROUNDINGS);
    let output = fed(&mut here.deadheat(["record", "--", "./prog"]), b"secret");
    assert!(output.status.success(), "{output:?}");
    for what in ["trace.dht.invocation", "trace.dht.stdin"] {
        let data = beside(&here, 1, what).metadata().unwrap();
        assert_eq!(data.permissions().mode() & 0o777, 0o600, "{what}");
    }
}

#[test]
fn a_file_is_kept_from_where_it_stands() {
    let here = with_program(SURROUNDINGS);
    let path = here.file("input", "skipped\nread\n");
    let mut input = File::open(&path).unwrap();
    input.seek(SeekFrom::Start(8)).unwrap();
    let mut command = here.deadheat(["record", "-o", "run.dht", "--serial", "--", "./prog"]);
    let first = printed(command.stdin(input));
    assert!(first.ends_with("\nin read\n"), "{first}");
    std::fs::write(&path, "changed").unwrap();
    let kept = std::fs::read(here.path().join("run.dht.stdin")).unwrap();
    assert_eq!(kept, b"read\n");
    let trace = here.path().join("run.dht").display().to_string();
    assert_eq!(again(&here, &trace), first);

    // A file of the same name that is there from before is no hindrance.
    let input = File::open(&path).unwrap();
    let mut command = here.deadheat(["record", "-o", "run.dht", "--serial", "--", "./prog"]);
    assert!(printed(command.stdin(input)).ends_with("in changed"));
    assert_eq!(again(&here, &trace).lines().last(), Some("in changed"));
}

#[test]
fn nothing_is_nothing_again() {
    let here = with_program(SURROUNDINGS);
    let mut command = here.deadheat(["record", "--serial", "--", "./prog"]);
    let first = printed(command.stdin(Stdio::null()));
    assert!(!first.contains("\nin "), "{first}");
    assert!(info(&here, 1).contains(r#""stdin": "nothing""#));
    assert!(!beside(&here, 1, "trace.dht.stdin").exists());
    let mut command = here.deadheat(["record", "--again", "1"]);
    let second = fed(&mut command, b"not for the program\n");
    assert_eq!(String::from_utf8(second.stdout).unwrap(), first);
}

#[test]
fn a_terminal_is_left_alone_and_that_is_said() {
    let here = with_program(
        "#include <stdio.h>\n#include <unistd.h>\n\
         int main(void) { printf(\"%d\\n\", isatty(0)); }",
    );
    let (mut master, mut slave) = (0, 0);
    // SAFETY: both numbers are written to; nothing else is asked for.
    let opened = unsafe {
        use std::ptr::null_mut;
        libc::openpty(&mut master, &mut slave, null_mut(), null_mut(), null_mut())
    };
    assert_eq!(opened, 0);
    // SAFETY: just opened, and nobody else's.
    let (_master, slave) = unsafe {
        use std::os::fd::{FromRawFd, OwnedFd};
        (OwnedFd::from_raw_fd(master), OwnedFd::from_raw_fd(slave))
    };
    let mut command = here.deadheat(["record", "--", "./prog"]);
    assert_eq!(printed(command.stdin(slave)), "1\n");
    assert!(info(&here, 1).contains(r#""stdin": "terminal""#));
    assert!(!beside(&here, 1, "trace.dht.stdin").exists());
}

#[test]
fn a_large_pipe_is_streamed() {
    let here = with_program(
        "#include <stdio.h>\n#include <unistd.h>\n\
         static char all[1 << 20];\n\
         int main(void) { long n = 0, sum = 0, got;\n\
         while ((got = read(0, all, sizeof all)) > 0) { n += got; sum = sum * 31 + all[got - 1]; }\n\
         printf(\"%ld\\n\", n); return got < 0; }",
    );
    let text: Vec<u8> = (0..5_000_000u32).flat_map(u32::to_le_bytes).collect();
    let mut command = here.deadheat(["record", "--serial", "--", "./prog"]);
    let first = fed(&mut command, &text);
    assert_eq!(String::from_utf8_lossy(&first.stdout), "20000000\n");
    assert!(std::fs::read(beside(&here, 1, "trace.dht.stdin")).unwrap() == text);
    assert_eq!(again(&here, "1"), "20000000\n");
}

#[test]
fn a_program_that_does_not_read_ends_as_ever() {
    // The other end stays open; nothing comes, or more than fits.
    let here = with_program("int main(void) { return 0; }");
    for text in [&b""[..], &[b'x'; 1 << 20]] {
        let mut child = here
            .deadheat(["record", "--", "./prog"])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let open = std::thread::scope(|scope| {
            let feeding = scope.spawn(move || {
                let _ = stdin.write_all(text);
                stdin
            });
            assert!(child.wait().unwrap().success());
            feeding.join().unwrap()
        });
        drop(open);
    }
}

#[test]
fn a_program_that_reads_as_it_comes_is_answered_at_once() {
    // A conversation: each line is written when the answer to the one before has come.
    let here = with_program(
        "#include <stdio.h>\nint main(void) { char line[99];\n\
         while (fgets(line, sizeof line, stdin)) { printf(\"got %s\", line); fflush(stdout); } }",
    );
    let mut child = here
        .deadheat(["record", "--serial", "--", "./prog"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for line in ["a\n", "b\n", "c\n"] {
        to.write_all(line.as_bytes()).unwrap();
        let mut answer = [0; 6];
        from.read_exact(&mut answer).unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), format!("got {line}"));
    }
    drop(to);
    assert!(child.wait().unwrap().success());
    assert_eq!(again(&here, "1"), "got a\ngot b\ngot c\n");
}

#[test]
fn a_source_file_that_was_checked_runs_again() {
    let here = Sandbox::new();
    here.file("prog.c", SURROUNDINGS);
    let first = fed(&mut here.deadheat(["check", "prog.c", "x"]), b"one\n");
    let first = String::from_utf8_lossy(&first.stdout).into_owned();
    let second = again(&here, "1");
    assert!(second.contains("\narg x\n"), "{second}");
    assert!(first.starts_with(&second), "{first}\n{second}");
}

#[test]
fn a_program_that_was_built_anew_is_refused() {
    let here = with_program(SURROUNDINGS);
    succeed(&mut here.deadheat(["record", "--serial", "--", "./prog"]));
    here.file("prog.c", &SURROUNDINGS.replace("in %s", "input %s"));
    succeed(&mut here.deadheat(["cc", "-pthread", "prog.c", "-o", "prog"]));
    let told = here.told(&mut here.deadheat(["record", "--again", "1"]));
    assert!(told.starts_with("exit: 3\n"), "{told}");
    assert!(
        told.contains("was built anew since it was recorded"),
        "{told}"
    );

    std::fs::remove_file(here.path().join("prog")).unwrap();
    let told = here.told(&mut here.deadheat(["record", "--again", "1"]));
    assert!(told.starts_with("exit: 3\n"), "{told}");
    std::fs::remove_file(beside(&here, 1, "trace.dht.invocation")).unwrap();
    let told = here.told(&mut here.deadheat(["record", "--again", "1"]));
    assert!(told.starts_with("exit: 3\n"), "{told}");
    assert!(told.contains("record it again"), "{told}");
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
