//! Threads that run a virtual function.

use crate::ir::{Callee, FunctionId, Kind, Operand, ValueId};
use crate::path::Site;

use super::Points;

impl Points<'_> {
    /// A thread runs a virtual function of an object that was made by the same function, or by what that calls: one of those whose
    /// tables are stored there. (By classes alone all objects that are ever made into threads would be one.)
    pub(super) fn link_method(&mut self, site: Site, object: Operand, slot: u32) {
        let Some(at) = self.operand(site.function, object) else {
            return;
        };
        let object = self.classes.pointee(at);
        let mut functions = Vec::new();
        self.stored_methods(site.function, slot, 3, &mut functions);
        for function in functions {
            if self.linked.insert((site, function)) {
                self.assign(function, ValueId(0), object);
            }
        }
    }

    /// The virtual functions of this number in all tables that a function stores, or one that it calls.
    fn stored_methods(
        &self,
        function: FunctionId,
        slot: u32,
        depth: u32,
        found: &mut Vec<FunctionId>,
    ) {
        let blocks = &self.program.function(function).blocks;
        for statement in blocks.iter().flat_map(|block| &block.statements) {
            match &statement.kind {
                Kind::Store {
                    value: Operand::Global(table, offset),
                    ..
                } => {
                    let at = (offset + i64::from(slot) * 8) as u64;
                    let holds = &self.program.global(*table).holds;
                    let entry = holds.iter().find(|(offset, _)| *offset == at);
                    if let Some((_, Operand::Function(method))) = entry
                        && self.program.function(*method).is_defined()
                        && !found.contains(method)
                    {
                        found.push(*method);
                    }
                }
                Kind::Call {
                    callee: Callee::Direct(callee),
                    ..
                } if depth > 0 => self.stored_methods(*callee, slot, depth - 1, found),
                _ => {}
            }
        }
    }
}
