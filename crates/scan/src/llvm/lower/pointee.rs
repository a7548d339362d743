//! What addresses point at, as far as the debug information tells: from variables, through fields and loads.

use llvm_sys::LLVMOpcode::*;
use llvm_sys::LLVMValueKind::*;

use super::function::Body;
use crate::llvm::debug::{at_offset, pointed};
use crate::llvm::node::Node;
use crate::llvm::value::Value;

/// Operands of functions and their types in the debug information.
mod operand {
    pub(super) const FUNCTION_TYPE: usize = 4;
    pub(super) const TYPES: usize = 3;
    pub(super) const RESULT: usize = 0;
}

impl<'m> Body<'_, 'm> {
    /// The type of what an address points at.
    pub(super) fn pointee(&mut self, value: Value<'m>) -> Option<Node<'m>> {
        if let Some(known) = self.pointees.get(&value) {
            return *known;
        }
        // Values in a loop depend on themselves; this ends the search.
        let variable = self.variable_pointees.get(&value).copied();
        self.pointees.insert(value, variable);
        let found = match value.kind() {
            LLVMGlobalVariableValueKind => self.lowering.global_type(value),
            LLVMGlobalAliasValueKind => value.aliased().and_then(|behind| self.pointee(behind)),
            LLVMInstructionValueKind | LLVMConstantExprValueKind => {
                self.computed_pointee(value, variable)
            }
            _ => variable,
        };
        self.pointees.insert(value, found);
        found
    }

    fn computed_pointee(
        &mut self,
        value: Value<'m>,
        variable: Option<Node<'m>>,
    ) -> Option<Node<'m>> {
        match value.opcode().or(value.expression())? {
            LLVMGetElementPtr => {
                let known = value.operand(0).and_then(|base| self.pointee(base));
                let steps = self.lowering.steps(value)?;
                self.lowering.stepped_into(&steps, known).1.or(variable)
            }
            _ if variable.is_some() => variable,
            LLVMAlloca => {
                let ty = value.allocated_type()?;
                self.lowering.layouts.record(ty, None, self.lowering.sizes)
            }
            LLVMBitCast | LLVMAddrSpaceCast | LLVMFreeze => self.pointee(value.operand(0)?),
            LLVMLoad => {
                let holder = self.pointee(value.operand(0)?)?;
                let held = at_offset(holder, 0, Some(value.ty()), self.lowering.sizes)?;
                pointed(held)
            }
            LLVMPHI => {
                let incoming = value.incoming();
                incoming
                    .into_iter()
                    .find_map(|(each, _)| self.pointee(each))
            }
            LLVMSelect => {
                let chosen = [value.operand(1)?, value.operand(2)?];
                chosen.into_iter().find_map(|each| self.pointee(each))
            }
            LLVMCall | LLVMInvoke => {
                let function = value.callee()?.subprogram()?;
                let types = function.operand(operand::FUNCTION_TYPE)?;
                let result = types.operand(operand::TYPES)?.operand(operand::RESULT)?;
                pointed(result)
            }
            _ => None,
        }
    }
}
