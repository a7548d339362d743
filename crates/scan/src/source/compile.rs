//! Calling compilers, two at a time.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Error;

/// The flags that leave every access where the source text has it.
const UNOPTIMISED: [&str; 8] = [
    "-g",
    "-O0",
    "-Xclang",
    "-disable-O0-optnone",
    "-w",
    "-Qunused-arguments",
    "-emit-llvm",
    "-c",
];

/// C++ compilers inline some functions always, which are then no longer seen.
const NOT_INLINED: [&str; 2] = ["-Xclang", "-disable-llvm-passes"];

/// The same for Rust. Its LLVM is newer than ours, but its text can be read. Names tell which generic instance a function is. A panic ends
/// the program: what would run on the way out is not looked at.
const UNOPTIMISED_RUST: [&str; 10] = [
    "-Csymbol-mangling-version=v0",
    "-Cpanic=abort",
    "-Copt-level=0",
    "-Cdebuginfo=2",
    "-Ccodegen-units=1",
    "-Coverflow-checks=off",
    "-Cdebug-assertions=off",
    "-Awarnings",
    "--emit=llvm-ir",
    "-o",
];

/// What Rust sources are written in if nobody says otherwise.
const EDITION: &str = "--edition=2024";

/// So many compilers run at once.
const AT_ONCE: usize = 2;

/// A language that can be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    C,
    Cpp,
    Rust,
}

impl Language {
    /// The language of a file, by its name.
    pub(super) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "c" | "i" => Some(Language::C),
            "cc" | "cpp" | "cxx" | "c++" | "C" | "ii" => Some(Language::Cpp),
            "rs" => Some(Language::Rust),
            _ => None,
        }
    }

    /// How the compiler's output ends.
    pub(super) fn output(self) -> &'static str {
        match self {
            Language::C | Language::Cpp => "bc",
            Language::Rust => "ll",
        }
    }

    fn compiler(self) -> &'static str {
        match self {
            Language::C => "clang-19",
            Language::Cpp => "clang++-19",
            Language::Rust => "rustc",
        }
    }
}

/// A source file and how it is compiled.
#[derive(Clone, Debug)]
pub(super) struct Compilation {
    pub(super) path: PathBuf,
    pub(super) language: Language,
    /// Where the compiler runs, if not here.
    pub(super) directory: Option<PathBuf>,
    pub(super) flags: Vec<String>,
}

impl Compilation {
    fn run(&self, into: &Path) -> Result<(), Error> {
        let compiler = self.language.compiler();
        let mut command = Command::new(compiler);
        command.args(&self.flags);
        match self.language {
            Language::C => {
                command.args(UNOPTIMISED).arg("-o");
            }
            Language::Cpp => {
                command.args(UNOPTIMISED).args(NOT_INLINED).arg("-o");
            }
            Language::Rust => {
                let has_edition = self.flags.iter().any(|flag| flag.starts_with("--edition"));
                command.args((!has_edition).then_some(EDITION));
                command.args(UNOPTIMISED_RUST);
            }
        }
        command.arg(into).arg(&self.path);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let output = command.stdin(Stdio::null()).output().map_err(|source| {
            let compiler = compiler.to_owned();
            Error::NoCompiler { compiler, source }
        })?;
        if output.status.success() {
            return Ok(());
        }
        let shown = command.get_args().map(|each| each.to_string_lossy());
        let shown: Vec<_> = shown.collect();
        Err(Error::Uncompiled {
            path: self.path.clone(),
            command: format!("{compiler} {}", shown.join(" ")),
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        })
    }
}

/// Compiles all of them; the first error in their order counts.
pub(super) fn all(compilations: &[(Compilation, PathBuf)]) -> Result<(), Error> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((compilation, into)) = compilations.get(index) else {
                return;
            };
            let Err(error) = compilation.run(into) else {
                continue;
            };
            next.store(compilations.len(), Ordering::Relaxed);
            let mut failed = failed
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            if failed.as_ref().is_none_or(|(first, _)| index < *first) {
                *failed = Some((index, error));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(compilations.len()) {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner();
    match failed.unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}
