//! Files that cannot be analysed: each gets an answer that says what is wrong with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_scan::{Error, llvm, source};

/// A directory with files for one test.
struct Files {
    directory: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("there is room for a directory");
        Files { directory }
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, contents).expect("there is room for a file");
        path
    }

    /// Bitcode of a C program, with clang's own flags.
    fn bitcode(&self, name: &str, text: &str, flags: &[&str]) -> PathBuf {
        let source = self.write(&format!("{name}.c"), text);
        let into = self.directory.path().join(format!("{name}.bc"));
        let status = Command::new("clang-19")
            .args(flags)
            .args(["-emit-llvm", "-c"])
            .arg(source)
            .arg("-o")
            .arg(&into)
            .status();
        assert!(status.expect("clang-19 runs").success());
        into
    }
}

fn refused(path: &Path) -> Error {
    let paths = [path.to_owned()];
    llvm::read(&paths).expect_err("it is refused")
}

const PROGRAM: &str =
    "int g; int add(int n) { return g += n; } int twice(int n) { return add(n) + n; }";
const UNOPTIMISED: [&str; 4] = ["-g", "-O0", "-Xclang", "-disable-O0-optnone"];

#[test]
fn truncated_bitcode_is_refused() {
    let files = Files::new();
    let whole = files.bitcode("whole", PROGRAM, &UNOPTIMISED);
    let whole = std::fs::read(whole).expect("it was written");
    let mut refusals = 0;
    for length in (1..whole.len()).step_by(whole.len() / 50) {
        let path = files.write("part.bc", &whole[..length]);
        // Behind the program there is what linkers want to know: without that it is whole.
        if let Err(error) = llvm::read(&[path]) {
            assert!(error.to_string().contains("part.bc"), "{error}");
            refusals += 1;
        }
    }
    assert!(refusals > 40, "only {refusals} were refused");
}

#[test]
fn an_empty_file_is_refused() {
    let files = Files::new();
    let error = refused(&files.write("empty.bc", ""));
    assert!(error.to_string().ends_with("the file is empty"), "{error}");
}

#[test]
fn other_text_is_refused() {
    let files = Files::new();
    let error = refused(&files.write("text.ll", "This is no program.\n"));
    assert!(matches!(error, Error::NotBitcode { .. }), "{error}");
    assert!(error.to_string().contains("text.ll:1:1"), "{error}");
}

#[test]
fn a_missing_file_is_refused() {
    let error = refused(Path::new("nowhere/missing.bc"));
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
    let error = source::bitcode(&["nowhere/missing.c".into()], None, &[]);
    assert!(matches!(error, Err(Error::Unreadable { .. })), "{error:?}");
}

#[test]
fn broken_modules_are_refused() {
    let files = Files::new();
    let text =
        "define i32 @f(i32 %a) {\n  %c = add i32 %b, 1\n  %b = add i32 %a, 1\n  ret i32 %c\n}\n";
    let error = refused(&files.write("broken.ll", text));
    assert!(matches!(error, Error::Broken { .. }), "{error}");
    assert!(error.to_string().contains("does not dominate"), "{error}");
}

#[test]
fn a_module_without_functions_is_refused() {
    let files = Files::new();
    let error = refused(&files.bitcode("nothing", "int declared(void);", &UNOPTIMISED));
    assert!(matches!(error, Error::Empty { .. }), "{error}");
}

#[test]
fn optimised_bitcode_is_refused() {
    let files = Files::new();
    let error = refused(&files.bitcode("fast", PROGRAM, &["-g", "-O2"]));
    assert!(matches!(error, Error::Optimised { .. }), "{error}");
    let error = refused(&files.bitcode("nameless", PROGRAM, &["-O2"]));
    assert!(matches!(error, Error::Optimised { .. }), "{error}");
}

#[test]
fn optimisation_without_passes_is_no_harm() {
    let files = Files::new();
    let flags = ["-g", "-O2", "-Xclang", "-disable-llvm-passes"];
    let path = files.bitcode("raw", PROGRAM, &flags);
    let program = llvm::read(&[path]).expect("it is read");
    assert!(program.unread.is_empty(), "{:?}", program.unread);
}

