//! Builds the runtime as an object and as a shared library, so that the command can carry both.
//!
//! It is a build of its own, in a profile of its own: the flags of the surrounding build
//! (coverage, clippy's wrapper, sanitizers) must not reach code that runs inside other
//! people's programs.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::read::archive::ArchiveFile;
use object::read::elf::{ElfFile64, Sym};
use object::{Endianness, Object, ObjectSymbol, SymbolScope, elf};

/// What the runtime is recognised by.
const MARK: &str = "__deadheat_runtime";

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
    let shared = built.join("libdeadheat_runtime.so");
    let archive = std::fs::read(built.join("libdeadheat_runtime.a")).unwrap();
    let mut code = runtime_object(&archive).to_vec();
    let list = export_list(&public_symbols(&code));
    give_way(&mut code);
    let object = out.join("deadheat_runtime.o");
    let exports = out.join("exports.list");
    std::fs::write(&object, &code).unwrap();
    std::fs::write(&exports, &list).unwrap();

    let mut contents = code;
    contents.extend(std::fs::read(&shared).unwrap());
    contents.extend(list.bytes());
    let hash = hash(&contents);
    println!("cargo::rustc-env=DEADHEAT_RUNTIME_HASH={hash:016x}");
    for (name, path) in [("OBJECT", object), ("SHARED", shared), ("EXPORTS", exports)] {
        println!(
            "cargo::rustc-env=DEADHEAT_RUNTIME_{name}={}",
            path.display()
        );
    }
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
    // Users see these paths in their programs' traces.
    let source = workspace.canonicalize().unwrap();
    cargo.arg(format!("--remap-path-prefix={}=deadheat", source.display()));
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

/// The runtime itself: the one object of the archive that is not the compiler's own support.
/// (That needs nothing here which the C library and the user's compiler do not have.)
fn runtime_object(archive: &[u8]) -> &[u8] {
    let members = ArchiveFile::parse(archive).unwrap().members();
    let mut objects = members.map(|member| member.unwrap().data(archive).unwrap());
    objects
        .find(|object| public_symbols(object).contains(MARK))
        .expect("an object of the runtime defines its mark")
}

/// What the runtime defines for others; Rust's own symbols are nobody else's business.
fn public_symbols(object: &[u8]) -> BTreeSet<String> {
    let Ok(file) = ElfFile64::<Endianness, _>::parse(object) else {
        return BTreeSet::new(); // the archive's other members are not all objects
    };
    let rusts = ["_ZN", "_R", "rust_", "__rust", "anon."];
    file.symbols()
        .filter(|symbol| symbol.is_definition() && symbol.is_global())
        .filter(|symbol| symbol.scope() == SymbolScope::Dynamic)
        .map(|symbol| symbol.name().unwrap().to_owned())
        .filter(|name| !rusts.iter().any(|prefix| name.starts_with(prefix)))
        .collect()
}

/// A linker's dynamic list: the functions that the runtime stands in for must be found in the
/// executable by every library.
fn export_list(names: &BTreeSet<String>) -> String {
    let lines: String = names.iter().map(|name| format!("  {name};\n")).collect();
    format!("{{\n{lines}}};\n")
}

/// Makes the functions that the runtime stands in for *weak*: a program that has a `malloc` of
/// its own keeps it, as with the compilers' own runtimes. (Stable Rust cannot say this.)
fn give_way(object: &mut [u8]) {
    const BINDING: usize = 4; // of st_info in a symbol
    let mut places = Vec::new();
    let file = ElfFile64::<Endianness, _>::parse(&*object).unwrap();
    let table = file.elf_symbol_table();
    for symbol in table.symbols() {
        let name = table.symbol_name(file.endian(), symbol).unwrap();
        let ours = name == MARK.as_bytes() || name.starts_with(b"__tsan_");
        if symbol.st_bind() == elf::STB_GLOBAL && !symbol.is_undefined(file.endian()) && !ours {
            let at = std::ptr::from_ref(symbol) as usize - object.as_ptr() as usize;
            let info = (elf::STB_WEAK.0 << 4) | symbol.st_type().0;
            places.push((at + BINDING, info));
        }
    }
    assert!(
        places.len() > 50,
        "the runtime stands in for more than that"
    );
    for (at, info) in places {
        object[at] = info;
    }
}

/// FNV-1a: a name for these bytes.
fn hash(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
