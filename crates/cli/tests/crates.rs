//! A crate uses only those above it in `ARCHITECTURE.md`'s table, and all of them stand there.

use std::path::Path;

use toml::Table;

/// The repository.
fn top() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn manifest(folder: &str) -> Table {
    let path = top().join(folder).join("Cargo.toml");
    let text = std::fs::read_to_string(path).unwrap();
    text.parse().unwrap()
}

/// Names and folders of the table, in its order.
fn table() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(top().join("ARCHITECTURE.md")).unwrap();
    let (_, rest) = text.split_once("\n## Crates\n").unwrap();
    let (section, _) = rest.split_once("\n## ").unwrap();
    let quoted = |cell: &str| Some(cell.trim().strip_prefix('`')?.strip_suffix('`')?.to_owned());
    let row = |line: &str| {
        let mut cells = line.strip_prefix('|')?.split('|');
        Some((quoted(cells.next()?)?, quoted(cells.next()?)?))
    };
    section.lines().filter_map(row).collect()
}

/// What of ours a crate is made of. Tests may use anything.
fn uses(manifest: &Table) -> Vec<&String> {
    let kinds = ["dependencies", "build-dependencies"];
    let tables = kinds
        .iter()
        .filter_map(|kind| manifest.get(*kind)?.as_table());
    let names = tables.flat_map(|table| table.keys());
    names.filter(|name| name.starts_with("deadheat")).collect()
}

#[test]
fn every_crate_stands_in_the_table() {
    let workspace = manifest(".");
    let members = workspace["workspace"]["members"].as_array().unwrap();
    let mut members: Vec<&str> = members
        .iter()
        .map(|member| member.as_str().unwrap())
        .collect();
    members.sort_unstable();
    let table = table();
    let mut folders: Vec<&str> = table.iter().map(|(_, folder)| &**folder).collect();
    folders.sort_unstable();
    assert_eq!(folders, members);
    for (name, folder) in &table {
        let own = &manifest(folder)["package"]["name"];
        assert_eq!(own.as_str(), Some(&**name), "of {folder}");
    }
}

#[test]
fn a_crate_uses_only_those_above_it() {
    let mut above: Vec<String> = Vec::new();
    let mut count = 0;
    for (name, folder) in table() {
        for used in uses(&manifest(&folder)) {
            assert!(
                above.contains(used),
                "{name} uses {used}, which is not above it"
            );
            count += 1;
        }
        above.push(name);
    }
    assert!(count > 20, "the table was read");
}