#[test]
fn functions_that_are_not_to_be_optimised_are_read_the_same() {
    let files = Files::new();
    let with = files.bitcode("with", PROGRAM, &["-g", "-O0"]);
    let without = files.bitcode("without", PROGRAM, &UNOPTIMISED);
    let statements = |path: PathBuf| {
        let program = llvm::read(&[path]).expect("it is read");
        let blocks = program
            .functions
            .into_iter()
            .flat_map(|function| function.blocks);
        blocks.map(|block| block.statements.len()).sum::<usize>()
    };
    assert_eq!(statements(with), statements(without));
}

#[test]
fn missing_debug_information_is_noted() {
    let files = Files::new();
    let path = files.bitcode("plain", PROGRAM, &["-O0"]);
    let program = llvm::read(&[path]).expect("it is read");
    assert_eq!(program.unread.len(), 1);
    assert!(
        program.unread[0].contains("compile with -g"),
        "{:?}",
        program.unread
    );
    assert!(program.places.is_empty());
    assert!(program.named("add").is_some());
}

/// The compiler of Rust has a newer LLVM than the one that reads here.
#[test]
fn bitcode_of_a_newer_llvm_is_refused() {
    let files = Files::new();
    let source = files.write("newer.rs", "pub fn one() -> u32 { 1 }");
    let path = files.directory.path().join("newer.bc");
    let status = Command::new("rustc")
        .args(["--crate-type=lib", "--emit=llvm-bc", "-g", "-o"])
        .args([&path, &source])
        .status();
    assert!(status.expect("rustc runs").success());
    let error = refused(&path);
    assert!(matches!(error, Error::OtherVersion { .. }), "{error}");
    assert!(error.to_string().contains("rust"), "{error}");
}

#[test]
fn modules_that_define_the_same_are_refused() {
    let files = Files::new();
    let one = files.bitcode("one", PROGRAM, &UNOPTIMISED);
    let two = files.bitcode("two", PROGRAM, &UNOPTIMISED);
    let error = llvm::read(&[one, two]).expect_err("they do not fit");
    assert!(matches!(error, Error::Unlinkable { .. }), "{error}");
    assert!(error.to_string().contains("two.bc"), "{error}");
    assert!(error.to_string().contains("multiply defined"), "{error}");
}

#[test]
fn nothing_and_unknown_files_are_refused() {
    let error = source::bitcode(&[], None, &[]);
    assert!(matches!(error, Err(Error::NoInput)), "{error:?}");
    let error = source::bitcode(&["picture.png".into()], None, &[]);
    assert!(matches!(error, Err(Error::UnknownKind { .. })), "{error:?}");
}

#[test]
fn what_the_compiler_says_is_passed_on() {
    let files = Files::new();
    let good = files.write("good.c", "int one(void) { return 1; }");
    let bad = files.write("bad.c", "int two(void) { return missing; }");
    let error = source::bitcode(&[good, bad], None, &["-DX".to_owned()]);
    let error = error.expect_err("it does not compile").to_string();
    assert!(error.contains("bad.c does not compile"), "{error}");
    assert!(error.contains("clang-19 -DX"), "{error}");
    assert!(error.contains("undeclared identifier 'missing'"), "{error}");
}

#[test]
fn lists_of_compilations_have_their_own_flags() {
    let files = Files::new();
    files.write(
        "one.c",
        "int two(void); int one(void) { return two() + NUMBER; }",
    );
    files.write("two.cc", "extern \"C\" int two() { return NUMBER; }");
    let list = r#"[
        {"directory": ".", "file": "one.c", "command": "gcc -O2 -DNUMBER=3 -MD -MF x.d -Wall -c one.c -o one.o"},
        {"directory": ".", "file": "two.cc", "arguments": ["g++", "-DNUMBER=4", "-c", "two.cc", "-o", "two.o"]},
        {"directory": ".", "file": "start.S", "command": "gcc -c start.S"}
    ]"#;
    let list = files.write("compile_commands.json", list);
    let bitcode = source::bitcode(&[], Some(&list), &[]).expect("it compiles");
    assert_eq!(bitcode.paths().len(), 2);
    let program = llvm::read(bitcode.paths()).expect("it is read");
    for name in ["one", "two"] {
        let id = program.named(name).expect("it is there");
        assert!(program.function(id).is_defined(), "{name}");
    }
}

