//! Programs with threads: one of ours that is like the paper's, and those of Debian's source packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Cache;
use super::scanned::{Scanned, lines};
use crate::debian::{self, run};

/// A program of a source package.
pub struct Program {
    /// What it is called.
    pub name: &'static str,
    /// The package.
    package: &'static str,
    /// What has to be run first, in the package's folder.
    prepared_by: &'static [&'static str],
    /// Its sources, or folders of them.
    sources: &'static [&'static str],
    /// How the names of sources begin that are not part of it.
    without: &'static [&'static str],
    /// The compiler's flags.
    flags: &'static [&'static str],
}

/// All programs.
pub const PROGRAMS: [&Program; 6] = [
    &Program {
        name: "pigz",
        package: "pigz",
        prepared_by: &[],
        sources: &["pigz.c", "yarn.c", "try.c"],
        without: &[],
        flags: &["-DNOZOPFLI"],
    },
    &Program {
        name: "pbzip2",
        package: "pbzip2",
        prepared_by: &[],
        sources: &["."],
        without: &[],
        flags: &[
            "-std=c++98",
            "-D_LARGEFILE64_SOURCE",
            "-D_FILE_OFFSET_BITS=64",
        ],
    },
    &Program {
        name: "axel",
        package: "axel",
        prepared_by: &[
            "sh",
            "-c",
            "test -f configure || autoreconf -fi; ./configure CC=clang-19",
        ],
        sources: &["src"],
        without: &[],
        flags: &[
            "-I.",
            "-DHAVE_CONFIG_H",
            "-DLOCALEDIR=\"/usr/share/locale\"",
            "-DETCDIR=\"/etc\"",
        ],
    },
    &Program {
        name: "lbzip2",
        package: "lbzip2",
        prepared_by: &["sh", "-c", "./configure CC=clang-19"],
        sources: &["src"],
        without: &["minbzcat.c"],
        flags: &["-I.", "-Ilib", "-DHAVE_CONFIG_H"],
    },
    &Program {
        name: "memcached",
        package: "memcached",
        prepared_by: &["sh", "-c", "./configure CC=clang-19"],
        sources: &["."],
        without: &[
            "testapp.c",
            "sizes.c",
            "timedrun.c",
            "sasl_defs.c",
            "tls.c",
            "solaris_priv.c",
            "linux_priv.c",
            "openbsd_priv.c",
            "freebsd_priv.c",
            "darwin_priv.c",
            "proto_proxy",
            "proxy",
        ],
        flags: &["-I.", "-DHAVE_CONFIG_H", "-DNDEBUG"],
    },
    &Program {
        name: "sqlite",
        package: "sqlite3",
        prepared_by: &["sh", "-c", "./configure CC=clang-19 && make sqlite3.c"],
        sources: &["sqlite3.c"],
        without: &[],
        flags: &["-DSQLITE_THREADSAFE=1"],
    },
];

/// Fetches a program and scans it; an error if it cannot be fetched or compiled.
pub fn scan(cache: &Cache, program: &Program) -> Result<Option<Scanned>, String> {
    let tree = debian::source(&cache.folder, program.package)?;
    let ready = tree.join(".prepared");
    if let ([first, rest @ ..], false) = (program.prepared_by, ready.exists()) {
        run(Command::new(first).args(rest).current_dir(&tree))?;
        std::fs::write(&ready, "").map_err(|error| error.to_string())?;
    }
    let mut sources = Vec::new();
    for source in program.sources {
        let source = tree.join(source);
        match source.is_dir() {
            true => sources.extend(in_folder(&source)?),
            false => sources.push(source),
        }
    }
    sources.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !program.without.iter().any(|other| name.starts_with(other))
    });
    compiled(cache, program.name, &tree, &sources, program.flags)
}

/// Our own program that is like the paper's `ctrace`: a library for tracing threads, with the program that tries it.
pub fn ctrace(cache: &Cache) -> Result<Option<Scanned>, String> {
    let folder = cache.programs.join("scan/ctrace");
    let sources = in_folder(&folder)?;
    compiled(cache, "ctrace", &folder, &sources, &[])
}

/// Compiles sources, one file of bitcode each, and scans all of those.
fn compiled(
    cache: &Cache,
    name: &str,
    tree: &Path,
    sources: &[PathBuf],
    flags: &[&str],
) -> Result<Option<Scanned>, String> {
    let folder = cache.folder.join("bitcode").join(name);
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut arguments = Vec::new();
    for source in sources {
        let stem = source.file_stem().unwrap_or_default();
        let bitcode = folder.join(stem).with_extension("bc");
        let is_cxx = source.extension().is_some_and(|it| it == "cpp");
        let compiler = if is_cxx { "clang++-19" } else { "clang-19" };
        run(Command::new(compiler)
            .current_dir(tree)
            .args(["-g", "-O0", "-Xclang", "-disable-O0-optnone", "-w"])
            .args(["-emit-llvm", "-c", "-pthread"])
            .args(flags)
            .arg(source)
            .arg("-o")
            .arg(&bitcode))?;
        arguments.push(bitcode.to_string_lossy().into_owned());
    }
    Scanned::of(cache, &folder, &arguments, lines(sources)?)
}

/// The sources in a folder.
fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.map_err(|error| format!("{}: {error}", folder.display()))?;
    let is_source = |path: &PathBuf| {
        let extension = path.extension().and_then(|it| it.to_str());
        matches!(extension, Some("c" | "cpp"))
    };
    let all = entries.flatten().map(|entry| entry.path());
    let mut all: Vec<PathBuf> = all.filter(is_source).collect();
    all.sort();
    Ok(all)
}
