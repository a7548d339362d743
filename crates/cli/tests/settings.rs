//! Options that are set: in files, in the variable, and what the commands make of it.

mod support;

use support::{Sandbox, printed, succeed};

const PROGRAM: &str = "int main(void) { return 0; }\n";

fn recordings(here: &Sandbox) -> usize {
    let listed = printed(&mut here.deadheat(["ls", "--json"]));
    let all: serde_json::Value = serde_json::from_str(&listed).unwrap();
    all.as_array().unwrap().len()
}

#[test]
fn the_nearest_place_counts() {
    let here = Sandbox::new();
    here.file("prog.c", PROGRAM);
    here.file("deadheat.toml", "runs = 4\norders = 0\n[check]\nruns = 3\n");
    let check = |options: &str, args: &[&str]| {
        succeed(
            here.deadheat(["rm", "--all"])
                .env_remove("DEADHEAT_OPTIONS"),
        );
        let args = ["check"].iter().chain(args).chain(&["prog.c"]);
        succeed(here.deadheat(args).env("DEADHEAT_OPTIONS", options));
        recordings(&here)
    };
    assert_eq!(check("", &[]), 3, "the command's table");
    assert_eq!(check("runs=2:clock=real", &[]), 2, "the variable");
    assert_eq!(check("runs=2", &["--runs", "1"]), 1, "the command line");
    here.file("deadheat.toml", "runs = 4\norders = 0\n");
    assert_eq!(check("", &[]), 4, "the top of the file");
    here.file("other.toml", "runs = 2\n");
    assert_eq!(
        check("", &["--config", "other.toml"]),
        2,
        "a file that is named"
    );
}

#[test]
fn cargos_file_does_as_well() {
    let here = Sandbox::new();
    here.file("below/prog.c", PROGRAM);
    here.file(
        "Cargo.toml",
        "[workspace]\nmembers = []\n[workspace.metadata.deadheat.check]\nruns = 2\norders = 0\n",
    );
    here.file("below/Cargo.toml", "[package]\nname = 'below'\n");
    let mut check = here.deadheat(["check", "prog.c"]);
    succeed(check.current_dir(here.path().join("below")));
    let mut listed = here.deadheat(["ls"]);
    let listed = printed(listed.current_dir(here.path().join("below")));
    assert_eq!(listed.lines().count(), 3, "{listed}");
}

#[test]
fn the_runtime_leaves_the_commands_options_to_them() {
    let here = Sandbox::new();
    here.file("prog.c", PROGRAM);
    succeed(&mut here.deadheat(["cc", "prog.c", "-o", "prog"]));
    let mut direct = here.command("./prog");
    let output = succeed(direct.env("DEADHEAT_OPTIONS", "runs=3:warnings:clock=real"));
    assert!(output.stderr.is_empty(), "{output:?}");
    let mut direct = here.command("./prog");
    let output = succeed(direct.env("DEADHEAT_OPTIONS", "clock=odd"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("clock cannot be \"odd\""));

    let mut record = here.deadheat(["record", "./prog"]);
    let output = succeed(record.env("DEADHEAT_OPTIONS", "runs=3:seed=7"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("serial, seed 7"), "{said}");
}

#[test]
fn the_runtimes_own_options_are_set_in_their_table() {
    let here = Sandbox::new();
    let program = "#include <stdio.h>\n#include <time.h>\n\
                   int main(void) { printf(\"%ld\\n\", (long)time(0)); return 0; }\n";
    here.file("prog.c", program);
    succeed(&mut here.deadheat(["cc", "prog.c", "-o", "prog"]));
    here.file("deadheat.toml", "[runtime]\nepoch = 86400\n");
    let time = |options: &str| {
        let mut record = here.deadheat(["record", "--serial", "./prog"]);
        printed(record.env("DEADHEAT_OPTIONS", options))
    };
    assert_eq!(time(""), "86400\n");
    assert_eq!(time("epoch=7"), "7\n", "the variable counts more");
}

#[test]
fn mistakes_are_told() {
    let here = Sandbox::new();
    let told = |args: &[&str], options: &str| {
        here.told(here.deadheat(args).env("DEADHEAT_OPTIONS", options))
    };
    insta::assert_snapshot!("no_option", told(&["record", "./prog"], "sede=7"));
    insta::assert_snapshot!("no_value", told(&["record", "./prog"], "threads=blue"));
    here.file("deadheat.toml", "\n[record]\nsede = 7\n");
    insta::assert_snapshot!("no_option_in_file", told(&["record", "./prog"], ""));
    here.file("deadheat.toml", "[check]\nlean = true\n");
    insta::assert_snapshot!("needs_another", told(&["check", "prog.c"], ""));
    let help = here.deadheat(["check", "--help"]).output().unwrap();
    assert!(help.status.success());
    insta::assert_snapshot!(
        "no_such_file",
        told(&["check", "--config", "gone.toml", "x.c"], "")
    );
}

#[test]
fn what_is_set_is_shown() {
    let here = Sandbox::new();
    insta::assert_snapshot!("config_none", here.told(&mut here.deadheat(["config"])));
    here.file(
        "deadheat.toml",
        "warnings = true\nsuppressions = ['known.txt']\n[check]\nruns = 10\n[runtime]\nepoch = 5\n\
         [[channel]]\nsend = 'push'\nreceive = 'pop'\n",
    );
    let told = |args: &[&str]| {
        here.told(
            here.deadheat(args)
                .env("DEADHEAT_OPTIONS", "seed=7:clock=real"),
        )
    };
    insta::assert_snapshot!("config", told(&["config"]));
    insta::assert_snapshot!("config_check", told(&["config", "check"]));
    insta::assert_snapshot!("config_wrong", told(&["config", "rm"]));
}

#[test]
fn help_has_topics() {
    let here = Sandbox::new();
    let help = printed(&mut here.deadheat(["help", "options"]));
    let widest = help.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "a line of {widest:?}");
    insta::assert_snapshot!("help_options", help);
    for command in ["check", "cc", "trace", "trace cat", "help"] {
        let words = || command.split_whitespace();
        let topic = printed(&mut here.deadheat(["help"].into_iter().chain(words())));
        let flag = printed(&mut here.deadheat(words().chain(["--help"])));
        assert_eq!(topic, flag, "{command}");
    }
    let all = printed(&mut here.deadheat(["help"]));
    assert_eq!(all, printed(&mut here.deadheat(["--help"])));
    let unknown = here.deadheat(["help", "chekc"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
}
