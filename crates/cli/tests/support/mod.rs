//! A place for a test of its own: a folder, a store and a cache, and Deadheat to run there.

#![allow(dead_code)] // each test file uses its part

pub mod browser;
pub mod findings;
pub mod page;
pub mod program;
pub mod scanner;
pub mod verdict;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// The executable under test.
pub const DEADHEAT: &str = env!("CARGO_BIN_EXE_deadheat");

/// A folder that is a project, and nothing of the user's own around it.
pub struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    /// An empty one.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("deadheat-")
            .tempdir()
            .unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        Sandbox { folder }
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Puts a file there.
    pub fn file(&self, name: &str, contents: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, contents).unwrap();
        path
    }

    /// Puts an executable script there.
    pub fn script(&self, name: &str, contents: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.file(name, contents);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A command that runs there, with Deadheat first on `PATH`.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        let mut path = Path::new(DEADHEAT).parent().unwrap().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        command
            .current_dir(self.path())
            .env("PATH", path)
            .env(
                "DEADHEAT_CACHE",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"),
            )
            .env("NO_COLOR", "1")
            .env("COLUMNS", "100")
            .env("LC_ALL", "C");
        for name in ["CC", "CXX", "DEADHEAT_CC", "DEADHEAT_CXX", "DEADHEAT_STORE"] {
            command.env_remove(name);
        }
        for name in [
            "DEADHEAT_OPTIONS",
            "DEADHEAT_TRACE",
            "DEADHEAT_REPORT",
            "DEADHEAT_SELECT",
            "DEADHEAT_DEPTH",
            "CFLAGS",
            "MAKEFLAGS",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// Deadheat, with these arguments.
    pub fn deadheat<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.command(DEADHEAT);
        command.args(args);
        command
    }

    /// A command's outcome as text, the same on every machine.
    pub fn told(&self, command: &mut Command) -> String {
        let output = command.output().unwrap();
        let told = format!(
            "exit: {}\n--- stdout\n{}--- stderr\n{}",
            output
                .status
                .code()
                .map_or("none".into(), |code| code.to_string()),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        let here = self.path().canonicalize().unwrap();
        told.replace(&*here.to_string_lossy(), "[HERE]")
            .replace(&*self.path().to_string_lossy(), "[HERE]")
            .replace(DEADHEAT, "[DEADHEAT]")
    }
}

/// Takes from a command what it would inherit of the cargo that runs this test.
pub fn forget_cargo(command: &mut Command) -> &mut Command {
    const LEAKS: [&str; 5] = [
        "CARGO_PKG_",
        "CARGO_BIN_",
        "CARGO_TARGET_",
        "RUST_",
        "NEXTEST",
    ];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if LEAKS.iter().any(|prefix| text.starts_with(prefix)) || text == "CARGO_MANIFEST_DIR" {
            command.env_remove(name);
        }
    }
    command.env_remove("RUSTC_WRAPPER")
}

/// The output of a command that must succeed.
pub fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}\n{}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// What a command that must succeed prints.
pub fn printed(command: &mut Command) -> String {
    String::from_utf8(succeed(command).stdout).unwrap()
}

/// The compilers of this machine, as names for `--compiler`.
pub fn compilers() -> Vec<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&str| std::env::split_paths(&path).any(|at| at.join(name).exists());
    let found: Vec<_> = ["gcc", "clang-19"].into_iter().filter(is_there).collect();
    assert!(!found.is_empty(), "no compiler to test with");
    found
}
