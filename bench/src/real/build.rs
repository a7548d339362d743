//! Fetches and builds: each program as it is, and once more by the wrappers. What is there already is not made again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::programs::{Advisory, Program};
use crate::debian::{self, run};

/// A program, built both ways.
pub struct Built {
    /// Without Deadheat.
    pub plain: PathBuf,
    /// By Deadheat's wrappers.
    pub hooked: PathBuf,
    /// The version of what it is made of.
    pub version: String,
    /// Lines of its sources that are not empty.
    pub lines: usize,
}

/// A program of a source package.
pub fn program(cache: &Path, deadheat: &Path, program: &Program) -> Result<Built, String> {
    let tree = debian::source(cache, program.name)?;
    let build = |kind: &str, mut command: Command| {
        let folder = cache.join("built").join(program.name).join(kind);
        let made = folder.join(program.made);
        if !made.exists() {
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
            run(Command::new("cp")
                .arg("-a")
                .arg(tree.join("."))
                .arg(&folder))?;
            run(command
                .current_dir(&folder)
                .args(["sh", "-c", program.build]))?;
        }
        Ok::<_, String>(made)
    };
    let mut hooked = Command::new(deadheat);
    hooked.args(["build", "--"]);
    Ok(Built {
        plain: build("plain", Command::new("env"))?,
        hooked: build("hooked", hooked)?,
        version: version(&cache.join("sources").join(program.name)).unwrap_or_default(),
        lines: lines(&tree.join(program.sources))?,
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
pub fn advisory(cache: &Path, deadheat: &Path, advisory: &Advisory) -> Result<Built, String> {
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
        return Err(format!("{} was not built", hooked.display()));
    }
    Ok(Built {
        plain: target.join("debug/racing"),
        hooked,
        version: advisory.version.to_owned(),
        lines: lines(&folder.join("src"))?,
    })
}

/// How many lines of the sources in a folder are not empty.
fn lines(folder: &Path) -> Result<usize, String> {
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let is_source = |path: &PathBuf| {
        let extension = path.extension().and_then(|it| it.to_str());
        matches!(extension, Some("c" | "h" | "cpp" | "rs"))
    };
    let files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let files: Vec<PathBuf> = files.into_iter().filter(is_source).collect();
    crate::scan::lines(&files)
}
