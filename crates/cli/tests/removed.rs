//! System V objects that are removed while threads wait for them, and before they do: the kernel tells them apart.

mod support;

use serde_json::Value;
use support::Sandbox;

/// A thread waits for what nobody sends, while the first one removes it. The two answers are two races with what is read there.
const REMOVED: &str = "
#include <errno.h>
#include <pthread.h>
#include <sys/msg.h>
#include <sys/sem.h>
static int id, answer;
struct letter { long kind; char text; };
static void *waits(void *unused) {
    int done = WAIT;
    int error = errno;
    if (done != -1)
        return unused;
    if (error == EIDRM)
        answer = 1; // while it waited
    if (error == EINVAL)
        answer = 2; // before
    return unused;
}
int main(void) {
    pthread_t thread;
    id = MAKE;
    pthread_create(&thread, 0, waits, 0);
    REMOVE;
    int seen = answer; // seen here
    pthread_join(thread, 0);
    return seen > 2;
}
";

const WAYS: [[&str; 4]; 4] = [
    [
        "semop",
        "semop(id, &(struct sembuf){0, -1, 0}, 1)",
        "semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT)",
        "semctl(id, 0, IPC_RMID)",
    ],
    [
        "semop of two",
        "semop(id, (struct sembuf[]){{0, 1, 0}, {1, -1, 0}}, 2)",
        "semget(IPC_PRIVATE, 2, 0600 | IPC_CREAT)",
        "semctl(id, 0, IPC_RMID)",
    ],
    [
        "msgrcv",
        "msgrcv(id, &(struct letter){0, 0}, 1, 0, 0)",
        "msgget(IPC_PRIVATE, 0600 | IPC_CREAT)",
        "msgctl(id, IPC_RMID, 0)",
    ],
    [
        "another msgrcv",
        "msgrcv(id, &(struct letter){0, 0}, 1, 7, MSG_NOERROR)",
        "msgget(IPC_PRIVATE, 0600 | IPC_CREAT)",
        "msgctl(id, IPC_RMID, 0)",
    ],
];

fn explored(program: &str) -> Value {
    let here = Sandbox::new();
    here.file("p.c", program);
    let ran = here
        .deadheat(["explore", "--format", "json", "-o", "report.json", "p.c"])
        .output()
        .expect("it starts");
    let report = std::fs::read_to_string(here.path().join("report.json")).unwrap_or_default();
    serde_json::from_str(&report)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&ran.stderr)))
}

fn line(program: &str, text: &str) -> u64 {
    1 + program
        .lines()
        .take_while(|line| !line.contains(text))
        .count() as u64
}

#[test]
fn searches_know_both_answers() {
    for [name, wait, make, remove] in WAYS {
        let program = REMOVED
            .replace("WAIT", wait)
            .replace("MAKE", make)
            .replace("REMOVE", remove);
        let report = explored(&program);
        let findings = report["findings"].as_array().expect("findings");
        for answer in ["while it waited", "// before"] {
            let [write, read] = [answer, "seen here"].map(|text| line(&program, text));
            let signature = format!("main p.c:{read} | waits p.c:{write}");
            let found = findings.iter().any(|finding| {
                finding["rung"] == "confirmed" && finding["signature"] == signature.as_str()
            });
            assert!(found, "{name}, {answer}: {report:#}");
        }
    }
}

/// Removal is how these threads are told to end, once both wait.
#[test]
fn whoever_waits_is_told_what_the_kernel_tells() {
    let program = "
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/msg.h>
#include <sys/sem.h>
static int set, queue;
struct letter { long kind; char text; };
static void *lowers(void *unused) {
    while (semop(set, &(struct sembuf){0, -1, 0}, 1) == 0)
        ;
    if (errno != EIDRM)
        abort();
    return unused;
}
static void *awaits_zero(void *unused) {
    while (semop(set, &(struct sembuf){1, 0, 0}, 1) == 0)
        ;
    if (errno != EIDRM)
        abort();
    return unused;
}
static void *receives(void *unused) {
    struct letter letter;
    while (msgrcv(queue, &letter, 1, 0, 0) >= 0)
        ;
    if (errno != EIDRM && errno != EINVAL)
        abort();
    return unused;
}
int main(void) {
    pthread_t one, two, three;
    set = semget(IPC_PRIVATE, 2, 0600 | IPC_CREAT);
    queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
    semop(set, &(struct sembuf){1, 1, 0}, 1);
    pthread_create(&one, 0, lowers, 0);
    pthread_create(&two, 0, awaits_zero, 0);
    pthread_create(&three, 0, receives, 0);
    while (semctl(set, 0, GETNCNT) != 1 || semctl(set, 1, GETZCNT) != 1)
        sched_yield();
    semctl(set, 0, IPC_RMID);
    msgctl(queue, IPC_RMID, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    pthread_join(three, 0);
    return 0;
}
";
    let here = Sandbox::new();
    here.file("p.c", program);
    for seed in ["0", "1", "2", "3"] {
        let told = here.told(&mut here.deadheat(["check", "--seed", seed, "--orders", "0", "p.c"]));
        assert!(told.starts_with("exit: 0"), "seed {seed}: {told}");
    }
}
