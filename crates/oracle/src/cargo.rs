//! What Cargo makes of a Rust source, by where the source stands.
//!
//! Cargo finds programs, tests and examples by their folders, so the text need not say it again. A
//! package is named after its folder.

use std::path::{Path, PathBuf};

use crate::Oracle;

/// The part of a package that is built from one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CargoTarget {
    /// The package's name.
    pub package: String,
    /// The package's folder, where its `Cargo.toml` is.
    pub folder: PathBuf,
    /// The target's name.
    pub name: String,
    /// What it is.
    pub kind: TargetKind,
}

/// What Cargo builds from a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A program: `src/bin/name.rs` or `src/main.rs`, run by `cargo run --bin name`.
    Program,
    /// An example: `examples/name.rs`, run by `cargo run --example name`.
    Example,
    /// A library with unit tests and documentation tests: `src/lib.rs`.
    Library,
    /// An integration test: `tests/name.rs`, run by `cargo test --test name`.
    Test,
    /// A build script: `build.rs`.
    BuildScript,
}

impl Oracle {
    /// The target of a Cargo package that this source is the root of; `None` for other sources.
    ///
    /// ```
    /// use deadheat_oracle::{Oracle, TargetKind};
    ///
    /// let oracle = Oracle::parse("rust/zoo/src/bin/mutex.rs", "// NORACE\n")?;
    /// let target = oracle.cargo_target().unwrap();
    /// assert_eq!((&*target.package, &*target.name), ("zoo", "mutex"));
    /// assert_eq!(target.kind, TargetKind::Program);
    /// # Ok::<(), deadheat_oracle::Error>(())
    /// ```
    pub fn cargo_target(&self) -> Option<CargoTarget> {
        target_of(&self.path)
    }
}

fn target_of(path: &Path) -> Option<CargoTarget> {
    if path.extension()? != "rs" {
        return None;
    }
    let stem = path.file_stem()?.to_str()?;
    let room = path.parent()?;
    let inner = room.file_name()?.to_str()?;
    let outer = room.parent()?;
    let outer_name = outer.file_name().and_then(|name| name.to_str());
    let (folder, kind, own_name) = match (outer_name, inner, stem) {
        (Some("src"), "bin", name) => (outer.parent()?, TargetKind::Program, Some(name)),
        (_, "src", "main") => (outer, TargetKind::Program, None),
        (_, "src", "lib") => (outer, TargetKind::Library, None),
        (_, "tests", name) => (outer, TargetKind::Test, Some(name)),
        (_, "examples", name) => (outer, TargetKind::Example, Some(name)),
        (_, _, "build") => (room, TargetKind::BuildScript, Some("build-script-build")),
        _ => return None,
    };
    let package = folder.file_name()?.to_str()?;
    Some(CargoTarget {
        package: package.to_owned(),
        folder: folder.to_owned(),
        name: own_name.unwrap_or(package).to_owned(),
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_say_what_a_source_is() {
        for (path, name, kind) in [
            ("top/pack/src/bin/prog.rs", "prog", TargetKind::Program),
            ("top/pack/src/main.rs", "pack", TargetKind::Program),
            ("top/pack/src/lib.rs", "pack", TargetKind::Library),
            ("top/pack/tests/check.rs", "check", TargetKind::Test),
            ("top/pack/examples/show.rs", "show", TargetKind::Example),
            (
                "top/pack/build.rs",
                "build-script-build",
                TargetKind::BuildScript,
            ),
        ] {
            let expected = CargoTarget {
                package: "pack".to_owned(),
                folder: PathBuf::from("top/pack"),
                name: name.to_owned(),
                kind,
            };
            assert_eq!(target_of(Path::new(path)), Some(expected), "{path}");
        }
    }

    #[test]
    fn other_sources_are_no_targets() {
        for path in [
            "top/pack/src/part.rs",
            "top/pack/src/bin/half.c",
            "top/pack/src/bin/folder/part.rs",
            "lib.rs",
            "",
        ] {
            assert_eq!(target_of(Path::new(path)), None, "{path}");
        }
    }
}
