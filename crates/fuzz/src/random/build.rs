//! Files of programs, rendered and built: by which compiler, with which optimisation.

use super::program::{Language, Program};
use super::render::{Batch, render};
use crate::tool::Tool;
use std::fs;
use std::path::{Path, PathBuf};

/// How a file is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Build {
    /// By clang rather than gcc; Rust has one compiler.
    pub clang: bool,
    /// With `-O2`: the compiler may drop and merge accesses.
    pub optimised: bool,
}

/// The clang that is asked for.
const CLANG: &str = "clang-19";

impl Build {
    /// The build of the batch with this number: half of them are plain.
    #[must_use]
    pub fn of(batch: usize, language: Language) -> Self {
        let clang = language != Language::Rust && has_clang();
        match batch % 6 {
            1 => Build {
                clang,
                optimised: false,
            },
            3 => Build {
                clang: false,
                optimised: true,
            },
            5 => Build {
                clang,
                optimised: true,
            },
            _ => Build::default(),
        }
    }

    /// What is given to Deadheat.
    #[must_use]
    pub fn arguments(self, language: Language) -> Vec<&'static str> {
        let mut all = match language {
            Language::C => vec!["cc"],
            Language::Cpp => vec!["c++"],
            Language::Rust => vec!["rustc", "--edition", "2021", "-g"],
        };
        if language == Language::Rust {
            if self.optimised {
                all.extend(["-C", "opt-level=2"]);
            }
            return all;
        }
        if self.clang {
            all.extend(["--compiler", CLANG]);
        }
        all.extend([if self.optimised { "-O2" } else { "-O0" }, "-g", "-pthread"]);
        if language == Language::Cpp {
            all.push("-std=c++20");
        }
        all
    }
}

fn has_clang() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(CLANG).is_file())
}

/// A file of programs, built.
#[derive(Debug)]
pub struct Built {
    /// The text and its lines.
    pub batch: Batch,
    /// The name of its file.
    pub file: String,
    /// The program.
    pub program: PathBuf,
    /// How it was built.
    pub build: Build,
    pub(super) folder: PathBuf,
}

/// Renders and builds programs in a folder.
///
/// # Errors
///
/// What the compiler said.
pub fn build(
    tool: &Tool,
    folder: &Path,
    programs: &[&Program],
    build: Build,
) -> Result<Built, String> {
    let language = programs.first().map_or(Language::C, |p| p.language);
    let batch = render(programs);
    let file = format!("batch.{}", language.ending());
    fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    fs::write(folder.join(&file), &batch.text).map_err(|e| e.to_string())?;
    let mut all = build.arguments(language);
    all.extend([file.as_str(), "-o", "batch"]);
    let tool = Tool {
        limit: tool.limit * 5,
        ..tool.clone()
    };
    let ran = tool.plain(folder, &all).map_err(|e| e.to_string())?;
    if ran.code != Some(0) {
        return Err(format!(
            "{} ended with {:?}: {}",
            ran.command, ran.code, ran.stderr
        ));
    }
    Ok(Built {
        program: folder.join("batch"),
        folder: folder.to_owned(),
        batch,
        file,
        build,
    })
}
