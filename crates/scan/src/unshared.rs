//! Functions that touch nothing which another thread can reach: a run need not record what they do to memory.
//!
//! That follows from the classes of memory alone, for all contexts: nothing that the function accesses is in a class which threads share. Where nobody knows what
//! a pointer points at, or what a called function does with what it is given, there is no proof.

use deadheat_report::is_foreign_file;
use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::analysis::Analysis;
use crate::ir::{Callee, FunctionId, Kind, Operand, Program};
use crate::members::accessed;
use crate::path::Site;
use crate::points::ClassId;

/// A function that touches nothing of another thread's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unshared {
    /// Its name as people write it.
    pub function: String,
    /// The file that it is in.
    pub file: String,
}

/// All such functions that access memory, and that are the program's own.
pub fn of(analysis: &mut Analysis) -> Vec<Unshared> {
    let program = analysis.program;
    let mut shared: FxHashSet<ClassId> = analysis.shared.clone();
    shared.extend(given_away(analysis));
    let mut found = Vec::new();
    for id in program.function_ids() {
        let function = program.function(id);
        let Some(place) = function.place else {
            continue;
        };
        let file = &program.files[program.places[place.index()].file.index()];
        if !is_foreign_file(file) && is_unshared(analysis, id, &shared) {
            found.push(Unshared {
                function: function.shown.clone(),
                file: file.clone(),
            });
        }
    }
    found.sort();
    found.dedup();
    found
}

/// What functions are given of which nobody knows what they do with it.
fn given_away(analysis: &mut Analysis) -> FxHashSet<ClassId> {
    let program = analysis.program;
    let mut given = Vec::new();
    for id in program.function_ids() {
        for (site, kind) in statements(program, id) {
            let Kind::Call {
                callee, arguments, ..
            } = kind
            else {
                continue;
            };
            let is_known = match callee {
                Callee::Direct(callee) => {
                    let callee = program.function(*callee);
                    callee.is_defined() || analysis.model.of(&callee.name).is_some()
                }
                Callee::Indirect(..) => !analysis.calls.targets(site).is_empty(),
                Callee::Assembly => false,
            };
            if !is_known {
                let of = |operand: &Operand| Some(analysis.points.target(id, *operand)?.class);
                given.extend(arguments.iter().filter_map(of));
            }
        }
    }
    analysis.points.closure(given)
}

fn statements(program: &Program, function: FunctionId) -> impl Iterator<Item = (Site, &Kind)> {
    let blocks = program.function(function).blocks.iter();
    blocks.enumerate().flat_map(move |(block, one)| {
        let statements = one.statements.iter().enumerate();
        statements.map(move |(statement, what)| {
            let site = Site {
                function,
                block: block as u32,
                statement: statement as u32,
            };
            (site, &what.kind)
        })
    })
}

fn is_unshared(analysis: &mut Analysis, id: FunctionId, shared: &FxHashSet<ClassId>) -> bool {
    let (program, model) = (analysis.program, analysis.model);
    let mut accesses = 0;
    for (_, kind) in statements(program, id) {
        for (operand, ..) in accessed(program, model, kind) {
            accesses += 1;
            let target = analysis.points.target(id, operand);
            if target.is_none_or(|target| shared.contains(&target.class)) {
                return false;
            }
        }
    }
    accesses > 0
}
