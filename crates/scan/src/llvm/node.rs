//! Nodes of LLVM's metadata: what the debug information is made of.
//!
//! LLVM's interface for C gives only some of what a node says; the rest is read from its operands, whose order is that of LLVM 19.

use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef};

use super::value::{Value, text};

unsafe extern "C" {
    /// As a number: an enumeration would have to know every kind.
    #[link_name = "LLVMGetMetadataKind"]
    fn metadata_kind(node: LLVMMetadataRef) -> u32;
}

/// Kinds of nodes, as LLVM 19 numbers them for C.
pub(super) mod kind {
    pub(in crate::llvm) const STRING: u32 = 0;
    pub(in crate::llvm) const CONSTANT: u32 = 1;
    pub(in crate::llvm) const LOCAL: u32 = 2;
    pub(in crate::llvm) const TUPLE: u32 = 4;
    pub(in crate::llvm) const LOCATION: u32 = 5;
    pub(in crate::llvm) const GLOBAL_EXPRESSION: u32 = 7;
    pub(in crate::llvm) const BASIC: u32 = 11;
    pub(in crate::llvm) const COMPOSITE: u32 = 13;
    pub(in crate::llvm) const SUBROUTINE: u32 = 14;
    pub(in crate::llvm) const FILE: u32 = 15;
    pub(in crate::llvm) const SUBPROGRAM: u32 = 17;
    pub(in crate::llvm) const BLOCK: u32 = 18;
    pub(in crate::llvm) const BLOCK_FILE: u32 = 19;
    pub(in crate::llvm) const NAMESPACE: u32 = 20;
    pub(in crate::llvm) const GLOBAL_VARIABLE: u32 = 24;
    pub(in crate::llvm) const LOCAL_VARIABLE: u32 = 25;
    pub(in crate::llvm) const LAST_OF_NODES: u32 = 33;
}

/// A node. Its handle is valid: metadata lives as long as its context, and that outlives `'m`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'m> {
    raw: LLVMMetadataRef,
    context: LLVMContextRef,
    of: PhantomData<&'m ()>,
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Node<'_> {}

impl Hash for Node<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}

impl<'m> Node<'m> {
    /// The node behind a handle, unless that is null.
    ///
    /// # Safety
    /// The handle is null, or belongs to this context, which lives as long as `'m`.
    pub(super) unsafe fn new(raw: LLVMMetadataRef, context: LLVMContextRef) -> Option<Self> {
        let of = PhantomData;
        (!raw.is_null()).then_some(Node { raw, context, of })
    }

    pub(super) fn kind(self) -> u32 {
        // SAFETY: the handle is valid.
        unsafe { metadata_kind(self.raw) }
    }

    fn is_type(self) -> bool {
        (kind::BASIC..=kind::SUBROUTINE).contains(&self.kind())
    }

    /// Whether it is something that has operands.
    pub(super) fn has_operands(self) -> bool {
        (kind::TUPLE..=kind::LAST_OF_NODES).contains(&self.kind())
    }

