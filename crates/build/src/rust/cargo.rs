//! What `cargo deadheat` puts around cargo: our compiler, our linker's parts, a target folder of
//! our own, and a runner that records.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_session::error::{Error, Result};

use super::standard;
use super::toolchain::{TARGET, set};
use crate::compiler::{Surroundings, shims};

/// The user's own `RUSTC_WRAPPER`, for ours.
const INNER_WRAPPER: &str = "DEADHEAT_RUSTC_WRAPPER";
/// The user's own `RUSTDOC`, for ours.
pub const INNER_RUSTDOC: &str = "DEADHEAT_RUSTDOC";
/// Set for everything that cargo runs: which C is instrumented.
pub const CARGO_TARGET: &str = "DEADHEAT_CARGO_TARGET";

/// The tool that the user has put before the compiler.
pub fn inner_wrapper() -> Option<OsString> {
    set(INNER_WRAPPER)
}

/// The cargo that called us, or the one on `PATH`.
pub fn cargo() -> OsString {
    set("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Where a workspace is, and where it builds.
#[derive(Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Its top folder.
    pub root: PathBuf,
    /// Where cargo builds.
    pub target: PathBuf,
}

impl Workspace {
    /// Asks cargo; `args` are those that it will be called with.
    pub fn find(args: &[OsString]) -> Result<Self> {
        let mut command = Command::new(cargo());
        command.args(["metadata", "--no-deps", "--format-version=1"]);
        command.args(location(args));
        let output = command.output().map_err(|error| {
            Error::not_started(format!("cannot run cargo: {error}"))
                .help("install Rust from https://rustup.rs, or put cargo on PATH")
        })?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            let told = told.trim().trim_start_matches("error: ");
            return Err(Error::not_started(format!("cargo: {told}"))
                .help("run it in a Rust project, or say --manifest-path PATH"));
        }
        Self::parse(&output.stdout)
            .ok_or_else(|| Error::not_started("cargo metadata did not answer as expected"))
    }

    fn parse(json: &[u8]) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_slice(json).ok()?;
        let path = |name: &str| Some(PathBuf::from(value.get(name)?.as_str()?));
        Some(Workspace {
            root: path("workspace_root")?,
            target: path("target_directory")?,
        })
    }
}

/// The arguments that say which project is meant: they must be the same for every question.
fn location(args: &[OsString]) -> Vec<OsString> {
    const NAMES: [&str; 4] = ["--manifest-path", "--config", "--target-dir", "-C"];
    const PLAIN: [&str; 3] = ["--offline", "--frozen", "--locked"];
    let mut kept = Vec::new();
    let mut words = args.iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let text = &*word.to_string_lossy();
        let name = text.split('=').next().unwrap_or("");
        if !NAMES.contains(&name) {
            kept.extend(PLAIN.contains(&text).then(|| word.clone()));
            continue;
        }
        let value = (text == name).then(|| words.next()).flatten();
        match name {
            // `cargo metadata` does not take it.
            "--target-dir" => continue,
            _ => {
                kept.push(word.clone());
                kept.extend(value.cloned());
            }
        }
    }
    kept
}

/// Takes an option and its value off the arguments; the value that counts is the last.
fn take(args: &mut Vec<OsString>, option: &str) -> Option<OsString> {
    let mut found = None;
    let mut at = 0;
    while at < args.len() && args[at] != "--" {
        let text = args[at].to_str().unwrap_or("");
        if text == option && at + 1 < args.len() {
            found = Some(args.remove(at + 1));
            args.remove(at);
        } else if let Some(value) = text.strip_prefix(option).and_then(|t| t.strip_prefix('=')) {
            found = Some(value.into());
            args.remove(at);
        } else {
            at += 1;
        }
    }
    found
}

