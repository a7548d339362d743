//! Builds programs with each compiler and level.

use std::path::{Path, PathBuf};

use super::dialect::Language;
use super::hooks;
use crate::support::{DEADHEAT, Sandbox, succeed};

/// A compiler and a level of optimisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Toolchain {
    /// `gcc`, `clang-19` or `rustc`.
    pub compiler: &'static str,
    /// 0, 1 or 2.
    pub level: u8,
}

impl Toolchain {
    /// Those of this machine that compile the language.
    pub fn all(language: Language) -> Vec<Toolchain> {
        let compilers = match language {
            Language::Rust => vec!["rustc"],
            _ => crate::support::compilers(),
        };
        let levels = |compiler| [0, 1, 2].map(|level| Toolchain { compiler, level });
        compilers.into_iter().flat_map(levels).collect()
    }

    /// Compiles a source and links it with the oracle's [hooks]. With `coverage` every basic block
    /// announces itself to them.
    ///
    /// [hooks]: super::hooks
    pub fn build(self, here: &Sandbox, source: &Path, args: &[&str], coverage: bool) -> PathBuf {
        let program = here.path().join("program");
        let objects = hooks::build(here);
        let mut command = match self.compiler {
            "rustc" => {
                let mut command = self.rustc(here);
                command.args(objects.iter().map(|object| format!("-Clink-arg={object}")));
                command
            }
            _ => {
                let mut command = self.wrapper(here, source);
                command.args(objects);
                command
            }
        };
        command.arg(source).arg("-o").arg(&program);
        if coverage {
            command.args(self.coverage());
        }
        succeed(command.args(args));
        hooks::rename(here, &program);
        program
    }

    /// Compiles a source as a shared library, without hooks.
    pub fn build_library(self, here: &Sandbox, source: &Path, output: &str, args: &[&str]) {
        let mut command = self.wrapper(here, source);
        command.args(["-shared", "-fPIC"]).arg(source).args(args);
        succeed(command.args(["-o", output]));
    }

    fn wrapper(self, here: &Sandbox, source: &Path) -> std::process::Command {
        let is_cpp = source.extension().is_some_and(|ext| ext == "cpp");
        let (wrapper, compiler) = match (is_cpp, self.compiler) {
            (false, name) => ("cc", name),
            (true, "gcc") => ("c++", "g++"),
            (true, _) => ("c++", "clang++-19"),
        };
        let mut command = here.deadheat([wrapper, "--compiler", compiler, "-w", "-pthread"]);
        command.arg(format!("-O{}", self.level));
        command
    }

    fn rustc(self, here: &Sandbox) -> std::process::Command {
        let linker = here.script("linker", &format!("#!/bin/sh\nexec {DEADHEAT} cc \"$@\"\n"));
        let mut command = here.command("rustc");
        command
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["--edition", "2024", "--target", "x86_64-unknown-linux-gnu"])
            .args(["-g", "--crate-name", "program"])
            .arg(format!("-Copt-level={}", self.level))
            .args([
                "-Zsanitizer=thread",
                "-Zexternal-clangrt",
                "-Zshare-generics=n",
            ])
            .arg("-Cunsafe-allow-abi-mismatch=sanitizer")
            .arg("-Cllvm-args=-tsan-instrument-read-before-write")
            .args(["-Cno-vectorize-loops", "-Cno-vectorize-slp"])
            .arg(format!("-Clinker={}", linker.display()));
        command
    }

    /// What makes every basic block announce itself. LLVM turns conditional moves into branches
    /// when blocks have announced themselves; that is left to programs without coverage.
    fn coverage(self) -> &'static [&'static str] {
        match self.compiler {
            "gcc" => &["-fsanitize-coverage=trace-pc"],
            "rustc" => &[
                "-Cpasses=sancov-module",
                "-Cllvm-args=-sanitizer-coverage-level=3",
                "-Cllvm-args=-sanitizer-coverage-trace-pc-guard",
                "-Cllvm-args=-sanitizer-coverage-prune-blocks=0",
                "-Cllvm-args=-x86-cmov-converter=false",
            ],
            _ => &[
                "-fsanitize-coverage=bb,no-prune,trace-pc-guard",
                "-mllvm",
                "-x86-cmov-converter=false",
            ],
        }
    }
}

impl std::fmt::Display for Toolchain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.compiler.split('-').next().unwrap_or(self.compiler);
        write!(f, "{name} -O{}", self.level)
    }
}
