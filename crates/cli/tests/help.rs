//! What people read first: every help text, the version, wrong usage.

mod support;

use support::{Sandbox, printed, succeed};

/// Every command, as typed.
const COMMANDS: [&str; 26] = [
    "",
    "check",
    "cc",
    "c++",
    "rustc",
    "build",
    "cargo",
    "record",
    "watch",
    "predict",
    "explore",
    "scan",
    "replay",
    "report",
    "ls",
    "rm",
    "trace",
    "trace cat",
    "trace stats",
    "trace convert",
    "trace verify",
    "config",
    "doctor",
    "completions",
    "man",
    "help",
];

#[test]
fn every_command_has_help_with_examples() {
    let here = Sandbox::new();
    for command in COMMANDS {
        let words = command.split_whitespace().chain(["--help"]);
        let help = printed(&mut here.deadheat(words));
        assert!(help.contains("Examples:"), "{command}");
        let widest = help.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{command}: a line of {widest:?}");
        let name = command.replace(' ', "_").replace("++", "xx");
        insta::assert_snapshot!(format!("help_{name}"), help);
    }
}

#[test]
fn the_version_is_told() {
    let here = Sandbox::new();
    let version = printed(&mut here.deadheat(["--version"]));
    assert_eq!(version, format!("deadheat {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_usage_is_told() {
    let here = Sandbox::new();
    let told = |args: &[&str]| here.told(&mut here.deadheat(args));
    insta::assert_snapshot!("unknown_command", told(&["rekord"]));
    insta::assert_snapshot!("no_program", told(&["record"]));
    insta::assert_snapshot!("bad_seed", told(&["record", "--seed", "x", "./prog"]));
    insta::assert_snapshot!(
        "bad_policy",
        told(&["record", "--policy", "fifo", "./prog"])
    );
    insta::assert_snapshot!("bad_window", told(&["trace", "cat", "--window", "5"]));
    insta::assert_snapshot!("no_format", told(&["trace", "convert"]));
    let nothing = here.deadheat([""; 0]).output().unwrap();
    assert_eq!(
        nothing.status.code(),
        Some(2),
        "nothing asked: help, and an error"
    );
}

#[test]
fn shells_and_man_are_served() {
    let here = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&mut here.deadheat(["completions", shell]));
        assert!(script.contains("convert"), "{shell}");
        assert!(!script.contains("__compiler-proper"), "{shell}");
    }
    assert!(printed(&mut here.deadheat(["man"])).starts_with(".ie"));
    succeed(&mut here.deadheat(["man", "pages"]));
    for command in COMMANDS {
        let page = format!("pages/deadheat-{}", command.replace(' ', "-"));
        let path = here
            .path()
            .join(format!("{}.1", page.trim_end_matches('-')));
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(".SH NAME"), "{page}");
        assert!(text.contains("Examples:"), "{page}");
    }
}

/// What bash offers when the tab key is pressed behind these words.
#[test]
fn bash_completes() {
    let here = Sandbox::new();
    let offered = |words: &[&str]| {
        let script = r#"
            source <(deadheat completions bash)
            COMP_WORDS=("$@")
            COMP_CWORD=$(($# - 1))
            _deadheat "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${COMPREPLY[*]}"
        "#;
        let args = ["-c", script, "bash", "deadheat"];
        printed(here.command("bash").args(args).args(words))
            .trim()
            .to_owned()
    };
    let all = offered(&[""]);
    for command in COMMANDS.iter().filter(|name| !name.contains(' ')) {
        assert!(all.contains(command), "{command}: {all}");
    }
    assert_eq!(offered(&["ch"]), "check");
    assert_eq!(offered(&["trace", "c"]), "cat convert");
    assert_eq!(offered(&["check", "--pol"]), "--policy");
    let policies = "random pct round-robin run-to-block";
    assert_eq!(offered(&["record", "--policy", ""]), policies);
}
