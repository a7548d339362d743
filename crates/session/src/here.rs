//! Paths in messages, as the user sees them: without the way to the folder in which they stand.

use std::borrow::Cow;
use std::sync::OnceLock;

/// A message with paths under the current folder made relative to it.
pub fn seen(text: &str) -> Cow<'_, str> {
    static HERE: OnceLock<Option<String>> = OnceLock::new();
    let here = HERE.get_or_init(|| {
        let here = std::env::current_dir().ok()?;
        Some(here.to_str()?.to_owned()).filter(|here| here != "/")
    });
    match here {
        Some(here) => seen_from(here, text),
        None => text.into(),
    }
}

fn seen_from<'a>(here: &str, text: &'a str) -> Cow<'a, str> {
    let prefix = format!("{here}/");
    if !text.contains(&prefix) {
        return text.into();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(&prefix) {
        let (before, from) = rest.split_at(at);
        let behind = &from[prefix.len()..];
        out += before;
        // Not the end of a longer path, and there is a name to show.
        let begins = before.chars().next_back().is_none_or(|c| !is_of_path(c));
        let ends = behind.chars().next().is_some_and(is_of_path);
        if !(begins && ends) {
            out += &prefix;
        }
        rest = behind;
    }
    (out + rest).into()
}

fn is_of_path(letter: char) -> bool {
    letter.is_alphanumeric() || "./_-+~".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_paths_get_shorter() {
        let seen = |text| seen_from("/home/p", text).into_owned();
        assert_eq!(
            seen("no recordings in /home/p/.deadheat"),
            "no recordings in .deadheat"
        );
        assert_eq!(seen("'/home/p/a' and /home/p/b/c"), "'a' and b/c");
        assert_eq!(seen("x=/home/p/a:/home/p/b"), "x=a:b");
        assert_eq!(seen("/mnt/home/p/a"), "/mnt/home/p/a");
        assert_eq!(
            seen("/home/pp/a, /home/p, /home/p/"),
            "/home/pp/a, /home/p, /home/p/"
        );
        assert_eq!(seen("nothing"), "nothing");
    }
}
