//! What the user should know about the runs of a check, beside what was found.

use deadheat_analysis::analysis::Analysis;
use deadheat_run::recorder::Recorded;
use deadheat_session::terminal::{count, counted, duration};

/// A run that was ended because it took too long, or waited: it may have gone on for ever, or not.
pub fn late(recorded: &Recorded) -> Option<String> {
    if let Some(patience) = recorded.patience {
        return Some(patience.told().to_owned());
    }
    let steps = counted(recorded.contents.events, "event");
    let took = duration(recorded.took);
    recorded.is_cut.then(|| {
        format!(
            "the program was still running after {took} and {steps}, and was ended: what it would \
             have done later was not looked at (--run-time allows more)"
        )
    })
}

/// A deadlock that a run has ended in, and that is not among what was found in it.
pub fn unnamed(recorded: &Recorded, analysis: &Analysis) -> Option<String> {
    (recorded.deadlocked && !analysis.names_own_deadlock()).then(|| {
        "the deadlock that the run ended in is unconfirmed: which waits it consists of was not found \
         out"
        .to_owned()
    })
}

/// The disk has all that a command may write.
pub fn full(runs: u64, of: u64) -> String {
    format!(
        "{} of {} were recorded: together they take what a command may have of the disk \
         (--max-size allows more)",
        count(runs),
        counted(of, "run"),
    )
}

/// What an interrupt has cut short.
pub fn stopped(recording: bool, analysis: bool) -> Vec<String> {
    let recording = recording.then_some(
        "stopped while it was recorded: what the program would have done later was not looked at, \
         and no other orders were tried",
    );
    let analysis = analysis.then_some(
        "stopped while it was analysed: this is what was known by then, and there may be more",
    );
    let all = recording.into_iter().chain(analysis);
    all.map(str::to_owned).collect()
}
