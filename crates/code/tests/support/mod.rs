//! Small programs that are compiled at test time, and questions about their lines.

#![allow(dead_code)] // each test file uses its part

use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_code::{Binary, Depends, Facts, Passed, Point};
use tempfile::TempDir;

/// A compiler and how far it optimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    /// Its name.
    pub compiler: &'static str,
    /// 0 to 2.
    pub level: u8,
}

/// gcc, and clang if it is there, at all levels.
pub fn c_builds() -> Vec<Build> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&str| std::env::split_paths(&path).any(|at| at.join(name).exists());
    let compilers = ["gcc", "clang-19"].into_iter().filter(is_there);
    let builds: Vec<Build> = compilers
        .flat_map(|compiler| [0, 1, 2].map(|level| Build { compiler, level }))
        .collect();
    assert!(!builds.is_empty(), "no compiler to test with");
    builds
}

/// rustc at all levels.
pub fn rust_builds() -> Vec<Build> {
    let compiler = "rustc";
    [0, 1, 2].map(|level| Build { compiler, level }).to_vec()
}

/// A program, built and looked at. Its lines are named by comments: `x = 1; // set x`.
pub struct Program {
    pub build: Build,
    pub binary: Binary,
    pub facts: Facts,
    name: String,
    source: String,
    _folder: TempDir,
}

/// Flags that make clang announce every read.
const CLANG: [&str; 6] = [
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-mllvm",
    "-tsan-instrument-read-before-write",
    "-fsanitize=thread",
    "-fno-sanitize-link-runtime",
];

impl Program {
    /// Builds a shared library of a source file; hooks stay open.
    pub fn new(build: Build, name: &str, source: &str) -> Program {
        Program::with_options(build, name, source, &[])
    }

    /// The same, with these options for the compiler.
    pub fn with_options(build: Build, name: &str, source: &str, options: &[&str]) -> Program {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, source).unwrap();
        let library = folder.path().join("library.so");
        build.library(&file, &library, options);
        let binary = Binary::open(&library).unwrap();
        Program {
            facts: Facts::of(&binary),
            binary,
            build,
            name: format!("/{name}"),
            source: source.to_owned(),
            _folder: folder,
        }
    }

    /// The library's file.
    pub fn path(&self) -> &Path {
        self.binary.path()
    }

    /// The line that has this comment.
    fn line(&self, comment: &str) -> u32 {
        let comment = format!("// {comment}");
        let mut lines = self.source.lines().zip(1..);
        let found = lines.find(|(line, _)| line.ends_with(&comment));
        found.unwrap_or_else(|| panic!("no line {comment}")).1
    }

    fn line_of(&self, pc: u64) -> Option<u32> {
        let frames = self.binary.frames(pc - 1);
        let own = |file: &str| file.ends_with(&self.name);
        let mut own = frames
            .iter()
            .filter(|frame| frame.file.as_deref().is_some_and(own));
        own.next()?.line
    }

    /// All sites of a line; there may be none.
    pub fn sites_if_any(&self, comment: &str) -> Vec<u64> {
        let line = self.line(comment);
        let sites = self.facts.sites();
        sites.filter(|pc| self.line_of(*pc) == Some(line)).collect()
    }

    /// All sites of a line.
    pub fn sites(&self, comment: &str) -> Vec<u64> {
        let sites = self.sites_if_any(comment);
        assert!(!sites.is_empty(), "{:?}: no site {comment}", self.build);
        sites
    }

    /// All sites of a function; empty if nothing is known of it.
    pub fn sites_in(&self, function: &str) -> Vec<u64> {
        let is_in = |pc: &u64| {
            let frames = self.binary.frames(pc - 1);
            frames
                .last()
                .is_some_and(|frame| frame.function.as_deref() == Some(function))
        };
        self.facts.sites().filter(is_in).collect()
    }

    /// The only site of a line.
    pub fn site(&self, comment: &str) -> u64 {
        let sites = self.sites(comment);
        assert_eq!(sites.len(), 1, "{:?}: sites of {comment}", self.build);
        sites[0]
    }

    /// What lies between the last site of a line and the first of another.
    pub fn between(&self, from: &str, to: &str) -> Passed {
        let (from, to) = (self.sites(from), self.sites(to));
        let from = Point::After(*from.last().unwrap());
        self.facts.between(from, Point::After(to[0]))
    }

    /// What lies between the last site of a line and the entry of the function that another calls.
    pub fn entering(&self, from: &str, to: &str) -> Passed {
        let (from, to) = (self.sites(from), self.sites(to));
        let from = Point::After(*from.last().unwrap());
        self.facts.between(from, Point::Into(*to.last().unwrap()))
    }

    /// What the address of the last access of a line depends on.
    pub fn address(&self, comment: &str) -> Depends {
        self.facts.address(*self.sites(comment).last().unwrap())
    }

    /// The last reads of these lines.
    pub fn reads(&self, comments: &[&str]) -> Depends {
        let last = |comment: &&str| self.sites(comment).last().copied();
        let sites = comments.iter().filter_map(last);
        Depends::on(sites.collect(), false)
    }

    /// A branch on reads of these lines.
    pub fn branch_on(&self, comments: &[&str]) -> Passed {
        Passed::Branched(self.reads(comments))
    }
}

impl Build {
    fn library(self, source: &Path, library: &Path, options: &[&str]) {
        let object = source.with_extension("o");
        let level = self.level;
        let mut compile = match self.compiler {
            "rustc" => self.rustc(),
            _ => {
                let mut compile = Command::new(self.compiler);
                compile.args(["-g", "-c", "-fvisibility=hidden", "-fPIC"]);
                compile.arg(format!("-O{level}"));
                match self.compiler {
                    "gcc" => compile.arg("-fsanitize=thread"),
                    _ => compile.args(CLANG),
                };
                compile
            }
        };
        run(compile.args(options).arg(source).arg("-o").arg(&object));
        run(Command::new("gcc")
            .args(["-shared", "-Wl,--build-id", "-nostdlib", "-o"])
            .args([library, &object]));
    }

    fn rustc(self) -> Command {
        let mut compile = Command::new("rustc");
        compile.env("RUSTC_BOOTSTRAP", "1").args([
            "--crate-type=lib",
            "--emit=obj",
            "--edition=2021",
            "-g",
            "-Cpanic=abort",
            "-Ccodegen-units=1",
            "-Zsanitizer=thread",
            "-Zexternal-clangrt",
            "-Cunsafe-allow-abi-mismatch=sanitizer",
            "-Cllvm-args=-tsan-instrument-read-before-write",
        ]);
        compile.arg(format!("-Copt-level={}", self.level));
        compile
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{told}");
}

/// A copy of a file with other bytes.
pub fn changed(folder: &Path, bytes: &[u8]) -> PathBuf {
    let path = folder.join("changed");
    std::fs::write(&path, bytes).unwrap();
    path
}
