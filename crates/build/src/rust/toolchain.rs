//! A Rust compiler and its standard library.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use deadheat_session::error::{Error, Result};

/// The only kind of machine that is supported.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A variable of the environment; one that is empty is not set.
pub fn set(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The compiler that is meant where none is named.
pub fn default_compiler() -> OsString {
    set("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// A compiler, and the target it is asked to build for.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// How it is called.
    pub compiler: OsString,
    /// What it says about itself.
    pub version: Version,
}

/// What `rustc -vV` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// All of it: changes with the compiler.
    pub full: String,
    /// Such as `1.95.0` or `1.97.0-nightly`.
    pub release: String,
    /// The machine that it runs on.
    pub host: String,
}

impl Toolchain {
    /// Asks the compiler.
    ///
    /// # Errors
    /// If it cannot be run, or builds for a machine that cannot be recorded.
    pub fn of(compiler: &OsStr, target: Option<&str>) -> Result<Self> {
        let answer = ask(compiler, &["-vV"])?;
        let version = Version::parse(&answer).ok_or_else(|| {
            Error::not_started(format!(
                "{} does not answer like a Rust compiler",
                compiler.display()
            ))
            .help("name another one in RUSTC")
        })?;
        let target = target.unwrap_or(&version.host);
        if target != TARGET {
            return Err(
                Error::not_started(format!("programs for {target} cannot be recorded"))
                    .note(format!("Deadheat supports {TARGET} only."))
                    .help("build without --target, or with that one"),
            );
        }
        Ok(Toolchain {
            compiler: compiler.to_owned(),
            version,
        })
    }

    /// Whether it must be told that it may do what is not stable.
    pub fn is_stable(&self) -> bool {
        let unstable = |name: &str| self.version.release.contains(name);
        !unstable("-nightly") && !unstable("-dev") && std::env::var_os("RUSTC_BOOTSTRAP").is_none()
    }

    /// The folder with the standard library.
    pub fn libraries(&self) -> Result<PathBuf> {
        let args = ["--print", "target-libdir", "--target", TARGET];
        Ok(ask(&self.compiler, &args)?.trim_end().into())
    }
}

impl Version {
    fn parse(full: &str) -> Option<Self> {
        let line = |name: &str| full.lines().find_map(|line| line.strip_prefix(name));
        Some(Version {
            release: line("release: ")?.to_owned(),
            host: line("host: ")?.to_owned(),
            full: full.to_owned(),
        })
    }
}

fn ask(compiler: &OsStr, args: &[&str]) -> Result<String> {
    let shown = compiler.display();
    let output = Command::new(compiler)
        .args(args)
        .output()
        .map_err(|error| {
            Error::not_started(format!("cannot run {shown}: {error}"))
                .help("install Rust from https://rustup.rs, put rustc on PATH, or name it in RUSTC")
        })?;
    if !output.status.success() {
        return Err(Error::not_started(format!(
            "{shown} {} failed: {}",
            args.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read() {
        let text = "rustc 1.95.0 (59807616e 2026-04-14)\nhost: x86_64-unknown-linux-gnu\n\
                    release: 1.95.0\n";
        let version = Version::parse(text).unwrap();
        assert_eq!(version.release, "1.95.0");
        assert_eq!(version.host, TARGET);
        assert_eq!(Version::parse("gcc 12"), None);
    }
}
