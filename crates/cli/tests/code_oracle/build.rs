//! Builds programs with each compiler and level, with the compiler's own coverage or without.

use std::path::{Path, PathBuf};

use super::dialect::Language;
use crate::support::{DEADHEAT, Sandbox, succeed};

/// A compiler and a level of optimisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Toolchain {
    /// `gcc`, `clang-19` or `rustc`.
    pub compiler: &'static str,
    /// 0, 1 or 2.
    pub level: u8,
}

/// Each call announces a basic block. It becomes a read of `oracle_marker` in the trace, at the
/// place in the code where the block begins. It reads three bytes: the recorder lets a read of the
/// size of the write before it pass, if that may be the other half of a copy.
const MARKERS: &str = r#"
        .bss
        .globl  oracle_marker
oracle_marker:
        .skip   16
        .text
        .globl  __sanitizer_cov_trace_pc
        .globl  __sanitizer_cov_trace_pc_guard
        .globl  __sanitizer_cov_trace_pc_guard_init
__sanitizer_cov_trace_pc:
__sanitizer_cov_trace_pc_guard:
        leaq    oracle_marker(%rip), %rdi
        movl    $3, %esi
        jmp     __tsan_read_range
__sanitizer_cov_trace_pc_guard_init:
        ret
        .section .note.GNU-stack,"",@progbits
"#;

/// What is built into a program beside itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Every basic block announces itself: see [`MARKERS`].
    Markers,
    /// Hooks that change what a read returns: see [`super::perturb`].
    Perturbation,
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

    /// Compiles and links sources of one language.
    pub fn build(self, here: &Sandbox, sources: &[&Path], args: &[&str], extra: Extra) -> PathBuf {
        let program = here.path().join("program");
        let mut command = match self.compiler {
            "rustc" => self.rustc(here),
            _ => self.wrapper(here, sources),
        };
        command.args(sources).arg("-o").arg(&program);
        for object in self.objects(here, extra) {
            if self.compiler == "rustc" {
                command.arg(format!("-Clink-arg={object}"));
            } else {
                command.arg(object);
            }
        }
        if extra == Extra::Markers {
            command.args(self.coverage());
        }
        succeed(command.args(args));
        program
    }

    /// Compiles a shared library of one C file, without anything extra.
    pub fn build_library(self, here: &Sandbox, source: &Path, output: &str, args: &[&str]) {
        let mut command = self.wrapper(here, &[source]);
        command.args(["-shared", "-fPIC"]).arg(source).args(args);
        succeed(command.args(["-o", output]));
    }

    fn wrapper(self, here: &Sandbox, sources: &[&Path]) -> std::process::Command {
        let is_cpp = sources
            .iter()
            .any(|path| path.extension().is_some_and(|ext| ext == "cpp"));
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
            .args(["--edition", "2021", "--target", "x86_64-unknown-linux-gnu"])
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

    /// What makes every basic block announce itself.
    fn coverage(self) -> &'static [&'static str] {
        match self.compiler {
            "gcc" => &["-fsanitize-coverage=trace-pc"],
            "rustc" => &[
                "-Cpasses=sancov-module",
                "-Cllvm-args=-sanitizer-coverage-level=3",
                "-Cllvm-args=-sanitizer-coverage-trace-pc-guard",
                "-Cllvm-args=-sanitizer-coverage-prune-blocks=0",
            ],
            _ => &["-fsanitize-coverage=bb,no-prune,trace-pc-guard"],
        }
    }

    /// What the program is linked with.
    fn objects(self, here: &Sandbox, extra: Extra) -> Vec<String> {
        let (name, text) = match extra {
            Extra::Markers => ("markers.S", MARKERS),
            Extra::Perturbation => ("perturb.c", super::perturb::SOURCE),
        };
        let source = here.file(name, text);
        let object = source.with_extension("o");
        succeed(
            here.command("gcc")
                .args(["-c", "-O1", "-w", "-fno-stack-protector"])
                .arg(&source)
                .arg("-o")
                .arg(&object),
        );
        let mut objects = vec![object.display().to_string()];
        if extra == Extra::Perturbation {
            objects.extend(super::perturb::wrapped());
        }
        objects
    }
}

impl std::fmt::Display for Toolchain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.compiler.split('-').next().unwrap_or(self.compiler);
        write!(f, "{name} -O{}", self.level)
    }
}
