//! Where blocks go on.

use llvm_sys::LLVMOpcode::*;

use super::function::Body;
use crate::ir::{BlockId, Operand, Terminator};
use crate::llvm::value::Value;

impl<'m> Body<'_, 'm> {
    /// Where an instruction goes on, if it ends a block.
    pub(super) fn terminator(&mut self, instruction: Value<'m>) -> Option<Terminator> {
        let successors = instruction.successors();
        let next: Vec<BlockId> = successors.iter().map(|each| self.block_id(*each)).collect();
        let terminator = match instruction.opcode()? {
            LLVMRet => Terminator::Return(instruction.operand(0).map(|value| self.operand(value))),
            LLVMBr => match *next.as_slice() {
                [then, otherwise] => match self.first_operand(instruction) {
                    Operand::Integer(0) => Terminator::Goto(otherwise),
                    Operand::Integer(_) => Terminator::Goto(then),
                    condition => Terminator::Branch {
                        condition,
                        then,
                        otherwise,
                    },
                },
                [only] => Terminator::Goto(only),
                _ => Terminator::Any(next),
            },
            LLVMSwitch => {
                let on = self.first_operand(instruction);
                self.switch(instruction, on, &next)
                    .unwrap_or(Terminator::Any(next))
            }
            LLVMInvoke => match *next.as_slice() {
                [then, unwind] => Terminator::Call { then, unwind },
                _ => Terminator::Any(next),
            },
            LLVMCallBr | LLVMIndirectBr => Terminator::Any(next),
            LLVMCleanupRet | LLVMCatchRet | LLVMCatchSwitch => Terminator::Any(next),
            LLVMResume | LLVMUnreachable => Terminator::Unreachable,
            _ => return None,
        };
        Some(terminator)
    }

    fn first_operand(&mut self, instruction: Value<'m>) -> Operand {
        let first = instruction.operand(0);
        first.map_or(Operand::Other, |value| self.operand(value))
    }

    /// The operands are what decides and where all others go, then pairs of a number and a block. The default is the first successor.
    fn switch(
        &mut self,
        instruction: Value<'m>,
        on: Operand,
        next: &[BlockId],
    ) -> Option<Terminator> {
        let (otherwise, targets) = next.split_first()?;
        let mut cases = Vec::with_capacity(targets.len());
        for (index, target) in (1_u32..).zip(targets) {
            cases.push((instruction.operand(2 * index)?.integer()?, *target));
        }
        let otherwise = *otherwise;
        if let Operand::Integer(number) = on {
            let taken = cases.iter().find(|(case, _)| *case == number);
            return Some(Terminator::Goto(
                taken.map_or(otherwise, |(_, target)| *target),
            ));
        }
        Some(Terminator::Switch {
            on,
            cases,
            otherwise,
        })
    }
}
