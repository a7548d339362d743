//! `cargo deadheat` and `deadheat rustc`, on crates that are made here, and on `programs/rust`.

mod support;

use std::path::Path;
use std::process::Command;

use support::{Sandbox, forget_cargo, printed, succeed};

/// Cargo with our command on `PATH`.
fn cargo_deadheat(here: &Sandbox, args: &[&str]) -> Command {
    let mut command = here.command("cargo");
    command.arg("deadheat").args(args);
    forget_cargo(&mut command).env("CARGO_TERM_QUIET", "true");
    command
}

/// A crate of two threads that share a counter; it prints its arguments and ends with 7.
fn counter(here: &Sandbox, folder: &str) {
    here.file(
        &format!("{folder}/Cargo.toml"),
        "[package]\nname = \"counter\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    here.file(
        &format!("{folder}/src/main.rs"),
        r#"
use std::sync::Mutex;

static COUNT: Mutex<u32> = Mutex::new(0);

fn main() {
    let count = || (0..100).for_each(|_| *COUNT.lock().unwrap() += 1);
    std::thread::scope(|scope| {
        scope.spawn(count);
        scope.spawn(count);
    });
    let args: Vec<_> = std::env::args().skip(1).collect();
    println!("{} {args:?}", COUNT.lock().unwrap());
    std::process::exit(7);
}
"#,
    );
}

/// The recordings of a store, each as its first words in a listing, oldest first.
fn recordings(here: &Sandbox) -> usize {
    let folder = here.path().join(".deadheat/recordings");
    folder.read_dir().map_or(0, Iterator::count)
}

