//! Global variables and their parts, as compilers describe them.

mod support;

use std::process::Command;

use object::{Object, ObjectSymbol};
use support::{Program, c_builds};

const SOURCE: &str = r"
typedef struct { long id; struct { int low, high; } balance[3]; } Account;
Account accounts[4];
static int total;
int *count(void) {
    static int calls;
    total++;
    return &calls;
}
int grid[2][3];
";

/// The address of a variable in a file.
fn address_of(path: &std::path::Path, name: &str) -> u64 {
    let data = std::fs::read(path).unwrap();
    let object = object::File::parse(&*data).unwrap();
    let found = object.symbols().find(|symbol| {
        let found = symbol.name().unwrap_or_default();
        found == name || found.starts_with(&format!("{name}.")) || found.ends_with(name)
    });
    found.unwrap_or_else(|| panic!("no {name}")).address()
}

#[test]
fn fields_and_elements_have_names() {
    for build in c_builds() {
        let program = Program::new(build, "variables.c", SOURCE);
        let at = |name: &str, offset: u64| {
            let address = address_of(program.binary.path(), name) + offset;
            let found = program.binary.variable(address).unwrap();
            (found.name + &found.part, found.offset)
        };
        assert_eq!(at("accounts", 0), ("accounts[0].id".into(), 0));
        assert_eq!(
            at("accounts", 32 + 20),
            ("accounts[1].balance[1].high".into(), 52)
        );
        assert_eq!(at("total", 2), ("total".into(), 2));
        assert_eq!(at("grid", 16), ("grid[1][1]".into(), 16));
        assert!(at("calls", 0).0.ends_with("calls"), "{:?}", at("calls", 0));
        let end = address_of(program.binary.path(), "accounts") + 4 * 32;
        let after = program.binary.variable(end);
        assert!(after.is_none_or(|variable| variable.name != "accounts"));
        let total = program
            .binary
            .variable(address_of(program.binary.path(), "total"));
        let (file, line) = total.unwrap().declared.unwrap();
        assert!(file.ends_with("variables.c") && line == 4, "{file}:{line}");
    }
}

#[test]
fn without_debug_information_there_are_names_alone() {
    let build = c_builds()[0];
    let program = Program::new(build, "variables.c", SOURCE);
    let folder = tempfile::tempdir().unwrap();
    let bare = folder.path().join("bare");
    let mut strip = Command::new("strip");
    strip
        .arg("-g")
        .arg("-o")
        .arg(&bare)
        .arg(program.binary.path());
    assert!(strip.status().unwrap().success());
    let binary = deadheat_code::Binary::open(&bare).unwrap();
    let found = binary.variable(address_of(&bare, "accounts") + 52).unwrap();
    assert_eq!(
        (&*found.name, &*found.part, found.offset),
        ("accounts", "", 52)
    );
    assert_eq!(found.declared, None);
}
