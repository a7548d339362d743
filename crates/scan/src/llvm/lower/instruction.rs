//! Instructions as statements.

use llvm_sys::LLVMIntPredicate::*;
use llvm_sys::LLVMOpcode::{self, *};

use super::function::Body;
use crate::ir::{Comparison, Kind, Mark, Operand, ValueId};
use crate::llvm::value::Value;

impl<'m> Body<'_, 'm> {
    /// Adds what an instruction does; where it goes on is told elsewhere.
    pub(super) fn instruction(&mut self, instruction: Value<'m>) {
        let Some(opcode) = instruction.opcode() else {
            return;
        };
        if matches!(opcode, LLVMCall | LLVMInvoke | LLVMCallBr) {
            return self.call(instruction);
        }
        let kind = match self.id(instruction) {
            Some(into) => self.assignment(opcode, instruction, into),
            None => self.effect(opcode, instruction),
        };
        if let Some(kind) = kind {
            self.push(kind);
        }
    }

    /// What leaves no value.
    fn effect(&mut self, opcode: LLVMOpcode, instruction: Value<'m>) -> Option<Kind> {
        match opcode {
            LLVMStore if self.store_members(instruction) => None,
            LLVMStore => {
                let value = instruction.operand(0)?;
                let size = self.lowering.sizes.accessed(value.ty());
                Some(Kind::Store {
                    to: self.operand(instruction.operand(1)?),
                    value: self.operand(value),
                    size,
                    mark: mark(instruction),
                })
            }
            LLVMFence => Some(Kind::Fence),
            _ => None,
        }
    }

    /// What leaves a value.
    fn assignment(
        &mut self,
        opcode: LLVMOpcode,
        instruction: Value<'m>,
        into: ValueId,
    ) -> Option<Kind> {
        let sizes = self.lowering.sizes;
        let kind = match opcode {
            LLVMAlloca => self.local(instruction, into)?,
            LLVMLoad => match self.load_members(instruction, into) {
                Some(members) => members,
                None => Kind::Load {
                    into,
                    from: self.operand(instruction.operand(0)?),
                    size: sizes.accessed(instruction.ty()),
                    mark: mark(instruction),
                },
            },
            LLVMXor if is_negation(instruction) => Kind::Compare {
                into,
                how: Comparison::Equal,
                operands: [self.operand(instruction.operand(0)?), Operand::Integer(0)],
            },
            LLVMAtomicRMW => {
                let value = instruction.operand(1)?;
                Kind::Update {
                    into,
                    at: self.operand(instruction.operand(0)?),
                    size: sizes.accessed(value.ty()),
                    value: self.operand(value),
                }
            }
            LLVMAtomicCmpXchg => {
                let value = instruction.operand(2)?;
                Kind::Update {
                    into,
                    at: self.operand(instruction.operand(0)?),
                    size: sizes.accessed(value.ty()),
                    value: self.operand(value),
                }
            }
            LLVMGetElementPtr => self.part(into, instruction),
            LLVMTrunc | LLVMZExt | LLVMSExt | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast
            | LLVMAddrSpaceCast | LLVMFreeze => {
                let from = self.operand(instruction.operand(0)?);
                copy(into, [from])
            }
            LLVMSelect => {
                let chosen = [instruction.operand(1)?, instruction.operand(2)?];
                let from = chosen.into_iter().flat_map(|each| self.alternatives(each));
                copy(into, from.collect::<Vec<_>>())
            }
            LLVMPHI => {
                let mut from = Vec::new();
                for (value, block) in instruction.incoming() {
                    let block = Some(self.block_id(block));
                    from.extend(
                        self.alternatives(value)
                            .into_iter()
                            .map(|each| (each, block)),
                    );
                }
                Kind::Copy { into, from }
            }
            LLVMICmp | LLVMFCmp => Kind::Compare {
                into,
                how: comparison(instruction),
                operands: [
                    self.operand(instruction.operand(0)?),
                    self.operand(instruction.operand(1)?),
                ],
            },
            LLVMExtractValue => self.extracted(instruction, into)?,
            LLVMLandingPad => Kind::Compute {
                into,
                from: Vec::new(),
            },
            _ => {
                let operands: Vec<Value<'m>> = instruction.operands().collect();
                let from = operands
                    .into_iter()
                    .map(|each| self.operand(each))
                    .collect();
                Kind::Compute { into, from }
            }
        };
        Some(kind)
    }

    fn local(&mut self, instruction: Value<'m>, into: ValueId) -> Option<Kind> {
        let sizes = self.lowering.sizes;
        let ty = instruction.allocated_type()?;
        let count = instruction.operand(0)?.integer();
        let count = count.and_then(|count| u64::try_from(count).ok());
        let known = self.pointee(instruction);
        let record = super::global::innermost(ty);
        let record = self.lowering.layouts.record(record, known, sizes);
        let layout = record
            .or(known)
            .and_then(|node| self.lowering.layouts.layout(node));
        Some(Kind::Local {
            into,
            size: sizes.stride(ty).saturating_mul(count.unwrap_or(0)),
            layout,
        })
    }
}

/// A copy of one of these, whatever the branch.
pub(super) fn copy(into: ValueId, from: impl IntoIterator<Item = Operand>) -> Kind {
    let from = from.into_iter().map(|each| (each, None)).collect();
    Kind::Copy { into, from }
}

/// Whether an access may happen together with others.
pub(super) fn mark(access: Value) -> Mark {
    if access.is_atomic() {
        Mark::Atomic
    } else if access.is_volatile() {
        Mark::Volatile
    } else {
        Mark::Plain
    }
}

fn comparison(instruction: Value) -> Comparison {
    match instruction.predicate() {
        Some(LLVMIntEQ) => Comparison::Equal,
        Some(LLVMIntNE) => Comparison::Unequal,
        Some(LLVMIntSLT) => Comparison::Less,
        Some(LLVMIntSLE) => Comparison::LessOrEqual,
        Some(LLVMIntSGT) => Comparison::Greater,
        Some(LLVMIntSGE) => Comparison::GreaterOrEqual,
        _ => Comparison::Other,
    }
}

/// Whether it turns a truth value round.
fn is_negation(instruction: Value) -> bool {
    let by = instruction.operand(1);
    instruction.ty().integer_width() == Some(1) && by.and_then(Value::integer) == Some(-1)
}
