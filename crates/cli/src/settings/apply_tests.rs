//! A setting has the effect of the flag: for every option of every command.

use super::*;
use crate::commands::meaning;
use crate::settings::Given;

/// Values of all kinds: an option is tried with the first that it takes.
const VALUES: [&str; 5] = ["7", "60s", "2G", "x", "ab"];
/// Options that another one needs beside it.
const BESIDE: [(&str, &str); 1] = [("lean", "--scan")];

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

/// What stands behind a command so that it is complete, beside this option.
fn rest(setting: &Setting<'_>) -> Vec<OsString> {
    let needed = setting
        .command
        .get_arguments()
        .filter(|arg| arg.is_required_set() && arg.get_id() != setting.arg.get_id());
    let needed = needed.map(
        |arg| match (arg.get_long(), arg.get_possible_values().first()) {
            (Some(name), Some(word)) => format!("--{name}={}", word.get_name()),
            (Some(name), None) => format!("--{name}=x"),
            (None, _) => "x".to_owned(),
        },
    );
    let beside = BESIDE.iter().filter(|(name, _)| *name == setting.name());
    let mut all: Vec<OsString> = beside.map(|(_, flag)| OsString::from(flag)).collect();
    all.extend(needed.map(OsString::from));
    // A command may want its program although not always.
    let positionals = setting.command.get_positionals().next();
    if positionals.is_some_and(|arg| !arg.is_required_set() && arg.get_id() == "command") {
        all.push("x".into());
    }
    all
}

/// A value for it, as in a file and as an argument.
fn sample(setting: &Setting<'_>) -> (String, OsString) {
    let name = setting.name();
    if setting.is_flag() {
        return ("true".to_owned(), format!("--{name}").into());
    }
    let possible = setting.arg.get_possible_values();
    let words = possible
        .iter()
        .rev()
        .map(|word| word.get_name())
        .chain(VALUES);
    for word in words {
        let given = Given::One(word.to_owned());
        if let Ok(arguments) = setting.arguments(&given, None) {
            return (format!("{word:?}"), arguments[0].clone());
        }
    }
    panic!("no value for {name}");
}

fn with_file(table: &Table, args: Vec<OsString>, variable: &str, text: &str) -> Applied {
    let file = File::parse(Path::new("deadheat.toml"), text, table).unwrap();
    applied_by(table, args, variable, |_| Ok(file.unwrap())).unwrap()
}

#[test]
fn every_setting_has_the_effect_of_its_flag() {
    let table = Table::own();
    let all = table.all();
    assert!(all.len() > 60, "only {} options", all.len());
    for setting in all {
        let (name, path) = (setting.name(), &setting.path);
        let (value, flag) = sample(&setting);
        let mut plain = words(&format!("deadheat {path}"));
        let mut flagged = plain.clone();
        flagged.push(flag);
        plain.extend(rest(&setting));
        flagged.extend(rest(&setting));
        let expected = meaning(&flagged).unwrap_or_else(|error| panic!("{path} {name}: {error}"));
        assert_ne!(
            meaning(&plain).ok().as_ref(),
            Some(&expected),
            "{path} {name}"
        );

        let mut ways = vec![
            (
                String::new(),
                format!("[{}]\n{name} = {value}\n", path.replace(' ', ".")),
            ),
            (format!("{name}={}", value.trim_matches('"')), String::new()),
        ];
        // At the top it is the list that all commands read by themselves.
        if name != "suppressions" {
            ways.push((String::new(), format!("{name} = {value}\n")));
        }
        for (variable, text) in ways {
            let applied = with_file(&table, plain.clone(), &variable, &text);
            let found = meaning(&applied.args).unwrap();
            assert_eq!(found, expected, "{path} {name}: {variable} {text}");
        }
    }
}

#[test]
fn what_is_nearer_counts() {
    let table = Table::own();
    let text = "runs = 5\nseed = 5\npolicy = 'pct'\nwarnings = true\n[check]\nruns = 4\nseed = 4\n";
    let args = words("deadheat check --seed 2 prog --seed 9");
    let applied = with_file(&table, args, "runs=3:warnings=0", text);
    let expected = words("deadheat check --runs=3 --policy=pct --seed 2 prog --seed 9");
    assert_eq!(applied.args, expected);
    let places = [
        ("runs", "DEADHEAT_OPTIONS"),
        ("policy", "deadheat.toml, line 3"),
    ];
    let places = places.map(|(name, place)| (name.to_owned(), place.to_owned()));
    assert_eq!(applied.from, places);
}

#[test]
fn what_cannot_stand_together_gives_way() {
    let table = Table::own();
    let given = |args: &str, variable: &str, text: &str| {
        let applied = with_file(&table, words(args), variable, text);
        applied.args[2..]
            .iter()
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
    };
    let text = "[watch]\ndetector = 'simple'\n[check]\nexplore = true\n";
    assert_eq!(
        given("deadheat watch --two-pass x", "", text),
        ["--two-pass", "x"]
    );
    assert_eq!(
        given("deadheat check --only f x", "", text),
        ["--only", "f", "x"]
    );
    assert_eq!(
        given("deadheat check x", "except=f", text),
        ["--except=f", "x"]
    );
    assert_eq!(given("deadheat check x", "", text), ["--explore", "x"]);
}

#[test]
fn a_value_at_the_top_is_for_those_who_take_it() {
    let table = Table::own();
    let text = "format = 'std'\n";
    let args = with_file(&table, words("deadheat trace cat"), "", text).args;
    assert_eq!(args, words("deadheat trace cat --format=std"));
    let args = with_file(&table, words("deadheat predict"), "", text).args;
    assert_eq!(args, words("deadheat predict"));
}

#[test]
fn help_works_whatever_is_set() {
    let table = Table::own();
    let refused = |_: Option<&Path>| Err(deadheat_session::error::Error::usage("a broken file"));
    let applied = |args| applied_by(&table, words(args), "nonsense=1", refused);
    assert!(applied("deadheat check --help").is_ok());
    assert!(applied("deadheat help check").is_ok());
    assert!(applied("deadheat check prog --help").is_err());
}
