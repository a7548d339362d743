//! Functions and global variables of LLVM, and other names for them.
//!
//! The handle is valid in every method, as for all values; what only some can be asked is asked of no others.

use std::ffi::{CStr, c_uint};

use llvm_sys::LLVMLinkage::{LLVMInternalLinkage, LLVMPrivateLinkage};
use llvm_sys::LLVMValueKind;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMGetSubprogram;

use super::node::Node;
use super::types::Type;
use super::value::{Block, Value};

impl<'m> Value<'m> {
    fn is_object(self) -> bool {
        use LLVMValueKind::{LLVMFunctionValueKind, LLVMGlobalVariableValueKind};
        let kind = self.kind();
        kind == LLVMFunctionValueKind || kind == LLVMGlobalVariableValueKind
    }

    fn is_function(self) -> bool {
        self.kind() == LLVMValueKind::LLVMFunctionValueKind
    }

    fn is_variable(self) -> bool {
        self.kind() == LLVMValueKind::LLVMGlobalVariableValueKind
    }

    /// What stands behind another name.
    pub(super) fn aliased(self) -> Option<Value<'m>> {
        if self.kind() != LLVMValueKind::LLVMGlobalAliasValueKind {
            return None;
        }
        // SAFETY: it is another name of something.
        unsafe { Value::new(LLVMAliasGetAliasee(self.raw())) }
    }

    /// Whether other modules see it.
    pub(super) fn is_external(self) -> bool {
        // SAFETY: it is told apart first whether it is a global value.
        unsafe {
            if LLVMIsAGlobalValue(self.raw()).is_null() {
                return false;
            }
            let linkage = LLVMGetLinkage(self.raw());
            linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage
        }
    }

    /// The section it is put into, if that is said.
    pub(super) fn section(self) -> Option<String> {
        if !self.is_object() {
            return None;
        }
        // SAFETY: functions and variables may have sections; the text lives in the context.
        let name = unsafe {
            let name = LLVMGetSection(self.raw());
            if name.is_null() {
                return None;
            }
            CStr::from_ptr(name).to_string_lossy().into_owned()
        };
        (!name.is_empty()).then_some(name)
    }

    /// The type of the function, or of the variable's contents.
    pub(super) fn contents_type(self) -> Option<Type<'m>> {
        // SAFETY: functions and variables have such a type.
        self.is_object()
            .then(|| unsafe { Type::new(LLVMGlobalGetValueType(self.raw())) })
    }

    /// What a variable holds in the beginning.
    pub(super) fn initialiser(self) -> Option<Value<'m>> {
        if !self.is_variable() {
            return None;
        }
        // SAFETY: it is a variable; without an initialiser there is null.
        unsafe { Value::new(LLVMGetInitializer(self.raw())) }
    }

    pub(super) fn is_thread_local(self) -> bool {
        // SAFETY: it is a variable.
        self.is_variable() && unsafe { LLVMIsThreadLocal(self.raw()) } != 0
    }

    pub(super) fn is_never_written(self) -> bool {
        // SAFETY: it is a variable.
        self.is_variable() && unsafe { LLVMIsGlobalConstant(self.raw()) } != 0
    }

    pub(super) fn is_intrinsic(self) -> bool {
        // SAFETY: it is a function.
        self.is_function() && unsafe { LLVMGetIntrinsicID(self.raw()) } != 0
    }

    /// The function's own entry in the debug information.
    pub(super) fn subprogram(self) -> Option<Node<'m>> {
        if !self.is_function() {
            return None;
        }
        // SAFETY: it is a function; the entry lives in the context.
        unsafe { Node::new(LLVMGetSubprogram(self.raw()), self.context()) }
    }

    /// What is attached to a function or variable under this number of a kind of metadata.
    pub(super) fn attached(self, kind: u32) -> Vec<Node<'m>> {
        if !self.is_object() {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut count = 0;
        // SAFETY: LLVM returns an array of as many entries as it says, which is ours to free.
        unsafe {
            let entries = LLVMGlobalCopyAllMetadata(self.raw(), &mut count);
            for index in 0..c_uint::try_from(count).unwrap_or(0) {
                if LLVMValueMetadataEntriesGetKind(entries, index) == kind {
                    let node = LLVMValueMetadataEntriesGetMetadata(entries, index);
                    found.extend(Node::new(node, self.context()));
                }
            }
            LLVMDisposeValueMetadataEntries(entries);
        }
        found
    }

    /// A function's parameters.
    pub(super) fn parameters(self) -> Vec<Value<'m>> {
        if !self.is_function() {
            return Vec::new();
        }
        // SAFETY: it is a function, asked for no more parameters than it has.
        unsafe {
            let count = LLVMCountParams(self.raw());
            let all = (0..count).map(|index| LLVMGetParam(self.raw(), index));
            all.filter_map(|each| Value::new(each)).collect()
        }
    }

    /// A function's blocks, the entry first.
    pub(super) fn blocks(self) -> Vec<Block<'m>> {
        let mut blocks = Vec::new();
        if !self.is_function() {
            return blocks;
        }
        // SAFETY: it is a function, and its list of blocks ends with null.
        unsafe {
            let mut next = Block::new(LLVMGetFirstBasicBlock(self.raw()));
            while let Some(block) = next {
                blocks.push(block);
                next = block.next();
            }
        }
        blocks
    }
}
