//! Which values are addresses, or hold one: by their type, or because numbers are made of addresses and addresses of numbers.

use llvm_sys::LLVMOpcode::{self, *};
use rustc_hash::FxHashSet;

use crate::llvm::types::Type;
use crate::llvm::value::{Block, Value};

/// Whether a value of this type is an address, or holds one as pairs do that a function returns.
pub(super) fn holds_address(ty: Type) -> bool {
    if ty.is_pointer() {
        return true;
    }
    let element = ty.element().is_some_and(holds_address);
    let mut members = (0..).map_while(|index| ty.member(index));
    element || members.any(holds_address)
}

/// Numbers that addresses were made into, or that become addresses, in these blocks.
pub(super) fn numbers<'m>(blocks: &[Block<'m>]) -> FxHashSet<Value<'m>> {
    let all = blocks.iter().flat_map(|block| block.instructions());
    let instructions: Vec<(Value<'m>, LLVMOpcode)> = all
        .filter_map(|each| Some((each, each.opcode()?)))
        .collect();
    let mut marked = FxHashSet::default();
    for (instruction, opcode) in &instructions {
        match opcode {
            LLVMPtrToInt => {
                marked.insert(*instruction);
            }
            LLVMIntToPtr => backwards(instruction.operand(0), &mut marked),
            _ => {}
        }
    }
    let mut grows = !marked.is_empty();
    while grows {
        grows = false;
        for (instruction, opcode) in &instructions {
            if carries(*instruction, *opcode, &marked) {
                grows |= marked.insert(*instruction);
            }
        }
    }
    marked
}

/// Marks what a number that becomes an address was computed from, up to where it was read or passed.
fn backwards<'m>(from: Option<Value<'m>>, marked: &mut FxHashSet<Value<'m>>) {
    let mut rest: Vec<Value<'m>> = from.into_iter().collect();
    while let Some(value) = rest.pop() {
        let is_wide = value.ty().integer_width() == Some(64);
        if !is_wide || value.is_constant() || !marked.insert(value) {
            continue;
        }
        if value.opcode().is_some_and(keeps_address) {
            rest.extend(value.operands().take(value_operands(value)));
        }
    }
}

/// Whether an instruction passes on an address that one of its operands is.
fn carries<'m>(instruction: Value<'m>, opcode: LLVMOpcode, marked: &FxHashSet<Value<'m>>) -> bool {
    if instruction.ty().integer_width() != Some(64) || !keeps_address(opcode) {
        return false;
    }
    let is_marked = |index| {
        let operand = instruction.operand(index);
        operand.is_some_and(|operand| marked.contains(&operand))
    };
    match opcode {
        // The distance of two addresses is none.
        LLVMSub => is_marked(0) && !is_marked(1),
        _ => (0..instruction.operand_count()).any(is_marked),
    }
}

fn keeps_address(opcode: LLVMOpcode) -> bool {
    matches!(
        opcode,
        LLVMAdd | LLVMSub | LLVMAnd | LLVMOr | LLVMXor | LLVMPHI | LLVMSelect | LLVMFreeze
    )
}

/// How many of an instruction's operands its value is computed from as an address.
fn value_operands(value: Value) -> usize {
    match value.opcode() {
        Some(LLVMSub) => 1,
        _ => usize::MAX,
    }
}
