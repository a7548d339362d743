//! Values of LLVM: functions, globals, instructions, constants, and blocks.
//!
//! A `Value` is made only from handles that LLVM gave for a module, and its lifetime is that of the module's
//! borrow: so the handle is valid in every method. What only some values can be asked is asked of no others.

use std::ffi::c_char;
use std::marker::PhantomData;

use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use llvm_sys::{LLVMAtomicOrdering, LLVMIntPredicate, LLVMOpcode, LLVMValueKind};

use super::node::Node;
use super::types::Type;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Value<'m> {
    raw: LLVMValueRef,
    of: PhantomData<&'m ()>,
}

/// A block of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Block<'m> {
    raw: LLVMBasicBlockRef,
    of: PhantomData<&'m ()>,
}

impl<'m> Value<'m> {
    /// The value behind a handle, unless that is null.
    ///
    /// # Safety
    /// The handle is null or belongs to a module (or its context) that is not changed while `'m` lasts.
    pub(super) unsafe fn new(raw: LLVMValueRef) -> Option<Self> {
        let of = PhantomData;
        (!raw.is_null()).then_some(Value { raw, of })
    }

    pub(super) fn raw(self) -> LLVMValueRef {
        self.raw
    }

    pub(super) fn kind(self) -> LLVMValueKind {
        // SAFETY: the handle is valid, and every kind of LLVM 19 is in the enumeration.
        unsafe { LLVMGetValueKind(self.raw) }
    }

    /// The name that the linker knows; locals have names for people only.
    pub(super) fn name(self) -> String {
        let mut length = 0;
        // SAFETY: the handle is valid, and LLVM writes the length of the text it returns.
        unsafe { text(LLVMGetValueName2(self.raw, &mut length), length) }
    }

    pub(super) fn ty(self) -> Type<'m> {
        // SAFETY: every value has a type, which lives in the context.
        unsafe { Type::new(LLVMTypeOf(self.raw)) }
    }

    /// What it does, if it is an instruction.
    pub(super) fn opcode(self) -> Option<LLVMOpcode> {
        let is_instruction = self.kind() == LLVMValueKind::LLVMInstructionValueKind;
        // SAFETY: it is an instruction, and every opcode of LLVM 19 is in the enumeration.
        is_instruction.then(|| unsafe { LLVMGetInstructionOpcode(self.raw) })
    }

    /// What it does, if it is a constant expression.
    pub(super) fn expression(self) -> Option<LLVMOpcode> {
        let is_expression = self.kind() == LLVMValueKind::LLVMConstantExprValueKind;
        // SAFETY: it is a constant expression.
        is_expression.then(|| unsafe { LLVMGetConstOpcode(self.raw) })
    }

    /// How many operands it has: none if it uses nothing.
    pub(super) fn operand_count(self) -> u32 {
        // SAFETY: the handle is valid; values that use nothing are told apart here.
        unsafe {
            if LLVMIsAUser(self.raw).is_null() {
                return 0;
            }
            u32::try_from(LLVMGetNumOperands(self.raw)).unwrap_or(0)
        }
    }

    pub(super) fn operand(self, index: u32) -> Option<Value<'m>> {
        if index >= self.operand_count() {
            return None;
        }
        // SAFETY: it has an operand of this index, in the same module.
        unsafe { Value::new(LLVMGetOperand(self.raw, index)) }
    }

    pub(super) fn operands(self) -> impl Iterator<Item = Value<'m>> {
        (0..self.operand_count()).filter_map(move |index| self.operand(index))
    }

    /// The number, if it is one that fits.
    pub(super) fn integer(self) -> Option<i64> {
        let fits = self.kind() == LLVMValueKind::LLVMConstantIntValueKind
            && self.ty().integer_width().is_some_and(|bits| bits <= 64);
        // SAFETY: it is a constant integer of at most 64 bits.
        fits.then(|| unsafe { LLVMConstIntGetSExtValue(self.raw) })
    }

    pub(super) fn is_constant(self) -> bool {
        // SAFETY: the handle is valid.
        unsafe { LLVMIsConstant(self.raw) != 0 }
    }

    /// The values that use it.
    pub(super) fn users(self) -> Vec<Value<'m>> {
        let mut users = Vec::new();
        // SAFETY: the list of uses belongs to the value and does not change while we walk it.
        unsafe {
            let mut each = LLVMGetFirstUse(self.raw);
            while !each.is_null() {
                users.extend(Value::new(LLVMGetUser(each)));
                each = LLVMGetNextUse(each);
            }
        }
        users
    }
}

