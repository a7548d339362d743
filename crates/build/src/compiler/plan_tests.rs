//! What the wrapper makes of command lines, written as shell users write them.

use super::*;
use std::path::Path;

fn planned(family: Family, line: &str) -> Result<String> {
    let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let parts = Parts {
        object: Path::new("/rt/librt.o"),
        exports: Path::new("/rt/exports"),
        deadheat: Path::new("/bin/deadheat"),
    };
    let words = plan(family, &args, parts)?;
    let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
    Ok(words.join(" "))
}

fn gcc(line: &str) -> String {
    planned(Family::Gcc, line).unwrap()
}

fn clang(line: &str) -> String {
    planned(Family::Clang, line).unwrap()
}

fn refused(family: Family, line: &str) -> String {
    planned(family, line).unwrap_err().to_string()
}

/// What is asked of gcc when it compiles.
fn instrument() -> String {
    GCC_INSTRUMENT.join(" ")
}

const RUNTIME: &str = "/rt/librt.o -Xlinker --dynamic-list=/rt/exports";
const CLANG: &str = "-fsanitize=thread -fno-sanitize-link-runtime -fno-omit-frame-pointer \
     -fno-vectorize -fno-slp-vectorize -mllvm -tsan-instrument-read-before-write \
     --end-no-unused-arguments";

#[test]
fn questions_are_passed_on() {
    for line in [
        "--version",
        "-v",
        "-V",
        "-dumpmachine",
        "-print-prog-name=ld",
        "-print-search-dirs -m32",
        "-Wl,--version",
        "",
    ] {
        assert_eq!(gcc(line), line);
        assert_eq!(clang(line), line);
    }
}

#[test]
fn compiling_is_instrumented() {
    assert_eq!(
        gcc("-c a.c -o a.o"),
        format!("-g -O1 {} -c a.c -o a.o", instrument())
    );
    assert_eq!(
        clang("-c a.c"),
        format!("--start-no-unused-arguments -g -O1 {CLANG} -c a.c")
    );
    for stop in ["-c", "-S", "-E", "-fsyntax-only", "-M", "-MM"] {
        assert!(gcc(&format!("{stop} a.c")).contains("-fsanitize=thread"));
        assert!(!gcc(&format!("{stop} a.c")).contains("librt"));
    }
}

#[test]
fn the_users_optimisation_is_respected() {
    for level in ["-O", "-O0", "-O2", "-Os", "-Og", "-Ofast"] {
        assert_eq!(
            gcc(&format!("{level} -c a.c")),
            format!("-g {} {level} -c a.c", instrument())
        );
    }
    assert!(
        gcc("-c a.c -o -O2.o").contains("-O1"),
        "a file's name is no option"
    );
}

#[test]
fn linking_gets_the_runtime() {
    assert_eq!(
        gcc("a.o b.o -lm -o prog"),
        format!("{RUNTIME} a.o b.o -lm -o prog -lpthread -ldl")
    );
    assert_eq!(clang("a.o"), format!("{RUNTIME} a.o -lpthread -ldl"));
    assert_eq!(gcc("-nostdlib a.o"), format!("{RUNTIME} -nostdlib a.o"));
}

#[test]
fn compiling_and_linking_at_once() {
    assert_eq!(
        gcc("a.c b.o -o prog"),
        format!(
            "-g -O1 -wrapper /bin/deadheat,__compiler-proper {RUNTIME} a.c b.o -o prog \
             -lpthread -ldl"
        )
    );
    assert_eq!(
        clang("-O2 a.c"),
        format!("--start-no-unused-arguments -g {CLANG} {RUNTIME} -O2 a.c -lpthread -ldl")
    );
}

#[test]
fn shared_libraries_and_larger_objects_get_no_runtime() {
    assert_eq!(gcc("-shared a.o -o a.so"), "-shared a.o -o a.so");
    assert_eq!(
        gcc("-shared -fPIC a.c -o a.so"),
        "-g -O1 -wrapper /bin/deadheat,__compiler-proper -shared -fPIC a.c -o a.so"
    );
    for line in [
        "-r a.o -o b.o",
        "-Wl,-r a.o",
        "-Wl,--relocatable a.o",
        "-Xlinker -r a.o",
    ] {
        assert_eq!(gcc(line), line);
    }
}

