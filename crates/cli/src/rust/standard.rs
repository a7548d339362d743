//! The functions of Rust's standard library that are replaced by instrumented ones.
//!
//! They are compiled by the user's own compiler, from the sources of `crates/stdsync` that this
//! executable carries, after that crate's probe has looked whether its library is laid out as
//! they expect. The result is kept in the cache, one folder per compiler.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol, SymbolKind};

use super::plan;
use super::toolchain::Toolchain;
use crate::cache;
use crate::error::{Error, Result};

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

/// A function of the library, and what stands in for it: its parameters and result as the
/// library has them, and the call.
struct Replacement {
    /// Its path in the library.
    path: &'static str,
    /// `(parameters) -> result { call }`.
    code: &'static str,
    /// Not every version has it.
    optional: bool,
}

const fn required(path: &'static str, code: &'static str) -> Replacement {
    Replacement {
        path,
        code,
        optional: false,
    }
}

const fn optional(path: &'static str, code: &'static str) -> Replacement {
    Replacement {
        path,
        code,
        optional: true,
    }
}

const REPLACEMENTS: [Replacement; 20] = [
    required(
        "std::sys::sync::mutex::futex::Mutex::lock_contended",
        "(word: &AtomicU32) { mutex::lock_contended(word) }",
    ),
    required(
        "std::sys::sync::rwlock::futex::RwLock::read_contended",
        "(lock: &rwlock::RwLock) { rwlock::read_contended(lock) }",
    ),
    required(
        "std::sys::sync::rwlock::futex::RwLock::write_contended",
        "(lock: &rwlock::RwLock) { rwlock::write_contended(lock) }",
    ),
    required(
        "std::sys::sync::rwlock::futex::RwLock::wake_writer_or_readers",
        "(lock: &rwlock::RwLock, now: u32) { rwlock::wake_writer_or_readers(lock, now) }",
    ),
    required(
        "std::sys::sync::condvar::futex::Condvar::wait",
        "(count: &AtomicU32, lock: &AtomicU32) { condvar::wait(count, lock) }",
    ),
    required(
        "std::sys::sync::condvar::futex::Condvar::wait_timeout",
        "(count: &AtomicU32, lock: &AtomicU32, limit: Duration) -> bool \
         { condvar::wait_timeout(count, lock, limit) }",
    ),
    required(
        "std::sync::poison::condvar::Condvar::notify_one",
        "(count: &AtomicU32) { condvar::notify_one(count) }",
    ),
    required(
        "std::sync::poison::condvar::Condvar::notify_all",
        "(count: &AtomicU32) { condvar::notify_all(count) }",
    ),
    optional(
        "std::sync::nonpoison::condvar::Condvar::notify_one",
        "(count: &AtomicU32) { condvar::notify_one(count) }",
    ),
    optional(
        "std::sync::nonpoison::condvar::Condvar::notify_all",
        "(count: &AtomicU32) { condvar::notify_all(count) }",
    ),
    required(
        "std::sys::sync::once::futex::Once::call",
        "(word: &AtomicU32, even: bool, function: &mut dyn FnMut(&mut once::State)) \
         { once::call(word, even, function) }",
    ),
    optional(
        "std::sync::once::Once::wait",
        "(word: &AtomicU32) { once::wait(word, false) }",
    ),
    optional(
        "std::sync::once::Once::wait_force",
        "(word: &AtomicU32) { once::wait(word, true) }",
    ),
    required(
        "std::sync::barrier::Barrier::wait",
        "(barrier: &u8) -> bool { barrier::wait(barrier, real) }",
    ),
    required(
        "std::thread::scoped::ScopeData::increment_num_running_threads",
        "(scope: &u8) { scope::increment_num_running_threads(scope) }",
    ),
    required(
        "std::thread::scoped::ScopeData::decrement_num_running_threads",
        "(scope: &u8, panicked: bool) { scope::decrement_num_running_threads(scope, panicked) }",
    ),
    required(
        "std::thread::thread::Thread::park",
        "(thread: &Thread) { park::park(thread) }",
    ),
    optional(
        "std::thread::thread::Thread::park_timeout",
        "(thread: &Thread, limit: Duration) { park::park_timeout(thread, limit) }",
    ),
    required("std::thread::functions::park", "() { park::park_me() }"),
    required(
        "std::thread::functions::park_timeout",
        "(limit: Duration) { park::park_me_timeout(limit) }",
    ),
];

const OBJECT: &str = "stdsync.o";
const SYMBOLS: &str = "symbols";

