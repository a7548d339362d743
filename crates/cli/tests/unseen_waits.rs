//! Programs whose threads wait for each other in calls that nobody intercepts: libgomp's, and the program's own. They
//! end soon, and nothing that such waits may order is called proven.

mod support;

use serde_json::Value;
use support::Sandbox;

/// What `check` says and writes. Ten seconds end a program that does not end: it would say that it was still running.
fn check(source: &str, options: &[&str]) -> (String, Value) {
    let here = Sandbox::new();
    here.file("p.c", source);
    let mut command = here.deadheat(["check", "--format", "json", "-o", "found.json"]);
    command
        .args(["--warnings", "--run-time", "10s"])
        .args(options)
        .arg("p.c");
    let told = here.told(&mut command);
    assert!(!told.contains("still running"), "{told}");
    let report = std::fs::read_to_string(here.path().join("found.json")).unwrap();
    (told, serde_json::from_str(&report).unwrap())
}

/// Nothing above a warning, and that is not called the whole truth.
fn only_warnings(told: &str, report: &Value) {
    assert!(told.starts_with("exit: 5"), "{told}");
    for finding in report["findings"].as_array().unwrap() {
        assert_eq!(finding["rung"], "warning", "{finding:#}");
    }
}

fn many_regions(body: &str) -> String {
    format!(
        "
#include <omp.h>
#include <stdio.h>
int main(void) {{
    static int items[64];
    int total = 0;
    for (int round = 0; round < 40; round++) {{
        #pragma omp parallel for num_threads(4) schedule(dynamic, 8)
        for (int i = 0; i < 64; i++)
            items[i] += round;
        #pragma omp parallel num_threads(3)
        {{
            {body}
            total++;
            #pragma omp barrier
            #pragma omp single
            items[0] += total;
        }}
    }}
    printf(\"total %d\\n\", total);
}}
"
    )
}

#[test]
fn a_program_with_openmp_ends_and_has_no_proven_race() {
    let source = many_regions("#pragma omp critical");
    let (told, report) = check(&source, &["--cflags", "-fopenmp"]);
    only_warnings(&told, &report);
    assert!(told.contains("total 120"), "{told}");
}

#[test]
fn a_race_with_openmp_is_a_warning_that_says_why() {
    let (told, report) = check(&many_regions(""), &["--cflags", "-fopenmp"]);
    only_warnings(&told, &report);
    let races = report["findings"].as_array().unwrap();
    assert!(!races.is_empty(), "{report:#}");
    for race in races {
        let reasons = race["reasons"].to_string();
        assert!(reasons.contains("OpenMP by libgomp"), "{race:#}");
    }
}

#[test]
fn locks_of_openmp_in_a_ring_end_the_run() {
    let source = "
#include <omp.h>
int main(void) {
    omp_lock_t locks[2];
    omp_init_lock(&locks[0]);
    omp_init_lock(&locks[1]);
    #pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
        omp_set_lock(&locks[me]);
        #pragma omp barrier
        omp_set_lock(&locks[1 - me]);
    }
}
";
    let (told, report) = check(source, &["--cflags", "-fopenmp"]);
    only_warnings(&told, &report);
    assert!(told.contains("waits for something outside"), "{told}");
}

#[test]
fn a_wait_in_assembly_is_overtaken() {
    let source = r#"
#include <pthread.h>
#include <stdatomic.h>
_Atomic int word;
int data;
static long futex(int operation, int value) {
    long result;
    register long limit __asm__("r10") = 0;
    __asm__ volatile("syscall" : "=a"(result) : "a"(202L), "D"(&word), "S"((long)operation), "d"((long)value), "r"(limit)
                     : "rcx", "r11", "memory");
    return result;
}
static void *waiter(void *unused) {
    while (!atomic_load(&word))
        futex(0, 0);
    data++;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, waiter, 0);
    data = 1;
    atomic_store(&word, 1);
    futex(1, 1);
    pthread_join(thread, 0);
    return data - 2;
}
"#;
    for seed in ["1", "2", "3", "4"] {
        let (told, report) = check(source, &["--seed", seed, "--orders", "0"]);
        only_warnings_or_none(&told, &report);
    }
}

/// Nobody that the scheduler knows can end this wait: all other threads have ended.
#[test]
fn who_waits_in_a_call_that_nobody_intercepts_is_in_no_deadlock() {
    let source = r#"
#include <pthread.h>
int word;
long nap[2] = {0, 200000000};
static char stack[4096];
/* A kernel thread of its own, which sleeps, sets the word and wakes whoever waits for that. */
static void help(void) {
    long result = 56;
    __asm__ volatile("syscall\n test %%rax, %%rax\n jnz 1f\n"
                     "mov $35, %%eax\n lea nap(%%rip), %%rdi\n xor %%esi, %%esi\n syscall\n"
                     "movl $1, word(%%rip)\n mov $202, %%eax\n lea word(%%rip), %%rdi\n"
                     "mov $1, %%esi\n mov $1, %%edx\n xor %%r10d, %%r10d\n syscall\n"
                     "mov $60, %%eax\n xor %%edi, %%edi\n syscall\n 1:\n"
                     : "+a"(result) : "D"(0x50f00L), "S"(stack + sizeof stack), "d"(0L)
                     : "rcx", "r10", "r11", "memory");
}
static void wait_for_word(void) {
    long result = 202;
    register long limit __asm__("r10") = 0;
    __asm__ volatile("syscall" : "+a"(result) : "D"(&word), "S"(0L), "d"(0L), "r"(limit)
                     : "rcx", "r11", "memory");
}
static void *nothing(void *unused) {
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, nothing, 0);
    pthread_join(thread, 0);
    help();
    wait_for_word();
    return 0;
}
"#;
    let (told, report) = check(source, &["--orders", "0"]);
    only_warnings_or_none(&told, &report);
    assert!(!told.contains("deadlock: no thread can go on"), "{told}");
    assert!(!told.contains("waits for something outside"), "{told}");
}

/// The same of a program that may have been searched through.
fn only_warnings_or_none(told: &str, report: &Value) {
    assert!(!told.starts_with("exit: 66"), "{told}");
    for finding in report["findings"].as_array().unwrap() {
        assert_eq!(finding["rung"], "warning", "{finding:#}");
    }
}
