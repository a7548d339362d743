//! Global variables.

use super::{Lowering, constant};
use crate::ir::{Global, GlobalId, Operand};
use crate::llvm::module::Module;
use crate::llvm::node::Node;
use crate::llvm::types::Type;
use crate::llvm::value::Value;
use deadheat_code::demangled;

/// Operands of variables in the debug information.
pub(super) mod operand {
    pub(in crate::llvm::lower) const NAME: usize = 1;
    pub(in crate::llvm::lower) const TYPE: usize = 3;
}

/// So many addresses of a table are read; nobody tells larger ones apart.
const LARGEST_TABLE: usize = 1 << 16;

impl<'m> Lowering<'m> {
    pub(super) fn declare_globals(&mut self, module: &'m Module) {
        let debug = module.context().debug_kind();
        let globals = module.globals().into_iter();
        for global in globals.filter(|global| !constant::is_keeper(*global)) {
            // Attached is the variable together with the expression that leads to it.
            let attached = global.attached(debug);
            let variable = attached.first().and_then(|node| node.operand(0));
            if let Some(variable) = variable {
                self.variables.insert(global, variable);
            }
            let lowered = self.declared(global, variable);
            let id = GlobalId::new(self.program.globals.len());
            self.program.globals.push(lowered);
            self.globals.insert(global, id);
        }
    }

    fn declared(&mut self, global: Value<'m>, variable: Option<Node<'m>>) -> Global {
        let name = global.name();
        let contents = global.contents_type();
        let known = variable.and_then(|variable| variable.operand(operand::TYPE));
        let layout = match known {
            Some(node) => self.layouts.layout(node),
            None => contents.and_then(|ty| {
                let ty = innermost(ty);
                let record = self.layouts.record(ty, None, self.sizes)?;
                self.layouts.layout(record)
            }),
        };
        let written = variable.and_then(|variable| variable.text(operand::NAME));
        let shown = match written {
            Some(written) if !name.starts_with("_Z") && !name.starts_with("_R") => written,
            _ => demangled(&name),
        };
        Global {
            shown,
            size: contents.map_or(0, |ty| self.sizes.stride(ty)),
            layout,
            is_constant: global.is_never_written(),
            is_thread_local: global.is_thread_local(),
            is_external: global.is_external(),
            holds: Vec::new(),
            place: variable.and_then(|variable| self.places.declared(variable)),
            section: global.section(),
            name,
        }
    }

    /// What the globals hold from the beginning, now that all of them have numbers.
    pub(super) fn fill_globals(&mut self) {
        let globals = self.globals.iter();
        let mut globals: Vec<_> = globals.map(|(value, id)| (*value, *id)).collect();
        globals.sort_by_key(|(_, id)| *id);
        for (global, id) in globals {
            let Some(initialiser) = global.initialiser() else {
                continue;
            };
            let holds = self.addresses(initialiser, LARGEST_TABLE);
            if holds.len() == LARGEST_TABLE {
                let name = &self.program.globals[id.index()].shown;
                let note = format!(
                    "{name} holds more than {LARGEST_TABLE} addresses; the others were not read"
                );
                self.program.unread.push(note);
            }
            self.program.globals[id.index()].holds = holds;
        }
    }

    /// What the debug information says that a global variable consists of.
    pub(super) fn global_type(&self, global: Value<'m>) -> Option<Node<'m>> {
        self.variables.get(&global)?.operand(operand::TYPE)
    }

    /// The addresses in a constant that is more than one operand.
    pub(super) fn scattered(&self, value: Value<'m>) -> Vec<Operand> {
        let addresses = self.addresses(value, LARGEST_TABLE).into_iter();
        addresses.map(|(_, operand)| operand).collect()
    }
}

/// What an array's elements are in the end.
pub(super) fn innermost(mut ty: Type) -> Type {
    while let Some(element) = ty.element() {
        ty = element;
    }
    ty
}
