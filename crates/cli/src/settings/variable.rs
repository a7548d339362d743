//! `DEADHEAT_OPTIONS=name=value:name=value`: options of the commands and of the runtime in one variable.

use std::sync::OnceLock;

use deadheat_run::launch;
use deadheat_session::error::{Error, Result};
use deadheat_wire::options as runtime;

use super::table::{self, Setting, Table};
use super::{Entry, Given};

/// What the variable holds, as the user wrote it.
pub fn text() -> String {
    std::env::var(launch::OPTIONS).unwrap_or_default()
}

/// The names and values in it. A name alone is `1`; the last of several counts.
fn pairs(text: &str) -> Vec<(&str, &str)> {
    let items = text.split(':').filter(|item| !item.is_empty());
    items
        .map(|item| item.split_once('=').unwrap_or((item, "1")))
        .collect()
}

/// What a file sets for the runtime.
static FROM_FILE: OnceLock<String> = OnceLock::new();

/// Keeps what a file sets for the runtime: for [`for_runtime`].
pub fn keep_for_runtime(items: &[(String, String)]) {
    let items: Vec<&str> = items.iter().map(|(item, _)| item.as_str()).collect();
    // A process runs one command.
    let _ = FROM_FILE.set(items.join(":"));
}

/// All that is set for the runtime, in the same form: by the file, then by the variable, which counts.
pub fn for_runtime() -> String {
    let file = FROM_FILE.get().map_or("", String::as_str);
    runtime_part(&format!("{file}:{}", text()))
}

/// Options of the runtime that say what a command does with it: they are the commands' own business.
const COMMANDS_OWN: [&str; 3] = ["mode", "tool", "help"];

/// Whether the runtime has this option, for a project to set, and it can be that.
pub fn check_runtime(name: &str, value: &str, place: &str) -> Result<()> {
    let known = runtime::ALL
        .iter()
        .filter(|option| !COMMANDS_OWN.contains(&option.name));
    let Some(option) = known.clone().find(|option| option.name == name) else {
        let names = known.map(|option| option.name);
        return Err(table::unknown(
            "option of the runtime called",
            name,
            names,
            place,
        ));
    };
    match option.value(value.as_bytes()) {
        Some(_) => Ok(()),
        None => Err(cannot_be(option, value, place)),
    }
}

fn cannot_be(option: &runtime::Described, value: &str, place: &str) -> Error {
    let error = Error::usage(format!("{place}: {} cannot be {value:?}", option.name));
    match option.words {
        [] => error.help("it is a number"),
        words => error.help(format!("it can be one of: {}", words.join(", "))),
    }
}

fn runtime_part(text: &str) -> String {
    let theirs = |(name, value): &(&str, &str)| is_runtimes(name, value);
    let pairs = pairs(text).into_iter().filter(theirs);
    let texts: Vec<String> = pairs
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    texts.join(":")
}

fn is_runtimes(name: &str, value: &str) -> bool {
    runtime::named(name).is_some_and(|option| option.value(value.as_bytes()).is_some())
}

/// What is set for a command. Names that nobody has are errors, and so are values that neither the
/// command nor the runtime can take.
pub fn entries(table: &Table, path: &str, text: &str) -> Result<Vec<Entry>> {
    let own = table.of(path);
    let all = table.all();
    let mut found: Vec<Entry> = Vec::new();
    for (name, value) in pairs(text) {
        let long = name.replace('_', "-");
        let entry = |setting: &Setting<'_>| Entry {
            command: Some(path.to_owned()),
            name: long.clone(),
            given: given(setting, value),
            place: launch::OPTIONS.to_owned(),
        };
        let mine = own.iter().find(|setting| setting.name() == long);
        if let Some(setting) = mine {
            let entry = entry(setting);
            match setting.arguments(&entry.given, None) {
                Ok(_) => {
                    found.retain(|earlier| earlier.name != long);
                    found.push(entry);
                }
                Err(_) if is_runtimes(name, value) => {}
                Err(wrong) => return Err(wrong.at(launch::OPTIONS)),
            }
        } else if let Some(option) = runtime::named(name) {
            if option.value(value.as_bytes()).is_none() && !all.iter().any(|o| o.name() == long) {
                return Err(cannot_be(&option, value, launch::OPTIONS));
            }
        } else if !all.iter().any(|setting| setting.name() == long) {
            let names = all.iter().map(|setting| setting.name());
            let names = names.chain(runtime::ALL.iter().map(|option| option.name));
            return Err(table::unknown("option", name, names, launch::OPTIONS));
        }
    }
    Ok(found)
}

/// The value as the option understands it: the variable has texts only.
fn given(setting: &Setting<'_>, value: &str) -> Given {
    let can_be_flag = setting.is_flag() || setting.is_optional();
    match value {
        "1" | "true" if can_be_flag => Given::Flag(true),
        "0" | "false" if can_be_flag => Given::Flag(false),
        _ => Given::One(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(path: &str, text: &str) -> Vec<(String, Given)> {
        let entries = entries(&Table::own(), path, text).unwrap();
        let pairs = entries.into_iter().map(|entry| (entry.name, entry.given));
        pairs.collect()
    }

    fn wrong(path: &str, text: &str) -> String {
        let error = entries(&Table::own(), path, text).unwrap_err();
        error.to_string()
    }

    #[test]
    fn commands_take_their_own_and_the_runtime_gets_its_part() {
        let text = "runs=3:warnings:clock=real:seed=7:on_race=wait:enforce=1";
        let one = |text: &str| Given::One(text.into());
        let of_check = vec![
            ("runs".into(), one("3")),
            ("warnings".into(), Given::Flag(true)),
            ("seed".into(), one("7")),
        ];
        assert_eq!(set("check", text), of_check);
        assert_eq!(set("ls", text), vec![]);
        assert_eq!(runtime_part(text), "clock=real:seed=7:on_race=wait");
        assert_eq!(
            set("check", "runs=3:runs=4"),
            vec![("runs".into(), one("4"))]
        );
    }

    #[test]
    fn what_nobody_understands_is_said() {
        assert!(wrong("check", "rnus=3").contains("did you mean runs?"));
        assert!(wrong("check", "clok=real").contains("did you mean clock?"));
        assert!(wrong("check", "runs=none").contains("runs cannot be \"none\""));
        assert!(wrong("ls", "clock=odd").contains("one of: virtual, real"));
        assert!(wrong("check", "warnings=odd").contains("true or false"));
    }
}