#[test]
fn shared_libraries_may_leave_the_runtimes_symbols_open() {
    for demand in [
        "-Wl,-z,defs",
        "-Wl,-z -Wl,defs",
        "-Wl,-zdefs",
        "-z defs",
        "-Xlinker -z -Xlinker defs",
        "-Wl,-O1,--no-undefined,-z,relro",
        "-Wl,-no-undefined",
    ] {
        assert_eq!(
            gcc(&format!("-shared {demand} a.o")),
            format!("-shared {demand} a.o -Wl,--unresolved-symbols=ignore-all")
        );
        assert!(!gcc(&format!("{demand} a.o")).contains("unresolved"));
    }
}

#[test]
fn the_users_own_thread_sanitizer_gives_way() {
    assert_eq!(
        gcc("-fsanitize=thread a.o"),
        format!("{RUNTIME} a.o -lpthread -ldl")
    );
    assert_eq!(
        gcc("-fsanitize=undefined,thread a.o"),
        format!("{RUNTIME} -fsanitize=undefined a.o -lpthread -ldl")
    );
    assert_eq!(
        gcc("-fsanitize=thread -c a.c"),
        format!("-g -O1 {} -c a.c", instrument())
    );
    assert!(
        gcc("-fno-sanitize=thread -c a.c").ends_with("-fno-sanitize=thread -c a.c"),
        "a file that is to stay plain does"
    );
}

#[test]
fn languages_are_followed() {
    assert!(gcc("-x c -c prog.txt").contains("-fsanitize"));
    assert!(gcc("-xc++ -c -").contains("-fsanitize"));
    assert!(!gcc("-x c -x none prog.txt").contains("-wrapper"));
    assert!(gcc("-E -x c /dev/null -dM").contains("-fsanitize"));
    assert!(!gcc("common.h").contains("librt"), "a precompiled header");
    assert!(gcc("common.h").contains("-fsanitize"));
    assert!(!gcc("-x c++-header common -o common.gch").contains("librt"));
}

#[test]
fn values_are_not_taken_for_files() {
    for line in [
        "-o a.c --version",
        "-include x.c --version",
        "-MF x.c -dumpversion",
        "-Xlinker a.c -v",
        "-L lib.c -v",
    ] {
        assert_eq!(gcc(line), line);
    }
}

#[test]
fn link_time_optimisation_is_left_out() {
    assert_eq!(
        gcc("-flto -c a.c"),
        format!("-g -O1 {} -c a.c", instrument())
    );
    assert!(!gcc("-flto=auto a.o").contains("lto"));
}

#[test]
fn what_cannot_be_recorded_is_refused() {
    assert!(refused(Family::Gcc, "-static a.o").contains("-static"));
    assert!(refused(Family::Gcc, "-static-pie a.c").contains("-static-pie"));
    assert!(
        gcc("-static -c a.c").contains("-fsanitize"),
        "only linking matters"
    );
    assert!(refused(Family::Gcc, "-m32 -c a.c").contains("32-bit"));
    assert!(refused(Family::Clang, "-mx32 a.c").contains("32-bit"));
    assert!(gcc("-m32 -m64 -c a.c").contains("-fsanitize"));
    assert!(refused(Family::Gcc, "-fsanitize=address -c a.c").contains("address"));
    assert!(refused(Family::Clang, "-fsanitize=undefined a.c").contains("in one step"));
    assert!(clang("-fsanitize=undefined -c a.c").contains("undefined"));
}

#[test]
fn a_comma_in_our_path_is_said() {
    let parts = Parts {
        object: Path::new("o"),
        exports: Path::new("e"),
        deadheat: Path::new("/a,b/deadheat"),
    };
    let error = plan(Family::Gcc, &["a.c".into()], parts).unwrap_err();
    assert!(error.to_string().contains("comma"));
    assert!(plan(Family::Gcc, &["-c".into(), "a.c".into()], parts).is_ok());
}
