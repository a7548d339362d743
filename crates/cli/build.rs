//! Builds the runtime as a static and a shared library, so that the command can carry both.
//!
//! It is a build of its own, in a profile of its own: the flags of the surrounding build
//! (coverage, clippy's wrapper, sanitizers) must not reach code that runs inside other
//! people's programs.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};

fn main() {
    let crate_folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let workspace = crate_folder.join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    for path in ["crates/runtime", "crates/wire", "Cargo.lock", "Cargo.toml"] {
        let path = workspace.join(path);
        println!("cargo::rerun-if-changed={}", path.display());
    }

    let target = out.join("runtime");
    build_runtime(&workspace, &target);
    let built = target.join("runtime");
    let archive = built.join("libdeadheat_runtime.a");
    let shared = built.join("libdeadheat_runtime.so");
    let exports = out.join("exports.list");
    let list = export_list(&archive);
    std::fs::write(&exports, &list).unwrap();

    let mut contents = std::fs::read(&archive).unwrap();
    contents.extend(std::fs::read(&shared).unwrap());
    contents.extend(list.bytes());
    println!(
        "cargo::rustc-env=DEADHEAT_RUNTIME_HASH={:016x}",
        hash(&contents)
    );
    println!(
        "cargo::rustc-env=DEADHEAT_RUNTIME_ARCHIVE={}",
        archive.display()
    );
    println!(
        "cargo::rustc-env=DEADHEAT_RUNTIME_SHARED={}",
        shared.display()
    );
    println!(
        "cargo::rustc-env=DEADHEAT_RUNTIME_EXPORTS={}",
        exports.display()
    );
}

fn build_runtime(workspace: &Path, target: &Path) {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap());
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(leaks_in) {
            cargo.env_remove(name);
        }
    }
    cargo
        .args(["rustc", "--quiet", "--package", "deadheat-runtime"])
        .args(["--profile", "runtime", "--lib"])
        .args(["--crate-type", "staticlib,cdylib"])
        .arg("--manifest-path")
        .arg(workspace.join("crates/runtime/Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .args(["--", "-C", "force-unwind-tables=yes"]);
    let status = cargo.status().unwrap();
    assert!(status.success(), "building the runtime failed: {cargo:?}");
}

/// Whether a variable belongs to the surrounding build and would change ours. What says where
/// cargo finds its things (its home, registries, network) stays.
fn leaks_in(name: &str) -> bool {
    const KEPT: [&str; 6] = [
        "CARGO_HOME",
        "CARGO_NET_",
        "CARGO_HTTP_",
        "CARGO_REGISTR",
        "CARGO_SOURCE_",
        "RUSTUP_",
    ];
    let ours = [
        "CARGO",
        "RUST",
        "CLIPPY_",
        "LLVM_PROFILE_FILE",
        "MAKEFLAGS",
        "DEP_",
    ];
    let cargos = [
        "TARGET",
        "HOST",
        "PROFILE",
        "OUT_DIR",
        "NUM_JOBS",
        "OPT_LEVEL",
        "DEBUG",
    ];
    let inherited = ours.iter().any(|prefix| name.starts_with(prefix)) || cargos.contains(&name);
    inherited && !KEPT.iter().any(|prefix| name.starts_with(prefix))
}

/// A linker's dynamic list of what the runtime defines for others: the functions that it
/// stands in for must be found in the executable by every library.
fn export_list(archive: &Path) -> String {
    let data = std::fs::read(archive).unwrap();
    let mut names = BTreeSet::new();
    for member in ArchiveFile::parse(&*data).unwrap().members() {
        let member = member.unwrap();
        let Ok(file) = object::File::parse(member.data(&*data).unwrap()) else {
            continue;
        };
        for symbol in file.symbols() {
            let name = symbol.name().unwrap_or_default();
            if symbol.is_definition() && symbol.is_global() && is_public(&symbol, name) {
                names.insert(name.to_owned());
            }
        }
    }
    assert!(
        names.contains("__deadheat_runtime"),
        "the runtime does not define __deadheat_runtime"
    );
    let lines: String = names.iter().map(|name| format!("  {name};\n")).collect();
    format!("{{\n{lines}}};\n")
}

/// Rust's own symbols are nobody else's business.
fn is_public<'a>(symbol: &impl ObjectSymbol<'a>, name: &str) -> bool {
    let hidden = symbol.scope() != object::SymbolScope::Dynamic;
    let rusts = ["_ZN", "_R", "rust_", "__rust", "anon."];
    !hidden && !rusts.iter().any(|prefix| name.starts_with(prefix))
}

/// FNV-1a: a name for these bytes.
fn hash(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
