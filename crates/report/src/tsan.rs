//! Findings as ThreadSanitizer would print them, for tools that read its reports.
//!
//! The shape is the same, line by line; some of what stands there is not known of a finding. The
//! process has the number 0. Frames name their module without an offset. A mutex "was created" where
//! it was taken, which is also what ThreadSanitizer says of one that was never initialised by a call.
//! Failures, which ThreadSanitizer does not know, look like races of that name.

use std::fmt::Write;

use crate::finding::{Access, Finding, Frame, Kind, Lock, Memory, Object, Thread};
use crate::text::printable;

const RULER: &str = "==================\n";

/// All findings, and how many there are.
///
/// ```
/// assert_eq!(deadheat_report::tsan::report(&[]), "");
/// ```
pub fn report(findings: &[Finding]) -> String {
    let mut out: String = findings.iter().map(warning).collect();
    if !findings.is_empty() {
        let _ = writeln!(out, "ThreadSanitizer: reported {} warnings", findings.len());
    }
    out
}

fn warning(finding: &Finding) -> String {
    let what = match finding.kind {
        Kind::Race => "data race",
        Kind::Deadlock => "lock-order-inversion (potential deadlock)",
        Kind::Failure => "failure",
    };
    let mutexes = Mutexes::of(finding);
    let sides = latest_first(finding);
    let mut out = format!("{RULER}WARNING: ThreadSanitizer: {what} (pid=0)\n");
    match finding.kind {
        Kind::Deadlock => cycle(&mut out, &sides, &mutexes),
        _ => accesses(&mut out, &sides, &mutexes),
    }
    if let Some(object) = &finding.object {
        location(&mut out, object);
    }
    if finding.kind != Kind::Deadlock {
        mutexes.created(&mut out);
    }
    threads(&mut out, &finding.accesses);
    let place = sides.first().map(|access| access.place.clone());
    let place = place.unwrap_or_default();
    let function = printable(place.function.as_deref().unwrap_or("??"));
    let at = printable(&source(&place));
    let _ = writeln!(out, "SUMMARY: ThreadSanitizer: {what} {at} in {function}");
    out + RULER
}

/// The sides, that of a race first which came later in the run.
fn latest_first(finding: &Finding) -> Vec<&Access> {
    let mut sides: Vec<&Access> = finding.accesses.iter().collect();
    if finding.kind == Kind::Race {
        sides.sort_by_key(|access| std::cmp::Reverse(access.index));
    }
    sides
}

/// The sides of a race.
fn accesses(out: &mut String, sides: &[&Access], mutexes: &Mutexes) {
    for (i, access) in sides.iter().enumerate() {
        let op = operation(&access.op);
        let op = match i {
            0 => capital(&op),
            _ => format!("Previous {op}"),
        };
        let by = by(&access.thread);
        let held = mutexes.held(&access.locks);
        let (size, address) = (access.size, access.address);
        let _ = writeln!(out, "  {op} of size {size} at {address:#x} by {by}{held}:");
        stack(out, &access.stack);
    }
}

/// The sides of a deadlock: which lock is asked for while which is held.
fn cycle(out: &mut String, sides: &[&Access], mutexes: &Mutexes) {
    out.push_str("  Cycle in lock order graph:");
    let asked = sides.iter();
    let asked = asked.filter_map(|access| access.waits_for.as_ref());
    for lock in asked.clone() {
        let _ = write!(out, " {} ({:#x}) =>", mutexes.name(lock), lock.address);
    }
    let first = asked.clone().next().map(|lock| mutexes.name(lock));
    let _ = writeln!(out, " {}\n", first.unwrap_or_default());
    for access in sides {
        let by = by(&access.thread);
        let wanted = access.waits_for.as_ref();
        let wanted = wanted.map_or_else(|| "M?".to_owned(), |lock| mutexes.name(lock));
        let held: Vec<String> = access.locks.iter().map(|lock| mutexes.name(lock)).collect();
        let held = match held.is_empty() {
            true => String::new(),
            false => format!(" while holding mutex {}", held.join(", ")),
        };
        let _ = writeln!(out, "  Mutex {wanted} acquired here{held} in {by}:");
        stack(out, &access.stack);
    }
}

