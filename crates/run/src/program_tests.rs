//! Programs of every kind, built here or made up byte by byte.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn executable(folder: &TempDir, name: &str, contents: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, contents).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A program that gcc makes of this source.
fn built(folder: &TempDir, source: &str, flags: &[&str]) -> PathBuf {
    let input = folder.path().join("prog.c");
    let output = folder.path().join("prog");
    std::fs::write(&input, source).unwrap();
    let status = Command::new("gcc")
        .arg(&input)
        .args(flags)
        .arg("-o")
        .arg(&output)
        .status();
    assert!(status.unwrap().success());
    output
}

fn refused(path: &Path) -> String {
    inspect(path, "./prog").unwrap_err().to_string()
}

const EMPTY: &str = "int main(void) { return 0; }\n";
const MARKED: &str = "unsigned __deadheat_runtime = 1; int main(void) { return 0; }\n";

#[test]
fn a_linked_program_is_recognised_even_when_stripped() {
    let folder = folder();
    let path = built(&folder, MARKED, &["-Wl,--build-id=0x0123ab"]);
    let program = inspect(&path, "./prog").unwrap();
    assert_eq!(program.kind, Kind::Linked);
    assert_eq!(program.build_id.as_deref(), Some("0123ab"));
    let path = built(&folder, MARKED, &["-s", "-rdynamic", "-Wl,--build-id=none"]);
    let program = inspect(&path, "./prog").unwrap();
    assert_eq!((program.kind, program.build_id), (Kind::Linked, None));
}

#[test]
fn gccs_own_runtime_is_recognised() {
    let folder = folder();
    let path = built(&folder, EMPTY, &["-fsanitize=thread"]);
    assert_eq!(inspect(&path, "./prog").unwrap().kind, Kind::LoadsTsan);
}

#[test]
fn clangs_own_runtime_is_refused() {
    let folder = folder();
    let source = "void __tsan_init(void) {} int main(void) { return 0; }\n";
    let path = built(&folder, source, &[]);
    insta::assert_snapshot!(refused(&path));
}

#[test]
fn a_plain_program_is_refused() {
    let folder = folder();
    insta::assert_snapshot!(refused(&built(&folder, EMPTY, &[])));
}

#[test]
fn a_static_program_is_refused() {
    let folder = folder();
    insta::assert_snapshot!(refused(&built(&folder, MARKED, &["-static"])));
    assert!(refused(&built(&folder, MARKED, &["-static-pie"])).contains("statically"));
}

#[test]
fn a_narrow_program_is_refused() {
    let folder = folder();
    let mut head = std::fs::read(built(&folder, EMPTY, &[])).unwrap();
    head[4] = elf::ELFCLASS32.0;
    insta::assert_snapshot!(refused(&executable(&folder, "narrow", &head)));
}

#[test]
fn another_machines_program_is_refused() {
    let folder = folder();
    let mut head = std::fs::read(built(&folder, EMPTY, &[])).unwrap();
    head[18] = elf::EM_AARCH64.0.to_le_bytes()[0];
    insta::assert_snapshot!(refused(&executable(&folder, "arm", &head)));
}

#[test]
fn damage_is_an_error_wherever_it_is() {
    let folder = folder();
    let whole = std::fs::read(built(&folder, MARKED, &[])).unwrap();
    for length in [0, 1, 4, 5, 19, 20, 63, 64, 200, whole.len() / 2] {
        let path = executable(&folder, "short", &whole[..length]);
        assert!(inspect(&path, "./prog").is_err(), "{length} bytes");
    }
    for at in 16..64 {
        let mut bent = whole.clone();
        bent[at] = !bent[at];
        let _ = inspect(&executable(&folder, "bent", &bent), "./prog"); // must not panic
    }
}

#[test]
fn scripts_are_fine() {
    let folder = folder();
    let path = executable(&folder, "script", b"#!/bin/sh\nexec true\n");
    assert_eq!(inspect(&path, "script").unwrap().kind, Kind::Script);
}

#[test]
fn other_files_are_refused() {
    let folder = folder();
    let text = executable(&folder, "text", b"hello\n");
    insta::assert_snapshot!("text", refused(&text));
    insta::assert_snapshot!("folder", refused(folder.path()));
    insta::assert_snapshot!("missing", refused(&folder.path().join("no-such-file")));
    std::fs::set_permissions(&text, std::fs::Permissions::from_mode(0o644)).unwrap();
    insta::assert_snapshot!("not_executable", refused(&text));
}

#[test]
fn names_are_looked_up_as_a_shell_does() {
    let error = Program::find("no-such-program".as_ref())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("program not found: no-such-program"),
        "{error}"
    );
    let error = Program::find("true".as_ref()).unwrap_err().to_string();
    assert!(
        error.starts_with("true was not built with Deadheat"),
        "{error}"
    );
}
