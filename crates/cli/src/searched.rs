//! What is said about a search.

use std::time::Duration;

use deadheat_engine::explore::warnings::{Settled, Verdict};
use deadheat_engine::explore::whole::Explored;
use deadheat_explore::search::Progress;
use deadheat_session::terminal::{BAD, BOLD, GOOD, count, counted, duration, say, styled};
use deadheat_wire::explore::effect;

/// How much was done: `153 executions (2041 per second), 1204 states`.
pub fn amount(progress: &Progress, took: Duration) -> String {
    let rate = progress.executions as f64 / took.as_secs_f64().max(1e-6);
    format!(
        "{} in {} ({rate:.0} per second), {}",
        counted(progress.executions, "execution"),
        duration(took),
        counted(progress.states, "state"),
    )
}

/// How many executions were cut off at states that are known, if any were.
pub fn revisits(progress: &Progress) -> Option<String> {
    let cut = counted(progress.cut, "execution");
    match (progress.hidden, progress.cut) {
        (true, _) => Some(format!(
            "{cut}, and none any more: there is more to the program's states than its threads show"
        )),
        (false, 0) => None,
        (false, _) => Some(format!("{cut} at states that were known")),
    }
}

/// How much of what there is: everything, or what was left out.
pub fn extent(explored: &Explored) -> String {
    let cuts = explored.outcome.cuts.iter().map(ToString::to_string);
    let unsettled = explored.unsettled.len() as u64;
    let open = (unsettled > 0).then(|| format!("{} unconfirmed", count(unsettled)));
    let left_out: Vec<String> = cuts.chain(open).collect();
    match left_out.is_empty() {
        true => "all orders that can be told apart".to_owned(),
        false => format!("not everything: {}", left_out.join("; ")),
    }
}

/// What the program does to the world outside.
pub fn effects(bits: u32) -> Vec<&'static str> {
    let kinds = [
        (effect::FILES, "it changes files"),
        (effect::SOCKETS, "it uses sockets"),
        (effect::PROCESSES, "it starts or signals processes"),
        (
            effect::READING,
            "it reads from a terminal, a pipe or a socket",
        ),
        (
            effect::WAITING,
            "it waits for signals, or for other processes or threads of the C library",
        ),
        (
            effect::SHARING,
            "it uses queues, semaphores or file locks of the system",
        ),
    ];
    let those = kinds.into_iter().filter(|(bit, _)| bits & bit != 0);
    those.map(|(_, told)| told).collect()
}

/// What became of warnings, a line each.
pub fn warnings(settled: &[Settled]) {
    for one in settled {
        let finding = &one.finding;
        let what = match &one.verdict {
            Verdict::Confirmed if one.by_extension => {
                styled(BAD, "confirmed by extending the recorded run")
            }
            Verdict::Confirmed => styled(BAD, "confirmed"),
            Verdict::Refuted => styled(GOOD, "refuted within bounds"),
            Verdict::Impossible => styled(GOOD, "refuted: no schedule has it"),
            Verdict::Inconclusive(why) => format!("inconclusive ({why})"),
        };
        let object = finding.object.as_ref();
        let on = object.map_or_else(String::new, |object| format!(" on {}", object.name));
        anstream::println!(
            "possible race{} [{}]: {what}; {} from {} in {}",
            styled(BOLD, on),
            finding.id,
            counted(one.executions, "execution"),
            counted(one.prefixes, "recorded run"),
            duration(one.took),
        );
        for effect in effects(one.effects) {
            say(format_args!("{effect}; none of that left the search"));
        }
    }
}
