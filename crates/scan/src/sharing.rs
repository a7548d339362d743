//! Why several threads can reach a piece of memory: what the search for shared variables began with, as far as it leads there.

use crate::analysis::Analysis;
use crate::calls;
use crate::ir::{FunctionId, GlobalId, Kind, Operand, ValueId};
use crate::model::Effect;
use crate::pairs::Root;
use crate::path::Site;
use crate::points::ClassId;

/// A way to memory that several threads have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A global variable.
    Global(GlobalId),
    /// What is given to the threads that are created there.
    Thread(Site),
    /// What callers hand over to a function that may be called from anywhere: that parameter.
    Parameter(FunctionId, u32),
}

/// How it leads there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// It is this memory.
    Itself,
    /// Pointers in it lead to this memory.
    Through,
}

/// All origins that lead to a class of memory; only the direct ones if there are any.
pub fn origins(analysis: &mut Analysis, roots: &[Root], class: ClassId) -> Vec<(Reach, Origin)> {
    let mut found = Vec::new();
    for (origin, from) in all(analysis, roots) {
        if from == class {
            found.push((Reach::Itself, origin));
        } else if analysis.points.closure([from]).contains(&class) {
            found.push((Reach::Through, origin));
        }
    }
    found.sort();
    if let Some((Reach::Itself, _)) = found.first() {
        found.retain(|(reach, _)| *reach == Reach::Itself);
    }
    found
}

fn all(analysis: &mut Analysis, roots: &[Root]) -> Vec<(Origin, ClassId)> {
    let mut from = Vec::new();
    let program = analysis.program;
    for (number, global) in program.globals.iter().enumerate() {
        if !global.is_constant && !global.is_thread_local {
            let id = GlobalId::new(number);
            from.push((Origin::Global(id), analysis.points.of_global(id).class));
        }
    }
    for root in roots {
        for parameter in 0..program.function(root.function).parameters {
            let value = Operand::Value(ValueId(parameter));
            let target = analysis.points.target(root.function, value);
            let class = target.map(|target| target.class);
            from.extend(class.map(|class| (Origin::Parameter(root.function, parameter), class)));
        }
    }
    let sites: Vec<Site> = analysis.spawns.keys().copied().collect();
    for site in sites {
        let block = &program.function(site.function).blocks[site.block as usize];
        let Some(Kind::Call { arguments, .. }) = block
            .statements
            .get(site.statement as usize)
            .map(|statement| &statement.kind)
        else {
            continue;
        };
        let kind = &block.statements[site.statement as usize].kind;
        let effects = calls::effects(program, analysis.model, kind);
        for effect in effects.into_iter().flatten() {
            let given = match effect {
                Effect::Create { data, .. } => *data,
                Effect::CreateMethod { object, .. } => Some(*object),
                Effect::CreateClosure { at } => Some(*at),
                _ => None,
            };
            let operand = given.and_then(|number| arguments.get(number as usize));
            let target =
                operand.and_then(|operand| analysis.points.target(site.function, *operand));
            from.extend(target.map(|target| (Origin::Thread(site), target.class)));
        }
    }
    from
}
