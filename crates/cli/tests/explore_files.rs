//! Files in searches: what executions write stays with them, and is one file however often it is opened.

mod support;

use support::Sandbox;

/// Two threads that lock a file by descriptors of their own.
const LOCKED: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>
static int count;
static void *work(void *u) {
    int file = open(u, O_RDWR | O_CREAT, 0600);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    LOCK;
    count++;
    lock.l_type = F_UNLCK;
    UNLOCK;
    close(file);
    return 0;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, work, "lock");
    pthread_create(&other, 0, work, "lock");
    pthread_join(one, 0);
    pthread_join(other, 0);
    return count != 2;
}
"#;

#[test]
fn locks_on_a_file_that_several_threads_open_keep_them_apart() {
    for (lock, unlock) in [
        (
            "fcntl(file, F_OFD_SETLKW, &lock)",
            "fcntl(file, F_OFD_SETLK, &lock)",
        ),
        ("flock(file, LOCK_EX)", "flock(file, LOCK_UN)"),
    ] {
        for is_there in [true, false] {
            let here = Sandbox::new();
            if is_there {
                here.file("lock", "");
            }
            here.file(
                "p.c",
                &LOCKED
                    .replace("UNLOCK", unlock)
                    .replace("LOCK;", &format!("{lock};")),
            );
            let told = here.told(&mut here.deadheat(["explore", "p.c"]));
            assert!(told.starts_with("exit: 0"), "{lock} {is_there} {told}");
            assert!(
                told.contains("all orders that can be told apart"),
                "{lock} {told}"
            );
        }
    }
}

/// What a thread has written another one reads, by a file that it opens for that.
const READ_BACK: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static void *writes(void *u) {
    int file = open("note", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    write(file, "new", 3);
    close(file);
    return u;
}
int main(void) {
    pthread_t thread;
    char held[4] = "";
    pthread_create(&thread, 0, writes, 0);
    pthread_join(thread, 0);
    int file = open("note", O_RDONLY | O_NOFOLLOW);
    if (read(file, held, 3) != 3 || held[0] != 'n')
        return 1;
    close(file);
    return 0;
}
"#;

#[test]
fn what_an_execution_has_written_it_reads() {
    for before in [None, Some("old")] {
        let here = Sandbox::new();
        here.file("p.c", READ_BACK);
        let build = ["check", "--no-confirm", "--orders", "0", "p.c"];
        let told = here.told(&mut here.deadheat(build));
        assert!(told.starts_with("exit: 0"), "{told}");
        // The recorded run has made it: executions of the search have their own.
        if let Some(held) = before {
            here.file("note", held);
        }
        let told = here.told(&mut here.deadheat(["explore", "p.c"]));
        assert!(told.starts_with("exit: 0"), "{before:?} {told}");
        assert!(told.contains("outcomes        1"), "{before:?} {told}");
    }
}
