//! Hooks that the linker puts before the runtime's own: they announce basic blocks, and change
//! what a read returns. See `hooks.c`.

use std::path::Path;

use crate::support::{Sandbox, succeed};

const SOURCE: &str = include_str!("hooks.c");

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

/// Compiles the hooks; what a linker is to be given for them.
pub fn build(here: &Sandbox) -> Vec<String> {
    let source = here.file("hooks.c", SOURCE);
    let object = source.with_extension("o");
    let mut compile = here.command("gcc");
    compile.args(["-c", "-O1", "-w", "-fno-stack-protector"]);
    succeed(compile.arg(&source).arg("-o").arg(&object));
    let mut arguments = vec![object.display().to_string()];
    arguments.extend(names().map(|name| format!("-Wl,--wrap={name}")));
    arguments
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
