//! Whether bitcode is of the kind that can be analysed: with functions, not optimised, with debug information.

use std::path::Path;

use super::module::Module;
use super::value::Value;
use crate::Error;

/// Refuses what would give wrong answers, and says what makes them worse.
pub(super) fn check(module: &Module, path: &Path) -> Result<Vec<String>, Error> {
    let functions = module.functions();
    let defined: Vec<Value> = functions
        .into_iter()
        .filter(|function| !function.blocks().is_empty())
        .collect();
    let has_variables = module
        .globals()
        .iter()
        .any(|global| global.initialiser().is_some());
    if defined.is_empty() && !has_variables {
        let path = path.to_owned();
        return Err(Error::Empty { path });
    }
    if is_optimised(module, &defined) {
        let path = path.to_owned();
        return Err(Error::Optimised { path });
    }
    let mut notes = Vec::new();
    if module.units().is_empty() {
        let path = path.display();
        notes.push(format!(
            "{path} has no debug information: there are no lines and no names of fields (compile with -g)"
        ));
    }
    Ok(notes)
}

/// A compiler that does not optimise puts every parameter into a local variable in memory. Whether it was asked to optimise is not
/// enough to know: the passes may have been switched off.
fn is_optimised(module: &Module, defined: &[Value]) -> bool {
    let units = module.units();
    let asked = units
        .iter()
        .any(|unit| unit.printed().contains("isOptimized: true"));
    let with_parameters: Vec<&Value> = defined
        .iter()
        .filter(|function| !function.parameters().is_empty())
        .collect();
    let with_locals = with_parameters
        .iter()
        .filter(|function| has_local(function))
        .count();
    let none_in_memory = with_locals * 2 < with_parameters.len();
    let unknown = units.is_empty();
    (asked || unknown) && none_in_memory
}

fn has_local(function: &Value) -> bool {
    let blocks = function.blocks();
    let entry = blocks.first().map(|block| block.instructions());
    let mut instructions = entry.into_iter().flatten();
    instructions.any(|each| each.allocated_type().is_some())
}
