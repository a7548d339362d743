//! Calls that do not wait: they may find something or nothing, whoever is first, and a search knows both.

mod support;

use serde_json::Value;
use support::Sandbox;

/// A thread sends, and the first one looks, once and without waiting. `LOOK` is what it finds: 1 or something else.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <unistd.h>
static int ends[2], other;
struct letter { long kind; char text; };
static void *send_it(void *unused) {
    SEND
    return unused;
}
int main(void) {
    SETUP
    pthread_t thread;
    pthread_create(&thread, 0, send_it, 0);
    char byte[16];
    LOOK
    if (found FAILS 1) {
        CLEAN
        abort();
    }
    pthread_join(thread, 0);
    CLEAN
    return 0;
}
"#;

/// What is set up, how it is sent, how it is looked for.
const WAYS: [[&str; 4]; 11] = [
    [
        "read",
        "pipe2(ends, O_NONBLOCK);",
        r#"write(ends[1], "x", 1);"#,
        "int found = read(ends[0], byte, 1);",
    ],
    [
        "recv",
        "socketpair(AF_UNIX, SOCK_STREAM, 0, ends);",
        r#"write(ends[1], "x", 1);"#,
        "int found = recv(ends[0], byte, 1, MSG_DONTWAIT);",
    ],
    [
        "recvmsg",
        "socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends);",
        r#"write(ends[1], "x", 1);"#,
        "struct iovec piece = {byte, 1}; struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1}; int found = recvmsg(ends[0], &message, 0);",
    ],
    [
        "poll",
        "pipe(ends);",
        r#"write(ends[1], "x", 1);"#,
        "struct pollfd entry = {ends[0], POLLIN, 0}; int found = poll(&entry, 1, 0);",
    ],
    [
        "poll for a while",
        "pipe(ends);",
        r#"write(ends[1], "x", 1);"#,
        "struct pollfd entry = {ends[0], POLLIN, 0}; int found = poll(&entry, 1, 50);",
    ],
    [
        "select",
        "pipe(ends);",
        r#"write(ends[1], "x", 1);"#,
        "fd_set set; FD_ZERO(&set); FD_SET(ends[0], &set); struct timeval none = {0, 0}; int found = select(ends[0] + 1, &set, 0, 0, &none);",
    ],
    [
        "epoll_wait",
        "pipe(ends); other = epoll_create1(0); struct epoll_event event = {.events = EPOLLIN}; epoll_ctl(other, EPOLL_CTL_ADD, ends[0], &event);",
        r#"write(ends[1], "x", 1);"#,
        "int found = epoll_wait(other, &event, 1, 0);",
    ],
    [
        "eventfd",
        "other = eventfd(0, EFD_NONBLOCK);",
        "eventfd_write(other, 1);",
        "int found = read(other, byte, 8) == 8;",
    ],
    [
        "mq_receive",
        r#"struct mq_attr sizes = {.mq_maxmsg = 2, .mq_msgsize = 8}; other = mq_open("/deadheat-look", O_CREAT | O_RDWR | O_NONBLOCK, 0600, &sizes); mq_unlink("/deadheat-look");"#,
        r#"mq_send(other, "x", 1, 0);"#,
        "int found = mq_receive(other, byte, 8, 0);",
    ],
    [
        "msgrcv",
        "other = msgget(IPC_PRIVATE, 0600);",
        "struct letter letter = {1, 'x'}; msgsnd(other, &letter, 1, 0);",
        "struct letter got; int found = msgrcv(other, &got, 1, 0, IPC_NOWAIT);",
    ],
    [
        "semop",
        "other = semget(IPC_PRIVATE, 1, 0600);",
        "struct sembuf up = {0, 1, 0}; semop(other, &up, 1);",
        "struct sembuf down = {0, -1, IPC_NOWAIT}; int found = semop(other, &down, 1) == 0;",
    ],
];

/// What the system would keep of it.
fn clean(name: &str) -> &'static str {
    match name {
        "msgrcv" => "msgctl(other, IPC_RMID, 0);",
        "semop" => "semctl(other, 0, IPC_RMID);",
        _ => "",
    }
}