/// Completes a call of cargo: `args` are the user's, with the subcommand first; `runner` is what
/// runs each program.
pub fn command(workspace: &Workspace, args: &[OsString], runner: &str) -> Result<Command> {
    let mut args = args.to_vec();
    if let Some(target) = take(&mut args, "--target").filter(|target| target != TARGET) {
        let target = target.display();
        return Err(
            Error::usage(format!("programs for {target} cannot be recorded"))
                .note(format!("Deadheat supports {TARGET} only.")),
        );
    }
    let surroundings = Surroundings::of_process()?;
    let own = surroundings.deadheat.display().to_string();
    if own.contains(char::is_whitespace) {
        return Err(Error::not_started(format!(
            "cargo cannot start Deadheat from a path with spaces: {own}"
        ))
        .help("move Deadheat to another folder"));
    }
    // A folder of our own even where the user names one: what is there is not ours to renew.
    let named = take(&mut args, "--target-dir").map(PathBuf::from);
    let target = named.as_ref().unwrap_or(&workspace.target).join("deadheat");
    renew(&target)?;
    let mut command = Command::new(cargo());
    command.args(args);
    if let Some(user) = std::env::var_os("RUSTC_WRAPPER") {
        command.env(INNER_WRAPPER, user);
    }
    if let Some(user) = std::env::var_os("RUSTDOC") {
        command.env(INNER_RUSTDOC, user);
    }
    let upper = TARGET.to_uppercase().replace('-', "_");
    let under = TARGET.replace('-', "_");
    let shims = shims::folder(&surroundings)?;
    command
        .env("RUSTC_WRAPPER", shims.join(super::WRAPPER))
        .env("RUSTDOC", shims.join(super::DOC_WRAPPER))
        .env("CARGO_BUILD_TARGET", TARGET)
        .env("CARGO_TARGET_DIR", &target)
        .env(
            format!("CARGO_TARGET_{upper}_RUNNER"),
            format!("{own} {runner}"),
        )
        .env(CARGO_TARGET, TARGET);
    // What cargo would do with these cannot be undone by the compiler's arguments.
    for profile in ["DEV", "RELEASE", "TEST", "BENCH"] {
        command.env(format!("CARGO_PROFILE_{profile}_LTO"), "off");
    }
    for (variable, ours, shim) in [("CC", "DEADHEAT_CC", "cc"), ("CXX", "DEADHEAT_CXX", "c++")] {
        let names = [
            format!("{variable}_{TARGET}"),
            format!("{variable}_{under}"),
            format!("TARGET_{variable}"),
            variable.to_owned(),
        ];
        let set = names.iter().find_map(std::env::var_os);
        if let Some(real) = set.filter(|_| std::env::var_os(ours).is_none()) {
            command.env(ours, real);
        }
        command.env_remove(&names[0]);
        command.env(&names[1], shims.join(shim));
    }
    Ok(command)
}

/// Cargo does not know what its compiler adds: what another version of Deadheat has built is
/// built again.
fn renew(target: &Path) -> Result<()> {
    let stamp = target.join("built-by-deadheat");
    let runtime = env!("DEADHEAT_RUNTIME_HASH");
    let now = format!("{runtime} {:016x}\n", standard::version());
    if std::fs::read_to_string(&stamp).is_ok_and(|before| before == now) {
        return Ok(());
    }
    let refused = |error: std::io::Error| {
        Error::not_started(format!("cannot write {}: {error}", target.display()))
            .help("name another folder: --target-dir PATH")
    };
    let built = target.join(TARGET);
    if built.is_dir() {
        std::fs::remove_dir_all(&built).map_err(refused)?;
    }
    std::fs::create_dir_all(target).map_err(refused)?;
    std::fs::write(&stamp, now).map_err(refused)
}

/// Whether C code is compiled for the machine that builds, by a build script that belongs to
/// other build scripts or to macros: it is not part of the program.
pub fn builds_for_host() -> bool {
    let Some(target) = std::env::var_os(CARGO_TARGET) else {
        return false;
    };
    // Cargo keeps what is built for the target in a folder of that name.
    std::env::var_os("OUT_DIR")
        .is_some_and(|folder| !Path::new(&folder).iter().any(|part| part == target))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn questions_are_about_the_same_project() {
        let kept = |line| location(&words(line));
        assert_eq!(
            kept("test --manifest-path a/Cargo.toml --release"),
            words("--manifest-path a/Cargo.toml")
        );
        assert_eq!(
            kept("run --locked --config=x --bin y -- --offline"),
            words("--locked --config=x")
        );
        assert!(kept("test --target-dir t").is_empty());
    }

    #[test]
    fn options_are_taken_off() {
        let mut args = words("test --target-dir t --target=x --release -- --target y");
        assert_eq!(take(&mut args, "--target"), Some("x".into()));
        assert_eq!(take(&mut args, "--target-dir"), Some("t".into()));
        assert_eq!(args, words("test --release -- --target y"));
        assert_eq!(take(&mut args, "--target"), None);
        assert_eq!(take(&mut words("test --target"), "--target"), None);
    }

    #[test]
    fn metadata_is_read() {
        let json = br#"{"workspace_root":"/w","target_directory":"/w/target","packages":[]}"#;
        let workspace = Workspace::parse(json).unwrap();
        assert_eq!(workspace.root, Path::new("/w"));
        assert_eq!(workspace.target, Path::new("/w/target"));
        assert_eq!(Workspace::parse(b"{}"), None);
    }
}
