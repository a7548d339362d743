//! Whoever is stopped says what is known, and leaves nothing behind.

mod support;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use support::{Sandbox, succeed};

/// A race, and then no end.
const ENDLESS: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
static int racy;
static void *work(void *u) { racy++; return u; }
int main(int count, char **words) {
    pthread_t a, b;
    if (count > 1)
        signal(SIGTERM, SIG_IGN);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    puts("ready");
    fflush(stdout);
    for (;;)
        ;
}
"#;

/// A few million events, and a race.
const LONG: &str = r#"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long cells[1024], racy;
static void *work(void *u) {
    racy++;
    for (int i = 0; i < 40000; i++) {
        pthread_mutex_lock(&lock);
        for (int j = 0; j < 16; j++)
            cells[(i + j) & 1023]++;
        pthread_mutex_unlock(&lock);
    }
    return u;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(threads + i, 0, work, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;

/// `check` of a program, with a folder of its own for temporary files.
struct Checking {
    here: Sandbox,
    child: Child,
}

impl Checking {
    fn start(source: &str, arguments: &[&str]) -> Self {
        let here = Sandbox::new();
        here.file("p.c", source);
        succeed(&mut here.deadheat(["cc", "-g", "-O0", "-pthread", "p.c", "-o", "p"]));
        std::fs::create_dir(here.path().join("tmp")).unwrap();
        let mut command: Command = here.deadheat(["check", "--", "./p"]);
        let child = command
            .args(arguments)
            .env("TMPDIR", here.path().join("tmp"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Checking { here, child }
    }

    fn send(&self, signals: &[i32]) {
        for signal in signals {
            // SAFETY: the process is our child and was not waited for.
            unsafe { libc::kill(self.child.id() as i32, *signal) };
        }
    }

    /// Its end, what it printed from here on, and whether temporary files are left.
    fn end(mut self, mut out: impl Read, mut err: impl Read) -> (ExitStatus, String, bool) {
        let mut told = String::new();
        out.read_to_string(&mut told).unwrap();
        err.read_to_string(&mut told).unwrap();
        let status = self.child.wait().unwrap();
        let left = std::fs::read_dir(self.here.path().join("tmp")).unwrap();
        (status, told, left.count() > 0)
    }
}

/// Reads up to a line that has this in it.
fn wait_for(reader: &mut impl BufRead, what: &str) {
    let mut line = String::new();
    while !line.contains(what) {
        line.clear();
        assert_ne!(
            reader.read_line(&mut line).unwrap(),
            0,
            "no line has {what}"
        );
    }
}

#[test]
fn what_a_stopped_program_has_shown_is_reported() {
    for arguments in [&[][..], &["ignore"][..]] {
        let mut check = Checking::start(ENDLESS, arguments);
        let mut out = BufReader::new(check.child.stdout.take().unwrap());
        let err = check.child.stderr.take().unwrap();
        wait_for(&mut out, "ready");
        check.send(&[libc::SIGTERM]);
        let (status, told, left) = check.end(out, err);
        assert_eq!(status.code(), Some(66), "{told}");
        assert!(told.contains("race on racy"), "{told}");
        assert!(told.contains("stopped while it was recorded"), "{told}");
        assert!(!left);
    }
}

#[test]
fn a_stopped_analysis_reports_what_is_known() {
    let mut check = Checking::start(LONG, &[]);
    let out = check.child.stdout.take().unwrap();
    let mut err = BufReader::new(check.child.stderr.take().unwrap());
    wait_for(&mut err, "recorded");
    check.send(&[libc::SIGINT]);
    let (status, told, left) = check.end(out, err);
    assert!(told.contains("stopped while it was analysed"), "{told}");
    assert!(matches!(status.code(), Some(5 | 66)), "{status:?}: {told}");
    assert!(!left);
}

#[test]
fn the_second_signal_ends_everything() {
    let mut check = Checking::start(LONG, &[]);
    let out = check.child.stdout.take().unwrap();
    let mut err = BufReader::new(check.child.stderr.take().unwrap());
    wait_for(&mut err, "recorded");
    check.send(&[libc::SIGTERM, libc::SIGINT]);
    let (status, told, _) = check.end(out, err);
    assert_eq!(status.code(), Some(130), "{:?} {told}", status.signal());
}

#[test]
fn what_goes_on_is_recorded_for_so_long() {
    for arguments in [&[][..], &["ignore"][..]] {
        let here = Sandbox::new();
        here.file("p.c", ENDLESS);
        succeed(&mut here.deadheat(["cc", "-g", "-O0", "-pthread", "p.c", "-o", "p"]));
        let mut check = here.deadheat(["check", "--for", "4s", "--", "./p"]);
        let output = check.args(arguments).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(66), "{told}");
        assert!(told.contains("race on racy"), "{told}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("asking the program to end"), "{said}");
    }
}

#[test]
fn a_daemon_is_recorded_for_so_long_and_ended() {
    let here = Sandbox::new();
    let becomes_one = "if (fork()) return 0; setsid(); pthread_t a, b;";
    let source = ENDLESS.replace("pthread_t a, b;", becomes_one);
    here.file("p.c", &("#include <unistd.h>\n".to_owned() + &source));
    succeed(&mut here.deadheat(["cc", "-g", "-O0", "-pthread", "p.c", "-o", "p"]));
    let mut check = here.deadheat(["check", "--for", "4s", "--", "./p"]);
    // It has this process's end of the pipe as long as it lives: output is complete once it is gone.
    let output = check.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("ready"), "{told}");
    assert_eq!(output.status.code(), Some(66), "{told}");
    assert!(told.contains("race on racy"), "{told}");
}

#[test]
fn a_budget_that_ends_loses_nothing() {
    let here = Sandbox::new();
    here.file("p.c", &ENDLESS.replace("for (;;)", "if (0)"));
    let mut check = here.deadheat(["check", "--budget", "1ms", "p.c"]);
    let output = check.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(66), "{told}");
    assert!(told.contains("race on racy"), "{told}");
    assert!(told.contains("the budget ended before its turn"), "{told}");
    assert!(!told.contains("confirmed"), "{told}");
}

/// Two threads with more orders than anybody can look at.
const MANY: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
static atomic_int cells[8];
static void *work(void *u) {
    for (int i = 0; i < 200; i++)
        cells[i & 7]++;
    return u;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(threads + i, 0, work, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;

#[test]
fn a_stopped_search_says_how_far_it_came() {
    for (signals, code) in [
        (&[libc::SIGINT][..], 5),
        (&[libc::SIGINT, libc::SIGTERM][..], 130),
    ] {
        let here = Sandbox::new();
        here.file("p.c", MANY);
        let mut child = here
            .deadheat(["explore", "--search-time", "600s", "p.c"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        wait_for(&mut err, "recorded");
        let checking = Checking { here, child };
        std::fs::create_dir(checking.here.path().join("tmp")).unwrap();
        checking.send(signals);
        let (status, told, _) = checking.end(out, err);
        assert_eq!(status.code(), Some(code), "{told}");
    }
}

/// Whether a process handles a signal itself.
fn handles(process: u32, signal: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
    caught >> (signal - 1) & 1 != 0
}

#[test]
fn every_method_reports_what_it_knows_when_it_is_stopped() {
    let here = Sandbox::new();
    here.file("p.c", LONG);
    succeed(&mut here.deadheat(["cc", "-g", "-O0", "-pthread", "p.c", "-o", "p"]));
    let recorded = succeed(&mut here.deadheat(["record", "--serial", "./p"]));
    let recorded = String::from_utf8_lossy(&recorded.stderr).into_owned();
    let events = recorded.split("recorded ").nth(1).unwrap();
    let events = events.split(' ').next().unwrap();
    let methods = "maximal said hb shb wcp cp syncp interleave lockset hybrid";
    for method in methods.split(' ') {
        let mut command: Command = here.deadheat(["predict", "--method", method]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        while !handles(child.id(), libc::SIGINT) {
            std::thread::yield_now();
        }
        // SAFETY: the process is our child and was not waited for.
        unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
        let ended = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        let code = ended.status.code();
        assert!(matches!(code, Some(5 | 66)), "{method}: {code:?} {told}");
        assert!(told.contains("there may be more"), "{method}: {told}");
        assert!(!told.contains(events), "{method} has read all: {told}");
    }
}
