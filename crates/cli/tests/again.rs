//! How a program was started is kept with its recording, with its standard input, and is the same when it runs again.

mod support;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use support::{Sandbox, printed, succeed};

/// Prints its arguments, a variable, its folder, where its stack is, and all of its input.
const SURROUNDINGS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char folder[4096], line[4096];
    for (int i = 0; i < argc; i++) printf("arg %s\n", argv[i]);
    const char *set = getenv("SET");
    printf("set %s\nfolder %s\n", set ? set : "(null)", getcwd(folder, sizeof folder));
    printf("stack %p\n", (void *)&argc);
    while (fgets(line, sizeof line, stdin)) printf("in %s", line);
    return 0;
}
"#;

fn with_program(source: &str) -> Sandbox {
    let here = Sandbox::new();
    here.file("prog.c", source);
    succeed(&mut here.deadheat(["cc", "-pthread", "prog.c", "-o", "prog"]));
    here
}

fn beside(here: &Sandbox, number: u32, what: &str) -> PathBuf {
    let name = format!(".deadheat/recordings/{number:06}/{what}");
    here.path().join(name)
}

fn info(here: &Sandbox, number: u32) -> String {
    std::fs::read_to_string(beside(here, number, "info.json")).unwrap()
}

/// What the program of a recording prints when it runs again, with another schedule and from elsewhere.
fn again(here: &Sandbox, recording: &str) -> String {
    let mut command = here.deadheat(["record", "--again", recording, "--seed", "99"]);
    let store = here.path().join(".deadheat");
    command
        .env("DEADHEAT_STORE", store)
        .env("SET", "something else")
        .current_dir("/")
        .stdin(Stdio::null());
    String::from_utf8_lossy(&succeed(&mut command).stdout).into_owned()
}

/// Runs a command with this text coming through a pipe.
fn fed(command: &mut Command, text: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = stdin.write_all(text); // the program may not read it all
        });
        child.wait_with_output().unwrap()
    })
}

