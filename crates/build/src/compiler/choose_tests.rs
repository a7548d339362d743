//! Choosing a compiler among made-up ones.

use super::*;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A machine with these programs, and Deadheat.
fn machine(programs: &[&str]) -> (TempDir, Surroundings) {
    let top = tempfile::tempdir().unwrap();
    let bin = top.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for name in programs.iter().chain(&["deadheat"]) {
        script(&bin.join(name), "exit 0");
    }
    let surroundings = Surroundings {
        path: bin.clone().into(),
        cc: None,
        cxx: None,
        deadheat: bin.join("deadheat").canonicalize().unwrap(),
    };
    (top, surroundings)
}

fn script(path: &Path, text: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn chosen(surroundings: &Surroundings, wish: Wish, language: Language) -> (String, Family) {
    let compiler = surroundings.choose(&wish, language).unwrap();
    let names: Vec<_> = compiler
        .command
        .iter()
        .map(|path| Path::new(path).file_name().unwrap().to_str().unwrap())
        .collect();
    (names.join(" "), compiler.family)
}

#[test]
fn gcc_is_the_default_then_clang() {
    let (_top, both) = machine(&["gcc", "g++", "clang", "clang++"]);
    assert_eq!(
        chosen(&both, Wish::Any, Language::C),
        ("gcc".into(), Family::Gcc)
    );
    assert_eq!(
        chosen(&both, Wish::Any, Language::Cxx),
        ("g++".into(), Family::Gcc)
    );
    let (_top, debian) = machine(&["clang-14", "clang-19", "clang++-19"]);
    assert_eq!(
        chosen(&debian, Wish::Any, Language::C),
        ("clang-19".into(), Family::Clang)
    );
    let (_top, none) = machine(&[]);
    let error = none
        .choose(&Wish::Any, Language::Cxx)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("no C++ compiler found"), "{error}");
}

#[test]
fn a_named_compiler_has_its_counterpart() {
    let (_top, machine) = machine(&["gcc", "g++", "clang-19", "clang++-19"]);
    let named = |name: &str| Wish::Named(name.into());
    assert_eq!(
        chosen(&machine, named("clang"), Language::Cxx).0,
        "clang++-19"
    );
    assert_eq!(
        chosen(&machine, named("clang-19"), Language::Cxx).0,
        "clang++-19"
    );
    assert_eq!(chosen(&machine, named("g++"), Language::C).0, "gcc");
    let error = machine
        .choose(&named("tcc"), Language::C)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("compiler not found: tcc (from --compiler)"),
        "{error}"
    );
}

#[test]
fn the_environment_names_compilers() {
    let (_top, mut machine) = machine(&["gcc", "g++", "clang-19", "clang++-19", "ccache"]);
    machine.cc = Some("clang-19".into());
    assert_eq!(chosen(&machine, Wish::Any, Language::C).0, "clang-19");
    assert_eq!(chosen(&machine, Wish::Any, Language::Cxx).0, "clang++-19");
    machine.cxx = Some("g++".into());
    assert_eq!(chosen(&machine, Wish::Any, Language::Cxx).0, "g++");
    machine.cc = Some("ccache gcc".into());
    assert_eq!(
        chosen(&machine, Wish::Any, Language::C),
        ("ccache gcc".into(), Family::Gcc)
    );
    let exactly = Wish::Exactly("g++".into());
    assert_eq!(
        chosen(&machine, exactly, Language::C).0,
        "g++",
        "a shim is what it is called"
    );
}

#[test]
fn deadheat_is_never_its_own_compiler() {
    let (top, mut machine) = machine(&["gcc"]);
    let shims = top.path().join("shims");
    std::fs::create_dir(&shims).unwrap();
    symlink(&machine.deadheat, shims.join("gcc")).unwrap();
    let mut path = shims.clone().into_os_string();
    path.push(":");
    path.push(&machine.path);
    machine.path = path;
    let real = top.path().join("bin/gcc");
    for wish in [
        Wish::Any,
        Wish::Exactly("gcc".into()),
        Wish::Exactly(shims.join("gcc").into()),
    ] {
        let compiler = machine.choose(&wish, Language::C).unwrap();
        assert_eq!(compiler.command, [real.as_os_str()]);
    }
    machine.cc = Some(machine.deadheat.clone().into());
    assert!(machine.choose(&Wish::Any, Language::C).is_err());
}

#[test]
fn an_unclear_name_is_asked() {
    let (top, machine) = machine(&["gcc"]);
    let bin = top.path().join("bin");
    script(&bin.join("cc"), "echo 'Debian clang version 19.1.7'");
    script(
        &bin.join("c99"),
        "echo 'Copyright (C) 2022 Free Software Foundation, Inc.'",
    );
    script(&bin.join("c89"), "echo 'TinyCC'");
    symlink("gcc", bin.join("mycc")).unwrap();
    let exactly = |name: &str| Wish::Exactly(name.into());
    assert_eq!(
        chosen(&machine, exactly("cc"), Language::C).1,
        Family::Clang
    );
    assert_eq!(chosen(&machine, exactly("c99"), Language::C).1, Family::Gcc);
    assert_eq!(
        chosen(&machine, exactly("mycc"), Language::C).1,
        Family::Gcc
    );
    let error = machine
        .choose(&exactly("c89"), Language::C)
        .unwrap_err()
        .to_string();
    assert!(error.contains("neither gcc nor clang"), "{error}");
}
