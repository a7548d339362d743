//! Compilers are called side by side while the terminal is kept alive, and what they made comes in the order in which it was asked for. Deadheat looks at
//! this test itself (`crates/cli/tests/itself.rs`), so it is small.

use std::path::PathBuf;

use deadheat_scan::wait::Wait;
use deadheat_scan::{Error, llvm, source};

/// Files with these texts.
fn files(texts: &[String]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let write = |(number, text): (usize, &String)| {
        let path = folder.path().join(format!("{number}.c"));
        std::fs::write(&path, text).expect("there is room for a file");
        path
    };
    let paths = texts.iter().enumerate().map(write).collect();
    (folder, paths)
}

#[test]
fn sources_are_compiled_side_by_side() {
    let good = |number| format!("int x{number}; void f{number}(void) {{ x{number} = 1; }}\n");
    let (_folder, paths) = files(&[good(0), good(1), good(2), good(3)]);
    let wait = Wait::new("compiling");
    let bitcode = source::bitcode(&paths, None, &[]).unwrap();
    wait.next("reading");
    for (number, path) in bitcode.paths().iter().enumerate() {
        let bytes = std::fs::read(path).unwrap();
        let name = format!("f{number}");
        let is_in = bytes.windows(2).any(|part| part == name.as_bytes());
        assert!(is_in, "{} has {name}", path.display());
    }
    assert!(llvm::read(bitcode.paths()).is_ok());
}

#[test]
fn the_first_of_errors_side_by_side_counts() {
    let bad = |number| format!("int x{number} = y;\n");
    let (_folder, paths) = files(&[bad(0), bad(1), bad(2), bad(3)]);
    match source::bitcode(&paths, None, &[]) {
        Err(Error::Uncompiled { path, .. }) => assert_eq!(path, paths[0]),
        other => panic!("{other:?}"),
    }
}