/// The replaced functions, ready to be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standard {
    /// The object that has them.
    pub object: PathBuf,
    /// The symbols in whose place they are.
    pub symbols: Vec<String>,
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
        let symbols = std::fs::read_to_string(folder.join(SYMBOLS)).ok()?;
        let object = folder.join(OBJECT);
        object.is_file().then(|| Standard {
            symbols: symbols.lines().map(str::to_owned).collect(),
            object,
        })
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
    let written = |path: &Path, text: &str| {
        std::fs::write(path, text).map_err(|error| cache::not_writable(path, &error))
    };
    std::fs::create_dir_all(folder).map_err(|error| cache::not_writable(folder, &error))?;
    for (name, source) in SOURCES {
        written(&folder.join(name), source)?;
    }
    let found = find(toolchain)?;
    let exports = folder.join("exports.rs");
    written(&exports, &exports_for(&found))?;
    let offsets = probe(toolchain, folder)?;

    let mut compile = Command::new(&toolchain.compiler);
    compile
        .args(["--crate-name=deadheat_stdsync", "--crate-type=lib"])
        .args(["--edition=2024", "--emit=obj", "--cap-lints=allow"])
        .args(["--cfg=deadheat_linked", "-Copt-level=2", "-Cdebuginfo=1"])
        .arg("-Crelocation-model=pic")
        .args(plan::INSTRUMENT)
        .arg("-o")
        .arg(folder.join(OBJECT))
        .arg(folder.join("lib.rs"))
        .envs(offsets)
        .env("DEADHEAT_STANDARD_EXPORTS", &exports)
        .env("RUSTC_BOOTSTRAP", "1");
    succeed(toolchain, &mut compile, "compiled for it")?;
    let symbols: Vec<_> = found.iter().map(|(_, symbol)| symbol.as_str()).collect();
    written(&folder.join(SYMBOLS), &symbols.join("\n"))
}

/// The library's symbols for all functions that are replaced.
fn find(toolchain: &Toolchain) -> Result<Vec<(&'static Replacement, String)>> {
    let folder = toolchain.libraries()?;
    let libraries = folder.read_dir().into_iter().flatten().flatten();
    let is_library = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("libstd-") && name.ends_with(".rlib"))
    };
    let Some(path) = libraries.map(|entry| entry.path()).find(is_library) else {
        return Err(
            Error::not_started(format!("no standard library in {}", folder.display()))
                .help(format!("rustup target add {}", super::toolchain::TARGET)),
        );
    };
    let unreadable = |error: &dyn std::fmt::Display| {
        Error::not_started(format!("cannot read {}: {error}", path.display()))
    };
    let bytes = std::fs::read(&path).map_err(|error| unreadable(&error))?;
    let defined = functions(&bytes).map_err(|error| unreadable(&error))?;
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

/// The functions that an archive defines, by their paths.
fn functions(archive: &[u8]) -> Result<Vec<(String, String)>, object::Error> {
    let mut all = Vec::new();
    for member in ArchiveFile::parse(archive)?.members() {
        // Not every member is an object.
        let Ok(file) = object::File::parse(member?.data(archive)?) else {
            continue;
        };
        for symbol in file.symbols() {
            if symbol.is_definition() && symbol.is_global() && symbol.kind() == SymbolKind::Text {
                let name = symbol.name()?;
                let path = format!("{:#}", rustc_demangle::demangle(name));
                all.push((path.replace(['<', '>'], ""), name.to_owned()));
            }
        }
    }
    Ok(all)
}

/// The functions under the linker's names.
fn exports_for(found: &[(&Replacement, String)]) -> String {
    let mut text = String::from(
        "#[allow(unused_imports)]\nmod exports {\nuse super::*;\n\
         use std::sync::atomic::AtomicU32;\nuse std::thread::Thread;\nuse std::time::Duration;\n",
    );
    for (number, (replacement, symbol)) in found.iter().enumerate() {
        let code = replacement.code;
        let body = match code.contains("real") {
            // The library's own function, which the linker names so.
            true => code.replace("real", &format!("real{number}")),
            false => code.to_owned(),
        };
        if body != code {
            let _ = writeln!(
                text,
                "unsafe extern \"Rust\" {{ #[link_name = \"__real_{symbol}\"] \
                 safe fn real{number}(object: &u8) -> bool; }}"
            );
        }
        let _ = writeln!(
            text,
            "#[unsafe(export_name = \"__wrap_{symbol}\")]\npub fn replaced{number}{body}"
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
        assert!(text.contains("export_name = \"__wrap__Rlock\")]\npub fn replaced0(word:"));
        assert!(text.contains("link_name = \"__real__Rwait\"] safe fn real1("));
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
        assert_eq!(
            error.to_string(),
            "the standard library of Rust 1.0.0 is not known: it has no std::x"
        );
    }
}
