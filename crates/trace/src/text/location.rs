//! The third field of a line: where in the program it happened.
//!
//! A number, `file:line`, `file:line:column`, `module+0xoffset`, or `-` where it is not known.

use std::borrow::Cow;

/// What STD takes, for messages.
pub(super) const NUMBER: &str = "a location: a number from -2147483648 to 2147483647";
/// What the full format takes, for messages.
pub(super) const ANY: &str =
    "a location: a number (32 bits), file:line, file:line:column, module+0xoffset or -";
/// How an unknown location is written and kept.
pub(super) const UNKNOWN: &str = "-";

/// A location of STD, written in the shortest way: `+07` is `7`.
pub(super) fn number(text: &str) -> Option<Cow<'_, str>> {
    let number: i32 = text.parse().ok()?;
    Some(match is_shortest(text) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(number.to_string()),
    })
}

/// Whether a number is written in the shortest way.
fn is_shortest(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    match digits.as_bytes() {
        [b'0'] => number == digits,
        [first, ..] => matches!(first, b'1'..=b'9'),
        [] => false,
    }
}

/// A location of the full format.
pub(super) fn any(text: &str) -> Option<Cow<'_, str>> {
    if text.is_empty() || text == UNKNOWN {
        return Some(Cow::Borrowed(UNKNOWN));
    }
    if let Some(number) = number(text) {
        return Some(number);
    }
    let plain = !text.contains(|c: char| c.is_control() || c == '|') && text.trim() == text;
    (plain && (is_file_line(text) || is_module_offset(text))).then_some(Cow::Borrowed(text))
}

fn is_file_line(text: &str) -> bool {
    let line_number = |digits: &str| {
        digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u32>().is_ok()
    };
    let Some((file, line)) = text.rsplit_once(':') else {
        return false;
    };
    !file.is_empty() && line_number(line)
}

fn is_module_offset(text: &str) -> bool {
    let Some((module, offset)) = text.rsplit_once("+0x") else {
        return false;
    };
    let hex = offset.bytes().all(|byte| byte.is_ascii_hexdigit());
    !module.is_empty() && hex && u64::from_str_radix(offset, 16).is_ok()
}

/// Any text as a location: what could not be read back is replaced by `?`.
pub(super) fn readable(text: &str) -> Cow<'_, str> {
    if let Some(location) = any(text) {
        return location;
    }
    let clean: String = text
        .trim()
        .chars()
        .map(|c| if c.is_control() || c == '|' { '?' } else { c })
        .collect();
    match any(&clean) {
        Some(location) => Cow::Owned(location.into_owned()),
        None => Cow::Owned(format!("{clean}:0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_location() {
        for text in [
            "0",
            "-7",
            "a.c:7",
            "a.c:7:9",
            "my file.c:1",
            "a+0x1f",
            "?+0x0",
            "-",
        ] {
            assert_eq!(any(text).as_deref(), Some(text));
        }
        assert_eq!(any("").as_deref(), Some("-"));
        assert_eq!(any("+07").as_deref(), Some("7"));
        for text in [
            "a.c",
            "2147483648",
            ":7",
            "a:",
            "a:x",
            "+0x1",
            "a+0x",
            "a+0xg",
            " a:1",
        ] {
            assert_eq!(any(text), None, "{text}");
        }
        assert_eq!(number("a.c:7"), None);
        assert_eq!(number(""), None);
    }

    #[test]
    fn everything_can_be_made_one() {
        for text in ["a|b+0x5", "main.c", "a\nb:3", " ", "2147483648", "x\u{7f}"] {
            let made = readable(text);
            assert_eq!(any(&made).as_deref(), Some(&*made), "{text}");
        }
    }
}
