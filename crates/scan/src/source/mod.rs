//! Making bitcode of sources: C and C++ with clang, Rust with rustc, files of `compile_commands.json` with their own flags; bitcode stays as it is.

mod commands;
mod compile;

use std::path::{Path, PathBuf};

use crate::Error;
use compile::{Compilation, Language};

/// Bitcode that was found or made. What was made is deleted with it.
#[derive(Debug)]
pub struct Bitcode {
    paths: Vec<PathBuf>,
    _made: Option<tempfile::TempDir>,
}

impl Bitcode {
    /// The files, in the order in which they were asked for.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }
}

/// Bitcode of these files and of what a `compile_commands.json` lists. The flags are added to each call of the compiler.
///
/// ```no_run
/// use deadheat_scan::{llvm, source};
///
/// let bitcode = source::bitcode(&["account.c".into()], None, &["-Iinclude".into()])?;
/// let program = llvm::read(bitcode.paths())?;
/// # Ok::<(), deadheat_scan::Error>(())
/// ```
pub fn bitcode(
    files: &[PathBuf],
    compile_commands: Option<&Path>,
    flags: &[String],
) -> Result<Bitcode, Error> {
    let mut inputs = Vec::new();
    for path in files {
        inputs.push(input(path, flags)?);
    }
    if let Some(list) = compile_commands {
        let listed = commands::listed(list, flags)?;
        inputs.extend(listed.into_iter().map(Input::Source));
    }
    if inputs.is_empty() {
        return Err(Error::NoInput);
    }
    let mut paths = Vec::new();
    let mut compilations = Vec::new();
    let mut made = None;
    for (number, input) in inputs.into_iter().enumerate() {
        match input {
            Input::Bitcode(path) => paths.push(path),
            Input::Source(compilation) => {
                let directory = match &made {
                    Some(directory) => directory,
                    None => made.insert(directory()?),
                };
                let into = directory.path();
                let into = into.join(format!("{number}.{}", compilation.language.output()));
                paths.push(into.clone());
                compilations.push((compilation, into));
            }
        }
    }
    compile::all(&compilations)?;
    Ok(Bitcode { paths, _made: made })
}

enum Input {
    Bitcode(PathBuf),
    Source(Compilation),
}

fn input(path: &Path, flags: &[String]) -> Result<Input, Error> {
    let path = path.to_owned();
    let extension = path.extension().and_then(|extension| extension.to_str());
    if let Some("bc" | "ll") = extension {
        return Ok(Input::Bitcode(path));
    }
    let Some(language) = Language::of(&path) else {
        return Err(Error::UnknownKind { path });
    };
    // A compiler would say it, but less clearly.
    if let Err(source) = std::fs::metadata(&path) {
        return Err(Error::Unreadable { path, source });
    }
    Ok(Input::Source(Compilation {
        language,
        directory: None,
        flags: flags.to_vec(),
        path,
    }))
}

fn directory() -> Result<tempfile::TempDir, Error> {
    let made = tempfile::Builder::new().prefix("deadheat-scan-").tempdir();
    made.map_err(|source| {
        let path = std::env::temp_dir();
        Error::Unwritable { path, source }
    })
}
