//! Constants as operands: addresses in globals, of functions, and numbers.

use llvm_sys::LLVMOpcode::*;
use llvm_sys::LLVMValueKind::*;

use super::Lowering;
use crate::ir::Operand;
use crate::llvm::value::Value;

/// No expression of a compiler is nested more deeply.
const DEPTH: u32 = 64;

impl<'m> Lowering<'m> {
    /// A constant as an operand.
    pub(super) fn constant(&self, value: Value<'m>) -> Operand {
        self.nested(value, DEPTH)
    }

    fn nested(&self, value: Value<'m>, depth: u32) -> Operand {
        if depth == 0 {
            return Operand::Other;
        }
        match value.kind() {
            LLVMFunctionValueKind | LLVMGlobalIFuncValueKind => {
                let id = self.functions.get(&value).copied();
                id.map_or(Operand::Other, Operand::Function)
            }
            LLVMGlobalVariableValueKind => {
                let id = self.globals.get(&value).copied();
                id.map_or(Operand::Other, |id| Operand::Global(id, 0))
            }
            LLVMGlobalAliasValueKind => {
                let behind = value.aliased();
                behind.map_or(Operand::Other, |behind| self.nested(behind, depth - 1))
            }
            LLVMConstantIntValueKind => value.integer().map_or(Operand::Other, Operand::Integer),
            LLVMConstantPointerNullValueKind => Operand::Null,
            LLVMConstantExprValueKind => self.expression(value, depth - 1),
            _ => Operand::Other,
        }
    }

    fn expression(&self, value: Value<'m>, depth: u32) -> Operand {
        let operand = |index| {
            let operand = value.operand(index);
            operand.map_or(Operand::Other, |operand| self.nested(operand, depth))
        };
        match value.expression() {
            Some(LLVMBitCast | LLVMAddrSpaceCast | LLVMPtrToInt | LLVMIntToPtr | LLVMTrunc) => {
                operand(0)
            }
            Some(LLVMGetElementPtr) => match self.steps(value) {
                Some(steps) if steps.variables.is_empty() => moved(operand(0), steps.constant),
                _ => moved(operand(0), 0),
            },
            Some(LLVMAdd) => match (operand(0), operand(1)) {
                (base, Operand::Integer(by)) | (Operand::Integer(by), base) => moved(base, by),
                _ => Operand::Other,
            },
            Some(LLVMSub) => match (operand(0), operand(1)) {
                (base, Operand::Integer(by)) => moved(base, by.wrapping_neg()),
                _ => Operand::Other,
            },
            _ => Operand::Other,
        }
    }

    /// The addresses in a constant, with their offsets in it.
    pub(super) fn addresses(&self, value: Value<'m>, limit: usize) -> Vec<(u64, Operand)> {
        let mut found = Vec::new();
        let mut rest = vec![(0, value)];
        while let Some((offset, value)) = rest.pop() {
            if found.len() >= limit {
                break;
            }
            let ty = value.ty();
            match value.kind() {
                LLVMConstantStructValueKind => {
                    let members = (0_u32..).zip(value.operands());
                    let at = |index| offset + self.sizes.offset(ty, index);
                    let members: Vec<_> = members.map(|(index, each)| (at(index), each)).collect();
                    rest.extend(members.into_iter().rev());
                }
                LLVMConstantArrayValueKind | LLVMConstantVectorValueKind => {
                    let stride = ty.element().map_or(0, |element| self.sizes.stride(element));
                    let members = (0_u64..).zip(value.operands());
                    let members: Vec<_> = members
                        .map(|(index, each)| (offset + index * stride, each))
                        .collect();
                    rest.extend(members.into_iter().rev());
                }
                _ => {
                    let operand = self.constant(value);
                    if matches!(operand, Operand::Global(..) | Operand::Function(_)) {
                        found.push((offset, operand));
                    }
                }
            }
        }
        found
    }
}

/// An address so many bytes further; functions have only one.
fn moved(base: Operand, by: i64) -> Operand {
    match base {
        Operand::Global(id, offset) => Operand::Global(id, offset.wrapping_add(by)),
        Operand::Function(id) => Operand::Function(id),
        Operand::Integer(number) => Operand::Integer(number.wrapping_add(by)),
        Operand::Null => Operand::Integer(by),
        Operand::Value(_) | Operand::Other => Operand::Other,
    }
}

/// Lists that keep things alive, whether or not anybody uses them.
const KEEPERS: [&str; 2] = ["llvm.used", "llvm.compiler.used"];

/// Whether a variable is only such a list.
pub(super) fn is_keeper(variable: Value) -> bool {
    KEEPERS.contains(&variable.name().as_str())
}

/// Whether a function's address is used other than to call it.
pub(super) fn is_address_taken(function: Value) -> bool {
    let mut rest = vec![(function, DEPTH)];
    while let Some((value, depth)) = rest.pop() {
        for user in value.users() {
            match user.kind() {
                LLVMInstructionValueKind => {
                    if user.callee() != Some(value) || user.arguments().contains(&value) {
                        return true;
                    }
                }
                // The names of labels in it.
                LLVMBlockAddressValueKind | LLVMGlobalAliasValueKind => {}
                // What names it as the handler of exceptions, or keeps it alive.
                LLVMFunctionValueKind => {}
                LLVMGlobalVariableValueKind if is_keeper(user) => {}
                LLVMGlobalVariableValueKind => return true,
                _ if depth > 0 => rest.push((user, depth - 1)),
                _ => return true,
            }
        }
    }
    false
}