#[test]
fn arguments_variables_folder_and_a_pipe_come_back() {
    let here = with_program(SURROUNDINGS);
    let mut command = here.deadheat(["record", "--serial", "--", "./prog", "a b"]);
    command
        .arg(std::ffi::OsStr::from_bytes(b"\xFF="))
        .arg("")
        .env("SET", std::ffi::OsStr::from_bytes(b"x=\xFE\ny"));
    let first = fed(&mut command, b"one\ntwo");
    assert!(first.status.success(), "{first:?}");
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let first = shown(&first.stdout);
    assert!(first.ends_with("in one\nin two"), "{first}");
    assert!(info(&here, 1).contains(r#""stdin": "pipe""#));

    let mut command = here.deadheat(["record", "--again", "1", "--seed", "99"]);
    let store = here.path().join(".deadheat");
    command.env("DEADHEAT_STORE", store).current_dir("/");
    let second = succeed(command.env("SET", "else").stdin(Stdio::null()));
    assert_eq!(shown(&second.stdout), first, "addresses and all");
    assert_eq!(again(&here, "2"), first, "and again");
}

#[test]
fn what_may_hold_secrets_is_for_its_owner_only() {
    let here = with_program(SURROUNDINGS);
    let output = fed(&mut here.deadheat(["record", "--", "./prog"]), b"secret");
    assert!(output.status.success(), "{output:?}");
    for what in ["trace.dht.invocation", "trace.dht.stdin"] {
        let data = beside(&here, 1, what).metadata().unwrap();
        assert_eq!(data.permissions().mode() & 0o777, 0o600, "{what}");
    }
}

#[test]
fn a_file_is_kept_from_where_it_stands() {
    let here = with_program(SURROUNDINGS);
    let path = here.file("input", "skipped\nread\n");
    let mut input = File::open(&path).unwrap();
    input.seek(SeekFrom::Start(8)).unwrap();
    let mut command = here.deadheat(["record", "-o", "run.dht", "--serial", "--", "./prog"]);
    let first = printed(command.stdin(input));
    assert!(first.ends_with("\nin read\n"), "{first}");
    std::fs::write(&path, "changed").unwrap();
    let kept = std::fs::read(here.path().join("run.dht.stdin")).unwrap();
    assert_eq!(kept, b"read\n");
    let trace = here.path().join("run.dht").display().to_string();
    assert_eq!(again(&here, &trace), first);

    // A file of the same name that is there from before is no hindrance.
    let input = File::open(&path).unwrap();
    let mut command = here.deadheat(["record", "-o", "run.dht", "--serial", "--", "./prog"]);
    assert!(printed(command.stdin(input)).ends_with("in changed"));
    assert_eq!(again(&here, &trace).lines().last(), Some("in changed"));
}

#[test]
fn nothing_is_nothing_again() {
    let here = with_program(SURROUNDINGS);
    let mut command = here.deadheat(["record", "--serial", "--", "./prog"]);
    let first = printed(command.stdin(Stdio::null()));
    assert!(!first.contains("\nin "), "{first}");
    assert!(info(&here, 1).contains(r#""stdin": "nothing""#));
    assert!(!beside(&here, 1, "trace.dht.stdin").exists());
    let mut command = here.deadheat(["record", "--again", "1"]);
    let second = fed(&mut command, b"not for the program\n");
    assert_eq!(String::from_utf8(second.stdout).unwrap(), first);
}

#[test]
fn a_terminal_is_left_alone_and_that_is_said() {
    let here = with_program(
        "#include <stdio.h>\n#include <unistd.h>\n\
         int main(void) { printf(\"%d\\n\", isatty(0)); }",
    );
    let (mut master, mut slave) = (0, 0);
    // SAFETY: both numbers are written to; nothing else is asked for.
    let opened = unsafe {
        use std::ptr::null_mut;
        libc::openpty(&mut master, &mut slave, null_mut(), null_mut(), null_mut())
    };
    assert_eq!(opened, 0);
    // SAFETY: just opened, and nobody else's.
    let (_master, slave) = unsafe {
        use std::os::fd::{FromRawFd, OwnedFd};
        (OwnedFd::from_raw_fd(master), OwnedFd::from_raw_fd(slave))
    };
    let mut command = here.deadheat(["record", "--", "./prog"]);
    assert_eq!(printed(command.stdin(slave)), "1\n");
    assert!(info(&here, 1).contains(r#""stdin": "terminal""#));
    assert!(!beside(&here, 1, "trace.dht.stdin").exists());
}

#[test]
fn a_large_pipe_is_streamed() {
    let here = with_program(
        "#include <stdio.h>\n#include <unistd.h>\n\
         static char all[1 << 20];\n\
         int main(void) { long n = 0, sum = 0, got;\n\
         while ((got = read(0, all, sizeof all)) > 0) { n += got; sum = sum * 31 + all[got - 1]; }\n\
         printf(\"%ld\\n\", n); return got < 0; }",
    );
    let text: Vec<u8> = (0..5_000_000u32).flat_map(u32::to_le_bytes).collect();
    let mut command = here.deadheat(["record", "--serial", "--", "./prog"]);
    let first = fed(&mut command, &text);
    assert_eq!(String::from_utf8_lossy(&first.stdout), "20000000\n");
    assert!(std::fs::read(beside(&here, 1, "trace.dht.stdin")).unwrap() == text);
    assert_eq!(again(&here, "1"), "20000000\n");
}

#[test]
fn a_program_that_does_not_read_ends_as_ever() {
    // The other end stays open; nothing comes, or more than fits.
    let here = with_program("int main(void) { return 0; }");
    for text in [&b""[..], &[b'x'; 1 << 20]] {
        let mut child = here
            .deadheat(["record", "--", "./prog"])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let open = std::thread::scope(|scope| {
            let feeding = scope.spawn(move || {
                let _ = stdin.write_all(text);
                stdin
            });
            assert!(child.wait().unwrap().success());
            feeding.join().unwrap()
        });
        drop(open);
    }
}

#[test]
fn a_program_that_reads_as_it_comes_is_answered_at_once() {
    // A conversation: each line is written when the answer to the one before has come.
    let here = with_program(
        "#include <stdio.h>\nint main(void) { char line[99];\n\
         while (fgets(line, sizeof line, stdin)) { printf(\"got %s\", line); fflush(stdout); } }",
    );
    let mut child = here
        .deadheat(["record", "--serial", "--", "./prog"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for line in ["a\n", "b\n", "c\n"] {
        to.write_all(line.as_bytes()).unwrap();
        let mut answer = [0; 6];
        from.read_exact(&mut answer).unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), format!("got {line}"));
    }
    drop(to);
    assert!(child.wait().unwrap().success());
    assert_eq!(again(&here, "1"), "got a\ngot b\ngot c\n");
}

#[test]
fn what_came_in_pieces_comes_in_the_same_pieces() {
    let here = with_program(
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) { char piece[99]; long got;\n\
         while ((got = read(0, piece, sizeof piece)) > 0) { printf(\"%ld\\n\", got); fflush(stdout); } }",
    );
    let mut child = here
        .deadheat(["record", "--serial", "--", "./prog"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for piece in ["a", "bc", "def"] {
        to.write_all(piece.as_bytes()).unwrap();
        let mut answer = [0; 2];
        from.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [b'0' + piece.len() as u8, b'\n']);
    }
    drop(to);
    assert!(child.wait().unwrap().success());
    assert_eq!(again(&here, "1"), "1\n2\n3\n");
    assert_eq!(again(&here, "2"), "1\n2\n3\n", "and again");
}

#[test]
fn a_source_file_that_was_checked_runs_again() {
    let here = Sandbox::new();
    here.file("prog.c", SURROUNDINGS);
    let first = fed(&mut here.deadheat(["check", "prog.c", "x"]), b"one\n");
    let first = String::from_utf8_lossy(&first.stdout).into_owned();
    let second = again(&here, "1");
    assert!(second.contains("\narg x\n"), "{second}");
    assert!(first.starts_with(&second), "{first}\n{second}");
}

#[test]
fn a_program_that_was_built_anew_is_refused() {
    let here = with_program(SURROUNDINGS);
    succeed(&mut here.deadheat(["record", "--serial", "--", "./prog"]));
    here.file("prog.c", &SURROUNDINGS.replace("in %s", "input %s"));
    succeed(&mut here.deadheat(["cc", "-pthread", "prog.c", "-o", "prog"]));
    let told = here.told(&mut here.deadheat(["record", "--again", "1"]));
    assert!(told.starts_with("exit: 3\n"), "{told}");
    assert!(
        told.contains("was built anew since it was recorded"),
        "{told}"
    );

    std::fs::remove_file(here.path().join("prog")).unwrap();
    let told = here.told(&mut here.deadheat(["record", "--again", "1"]));
    assert!(told.starts_with("exit: 3\n"), "{told}");
    std::fs::remove_file(beside(&here, 1, "trace.dht.invocation")).unwrap();
    let told = here.told(&mut here.deadheat(["record", "--again", "1"]));
    assert!(told.starts_with("exit: 3\n"), "{told}");
    assert!(told.contains("record it again"), "{told}");
}
