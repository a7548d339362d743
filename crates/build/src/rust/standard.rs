//! The functions of Rust's standard library that are replaced by instrumented ones.
//!
//! They are compiled by the user's own compiler, from the sources of `crates/stdsync` that this
//! executable carries, after that crate's probe has looked whether its library is laid out as
//! they expect. The result is kept in the cache, one folder per compiler.
//!
//! The library calls those functions, too, in code that is not instrumented; there it must go on
//! calling its own, or half of what it does would be seen. So its object is copied with the
//! functions under [other names](renamed), which is what its own calls refer to, and linked
//! instead; and so is the one that runs tests. (The linker's `--wrap` would do for some linkers:
//! others redirect the library's own calls as well.)
//!
//! The latter also has the [end of threads](ENDED) that return nothing, which the compiler takes from there for the program's own threads, though it is told not
//! to share: that such a thread leaves its scope would not be seen. So that is made once more as well, and [put in its place](ENDS).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_session::error::{Error, Result};

use super::plan;
use super::replacements::{ENDED, REPLACEMENTS, Replacement};
use super::rlib::{Rlib, renamed};
use super::toolchain::Toolchain;
use crate::cache;

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../stdsync/src/", $name)))),*]
    };
}

const SOURCES: [(&str, &str); 11] = sources![
    "lib.rs",
    "barrier.rs",
    "condvar.rs",
    "futex.rs",
    "layout.rs",
    "mutex.rs",
    "once.rs",
    "park.rs",
    "rwlock.rs",
    "scope.rs",
    "probe.rs",
];

const OURS: &str = "stdsync.o";
const LIBRARY: &str = "std.o";
const TESTS: &str = "test.o";
/// The end of threads under the name that tests call it by.
const ENDS: &str = "ends.o";

/// The replaced functions, ready to be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standard {
    folder: PathBuf,
}

impl Standard {
    /// Those for a compiler; made if that was not done before.
    pub fn of(toolchain: &Toolchain) -> Result<Self> {
        let folder = cache::root()?.join(format!("std-{:016x}", key(toolchain)));
        if let Some(ready) = Self::load(&folder) {
            return Ok(ready);
        }
        let fresh = folder.with_extension(std::process::id().to_string());
        let made = make(toolchain, &fresh);
        let moved = made.and_then(|()| match std::fs::rename(&fresh, &folder) {
            Err(error) if !folder.is_dir() => Err(cache::not_writable(&folder, &error)),
            _ => Ok(()), // or someone was faster
        });
        let _ = std::fs::remove_dir_all(&fresh);
        moved?;
        Self::load(&folder).ok_or_else(|| {
            Error::not_started(format!("{} is damaged", folder.display()))
                .help("delete it and try again")
        })
    }

    fn load(folder: &Path) -> Option<Self> {
        let there = |name: &&str| folder.join(name).is_file();
        [OURS, LIBRARY, TESTS, ENDS]
            .iter()
            .all(there)
            .then(|| Standard {
                folder: folder.to_owned(),
            })
    }

    #[cfg(test)]
    pub(super) fn in_folder(folder: &str) -> Self {
        Standard {
            folder: folder.into(),
        }
    }

    /// What a program is linked with, before everything else; `tests` if it is one of tests.
    pub fn objects(&self, tests: bool) -> impl Iterator<Item = PathBuf> {
        let names: &[&str] = match tests {
            true => &[OURS, LIBRARY, TESTS, ENDS],
            false => &[OURS, LIBRARY],
        };
        names.iter().map(|name| self.folder.join(name))
    }
}

/// What the folder depends on: the compiler, and what is made.
fn key(toolchain: &Toolchain) -> u64 {
    let text = format!("{}{:x}", toolchain.version.full, version());
    cache::hash(text.as_ref())
}

