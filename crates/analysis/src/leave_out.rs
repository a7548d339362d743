//! Functions whose accesses are not recorded: fewer events, in exchange for less certainty.
//!
//! A recording without some accesses lacks what they read and wrote, so a schedule that was derived from it may be one that the program
//! cannot follow. What is proven by it counts only if the program was seen to do it; see [`take_back`]. Synchronisation is always recorded.

use std::ffi::OsString;
use std::path::Path;

use deadheat_code::{Binary, Frame};
use deadheat_report::{Rung, is_foreign};
use deadheat_run::lists;
use deadheat_run::program::Program;
use deadheat_session::error::{Error, Result};
use deadheat_wire::leave_out::{LEAVE_OUT, MAGIC};
use object::{Object, ObjectSection, SectionKind};

use crate::analysis::Analysis;
use crate::marks::is_named;

/// Which functions to leave out.
#[derive(Clone, Debug, Default)]
pub struct LeaveOut {
    /// Only the accesses of these are recorded, if there are any.
    pub only: Vec<String>,
    /// The accesses of these are not recorded.
    pub except: Vec<String>,
}

/// Where the calls return to that announce what is left out: addresses in the program's file, in rising order.
pub struct Accesses(Vec<u64>);

impl LeaveOut {
    /// Whether something is left out.
    pub fn is_some(&self) -> bool {
        !self.only.is_empty() || !self.except.is_empty()
    }

    /// What is left out of a program; `None` if all of it is wanted.
    pub fn accesses(&self, program: &Program) -> Result<Option<Accesses>> {
        if !self.is_some() {
            return Ok(None);
        }
        let mut missing: Vec<&String> = self.only.iter().chain(&self.except).collect();
        let accesses = Accesses::of(program, |frame| {
            frame.function.as_deref().is_some_and(|name| {
                missing.retain(|given| !is_named(name, given));
                !self.wants(name)
            })
        })?;
        if let Some(name) = missing.first() {
            let shown = program.path.display();
            return Err(Error::usage(format!(
                "{shown} has no function {name} with accesses to memory"
            ))
            .help("names are those of the source text, with or without what they are part of (Pool::put, put)"));
        }
        Ok(Some(accesses))
    }

    fn wants(&self, function: &str) -> bool {
        let is_among = |names: &[String]| names.iter().any(|name| is_named(function, name));
        (self.only.is_empty() || is_among(&self.only)) && !is_among(&self.except)
    }
}

/// Where calls in x86-64 code may return to. What only looks like a call does no harm: nothing returns there.
fn returns(code: &[u8]) -> impl Iterator<Item = usize> {
    (5..=code.len()).filter(|at| {
        let is_direct = code[at - 5] == 0xE8;
        let is_indirect = *at >= 6 && code[at - 6..at - 4] == [0xFF, 0x15];
        is_direct || is_indirect
    })
}

impl Accesses {
    /// Those of a program whose place, the innermost that is the program's own, is one of these.
    pub fn of(program: &Program, mut is_left_out: impl FnMut(&Frame) -> bool) -> Result<Self> {
        let path = &program.path;
        let shown = path.display();
        let unread = |error: &dyn std::fmt::Display| {
            Error::not_started(format!("cannot read {shown}: {error}"))
        };
        let bytes = std::fs::read(path).map_err(|error| unread(&error))?;
        let file = object::File::parse(&*bytes).map_err(|error| unread(&error))?;
        let binary = Binary::open(path).map_err(|error| unread(&error))?;
        let mut accesses = Vec::new();
        for section in file.sections() {
            if section.kind() != SectionKind::Text {
                continue;
            }
            let code = section.data().map_err(|error| unread(&error))?;
            for at in returns(code) {
                let address = section.address() + at as u64;
                if !binary.has_hooks(address - 1) {
                    continue;
                }
                let frames = binary.frames(address - 1);
                let own = frames.iter().find(|frame| !is_foreign(frame));
                if own.is_some_and(&mut is_left_out) {
                    accesses.push(address);
                }
            }
        }
        accesses.sort_unstable();
        accesses.dedup();
        Ok(Accesses(accesses))
    }

    /// Writes the list beside a trace; the variable that tells the runtime of it.
    pub fn write(&self, trace: &Path) -> Result<(OsString, OsString)> {
        let path = lists::leave_out(trace);
        let numbers = self.0.iter().flat_map(|address| address.to_le_bytes());
        let bytes: Vec<u8> = MAGIC.into_iter().chain(numbers).collect();
        std::fs::write(&path, bytes).map_err(|error| {
            Error::not_started(format!("cannot write {}: {error}", path.display()))
        })?;
        Ok((LEAVE_OUT.into(), path.into()))
    }
}

/// Of what was found in a recording with gaps: what is only derived becomes a warning. What was seen in the run, and what was confirmed, stays.
pub fn take_back(trace: &Path, analysis: &mut Analysis) {
    if !lists::leave_out(trace).is_file() {
        return;
    }
    let mut count = 0;
    for finding in &mut analysis.findings {
        if finding.rung == Rung::Witness {
            finding.rung = Rung::Warning;
            finding.interleaving = None;
            finding.in_run =
                Some("derived from a recording with gaps, and not confirmed".to_owned());
            count += 1;
        }
    }
    let remark = match count {
        0 => "accesses of some functions were not recorded".to_owned(),
        _ => format!(
            "accesses of some functions were not recorded: {count} that could not be confirmed became warnings"
        ),
    };
    analysis.remarks.push(remark);
}

/// A recording with gaps is not searched: what a search rules out may lie in what was left out.
pub fn refuse(trace: &Path) -> Result<()> {
    match lists::leave_out(trace).is_file() {
        false => Ok(()),
        true => Err(Error::usage(format!(
            "in {} accesses of some functions were not recorded: searching it would settle nothing",
            trace.display()
        ))
        .help("record it again, without --only and --except")),
    }
}
