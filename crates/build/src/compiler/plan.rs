//! From what the user asks of the compiler to what we ask of it: a pure function.
//!
//! | asked for | what is added |
//! |---|---|
//! | nothing to work on (`--version`, `-print-...`) | nothing |
//! | preprocess, compile | instrumentation |
//! | link a shared library or a larger object | instrumentation of its sources; no runtime |
//! | link an executable | instrumentation of its sources; the runtime |
//!
//! gcc's driver links its own runtime wherever it sees `-fsanitize=thread`. When it compiles and
//! links in one go the flag is therefore given to the compiler proper alone, by way of
//! `-wrapper` (see [`super::proper`]).

use std::ffi::OsString;
use std::path::Path;

use deadheat_session::error::{Error, Result};

use super::command_line::{CommandLine, Item, Until};
use super::options;

/// Who made the compiler, and so how it wants to be spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The GNU compilers.
    Gcc,
    /// clang and what is derived from it.
    Clang,
}

/// The files that a program is linked with, and who calls.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The runtime, as an object. (Not as an archive: `--exclude-libs` would hide it.)
    pub object: &'a Path,
    /// The symbols that the executable has to export for it, as a linker's dynamic list.
    pub exports: &'a Path,
    /// The `deadheat` executable.
    pub deadheat: &'a Path,
}

/// What instruments accesses in gcc. It has no hooks for copies that it knows the size of, and writes
/// them out itself: called, they are seen. (What folds to a constant, such as `strlen`, stays as it is.)
pub const GCC_INSTRUMENT: [&str; 14] = [
    "-fsanitize=thread",
    "-fno-builtin-memcpy",
    "-fno-builtin-memmove",
    "-fno-builtin-memset",
    "-fno-builtin-mempcpy",
    "-fno-builtin-memcmp",
    "-fno-builtin-bcopy",
    "-fno-builtin-bzero",
    "-fno-builtin-bcmp",
    "-fno-builtin-strcpy",
    "-fno-builtin-strncpy",
    "-fno-builtin-stpcpy",
    "-fno-builtin-strcat",
    "-fno-tree-loop-distribute-patterns",
];

/// The arguments for the real compiler.
///
/// # Errors
/// When the user asks for what cannot be recorded: a static or 32-bit program, or a sanitizer
/// that excludes ours.
pub fn plan(family: Family, args: &[OsString], parts: Parts<'_>) -> Result<Vec<OsString>> {
    let line = CommandLine::parse(args);
    if !line.has_inputs {
        return Ok(args.to_vec());
    }
    refuse(family, &line)?;
    let mut out = Vec::new();
    if line.has_sources {
        compile_options(family, &line, parts, &mut out)?;
    }
    if line.makes_executable() {
        out.push(parts.object.into());
        out.push("-Xlinker".into());
        out.push(joined("--dynamic-list=", parts.exports));
    }
    for item in users_items(&line) {
        out.extend(item);
    }
    if line.until == Until::Linked && line.shared && line.demands_definitions {
        // The runtime's symbols are defined in the executable, which is not here.
        out.push("-Wl,--unresolved-symbols=ignore-all".into());
    }
    if line.makes_executable() && !line.no_libraries {
        out.extend(["-lpthread", "-ldl"].map(OsString::from));
    }
    Ok(out)
}

fn refuse(family: Family, line: &CommandLine) -> Result<()> {
    if let Some(option) = &line.narrow_option {
        return Err(
            Error::not_started(format!("{option}: 32-bit programs cannot be recorded"))
                .note("Deadheat supports x86-64 programs only.")
                .help(format!("build without {option}")),
        );
    }
    if line.makes_executable()
        && let Some(option) = &line.static_option
    {
        return Err(Error::not_started(format!(
            "{option}: statically linked programs cannot be recorded"
        ))
        .note("Deadheat's runtime stands between the program and a shared C library.")
        .help(format!(
            "link without {option}; -static-libgcc and -static-libstdc++ are fine"
        )));
    }
    if let Some(name) = line
        .sanitizers
        .iter()
        .find(|s| options::excludes_threads(s))
    {
        return Err(Error::not_started(format!(
            "-fsanitize={name} cannot be combined with Deadheat's instrumentation"
        ))
        .help(format!("build without -fsanitize={name}")));
    }
    let mixes = family == Family::Clang && line.makes_executable() && line.has_sources;
    if mixes && let Some(name) = line.sanitizers.first() {
        return Err(Error::not_started(format!(
            "clang cannot compile and link with -fsanitize={name} and Deadheat in one step"
        ))
        .help("compile with -c first and link in a second command"));
    }
    Ok(())
}

fn compile_options(
    family: Family,
    line: &CommandLine,
    parts: Parts<'_>,
    out: &mut Vec<OsString>,
) -> Result<()> {
    if family == Family::Clang {
        // Assembler sources leave most of these unused; that is not worth a warning.
        out.push("--start-no-unused-arguments".into());
    }
    out.push("-g".into());
    if !line.optimised {
        out.push("-O1".into());
    }
    match family {
        Family::Clang => {
            out.extend(
                [
                    "-fsanitize=thread",
                    "-fno-sanitize-link-runtime",
                    "-fno-omit-frame-pointer",
                    "-fno-vectorize",
                    "-fno-slp-vectorize",
                    "-mllvm",
                    "-tsan-instrument-read-before-write",
                    "--end-no-unused-arguments",
                ]
                .map(OsString::from),
            );
        }
        Family::Gcc if line.until == Until::Linked => {
            if parts.deadheat.to_string_lossy().contains(',') {
                return Err(Error::not_started(format!(
                    "gcc cannot start Deadheat from a path with a comma: {}",
                    parts.deadheat.display()
                ))
                .help("move Deadheat, or compile with -c first and link in a second command"));
            }
            let mut wrapper = parts.deadheat.as_os_str().to_owned();
            wrapper.push(",");
            wrapper.push(super::proper::COMMAND);
            out.extend(["-wrapper".into(), wrapper]);
        }
        Family::Gcc => out.extend(GCC_INSTRUMENT.map(OsString::from)),
    }
    Ok(())
}

/// The user's own arguments, less what would spoil the build.
fn users_items(line: &CommandLine) -> Vec<Item> {
    let mut kept: Vec<Item> = Vec::new();
    for item in &line.items {
        let text = item[0].to_string_lossy();
        if text == "-flto" || text.starts_with("-flto=") {
            continue; // link-time optimisation would undo or move the instrumentation
        }
        if let Some(list) = text.strip_prefix("-fsanitize=") {
            let others: Vec<_> = list.split(',').filter(|name| *name != "thread").collect();
            if !others.is_empty() {
                kept.push(vec![format!("-fsanitize={}", others.join(",")).into()]);
            }
            continue;
        }
        kept.push(item.clone());
    }
    kept
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut joined = OsString::from(option);
    joined.push(path);
    joined
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
