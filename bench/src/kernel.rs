//! The kernels, and how each variant of one is built.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A program to measure.
pub struct Kernel {
    /// Its file, without `.c`.
    pub name: &'static str,
    /// Its argument: how many rounds take long enough to be measured.
    pub rounds: &'static str,
}

/// The kernels.
pub const KERNELS: &[Kernel] = &[
    Kernel {
        name: "matmul",
        rounds: "8",
    },
    Kernel {
        name: "quicksort",
        rounds: "10",
    },
    Kernel {
        name: "hashtable",
        rounds: "8",
    },
    Kernel {
        name: "prodcons",
        rounds: "10",
    },
];

/// A compiler whose ThreadSanitizer is a peer.
pub struct Compiler {
    /// How it is called, and how `deadheat cc` is told to use it.
    pub name: &'static str,
}

/// The compilers.
pub const COMPILERS: &[Compiler] = &[Compiler { name: "gcc" }, Compiler { name: "clang-19" }];

/// Where things are.
pub struct Place {
    /// The `deadheat` command.
    pub deadheat: PathBuf,
    /// The folder of the kernels' sources.
    pub kernels: PathBuf,
    /// A folder for programs and traces.
    pub work: PathBuf,
}

/// The programs made from one kernel by one compiler, all with `-O2`.
pub struct Variants {
    /// Without instrumentation.
    pub plain: PathBuf,
    /// With the compiler's own ThreadSanitizer.
    pub tsan: PathBuf,
    /// With Deadheat.
    pub ours: PathBuf,
}

impl Place {
    /// Builds all variants of a kernel.
    pub fn build(&self, kernel: &str, compiler: &Compiler) -> Result<Variants, String> {
        let source = self.kernels.join(format!("{kernel}.c"));
        let program = |kind: &str| self.work.join(format!("{kernel}-{}-{kind}", compiler.name));
        let variants = Variants {
            plain: program("plain"),
            tsan: program("tsan"),
            ours: program("ours"),
        };
        let cc = || Command::new(compiler.name);
        compile(cc(), &source, &variants.plain, &[])?;
        compile(cc(), &source, &variants.tsan, &["-fsanitize=thread", "-g"])?;
        compile(self.wrapper(compiler), &source, &variants.ours, &["-g"])?;
        Ok(variants)
    }

    /// `deadheat cc` with this compiler.
    pub fn wrapper(&self, compiler: &Compiler) -> Command {
        let mut command = Command::new(&self.deadheat);
        command.arg("cc").env("DEADHEAT_CC", compiler.name);
        command
    }
}

/// Compiles and links one source.
pub fn compile(
    mut command: Command,
    source: &Path,
    program: &Path,
    flags: &[&str],
) -> Result<(), String> {
    command
        .arg("-O2")
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(program)
        .arg("-pthread");
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
