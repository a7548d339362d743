//! What was found, and what the programs' texts say about it.

use std::fmt::Write;

/// How a finding's signature begins, of which program, and what reading the program says.
const JUDGED: &[(&str, &str, &str)] = &[];

/// A sentence for each finding, in the order of the programs.
pub fn render<'a>(found: impl Iterator<Item = (&'a str, &'a [String])>) -> String {
    let mut text = String::new();
    for (program, findings) in found {
        for finding in findings {
            let judged = JUDGED
                .iter()
                .find(|(of, part, _)| program.starts_with(of) && finding.contains(part));
            let judged = judged.map_or("not judged yet", |(.., judged)| judged);
            let _ = writeln!(text, "- {program}: `{finding}`: {judged}.");
        }
    }
    match text.is_empty() {
        true => text,
        false => format!("\nWhat was found, and what the program's text says about it:\n\n{text}"),
    }
}
