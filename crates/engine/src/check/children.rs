//! Processes that the program has started: their recordings are analysed like its own.

use std::path::PathBuf;

use deadheat_analysis::analysis::Analysis;
use deadheat_analysis::ways;
use deadheat_report::Rung;
use deadheat_session::terminal::counted;

use super::Check;

/// How many of them are looked at: some programs start very many.
const MOST: usize = 64;

/// Why their schedules are not enforced.
const WHY: &str = "it happened in a process that the program has started, and schedules are enforced on the program itself";

impl Check<'_> {
    /// Adds what the recordings of other processes show.
    pub(super) fn take_in_children(&self, traces: &[PathBuf], into: &mut Analysis) {
        for trace in traces.iter().take(MOST) {
            let mut analysis = match self.shown(trace) {
                Ok(analysis) => analysis,
                Err(error) => {
                    let shown = trace.display();
                    into.remarks
                        .push(format!("{shown} was not analysed: {}", error.what()));
                    continue;
                }
            };
            analysis
                .findings
                .retain(|finding| !self.suppressions.match_finding(finding));
            for finding in &mut analysis.findings {
                if finding.rung == Rung::Witness {
                    finding.not_enforced = Some(WHY.to_owned());
                }
            }
            ways::tell(
                trace,
                &analysis.runs,
                &mut analysis.findings,
                &mut analysis.remarks,
            );
            // Figures are about the program itself.
            analysis.runs.clear();
            into.take_in(analysis);
        }
        if let Some(left) = traces.len().checked_sub(MOST).filter(|left| *left > 0) {
            let more = counted(left as u64, "recording");
            into.remarks
                .push(format!("{more} of other processes were not analysed"));
        }
    }
}
