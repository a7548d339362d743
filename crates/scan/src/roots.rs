//! Where a program begins: at `main`, or, without one, at everything that others can call.

use crate::ir::Program;
use crate::model::Model;
use crate::pairs::Root;

/// The beginnings of a program. Of a library every function that can be seen from outside may be called at any time, also twice at once.
pub fn of(program: &Program, model: &Model) -> Vec<Root> {
    let main = program
        .named("main")
        .filter(|id| program.function(*id).is_defined());
    if let Some(function) = main {
        return vec![Root {
            function,
            is_parallel: false,
        }];
    }
    program
        .function_ids()
        .filter(|id| {
            let function = program.function(*id);
            function.is_defined()
                && (function.is_external || function.is_address_taken)
                && model.of(&function.name).is_none()
        })
        .map(|function| Root {
            function,
            is_parallel: true,
        })
        .collect()
}
