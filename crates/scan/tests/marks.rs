//! Programs whose lines say what a scan warns of.
//!
//! In `programs/scan` a comment on the line of an access says `RACE!` if some warning must have it and `NORACE` if none may; on
//! the line of a lock that is taken, `DEADLOCK!` and `NODEADLOCK`. What is known to come out wrong says so: `RACE! (missed)`,
//! `NORACE (warned)`; when it comes out right, that has to go. In the other programs, C, C++ and Rust, every race that is marked must be among
//! the warnings, but for those below.
//!
//! One test per program, named so: `scan/locksets`, `zoo/c/mutex_race`. A folder in `programs/scan` is one program of several files,
//! but for those with all programs of a language.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use deadheat_oracle::{Oracle, read_folder};
use deadheat_report::{Finding, Kind};
use deadheat_scan::model::Model;
use deadheat_scan::{found, llvm, roots, source};
use libtest_mimic::{Arguments, Failed, Trial};

/// Races that a scan does not find, and why.
const MISSED: [(&str, &str); 12] = [
    (
        "atexit_thread_race",
        "what is registered for the end runs outside of main",
    ),
    (
        "atomic_relaxed_pointer_race",
        "a block is prepared while nobody else has its address",
    ),
    (
        "create_handle_race",
        "pthread_create stores the handle inside of the C library",
    ),
    ("mmap_race", "the end of a mapping is no write"),
    ("cancel_race", "a handler runs when its thread is cancelled"),
    (
        "ctor_dtor_race",
        "a destructor runs beside threads that were not waited for",
    ),
    (
        "dlopen_race",
        "the other access is in a library that is loaded later",
    ),
    (
        "mutex_errorcheck_race",
        "a lock that reports errors is given back by who has not got it",
    ),
    (
        "static_objects_race",
        "the constructors and destructors of static objects run outside of main",
    ),
    (
        "quick_exit_race",
        "what is registered for the end runs outside of main",
    ),
    (
        "signal_handler_race",
        "a handler runs in the middle of anything",
    ),
    (
        "tsd_race",
        "a destructor of thread-specific data runs at a thread's end",
    ),
];

/// Folders in `programs/scan` with the programs of a language.
const LANGUAGES: [&str; 2] = ["cpp", "rust"];

/// What a mark says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    /// The file's name, without its folder.
    file: String,
    line: u32,
    kind: Kind,
    /// Whether there must be a warning.
    is_error: bool,
    /// Whether it is known to come out wrong.
    is_wrong: bool,
}

fn main() {
    let arguments = Arguments::from_args();
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut trials = Vec::new();
    let (mut count, mut wrong) = (0, 0);
    for (path, sources) in programs(&top.join("scan")) {
        let marks: Vec<Mark> = sources.iter().flat_map(|source| marks(source)).collect();
        let flags: Vec<String> = sources.iter().flat_map(|source| flags(source)).collect();
        count += marks.len();
        wrong += marks.iter().filter(|mark| mark.is_wrong).count();
        let name = name(&top, &path);
        trials.push(Trial::test(name, move || {
            agrees(&sources, &flags, &marks).map_err(Failed::from)
        }));
    }
    eprintln!(
        "{count} marks in {} programs, {wrong} of which come out wrong",
        trials.len()
    );
    let languages = ["c", "cpp", "rs"];
    for folder in ["papers", "scenarios", "zoo", "rust/scenarios", "rust/zoo"] {
        let oracles = read_folder(top.join(folder)).unwrap_or_else(|error| panic!("{error}"));
        let programs = oracles.into_iter().filter(|oracle| {
            let end = oracle.path.extension();
            end.is_some_and(|end| languages.iter().any(|language| end == *language))
                && oracle.directives.part_of.is_none()
        });
        for oracle in programs {
            let name = name(&top, &oracle.path);
            trials.push(Trial::test(name, move || {
                finds(&oracle).map_err(Failed::from)
            }));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// A program's name, without what all have in common.
fn name(top: &Path, path: &Path) -> String {
    let within = path.strip_prefix(top).unwrap_or(path);
    within.with_extension("").display().to_string()
}

/// The sources in a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{error}"));
    let paths = entries.map(|entry| entry.unwrap_or_else(|error| panic!("{error}")).path());
    let endings = ["c", "cc", "cpp", "rs"];
    let is_source = |path: &PathBuf| {
        let end = path.extension();
        end.is_some_and(|end| endings.iter().any(|source| end == *source))
    };
    let mut sources: Vec<PathBuf> = paths.filter(is_source).collect();
    sources.sort();
    sources
}

/// The programs in a folder, each with its sources.
fn programs(folder: &Path) -> Vec<(PathBuf, Vec<PathBuf>)> {
    let files = sources(folder).into_iter();
    let mut programs: Vec<_> = files.map(|file| (file.clone(), vec![file])).collect();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{error}"));
    let paths = entries.map(|entry| entry.unwrap_or_else(|error| panic!("{error}")).path());
    for path in paths.filter(|path| path.is_dir()) {
        match LANGUAGES.contains(&file_name(&path).as_str()) {
            true => programs.extend(self::programs(&path)),
            false => {
                let sources = sources(&path);
                programs.push((path, sources));
            }
        }
    }
    programs.sort();
    programs
}

/// The marks in a file.
fn marks(path: &Path) -> Vec<Mark> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}"));
    let words = [
        ("RACE!", Kind::Race, true),
        ("NORACE", Kind::Race, false),
        ("DEADLOCK!", Kind::Deadlock, true),
        ("NODEADLOCK", Kind::Deadlock, false),
    ];
    let mut marks = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some((_, comment)) = line.split_once("// ") else {
            continue;
        };
        for (word, kind, is_error) in words {
            let Some(rest) = comment.strip_prefix(word) else {
                continue;
            };
            marks.push(Mark {
                file: file_name(path),
                line: number as u32 + 1,
                kind,
                is_error,
                is_wrong: ["(missed)", "(warned)"].contains(&rest.trim()),
            });
        }
    }
    marks
}

