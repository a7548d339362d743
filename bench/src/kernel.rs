//! The kernels, and how each variant of one is built.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a kernel is written in, and a compiler compiles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C11 with POSIX threads.
    C,
    /// Rust with its standard library, which comes compiled and is not instrumented.
    Rust,
}

/// A program to measure.
pub struct Kernel {
    /// Its file, without the extension.
    pub name: &'static str,
    /// What it is written in.
    pub language: Language,
    /// Its argument: how many rounds take long enough to be measured.
    pub rounds: &'static str,
}

const fn kernel(name: &'static str, language: Language, rounds: &'static str) -> Kernel {
    Kernel {
        name,
        language,
        rounds,
    }
}

/// A kernel in C.
pub const fn kernel_of_c(name: &'static str, rounds: &'static str) -> Kernel {
    kernel(name, Language::C, rounds)
}

/// The kernels.
pub const KERNELS: &[Kernel] = &[
    kernel("matmul", Language::C, "8"),
    kernel("quicksort", Language::C, "10"),
    kernel("hashtable", Language::C, "8"),
    kernel("prodcons", Language::C, "10"),
    kernel("parallel_sum", Language::Rust, "30"),
    kernel("parallel_map", Language::Rust, "30"),
    kernel("pipeline", Language::Rust, "20"),
];

/// A compiler whose ThreadSanitizer is a peer.
pub struct Compiler {
    /// How it is called.
    pub name: &'static str,
    /// What it compiles.
    pub language: Language,
}

/// The compiler with which the hook alone is measured.
pub const GCC: Compiler = Compiler {
    name: "gcc",
    language: Language::C,
};

/// The compilers.
pub const COMPILERS: &[Compiler] = &[
    GCC,
    Compiler {
        name: "clang-19",
        language: Language::C,
    },
    Compiler {
        name: "rustc",
        language: Language::Rust,
    },
];

impl Compiler {
    /// The compiler itself, optimising.
    fn plain(&self) -> Command {
        self.optimising(Command::new(self.name))
    }

    /// The compiler with its own ThreadSanitizer.
    fn tsan(&self) -> Command {
        let mut command = self.plain();
        match self.language {
            Language::C => command.args(["-fsanitize=thread", "-g"]),
            Language::Rust => command.env("RUSTC_BOOTSTRAP", "1").args([
                "-Zsanitizer=thread",
                "-Cunsafe-allow-abi-mismatch=sanitizer",
                "-g",
            ]),
        };
        command
    }

    fn optimising(&self, mut command: Command) -> Command {
        match self.language {
            Language::C => command.args(["-O2", "-pthread"]),
            Language::Rust => command.args(["-O", "--edition=2024"]),
        };
        command
    }

    fn source(&self, folder: &Path, name: &str) -> PathBuf {
        let extension = match self.language {
            Language::C => "c",
            Language::Rust => "rs",
        };
        folder.join(name).with_extension(extension)
    }
}

/// Where things are.
pub struct Place {
    /// The `deadheat` command.
    pub deadheat: PathBuf,
    /// The folder of the kernels' sources.
    pub kernels: PathBuf,
    /// A folder for programs and traces.
    pub work: PathBuf,
}

impl Place {
    /// The same, with another folder for programs and traces.
    pub fn in_folder(&self, work: PathBuf) -> Place {
        Place {
            deadheat: self.deadheat.clone(),
            kernels: self.kernels.clone(),
            work,
        }
    }
}

/// The programs made from one kernel by one compiler, all optimised.
pub struct Variants {
    /// Without instrumentation.
    pub plain: PathBuf,
    /// With the compiler's own ThreadSanitizer.
    pub tsan: PathBuf,
    /// With Deadheat.
    pub ours: PathBuf,
    /// Instrumented as by Deadheat, with hooks that do nothing.
    pub hooks_alone: PathBuf,
}

impl Place {
    /// Builds all variants of a kernel.
    pub fn build(&self, kernel: &str, compiler: &Compiler) -> Result<Variants, String> {
        let source = compiler.source(&self.kernels, kernel);
        let program = |kind: &str| self.work.join(format!("{kernel}-{}-{kind}", compiler.name));
        let variants = Variants {
            plain: program("plain"),
            tsan: program("tsan"),
            ours: program("ours"),
            hooks_alone: program("hooks"),
        };
        compile(compiler.plain(), &source, &variants.plain)?;
        compile(compiler.tsan(), &source, &variants.tsan)?;
        let mut ours = self.wrapper(compiler);
        ours.arg("-g");
        compile(ours, &source, &variants.ours)?;
        self.build_hooks_alone(compiler, &source, &variants.hooks_alone)?;
        Ok(variants)
    }

    /// Builds a program whose hooks do nothing: the same calls as with Deadheat, and no runtime.
    fn build_hooks_alone(
        &self,
        compiler: &Compiler,
        source: &Path,
        program: &Path,
    ) -> Result<(), String> {
        let hooks = program.with_extension("hooks.o");
        let mut command = GCC.plain();
        command.arg("-c");
        compile(command, &self.kernels.join("../floor/hooks.c"), &hooks)?;
        match compiler.language {
            Language::C => {
                let object = program.with_extension("o");
                let mut command = self.wrapper(compiler);
                command.args(["-g", "-c"]);
                compile(command, source, &object)?;
                let mut command = compiler.plain();
                command.arg(&hooks);
                compile(command, &object, program)
            }
            Language::Rust => {
                // As the wrapper has it, which would link the runtime.
                let mut command = compiler.tsan();
                command
                    .args(["-Zexternal-clangrt", "-Zshare-generics=n"])
                    .arg("-Cllvm-args=-tsan-instrument-read-before-write")
                    .args(["-Cno-vectorize-loops", "-Cno-vectorize-slp"])
                    .arg(format!("-Clink-arg={}", hooks.display()));
                compile(command, source, program)
            }
        }
    }

    /// Builds one program with Deadheat only.
    pub fn build_ours(&self, kernel: &str, compiler: &Compiler) -> Result<PathBuf, String> {
        let program = self.work.join(kernel);
        let source = compiler.source(&self.kernels, kernel);
        compile(self.wrapper(compiler), &source, &program)?;
        Ok(program)
    }

    /// `deadheat cc` or `deadheat rustc` with this compiler, optimising.
    fn wrapper(&self, compiler: &Compiler) -> Command {
        let mut command = Command::new(&self.deadheat);
        match compiler.language {
            Language::C => command.arg("cc").env("DEADHEAT_CC", compiler.name),
            Language::Rust => command.arg("rustc").env("RUSTC", compiler.name),
        };
        compiler.optimising(command)
    }
}

/// Compiles and links one source.
fn compile(mut command: Command, source: &Path, program: &Path) -> Result<(), String> {
    command.arg(source).arg("-o").arg(program);
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "{command:?}:\n{}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    Ok(())
}
