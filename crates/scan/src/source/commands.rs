//! `compile_commands.json`: how a project compiles its files, with what would disturb us left out.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::compile::{Compilation, Language};
use crate::Error;

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// The compilations in a list, each file once. The flags are added to each.
pub(super) fn listed(list: &Path, flags: &[String]) -> Result<Vec<Compilation>, Error> {
    let text = std::fs::read(list).map_err(|source| {
        let path = list.to_owned();
        Error::Unreadable { path, source }
    })?;
    let entries: Vec<Entry> = serde_json::from_slice(&text).map_err(|error| {
        let (path, message) = (list.to_owned(), error.to_string());
        Error::BadCommands { path, message }
    })?;
    let around = list.parent().unwrap_or(Path::new(""));
    let mut seen = HashSet::new();
    let mut compilations = Vec::new();
    for entry in entries {
        let directory = around.join(&entry.directory);
        let file = directory.join(&entry.file);
        let Some(language) = Language::of(&file) else {
            continue;
        };
        if !seen.insert(file.clone()) {
            continue;
        }
        let words = match (entry.arguments, entry.command) {
            (Some(arguments), _) => arguments,
            (None, Some(command)) => split(&command),
            (None, None) => {
                let path = list.to_owned();
                let message = format!("no command for {}", entry.file.display());
                return Err(Error::BadCommands { path, message });
            }
        };
        let is_cpp = words
            .first()
            .is_some_and(|compiler| compiler.ends_with("++"));
        let mut kept = kept(&words, &entry.file);
        kept.extend(flags.iter().cloned());
        compilations.push(Compilation {
            path: file,
            language: if is_cpp { Language::Cpp } else { language },
            directory: Some(directory),
            flags: kept,
        });
    }
    Ok(compilations)
}

/// Flags that come with a word of their own and are left out.
const WITH_VALUE: [&str; 5] = ["-o", "-MF", "-MT", "-MQ", "-MJ"];

/// Beginnings of flags that are left out: what is written, which optimisations, how warnings are treated.
const DROPPED: [&str; 10] = [
    "-M",
    "-O",
    "-g",
    "-W",
    "-o",
    "-flto",
    "-fsanitize",
    "-fprofile",
    "--coverage",
    "-fcoverage",
];

/// What of a call of a compiler says what the source text means.
fn kept(words: &[String], file: &Path) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        if WITH_VALUE.contains(&word.as_str()) {
            rest.next();
        } else if matches!(word.as_str(), "-c" | "-S" | "-E" | "-pipe" | "--")
            || (DROPPED.iter().any(|prefix| word.starts_with(prefix)) && !word.starts_with("-Wp,"))
            || Path::new(word) == file
        {
            continue;
        } else {
            kept.push(word.clone());
        }
    }
    kept
}

/// The words of a command as a shell splits them.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (_, Some(mark)) if letter == mark => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(letters.next()),
            (_, Some(_)) => word.get_or_insert_default().push(letter),
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            _ if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::{kept, split};
    use std::path::Path;

    #[test]
    fn commands_are_split_as_a_shell_does() {
        let words = split(r#"cc -DNAME=\"x\" '-DA=b c' "-I a b"  "" x.c"#);
        assert_eq!(
            words,
            ["cc", "-DNAME=\"x\"", "-DA=b c", "-I a b", "", "x.c"]
        );
    }

    #[test]
    fn what_the_source_text_means_is_kept() {
        let words = split(
            "gcc -O2 -Wall -Werror -g3 -MD -MF x.d -Iinclude -DX=1 -std=c11 -pthread -c x.c -o x.o",
        );
        let kept = kept(&words, Path::new("x.c"));
        assert_eq!(kept, ["-Iinclude", "-DX=1", "-std=c11", "-pthread"]);
    }
}
