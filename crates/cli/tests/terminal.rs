//! What is for terminals only, and what people see of paths.

mod support;

use support::{Sandbox, succeed};

const ESCAPE: char = '\u{1b}';

/// What a command prints on a terminal; `None` if there is no tool to give it one.
fn on_terminal(here: &Sandbox, script: &str, color: bool) -> Option<String> {
    let mut command = here.command("script");
    command
        .args(["-qec", script, "/dev/null"])
        .env("TERM", "xterm");
    if color {
        command.env_remove("NO_COLOR");
    }
    let output = command.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// With a terminal there are colours, unless the user wants none; without one there are none.
#[test]
fn colours_are_for_terminals() {
    let here = Sandbox::new();
    let script = "deadheat record ./gone; deadheat doctor; deadheat check --help";
    if let Some(colored) = on_terminal(&here, script, true) {
        assert!(colored.contains(ESCAPE));
        let plain = on_terminal(&here, script, false).unwrap();
        assert!(plain.contains("program not found"), "{plain}");
        assert!(!plain.contains(&format!("{ESCAPE}[31")), "{plain:?}");
        assert!(!plain.contains(&format!("{ESCAPE}[1m")), "{plain:?}");
    }
    here.file("prog.c", "int main(void) { return 0; }\n");
    for args in [
        &["check", "--orders", "0", "prog.c"][..],
        &["predict"],
        &["trace", "cat"],
        &["ls"],
        &["record", "./gone"],
        &["help", "options"],
    ] {
        let output = here.deadheat(args).env_remove("NO_COLOR").output().unwrap();
        for text in [&output.stdout, &output.stderr] {
            assert!(!text.contains(&(ESCAPE as u8)), "{args:?}: {output:?}");
        }
    }
}

/// A path under the current folder is shown as one seen from there.
#[test]
fn paths_are_relative_where_they_can_be() {
    let here = Sandbox::new();
    here.file("prog.c", "int main(void) { return 0; }\n");
    succeed(&mut here.deadheat(["cc", "prog.c", "-o", "prog"]));
    succeed(&mut here.deadheat(["record", "./prog"]));
    here.file("plain", "");
    for args in [
        &["check", "--orders", "0", "prog.c"][..],
        &["predict"],
        &["ls"],
        &["rm", "77"],
        &["record", "-o", "gone/trace.dht", "./prog"],
        &["record", "./plain"],
        &["watch", "./prog"],
        &["replay", "12345678"],
        &["trace", "stats", "plain"],
        &["predict", "9"],
        &["doctor"],
    ] {
        let told = here.told(&mut here.deadheat(args));
        assert!(!told.contains("[HERE]"), "{args:?}: {told}");
    }
}

/// A search that takes a while shows a sign of life, if somebody is there to see it.
#[test]
fn progress_is_for_terminals() {
    let here = Sandbox::new();
    let program = "\
#include <pthread.h>
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
    for (int i = 0; i < 30; i++) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    return 0;
}
";
    here.file("prog.c", program);
    let args = ["explore", "--search-time", "4s", "prog.c"];
    let output = here.deadheat(args).output().unwrap();
    for text in [&output.stdout, &output.stderr] {
        assert!(
            !text.contains(&b'\r') && !text.contains(&(ESCAPE as u8)),
            "{output:?}"
        );
    }
    let script = format!("deadheat {}", args.join(" "));
    if let Some(shown) = on_terminal(&here, &script, false) {
        assert!(shown.contains(&format!("\r{ESCAPE}[2K")), "{shown:?}");
    }
}
