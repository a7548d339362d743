//! What the kernel orders is ordered, in every kind of run; what only looks so is not.

mod support;

use std::path::Path;

use support::{Sandbox, succeed};

/// A server's table has an element for each number of a descriptor. The worker is done with a connection and closes it; the next one has
/// its number.
const ACCEPT: &str = r#"
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
int table[1024], first;
static void *worker(void *arg) {
    table[first] = 1;
    close(first);
    return arg;
}
static void *nothing(void *arg) { return arg; }
int main(void) {
    pthread_t thread, other;
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    int server = socket(AF_INET, SOCK_STREAM, 0), client[2];
    if (bind(server, (void *)&here, size) || listen(server, 2)) return 1;
    getsockname(server, (void *)&here, &size);
    for (int i = 0; i < 2; i++) {
        client[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(client[i], (void *)&here, size)) return 1;
    }
    first = accept(server, 0, 0);
    pthread_create(&thread, 0, worker, 0);
    for (int i = 0; i < 5; i++) {
        pthread_create(&other, 0, nothing, 0);
        pthread_join(other, 0);
    }
    int second = accept(server, 0, 0);
    if (second < 0 || second >= 1024) return 1;
    table[second] = 2;
    pthread_join(thread, 0);
    return 0;
}
"#;

/// The end of a connection tells.
const SHUTDOWN: &str = r#"
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
int value, seen, ends[2];
static void *teller(void *arg) {
    value = 42;
    shutdown(ends[1], SHUT_WR);
    return arg;
}
int main(void) {
    pthread_t thread;
    char byte;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    pthread_create(&thread, 0, teller, 0);
    if (read(ends[0], &byte, 1) == 0) seen = value;
    pthread_join(thread, 0);
    return seen != 42;
}
"#;

/// Blocks that one thread gives back, another gets, and uses up to what `malloc_usable_size` says. The allocator orders the two.
const SLACK: &str = r#"
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
enum { COUNT = 30 };
static volatile long *blocks[COUNT];
static atomic_int freed;
char *mine;
static void *freeing(void *none) {
    for (int i = 0; i < COUNT; i++) { blocks[i][0] = i; free((void *)blocks[i]); }
    atomic_store_explicit(&freed, 1, memory_order_relaxed);
    return none;
}
int main(void) {
    for (int i = 0; i < COUNT; i++) blocks[i] = malloc(24);
    pthread_t thread;
    pthread_create(&thread, 0, freeing, 0);
    while (!atomic_load_explicit(&freed, memory_order_relaxed)) ;
    for (int i = 0; i < COUNT; i++) {
        mine = malloc(4);
        mine[malloc_usable_size(mine) > 4 ? 4 : 0] = 'm';
    }
    pthread_join(thread, 0);
    return 0;
}
"#;

/// Two neighbours that one thread gives back become one block of another, which uses all of it.
const NEIGHBOURS: &str = r#"
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static char *first, *second;
static atomic_int freed;
static void *freeing(void *none) {
    free(first);
    second[2007] = 'f';
    free(second);
    atomic_store_explicit(&freed, 1, memory_order_relaxed);
    return none;
}
int main(void) {
    first = malloc(2008);
    second = malloc(2008);
    char *behind = malloc(2008);
    pthread_t thread;
    pthread_create(&thread, 0, freeing, 0);
    while (!atomic_load_explicit(&freed, memory_order_relaxed)) ;
    char *both = malloc(4010);
    size_t size = malloc_usable_size(both);
    both[size - 1] = 'm';
    pthread_join(thread, 0);
    free(behind);
    return 0;
}
"#;

/// A thread waits for another process, which answers when main has looked in vain three times, and slept in between.
const ANSWER: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
static atomic_int got;
static int ends[2];
static void *reader(void *arg) {
    char byte;
    if (read(ends[0], &byte, 1) == 1) got = 1;
    return arg;
}
int main(void) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    int asked[2];
    if (pipe(asked)) return 1;
    if (fork() == 0) {
        char byte;
        _exit(read(asked[0], &byte, 1) != 1 || write(ends[1], &byte, 1) != 1);
    }
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    for (int looks = 0; !got; looks++) {
        if (looks == 3 && write(asked[1], "x", 1) != 1) return 1;
        usleep(1000);
    }
    pthread_join(thread, 0);
    int status;
    wait(&status);
    return status;
}
"#;

/// Whether a run of the program shows a race: watched, recorded with all threads running free, and recorded serially.
fn shows_race(here: &Sandbox) -> [bool; 3] {
    let found = |args: &[&str]| {
        let output = here.deadheat(args).output().unwrap();
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 66)), "{args:?}: {output:?}");
        code == Some(66)
    };
    let recorded = |options: &[&str]| {
        let run = ["-o", "trace.dht", "--", "./prog"];
        succeed(here.deadheat(["record"]).args(options).args(run));
        found(&["predict", "trace.dht", "--method", "hb"])
    };
    [
        found(&["watch", "--", "./prog"]),
        recorded(&[]),
        recorded(&["--seed", "1"]),
    ]
}

fn built(source: &Path) -> Sandbox {
    let here = Sandbox::new();
    let mut compile = here.deadheat(["cc", "-g", "-pthread", "-o", "prog"]);
    succeed(compile.arg(source));
    here
}

fn is_ordered(source: &str) {
    let place = Sandbox::new();
    let here = built(&place.file("prog.c", source));
    assert_eq!(shows_race(&here), [false; 3]);
}

#[test]
fn what_was_done_before_a_connection_was_closed_and_its_number_given_out_again() {
    is_ordered(ACCEPT);
}

#[test]
fn what_was_done_before_a_socket_was_shut_down() {
    is_ordered(SHUTDOWN);
}

#[test]
fn what_was_done_to_a_block_before_it_was_given_back() {
    is_ordered(SLACK);
    is_ordered(NEIGHBOURS);
}

/// Time that passes while all wait is time for other processes.
#[test]
fn who_sleeps_does_not_keep_others_from_an_answer() {
    is_ordered(ANSWER);
}

#[test]
fn a_relaxed_pointer_orders_nothing_before_the_flag_is_set() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/zoo/c");
    let here = built(&programs.join("atomic_relaxed_pointer_race.c"));
    assert_eq!(shows_race(&here), [true; 3]);
}
