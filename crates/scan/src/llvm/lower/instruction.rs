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
            LLVMLoad => Kind::Load {
                into,
                from: self.operand(instruction.operand(0)?),
                size: sizes.accessed(instruction.ty()),
                mark: mark(instruction),
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

    /// A member of an aggregate: what was put there, if that is seen, or else something of the whole.
    fn extracted(&mut self, instruction: Value<'m>, into: ValueId) -> Option<Kind> {
        let mut whole = instruction.operand(0)?;
        let mut wanted = instruction.member_indices();
        while whole.opcode() == Some(LLVMInsertValue) {
            let put = whole.member_indices();
            if let Some(rest) = wanted.strip_prefix(put.as_slice()) {
                whole = whole.operand(1)?;
                wanted = rest.to_vec();
                if wanted.is_empty() {
                    let from = self.operand(whole);
                    return Some(copy(into, [from]));
                }
            } else if put.starts_with(&wanted) {
                break;
            } else {
                whole = whole.operand(0)?;
            }
        }
        // An exchange gives what was there, and whether it took place.
        let is_exchange = whole.opcode() == Some(LLVMAtomicCmpXchg);
        let from = self.operand(whole);
        if is_exchange && wanted == [0] {
            return Some(copy(into, [from]));
        }
        let from = vec![from];
        Some(Kind::Compute { into, from })
    }
}

/// A copy of one of these, whatever the branch.
pub(super) fn copy(into: ValueId, from: impl IntoIterator<Item = Operand>) -> Kind {
    let from = from.into_iter().map(|each| (each, None)).collect();
    Kind::Copy { into, from }
}

fn mark(access: Value) -> Mark {
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