#[test]
fn lists_that_are_none_are_refused() {
    let files = Files::new();
    let list = files.write("compile_commands.json", "{}");
    let error = source::bitcode(&[], Some(&list), &[]);
    assert!(matches!(error, Err(Error::BadCommands { .. })), "{error:?}");
    let list = files.write("none.json", r#"[{"directory": "/", "file": "a.c"}]"#);
    let error = source::bitcode(&[], Some(&list), &[]).expect_err("it has no command");
    assert!(error.to_string().contains("no command for a.c"), "{error}");
}

/// The same structure in two files is one, and what one file only declares the other one defines.
#[test]
fn modules_are_linked() {
    let files = Files::new();
    let header = "struct pair { int first, second; }; int second(struct pair *);";
    let one = format!("{header} int use(struct pair *p) {{ return p->first + second(p); }}");
    let two = format!("{header} int second(struct pair *p) {{ return p->second; }}");
    let one = files.bitcode("one", &one, &UNOPTIMISED);
    let two = files.bitcode("two", &two, &UNOPTIMISED);
    let program = llvm::read(&[one, two]).expect("they fit");
    assert_eq!(program.functions.len(), 2);
    assert!(
        program
            .functions
            .iter()
            .all(|function| function.is_defined())
    );
    assert_eq!(program.layouts.len(), 1);
    assert_eq!(program.layouts[0].name, "struct pair");
}

/// Modules of the kernel all define the same two names.
#[test]
fn modules_of_the_kernel_are_linked() {
    let files = Files::new();
    let module = |name: &str| {
        let text = format!(
            "static int {name}_start(void) {{ return 0; }}
             int init_module(void) __attribute__((alias(\"{name}_start\")));
             void cleanup_module(void) {{}}"
        );
        files.bitcode(name, &text, &UNOPTIMISED)
    };
    let program = llvm::read(&[module("one"), module("two")]).expect("they fit");
    let mut started = program.aliases.iter().map(|(_, id)| program.function(*id));
    assert!(started.all(|function| function.is_external && function.is_defined()));
    assert_eq!(program.aliases.len(), 2);
    assert_eq!(program.functions.len(), 4);
}

/// Set in the process that LLVM ends.
const BROKEN: &str = "DEADHEAT_TEST_BROKEN";

/// With debug information, LLVM ends the process over a broken module: that is said, too.
#[test]
fn llvm_that_gives_up_is_an_error() {
    if let Some(path) = std::env::var_os(BROKEN) {
        let result = llvm::read(&[path.into()]);
        panic!("LLVM went on: {result:?}");
    }
    let files = Files::new();
    let text = "define i32 @f(i32 %a) !dbg !2 {
          %c = add i32 %b, 1
          %b = add i32 %a, 1
          ret i32 %c
        }
        !llvm.module.flags = !{!0}
        !llvm.dbg.cu = !{!1}
        !0 = !{i32 2, !\"Debug Info Version\", i32 3}
        !1 = distinct !DICompileUnit(language: DW_LANG_C11, file: !3, emissionKind: FullDebug)
        !2 = distinct !DISubprogram(name: \"f\", file: !3, unit: !1, spFlags: DISPFlagDefinition)
        !3 = !DIFile(filename: \"f.c\", directory: \"/\")";
    let test = std::env::current_exe().expect("this test is a file");
    let output = Command::new(test)
        .args(["--exact", "llvm_that_gives_up_is_an_error", "--nocapture"])
        .env(BROKEN, files.write("broken.ll", text))
        .output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let error = "deadheat-scan: error: LLVM gave up: Broken module found";
    assert!(said.contains(error), "{said}");
}
