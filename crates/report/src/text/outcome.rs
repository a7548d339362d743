//! What follows from a finding, in words.

use std::fmt::Write;

use super::printable::{number, printable};
use super::{BOLD, DIM};
use crate::finding::{Consequence, Finding};

/// How the program goes on from it: for a race in either order.
pub fn endings(out: &mut String, finding: &Finding, consequence: &Consequence) {
    let values: Vec<Option<u64>> = consequence
        .endings
        .iter()
        .map(|ending| ending.value)
        .collect();
    let decides = values.windows(2).any(|pair| pair[0] != pair[1]) && !values.contains(&None);
    let _ = writeln!(out, "  {BOLD}what it leads to:{BOLD:#}");
    for ending in &consequence.endings {
        let first = match ending.order.as_str() {
            "ab" => finding.accesses.first(),
            "ba" => finding.accesses.get(1),
            _ => None,
        };
        let who = first.map(|access| {
            let thread = printable(&access.thread.name);
            let at = printable(&access.place.at());
            format!("{thread} first ({} at {at}): ", access.op)
        });
        let who = who.unwrap_or_default();
        let mut told = printable(&ending.told);
        if let (Some(value), Some(object), true) = (ending.value, &finding.object, decides) {
            let value = number(value);
            let _ = write!(told, "; {} is {value} then", printable(&object.name));
        }
        let _ = writeln!(out, "    {who}the program {told}");
        if let Some(message) = &ending.message {
            let _ = writeln!(out, "      {DIM}{}{DIM:#}", printable(message));
        }
    }
    if !consequence.differs.is_empty() {
        let differs = printable(&consequence.differs.join(" and "));
        let _ = writeln!(out, "    the order decides {differs}");
    }
}
