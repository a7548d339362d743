//! How fast prediction is: one pair at a time, next to Z3 with the formula of the paper that the model is from; and
//! whole traces.

#[path = "../../../crates/predict/tests/oracle/formula.rs"]
mod formula;
mod growth;
mod pairs;
mod whole;
mod z3;

use std::fmt::Write;

use deadheat_bench::runs::Run;

/// Measures everything and renders it.
pub fn measure() -> Result<String, String> {
    let mut text = String::new();
    // Whole traces first: the memory that a process has had at most cannot shrink for good.
    let whole = whole::measure()?;
    let pairs = pairs::measure()?;
    let growth = growth::measure();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "## Prediction\n\nThe traces are generated (`bench/src/runs.rs`), with values and branches: threads that are forked and joined, \
         critical\nsections that nest up to four deep, a tenth of the tasks without a lock where nothing else is said.\n"
    );
    let _ = pairs::write(&mut text, &pairs);
    let _ = whole::write(&mut text, &whole);
    let _ = growth::write(&mut text, &growth);
    Ok(text)
}

/// What a run is like, for readers.
fn name(run: &Run) -> String {
    let events = match run.events {
        events if events % 1_000_000 == 0 => format!("{} M", events / 1_000_000),
        events => format!("{} K", events / 1000),
    };
    format!(
        "{events} events, {} threads, {} locks, {} variables",
        run.threads, run.locks, run.variables
    )
}

/// A time, readable.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// The one below which a share of the numbers lies; they must be sorted.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let at = (last as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or_default()
}
