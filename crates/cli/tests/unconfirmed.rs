//! What a search concludes is found or listed: "all orders" is not said of what was dropped.

mod support;

use serde_json::Value;
use support::Sandbox;
use support::findings::of_kind;

/// What a command says and writes of a program.
fn run(command: &str, file: &str, source: &str, more: &[&str]) -> (String, Value) {
    let here = Sandbox::new();
    here.file(file, source);
    let options = [command, "--format", "json", "-o", "found.json"];
    let told = here.told(here.deadheat(options).args(more).arg(file));
    let report = std::fs::read_to_string(here.path().join("found.json")).unwrap();
    (told, serde_json::from_str(&report).unwrap())
}

/// A race of the search's copies, which may do less than the program: of a recorded run it is none.
const OF_COPIES: &str = r#"
#include <pthread.h>
#include <sys/prctl.h>
int shared;
static void *raise_it(void *unused) {
    if (prctl(PR_GET_SECCOMP) != 0)
        shared++;
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, raise_it, 0);
    pthread_create(&other, 0, raise_it, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
"#;

#[test]
fn a_race_that_does_not_show_again_is_listed() {
    let listed = serde_json::json!(["race at raise_it p.c:7 and raise_it p.c:7"]);
    let (told, report) = run("explore", "p.c", OF_COPIES, &[]);
    assert!(told.starts_with("exit: 5"), "{told}");
    assert_eq!(report["stats"]["exhausted"], false, "{report:#}");
    assert_eq!(report["stats"]["unconfirmed"], listed, "{report:#}");
    let (told, report) = run("check", "p.c", OF_COPIES, &[]);
    assert!(told.starts_with("exit: 5"), "{told}");
    let orders = &report["stats"]["orders"];
    assert_eq!(orders["exhausted"], false, "{report:#}");
    assert_eq!(orders["unconfirmed"], listed, "{report:#}");
}

/// A flag that orders nothing; two lines that call the same instruction of a library behind it.
const CALLED_TWICE: &str = r#"
#include <atomic>
#include <thread>
#include <utility>
int data;
std::atomic<int> flag;
int main() {
    std::thread writer([] {
        std::exchange(data, 1);
        flag.store(1, std::memory_order_relaxed);
    });
    std::thread reader([] {
        if (flag.load(std::memory_order_relaxed) == 1) {
            std::exchange(data, 2);
            std::exchange(data, 3);
        }
    });
    writer.join();
    reader.join();
}
"#;

#[test]
fn an_unordered_race_is_found_for_each_line_that_calls_a_library() {
    let (told, report) = run("explore", "p.cpp", CALLED_TWICE, &[]);
    assert!(told.starts_with("exit: 66"), "{told}");
    let mut lines: Vec<[u64; 2]> = of_kind(&report, "race")
        .iter()
        .map(|race| [0, 1].map(|side| race["accesses"][side]["line"].as_u64().unwrap()))
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, [[9, 14], [9, 15]], "{report:#}");
    assert_eq!(report["stats"]["exhausted"], true, "{report:#}");
}

/// Two threads take two locks the wrong way round, and the program ends in a wait of its own.
fn ends_in(declaration: &str, wait: &str) -> String {
    format!(
        r#"
#include <pthread.h>
#include <semaphore.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
{declaration}
static void *forth(void *u) {{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return u;
}}
static void *back(void *u) {{
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return u;
}}
int main(void) {{
    pthread_t one, other;
    pthread_create(&one, 0, forth, 0);
    pthread_create(&other, 0, back, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    {wait}
}}
"#
    )
}

#[test]
fn the_deadlock_that_a_run_ends_in_is_found_beside_another_one() {
    let waits = [
        ("sem_t never;", "sem_wait(&never);"),
        (
            "pthread_cond_t never = PTHREAD_COND_INITIALIZER;",
            "pthread_mutex_lock(&a); pthread_cond_wait(&never, &a);",
        ),
        (
            "pthread_once_t once; void again(void) { pthread_once(&once, again); }",
            "pthread_once(&once, again);",
        ),
    ];
    for (declaration, wait) in waits {
        let source = ends_in(declaration, wait);
        for command in [&["explore"][..], &["check", "--policy", "run-to-block"]] {
            let (told, report) = run(command[0], "p.c", &source, &command[1..]);
            assert!(told.starts_with("exit: 66"), "{told}");
            let all = of_kind(&report, "deadlock");
            let is_confirmed = |one: &&&Value| one["rung"] == "confirmed";
            assert_eq!(all.iter().filter(is_confirmed).count(), 2, "{report:#}");
        }
    }
}
