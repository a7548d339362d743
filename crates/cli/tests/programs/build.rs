//! Builds a program: with the wrapper of its compiler, or all of a Cargo workspace at once.

use std::path::Path;

use deadheat_oracle::{CargoTarget, TargetKind};

use crate::cases::Case;
use crate::succeeds;
use crate::support::{self, Sandbox};

impl Case {
    /// Builds `prog`, and the libraries that it needs.
    pub fn build(&self, here: &Sandbox) -> Result<(), String> {
        let source = self
            .oracle
            .path
            .canonicalize()
            .map_err(|error| error.to_string())?;
        let folder = source.parent().ok_or("no folder")?;
        let directives = &self.oracle.directives;
        let command = match source
            .extension()
            .is_some_and(|extension| extension == "cpp")
        {
            true => "c++",
            false => "cc",
        };
        let compile = || {
            let mut compile = here.deadheat([command, "--compiler", self.compiler, self.level]);
            compile.args(["-pthread"]).args(&directives.cflags);
            compile
        };
        for extra in &directives.also {
            let mut library = compile();
            library
                .args(["-shared", "-fPIC"])
                .arg(folder.join(&extra.source));
            succeeds(library.args(["-o", &extra.output]))?;
        }
        let mut program = compile();
        program
            .arg(&source)
            .args(["-o", "prog"])
            .args(&directives.ldlibs);
        succeeds(&mut program)
    }
}

/// What was built, once more in another folder.
pub fn copy(from: &Sandbox, to: &Sandbox) -> std::io::Result<()> {
    for entry in from.path().read_dir()? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), to.path().join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Puts a program of a Cargo package in place. The first test builds all of them.
pub fn with_cargo(here: &Sandbox, target: &CargoTarget) -> Result<(), String> {
    let top = target.folder.parent().ok_or("no folder")?;
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust");
    let folder = match target.kind {
        TargetKind::Example => "debug/examples",
        _ => "debug",
    };
    all_with_cargo(here, top, &built).map_err(|error| error.to_string())??;
    let programs = built.join("deadheat/x86_64-unknown-linux-gnu").join(folder);
    std::fs::copy(programs.join(&target.name), here.path().join("prog"))
        .map(drop)
        .map_err(|error| format!("{}: {error}", programs.display()))
}

/// Builds the Cargo workspace at `top`, unless that was done since it or Deadheat changed.
fn all_with_cargo(here: &Sandbox, top: &Path, built: &Path) -> std::io::Result<Result<(), String>> {
    std::fs::create_dir_all(built)?;
    let mut stamp = std::fs::File::options()
        .create(true)
        .read(true)
        .append(true)
        .open(built.join("built"))?;
    stamp.lock()?; // tests run side by side, in processes of their own
    let changed = newest(top)?.max(Path::new(support::DEADHEAT).metadata()?.modified()?);
    if stamp.metadata()?.len() > 0 && stamp.metadata()?.modified()? > changed {
        return Ok(Ok(()));
    }
    let mut build = here.deadheat(["cargo", "build", "--quiet", "--locked"]);
    build
        .args(["--workspace", "--bins", "--examples", "--manifest-path"])
        .arg(top.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", built);
    let outcome = succeeds(&mut build);
    if outcome.is_ok() {
        stamp.set_len(0)?;
        std::io::Write::write_all(&mut stamp, b"all\n")?;
    }
    Ok(outcome)
}

/// When anything in a folder was changed last; what is built there does not count.
fn newest(folder: &Path) -> std::io::Result<std::time::SystemTime> {
    let mut newest = folder.metadata()?.modified()?;
    for entry in folder.read_dir()? {
        let entry = entry?;
        let is_built = ["target", ".deadheat"]
            .iter()
            .any(|name| entry.file_name() == *name);
        newest = newest.max(match entry.file_type()?.is_dir() {
            _ if is_built => continue,
            true => self::newest(&entry.path())?,
            false => entry.metadata()?.modified()?,
        });
    }
    Ok(newest)
}
