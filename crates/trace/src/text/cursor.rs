//! A place in a line, and the small things that are read there: numbers, names, strings.

use std::borrow::Cow;

use super::error::{Fault, Problem};

/// A place in a part of a line. Faults are reported by their byte in the whole line.
pub(super) struct Cursor<'a> {
    rest: &'a str,
    at: usize,
}

/// A value as written: `5`, `0x5` or `-5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value<'a> {
    text: &'a str,
    at: usize,
    negative: bool,
    magnitude: u64,
}

impl<'a> Cursor<'a> {
    /// At the start of `part`, which begins at byte `at` of the line.
    pub fn new(part: &'a str, at: usize) -> Self {
        Cursor { rest: part, at }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a str {
        self.rest
    }

    /// The byte of the line.
    pub fn at(&self) -> usize {
        self.at
    }

    /// `what` was expected here.
    pub fn expected(&self, what: &'static str) -> Fault {
        Fault::expected(self.at, what, self.rest)
    }

    /// Nothing may follow.
    pub fn end(&self, what: &'static str) -> Result<(), Fault> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.expected(what))
        }
    }

    /// Reads `token` if it is next.
    pub fn eat(&mut self, token: &str) -> bool {
        let found = self.rest.starts_with(token);
        if found {
            self.skip(token.len());
        }
        found
    }

    /// Passes over white space.
    pub fn skip_spaces(&mut self) {
        self.skip(self.rest.len() - self.rest.trim_start().len());
    }

    /// Reads up to the first character that `stops`, or to the end.
    pub fn until(&mut self, stops: impl Fn(char) -> bool) -> &'a str {
        let len = self.rest.find(stops).unwrap_or(self.rest.len());
        self.skip(len)
    }

    /// A number without a sign, decimal or after `0x` hexadecimal.
    pub fn number(&mut self, what: &'static str) -> Result<u64, Fault> {
        let at = self.at;
        let text = self.until(|c| !c.is_ascii_alphanumeric());
        parse_number(text).ok_or_else(|| Fault::expected(at, what, text))
    }

    /// A value, possibly negative.
    pub fn value(&mut self) -> Result<Value<'a>, Fault> {
        const WHAT: &str = "a value such as 5, -1 or 0xff";
        let (start, at) = (self.rest, self.at);
        let negative = self.eat("-");
        let digits = self.until(|c| !c.is_ascii_alphanumeric());
        let text = &start[..self.at - at];
        let Some(magnitude) = parse_number(digits) else {
            return Err(Fault::expected(at, WHAT, text));
        };
        Ok(Value {
            text,
            at,
            negative,
            magnitude,
        })
    }

    /// A name, plain or in quotes. A plain one ends where [`plain_length`] says.
    pub fn name(&mut self, what: &'static str) -> Result<Cow<'a, str>, Fault> {
        if self.rest.starts_with('"') {
            return Ok(Cow::Owned(self.quoted()?));
        }
        match plain_length(self.rest) {
            0 => Err(self.expected(what)),
            len => Ok(Cow::Borrowed(self.skip(len))),
        }
    }

    /// A string in quotes, with escapes.
    pub fn quoted(&mut self) -> Result<String, Fault> {
        const WHAT: &str = "a string in quotes, with \\\" \\\\ \\n \\r \\t \\u{7c} as escapes";
        let whole = self.expected(WHAT);
        if !self.eat("\"") {
            return Err(whole);
        }
        let mut text = String::new();
        loop {
            text.push_str(self.until(|c| c == '"' || c == '\\'));
            if self.eat("\"") {
                return Ok(text);
            }
            let here = self.expected(WHAT);
            if !self.eat("\\") {
                return Err(whole);
            }
            let escape = self.rest.chars().next();
            self.skip(escape.map_or(0, char::len_utf8));
            text.push(match escape {
                Some(c @ ('"' | '\\')) => c,
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('u') if self.eat("{") => {
                    let digits = self.until(|c| !c.is_ascii_hexdigit());
                    let number = u32::from_str_radix(digits, 16).ok();
                    match number.and_then(char::from_u32) {
                        Some(c) if self.eat("}") => c,
                        _ => return Err(here),
                    }
                }
                _ => return Err(here),
            });
        }
    }

    fn skip(&mut self, len: usize) -> &'a str {
        let (read, rest) = self.rest.split_at(len);
        self.rest = rest;
        self.at += len;
        read
    }
}

