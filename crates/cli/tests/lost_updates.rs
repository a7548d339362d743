//! Other runs go where the recorded one looks suspicious: what an unlucky switch between two critical sections does is found in
//! a long program, too.

mod support;

use support::Sandbox;

/// Two threads that update something once each, at times that lie far apart, among thousands of steps under the same lock.
const C: &str = r#"
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long steps, balance;
static void *work(void *when) {
    for (long i = 0; i < 9000; i++) {
        pthread_mutex_lock(&lock);
        steps++;
        pthread_mutex_unlock(&lock);
        if (i != (long)when)
            continue;
        pthread_mutex_lock(&lock);
        long held = balance;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        balance = held + 1;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)500);
    pthread_create(&b, 0, work, (void *)8000);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(balance == 2);
    return 0;
}
"#;

/// The same, with locks that are taken in functions which everybody calls.
const CPP: &str = r#"
#include <cassert>
#include <mutex>
#include <thread>
static std::mutex lock;
static long steps, balance;
static void work(long when) {
    for (long i = 0; i < 9000; i++) {
        { std::lock_guard<std::mutex> guard(lock); steps++; }
        if (i != when)
            continue;
        long held;
        { std::lock_guard<std::mutex> guard(lock); held = balance; }
        { std::lock_guard<std::mutex> guard(lock); balance = held + 1; }
    }
}
int main() {
    std::thread a(work, 500), b(work, 8000);
    a.join();
    b.join();
    assert(balance == 2);
}
"#;

const RUST: &str = r#"
use std::sync::Mutex;
static STEPS: Mutex<u64> = Mutex::new(0);
static BALANCE: Mutex<u64> = Mutex::new(0);
fn work(when: u64) {
    for i in 0..9000 {
        *STEPS.lock().unwrap() += 1;
        if i == when {
            let held = *BALANCE.lock().unwrap();
            *BALANCE.lock().unwrap() = held + 1;
        }
    }
}
fn main() {
    let a = std::thread::spawn(|| work(500));
    let b = std::thread::spawn(|| work(8000));
    a.join().unwrap();
    b.join().unwrap();
    assert_eq!(*BALANCE.lock().unwrap(), 2);
}
"#;

/// What `check` says, and its exit code.
fn check(here: &Sandbox, arguments: &[&str]) -> (String, Option<i32>) {
    let output = here.deadheat(["check"]).args(arguments).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    (told, output.status.code())
}

#[test]
fn lost_updates_are_found_with_a_few_runs() {
    for (file, text) in [("p.c", C), ("p.cpp", CPP), ("p.rs", RUST)] {
        let here = Sandbox::new();
        here.file(file, text);
        for seed in ["0", "1"] {
            let (told, code) = check(&here, &["--seed", seed, file]);
            assert_eq!(code, Some(66), "{file}, seed {seed}: {told}");
            assert!(
                told.contains("confirmed failure"),
                "{file}, seed {seed}: {told}"
            );
        }
    }
}

/// That is not luck: so many other seeds alone show nothing. What they have shown is said.
#[test]
fn other_seeds_alone_show_nothing() {
    let here = Sandbox::new();
    here.file("p.c", C);
    let (told, code) = check(&here, &["--policy", "random", "p.c"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("8 runs with other seeds; "), "{told}");
    assert!(
        told.contains("of lock and atomic operations seen in both orders"),
        "{told}"
    );
}
