//! Findings for the terminal.

use std::fmt::Write;

use anstyle::{AnsiColor, Color, Style};

use crate::finding::{Access, Consequence, Finding, Frame, Kind, Lock, Memory, Rung, Thread};

const HEAD: Style = Style::new()
    .bold()
    .fg_color(Some(Color::Ansi(AnsiColor::Red)));
const MILD: Style = Style::new()
    .bold()
    .fg_color(Some(Color::Ansi(AnsiColor::Yellow)));
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Frames that are shown of a long stack: the innermost, and the outermost.
const INNERMOST: usize = 20;
const OUTERMOST: usize = 3;

/// A finding in a few lines.
pub fn finding(finding: &Finding) -> String {
    let mut out = String::new();
    head(&mut out, finding);
    for access in &finding.accesses {
        side(&mut out, access);
    }
    if let Some(object) = &finding.object {
        let name = printable(&object.name);
        match &object.memory {
            Memory::Global {
                declared: Some(at), ..
            } => line(
                &mut out,
                format_args!("{name} is a global variable, declared at {at}"),
            ),
            Memory::Global { .. } => line(&mut out, format_args!("{name} is a global variable")),
            Memory::Heap {
                start,
                length,
                offset,
                thread,
                allocated_at,
            } => {
                line(
                    &mut out,
                    format_args!(
                        "byte {offset} of a heap block of {length} bytes at {start:#x}, allocated by {}:",
                        printable(thread)
                    ),
                );
                frames(&mut out, allocated_at, false);
            }
            Memory::Stack { thread } => {
                let thread = printable(thread);
                line(
                    &mut out,
                    format_args!("{:#x} lies on the stack of {thread}", object.address),
                );
            }
            Memory::Variable | Memory::Unknown => {}
        }
    }
    let mut told: Vec<u32> = Vec::new();
    for access in &finding.accesses {
        if !told.contains(&access.thread.number) {
            told.push(access.thread.number);
            created(&mut out, &access.thread);
        }
    }
    if let Some(consequence) = &finding.consequence {
        endings(&mut out, finding, consequence);
    }
    if let Some(witness) = &finding.witness {
        let _ = writeln!(out, "  {BOLD}witness:{BOLD:#} {}", printable(witness));
    }
    if let Some(why) = &finding.not_enforced {
        let _ = writeln!(out, "  {BOLD}not enforced:{BOLD:#} {}", printable(why));
    }
    if let Some(replay) = &finding.replay {
        let _ = writeln!(out, "  {BOLD}replay:{BOLD:#} {}", printable(replay));
    }
    if let Some(told) = &finding.in_run {
        let _ = writeln!(out, "  {BOLD}in this run:{BOLD:#} {}", printable(told));
    }
    for reason in &finding.reasons {
        let _ = writeln!(out, "  because {}", printable(reason));
    }
    for hint in &finding.hints {
        let _ = writeln!(out, "  {BOLD}hint:{BOLD:#} {}", printable(hint));
    }
    out
}

/// What follows from it.
fn endings(out: &mut String, finding: &Finding, consequence: &Consequence) {
    let values: Vec<Option<u64>> = consequence
        .endings
        .iter()
        .map(|ending| ending.value)
        .collect();
    let decides = values.windows(2).any(|pair| pair[0] != pair[1]) && !values.contains(&None);
    for ending in &consequence.endings {
        let first = match ending.order.as_str() {
            "ab" => finding.accesses.first(),
            "ba" => finding.accesses.get(1),
            _ => None,
        };
        let who = first.map_or_else(
            || "from here".to_owned(),
            |access| {
                let thread = printable(&access.thread.name);
                format!("{thread} first ({} at {})", access.op, access.place.at())
            },
        );
        let mut told = printable(&ending.told);
        if let (Some(value), Some(object), true) = (ending.value, &finding.object, decides) {
            let _ = write!(told, "; {} is {value} then", printable(&object.name));
        }
        let _ = writeln!(out, "  {BOLD}{who}:{BOLD:#} the program {told}");
        if let Some(message) = &ending.message {
            let _ = writeln!(out, "    {DIM}{}{DIM:#}", printable(message));
        }
    }
    if !consequence.differs.is_empty() {
        line(
            out,
            format_args!("the order decides {}", consequence.differs.join(" and ")),
        );
    }
}

