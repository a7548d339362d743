//! Whole projects (`programs/projects`): the commands on their pages are run in a copy, and find the error
//! at the lines that the sources mark.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Sandbox, forget_cargo};

const MARKS: [&str; 2] = ["// RACE:", "// DEADLOCK:"];

fn project(name: &str) -> PathBuf {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/projects");
    top.join(name)
}

/// All files of a project, seen from its folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}

/// A copy of it, and the places where the sources say that the error is.
fn copy(name: &str) -> (Sandbox, Vec<String>) {
    let here = Sandbox::new();
    let from = project(name);
    let mut marked = Vec::new();
    for path in files(&from) {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(&from).unwrap().to_str().unwrap();
        here.file(name, &text);
        let lines = text.lines().zip(1..);
        let lines = lines.filter(|(line, _)| MARKS.iter().any(|mark| line.contains(mark)));
        marked.extend(lines.map(|(_, number)| format!("{name}:{number}")));
    }
    (here, marked)
}

/// The commands of a page, one script for each block.
fn scripts(name: &str) -> Vec<String> {
    let page = std::fs::read_to_string(project(name).join("README.md")).unwrap();
    let blocks = page.split("```sh\n").skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap().to_owned())
        .collect()
}

/// A shell in which nothing is left of the cargo that runs this test.
fn shell(here: &Sandbox, script: &str) -> Command {
    let mut command = here.command("bash");
    command.args(["-ec", script]);
    forget_cargo(&mut command);
    command
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}

/// Runs every way on a project's page; those that need a program that is not there are left out.
fn finds_its_error(name: &str, needs: &[(&str, &str)]) {
    let scripts = scripts(name);
    assert!(!scripts.is_empty(), "{name} has no commands");
    for script in scripts {
        let missing =
            |(word, program): &&(&str, &str)| script.contains(word) && !is_installed(program);
        if let Some((_, program)) = needs.iter().find(missing) {
            eprintln!("skipped, no {program}: {script}");
            continue;
        }
        let (here, marked) = copy(name);
        assert!(!marked.is_empty(), "{name} marks nothing");
        let output = shell(&here, &script).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let whole = format!("{script}\n{said}\n{errors}");
        assert_eq!(output.status.code(), Some(66), "{whole}");
        for place in &marked {
            assert!(
                said.contains(&format!(" {place}")),
                "not at {place}: {whole}"
            );
        }
        let here = here.path().to_str().unwrap();
        let report = said.split_once("race on").map_or("", |(_, report)| report);
        assert!(!report.contains(here), "a path of this machine: {whole}");
    }
}

#[test]
fn with_make() {
    finds_its_error("make", &[]);
}

#[test]
fn with_autotools() {
    let needs = [("autoreconf", "autoreconf"), ("autoreconf", "libtoolize")];
    finds_its_error("autotools", &needs);
}

#[test]
fn with_cmake() {
    finds_its_error("cmake", &[("cmake", "cmake")]);
}

#[test]
fn with_meson() {
    finds_its_error("meson", &[("meson", "meson"), ("ninja", "ninja")]);
}

#[test]
fn in_a_cargo_workspace() {
    finds_its_error("workspace", &[("nextest", "cargo-nextest")]);
}
