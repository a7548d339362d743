//! What is added to a call of the Rust compiler: a pure function.
//!
//! | asked for | what is added |
//! |---|---|
//! | a question (`--print`, `--version`) | nothing |
//! | a library | instrumentation |
//! | a shared library | also the standard library's replaced functions |
//! | a program or test | also the runtime |

use std::ffi::OsString;
use std::path::Path;

use super::command_line::CommandLine;
use super::standard::Standard;

/// What is linked.
pub struct Parts<'a> {
    /// The runtime, as an object.
    pub object: &'a Path,
    /// The symbols that the executable has to export for it.
    pub exports: &'a Path,
    /// The replaced functions; none if nothing is linked.
    pub standard: Option<&'a Standard>,
}

/// What makes the compiler instrument every access that the program does, where it does it.
pub const INSTRUMENT: [&str; 10] = [
    "-Zsanitizer=thread",
    "-Zexternal-clangrt",
    "-Cunsafe-allow-abi-mismatch=sanitizer",
    // Code of the program that libraries could share with it would not be instrumented there.
    "-Zshare-generics=n",
    // A read is an event also if a write follows.
    "-Cllvm-args=-tsan-instrument-read-before-write",
    // Wide accesses are not instrumented.
    "-Cno-vectorize-loops",
    "-Cno-vectorize-slp",
    // It would put the standard library's functions where they cannot be replaced.
    "-Clto=off",
    "-Cprefer-dynamic=no",
    "-Cstrip=none",
];

/// The arguments that go behind the user's own.
pub fn added(line: &CommandLine, parts: &Parts<'_>) -> Vec<OsString> {
    let mut added: Vec<OsString> = INSTRUMENT.map(OsString::from).into();
    if !line.debug_info {
        added.push("-Cdebuginfo=1".into());
    }
    if line.makes_program() {
        added.push(joined("-Zpre-link-arg=", parts.object));
        added.push(joined("-Clink-arg=-Wl,--dynamic-list=", parts.exports));
    }
    if let Some(standard) = parts.standard {
        let objects = standard.objects(line.test);
        added.extend(objects.map(|object| joined("-Zpre-link-arg=", &object)));
    }
    added
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut joined = OsString::from(option);
    joined.push(path);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added_for(line: &str, links: bool) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let standard = Standard::in_folder("/s");
        let parts = Parts {
            object: Path::new("/r/run.o"),
            exports: Path::new("/r/list"),
            standard: links.then_some(&standard),
        };
        let added = added(&CommandLine::parse(&words), &parts);
        let words: Vec<_> = added.iter().map(|word| word.to_str().unwrap()).collect();
        words.join(" ")
    }

    #[test]
    fn libraries_are_instrumented_only() {
        let added = added_for("a.rs --crate-type lib", false);
        assert!(added.contains("-Zsanitizer=thread") && !added.contains("link-arg"));
        assert!(added.ends_with("-Cdebuginfo=1"), "{added}");
    }

    #[test]
    fn programs_get_the_runtime() {
        let added = added_for("a.rs -g", true);
        assert!(!added.contains("debuginfo"));
        assert!(
            added.ends_with(
                "-Zpre-link-arg=/r/run.o -Clink-arg=-Wl,--dynamic-list=/r/list \
                 -Zpre-link-arg=/s/stdsync.o -Zpre-link-arg=/s/std.o"
            ),
            "{added}"
        );
        let test = added_for("a.rs --test", true);
        assert!(
            test.ends_with("-Zpre-link-arg=/s/test.o -Zpre-link-arg=/s/ends.o"),
            "{test}"
        );
    }

    #[test]
    fn shared_libraries_find_it_in_the_program() {
        let added = added_for("a.rs --crate-type cdylib", true);
        assert!(added.contains("/s/std.o") && !added.contains("/r/run.o"));
    }
}
