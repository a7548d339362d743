//! Findings for the terminal: what, where, who, how it comes about, what it leads to, what to do.
//!
//! * `snippet`: source lines with the sides marked; `source` reads them.
//! * `sides`: who did it, by which calls.
//! * `groups`: many findings of one variable, in short.
//! * `columns`: the interleaving in a few lines.
//! * `outcome`: what follows.
//! * `printable`: the program's own text, made harmless.

mod columns;
mod groups;
mod look;
mod outcome;
mod printable;
mod sides;
mod snippet;
mod source;

use std::fmt::Write;

use anstyle::{AnsiColor, Color, Style};

use crate::finding::{Access, Evidence, Finding, Kind, Memory, Object, Rung};
pub use groups::findings;
pub use look::Look;
pub(crate) use printable::is_harmful;
pub use printable::printable;

const HEAD: Style = Style::new()
    .bold()
    .fg_color(Some(Color::Ansi(AnsiColor::Red)));
const MILD: Style = Style::new()
    .bold()
    .fg_color(Some(Color::Ansi(AnsiColor::Yellow)));
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// A finding in one line, for those who wait for the report.
pub fn in_a_line(finding: &Finding) -> String {
    let object = finding.object.as_ref();
    let on = object.map_or_else(String::new, |object| format!(" on {}", object.name));
    let places: Vec<String> = finding.accesses.iter().map(|a| a.place.told()).collect();
    let line = format!(
        "{} {}{on}: {} [{}]",
        finding.rung.name(),
        finding.kind.name(),
        places.join(" and "),
        finding.id
    );
    printable(&line)
}

/// A finding in a few lines.
pub fn finding(finding: &Finding, look: &Look) -> String {
    let mut out = String::new();
    head(&mut out, finding);
    let (snippets, shown) = snippet::snippets(finding, look);
    out.push_str(&snippets);
    let sides = finding.accesses.iter().zip(&shown);
    let (short, full): (Vec<_>, Vec<_>) = sides.partition(|(_, shown)| **shown && !look.stacks);
    let short: Vec<&Access> = short.into_iter().map(|(access, _)| access).collect();
    sides::in_short(&mut out, &short);
    for (access, _) in full {
        sides::in_full(&mut out, access);
    }
    if let Some(object) = &finding.object {
        memory(&mut out, object, look);
    }
    if let Some(way) = &finding.interleaving {
        columns::columns(&mut out, finding, way, look);
    }
    if finding.evidence == Some(Evidence::Unordered) {
        let _ = writeln!(
            out,
            "  both accesses happen in this run and nothing orders them; no run was seen with one right after the other"
        );
    }
    if let Some(consequence) = &finding.consequence {
        outcome::endings(&mut out, finding, consequence);
    }
    let said = [
        ("witness", &finding.witness),
        ("not enforced", &finding.not_enforced),
        ("refuted by the program", &finding.refuted),
        ("replay", &finding.replay),
        ("in this run", &finding.in_run),
    ];
    for (name, told) in said {
        if let Some(told) = told {
            let _ = writeln!(out, "  {BOLD}{name}:{BOLD:#} {}", printable(told));
        }
    }
    for reason in &finding.reasons {
        let _ = writeln!(out, "  because {}", printable(reason));
    }
    if let Some(suggestion) = &finding.suggestion {
        let _ = writeln!(out, "  {BOLD}suggestion:{BOLD:#} {}", printable(suggestion));
    }
    for hint in &finding.hints {
        let _ = writeln!(out, "  {BOLD}hint:{BOLD:#} {}", printable(hint));
    }
    out
}

fn head(out: &mut String, finding: &Finding) {
    let style = match finding.rung {
        Rung::Warning => MILD,
        _ => HEAD,
    };
    let rung = match finding.rung {
        Rung::Warning => "possible",
        Rung::Observed => "observed",
        Rung::Witness => "proven",
        Rung::Confirmed => "confirmed",
    };
    let kind = match finding.kind {
        Kind::Race => "race",
        Kind::Deadlock => "deadlock",
        Kind::Failure => "failure",
    };
    let _ = write!(out, "{style}{rung} {kind}{style:#}");
    if let Some(object) = &finding.object {
        let _ = write!(out, " on {BOLD}{}{BOLD:#}", printable(&object.name));
    }
    if finding.kind == Kind::Deadlock {
        let _ = match finding.accesses.len() {
            1 => write!(out, ": a wait that nobody ends"),
            threads => write!(out, " of {threads} threads"),
        };
    }
    let method = printable(&finding.method);
    let times = match finding.count {
        0 | 1 => String::new(),
        count => format!(", {count} times"),
    };
    let id = printable(&finding.id);
    let _ = writeln!(out, " {DIM}({method}{times}) [{id}]{DIM:#}");
}

/// What memory it is.
fn memory(out: &mut String, object: &Object, look: &Look) {
    let name = printable(&object.name);
    let _ = match &object.memory {
        Memory::Global {
            declared: Some(at), ..
        } => writeln!(
            out,
            "  {name} is a global variable, declared at {}",
            printable(at)
        ),
        Memory::Global { .. } => writeln!(out, "  {name} is a global variable"),
        Memory::Heap {
            start,
            length,
            offset,
            thread,
            allocated_at,
        } => {
            let thread = printable(thread);
            let block = format!("byte {offset} of a heap block of {length} bytes");
            match look.stacks || allocated_at.is_empty() {
                true => {
                    let _ = writeln!(out, "  {block} at {start:#x}, allocated by {thread}:");
                    sides::frames(out, allocated_at, false);
                    Ok(())
                }
                false => {
                    let at = printable(&crate::own_place(allocated_at).told());
                    writeln!(out, "  {block}, allocated by {thread} at {at}")
                }
            }
        }
        Memory::Stack { thread } => writeln!(
            out,
            "  {:#x} lies on the stack of {}",
            object.address,
            printable(thread)
        ),
        Memory::Variable | Memory::Unknown => Ok(()),
    };
}
