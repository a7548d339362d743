//! Text and traces are two forms of the same: nothing is lost on the way there and back.

mod meaning;
mod random;

use deadheat_trace::text::{self, Flavor};
use deadheat_trace::{Steps, verify};
use meaning::{meaning, write};
use proptest::prelude::*;

proptest! {
    #![proptest_config(random::config())]

    #[test]
    fn traces_survive_text(trace in random::trace()) {
        let once = write(&trace, Flavor::Full);
        let back = text::parse(&once).map_err(|e| TestCaseError::fail(format!("{e}\n{once}")))?;
        prop_assert_eq!(meaning(&back), meaning(&trace), "{}", once);
        // Once numbered by a reader, nothing changes any more, not even the text.
        let twice = write(&back, Flavor::Full);
        prop_assert_eq!(&text::parse(&twice).unwrap(), &back);
    }

    /// Whatever a trace holds, its STD form is STD, and says what it says a second time.
    #[test]
    fn std_is_std(trace in random::trace()) {
        let once = write(&trace, Flavor::Std);
        let back = text::parse_std(&once)
            .map_err(|e| TestCaseError::fail(format!("{e}\n{once}")))?;
        prop_assert_eq!(write(&back, Flavor::Std), once);
    }

    /// STD files of any names go round through the strict reader.
    #[test]
    fn std_files_survive(lines in proptest::collection::vec(std_line("[!-{}~]{1,6}"), 0..30)) {
        let text: String = lines.concat();
        let trace = text::parse_std(&text).unwrap();
        prop_assert_eq!(write(&trace, Flavor::Std), text);
    }

    /// The full reader takes the same files if the names have none of its own characters.
    #[test]
    fn the_full_format_contains_std(
        lines in proptest::collection::vec(std_line("[a-z][A-Za-z0-9_.$@/<>\\[\\]-]{0,5}"), 0..30)
    ) {
        let text: String = lines.concat();
        prop_assert_eq!(text::parse(&text).unwrap(), text::parse_std(&text).unwrap());
    }

    #[test]
    fn json_and_stats_take_everything(trace in random::trace()) {
        let mut out = Vec::new();
        let lines = deadheat_trace::json::write(&mut trace.stream(), &mut out).unwrap();
        prop_assert_eq!(lines, trace.steps.len() as u64);
        for line in out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            serde_json::from_slice::<serde_json::Value>(line).unwrap();
        }
        let stats = deadheat_trace::stats::of(&mut trace.stream()).unwrap();
        prop_assert_eq!(stats.steps, trace.steps.len() as u64);
        prop_assert_eq!(stats.by_op.values().sum::<u64>(), stats.steps);
        prop_assert_eq!(stats.threads.iter().map(|t| t.steps).sum::<u64>(), stats.steps);
        prop_assert!(stats.to_string().ends_with('\n'));
    }

    #[test]
    fn repaired_traces_have_no_mismatch(trace in random::trace()) {
        let report = verify::verify(&mut trace.stream()).unwrap();
        let repaired = verify::repair(trace.stream()).collect_trace().unwrap();
        let added = repaired.steps.len() - trace.steps.len();
        prop_assert_eq!(added as u64, report.mismatches);
        let again = verify::verify(&mut repaired.stream()).unwrap();
        prop_assert_eq!(again.mismatches, 0);
    }
}

/// A line of STD with names of this form.
fn std_line(names: &'static str) -> impl Strategy<Value = String> {
    let thread = "[A-Za-z][A-Za-z0-9_.]{0,3}";
    let op = proptest::sample::select(vec!["acq", "rel", "r", "w", "fork", "join", "begin", "end"]);
    (thread, op, names, thread, any::<i32>()).prop_map(|(thread, op, name, peer, at)| match op {
        "begin" | "end" => format!("{thread}|{op}|{at}\n"),
        "fork" | "join" => format!("{thread}|{op}({peer})|{at}\n"),
        _ => format!("{thread}|{op}({name})|{at}\n"),
    })
}
