//! Text of the program's, such as names and source lines, made harmless.

use unicode_width::UnicodeWidthStr;

/// The same without characters that a terminal would obey, or that make text look like another.
pub fn printable(text: &str) -> String {
    let harmless = |char| match is_harmful(char) {
        true => '\u{FFFD}',
        false => char,
    };
    text.chars().map(harmless).collect()
}

/// Whether a terminal would obey a character, or it makes text look like another.
pub(crate) fn is_harmful(char: char) -> bool {
    let changes_direction = matches!(char,
        '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    char.is_control() || changes_direction || matches!(char, '\u{2028}' | '\u{2029}')
}

/// A value as people read it: small numbers below zero are told as such, and what nobody counts like an address.
pub fn number(value: u64) -> String {
    const SMALL: u64 = 1 << 20;
    match value {
        _ if value > u64::MAX - SMALL => format!("-{}", u64::MAX - value + 1),
        _ if (U32 - SMALL..U32).contains(&value) => format!("-{}", U32 - value),
        _ if value > U32 => format!("{value:#x}"),
        _ => value.to_string(),
    }
}

/// One more than the largest number of four bytes.
const U32: u64 = 1 << 32;

/// How many columns a text takes.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// A text of so many columns at most: what is longer ends in dots.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    for char in text.chars() {
        let mut longer = out.clone();
        longer.push(char);
        if width(&longer) + 1 > columns {
            break;
        }
        out = longer;
    }
    out + "…"
}

/// A text filled up to so many columns.
pub fn filled(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{:missing$}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_obeyed() {
        assert_eq!(
            printable("a\u{1b}[2J\u{202E}b\n"),
            "a\u{FFFD}[2J\u{FFFD}b\u{FFFD}"
        );
        assert_eq!(printable("größe λ"), "größe λ");
    }

    #[test]
    fn numbers_are_those_that_were_meant() {
        let all = [
            105,
            u64::MAX,
            0xFFFF_FFFF,
            0xFFFF_FFD8,
            0x8000_0000,
            0x7FFF_F7FA_8680,
        ];
        let told = all.map(number);
        assert_eq!(
            told,
            ["105", "-1", "-1", "-40", "2147483648", "0x7ffff7fa8680"]
        );
    }

    #[test]
    fn texts_are_cut_by_columns() {
        assert_eq!(cut("balance", 7), "balance");
        assert_eq!(cut("balance", 5), "bala…");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(width(&filled("漢", 4)), 4);
    }
}
