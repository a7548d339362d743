//! The forms in which findings are written.

use deadheat_report::text::Look;
use deadheat_report::{Finding, chrome, json, junit, sarif, text, tsan};
use serde::Serialize;

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs: one object, which `deadheat report` reads again.
    Json,
    /// For code hosts and editors: SARIF 2.1.0.
    Sarif,
    /// What ThreadSanitizer would print, for tools that read that.
    Tsan,
    /// For build servers: JUnit's XML, one failed test per finding.
    Junit,
    /// The way to each finding as a trace for chrome://tracing and ui.perfetto.dev.
    Chrome,
}

impl Format {
    /// Whether it is for people, who want to know more than the findings.
    pub fn is_text(self) -> bool {
        self == Format::Text
    }

    /// All findings in this form. The figures go with JSON only, the look with text.
    pub fn report(self, findings: &[Finding], figures: impl Serialize, look: &Look) -> String {
        match self {
            Format::Text => text::findings(findings, look).join("\n"),
            Format::Json => json::report(findings, figures) + "\n",
            Format::Sarif => sarif::report(findings, env!("CARGO_PKG_VERSION")) + "\n",
            Format::Tsan => tsan::report(findings),
            Format::Junit => junit::report(findings),
            Format::Chrome => chrome::report(findings) + "\n",
        }
    }
}
