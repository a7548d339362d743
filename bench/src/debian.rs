//! Packages of Debian, fetched into a folder with lists of our own: the machine's are left alone, and source packages need not be in them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The release that packages come from unless another is named, and the other one.
const RELEASES: [&str; 2] = ["bookworm", "trixie"];

/// Our lists: binary packages of the one release, sources of both.
fn lists(archive: &str) -> String {
    let line = |kind: &str, release: &str| {
        format!(
            "{kind} [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {archive} {release} main\n"
        )
    };
    let sources = RELEASES.map(|release| line("deb-src", release)).concat();
    line("deb", RELEASES[0]) + &sources
}

/// The archive that this machine's own apt uses.
fn archive() -> Result<String, String> {
    let output = Command::new("apt-get")
        .args(["indextargets", "--format", "$(REPO_URI)"])
        .output()
        .map_err(|error| format!("apt-get: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let is_debian = |line: &&str| line.trim_end_matches('/').ends_with("/debian");
    let found = text.lines().find(is_debian);
    found
        .map(str::to_owned)
        .ok_or("apt knows no archive of Debian's".to_owned())
}

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
fn apt(cache: &Path, within: &Path) -> Result<Command, String> {
    let folder = cache.join("apt");
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
            .arg("-o")
            .arg(format!("APT::Default-Release={}", RELEASES[0]));
        command
    };
    let (list, wanted) = (folder.join("sources.list"), lists(&archive()?));
    if std::fs::read_to_string(&list).is_ok_and(|is| is != wanted) {
        std::fs::remove_file(&list).map_err(|error| error.to_string())?;
    }
    if !list.exists() {
        for part in ["lists/partial", "cache/archives/partial"] {
            let part = folder.join(part);
            std::fs::create_dir_all(&part).map_err(|error| error.to_string())?;
        }
        std::fs::write(&list, &wanted).map_err(|error| error.to_string())?;
        if let Err(error) = run(apt().arg("update")) {
            let _ = std::fs::remove_file(&list);
            return Err(error);
        }
    }
    Ok(apt())
}

/// Where the sources of a package lie, once they have been fetched.
pub fn folder(cache: &Path, package: &str) -> PathBuf {
    let name = package.split('/').next().unwrap_or(package);
    cache.join("sources").join(name)
}

/// The folder with a package's sources, as their authors published them. `package/release` is one of another release.
pub fn source(cache: &Path, package: &str) -> Result<PathBuf, String> {
    let folder = folder(cache, package);
    let tree = folder.join("tree");
    if !tree.exists() {
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        run(apt(cache, &folder)?.args(["--tar-only", "--download-only", "source", package]))?;
        let is_archive = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.contains(".orig.tar.") && !name.ends_with(".asc")
        };
        let archive = files(&folder)?.into_iter().find(is_archive);
        let archive = archive.ok_or(format!("no sources of {package}"))?;
        let unpacked = folder.join("unpacked");
        std::fs::create_dir_all(&unpacked).map_err(|error| error.to_string())?;
        run(Command::new("tar")
            .arg("-C")
            .arg(&unpacked)
            .args(["--strip-components=1", "-xf"])
            .arg(&archive))?;
        std::fs::rename(&unpacked, &tree).map_err(|error| error.to_string())?;
    }
    Ok(tree)
}

/// A file of a binary package, unpacked into a folder.
pub fn binary(cache: &Path, package: &str, into: &Path) -> Result<(), String> {
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