/// Changes with everything that programs are linked with besides the runtime, and with how they
/// are compiled.
pub fn version() -> u64 {
    let mut text = plan::INSTRUMENT.concat();
    text.push_str(ENDED);
    for (name, source) in SOURCES {
        text.push_str(name);
        text.push_str(source);
    }
    for replacement in &REPLACEMENTS {
        text.push_str(replacement.path);
        text.push_str(replacement.code);
    }
    cache::hash(text.as_ref())
}

/// Makes the folder.
fn make(toolchain: &Toolchain, folder: &Path) -> Result<()> {
    let written = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).map_err(|error| cache::not_writable(&path, &error))
    };
    std::fs::create_dir_all(folder).map_err(|error| cache::not_writable(folder, &error))?;
    for (name, source) in SOURCES {
        written(name, source.as_bytes())?;
    }
    let library = Rlib::find(toolchain, "libstd-")?;
    let tests = Rlib::find(toolchain, "libtest-")?;
    let found = find(toolchain, &library.functions()?)?;
    written("exports.rs", exports_for(&found).as_bytes())?;
    let mut symbols: Vec<&str> = found.iter().map(|(_, symbol)| symbol.as_str()).collect();
    written(LIBRARY, &library.renamed(&symbols)?)?;
    let ended = tests.function(ENDED)?;
    symbols.extend(ended.as_deref());
    written(TESTS, &tests.renamed(&symbols)?)?;
    let offsets = probe(toolchain, folder)?;

    let mut compile = Command::new(&toolchain.compiler);
    compile
        .args(["--crate-name=deadheat_stdsync", "--crate-type=lib"])
        .args(["--edition=2024", "--emit=obj", "--cap-lints=allow"])
        .args(["--cfg=deadheat_linked", "-Copt-level=2", "-Cdebuginfo=1"])
        .arg("-Crelocation-model=pic")
        .arg(format!(
            "--remap-path-prefix={}=deadheat/stdsync",
            folder.display()
        ))
        .args(plan::INSTRUMENT)
        .arg("-o")
        .arg(folder.join(OURS))
        .arg(folder.join("lib.rs"))
        .envs(offsets)
        .env("DEADHEAT_STANDARD_EXPORTS", folder.join("exports.rs"))
        .env("RUSTC_BOOTSTRAP", "1");
    succeed(toolchain, &mut compile, "compiled for it")?;
    let ours = Rlib::object(folder.join(OURS))?.function(ENDED)?;
    let ends = match (ended, ours) {
        (Some(theirs), Some(ours)) => going_on(&theirs, &ours),
        (Some(_), None) => return Err(differs(toolchain, "ends threads in another way")),
        (None, _) => String::new(),
    };
    written("ends.rs", ends.as_bytes())?;
    let mut compile = Command::new(&toolchain.compiler);
    compile
        .args(["--crate-name=deadheat_ends", "--crate-type=lib"])
        .args(["--edition=2024", "--emit=obj", "-o"])
        .arg(folder.join(ENDS))
        .arg(folder.join("ends.rs"));
    succeed(toolchain, &mut compile, "compiled for it")
}

/// A function that goes on as another.
fn going_on(name: &str, other: &str) -> String {
    format!(
        "std::arch::global_asm!(\".globl {name}\", \".type {name},@function\", \"{name}: jmp {other}\");\n"
    )
}

/// The library's symbols for all functions that are replaced; `defined` are its functions by
/// their paths.
fn find(
    toolchain: &Toolchain,
    defined: &[(String, String)],
) -> Result<Vec<(&'static Replacement, String)>> {
    let mut found = Vec::new();
    for replacement in &REPLACEMENTS {
        let symbol = defined.iter().find(|(path, _)| path == replacement.path);
        match symbol {
            Some((_, symbol)) => found.push((replacement, symbol.clone())),
            None if replacement.optional => {}
            None => return Err(differs(toolchain, &format!("has no {}", replacement.path))),
        }
    }
    Ok(found)
}

