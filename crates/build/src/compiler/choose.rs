//! Which real compiler a call stands for.
//!
//! In this order: the compiler that the call itself names (`--compiler clang`, a path as first
//! argument, the name of a shim such as `gcc-12`); `DEADHEAT_CC` or `DEADHEAT_CXX`; gcc; clang.
//! Deadheat itself is never taken for one, under whatever name it is found.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_session::error::{Error, Result};

use super::names::{CompilerName, Language};
use super::plan::Family;

/// A real compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// How it is called: a path, or a tool such as ccache and then a path.
    pub command: Vec<OsString>,
    /// How it wants to be spoken to.
    pub family: Family,
}

impl Compiler {
    /// A compiler with nothing before it.
    fn plain(path: PathBuf, family: Family) -> Self {
        Compiler {
            command: vec![path.into()],
            family,
        }
    }
}

/// What a call says about the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Nothing.
    Any,
    /// `--compiler NAME`, in the words of one language; the other's counterpart is meant too.
    Named(OsString),
    /// This one and no counterpart: the launcher's first argument, or a shim's own name.
    Exactly(OsString),
}

/// The parts of the environment that decide.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// `PATH`.
    pub path: OsString,
    /// `DEADHEAT_CC`.
    pub cc: Option<OsString>,
    /// `DEADHEAT_CXX`.
    pub cxx: Option<OsString>,
    /// The `deadheat` executable.
    pub deadheat: PathBuf,
}

impl Surroundings {
    /// Those of this process.
    pub fn of_process() -> Result<Self> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Ok(Surroundings {
            path: set("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into()),
            cc: set("DEADHEAT_CC"),
            cxx: set("DEADHEAT_CXX"),
            deadheat: deadheat_session::executable::own_path()?,
        })
    }

    /// The compiler that a call stands for.
    pub fn choose(&self, wish: &Wish, language: Language) -> Result<Compiler> {
        let from_environment = match language {
            Language::C => self.cc.as_ref(),
            Language::Cxx => self.cxx.as_ref(),
        };
        let variable = match language {
            Language::C => "DEADHEAT_CC",
            Language::Cxx => "DEADHEAT_CXX",
        };
        match (wish, from_environment, &self.cc) {
            (Wish::Exactly(name), ..) => self.named(name, None, "the call"),
            (Wish::Named(name), ..) => self.named(name, Some(language), "--compiler"),
            (Wish::Any, Some(name), _) => self.named(name, None, variable),
            // Whoever names a C compiler wants its C++ counterpart too.
            (Wish::Any, None, Some(name)) => self.named(name, Some(language), "DEADHEAT_CC"),
            (Wish::Any, None, None) => self.default(language),
        }
    }

    fn default(&self, language: Language) -> Result<Compiler> {
        let (gcc, what) = match language {
            Language::C => ("gcc", "C"),
            Language::Cxx => ("g++", "C++"),
        };
        if let Some(path) = self.find(gcc) {
            return Ok(Compiler::plain(path, Family::Gcc));
        }
        if let Some(path) = self.find_clang(language) {
            return Ok(Compiler::plain(path, Family::Clang));
        }
        Err(
            Error::not_started(format!("no {what} compiler found: neither {gcc} nor clang"))
                .help(format!(
                    "install one, on Debian: apt-get install {}",
                    if language == Language::C {
                        "gcc"
                    } else {
                        "g++"
                    }
                ))
                .help("or name one: --compiler NAME, or DEADHEAT_CC and DEADHEAT_CXX"),
        )
    }

    /// The compiler with this name or path, perhaps behind a tool such as ccache.
    fn named(&self, name: &OsStr, counterpart: Option<Language>, source: &str) -> Result<Compiler> {
        let mut words: Vec<OsString> = match name.to_str() {
            Some(text) if !Path::new(text).exists() => {
                text.split_whitespace().map(OsString::from).collect()
            }
            _ => vec![name.into()],
        };
        let Some(last) = words.pop() else {
            return Err(Error::usage(format!("{source} names no compiler")));
        };
        let mut wanted = PathBuf::from(&last);
        let file_name = wanted.file_name().and_then(OsStr::to_str).unwrap_or("");
        if let (Some(language), Some(name)) = (counterpart, CompilerName::parse(file_name)) {
            let other = name.for_language(language);
            wanted.set_file_name(other);
        }
        let Some(path) = self.resolve(&wanted) else {
            return Err(Error::not_started(format!(
                "compiler not found: {} (from {source})",
                wanted.display()
            ))
            .help("install it, or name another: --compiler NAME, DEADHEAT_CC, DEADHEAT_CXX"));
        };
        let family = family_of(&path)?;
        if let [tool] = words.as_slice() {
            let Some(found) = self.resolve(Path::new(tool)) else {
                return Err(Error::not_started(format!(
                    "not found: {} (from {source})",
                    tool.display()
                )));
            };
            words = vec![found.into()];
        }
        words.push(path.into());
        Ok(Compiler {
            command: words,
            family,
        })
    }

    /// A path as it is; a name as it is found. Deadheat under a compiler's name means the real
    /// one of that name.
    fn resolve(&self, wanted: &Path) -> Option<PathBuf> {
        let name = wanted.file_name()?.to_str()?;
        if wanted.components().count() > 1 {
            if self.is_deadheat(wanted) {
                return self.find(name);
            }
            return is_executable(wanted).then(|| wanted.to_owned());
        }
        self.find(name).or_else(|| match name {
            "clang" => self.find_clang(Language::C),
            "clang++" => self.find_clang(Language::Cxx),
            _ => None,
        })
    }

    /// The first executable of this name on `PATH` that is not Deadheat.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        std::env::split_paths(&self.path)
            .map(|folder| folder.join(name))
            .find(|path| is_executable(path) && !self.is_deadheat(path))
    }

    /// clang, or else the newest `clang-N`, which is how Debian installs it.
    fn find_clang(&self, language: Language) -> Option<PathBuf> {
        let name = match language {
            Language::C => "clang",
            Language::Cxx => "clang++",
        };
        self.find(name).or_else(|| {
            (10..100)
                .rev()
                .find_map(|version| self.find(&format!("{name}-{version}")))
        })
    }

    fn is_deadheat(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|path| path == self.deadheat)
    }
}

/// Whether this is a file that can be run.
pub fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// By its name, by the name that it is a link to, or by what it says of itself.
fn family_of(path: &Path) -> Result<Family> {
    let by_name = |path: &Path| {
        let name = path.file_name()?.to_str()?;
        CompilerName::parse(name)?.family()
    };
    if let Some(family) = by_name(path) {
        return Ok(family);
    }
    if let Some(family) = path.canonicalize().ok().and_then(|path| by_name(&path)) {
        return Ok(family);
    }
    let output = Command::new(path).arg("--version").output();
    let said = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    match said.as_deref() {
        Ok(text) if text.contains("clang") => Ok(Family::Clang),
        Ok(text) if text.contains("Free Software Foundation") => Ok(Family::Gcc),
        _ => Err(
            Error::not_started(format!("{} is neither gcc nor clang", path.display()))
                .note("Deadheat needs their -fsanitize=thread instrumentation.")
                .help("use gcc or clang"),
        ),
    }
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
