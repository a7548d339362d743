//! Findings as one page that a browser shows from a file, without a network.
//!
//! The page is a frame, a style and scripts that are the same for all, and data: findings, the source
//! lines that they speak of, and the trace in figures. The scripts make text of the data and nothing
//! else, and a policy in the page forbids it to load anything.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use serde::Serialize;
use serde_json::Value;

use crate::finding::{Finding, Frame};
use crate::overview::Overview;
use crate::text::{is_harmful, printable};

/// How many lines around one that matters are shown.
const AROUND: u32 = 7;

/// The most files and lines of source text that a page has, and the longest line.
const MOST_FILES: usize = 500;
const MOST_LINES: usize = 50_000;
const LONGEST_LINE: usize = 400;

/// The largest number that scripts have exactly.
const EXACT: u64 = 1 << 53;

/// What a page shows.
pub struct Contents<'a> {
    /// The findings.
    pub findings: &'a [Finding],
    /// The trace in figures.
    pub overview: Option<&'a Overview>,
    /// What the findings are about: the program and its arguments.
    pub about: &'a str,
    /// The version of Deadheat.
    pub version: &'a str,
    /// The text of a source file.
    pub source: &'a dyn Fn(&str) -> Option<String>,
}

#[derive(Template)]
#[template(path = "page.html", escape = "html")]
struct Page<'a> {
    title: &'a str,
    style: &'static str,
    script: &'static str,
    data: &'a str,
}

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("html/elements.js"),
    include_str!("html/timeline.js"),
    include_str!("html/plots.js"),
    include_str!("html/detail.js"),
    include_str!("html/page.js"),
);

/// The page.
///
/// ```
/// use deadheat_report::html;
/// let contents = html::Contents {
///     findings: &[],
///     overview: None,
///     about: "./prog",
///     version: "0.1.0",
///     source: &|_| None,
/// };
/// assert!(html::page(&contents).starts_with("<!doctype html>"));
/// ```
pub fn page(contents: &Contents<'_>) -> String {
    #[derive(Serialize)]
    struct Data<'a> {
        about: &'a str,
        version: &'a str,
        findings: &'a [Finding],
        overview: Option<&'a Overview>,
        source: BTreeMap<String, BTreeMap<u32, String>>,
    }
    let data = Data {
        about: contents.about,
        version: contents.version,
        findings: contents.findings,
        overview: contents.overview,
        source: excerpts(contents.findings, contents.source),
    };
    // Strings, numbers and lists of them cannot fail to be written.
    let mut data = serde_json::to_value(&data).unwrap_or_default();
    keep_exact(&mut data);
    let title = match contents.about {
        "" => "Deadheat".to_owned(),
        about => format!("{} - Deadheat", printable(about)),
    };
    let page = Page {
        title: &title,
        style: STYLE,
        script: SCRIPT,
        data: &embedded(&data.to_string()),
    };
    page.render()
        .expect("writing to memory does not fail, and the template has no other errors")
}

/// JSON on one line that can stand in a page: nothing in it ends the element around it, is a line's end to
/// some readers only, or makes text look like another.
fn embedded(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for char in json.chars() {
        match matches!(char, '<' | '>' | '&') || is_harmful(char) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(char))),
            false => out.push(char),
        }
    }
    out
}

/// Numbers that scripts would round become text.
fn keep_exact(value: &mut Value) {
    match value {
        Value::Number(number) if number.as_u64().is_some_and(|number| number > EXACT) => {
            *value = Value::String(number.to_string());
        }
        Value::Array(values) => values.iter_mut().for_each(keep_exact),
        Value::Object(values) => values.values_mut().for_each(keep_exact),
        _ => {}
    }
}

