//! Whether bitcode is of the kind that can be analysed: with functions, not optimised, with debug information.

use std::path::Path;

use llvm_sys::LLVMOpcode;

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
    let with_parameters = defined
        .iter()
        .filter(|function| !function.parameters().is_empty());
    let (mut in_memory, mut all) = (0, 0);
    for function in with_parameters {
        all += 1;
        in_memory += usize::from(function.parameters().into_iter().any(is_in_memory));
    }
    let unknown = units.is_empty();
    (asked || unknown) && in_memory * 2 < all
}

/// Whether a parameter is put into a local variable in memory.
fn is_in_memory(parameter: Value) -> bool {
    parameter.users().into_iter().any(|user| {
        let into = user.operand(1).and_then(Value::allocated_type);
        user.opcode() == Some(LLVMOpcode::LLVMStore)
            && user.operand(0) == Some(parameter)
            && into.is_some()
    })
}