fn explored(program: &str) -> Value {
    let here = Sandbox::new();
    here.file("p.c", program);
    let mut command = here.deadheat(["explore", "--executions", "60", "--format", "json", "p.c"]);
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    })
}

#[test]
fn who_looks_finds_something_or_nothing() {
    for [name, setup, send, look] in WAYS {
        for fails in ["==", "!="] {
            let program = PROGRAM
                .replace("SETUP", setup)
                .replace("SEND", send)
                .replace("LOOK", look)
                .replace("CLEAN", clean(name))
                .replace("FAILS", fails);
            let report = explored(&program);
            let findings = report["findings"].as_array().unwrap();
            assert!(
                findings
                    .iter()
                    .any(|finding| finding["kind"] == "failure" && finding["rung"] == "confirmed"),
                "{name} {fails}: {report:#}"
            );
        }
    }
}

fn check(program: &str, name: &str) {
    let here = Sandbox::new();
    here.file("p.c", program);
    for seed in ["0", "1", "2"] {
        let told = here.told(&mut here.deadheat(["check", "--seed", seed, "--orders", "0", "p.c"]));
        assert!(told.starts_with("exit: 0"), "{name}, seed {seed}: {told}");
    }
}

/// No time passes for who does not wait, so an alarm far away does not ring.
#[test]
fn who_does_not_wait_lets_no_time_pass() {
    for (name, kind, flags) in [
        ("flag", "SOCK_STREAM | SOCK_NONBLOCK", "0"),
        ("call", "SOCK_STREAM", "MSG_DONTWAIT"),
    ] {
        let program = format!(
            "
#define _GNU_SOURCE
#include <sys/socket.h>
#include <unistd.h>
int main(void) {{
    int ends[2];
    char byte;
    socketpair(AF_UNIX, {kind}, 0, ends);
    alarm(60);
    return recv(ends[0], &byte, 1, {flags}) != -1;
}}
"
        );
        check(&program, name);
    }
}

/// Who waits for the one that looks is not waited for.
#[test]
fn who_does_not_wait_goes_on_though_others_can_run() {
    let program = "
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static _Atomic int looked;
static void *spin(void *unused) {
    while (!atomic_load(&looked))
        ;
    return unused;
}
int main(void) {
    int ends[2];
    char byte;
    pthread_t thread;
    pipe2(ends, O_NONBLOCK);
    pthread_create(&thread, 0, spin, 0);
    read(ends[0], &byte, 1);
    atomic_store(&looked, 1);
    pthread_join(thread, 0);
    return 0;
}
";
    check(program, "spin");
    let report = explored(program);
    assert_eq!(report["findings"], serde_json::json!([]), "{report:#}");
    assert_eq!(report["stats"]["exhausted"], true, "{report:#}");
}

/// Another process ends the loop: nothing hangs.
#[test]
fn a_loop_that_a_child_ends_is_no_hang() {
    let program = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void *ask_child(void *unused) {
    atomic_int *is = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        atomic_store(is, 1);
        _exit(0);
    }
    while (!atomic_load(is))
        sched_yield();
    waitpid(child, 0, 0);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, ask_child, 0);
    pthread_join(thread, 0);
    puts("done");
    return 0;
}
"#;
    check(program, "child");
    let here = Sandbox::new();
    here.file("p.c", program);
    let told = here.told(&mut here.deadheat(["explore", "--search-time", "5s", "p.c"]));
    assert!(told.contains("done"), "{told}");
    assert!(!told.contains("would not have ended"), "{told}");
}

/// A time limit passes though another thread goes round in a loop until then.
#[test]
fn time_limits_pass_though_others_can_run() {
    for wait in ["read(ends[0], &byte, 1) != -1", "poll(&entry, 1, 20) != 0"] {
        check(&LIMITED.replace("WAIT", wait), wait);
    }
}

const LIMITED: &str = "
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
static _Atomic int waited;
static void *wait_for_it(void *unused) {
    while (!atomic_load(&waited))
        sched_yield();
    return unused;
}
int main(void) {
    int ends[2];
    char byte;
    struct timeval time = {0, 20000};
    pthread_t thread;
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    pthread_create(&thread, 0, wait_for_it, 0);
    struct pollfd entry = {ends[0], POLLIN, 0};
    int failed = WAIT;
    atomic_store(&waited, 1);
    pthread_join(thread, 0);
    return failed;
}
";

