//! Fetches and builds: each program as it is, and once more by the wrappers. What is there already is not made again.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::advisories::Advisory;
use super::crates::Tests;
use super::kernels::Kernel;
use super::programs::Program;
use crate::debian::{self, run};

/// A program, built both ways.
pub struct Built {
    /// Without Deadheat.
    pub plain: PathBuf,
    /// By Deadheat's wrappers.
    pub hooked: PathBuf,
    /// With the compiler's own ThreadSanitizer, where that can be.
    pub tsan: Option<PathBuf>,
    /// The version of what it is made of.
    pub version: String,
    /// Lines of its sources that are not empty.
    pub lines: usize,
}

/// Why a program is not there.
pub enum Failure {
    /// It could not be fetched.
    Fetched(String),
    /// It could not be built.
    Built(String),
}

impl From<String> for Failure {
    fn from(said: String) -> Self {
        Failure::Built(said)
    }
}

/// A program of a source package.
pub fn program(cache: &Path, deadheat: &Path, program: &Program) -> Result<Built, Failure> {
    let tree = debian::source(cache, program.package).map_err(Failure::Fetched)?;
    let build = |kind: &str, mut command: Command| {
        let folder = cache.join("built").join(program.name()).join(kind);
        let made = folder.join(program.made);
        if !made.exists() {
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
            run(Command::new("cp")
                .arg("-a")
                .arg(tree.join("."))
                .arg(&folder))?;
            if let Some(text) = program.ours {
                fs::write(folder.join("ours.c"), text).map_err(|error| error.to_string())?;
            }
            run(command
                .current_dir(&folder)
                .args(["sh", "-c", program.build]))?;
        }
        Ok::<_, String>(made)
    };
    let mut hooked = Command::new(deadheat);
    hooked.args(["build", "--"]);
    let mut tsan = Command::new("env");
    tsan.env("PATH", tsan_path(cache)?);
    // Tests that a build runs may race.
    tsan.env("TSAN_OPTIONS", "exitcode=0");
    Ok(Built {
        plain: build("plain", Command::new("env"))?,
        hooked: build("hooked", hooked)?,
        tsan: build("tsan", tsan).ok(),
        version: version(&debian::folder(cache, program.package)).unwrap_or_default(),
        lines: lines(&tree.join(program.sources))?,
    })
}

/// A search path on which the usual names of compilers are those of gcc with ThreadSanitizer.
fn tsan_path(cache: &Path) -> Result<OsString, String> {
    let folder = cache.join("tsan");
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    for (name, real) in [
        ("cc", "gcc"),
        ("gcc", "gcc"),
        ("c++", "g++"),
        ("g++", "g++"),
    ] {
        let script = format!("#!/bin/sh\nexec /usr/bin/{real} -fsanitize=thread -g \"$@\"\n");
        let path = folder.join(name);
        if fs::read_to_string(&path).is_ok_and(|is| is == script) {
            continue;
        }
        fs::write(&path, script).map_err(|error| error.to_string())?;
        run(Command::new("chmod").arg("+x").arg(&path))?;
    }
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(folder).chain(std::env::split_paths(&usual));
    std::env::join_paths(all).map_err(|error| error.to_string())
}

/// A kernel of our own.
pub fn kernel(
    cache: &Path,
    deadheat: &Path,
    sources: &Path,
    kernel: &Kernel,
) -> Result<Built, Failure> {
    let folder = cache.join("built/kernels").join(kernel.folder());
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    // Beside what is built: findings name no folder of the project's then.
    for file in [kernel.file, "kernel.h"] {
        let copied = fs::copy(sources.join(file), folder.join(file));
        copied.map_err(|error| format!("{file}: {error}"))?;
    }
    let source = folder.join(kernel.file);
    let build = |kind: &str, program: &Path, words: &[&str]| {
        let made = folder.join(kind);
        let mut command = Command::new(program);
        command.args(words);
        match kernel.file.ends_with(".rs") {
            true => command.args(["-g", "-O", "--edition=2024"]),
            false => command.args(["-g", "-O2", "-pthread"]),
        };
        match (kernel.races, kernel.file.ends_with(".rs")) {
            (false, _) => &mut command,
            (true, true) => command.args(["--cfg", "racing"]),
            (true, false) => command.arg("-DRACE"),
        };
        command.arg(&source).arg("-o").arg(&made);
        if !kernel.file.ends_with(".rs") {
            command.arg("-lm");
        }
        run(&mut command).map(|()| made)
    };
    let (compiler, wrapper) = match kernel.file.rsplit('.').next() {
        Some("rs") => ("rustc", "rustc"),
        Some("cpp") => ("g++", "c++"),
        _ => ("gcc", "cc"),
    };
    Ok(Built {
        plain: build("plain", Path::new(compiler), &[])?,
        hooked: build("hooked", deadheat, &[wrapper])?,
        // Rust's standard library is not instrumented: its threads' order would not be seen.
        tsan: match compiler {
            "rustc" => None,
            _ => Some(build("tsan", Path::new(compiler), &["-fsanitize=thread"])?),
        },
        version: String::new(),
        lines: crate::scan::lines(std::slice::from_ref(&source))?,
    })
}

/// The version in the name of the archive that was fetched.
fn version(folder: &Path) -> Option<String> {
    let names = fs::read_dir(folder).ok()?.flatten();
    let mut names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.find_map(|name| {
        let (before, _) = name.split_once(".orig.tar.")?;
        Some(before.split_once('_')?.1.to_owned())
    })
}

