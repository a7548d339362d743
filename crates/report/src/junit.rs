//! Findings as JUnit's XML, which build servers read: each finding is a test that failed.
//!
//! Its name is what was found and the finding's short name, its class the file that it is in, and
//! the text of the failure the text for people.

use std::fmt::Write;

use anstream::adapter::strip_str;

use crate::finding::Finding;
use crate::text;

/// One suite with a test for each finding.
///
/// ```
/// let xml = deadheat_report::junit::report(&[]);
/// assert!(xml.contains(r#"tests="0""#));
/// ```
pub fn report(findings: &[Finding]) -> String {
    let count = findings.len();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites name=\"deadheat\" tests=\"{count}\" failures=\"{count}\" errors=\"0\">"
    );
    let _ = writeln!(
        out,
        "  <testsuite name=\"deadheat\" tests=\"{count}\" failures=\"{count}\" errors=\"0\" skipped=\"0\">"
    );
    for finding in findings {
        test_case(&mut out, finding);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// Nobody can ask for more of a test's text later.
const LOOK: text::Look = text::Look {
    stacks: true,
    width: 100,
};

fn test_case(out: &mut String, finding: &Finding) {
    let (kind, rung) = (finding.kind.name(), finding.rung.name());
    let place = finding.accesses.first().map(|access| &access.place);
    let file = place.and_then(|place| place.file.as_deref());
    let on = finding.object.as_ref();
    let on = on.map_or(String::new(), |object| format!(" on {}", object.name));
    let name = attribute(&format!("{kind}{on} [{}]", finding.id));
    let class = attribute(file.unwrap_or("deadheat"));
    let _ = write!(out, "    <testcase name=\"{name}\" classname=\"{class}\"");
    if let Some(file) = file {
        let _ = write!(out, " file=\"{}\"", attribute(file));
    }
    if let Some(line) = place.and_then(|place| place.line) {
        let _ = write!(out, " line=\"{line}\"");
    }
    let message = attribute(&format!("{rung}: {}", finding.signature));
    let told = escaped(&strip_str(&text::finding(finding, &LOOK)).to_string());
    let _ = writeln!(
        out,
        " time=\"0\">\n      <failure type=\"{kind}\" message=\"{message}\">{told}</failure>\n    </testcase>"
    );
}

/// Text as attributes have it: ends of lines would become spaces.
fn attribute(text: &str) -> String {
    escaped(text).replace('\n', "&#10;")
}

/// Text as XML has it. Characters that XML forbids, however written, are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' => out.push('\n'),
            '\t' => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                out.push('\u{fffd}');
            }
            _ => out.push(char),
        }
    }
    out
}
