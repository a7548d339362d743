//! The compiler wrapper with real compilers and real build systems: what it builds runs.

mod support;

use std::path::Path;

use support::{DEADHEAT, Sandbox, compilers, printed, succeed};

const HELLO: &str = r#"
#include <stdio.h>
int shared;
int main(int argc, char **argv) { shared += argc; printf("hello %d\n", shared); return 0; }
"#;

const CXX: &str = r#"
#include <iostream>
#include <thread>
int main() { int x = 0; std::thread t([&] { x = 7; }); t.join(); std::cout << x << '\n'; }
"#;

fn symbols(path: &Path) -> String {
    printed(std::process::Command::new("nm").arg(path))
}

/// Instrumented, and linked with the runtime.
fn assert_recordable(path: &Path) {
    let symbols = symbols(path);
    assert!(
        symbols.contains("__deadheat_runtime"),
        "no runtime in {path:?}"
    );
    assert!(
        symbols.contains("__tsan_func_entry"),
        "no instrumentation in {path:?}"
    );
}

#[test]
fn in_one_step_and_in_two() {
    for compiler in compilers() {
        let here = Sandbox::new();
        here.file("hello.c", HELLO);
        succeed(&mut here.deadheat(["cc", "--compiler", compiler, "hello.c", "-o", "one"]));
        succeed(&mut here.deadheat([
            "cc",
            "--compiler",
            compiler,
            "-Wall",
            "-Werror",
            "-c",
            "hello.c",
        ]));
        succeed(&mut here.deadheat(["cc", "--compiler", compiler, "hello.o", "-o", "two"]));
        for program in ["one", "two"] {
            let path = here.path().join(program);
            assert_recordable(&path);
            assert_eq!(printed(&mut here.command(&path)), "hello 1\n", "{compiler}");
        }
    }
}

#[test]
fn cxx_too() {
    for compiler in compilers() {
        let here = Sandbox::new();
        here.file("prog.cpp", CXX);
        let args = [
            "c++",
            "--compiler",
            compiler,
            "-std=c++20",
            "-pthread",
            "prog.cpp",
            "-o",
            "prog",
        ];
        succeed(&mut here.deadheat(args));
        assert_recordable(&here.path().join("prog"));
        assert_eq!(printed(&mut here.command("./prog")), "7\n");
    }
}