/// The flags that a program says it is compiled with.
fn flags(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}"));
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("// CFLAGS: "));
    let flags = lines.flat_map(str::split_whitespace);
    flags.map(str::to_owned).collect()
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The warnings about a program.
fn scan(paths: &[PathBuf], flags: &[String]) -> Result<Vec<Finding>, String> {
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|end| end == "rs");
    let mut all = match paths.iter().any(is_rust) {
        true => Vec::new(),
        false => vec!["-w".to_owned()],
    };
    all.extend_from_slice(flags);
    let bitcode = source::bitcode(paths, None, &all).map_err(|error| error.to_string())?;
    let model = Model::user().map_err(|error| error.to_string())?;
    let program = llvm::read_with(bitcode.paths(), &|name| model.knows(name))
        .map_err(|error| error.to_string())?;
    let roots = roots::of(&program, &model);
    Ok(found::scan(&program, &model, &roots).findings)
}

/// The lines of a warning.
fn lines(finding: &Finding) -> Vec<u32> {
    let places = finding.accesses.iter().map(|access| &access.place);
    let mut lines: Vec<u32> = places.filter_map(|frame| frame.line).collect();
    lines.sort_unstable();
    lines
}

/// Whether there are warnings where the marks say so, and nowhere else.
fn agrees(paths: &[PathBuf], flags: &[String], marks: &[Mark]) -> Result<(), String> {
    let findings = scan(paths, flags)?;
    let warned: BTreeSet<(String, u32, bool)> = findings
        .iter()
        .flat_map(|finding| {
            let places = finding.accesses.iter().map(|access| &access.place);
            places.filter_map(|frame| {
                let file = file_name(Path::new(frame.file.as_deref()?));
                Some((file, frame.line?, finding.kind == Kind::Race))
            })
        })
        .collect();
    let mut wrong = Vec::new();
    for mark in marks {
        let is_warned = warned.contains(&(mark.file.clone(), mark.line, mark.kind == Kind::Race));
        let told = match (is_warned == mark.is_error, mark.is_wrong) {
            (true, false) | (false, true) => continue,
            (true, true) => "comes out right now",
            (false, false) if mark.is_error => "has no warning",
            (false, false) => "has a warning",
        };
        wrong.push(format!("{}:{} {told}", mark.file, mark.line));
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n")),
    }
}

/// Whether all races that are marked are among the warnings, unless it is known that they are not.
fn finds(oracle: &Oracle) -> Result<(), String> {
    let findings = scan(
        std::slice::from_ref(&oracle.path),
        &oracle.directives.cflags,
    )?;
    let races = findings.iter().filter(|finding| finding.kind == Kind::Race);
    let warned: BTreeSet<Vec<u32>> = races.map(lines).collect();
    let marked = oracle.races.iter().map(|race| race.lines);
    let missed: Vec<(u32, u32)> = marked
        .filter(|(one, other)| !warned.contains(&vec![*one, *other]))
        .collect();
    let stem = oracle.path.file_stem().map(|stem| stem.to_string_lossy());
    let known = MISSED
        .iter()
        .find(|(name, _)| stem.as_deref() == Some(name));
    match (missed.is_empty(), known) {
        (true, None) | (false, Some(_)) => Ok(()),
        (true, Some((name, reason))) => Err(format!("{name} is found now, although {reason}")),
        (false, None) => Err(format!(
            "{}: no warning of {missed:?}",
            oracle.path.display()
        )),
    }
}
