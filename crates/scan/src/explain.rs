//! Everything about one warning: what a person asks who does not believe it.

use std::fmt::Write;

use anstyle::Style;
use deadheat_report::text::{self, Look};
use deadheat_report::{Finding, own_place};

use crate::pairs::deadlocks::Cycle;
use crate::pairs::ruled_out::{self, RuledOut, Why};
use crate::pairs::{Done, Pair, Root};
use crate::path::{Base, PathId, Site};
use crate::rank::{self, Reason};
use crate::sharing::{self, Origin, Reach};
use crate::summary::Deed;
use crate::told::Teller;

const HEAD: Style = Style::new().bold();

/// How many lines of a kind are shown.
const LISTED: usize = 12;

/// With all functions.
fn all() -> Look {
    Look::of_terminal(true)
}

/// All about a possible race.
pub fn race(
    teller: &mut Teller,
    (roots, done): (&[Root], &[Done]),
    pair: &Pair,
    finding: &Finding,
    reasons: &[Reason],
) -> String {
    let mut out = text::finding(finding, &all());
    let names: Vec<String> = finding
        .accesses
        .iter()
        .map(|access| format!("{} in {}", access.op, access.thread.name))
        .collect();
    section(
        &mut out,
        "why it is shared",
        &shared(teller, roots, &pair.deeds[0]),
    );
    section(
        &mut out,
        "acquisition histories",
        &histories(teller, pair.deeds.iter().map(|deed| &**deed), &names),
    );
    let weighed = |reason: &Reason| format!("{:>+3}  {}", reason.weight, reason.told);
    let head = format!("rank {:+}", rank::rank(reasons));
    let told: Vec<String> = reasons.iter().map(weighed).collect();
    section(&mut out, &head, &told);
    let others = ruled_out::beside(&mut teller.analysis, done, pair);
    let mut told: Vec<String> = Vec::new();
    for other in &others {
        let line = ruled_out_told(teller, other);
        if !told.contains(&line) {
            told.push(line);
        }
    }
    if told.is_empty() {
        told.push("none".to_owned());
    }
    section(&mut out, "pairs on it that are ruled out", &told);
    out
}

/// All about a possible deadlock.
pub fn deadlock(teller: &mut Teller, cycle: &Cycle, finding: &Finding) -> String {
    let mut out = text::finding(finding, &all());
    let mut told = Vec::new();
    for ((access, deed), holds) in finding.accesses.iter().zip(&cycle.deeds).zip(&cycle.holds) {
        let holds = named(teller, *holds);
        let takes = deed.path.map(|path| named(teller, path));
        let takes = takes.unwrap_or_else(|| "a lock".to_owned());
        let thread = &access.thread.name;
        let at = access.place.at();
        told.push(format!("{thread} holds {holds} and takes {takes} at {at}"));
    }
    section(&mut out, "the cycle", &told);
    let names: Vec<String> = finding
        .accesses
        .iter()
        .map(|access| access.thread.name.clone())
        .collect();
    let deeds = cycle.deeds.iter().map(|deed| &**deed);
    let told = histories(teller, deeds, &names);
    section(&mut out, "acquisition histories", &told);
    out
}

fn section(out: &mut String, head: &str, lines: &[String]) {
    let _ = writeln!(out, "  {HEAD}{head}:{HEAD:#}");
    for line in &lines[..lines.len().min(LISTED)] {
        let _ = writeln!(out, "    {}", text::printable(line));
    }
    if lines.len() > LISTED {
        let _ = writeln!(out, "    and {} more", lines.len() - LISTED);
    }
}

/// How threads come to the memory of an access.
fn shared(teller: &mut Teller, roots: &[Root], deed: &Deed) -> Vec<String> {
    let Some(target) = deed.target else {
        return vec!["what it points at is not known".to_owned()];
    };
    let origins = sharing::origins(&mut teller.analysis, roots, target.class);
    // Of a global variable's own name nothing else needs to be said.
    if let Some(path) = deed.path
        && let Base::Global(global) = teller.analysis.paths.origin(path)
        && !teller.analysis.paths.loads(path)
    {
        return vec![told_origin(teller, Reach::Itself, Origin::Global(global))];
    }
    let told: Vec<String> = origins
        .into_iter()
        .map(|(reach, origin)| told_origin(teller, reach, origin))
        .collect();
    match told.is_empty() {
        true => vec!["its address is handed to code that is not known".to_owned()],
        false => told,
    }
}

fn told_origin(teller: &Teller, reach: Reach, origin: Origin) -> String {
    let program = teller.analysis.program;
    let what = match origin {
        Origin::Global(global) => {
            let global = program.global(global);
            let at = global.place.map(|place| teller.analysis.told(place));
            let at = at.map_or_else(String::new, |at| format!(", declared at {at}"));
            format!("the global variable {}{at}", global.shown)
        }
        Origin::Thread(site) => format!("what a thread is given at {}", at(teller, site)),
        Origin::Parameter(root, number) => {
            let function = program.function(root);
            format!(
                "argument {} of {}, which others may call",
                number + 1,
                function.shown
            )
        }
    };
    match reach {
        Reach::Itself => format!("it is {what}"),
        Reach::Through => format!("pointers lead to it from {what}"),
    }
}

/// Since when each lock is held, and what was taken since.
fn histories<'d>(
    teller: &Teller,
    deeds: impl Iterator<Item = &'d Deed>,
    names: &[String],
) -> Vec<String> {
    let mut told = Vec::new();
    for (deed, name) in deeds.zip(names) {
        if deed.moment.held.is_empty() {
            told.push(format!("{name}: no lock is held"));
        }
        for held in &deed.moment.held {
            let lock = named(teller, held.lock);
            let place = at(teller, held.at);
            let since: Vec<String> = held.since.iter().map(|lock| named(teller, *lock)).collect();
            let since = match since.is_empty() {
                true => "nothing".to_owned(),
                false => since.join(", "),
            };
            told.push(format!(
                "{name}: {lock}, taken at {place}; since then {since} was taken"
            ));
        }
    }
    told
}

fn named(teller: &Teller, lock: PathId) -> String {
    teller.analysis.lock_name(lock)
}

fn at(teller: &Teller, site: Site) -> String {
    own_place(&teller.frames(site)).told()
}

fn ruled_out_told(teller: &Teller, other: &RuledOut) -> String {
    let [one, two] = [0, 1].map(|side| {
        let op = match other.writes[side] {
            true => "write",
            false => "read",
        };
        format!("{op} in {}", at(teller, other.sites[side]))
    });
    let why = match other.why {
        Why::Lock(lock) => format!("both hold {}", named(teller, lock)),
        Why::Histories([left, right]) => format!(
            "each has taken the other's lock since its own ({}, {})",
            named(teller, left),
            named(teller, right)
        ),
        Why::Order => "something orders them (a condition, a barrier, what runs once)".to_owned(),
        Why::Threads => "their threads do not run at the same time".to_owned(),
    };
    format!("{one} and {two}: {why}")
}
