//! Where recordings and the runtime are kept: can they be written to, and is there room?

use std::path::Path;

use deadheat_build::cache;
use deadheat_run::disk::Disk;
use deadheat_run::store::Store;
use deadheat_session::terminal::size;

use super::{Check, State};

/// Without these nothing can be checked.
pub const NEEDED: [&str; 2] = [STORE, CACHE];
const STORE: &str = "recordings";
const CACHE: &str = "cache";
/// A recording of a large program takes as much.
const LITTLE: u64 = 1_000_000_000;

/// Looks at both.
pub fn checks() -> Vec<Check> {
    let store = Store::of_project().map(|store| store.folder().to_owned());
    let places = [
        (STORE, store, "DEADHEAT_STORE"),
        (CACHE, cache::root(), "DEADHEAT_CACHE"),
    ];
    places
        .into_iter()
        .map(|(name, folder, variable)| match folder {
            Ok(folder) => check(name, &folder, variable),
            Err(error) => Check::because(name, State::Missing, &error),
        })
        .collect()
}

fn check(name: &str, folder: &Path, variable: &str) -> Check {
    let shown = folder.display();
    // It is made when it is needed: what counts is the nearest folder that is there.
    let there = folder.ancestors().find(|folder| folder.exists());
    let there = there.unwrap_or(Path::new("/"));
    let file = match tempfile::tempfile_in(there) {
        Ok(file) => file,
        Err(error) => {
            let help = format!("set {variable} to a folder that can be written to");
            let what = format!("{shown} cannot be written to: {error}");
            return Check::missing(name, what).help(help);
        }
    };
    match Disk::of(&file).map(|disk| disk.free) {
        Some(bytes) if bytes < LITTLE => {
            Check::degraded(name, format!("{shown}: only {} free", size(bytes))).help(format!(
                "make room (`deadheat rm --keep 5`), or set {variable} to another folder"
            ))
        }
        Some(bytes) => Check::ok(name, format!("{shown}, {} free", size(bytes))),
        None => Check::ok(name, shown.to_string()),
    }
}