#[test]
fn a_program_is_run_and_recorded() {
    let here = Sandbox::new();
    counter(&here, ".");
    let output = cargo_deadheat(&here, &["run", "--", "one", "--two"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{told}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "200 [\"one\", \"--two\"]\n"
    );
    assert!(told.contains("of 3 threads (parallel"), "{told}");
    assert!(
        here.path()
            .join("target/deadheat/x86_64-unknown-linux-gnu/debug/counter")
            .exists()
    );
    assert!(
        !here.path().join("target/debug").exists(),
        "a folder of our own"
    );
    let stats = printed(&mut here.deadheat(["trace", "stats"]));
    assert!(
        stats.contains("locks      1 (at most 1 held at once)"),
        "{stats}"
    );
    let line = |name: &str| {
        stats
            .lines()
            .find(|line| line.starts_with(name))
            .map(str::to_owned)
    };
    assert!(line("acquire").unwrap().ends_with(" 201"), "{stats}");
    assert!(line("release").unwrap().ends_with(" 201"), "{stats}");
}

/// Of tables of lines alone, the locks of the standard library would be known where threads meet in them, and not elsewhere.
#[test]
fn locks_are_known_whatever_debug_information_the_user_asks_for() {
    for level in ["\"none\"", "\"line-tables-only\"", "1"] {
        let here = Sandbox::new();
        counter(&here, ".");
        let manifest = std::fs::read_to_string(here.path().join("Cargo.toml")).unwrap();
        let profile = format!("{manifest}\n[profile.dev]\ndebug = {level}\n");
        here.file("Cargo.toml", &profile);
        let mut run = cargo_deadheat(&here, &["--serial", "--preempt", "access", "run"]);
        assert_eq!(run.output().unwrap().status.code(), Some(7));
        let stats = printed(&mut here.deadheat(["trace", "stats"]));
        let line = stats.lines().find(|line| line.starts_with("release"));
        assert!(line.unwrap().ends_with(" 201"), "{level}: {stats}");
        succeed(&mut here.deadheat(["trace", "verify"]));
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let here = Sandbox::new();
    counter(&here, ".");
    let mut traces = Vec::new();
    for _ in 0..2 {
        let output = cargo_deadheat(&here, &["--seed", "5", "--quiet", "run"])
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "deadheat: the program exited with 7\n"
        );
        let trace = printed(&mut here.deadheat(["trace", "cat"]));
        // Without values: the standard library keeps the kernel's numbers of threads.
        let valueless = |line: &str| line.split(['=', '<']).next().unwrap_or_default().to_owned();
        traces.push(trace.lines().map(valueless).collect::<Vec<_>>());
    }
    assert!(traces[0].len() > 1000);
    assert!(traces[0] == traces[1]);
    succeed(&mut here.deadheat(["trace", "verify"]));
}

#[test]
fn a_member_of_a_workspace_keeps_its_recordings_at_the_top() {
    let here = Sandbox::new();
    here.file(
        "Cargo.toml",
        "[workspace]\nmembers = [\"deep/counter\"]\nresolver = \"3\"\n",
    );
    counter(&here, "deep/counter");
    here.file(
        ".cargo/config.toml",
        "[build]\ntarget-dir = \"elsewhere\"\nrustflags = [\"--cfg=special\"]\n",
    );
    here.file(
        "deep/counter/build.rs",
        "fn main() { println!(\"cargo::rustc-check-cfg=cfg(special)\"); }\n",
    );
    here.file(
        "deep/counter/src/main.rs",
        "fn main() { assert!(cfg!(special)); std::thread::spawn(|| ()).join().unwrap(); }\n",
    );
    let mut run = cargo_deadheat(&here, &["run"]);
    run.current_dir(here.path().join("deep/counter"));
    succeed(&mut run);
    assert_eq!(recordings(&here), 1);
    assert!(here.path().join("elsewhere/deadheat").exists());
}

#[test]
fn tests_of_all_kinds_are_recorded() {
    let here = Sandbox::new();
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rust");
    for name in ["src/lib.rs", "tests/queues.rs"] {
        let text = std::fs::read_to_string(top.join("tested").join(name)).unwrap();
        here.file(name, &text);
    }
    here.file(
        "Cargo.toml",
        "[package]\nname = \"tested\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    for options in [&["test"][..], &["--serial", "test"]] {
        let before = recordings(&here);
        let output = succeed(&mut cargo_deadheat(&here, options));
        let told = String::from_utf8_lossy(&output.stdout);
        assert_eq!(told.matches("test result: ok").count(), 3, "{told}");
        assert_eq!(
            recordings(&here),
            before + 3,
            "unit tests, integration tests, documentation"
        );
        for number in before + 1..=before + 3 {
            succeed(&mut here.deadheat(["trace", "verify", &number.to_string()]));
        }
    }
    if Command::new("cargo-nextest")
        .arg("--version")
        .output()
        .is_ok()
    {
        let before = recordings(&here);
        succeed(&mut cargo_deadheat(&here, &["nextest", "run"]));
        assert_eq!(
            recordings(&here),
            before + 8,
            "one for each test, none for the lists"
        );
    }
}

/// The end of a thread that returns nothing is taken from the library that runs tests. The thread must outlive its handle, or it is that which
/// orders them.
#[test]
fn scopes_wait_for_their_threads_in_tests_as_well() {
    let here = Sandbox::new();
    here.file(
        "Cargo.toml",
        "[package]\nname = \"scoped\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    here.file(
        "tests/scoped.rs",
        r#"
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn counts() {
    let mut count = 0;
    let go = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !go.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            count += 1;
        });
        go.store(true, Ordering::Relaxed);
    });
    assert_eq!(count, 1);
}
"#,
    );
    here.file("src/lib.rs", "");
    for options in [&["test", "--tests"][..], &["--serial", "test", "--tests"]] {
        succeed(&mut cargo_deadheat(&here, options));
        succeed(&mut here.deadheat(["predict"]));
    }
}

#[test]
fn a_folder_that_the_user_names_keeps_what_is_in_it() {
    let here = Sandbox::new();
    counter(&here, ".");
    let own = here.file("built/x86_64-unknown-linux-gnu/debug/mine", "mine");
    succeed(&mut cargo_deadheat(
        &here,
        &["build", "--target-dir", "built"],
    ));
    assert!(own.exists());
    let program = "built/deadheat/x86_64-unknown-linux-gnu/debug/counter";
    assert!(here.path().join(program).exists());
}

#[test]
fn a_tool_before_the_compiler_stays_there() {
    let here = Sandbox::new();
    counter(&here, ".");
    let script = "#!/bin/sh\necho \"$*\" >> calls\nexec \"$@\"\n";
    let tool = here.script("tool", script);
    let mut build = cargo_deadheat(&here, &["build"]);
    succeed(build.env("RUSTC_WRAPPER", &tool));
    let calls = std::fs::read_to_string(here.path().join("calls")).unwrap();
    let instrumented = calls
        .lines()
        .filter(|call| call.contains("-Zsanitizer=thread"));
    assert_eq!(instrumented.count(), 1, "{calls}");
    assert!(
        calls.lines().any(|call| !call.contains("-Zsanitizer")),
        "{calls}"
    );
}

