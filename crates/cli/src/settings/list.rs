//! All options that can be set, for people: `deadheat help options`.

use deadheat_session::terminal::{BOLD, styled, wrapped};
use deadheat_wire::options as runtime;

use super::table::{Setting, Table};

const WHERE: &str = "\
An option can be set in four places; what comes first counts:

  on the command line   deadheat check --runs 10 --warnings prog.c
  in DEADHEAT_OPTIONS   runs=10:warnings=1
  in deadheat.toml      runs = 10 and warnings = true, in the table of a command ([check])
                        or at the top, for every command that has the option and takes the value

The tables [workspace.metadata.deadheat] and [package.metadata.deadheat] of Cargo.toml do as well as
deadheat.toml. A setting that cannot stand together with one that counts more is left out.
`deadheat config` shows what is set, and where.";

const RUNTIME: &str = "The runtime's own, in DEADHEAT_OPTIONS or in [runtime] of the file";
const OTHERS: &str = "General";
const WIDTH: usize = 98;

/// An option of one or several commands.
struct Row {
    group: String,
    name: String,
    commands: Vec<String>,
    help: String,
}

/// The whole text.
pub fn text(table: &Table) -> String {
    let mut rows: Vec<Row> = Vec::new();
    for setting in table.all() {
        let (name, help) = (written(&setting), told(&setting));
        let group = setting.arg.get_help_heading().unwrap_or(OTHERS);
        let same = |row: &&mut Row| row.name == name && row.help == help && row.group == group;
        match rows.iter_mut().find(same) {
            Some(row) => row.commands.push(setting.path),
            None => rows.push(Row {
                group: group.to_owned(),
                commands: vec![setting.path.clone()],
                name,
                help,
            }),
        }
    }
    rows.sort_by(|a, b| (rank(&a.group), &a.name).cmp(&(rank(&b.group), &b.name)));
    rows.extend(runtime::ALL.iter().map(|option| Row {
        group: RUNTIME.to_owned(),
        name: match option.words {
            [] => format!("{}=N", option.name),
            words => format!("{}={}", option.name, words.join("|")),
        },
        commands: Vec::new(),
        help: match option.words.get(option.default as usize) {
            Some(word) => format!("{} [default: {word}]", option.help),
            None => format!("{} [default: {}]", option.help, option.default),
        },
    }));
    let mut out = format!("{WHERE}\n");
    let mut group = String::new();
    for row in rows {
        if row.group != group {
            out += &format!("\n{}\n", styled(BOLD, format_args!("{}:", row.group)));
            group.clone_from(&row.group);
        }
        let mut head = format!("  {:<46}", row.name);
        head += &row.commands.join(", ");
        out += &format!("{}\n", head.trim_end());
        out += &wrapped(&row.help, 6, WIDTH);
    }
    out
}

/// What is for all comes first, then the groups by name.
fn rank(group: &str) -> (bool, &str) {
    (group != OTHERS, group)
}

/// How it is written in a file.
fn written(setting: &Setting<'_>) -> String {
    let name = setting.name();
    let words = setting.arg.get_possible_values();
    let value = setting
        .arg
        .get_value_names()
        .and_then(|names| names.first());
    let value = match words.is_empty() {
        true => value.map_or("VALUE".to_owned(), ToString::to_string),
        false => {
            let words = words.iter().map(|word| word.get_name());
            words.collect::<Vec<_>>().join("|")
        }
    };
    match (setting.is_flag(), setting.is_optional(), setting.is_list()) {
        (true, ..) => format!("{name} = true|false"),
        (_, true, _) => format!("{name} = true|false|{value}"),
        (.., true) => format!("{name} = [{value}, ...]"),
        _ => format!("{name} = {value}"),
    }
}

/// What it does, and its default.
fn told(setting: &Setting<'_>) -> String {
    let help = setting.arg.get_help();
    let mut text = help.map(ToString::to_string).unwrap_or_default();
    let defaults = setting.arg.get_default_values();
    if !setting.is_flag() && !defaults.is_empty() {
        let words: Vec<_> = defaults.iter().map(|word| word.to_string_lossy()).collect();
        text += &format!(" [default: {}]", words.join(", "));
    }
    text
}
