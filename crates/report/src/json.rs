//! Findings as one JSON object.

use serde::Serialize;
use serde_json::Value;

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
    match findings.len() > MOST_INDENTED {
        true => serde_json::to_string(&report),
        false => serde_json::to_string_pretty(&report),
    }
    .unwrap_or_default()
}

/// Reports of more findings are written without line breaks: half of them would be white space.
const MOST_INDENTED: usize = 100;

/// Why a text is no report that can be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is no JSON, or not that of findings.
    #[error("{0}")]
    Malformed(#[from] serde_json::Error),
    /// It is something else.
    #[error("it has no version and findings")]
    NoReport,
    /// Another version of Deadheat has written it.
    #[error("its version is {0}; this Deadheat reads version {VERSION}")]
    OtherVersion(u64),
}

/// The findings of such a report.
///
/// ```
/// use deadheat_report::json;
/// assert!(json::findings(&json::report(&[], ()))?.is_empty());
/// assert!(json::findings(r#"{"version": 2, "findings": []}"#).is_err());
/// # Ok::<(), json::ReadError>(())
/// ```
pub fn findings(text: &str) -> Result<Vec<Finding>, ReadError> {
    let mut report: Value = serde_json::from_str(text)?;
    let version = report.get("version").and_then(Value::as_u64);
    match version {
        None => Err(ReadError::NoReport),
        Some(version) if version != u64::from(VERSION) => Err(ReadError::OtherVersion(version)),
        Some(_) => {
            let findings = report.get_mut("findings").map(Value::take);
            Ok(serde_json::from_value(
                findings.ok_or(ReadError::NoReport)?,
            )?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Access, Frame, Kind, Lock, Memory, Object, Rung, Thread};

    #[test]
    fn what_was_written_can_be_read() {
        let place = Frame {
            function: Some("f".to_owned()),
            line: Some(3),
            ..Frame::default()
        };
        let lock = Lock {
            name: "m".to_owned(),
            address: 0,
            read: true,
            acquired_at: vec![place.clone()],
        };
        let side = Access {
            thread: Thread {
                number: 1,
                name: "T1".to_owned(),
                parent: None,
                created_at: Vec::new(),
            },
            op: "read".to_owned(),
            size: 4,
            address: 16,
            stack: vec![place.clone()],
            place,
            folded: true,
            locks: vec![lock.clone()],
            waits_for: Some(lock),
            index: Some(7),
        };
        let sides = vec![side.clone(), side];
        let mut finding = Finding::new(Kind::Race, Rung::Witness, "hb", sides);
        finding.object = Some(Object {
            name: "x".to_owned(),
            address: 16,
            size: 4,
            memory: Memory::Global {
                variable: "x".to_owned(),
                offset: 0,
                declared: None,
            },
        });
        let text = report(std::slice::from_ref(&finding), ());
        assert_eq!(findings(&text).unwrap(), [finding]);
    }
}