/// The lines of source files that findings speak of, with some around, by file and number.
fn excerpts(
    findings: &[Finding],
    source: &dyn Fn(&str) -> Option<String>,
) -> BTreeMap<String, BTreeMap<u32, String>> {
    let mut wanted: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    let mut many = 0;
    for frame in findings.iter().flat_map(frames) {
        let (Some(file), Some(line)) = (&frame.file, frame.line) else {
            continue;
        };
        if many > MOST_LINES || (wanted.len() >= MOST_FILES && !wanted.contains_key(&**file)) {
            continue;
        }
        let lines = wanted.entry(file).or_default();
        let before = lines.len();
        lines.extend(line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND));
        many += lines.len() - before;
    }
    let mut found = BTreeMap::new();
    for (file, numbers) in wanted {
        let Some(text) = source(file) else { continue };
        let lines = (1..).zip(text.lines());
        let lines = lines.filter(|(number, _)| numbers.contains(number));
        let lines = lines.map(|(number, line)| (number, line.chars().take(LONGEST_LINE).collect()));
        found.insert(file.to_owned(), lines.collect());
    }
    found
}

/// The places that a finding speaks of, those first that are shown first.
fn frames(finding: &Finding) -> impl Iterator<Item = &Frame> {
    let sides = finding.accesses.iter().map(|access| &access.place);
    let steps = finding.interleaving.iter().flat_map(|way| &way.steps);
    let held = finding.accesses.iter().flat_map(|access| &access.locks);
    let held = held.filter_map(|lock| lock.acquired_at.first());
    sides.chain(steps.map(|step| &step.place)).chain(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Access, Kind, Rung, Thread};

    fn finding(file: &str, line: u32) -> Finding {
        let place = Frame {
            file: Some(file.to_owned()),
            line: Some(line),
            ..Frame::default()
        };
        let access = Access {
            thread: Thread {
                number: 1,
                name: "</script><script>window.hacked=1</script>".to_owned(),
                parent: None,
                created_at: Vec::new(),
            },
            op: "read".to_owned(),
            size: 4,
            address: u64::MAX,
            stack: vec![place.clone()],
            place,
            folded: false,
            locks: Vec::new(),
            waits_for: None,
            index: None,
        };
        Finding::new(Kind::Race, Rung::Witness, "hb", vec![access])
    }

    #[test]
    fn data_cannot_leave_its_element() {
        let page = page(&Contents {
            findings: &[finding("a.c", 3)],
            overview: None,
            about: "<prog> \u{2028}\u{202e}\u{1b}",
            version: "1",
            source: &|_| Some("</script>\n\n<!-- \u{2028}".to_owned()),
        });
        assert_eq!(page.matches("</script>").count(), 2, "data and script");
        assert!(!page.contains("<!-- "));
        assert!(page.contains("&#60;prog&#62;"), "the title is escaped");
        assert!(!page.contains(|char| char != '\n' && is_harmful(char)));
        assert!(page.contains("\\u003c/script\\u003e"));
        assert!(
            !page.contains("18446744073709551615,"),
            "rounded by scripts"
        );
        assert!(page.contains("\"18446744073709551615\""));
    }

    #[test]
    fn a_page_loads_nothing() {
        let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
        assert!(include_str!("html/page.html").contains(policy));
        for word in [
            "http:",
            "https:",
            "src=",
            "@import",
            "url(",
            "innerHTML",
            "eval(",
        ] {
            let allowed = SCRIPT.matches("http://www.w3.org/2000/svg").count();
            let found = SCRIPT.matches(word).count() + STYLE.matches(word).count();
            let allowed = if word == "http:" { allowed } else { 0 };
            assert_eq!(found, allowed, "{word}");
        }
    }

    #[test]
    fn source_text_is_bounded() {
        let text: String = (1..=1000).map(|line| format!("line {line}\n")).collect();
        let source = |file: &str| (file == "a.c").then(|| text.clone() + &"x".repeat(10_000));
        let all = [
            finding("a.c", 100),
            finding("a.c", 1001),
            finding("gone.c", 1),
        ];
        let found = excerpts(&all, &source);
        let lines: Vec<u32> = found["a.c"].keys().copied().collect();
        let expected: Vec<u32> = (93..=107).chain(994..=1001).collect();
        assert_eq!(lines, expected);
        assert_eq!(found["a.c"][&100], "line 100");
        assert_eq!(found["a.c"][&1001].len(), LONGEST_LINE);
        assert!(!found.contains_key("gone.c"));
        let many: Vec<Finding> = (0..2000).map(|i| finding(&format!("{i}.c"), 50)).collect();
        let found = excerpts(&many, &|_| Some(text.clone()));
        assert_eq!(found.len(), MOST_FILES);
    }
}