/// Loops that change memory and yield take turns, and so do those they wait for.
#[test]
fn loops_that_change_memory_and_yield_keep_nobody_away() {
    let program = "
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static _Atomic int done[2], busy[2];
static void *finish(void *number) {
    atomic_store(&done[(long)number], 1);
    return 0;
}
static void *loop(void *number) {
    pthread_t thread;
    long own = (long)number;
    pthread_create(&thread, 0, finish, number);
    for (int is = 0; !is; sched_yield()) {
        atomic_fetch_add(&busy[own], 1);
        is = atomic_load(&done[own]);
        atomic_fetch_sub(&busy[own], 1);
    }
    pthread_join(thread, 0);
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, loop, (void *)1);
    loop(0);
    pthread_join(thread, 0);
    return 0;
}
";
    let report = explored(program);
    let cuts = report["stats"]["cuts"].to_string();
    assert!(!cuts.contains("too long"), "{cuts}");
}

/// One thread waits for a child by memory that they share, and another one in the kernel meanwhile.
#[test]
fn a_child_is_heard_while_a_thread_waits_in_the_kernel() {
    let program = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <unistd.h>
static int turn;
static void change(int by) {
    struct sembuf one = {0, by, 0};
    semop(turn, &one, 1);
}
static void *ask_child(void *unused) {
    change(-1);
    sem_t *answer = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(answer, 1, 0);
    pid_t child = fork();
    if (child == 0) {
        sem_post(answer);
        _exit(0);
    }
    sem_wait(answer);
    waitpid(child, 0, 0);
    change(1);
    return unused;
}
static void *take_turn(void *unused) {
    change(-1);
    change(1);
    return unused;
}
int main(void) {
    pthread_t one, other;
    turn = semget(IPC_PRIVATE, 1, 0600);
    semctl(turn, 0, SETVAL, 1);
    pthread_create(&one, 0, ask_child, 0);
    pthread_create(&other, 0, take_turn, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    semctl(turn, 0, IPC_RMID);
    puts("done");
    return 0;
}
"#;
    let here = Sandbox::new();
    here.file("p.c", program);
    let told = here.told(&mut here.deadheat(["explore", "--search-time", "5s", "p.c"]));
    assert!(
        told.contains("done") && told.contains("found           nothing"),
        "{told}"
    );
}

/// A call that does not wait is a place at which a thread ends that was cancelled.
#[test]
fn whoever_looks_over_and_over_can_be_cancelled() {
    let program = "
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static int ends[2];
static void *look(void *unused) {
    char byte;
    for (;;)
        read(ends[0], &byte, 1);
    return unused;
}
int main(void) {
    pthread_t thread;
    void *result;
    pipe2(ends, O_NONBLOCK);
    pthread_create(&thread, 0, look, 0);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result != PTHREAD_CANCELED;
}
";
    check(program, "cancelled");
}

/// Every so many steps whoever waits at a descriptor looks again. Who finds nothing takes no step, and must not be told
/// to look again for that: by priorities, nobody else would ever go on.
#[test]
fn who_looks_again_and_finds_nothing_lets_others_go() {
    let program = "
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
#define ROUNDS 4000
static int there[2], back[2];
static void awaited(int fd) {
    char byte;
    struct pollfd entry = {fd, POLLIN, 0};
    poll(&entry, 1, -1);
    read(fd, &byte, 1);
}
static void *answers(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        awaited(there[0]);
        write(back[1], \"y\", 1);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    pipe(there);
    pipe(back);
    pthread_create(&thread, 0, answers, 0);
    for (int round = 0; round < ROUNDS; round++) {
        write(there[1], \"x\", 1);
        awaited(back[0]);
    }
    pthread_join(thread, 0);
    return 0;
}
";
    let here = Sandbox::new();
    here.file("p.c", program);
    let built = here.deadheat(["cc", "-g", "p.c", "-o", "p"]).status();
    assert!(built.unwrap().success());
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let told =
            here.told(&mut here.deadheat(["record", "--seed", seed, "--policy", "pct", "./p"]));
        assert!(told.starts_with("exit: 0"), "seed {seed}: {told}");
    }
}
