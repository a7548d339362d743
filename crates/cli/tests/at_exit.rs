//! What a program runs behind the end of its recording: destructors of libraries, which may wait for threads.

mod support;

use std::process::Command;

use support::Sandbox;

/// A library with a thread of its own, which its destructor ends and waits for.
const LIBRARY: &str = "
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t worker;
static int stop, jobs;
static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    while (!stop) {
        jobs = 0;
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}
__attribute__((constructor)) static void begin(void) {
    pthread_create(&worker, 0, work, 0);
}
__attribute__((destructor)) static void end(void) {
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, 0);
}
void give(void) {
    pthread_mutex_lock(&lock);
    jobs++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}
";

const PROGRAM: &str = "
void give(void);
int main(void) {
    give();
    give();
    return 3;
}
";

#[test]
fn libraries_wait_for_their_threads() {
    for (name, is_hooked) in [("plain", false), ("hooked", true)] {
        let here = Sandbox::new();
        here.file("pool.c", LIBRARY);
        here.file("main.c", PROGRAM);
        let library = [
            "-g",
            "-shared",
            "-fPIC",
            "pool.c",
            "-o",
            "libpool.so",
            "-pthread",
        ];
        let mut build = match is_hooked {
            true => here.deadheat(["cc"].into_iter().chain(library)),
            false => {
                let mut gcc = Command::new("gcc");
                gcc.args(library).current_dir(here.path());
                gcc
            }
        };
        assert!(build.status().expect("it starts").success(), "{name}");
        let link = [
            "cc",
            "-g",
            "main.c",
            "-o",
            "main",
            "-L.",
            "-lpool",
            "-Wl,-rpath,.",
        ];
        assert!(here.deadheat(link).status().expect("it starts").success());
        for seed in ["0", "1", "2"] {
            let told = here.told(&mut here.deadheat(["check", "--seed", seed, "--", "./main"]));
            assert!(told.starts_with("exit: 0"), "{name}, seed {seed}: {told}");
            assert!(
                told.contains("exited with 3"),
                "{name}, seed {seed}: {told}"
            );
            assert!(!told.contains("waits for"), "{name}, seed {seed}: {told}");
        }
        let told = here.told(&mut here.deadheat(["explore", "--", "./main"]));
        assert!(!told.contains("hung"), "{name}: {told}");
        assert!(!told.contains("unconfirmed"), "{name}: {told}");
    }
}

/// A destructor that nobody lets go on is ended, and not called a deadlock of the program.
#[test]
fn a_library_that_waits_for_ever_is_ended() {
    let here = Sandbox::new();
    here.file(
        "pool.c",
        &LIBRARY.replace("    pthread_cond_broadcast(&changed);\n", ""),
    );
    here.file("main.c", PROGRAM);
    let library = [
        "cc",
        "-g",
        "-shared",
        "-fPIC",
        "pool.c",
        "-o",
        "libpool.so",
        "-pthread",
    ];
    assert!(
        here.deadheat(library)
            .status()
            .expect("it starts")
            .success()
    );
    let link = [
        "cc",
        "-g",
        "main.c",
        "-o",
        "main",
        "-L.",
        "-lpool",
        "-Wl,-rpath,.",
    ];
    assert!(here.deadheat(link).status().expect("it starts").success());
    let command = ["check", "--orders", "0", "--no-confirm", "--", "./main"];
    let told = here.told(&mut here.deadheat(command));
    assert!(
        told.contains("what it runs at its exit waits for ever"),
        "{told}"
    );
    assert!(!told.contains("confirmed deadlock"), "{told}");
}
