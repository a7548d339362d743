//! Reads the oracles of a whole folder of programs.

use std::path::{Path, PathBuf};

use crate::{Error, Oracle, Problem};

/// The file name extensions of programs under test.
const SOURCES: [&str; 3] = ["c", "cpp", "rs"];

/// What Cargo and others leave in a folder of things that can be made again.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// In folders of programs that are scanned but never run: those have marks of another kind.
const STATIC_TAG: &str = "STATIC";

/// In the folder of whole projects, which are built in ways of their own.
const PROJECTS_TAG: &str = "PROJECTS";

/// Reads every C, C++ and Rust source in a folder and the folders below it, ordered by path.
///
/// Folders with a `CACHEDIR.TAG`, such as Cargo's `target`, hold what was built and are left out; those with a file `STATIC` hold
/// programs that are not meant to run, and one with a file `PROJECTS` holds whole projects.
/// Sources that are no programs themselves come along; they have
/// [`Directives::part_of`](crate::Directives::part_of) set.
///
/// ```no_run
/// let programs = deadheat_oracle::read_folder("programs/zoo")?;
/// let racy = programs.iter().filter(|oracle| !oracle.races.is_empty());
/// println!("{} of {} have a race", racy.count(), programs.len());
/// # Ok::<(), deadheat_oracle::Error>(())
/// ```
///
/// # Errors
///
/// The first error of [`Oracle::read`], or a folder that cannot be listed.
pub fn read_folder(folder: impl AsRef<Path>) -> Result<Vec<Oracle>, Error> {
    let mut sources = Vec::new();
    collect(folder.as_ref(), &mut sources)?;
    sources.sort();
    sources.iter().map(Oracle::read).collect()
}

fn collect(folder: &Path, sources: &mut Vec<PathBuf>) -> Result<(), Error> {
    let tags = [CACHE_TAG, STATIC_TAG, PROJECTS_TAG];
    if tags.iter().any(|tag| folder.join(tag).exists()) {
        return Ok(());
    }
    let unreadable = |cause| Error::new(folder, None, Problem::Unreadable(cause));
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            collect(&path, sources)?;
        } else if path
            .extension()
            .is_some_and(|end| SOURCES.iter().any(|source| end == *source))
        {
            sources.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_was_built_is_left_out() {
        let top = tempfile::tempdir().expect("a folder");
        let built = top.path().join("target/debug");
        std::fs::create_dir_all(&built).expect("a folder");
        std::fs::write(top.path().join("a.rs"), "// NORACE\n").expect("a file");
        std::fs::write(built.join("b.rs"), "// NORACE\n").expect("a file");
        assert_eq!(super::read_folder(top.path()).unwrap().len(), 2);

        std::fs::write(top.path().join("target/CACHEDIR.TAG"), "").expect("a file");
        assert_eq!(super::read_folder(top.path()).unwrap().len(), 1);
    }

    #[test]
    fn what_is_not_meant_to_run_is_left_out() {
        let top = tempfile::tempdir().expect("a folder");
        let scanned = top.path().join("scan");
        std::fs::create_dir(&scanned).expect("a folder");
        std::fs::write(scanned.join("a.c"), "int x; // RACE!\n").expect("a file");
        for tag in ["STATIC", "PROJECTS"] {
            std::fs::write(scanned.join(tag), "").expect("a file");
            assert!(super::read_folder(top.path()).unwrap().is_empty());
            std::fs::remove_file(scanned.join(tag)).expect("the file");
        }
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = super::read_folder("no/such/folder").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("no/such/folder: cannot be read: "),
            "{error}"
        );
    }
}
