//! What `deadheat check` says: about the run, its trace, and what was found.

use deadheat_analysis::analysis::Analysis;
use deadheat_engine::check::{Others, Verified};
use deadheat_engine::explore::whole::Explored;
use deadheat_engine::scanned::Outcome;
use deadheat_report::text::{self, Look};
use deadheat_report::{Finding, Kind, Rung};
use deadheat_run::input;
use deadheat_run::recorder::Recorded;
use deadheat_session::terminal::{BAD, BOLD, count, counted, say, styled};
use deadheat_trace::Op;
use deadheat_trace::stats::Stats;

use super::super::search;
use super::super::trace::verify;
use crate::searched;

/// Says what one of several runs has brought.
pub(super) fn run(number: usize, runs: u32, orders: u64, known: &[Finding], found: &[Finding]) {
    let is_new = |finding: &&Finding| {
        finding.rung != Rung::Warning && !known.iter().any(|known| known.id == finding.id)
    };
    let findings = found.iter().filter(is_new).count() as u64;
    say(format_args!(
        "run {} of {runs}: {}, {}",
        number + 1,
        counted(findings, "new finding"),
        counted(orders, "new synchronisation order"),
    ));
}

/// Prints how a run went, and what is in its trace (of several, only the first).
pub(super) fn verified(recorded: &Recorded, verified: &Verified, is_first: bool) {
    if !is_first {
        recorded.tell(true);
        return;
    }
    let checked = &verified.report;
    recorded.tell(false);
    anstream::print!("{}", table(&verified.stats, checked.mismatches));
    anstream::println!("{:<16}{}", "verification", verify::summary(checked));
    for violation in checked.violations.iter().take(5) {
        anstream::println!("  {}", violation.describe(&verified.tables));
    }
    let deadlock = match recorded.deadlocked {
        true => styled(BAD, "this run ended in one"),
        false => "no".to_owned(),
    };
    anstream::println!("{:<16}{deadlock}", "deadlocked");
}

/// Prints what was found; how many findings there are that are more than suspicious.
pub(super) fn findings(
    analysis: &Analysis,
    others: Option<&Others>,
    scan: Option<&Outcome>,
    (warnings, look): (bool, &Look),
) -> usize {
    let (suspicious, sure): (Vec<&Finding>, Vec<&Finding>) = analysis
        .findings
        .iter()
        .partition(|finding| finding.rung == Rung::Warning);
    let kinds = [
        (Kind::Race, "data races"),
        (Kind::Deadlock, "deadlocks"),
        (Kind::Failure, "failures"),
    ];
    for (kind, name) in kinds {
        let of_kind = sure.iter().filter(|finding| finding.kind == kind);
        if kind == Kind::Failure && of_kind.clone().next().is_none() {
            continue;
        }
        let told = match of_kind.clone().count() as u64 {
            0 => "none".to_owned(),
            many => {
                let on = |rung: Rung| {
                    let those = of_kind.clone().filter(|finding| finding.rung == rung);
                    those.count() as u64
                };
                let (seen, sure) = (on(Rung::Observed), on(Rung::Confirmed));
                let rungs = [
                    (sure, "confirmed"),
                    (many - seen - sure, "with a witness"),
                    (seen, "seen in this run only"),
                ];
                let rungs = rungs.into_iter().filter(|(count, _)| *count > 0);
                let rungs: Vec<String> = rungs
                    .map(|(number, what)| format!("{} {what}", count(number)))
                    .collect();
                styled(BAD, rungs.join(", "))
            }
        };
        anstream::println!("{name:<16}{told}");
    }
    let more = match (suspicious.len() as u64, warnings) {
        (0, _) => "none".to_owned(),
        (many, true) => count(many),
        (many, false) => format!("{} (deadheat check --warnings shows them)", count(many)),
    };
    anstream::println!("{:<16}{more}", "warnings");
    if let Some(outcome) = scan {
        anstream::println!("{:<16}{}", "scan", outcome.told());
    }
    if let Some(others) = others {
        orders(others, suspicious.len());
    }
    let shown = if warnings { &suspicious[..] } else { &[] };
    for told in text::findings(sure.iter().chain(shown).copied(), look) {
        anstream::print!("\n{told}");
    }
    input::tell(&analysis.remarks);
    search::tell(analysis);
    sure.len()
}

/// How many other orders were executed, and what that means for the warnings.
fn orders(others: &Others, warnings: usize) {
    let said = match others {
        Others::Searched(others) => return searched(others, warnings),
        Others::Seeds { runs, coverage, .. } => {
            let runs = counted((*runs).into(), "run");
            let seen = coverage.filter(|both| both.pairs > 0).map(|both| {
                let pairs = counted(both.pairs, "pair");
                let seen = count(both.seen);
                format!("; {seen} of {pairs} of lock and atomic operations seen in both orders")
            });
            format!("{runs} with other seeds{}", seen.unwrap_or_default())
        }
        Others::TooLong => "none: one run is longer than the budget allows (--budget)".to_owned(),
    };
    anstream::println!("{:<16}{said}", "other orders");
}

/// The same of a search.
fn searched(others: &Explored, warnings: usize) {
    let executions = counted(others.outcome.progress.executions, "execution");
    let extent = searched::extent(others);
    let refuted = match others.is_complete() {
        true if warnings > 0 => ": none has what is only suspicious",
        _ => "",
    };
    anstream::println!("{:<16}{executions}, {extent}{refuted}", "other orders");
    for what in &others.unsettled {
        anstream::println!("{:<16}{what}", "unconfirmed");
    }
    for effect in searched::effects(others.effects) {
        say(format_args!("{effect}; none of that left the search"));
    }
}

fn table(stats: &Stats, external: u64) -> String {
    let of = |op: Op| stats.by_op.get(&op).copied().unwrap_or(0);
    let atomics = of(Op::AtomicRead) + of(Op::AtomicWrite) + of(Op::AtomicRmw);
    let plain = of(Op::Read) + of(Op::Write);
    let rows = [
        ("threads", count(stats.threads.len() as u64)),
        ("events", count(stats.steps)),
        (
            "accesses",
            format!(
                "{} ({}, {}, {} atomic)",
                count(plain + atomics),
                counted(of(Op::Read), "read"),
                counted(of(Op::Write), "write"),
                count(atomics)
            ),
        ),
        (
            "locks",
            format!(
                "{} ({})",
                count(stats.locks),
                counted(of(Op::Acquire) + of(Op::ReadAcquire), "acquisition")
            ),
        ),
        (
            "shared memory",
            format!(
                "{} of {}",
                count(stats.shared_words),
                counted(stats.words, "word")
            ),
        ),
        ("external writes", count(external)),
    ];
    let lines = rows.map(|(name, value)| format!("{name:<16}{}\n", styled(BOLD, value)));
    lines.concat()
}