#[test]
fn warnings_are_the_users_own() {
    for compiler in compilers() {
        let here = Sandbox::new();
        here.file("hello.c", HELLO);
        here.file(
            "asm.s",
            ".section .note.GNU-stack\n.text\n.globl nothing\nnothing: ret\n",
        );
        let args = [
            "cc",
            "--compiler",
            compiler,
            "-Wall",
            "-Wextra",
            "-Werror",
            "hello.c",
            "asm.s",
        ];
        let output = succeed(here.deadheat(args).arg("-Wno-unused-parameter"));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[test]
fn questions_are_answered_by_the_compiler() {
    let here = Sandbox::new();
    let ours = printed(&mut here.deadheat(["cc", "--compiler", "gcc", "--version"]));
    assert_eq!(ours, printed(here.command("gcc").arg("--version")));
    assert_eq!(
        printed(&mut here.deadheat(["cc", "-dumpmachine"])),
        "x86_64-linux-gnu\n"
    );
    let macros = printed(&mut here.deadheat(["cc", "-E", "-dM", "-x", "c", "/dev/null"]));
    assert!(macros.contains("__SANITIZE_THREAD__"));
}

#[test]
fn side_files_are_where_they_belong() {
    let here = Sandbox::new();
    here.file("hello.c", HELLO);
    succeed(&mut here.deadheat([
        "cc",
        "-MD",
        "-MF",
        "deps",
        "-save-temps",
        "hello.c",
        "-o",
        "p",
    ]));
    let deps = std::fs::read_to_string(here.path().join("deps")).unwrap();
    assert!(deps.contains("hello.c"));
    assert!(here.path().join("p-hello.s").exists() || here.path().join("hello.s").exists());
    assert_recordable(&here.path().join("p"));
}

#[test]
fn response_files_and_many_arguments() {
    let here = Sandbox::new();
    here.file("hello.c", HELLO);
    here.file("args", "hello.c -o 'a prog' -DX=\\\"y\\\"");
    succeed(&mut here.deadheat(["cc", "@args"]));
    assert_recordable(&here.path().join("a prog"));
    let empty = "x".repeat(200);
    here.file("empty.c", "");
    succeed(&mut here.deadheat(["cc", "-c", "hello.c"]));
    succeed(&mut here.deadheat(["cc", "-c", "empty.c", "-o", &format!("{empty}.o")]));
    for compiler in compilers() {
        // More than the wrapper puts on a command line.
        let many = format!("{empty}.o ").repeat(700);
        here.file("many", &format!("{many} hello.o -o {compiler}"));
        succeed(&mut here.deadheat(["cc", "--compiler", compiler, "@many"]));
        assert_recordable(&here.path().join(compiler));
    }
}

#[test]
fn shared_libraries_find_the_runtime_in_the_program() {
    const LIBRARY: &str = "int counter; int bump(void) { return ++counter; }\n";
    const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    void *library = dlopen("./libbump.so", RTLD_NOW);
    if (!library) { puts(dlerror()); return 1; }
    int (*bump)(void) = (int (*)(void))dlsym(library, "bump");
    printf("%d\n", bump());
    return 0;
}
"#;
    for compiler in compilers() {
        let here = Sandbox::new();
        here.file("bump.c", LIBRARY);
        here.file("main.c", PROGRAM);
        let build = |args: &[&str]| {
            succeed(here.deadheat(["cc", "--compiler", compiler]).args(args));
        };
        build(&[
            "-shared",
            "-fPIC",
            "-Wl,-z,defs",
            "bump.c",
            "-o",
            "libbump.so",
        ]);
        assert!(!symbols(&here.path().join("libbump.so")).contains("__deadheat_runtime"));
        build(&["main.c", "-o", "main"]);
        assert_eq!(printed(&mut here.command("./main")), "1\n");
        let strip = [
            "-s",
            "-Wl,--gc-sections",
            "-Wl,--exclude-libs,ALL",
            "-o",
            "stripped",
        ];
        build(&[&["-O2", "main.c"], &strip[..]].concat());
        assert_eq!(printed(&mut here.command("./stripped")), "1\n");
    }
}

#[test]
fn a_programs_own_functions_go_before_ours() {
    const OWN: &str = r#"
#include <stddef.h>
#include <stdio.h>
static char pool[1 << 16];
static size_t used;
void *malloc(size_t size) { void *block = pool + used; used += (size + 15) & ~15ul; return block; }
void free(void *block) {}
int main(void) { char *block = malloc(8); printf("%d\n", block >= pool && block < pool + used); }
"#;
    for compiler in compilers() {
        let here = Sandbox::new();
        here.file("own.c", OWN);
        let args = [
            "cc",
            "--compiler",
            compiler,
            "-fno-builtin",
            "own.c",
            "-o",
            "own",
        ];
        succeed(&mut here.deadheat(args));
        assert_eq!(printed(&mut here.command("./own")), "1\n", "{compiler}");
    }
}

#[test]
fn as_cc_under_make() {
    let here = Sandbox::new();
    here.file("hello.c", HELLO);
    succeed(here.command("make").arg("hello").env("CC", "deadheat cc"));
    assert_recordable(&here.path().join("hello"));
}

#[test]
fn as_a_launcher_of_a_named_compiler() {
    let here = Sandbox::new();
    here.file("hello.c", HELLO);
    for compiler in compilers() {
        succeed(&mut here.deadheat(["cc", compiler, "hello.c", "-o", compiler]));
        assert_recordable(&here.path().join(compiler));
    }
}

#[test]
fn build_catches_hard_coded_compilers() {
    let here = Sandbox::new();
    here.file("hello.c", HELLO);
    here.file("prog.cpp", CXX);
    let names: Vec<_> = compilers();
    let mut makefile = String::from("all:\n\t$(CC) hello.c -o by-variable\n");
    for compiler in &names {
        makefile += &format!("\t{compiler} hello.c -o by-{compiler}\n");
    }
    makefile += "\tg++ prog.cpp -o by-g++\n\t$(CXX) prog.cpp -o by-cxx\n";
    here.file("Makefile", &makefile);
    succeed(&mut here.deadheat(["build", "--", "make"]));
    for compiler in names.iter().copied().chain(["variable", "g++", "cxx"]) {
        assert_recordable(&here.path().join(format!("by-{compiler}")));
    }
}

#[test]
fn build_uses_the_compiler_that_is_asked_for() {
    let here = Sandbox::new();
    here.file("hello.c", HELLO);
    here.file("Makefile", "hello: hello.c\n\t$(CC) hello.c -o hello\n");
    let made_by = |path: &Path| {
        printed(
            std::process::Command::new("readelf")
                .args(["-p", ".comment"])
                .arg(path),
        )
    };
    if !compilers().contains(&"clang-19") {
        return;
    }
    let path = here.path().join("hello");
    succeed(&mut here.deadheat(["build", "--compiler", "clang-19", "--", "make", "-B"]));
    assert!(made_by(&path).contains("clang"));
    succeed(
        here.deadheat(["build", "--", "make", "-B"])
            .env("CC", "clang-19"),
    );
    assert!(made_by(&path).contains("clang"));
    succeed(
        here.deadheat(["build", "--", "make", "-B"])
            .env("CC", "deadheat cc"),
    );
    assert!(!made_by(&path).contains("clang"));
}

#[test]
fn cmake_three_ways() {
    let here = Sandbox::new();
    if here.command("cmake").arg("--version").output().is_err() {
        eprintln!("skipped: no cmake");
        return;
    }
    here.file("main.c", HELLO);
    here.file("prog.cpp", CXX);
    here.file(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.21)\nproject(p C CXX)\n\
         find_package(Threads REQUIRED)\n\
         add_executable(c main.c)\nadd_executable(cxx prog.cpp)\n\
         target_link_libraries(cxx Threads::Threads)\n",
    );
    let configure = ["-S", ".", "-B"];
    succeed(
        here.deadheat(["build", "--", "cmake"])
            .args(configure)
            .arg("shims"),
    );
    succeed(
        here.command("cmake")
            .args(configure)
            .arg("variables")
            .env("CC", "deadheat cc")
            .env("CXX", "deadheat c++"),
    );
    let launch = |language: &str, part: &str| {
        let command = if language == "C" { "cc" } else { "c++" };
        format!("-DCMAKE_{language}_{part}_LAUNCHER={DEADHEAT};{command}")
    };
    let mut launchers = here.command("cmake");
    launchers.args(configure).arg("launchers");
    for language in ["C", "CXX"] {
        launchers
            .arg(launch(language, "COMPILER"))
            .arg(launch(language, "LINKER"));
    }
    succeed(&mut launchers);
    for way in ["shims", "variables", "launchers"] {
        succeed(here.command("cmake").args(["--build", way]));
        assert_recordable(&here.path().join(way).join("c"));
        assert_recordable(&here.path().join(way).join("cxx"));
    }
}

