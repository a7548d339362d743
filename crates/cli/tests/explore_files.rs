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