    /// What it consists of; what is missing there is `None`.
    fn operand_values(self) -> Vec<Option<Value<'m>>> {
        if !self.has_operands() {
            return Vec::new();
        }
        // SAFETY: it is a node with operands, and the array has room for all of them.
        unsafe {
            let value = LLVMMetadataAsValue(self.context, self.raw);
            let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(value) as usize];
            LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
            operands.into_iter().map(|each| Value::new(each)).collect()
        }
    }

    /// The nodes among its operands.
    pub(super) fn operands(self) -> impl Iterator<Item = Node<'m>> {
        let values = self.operand_values().into_iter().flatten();
        values.filter_map(Value::metadata)
    }

    fn operand_value(self, index: usize) -> Option<Value<'m>> {
        self.operand_values().get(index).copied().flatten()
    }

    pub(super) fn operand(self, index: usize) -> Option<Node<'m>> {
        self.operand_value(index)?.metadata()
    }

    /// The text that is its operand.
    pub(super) fn text(self, index: usize) -> Option<String> {
        let operand = self.operand_value(index)?;
        if operand.metadata()?.kind() != kind::STRING {
            return None;
        }
        let mut length = 0;
        // SAFETY: it is a text, whose length LLVM tells.
        let text = unsafe { text(LLVMGetMDString(operand.raw(), &mut length), length as usize) };
        (!text.is_empty()).then_some(text)
    }

    /// The number that is its operand.
    pub(super) fn number(self, index: usize) -> Option<i64> {
        self.operand_value(index)?.integer()
    }

    /// The value that it stands for in an intrinsic.
    pub(super) fn value(self) -> Option<Value<'m>> {
        if !matches!(self.kind(), kind::CONSTANT | kind::LOCAL) {
            return None;
        }
        // SAFETY: LLVM counts one operand for it, the value itself.
        unsafe {
            let value = LLVMMetadataAsValue(self.context, self.raw);
            let mut operand = std::ptr::null_mut();
            LLVMGetMDNodeOperands(value, &mut operand);
            Value::new(operand)
        }
    }

    /// What DWARF calls it.
    pub(super) fn tag(self) -> u16 {
        if !self.has_operands() || self.kind() < kind::GLOBAL_EXPRESSION {
            return 0;
        }
        // SAFETY: it is a node; those without a tag have 0.
        unsafe { LLVMGetDINodeTag(self.raw) }
    }

    /// How many bits a type has.
    pub(super) fn bits(self) -> u64 {
        if !self.is_type() {
            return 0;
        }
        // SAFETY: it is a type.
        unsafe { LLVMDITypeGetSizeInBits(self.raw) }
    }

    /// Where a member of a type begins, in bits.
    pub(super) fn bit_offset(self) -> u64 {
        if !self.is_type() {
            return 0;
        }
        // SAFETY: it is a type.
        unsafe { LLVMDITypeGetOffsetInBits(self.raw) }
    }

    /// Whether a type has all of these flags.
    pub(super) fn has_flags(self, flags: LLVMDIFlags) -> bool {
        // SAFETY: it is a type.
        self.is_type() && unsafe { LLVMDITypeGetFlags(self.raw) } & flags == flags
    }

    /// The line and column of a location.
    pub(super) fn line_and_column(self) -> Option<(u32, u32)> {
        if self.kind() != kind::LOCATION {
            return None;
        }
        // SAFETY: it is a location.
        unsafe {
            Some((
                LLVMDILocationGetLine(self.raw),
                LLVMDILocationGetColumn(self.raw),
            ))
        }
    }

    /// The line on which a variable or a function is declared.
    pub(super) fn declared_line(self) -> u32 {
        match self.kind() {
            // SAFETY: it is a variable.
            kind::GLOBAL_VARIABLE | kind::LOCAL_VARIABLE => unsafe {
                LLVMDIVariableGetLine(self.raw)
            },
            // SAFETY: it is a function.
            kind::SUBPROGRAM => unsafe { LLVMDISubprogramGetLine(self.raw) },
            _ => 0,
        }
    }

    /// The scope of a location, and where that was inlined.
    pub(super) fn scope_and_inlined_at(self) -> (Option<Node<'m>>, Option<Node<'m>>) {
        if self.kind() != kind::LOCATION {
            return (None, None);
        }
        // SAFETY: it is a location; its parts live in the same context.
        unsafe {
            (
                Node::new(LLVMDILocationGetScope(self.raw), self.context),
                Node::new(LLVMDILocationGetInlinedAt(self.raw), self.context),
            )
        }
    }

    /// As LLVM writes it.
    pub(super) fn printed(self) -> String {
        // SAFETY: the text is ours to free, and ends with a zero.
        unsafe {
            let value = LLVMMetadataAsValue(self.context, self.raw);
            super::module::owned_text(LLVMPrintValueToString(value))
        }
    }
}