fn head(out: &mut String, finding: &Finding) {
    let style = match finding.rung {
        Rung::Warning => MILD,
        _ => HEAD,
    };
    let what = match (finding.kind, finding.rung) {
        (Kind::Race, Rung::Warning) => "possible race",
        (Kind::Race, Rung::Confirmed) => "confirmed race",
        (Kind::Race, _) => "race",
        (Kind::Deadlock, Rung::Warning) => "possible deadlock",
        (Kind::Deadlock, Rung::Confirmed) => "confirmed deadlock",
        (Kind::Deadlock, _) => "deadlock",
        (Kind::Failure, Rung::Confirmed) => "confirmed failure",
        (Kind::Failure, _) => "failure",
    };
    let _ = write!(out, "{style}{what}{style:#}");
    if let Some(object) = &finding.object {
        let _ = write!(out, " on {BOLD}{}{BOLD:#}", printable(&object.name));
    }
    if finding.kind == Kind::Deadlock {
        let _ = match finding.accesses.len() {
            1 => write!(out, ": a wait that nobody ends"),
            threads => write!(out, " of {threads} threads"),
        };
    }
    let method = &finding.method;
    let times = match finding.count {
        0 | 1 => String::new(),
        count => format!(", {count} times"),
    };
    let _ = writeln!(out, " {DIM}({method}{times}) [{}]{DIM:#}", finding.id);
}

fn side(out: &mut String, access: &Access) {
    let thread = printable(&access.thread.name);
    let op = &access.op;
    match (&access.waits_for, access.size) {
        (Some(lock), _) => {
            let name = printable(&lock.name);
            let _ = writeln!(
                out,
                "  {BOLD}{thread}{BOLD:#} waits for {BOLD}{name}{BOLD:#} ({op}):"
            );
        }
        (None, 0) => drop(writeln!(out, "  {BOLD}{op}{BOLD:#} by {thread}:")),
        (None, 1) => drop(writeln!(out, "  {BOLD}{op}{BOLD:#} of 1 byte by {thread}:")),
        (None, size) => drop(writeln!(
            out,
            "  {BOLD}{op}{BOLD:#} of {size} bytes by {thread}:"
        )),
    }
    frames(out, &access.stack, access.folded);
    match &access.locks[..] {
        [] => drop(writeln!(out, "    holding no lock")),
        locks => locks.iter().for_each(|lock| held(out, lock)),
    }
}

fn held(out: &mut String, lock: &Lock) {
    let name = printable(&lock.name);
    let mode = match lock.read {
        true => " for reading",
        false => "",
    };
    let place = crate::own_place(&lock.acquired_at);
    let at = match lock.acquired_at.is_empty() {
        true => String::new(),
        false => format!(", taken at {}", printable(&place.told())),
    };
    let _ = writeln!(out, "    holding {BOLD}{name}{BOLD:#}{mode}{at}");
}

fn frames(out: &mut String, stack: &[Frame], folded: bool) {
    for (i, frame) in stack.iter().enumerate() {
        if i == INNERMOST && stack.len() > INNERMOST + OUTERMOST {
            let left_out = stack.len() - INNERMOST - OUTERMOST;
            let _ = writeln!(out, "      {DIM}... {left_out} more{DIM:#}");
        }
        if i >= INNERMOST && i + OUTERMOST < stack.len() {
            continue;
        }
        let function = printable(frame.function.as_deref().unwrap_or("??"));
        let at = printable(&frame.at());
        let inlined = match frame.inlined {
            true => " (inlined)",
            false => "",
        };
        let _ = match frame.function.is_none() && !at.is_empty() {
            true => writeln!(out, "      {at}{DIM}{inlined}{DIM:#}"),
            false => writeln!(out, "      {function} {at}{DIM}{inlined}{DIM:#}"),
        };
    }
    if folded {
        let _ = writeln!(out, "      {DIM}(calls of a recursion are left out){DIM:#}");
    }
}

fn created(out: &mut String, thread: &Thread) {
    let name = printable(&thread.name);
    let by = match thread.parent {
        Some(parent) => format!(" by T{parent}"),
        None => String::new(),
    };
    if !thread.created_at.is_empty() {
        let place = crate::own_place(&thread.created_at);
        let told = printable(&place.told());
        line(out, format_args!("{name} was created{by} at {told}"));
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "  {text}");
}

/// Text of the program's without characters that a terminal would obey.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|char| if char.is_control() { '\u{FFFD}' } else { char })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::{Finding, Kind, Rung};

    #[test]
    fn reasons_cannot_command_the_terminal() {
        let mut finding = Finding::new(Kind::Race, Rung::Warning, "scan", Vec::new());
        finding.reasons = vec!["2 of 3 accesses hold \u{1b}[2Jlock".to_owned()];
        let told = super::finding(&finding);
        assert!(told.contains("because 2 of 3 accesses hold"), "{told}");
        assert!(!told.contains("\u{1b}[2J"), "{told}");
    }
}
