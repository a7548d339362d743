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
fn a_relaxed_pointer_orders_nothing_before_the_flag_is_set() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/zoo/c");
    let here = built(&programs.join("atomic_relaxed_pointer_race.c"));
    assert_eq!(shows_race(&here), [true; 3]);
}
