//! A folder of links to Deadheat under the names of the compilers, to stand first on `PATH`, and
//! under the names by which cargo calls us.
//!
//! Called by such a name Deadheat acts as the wrapper of that compiler. The folder is kept in
//! the cache, because build systems write down where they found their compiler.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use deadheat_session::error::Result;

use super::choose::Surroundings;
use super::names::CompilerName;
use crate::cache;
use crate::rust;

/// The folder, with a link for every compiler on `PATH`.
pub fn folder(surroundings: &Surroundings) -> Result<PathBuf> {
    let own = &surroundings.deadheat;
    let folder = cache::folder(&format!("shims-{:016x}", cache::hash(own.as_os_str())))?;
    for name in compilers(surroundings, &folder) {
        let link = folder.join(&name);
        if std::fs::read_link(&link).is_ok_and(|target| target == *own) {
            continue;
        }
        // Made aside and renamed, so that a build that runs meanwhile never misses it.
        let fresh = folder.join(format!(".{name}.{}", std::process::id()));
        symlink(own, &fresh)
            .and_then(|()| std::fs::rename(&fresh, &link))
            .map_err(|error| cache::not_writable(&link, &error))?;
    }
    Ok(folder)
}

/// The names of the compilers on `PATH`, and those that every build may use.
fn compilers(surroundings: &Surroundings, shims: &Path) -> Vec<String> {
    let mut names = ["cc", "c++", rust::WRAPPER, rust::DOC_WRAPPER]
        .map(str::to_owned)
        .to_vec();
    for folder in std::env::split_paths(&surroundings.path) {
        if folder == shims {
            continue;
        }
        let entries = folder.read_dir().into_iter().flatten().flatten();
        names.extend(entries.filter_map(|entry| {
            let name = entry.file_name().to_str()?.to_owned();
            CompilerName::parse(&name)?;
            surroundings.find(&name)?;
            Some(name)
        }));
    }
    names.sort();
    names.dedup();
    names
}

/// The name by which this process was called, if it is a compiler's.
pub fn called_as(first_argument: &OsStr) -> Option<&str> {
    let name = Path::new(first_argument).file_name()?.to_str()?;
    CompilerName::parse(name)?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_compilers_names_count() {
        assert_eq!(called_as("/x/shims/gcc-12".as_ref()), Some("gcc-12"));
        assert_eq!(called_as("cc".as_ref()), Some("cc"));
        assert_eq!(called_as("/usr/bin/deadheat".as_ref()), None);
    }
}
