//! What a call asks of the Rust compiler, as far as it concerns us.

use std::ffi::OsString;

/// A call of the compiler.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// `--target`.
    pub target: Option<String>,
    /// Something is compiled: it is not a question about the compiler.
    pub compiles: bool,
    /// `--crate-type`, all of them; none is a program unless the source says otherwise.
    pub crate_types: Vec<String>,
    /// `--test`: a program, whatever the crate's type.
    pub test: bool,
    /// Debug information with names is asked for.
    pub debug_info: bool,
    /// `--emit` without `link`: nothing is linked.
    pub no_link: bool,
}

/// Options with a value that may be a word of its own and that must not be taken for anything
/// else.
const SEPARATE: [&str; 17] = [
    "--cap-lints",
    "--cfg",
    "--check-cfg",
    "--codegen",
    "--color",
    "--crate-name",
    "--diagnostic-width",
    "--edition",
    "--error-format",
    "--extern",
    "--json",
    "--out-dir",
    "--remap-path-prefix",
    "-A",
    "-L",
    "-l",
    "-o",
];

impl CommandLine {
    /// Takes a call apart.
    pub fn parse(args: &[OsString]) -> Self {
        let mut line = CommandLine::default();
        let mut asks = false;
        let mut has_input = false;
        let mut words = args.iter().map(|arg| arg.to_str().unwrap_or("?"));
        while let Some(word) = words.next() {
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) if word.starts_with("--") => (name, Some(value)),
                _ => (word, None),
            };
            let mut value = || joined.or_else(|| words.next()).unwrap_or("").to_owned();
            match name {
                "--target" => line.target = Some(value()),
                "--crate-type" => {
                    let types = value();
                    line.crate_types.extend(types.split(',').map(str::to_owned));
                }
                "--emit" => {
                    let kinds = value();
                    let kind = |kind: &str| kind.split('=').next() == Some("link");
                    line.no_link = !kinds.split(',').any(kind);
                }
                "--test" => line.test = true,
                "-g" => line.debug_info = true,
                "-C" => line.codegen(&value()),
                "--codegen" => line.codegen(&value()),
                "--print" => {
                    asks = true;
                    value();
                }
                "-V" | "-vV" | "--version" | "-h" | "--help" | "--explain" => asks = true,
                "-Z" => drop(value()),
                _ if SEPARATE.contains(&name) => drop(value()),
                _ if word.starts_with("-C") => line.codegen(&word[2..]),
                "-" => has_input = true,
                _ if word.starts_with('@') => has_input = true,
                _ => has_input |= !word.starts_with('-'),
            }
        }
        line.compiles = has_input && !asks;
        line
    }

    fn codegen(&mut self, option: &str) {
        if let Some(level) = option.strip_prefix("debuginfo=") {
            // Tables of lines have no full names, by which the standard library's locks are known.
            let too_little = ["0", "none", "line-directives-only", "line-tables-only"];
            self.debug_info = !too_little.contains(&level);
        }
    }

    /// Whether a program or shared library comes out.
    pub fn links(&self) -> bool {
        self.makes_program() || self.makes_library()
    }

    /// Whether a program comes out.
    pub fn makes_program(&self) -> bool {
        let type_is_program = self.crate_types.is_empty() || self.has_type("bin");
        !self.no_link && (self.test || type_is_program)
    }

    /// Whether a shared library comes out.
    pub fn makes_library(&self) -> bool {
        !self.no_link && (self.has_type("cdylib") || self.has_type("dylib"))
    }

    fn has_type(&self, name: &str) -> bool {
        self.crate_types.iter().any(|has| has == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> CommandLine {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        CommandLine::parse(&words)
    }

    #[test]
    fn what_cargo_says_for_a_program() {
        let line = parse(
            "--crate-name a --edition=2024 src/main.rs --crate-type bin \
             --emit=dep-info,link -C debuginfo=2 --target x86_64-unknown-linux-gnu -L d=x",
        );
        assert!(line.compiles && line.makes_program() && line.debug_info);
        assert_eq!(line.target.as_deref(), Some("x86_64-unknown-linux-gnu"));
    }

    #[test]
    fn what_cargo_says_for_a_library() {
        let line = parse("--crate-name a src/lib.rs --crate-type lib --emit=metadata,link");
        assert!(line.compiles && !line.links());
        let line = parse("--crate-name a src/lib.rs --crate-type=cdylib,rlib --emit link");
        assert!(line.makes_library() && !line.makes_program());
        assert!(parse("--test src/lib.rs --crate-type lib").makes_program());
    }

    #[test]
    fn checks_link_nothing() {
        assert!(!parse("a.rs --crate-type bin --emit=dep-info,metadata").links());
    }

    #[test]
    fn questions_are_not_builds() {
        assert!(!parse("-vV").compiles);
        assert!(!parse("- --crate-name ___ --print=file-names --crate-type bin").compiles);
        assert!(!parse("--print cfg").compiles);
        assert!(parse("- --crate-name probe --emit=metadata").compiles);
    }

    #[test]
    fn debug_information_is_seen() {
        assert!(parse("-g a.rs").debug_info);
        assert!(parse("-Cdebuginfo=limited a.rs").debug_info);
        assert!(!parse("-Cdebuginfo=line-tables-only a.rs").debug_info);
        assert!(!parse("-C debuginfo=0 a.rs").debug_info);
        assert!(!parse("a.rs").debug_info);
    }
}
