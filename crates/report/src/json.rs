//! Findings as one JSON object.

use serde::Serialize;

use crate::Finding;

/// The version of the form.
pub const VERSION: u32 = 1;

/// All findings of a run, as programs read them.
#[derive(Serialize)]
struct Report<'a, S: Serialize> {
    version: u32,
    findings: &'a [Finding],
    stats: S,
}

/// `{"version":1,"findings":[...],"stats":{...}}`, over several lines.
///
/// ```
/// let text = deadheat_report::json::report(&[], [("events", 3)]);
/// assert!(text.contains("\"version\": 1"));
/// ```
pub fn report(findings: &[Finding], stats: impl Serialize) -> String {
    let report = Report {
        version: VERSION,
        findings,
        stats,
    };
    // Strings, numbers and lists of them cannot fail to be written.
    serde_json::to_string_pretty(&report).unwrap_or_default()
}