/// Instructions.
impl<'m> Value<'m> {
    fn is_call(self) -> bool {
        use LLVMOpcode::{LLVMCall, LLVMCallBr, LLVMInvoke};
        matches!(self.opcode(), Some(LLVMCall | LLVMInvoke | LLVMCallBr))
    }

    /// What a call calls.
    pub(super) fn callee(self) -> Option<Value<'m>> {
        if !self.is_call() {
            return None;
        }
        // SAFETY: it is a call.
        unsafe { Value::new(LLVMGetCalledValue(self.raw)) }
    }

    /// The type of what a call calls.
    pub(super) fn callee_type(self) -> Option<Type<'m>> {
        // SAFETY: it is a call.
        self.is_call()
            .then(|| unsafe { Type::new(LLVMGetCalledFunctionType(self.raw)) })
    }

    /// What a call passes.
    pub(super) fn arguments(self) -> Vec<Value<'m>> {
        if !self.is_call() {
            return Vec::new();
        }
        // SAFETY: it is a call; its first operands are its arguments.
        let count = unsafe { LLVMGetNumArgOperands(self.raw) };
        (0..count).filter_map(|index| self.operand(index)).collect()
    }

    /// What a call passes a copy of, though it is given by its address.
    pub(super) fn copied_argument(self, index: u32) -> Option<Type<'m>> {
        if !self.is_call() {
            return None;
        }
        let byval = c"byval";
        // SAFETY: it is a call. Attributes of its first argument have number 1; this one comes with a type.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(byval.as_ptr(), byval.count_bytes());
            let attribute = LLVMGetCallSiteEnumAttribute(self.raw, index + 1, kind);
            (!attribute.is_null()).then(|| Type::new(LLVMGetTypeAttributeValue(attribute)))
        }
    }

    /// Where a terminator goes on.
    pub(super) fn successors(self) -> Vec<Block<'m>> {
        // SAFETY: only terminators are asked for their successors, and only for those they have.
        unsafe {
            if LLVMIsATerminatorInst(self.raw).is_null() {
                return Vec::new();
            }
            let count = LLVMGetNumSuccessors(self.raw);
            let all = (0..count).map(|index| LLVMGetSuccessor(self.raw, index));
            all.filter_map(|block| Block::new(block)).collect()
        }
    }

    /// What a merge of branches takes, and from where.
    pub(super) fn incoming(self) -> Vec<(Value<'m>, Block<'m>)> {
        if self.opcode() != Some(LLVMOpcode::LLVMPHI) {
            return Vec::new();
        }
        // SAFETY: it is a merge of branches, asked for no more than it has.
        unsafe {
            let each = |index| {
                let value = Value::new(LLVMGetIncomingValue(self.raw, index))?;
                let block = Block::new(LLVMGetIncomingBlock(self.raw, index))?;
                Some((value, block))
            };
            let count = LLVMCountIncoming(self.raw);
            (0..count).filter_map(each).collect()
        }
    }

    /// Which members of an aggregate `extractvalue` and `insertvalue` mean.
    pub(super) fn member_indices(self) -> Vec<u32> {
        use LLVMOpcode::{LLVMExtractValue, LLVMInsertValue};
        if !matches!(self.opcode(), Some(LLVMExtractValue | LLVMInsertValue)) {
            return Vec::new();
        }
        // SAFETY: such an instruction keeps its indices in an array of this length.
        unsafe {
            let count = LLVMGetNumIndices(self.raw) as usize;
            let first = LLVMGetIndices(self.raw);
            (0..count).map(|index| *first.add(index)).collect()
        }
    }

    /// Whether a load or a store is atomic.
    pub(super) fn is_atomic(self) -> bool {
        use LLVMOpcode::{LLVMLoad, LLVMStore};
        matches!(self.opcode(), Some(LLVMLoad | LLVMStore))
            // SAFETY: loads and stores have an order.
            && unsafe { LLVMGetOrdering(self.raw) } != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    }

    /// Whether a load or a store is volatile.
    pub(super) fn is_volatile(self) -> bool {
        use LLVMOpcode::{LLVMLoad, LLVMStore};
        // SAFETY: loads and stores can be asked whether they are volatile.
        matches!(self.opcode(), Some(LLVMLoad | LLVMStore))
            && unsafe { LLVMGetVolatile(self.raw) } != 0
    }

    /// What a comparison of integers or addresses asks.
    pub(super) fn predicate(self) -> Option<LLVMIntPredicate> {
        let is_comparison = self.opcode() == Some(LLVMOpcode::LLVMICmp);
        // SAFETY: it is a comparison of integers.
        is_comparison.then(|| unsafe { LLVMGetICmpPredicate(self.raw) })
    }

    /// What a local variable in memory consists of.
    pub(super) fn allocated_type(self) -> Option<Type<'m>> {
        let is_local = self.opcode() == Some(LLVMOpcode::LLVMAlloca);
        // SAFETY: it is a local variable in memory.
        is_local.then(|| unsafe { Type::new(LLVMGetAllocatedType(self.raw)) })
    }

    /// What `getelementptr`, as an instruction or an expression, takes its base for.
    pub(super) fn stepped_type(self) -> Option<Type<'m>> {
        let opcode = self.opcode().or(self.expression());
        let is_step = opcode == Some(LLVMOpcode::LLVMGetElementPtr);
        // SAFETY: it is a step into something.
        is_step.then(|| unsafe { Type::new(LLVMGetGEPSourceElementType(self.raw)) })
    }

    /// Where an instruction stands in the source text.
    pub(super) fn location(self) -> Option<Node<'m>> {
        self.opcode()?;
        // SAFETY: it is an instruction; its location lives in the context.
        unsafe { Node::new(LLVMInstructionGetDebugLoc(self.raw), self.context()) }
    }

    /// The metadata that an argument of an intrinsic carries.
    pub(super) fn metadata(self) -> Option<Node<'m>> {
        if self.kind() != LLVMValueKind::LLVMMetadataAsValueValueKind {
            return None;
        }
        // SAFETY: it carries metadata, which lives in the context.
        unsafe { Node::new(LLVMValueAsMetadata(self.raw), self.context()) }
    }

    pub(super) fn context(self) -> llvm_sys::prelude::LLVMContextRef {
        // SAFETY: every value has a type, and every type a context.
        unsafe { LLVMGetTypeContext(LLVMTypeOf(self.raw)) }
    }
}

impl<'m> Block<'m> {
    /// # Safety
    /// As for [`Value::new`].
    pub(super) unsafe fn new(raw: LLVMBasicBlockRef) -> Option<Self> {
        let of = PhantomData;
        (!raw.is_null()).then_some(Block { raw, of })
    }

    /// The block behind it in its function.
    pub(super) fn next(self) -> Option<Self> {
        // SAFETY: the block is valid; behind the last one there is null.
        unsafe { Block::new(LLVMGetNextBasicBlock(self.raw)) }
    }

    /// Its instructions, the terminator last.
    pub(super) fn instructions(self) -> Vec<Value<'m>> {
        let mut instructions = Vec::new();
        // SAFETY: the block is valid, and its list of instructions ends with null.
        unsafe {
            let mut next = Value::new(LLVMGetFirstInstruction(self.raw));
            while let Some(instruction) = next {
                instructions.push(instruction);
                next = Value::new(LLVMGetNextInstruction(instruction.raw));
            }
        }
        instructions
    }
}

/// The text of this length.
///
/// # Safety
/// The pointer is null, or readable for so many bytes.
pub(super) unsafe fn text(start: *const c_char, length: usize) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}