impl Value<'_> {
    /// The value in this many bytes: negative ones in two's complement. Of accesses larger than
    /// eight bytes it is the first eight.
    pub fn fit(&self, size: u64) -> Result<u64, Fault> {
        let bits = size.clamp(1, 8) * 8;
        let mask = u64::MAX >> (64 - bits);
        let fits = if self.negative {
            self.magnitude <= 1 << (bits - 1)
        } else {
            self.magnitude <= mask
        };
        if !fits {
            let problem = Problem::ValueTooLarge {
                value: self.text.to_owned(),
                size,
            };
            return Err(Fault::new(self.at, problem));
        }
        Ok(if self.negative {
            self.magnitude.wrapping_neg() & mask
        } else {
            self.magnitude
        })
    }
}

fn parse_number(text: &str) -> Option<u64> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((text, 10), |digits| (digits, 16));
    // `from_str_radix` takes a sign, but there is none: callers stop at it.
    u64::from_str_radix(digits, radix).ok()
}

/// How much of the text is a name that needs no quotes: up to white space or a character that
/// means something after a name, `= , + "` and a `:` that is not doubled.
pub(super) fn plain_length(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            ':' if chars.peek().is_some_and(|(_, next)| *next == ':') => {
                chars.next();
            }
            '=' | ',' | '+' | '"' | ':' | '|' => return at,
            c if c.is_whitespace() || c.is_control() => return at,
            _ => {}
        }
    }
    text.len()
}

/// A string in quotes that [`Cursor::quoted`] reads back and that stays in its field and line.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '|' => out.push_str("\\u{7c}"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(text: &str, size: u64) -> Option<u64> {
        Cursor::new(text, 0).value().ok()?.fit(size).ok()
    }

    #[test]
    fn values_fit_or_not() {
        assert_eq!(fit("255", 1), Some(255));
        assert_eq!(fit("256", 1), None);
        assert_eq!(fit("-1", 2), Some(0xFFFF));
        assert_eq!(fit("-128", 1), Some(0x80));
        assert_eq!(fit("-129", 1), None);
        assert_eq!(fit("-0", 4), Some(0));
        assert_eq!(fit("0xffffffffffffffff", 8), Some(u64::MAX));
        assert_eq!(fit("18446744073709551616", 8), None);
        assert_eq!(fit("-9223372036854775808", 16), Some(1 << 63));
        assert_eq!(
            (fit("", 8), fit("-", 8), fit("0x", 8), fit("+1", 8)),
            (None, None, None, None)
        );
    }

    #[test]
    fn names_end_where_they_should() {
        let plain = |text: &'static str| &text[..plain_length(text)];
        assert_eq!(plain("V554dee4f[0]=1"), "V554dee4f[0]");
        assert_eq!(plain("ns::x:4"), "ns::x");
        assert_eq!(plain("a.b$c+2"), "a.b$c");
        assert_eq!(plain("f(x),acq"), "f(x)");
    }

    #[test]
    fn quoted_strings_come_back() {
        for text in ["", "a b", "\"\\|", "\n\r\t\u{1}\u{85}", "ä=1"] {
            let quoted = quote(text);
            assert!(!quoted.contains(['|', '\n', '\r']));
            assert_eq!(Cursor::new(&quoted, 0).quoted().unwrap(), text);
        }
        for bad in [
            "",
            "x",
            "\"",
            "\"\\",
            "\"\\q\"",
            "\"\\u{d800}\"",
            "\"\\u{41\"",
        ] {
            assert!(Cursor::new(bad, 0).quoted().is_err(), "{bad}");
        }
    }
}