#[test]
fn tests_of_macros_run_unrecorded() {
    let here = Sandbox::new();
    here.file(
        "Cargo.toml",
        "[package]\nname = \"macros\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [lib]\nproc-macro = true\n",
    );
    here.file(
        "src/lib.rs",
        "use proc_macro::TokenStream;\n\
         #[proc_macro]\npub fn seven(_: TokenStream) -> TokenStream { \"7\".parse().unwrap() }\n\
         #[test]\nfn works() {}\n",
    );
    here.file(
        "tests/used.rs",
        "#[test]\nfn used() { assert_eq!(macros::seven!(), 7); }\n",
    );
    let output = succeed(&mut cargo_deadheat(&here, &["test"]));
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        told.matches("test result: ok. 1 passed").count(),
        2,
        "{told}"
    );
    assert_eq!(recordings(&here), 1, "the test that uses the macro");
}

#[test]
fn a_test_that_fails_is_recorded_and_fails() {
    let here = Sandbox::new();
    here.file(
        "Cargo.toml",
        "[package]\nname = \"fails\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    here.file("src/lib.rs", "#[test]\nfn fails() { assert_eq!(1, 2); }\n");
    let output = cargo_deadheat(&here, &["test"]).output().unwrap();
    assert_eq!(output.status.code(), Some(101));
    assert_eq!(recordings(&here), 1);
}

/// C in a build script is part of the program and instrumented; C in a build script's own
/// dependency runs while building, and is not.
#[test]
fn c_code_is_instrumented_where_it_belongs_to_the_program() {
    let here = Sandbox::new();
    let compile = |library: &str| {
        format!(
            r#"
use std::process::Command;
fn main() {{
    let out = std::env::var("OUT_DIR").unwrap();
    let cc = std::env::var("CC_x86_64_unknown_linux_gnu").unwrap();
    let object = format!("{{out}}/{library}.o");
    let run = |command: &mut Command| assert!(command.status().unwrap().success());
    run(Command::new(cc).args(["-c", "{library}.c", "-o", &object]));
    run(Command::new("ar").args(["rcs", &format!("{{out}}/lib{library}.a"), &object]));
    println!("cargo::rustc-link-search=native={{out}}");
    println!("cargo::rustc-link-lib=static={library}");
}}
"#
        )
    };
    let manifest = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}")
    };
    let c = "int shared; int add(int n) { shared += n; return shared; }\n";
    here.file("host/Cargo.toml", &manifest("host", ""));
    here.file("host/build.rs", &compile("inner"));
    here.file("host/inner.c", c);
    here.file(
        "host/src/lib.rs",
        "unsafe extern \"C\" { fn add(n: i32) -> i32; }\n\
         pub fn three() -> i32 { unsafe { add(3) } }\n",
    );
    here.file(
        "Cargo.toml",
        &manifest(
            "mixed",
            "[build-dependencies]\nhost = { path = \"host\" }\n",
        ),
    );
    let build = compile("outer").replace(
        "fn main() {",
        "fn main() {\n    assert_eq!(host::three(), 3);",
    );
    here.file("build.rs", &build);
    here.file("outer.c", c);
    here.file(
        "src/main.rs",
        "unsafe extern \"C\" { fn add(n: i32) -> i32; }\n\
         fn main() {\n    let thread = std::thread::spawn(|| unsafe { add(1) });\n    \
         thread.join().unwrap();\n    println!(\"{}\", unsafe { add(4) });\n}\n",
    );
    assert_eq!(
        printed(&mut cargo_deadheat(&here, &["--serial", "run"])),
        "5\n"
    );
    let trace = printed(&mut here.deadheat(["trace", "cat"]));
    assert!(trace.contains(":4=5)"), "C's write of 5 is there:\n{trace}");
}