fn location(out: &mut String, object: &Object) {
    match &object.memory {
        Memory::Global { variable, .. } => {
            let name = printable(variable);
            let _ = writeln!(
                out,
                "  Location is global '{name}' of size {} at {:#x}\n",
                object.size, object.address
            );
        }
        Memory::Heap {
            start,
            length,
            thread,
            allocated_at,
            ..
        } => {
            let by = match &*printable(thread) {
                "main" => "main thread".to_owned(),
                name => format!("thread {name}"),
            };
            let _ = writeln!(
                out,
                "  Location is heap block of size {length} at {start:#x} allocated by {by}:"
            );
            stack(out, allocated_at);
        }
        Memory::Stack { thread } => {
            let thread = printable(thread);
            let _ = writeln!(out, "  Location is stack of thread {thread}.\n");
        }
        Memory::Variable | Memory::Unknown => {}
    }
}

/// Where the threads were created, each once.
fn threads(out: &mut String, accesses: &[Access]) {
    let mut told = Vec::new();
    for thread in accesses.iter().map(|access| &access.thread) {
        if thread.number == 0 || told.contains(&thread.number) {
            continue;
        }
        told.push(thread.number);
        let number = thread.number;
        let own = printable(&thread.name);
        let name = match own == format!("T{number}") {
            true => String::new(),
            false => format!(" '{own}'"),
        };
        let parent = match thread.parent {
            Some(0) | None => "main thread".to_owned(),
            Some(parent) => format!("thread T{parent}"),
        };
        let _ = writeln!(
            out,
            "  Thread T{number}{name} (tid={number}, running) created by {parent} at:"
        );
        stack(out, &thread.created_at);
    }
}

/// A stack and an empty line.
fn stack(out: &mut String, frames: &[Frame]) {
    for (i, frame) in frames.iter().enumerate() {
        let function = printable(frame.function.as_deref().unwrap_or("<null>"));
        let at = printable(&source(frame));
        let module = frame.module.as_deref().map(printable);
        let module = module.map_or(String::new(), |module| format!(" ({module})"));
        let _ = writeln!(out, "    #{i} {function} {at}{module}");
    }
    if frames.is_empty() {
        out.push_str("    [failed to restore the stack]\n");
    }
    out.push('\n');
}

/// `file:line:column`, as far as it is known.
fn source(frame: &Frame) -> String {
    let mut text = frame.file.clone().unwrap_or_else(|| "<null>".to_owned());
    if let Some(line) = frame.line {
        let _ = write!(text, ":{line}");
        if let Some(column) = frame.column {
            let _ = write!(text, ":{column}");
        }
    }
    text
}

/// `read`, `write`, `atomic read`, `atomic write`: what is neither changes memory.
fn operation(op: &str) -> String {
    let is_read = op.ends_with("read");
    let op_name = if is_read { "read" } else { "write" };
    match op.starts_with("atomic") {
        true => format!("atomic {op_name}"),
        false => op_name.to_owned(),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

fn by(thread: &Thread) -> String {
    match thread.number {
        0 => "main thread".to_owned(),
        number => format!("thread T{number}"),
    }
}

/// The locks of a finding, numbered as they come.
struct Mutexes<'a> {
    locks: Vec<&'a Lock>,
}

impl<'a> Mutexes<'a> {
    fn of(finding: &'a Finding) -> Self {
        let mut locks: Vec<&Lock> = Vec::new();
        for access in &finding.accesses {
            for lock in access.locks.iter().chain(&access.waits_for) {
                if !locks.iter().any(|known| is_same(known, lock)) {
                    locks.push(lock);
                }
            }
        }
        Mutexes { locks }
    }

    fn name(&self, lock: &Lock) -> String {
        let at = self.locks.iter().position(|known| is_same(known, lock));
        at.map_or_else(String::new, |at| format!("M{at}"))
    }

    /// ` (mutexes: write M0, read M1)`.
    fn held(&self, locks: &[Lock]) -> String {
        let told = locks.iter().map(|lock| {
            let mode = if lock.read { "read" } else { "write" };
            format!("{mode} {}", self.name(lock))
        });
        match locks.is_empty() {
            true => String::new(),
            false => format!(" (mutexes: {})", told.collect::<Vec<_>>().join(", ")),
        }
    }

    fn created(&self, out: &mut String) {
        for lock in &self.locks {
            let (name, address) = (self.name(lock), lock.address);
            let _ = writeln!(out, "  Mutex {name} ({address:#x}) created at:");
            stack(out, &lock.acquired_at);
        }
    }
}

fn is_same(a: &Lock, b: &Lock) -> bool {
    a.name == b.name && a.address == b.address
}
