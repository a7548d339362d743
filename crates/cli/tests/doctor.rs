//! `deadheat doctor` on machines that lack something.

mod support;

use std::os::unix::fs::symlink;

use support::Sandbox;

/// What differs between machines: their kernels, limits, versions, room, and what lies beside the executable.
fn steady(told: &str) -> String {
    const OF_THE_MACHINE: [&str; 6] = [
        "static analyser",
        "steady addresses",
        "vm.overcommit_memory",
        "address space",
        "open files",
        "stack ",
    ];
    let mut out = String::new();
    let mut is_left_out = false;
    for line in told.lines() {
        let is_more = line.trim_start().starts_with("help:");
        is_left_out = match is_more {
            true => is_left_out,
            false => OF_THE_MACHINE.iter().any(|name| line.contains(name)),
        };
        if !is_left_out {
            out += line;
            out.push('\n');
        }
    }
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");
    let version = format!(
        "deadheat              {}; runtime ",
        env!("CARGO_PKG_VERSION")
    );
    let mut words = Vec::new();
    for line in out.replace(cache, "[CACHE]").lines() {
        words.push(
            match (
                line.strip_prefix(&format!("ok        {version}")),
                line.split_once(", "),
            ) {
                (Some(_), _) => "ok        deadheat              [VERSIONS]".to_owned(),
                (None, Some((before, free))) if free.ends_with(" free") => {
                    format!("{before}, [SIZE] free")
                }
                _ => line.to_owned(),
            },
        );
    }
    words.join("\n") + "\n"
}

/// A folder for `PATH` with these programs of this machine and nothing else.
fn path_with(here: &Sandbox, programs: &[&str]) -> std::path::PathBuf {
    let folder = here.path().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for name in programs {
        let real = std::env::split_paths(&path)
            .map(|at| at.join(name))
            .find(|p| p.exists());
        symlink(real.unwrap(), folder.join(name)).unwrap();
    }
    folder
}

#[test]
fn a_machine_without_anything() {
    let here = Sandbox::new();
    let nothing = path_with(&here, &[]);
    let store = here.file("file", "").join("store");
    here.file("deadheat.toml", "rnus = 3\n");
    let mut doctor = here.deadheat(["doctor"]);
    doctor
        .env("PATH", nothing)
        .env("DEADHEAT_STORE", store)
        .env_remove("RUSTC");
    insta::assert_snapshot!(steady(&here.told(&mut doctor)));
}

#[test]
fn a_machine_with_a_c_compiler_only() {
    let here = Sandbox::new();
    let path = path_with(&here, &["gcc", "as", "ld"]);
    let mut doctor = here.deadheat(["doctor"]);
    doctor.env("PATH", path).env_remove("RUSTC");
    let told = steady(&here.told(&mut doctor));
    let told: Vec<String> = told
        .lines()
        .map(|line| match line.split_once("gcc for C             ") {
            Some((state, rest)) => {
                let (_, said) = rest.split_once("; ").unwrap_or(("", rest));
                format!("{state}gcc for C             [VERSION]; {said}")
            }
            None => line.to_owned(),
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_compiler_that_builds_nothing_and_one_that_is_named() {
    let here = Sandbox::new();
    let path = path_with(&here, &["sh"]);
    let broken = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'gcc 1.0'; exit 0; fi\necho no such thing >&2; exit 1\n";
    here.script("bin/gcc", broken);
    let mut doctor = here.deadheat(["doctor"]);
    doctor
        .env("PATH", path)
        .env("DEADHEAT_CXX", "gone++")
        .env_remove("RUSTC");
    let told = here.told(&mut doctor);
    assert!(told.contains("it builds no program"), "{told}");
    assert!(told.contains("it said: no such thing"), "{told}");
    assert!(told.contains("missing   gone++ for C++"), "{told}");
    assert!(told.starts_with("exit: 3"), "{told}");
}

#[test]
fn everything_as_data() {
    let here = Sandbox::new();
    let output = here
        .deadheat(["doctor", "--format", "json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let languages: Vec<_> = told["languages"].as_array().unwrap().iter().collect();
    assert_eq!(languages, ["C", "C++", "Rust"]);
    for check in told["checks"].as_array().unwrap() {
        let state = check["state"].as_str().unwrap();
        assert!(["ok", "degraded", "missing"].contains(&state), "{check}");
        assert!(state == "ok" || check["help"].is_array(), "{check}");
    }
    assert!(
        !here.path().join(".deadheat").exists(),
        "nothing stays behind"
    );
}