/// A program of our own that uses a crate.
pub fn advisory(cache: &Path, deadheat: &Path, advisory: &Advisory) -> Result<Built, Failure> {
    let folder = cache.join("built").join(advisory.number);
    let write = |file: &str, text: &str| {
        fs::create_dir_all(folder.join("src")).map_err(|error| error.to_string())?;
        fs::write(folder.join(file), text).map_err(|error| error.to_string())
    };
    let manifest = format!(
        "[package]\nname = \"racing\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n{}\n",
        advisory.dependencies
    );
    write("Cargo.toml", &manifest)?;
    write("src/main.rs", advisory.program)?;
    let target = folder.join("target");
    let cargo = |program: &Path, arguments: &[&str]| {
        let mut command = Command::new(program);
        run(command
            .current_dir(&folder)
            .env("CARGO_TARGET_DIR", &target)
            .args(arguments))
    };
    cargo(Path::new("cargo"), &["build", "--quiet"])?;
    cargo(deadheat, &["cargo", "build", "--quiet"])?;
    let hooked = target.join("deadheat/x86_64-unknown-linux-gnu/debug/racing");
    if !hooked.exists() {
        return Err(format!("{} was not built", hooked.display()).into());
    }
    Ok(Built {
        plain: target.join("debug/racing"),
        hooked,
        tsan: None,
        version: advisory.version.to_owned(),
        lines: lines(&folder.join("src"))?,
    })
}

/// The program of some of a crate's own tests.
pub fn tests(cache: &Path, deadheat: &Path, tests: &Tests) -> Result<Built, Failure> {
    let name = format!("{}-{}", tests.name, tests.version);
    let folder = cache.join("built").join(&name);
    if !folder.join("Cargo.toml").exists() {
        let published = published(cache, tests).map_err(Failure::Fetched)?;
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        run(Command::new("cp")
            .arg("-a")
            .arg(published.join("."))
            .arg(&folder))?;
        stand_alone(&folder.join("Cargo.toml")).map_err(|error| error.to_string())?;
    }
    let test = |command: &mut Command| {
        let output = command
            .current_dir(&folder)
            .env("CARGO_TARGET_DIR", folder.join("target"))
            .args(["test", "--quiet", "--no-run", "--message-format=json"])
            .args(tests.target)
            .output()
            .map_err(|error| error.to_string())?;
        let printed = String::from_utf8_lossy(&output.stdout);
        executable(&printed, &tests.program()).ok_or_else(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("{}: {said}", tests.title())
        })
    };
    Ok(Built {
        plain: test(&mut Command::new("cargo"))?,
        hooked: test(Command::new(deadheat).arg("cargo"))?,
        tsan: None,
        version: tests.version.to_owned(),
        lines: lines(&folder.join("src"))?,
    })
}

/// Makes a crate the root of a workspace, so that it is not looked for in one around it.
fn stand_alone(manifest: &Path) -> std::io::Result<()> {
    let text = fs::read_to_string(manifest)?;
    match text.lines().any(|line| line.trim() == "[workspace]") {
        true => Ok(()),
        false => fs::write(manifest, text + "\n[workspace]\n"),
    }
}

/// The folder into which cargo has put a crate as it was published.
fn published(cache: &Path, tests: &Tests) -> Result<PathBuf, String> {
    let folder = cache.join("sources").join(tests.name);
    fs::create_dir_all(folder.join("src")).map_err(|error| error.to_string())?;
    let write = |file: &str, text: &str| {
        fs::write(folder.join(file), text).map_err(|error| error.to_string())
    };
    let manifest = format!(
        "[package]\nname = \"fetching\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n{} = \"={}\"\n",
        tests.name, tests.version
    );
    write("Cargo.toml", &manifest)?;
    write("src/lib.rs", "")?;
    let output = Command::new("cargo")
        .current_dir(&folder)
        .args(["metadata", "--quiet", "--format-version", "1"])
        .output()
        .map_err(|error| error.to_string())?;
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let packages = metadata["packages"].as_array();
    let package = packages.and_then(|all| all.iter().find(|one| one["name"] == tests.name));
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let folder = manifest.and_then(|path| Path::new(path).parent());
    folder
        .map(Path::to_owned)
        .ok_or(format!("{} was not fetched", tests.name))
}

/// The test program of a name, in what cargo tells about what it has built.
fn executable(told: &str, name: &str) -> Option<PathBuf> {
    let messages = told
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let is_it =
        |message: &Value| message["target"]["name"] == name && message["profile"]["test"] == true;
    let mut programs = messages.filter(is_it);
    programs.find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

/// How many lines of the sources below a folder are not empty.
fn lines(folder: &Path) -> Result<usize, String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| error.to_string())?;
        for path in entries.flatten().map(|entry| entry.path()) {
            let extension = path.extension().and_then(|it| it.to_str());
            match extension {
                _ if path.is_dir() => folders.push(path),
                Some("c" | "h" | "cc" | "cpp" | "hpp" | "rs") => files.push(path),
                _ => {}
            }
        }
    }
    crate::scan::lines(&files)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::executable;

    #[test]
    fn the_test_program_is_found_among_what_cargo_tells() {
        let told = r#"
            no message
            {"reason":"compiler-artifact","target":{"name":"one"},"profile":{"test":false},"executable":"/a"}
            {"reason":"compiler-artifact","target":{"name":"one"},"profile":{"test":true},"executable":"/b"}
            {"reason":"compiler-artifact","target":{"name":"other"},"profile":{"test":true},"executable":null}
        "#;
        assert_eq!(executable(told, "one"), Some(PathBuf::from("/b")));
        assert_eq!(executable(told, "other"), None);
    }
}
