//! Hooks that change what a read returns: the linker puts them before the runtime's own.

use std::path::Path;

use crate::support::{Sandbox, succeed};

/// The hooks, in C.
pub const SOURCE: &str = include_str!("perturb.c");

/// The functions that have such a hook.
fn names() -> impl Iterator<Item = &'static str> {
    ["READ(", "ATOMIC_READ(", "OTHER("]
        .into_iter()
        .flat_map(|start| {
            SOURCE
                .lines()
                .filter_map(move |line| line.strip_prefix(start))
        })
        .filter_map(|line| line.split([',', ')']).next())
}

/// What the linker is told.
pub fn wrapped() -> Vec<String> {
    names().map(|name| format!("-Wl,--wrap={name}")).collect()
}

/// Calls the hooks by the names that they stand for, so that nothing in the program looks
/// different from outside.
pub fn rename(here: &Sandbox, program: &Path) {
    let mut list = String::new();
    for name in names() {
        list.push_str(&format!("{name} runtime_{name}\n__wrap_{name} {name}\n"));
    }
    let list = here.file("names", &list);
    succeed(
        here.command("objcopy")
            .arg(format!("--redefine-syms={}", list.display()))
            .arg(program),
    );
}
