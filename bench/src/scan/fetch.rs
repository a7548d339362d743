//! Packages of Debian, fetched with lists of our own: the machine's are left alone, and source packages need not be in them.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Cache;

const SOURCES: &str = "\
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main
deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main
";

/// Runs a command; what it said is the error if it fails.
pub fn run(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            let last: Vec<&str> = said.lines().rev().take(12).collect();
            let last: Vec<&str> = last.into_iter().rev().collect();
            Err(format!("{command:?} failed:\n{}", last.join("\n")))
        }
    }
}

/// A command of apt's with our lists, which are fetched if there are none.
fn apt(cache: &Cache, within: &Path) -> Result<Command, String> {
    let folder = cache.folder.join("apt");
    let apt = || {
        let mut command = Command::new("apt-get");
        command.current_dir(within).arg("-qq");
        for (option, value) in [
            ("Dir::Etc::sourcelist", folder.join("sources.list")),
            ("Dir::Etc::sourceparts", PathBuf::from("-")),
            ("Dir::State::lists", folder.join("lists")),
            ("Dir::State::status", PathBuf::from("/dev/null")),
            ("Dir::Cache", folder.join("cache")),
        ] {
            command
                .arg("-o")
                .arg(format!("{option}={}", value.display()));
        }
        // The lists are ours, whoever we are.
        command.args(["-o", "APT::Sandbox::User="]);
        command
    };
    if !folder.join("sources.list").exists() {
        for part in ["lists/partial", "cache/archives/partial"] {
            let part = folder.join(part);
            std::fs::create_dir_all(&part).map_err(|error| error.to_string())?;
        }
        let list = folder.join("sources.list");
        std::fs::write(&list, SOURCES).map_err(|error| error.to_string())?;
        if let Err(error) = run(apt().arg("update")) {
            let _ = std::fs::remove_file(&list);
            return Err(error);
        }
    }
    Ok(apt())
}

/// The folder with a package's sources, as Debian has patched them.
pub fn source(cache: &Cache, package: &str) -> Result<PathBuf, String> {
    let folder = cache.folder.join("sources").join(package);
    let tree = folder.join("tree");
    if !tree.exists() {
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        run(apt(cache, &folder)?.args(["--download-only", "source", package]))?;
        let is_description = |path: &PathBuf| path.extension().is_some_and(|it| it == "dsc");
        let mut files = files(&folder)?.into_iter();
        let description = files.find(is_description);
        let description = description.ok_or(format!("no description of {package}"))?;
        let unpacked = folder.join("unpacked");
        run(Command::new("dpkg-source")
            .args(["--no-check", "-x"])
            .args([&description, &unpacked]))?;
        std::fs::rename(&unpacked, &tree).map_err(|error| error.to_string())?;
    }
    Ok(tree)
}

/// A file of a binary package, unpacked into a folder.
pub fn binary(cache: &Cache, package: &str, into: &Path) -> Result<(), String> {
    std::fs::create_dir_all(into).map_err(|error| error.to_string())?;
    run(apt(cache, into)?.args(["download", package]))?;
    let is_package = |path: &PathBuf| path.extension().is_some_and(|it| it == "deb");
    let package = files(into)?.into_iter().find(is_package);
    let package = package.ok_or("no package was fetched")?;
    run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(into))?;
    std::fs::remove_file(&package).map_err(|error| error.to_string())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    let mut all: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    all.sort();
    Ok(all)
}
