//! The sides of a finding in words: who, by which calls, holding what.

use std::fmt::Write;

use super::printable::{cut, printable};
use super::{BOLD, DIM};
use crate::finding::{Access, Frame, Lock};

/// Frames that are shown of a long stack: the innermost, and the outermost.
const INNERMOST: usize = 20;
const OUTERMOST: usize = 3;
/// So much of a function's name is told in a line.
const NAME: usize = 60;
/// So many calls are told in a line.
const CALLS: usize = 3;

/// Sides whose source lines are shown, a line for all that came there in the same way: in which function, called from where, and who created the threads.
pub fn in_short(out: &mut String, accesses: &[&Access]) {
    let mut ways: Vec<(String, Vec<String>)> = Vec::new();
    for access in accesses {
        let thread = printable(&access.thread.name);
        let told = way(access);
        match ways.iter_mut().find(|(other, _)| *other == told) {
            Some((_, threads)) if threads.contains(&thread) => {}
            Some((_, threads)) => threads.push(thread),
            None => ways.push((told, vec![thread])),
        }
    }
    for (told, threads) in ways.iter().filter(|(told, _)| !told.is_empty()) {
        let threads = match &threads[..] {
            [others @ .., last] if !others.is_empty() => {
                format!("{} and {last}", others.join(", "))
            }
            threads => threads.concat(),
        };
        let _ = writeln!(out, "  {BOLD}{threads}{BOLD:#}{told}");
    }
}

/// How a thread came to a side.
fn way(access: &Access) -> String {
    let at = access.stack.iter().position(|frame| *frame == access.place);
    let (inside, outside) = access.stack.split_at(at.unwrap_or(0));
    let outside = outside.get(1..).unwrap_or_default().iter();
    let is_own = |frame: &&Frame| !frame.is_foreign() && frame.file.is_some();
    let callers: Vec<&Frame> = outside.filter(is_own).collect();
    let mut told = match &access.place.function {
        Some(function) => format!(" in {}", short(function)),
        None => String::new(),
    };
    if let [innermost, others @ ..] = inside {
        let function = innermost.function.as_deref().unwrap_or("??");
        let _ = write!(told, " through {}", short(function));
        if !others.is_empty() {
            let _ = write!(told, " and {} more", others.len());
        }
    }
    for (number, caller) in callers.iter().take(CALLS).enumerate() {
        let word = match number {
            0 => ", called from",
            _ => ", from",
        };
        let told_caller = Frame {
            function: caller.function.as_deref().map(short),
            ..Frame::clone(caller)
        };
        let _ = write!(told, "{word} {}", printable(&told_caller.told()));
    }
    if callers.len() > CALLS {
        let _ = write!(told, " and {} more", callers.len() - CALLS);
    }
    if !access.thread.created_at.is_empty() {
        let place = crate::own_place(&access.thread.created_at);
        let word = match told.is_empty() {
            true => " was created at",
            false => "; created at",
        };
        let _ = write!(told, "{word} {}", printable(&place.told()));
    }
    told
}

/// A function's name; those of templates can be very long.
fn short(function: &str) -> String {
    cut(&printable(function), NAME)
}

/// A side with all that led there.
pub fn in_full(out: &mut String, access: &Access) {
    let thread = printable(&access.thread.name);
    let op = printable(&access.op);
    let _ = match (&access.waits_for, access.size) {
        (Some(lock), _) => {
            let name = printable(&lock.name);
            writeln!(
                out,
                "  {BOLD}{thread}{BOLD:#} waits for {BOLD}{name}{BOLD:#} ({op}):"
            )
        }
        (None, 0) => writeln!(out, "  {BOLD}{op}{BOLD:#} by {thread}:"),
        (None, 1) => writeln!(out, "  {BOLD}{op}{BOLD:#} of 1 byte by {thread}:"),
        (None, size) => writeln!(out, "  {BOLD}{op}{BOLD:#} of {size} bytes by {thread}:"),
    };
    frames(out, &access.stack, access.folded);
    match &access.locks[..] {
        [] if access.op == "panic" => {}
        [] => drop(writeln!(out, "    holding no lock")),
        locks => locks.iter().for_each(|lock| held(out, lock)),
    }
    let thread = &access.thread;
    if !thread.created_at.is_empty() {
        let by = match thread.parent {
            Some(parent) => format!(" by T{parent}"),
            None => String::new(),
        };
        let place = crate::own_place(&thread.created_at);
        let told = printable(&place.told());
        let _ = writeln!(out, "    created{by} at {told}");
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

/// Functions, a line each.
pub fn frames(out: &mut String, stack: &[Frame], folded: bool) {
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