/// Our functions under the library's names.
fn exports_for(found: &[(&Replacement, String)]) -> String {
    let mut text = String::from(
        "#[allow(unused_imports)]\nmod exports {\nuse super::*;\n\
         use std::sync::atomic::AtomicU32;\nuse std::thread::Thread;\nuse std::time::Duration;\n",
    );
    for (number, (replacement, symbol)) in found.iter().enumerate() {
        let code = replacement.code.replace("real", &format!("real{number}"));
        if code != replacement.code {
            let real = renamed(symbol);
            let _ = writeln!(
                text,
                "unsafe extern \"Rust\" {{ #[link_name = \"{real}\"] \
                 safe fn real{number}(object: &u8) -> bool; }}"
            );
        }
        let _ = writeln!(
            text,
            "#[unsafe(export_name = \"{symbol}\")]\npub fn replaced{number}{code}"
        );
    }
    text.push_str("}\n");
    text
}

/// Runs the probe: where things lie, as variables for the compiler.
fn probe(toolchain: &Toolchain, folder: &Path) -> Result<Vec<(String, String)>> {
    let program = folder.join("probe");
    let mut compile = Command::new(&toolchain.compiler);
    compile
        .args(["--edition=2024", "--cap-lints=allow", "-o"])
        .arg(&program)
        .arg(folder.join("probe.rs"));
    succeed(toolchain, &mut compile, "asked about it")?;
    let output = Command::new(&program).output().map_err(|error| {
        Error::not_started(format!("cannot run {}: {error}", program.display()))
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<(String, String)> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    if !output.status.success() {
        let what = lines.iter().find(|(name, _)| name == "differs");
        let what = what.map_or("some of it", |(_, value)| value);
        return Err(differs(toolchain, &format!("does {what} in another way")));
    }
    Ok(lines)
}

fn succeed(toolchain: &Toolchain, command: &mut Command, what: &str) -> Result<()> {
    let output = command.output().map_err(|error| {
        Error::not_started(format!(
            "cannot run {}: {error}",
            toolchain.compiler.display()
        ))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let first = told.lines().find(|line| line.contains("error"));
    let reason = format!("cannot be {what}: {}", first.unwrap_or("no message"));
    Err(differs(toolchain, &reason))
}

/// The standard library is not one that we know.
fn differs(toolchain: &Toolchain, how: &str) -> Error {
    let release = &toolchain.version.release;
    Error::not_started(format!(
        "the standard library of Rust {release} is not known: it {how}"
    ))
    .note("Deadheat replaces what it does when a lock is contended, to see it; so it must know it.")
    .help("use another toolchain, such as 1.95: cargo +1.95 deadheat ..., rustup default 1.95")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_is_carried() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stdsync/src");
        let mut there: Vec<_> = folder
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let mut carried = SOURCES.map(|(name, _)| name.to_owned());
        there.retain(|name| name != "tests.rs");
        there.sort();
        carried.sort();
        assert_eq!(there, carried);
    }

    #[test]
    fn exports_carry_the_linkers_names() {
        let found = [
            (&REPLACEMENTS[0], "_Rlock".to_owned()),
            (&REPLACEMENTS[13], "_Rwait".to_owned()),
        ];
        let text = exports_for(&found);
        assert!(text.contains("export_name = \"_Rlock\")]\npub fn replaced0(word:"));
        assert!(text.contains("link_name = \"_Dwait\"] safe fn real1("));
        assert!(text.contains("barrier::wait(barrier, real1)"));
    }

    #[test]
    fn another_library_is_told() {
        let toolchain = Toolchain {
            compiler: "rustc".into(),
            version: super::super::toolchain::Version {
                full: String::new(),
                release: "1.0.0".into(),
                host: String::new(),
            },
        };
        let error = differs(&toolchain, "has no std::x");
        let told = error.to_string();
        let first = told.lines().next().unwrap();
        assert_eq!(
            first,
            "the standard library of Rust 1.0.0 is not known: it has no std::x"
        );
    }
}