#[test]
fn what_is_not_stable_stays_so() {
    let here = Sandbox::new();
    here.file("prog.rs", "#![feature(test)]\nfn main() {}\n");
    let output = here.deadheat(["rustc", "prog.rs"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && told.contains("`test`"),
        "{told}"
    );
}

#[test]
fn a_single_file_is_checked() {
    let here = Sandbox::new();
    here.file(
        "prog.rs",
        "fn main() {\n    let lock = std::sync::Mutex::new(1);\n    std::thread::scope(|scope| {\n        \
         scope.spawn(|| *lock.lock().unwrap() += 1);\n        \
         scope.spawn(|| *lock.lock().unwrap() += 1);\n    });\n    \
         assert_eq!(lock.into_inner().unwrap(), 3);\n}\n",
    );
    let told = printed(&mut here.deadheat(["check", "prog.rs"]));
    assert!(
        told.contains("locks           1 (2 acquisitions)"),
        "{told}"
    );
    assert!(told.contains("threads         3"), "{told}");
    // Where the program does it, not where in the library that happens.
    let trace = printed(&mut here.deadheat(["trace", "cat"]));
    assert!(trace.contains("|acq(L0)|prog.rs:4\n"), "{trace}");
    assert!(trace.contains("|acq(L0)|prog.rs:5\n"), "{trace}");
    assert!(trace.contains("|rel(L0)|prog.rs:4\n"), "{trace}");
}

#[test]
fn mistakes_are_told() {
    let here = Sandbox::new();
    std::fs::remove_dir(here.path().join(".git")).unwrap();
    let told = here.told(&mut cargo_deadheat(&here, &["run"]));
    insta::assert_snapshot!("no_project", told);
    counter(&here, ".");
    let told = here.told(&mut cargo_deadheat(
        &here,
        &["build", "--target", "wasm32-unknown-unknown"],
    ));
    insta::assert_snapshot!("another_target", told);
    let told = here.told(&mut here.deadheat(["check", "a.rs", "b.rs"]));
    insta::assert_snapshot!("no_such_file", told);
    let mut missing = here.deadheat(["rustc", "src/main.rs"]);
    insta::assert_snapshot!(
        "no_compiler",
        here.told(missing.env("RUSTC", "/no/such/rustc"))
    );
}

/// A compiler whose standard library is another one.
#[test]
fn another_standard_library_is_refused() {
    let here = Sandbox::new();
    here.file("prog.rs", "fn main() {}\n");
    here.file("other.c", "int other(void) { return 1; }\n");
    succeed(here.command("cc").args(["-c", "other.c"]));
    succeed(here.command("ar").args(["rcs", "libstd-1.rlib", "other.o"]));
    succeed(
        here.command("ar")
            .args(["rcs", "libtest-1.rlib", "other.o"]),
    );
    here.script(
        "rustc",
        "#!/bin/sh\ncase \"$1\" in\n-vV) printf 'rustc 1.60.0\\nhost: x86_64-unknown-linux-gnu\\nrelease: 1.60.0\\n';;\n\
         --print) dirname \"$0\";;\n*) exit 1;;\nesac\n",
    );
    let mut compile = here.deadheat(["rustc", "prog.rs"]);
    compile.env("RUSTC", here.path().join("rustc"));
    compile.env("DEADHEAT_CACHE", here.path().join("cache"));
    insta::assert_snapshot!("another_library", here.told(&mut compile));
}

#[test]
fn what_cargo_ran_runs_again() {
    let here = Sandbox::new();
    here.file(
        "Cargo.toml",
        "[package]\nname = \"inputs\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    here.file(
        "src/main.rs",
        r#"
use std::collections::HashSet;
use std::time::{Instant, SystemTime};

fn got() -> String {
    let order: Vec<u32> = (0..20).collect::<HashSet<u32>>().into_iter().collect();
    format!("{order:?} {:?} {:?} {}", SystemTime::now(), Instant::now(), std::process::id())
}

fn main() {
    let threads = [0, 1].map(|_| std::thread::spawn(|| (0..5).map(|_| got()).collect::<Vec<_>>()));
    println!("{:?}", threads.map(|thread| thread.join().unwrap()));
    println!("{:?} {:?}", std::env::args(), std::env::var("CARGO_PKG_NAME"));
    println!("{:?}", std::io::read_to_string(std::io::stdin()));
}

#[test]
fn prints() {
    println!("{} {:?}", got(), std::env::current_dir());
}
"#,
    );
    let input = here.file("input", "from cargo");
    let mut command = cargo_deadheat(&here, &["--seed", "5", "run", "--", "one"]);
    let first = printed(command.stdin(std::fs::File::open(input).unwrap()));
    assert!(first.contains("Ok(\"inputs\")"), "{first}");
    assert!(first.contains("Ok(\"from cargo\")"), "{first}");
    let again = |seed: &str| {
        let mut command = here.deadheat(["record", "--again", "latest", "--seed", seed]);
        printed(command.stdin(std::process::Stdio::null()))
    };
    assert_eq!(again("6"), first);
    assert_eq!(again("7"), first);

    let args = [
        "--seed",
        "5",
        "test",
        "--",
        "--nocapture",
        "--test-threads",
        "1",
    ];
    let first = printed(&mut cargo_deadheat(&here, &args));
    assert!(first.contains("1 passed"), "{first}");
    let up_to_duration = |text: &str| text.split("finished in").next().unwrap().to_owned();
    assert_eq!(up_to_duration(&again("6")), up_to_duration(&first));
}