#[test]
fn a_wrapper_around_the_wrapper_adds_nothing_twice() {
    let here = Sandbox::new();
    here.file("hello.c", HELLO);
    // Like ccache: a script that calls the compiler by its name, found on PATH.
    here.script("gcc-12", "#!/bin/sh\nshift 0\nexec gcc \"$@\"\n");
    let mut path = here.path().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    succeed(
        here.deadheat(["cc", "./gcc-12", "hello.c", "-o", "hello"])
            .env("PATH", &path),
    );
    assert_recordable(&here.path().join("hello"));
    // A compiler that leads back to the wrapper does not run for ever.
    here.script("gcc-9", &format!("#!/bin/sh\nexec {DEADHEAT} cc \"$@\"\n"));
    let told = here.told(
        here.deadheat(["cc", "hello.c", "-o", "hello"])
            .env("DEADHEAT_CC", "./gcc-9"),
    );
    insta::assert_snapshot!(told);
}

/// A file's name is bytes. What cannot be read as text is a source file all the same, and instrumented.
#[test]
fn names_that_are_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let here = Sandbox::new();
    let source = OsStr::from_bytes(b"not\xff\xfetext.c");
    let text = "#include <pthread.h>\nint shared;\nvoid *work(void *arg) { shared++; return arg; }\n\
                int main(void) {\n  pthread_t thread;\n  pthread_create(&thread, 0, work, 0);\n  shared++;\n  \
                pthread_join(thread, 0);\n}\n";
    std::fs::write(here.path().join(source), text).unwrap();
    let prog = OsStr::from_bytes(b"\xff\xfe");
    let mut compile = here.deadheat(["cc", "-g", "-O0", "-pthread", "-o"]);
    succeed(compile.arg(prog).arg(source));
    let mut path = here.path().as_os_str().to_owned();
    path.push("/");
    path.push(prog);
    let told = here.told(here.deadheat(["check", "--"]).arg(path));
    assert!(told.starts_with("exit: 66"), "{told}");
}

#[test]
fn what_cannot_be_built_is_said() {
    let here = Sandbox::new();
    here.file("hello.c", HELLO);
    let told = |args: &[&str]| here.told(&mut here.deadheat(args));
    insta::assert_snapshot!("static", told(&["cc", "-static", "hello.c"]));
    insta::assert_snapshot!("m32", told(&["cc", "-m32", "-c", "hello.c"]));
    insta::assert_snapshot!("asan", told(&["cc", "-fsanitize=address", "hello.c"]));
    insta::assert_snapshot!(
        "no_such_compiler",
        told(&["cc", "--compiler", "gcc-1", "hello.c"])
    );
    insta::assert_snapshot!("no_compiler_name", told(&["cc", "--compiler"]));
    let mut bare = here.deadheat(["cc", "hello.c"]);
    insta::assert_snapshot!("no_compiler", here.told(bare.env("PATH", "/nowhere")));
    let mut bare = here.deadheat(["c++", "hello.cc"]);
    insta::assert_snapshot!("no_cxx_compiler", here.told(bare.env("PATH", "/nowhere")));
    let mut nowhere = here.deadheat(["cc", "hello.c"]);
    let nowhere = here.told(nowhere.env("DEADHEAT_CACHE", "/dev/null/cache"));
    let nowhere = regex_free(&nowhere, "runtime-");
    insta::assert_snapshot!("no_cache", nowhere);
    insta::assert_snapshot!("build_fails", told(&["build", "--", "sh", "-c", "exit 7"]));
    insta::assert_snapshot!("build_missing", told(&["build", "--", "no-such-tool"]));
    let compile = here.deadheat(["cc", "no-such-file.c"]).output().unwrap();
    assert_eq!(
        compile.status.code(),
        Some(1),
        "the compiler's own exit code"
    );
}

/// Replaces the sixteen digits after each `mark`.
fn regex_free(text: &str, mark: &str) -> String {
    let mut parts = text.split(mark);
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        out += mark;
        out += "[HASH]";
        out += part.get(16..).unwrap_or("");
    }
    out
}
