//! Builds files with many programs, by the plain compiler and by Deadheat's.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::catalogue::Language;
use super::language;
use super::program::Program;
use crate::tool;

/// Where a file's programs are.
#[derive(Clone, Debug)]
pub struct Built {
    /// The text.
    pub source: PathBuf,
    /// By the plain compiler.
    pub plain: PathBuf,
    /// By Deadheat's.
    pub instrumented: PathBuf,
}

/// Builds programs of one language in a folder.
///
/// # Errors
/// If a compiler refuses them: the catalogue is wrong, or Deadheat's wrapper.
pub fn build(
    deadheat: &Path,
    language: Language,
    programs: &[Program],
    folder: &Path,
) -> Result<Built, String> {
    let end = match language {
        Language::C => "c",
        Language::Cpp => "cpp",
        Language::Rust => "rs",
    };
    let built = Built {
        source: folder.join(format!("programs.{end}")),
        plain: folder.join("plain"),
        instrumented: folder.join("instrumented"),
    };
    std::fs::write(&built.source, language::text(language, programs))
        .map_err(|error| error.to_string())?;
    for (into, wrapped) in [(&built.plain, false), (&built.instrumented, true)] {
        let mut command = compiler(deadheat, language, wrapped);
        command.arg(&built.source).arg("-o").arg(into);
        let ran = tool::run(&mut command, folder, Duration::from_secs(300))
            .map_err(|error| error.to_string())?;
        if ran.code != Some(0) {
            return Err(format!(
                "{} is refused by {command:?}:\n{}",
                built.source.display(),
                ran.text()
            ));
        }
    }
    Ok(built)
}

fn compiler(deadheat: &Path, language: Language, wrapped: bool) -> Command {
    let (plain, wrapper) = match language {
        Language::C => ("gcc", "cc"),
        Language::Cpp => ("g++", "c++"),
        Language::Rust => ("rustc", "rustc"),
    };
    let mut command = match wrapped {
        true => Command::new(deadheat),
        false => Command::new(plain),
    };
    if wrapped {
        command.arg(wrapper);
    }
    match language {
        Language::C => command.args(["-std=gnu11", "-O0", "-g", "-pthread", "-w"]),
        Language::Cpp => command.args(["-std=c++20", "-O0", "-g", "-pthread", "-w"]),
        Language::Rust => command.args(["--edition", "2024", "-g", "-Aunused"]),
    };
    command
}
