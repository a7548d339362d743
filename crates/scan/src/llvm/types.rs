//! Types of LLVM, and how many bytes they take.

use std::ffi::CStr;
use std::marker::PhantomData;

use llvm_sys::LLVMTypeKind::{self, *};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;
use llvm_sys::target::{
    LLVMABISizeOfType, LLVMOffsetOfElement, LLVMStoreSizeOfType, LLVMTargetDataRef,
};

/// A type. Its handle is valid: types live as long as their context, and that outlives `'m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Type<'m> {
    raw: LLVMTypeRef,
    of: PhantomData<&'m ()>,
}

impl<'m> Type<'m> {
    /// The type behind a handle.
    ///
    /// # Safety
    /// The handle belongs to a context that lives as long as `'m`.
    pub(super) unsafe fn new(raw: LLVMTypeRef) -> Self {
        let of = PhantomData;
        Type { raw, of }
    }

    pub(super) fn kind(self) -> LLVMTypeKind {
        // SAFETY: the handle is valid, and every kind of LLVM 19 is in the enumeration.
        unsafe { LLVMGetTypeKind(self.raw) }
    }

    pub(super) fn is_pointer(self) -> bool {
        self.kind() == LLVMPointerTypeKind
    }

    pub(super) fn is_void(self) -> bool {
        self.kind() == LLVMVoidTypeKind
    }

    pub(super) fn is_struct(self) -> bool {
        self.kind() == LLVMStructTypeKind
    }

    pub(super) fn is_array(self) -> bool {
        matches!(self.kind(), LLVMArrayTypeKind | LLVMVectorTypeKind)
    }

    pub(super) fn integer_width(self) -> Option<u32> {
        let is_integer = self.kind() == LLVMIntegerTypeKind;
        // SAFETY: it is a type of integers.
        is_integer.then(|| unsafe { LLVMGetIntTypeWidth(self.raw) })
    }

    /// What a structure was called by the compiler: `struct.account`.
    pub(super) fn struct_name(self) -> Option<String> {
        if !self.is_struct() {
            return None;
        }
        // SAFETY: it is a structure; nameless ones have null.
        unsafe {
            let name = LLVMGetStructName(self.raw);
            (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
        }
    }

    /// The type of a structure's member.
    pub(super) fn member(self, index: u32) -> Option<Type<'m>> {
        if !self.is_struct() {
            return None;
        }
        // SAFETY: it is a structure that has so many members.
        unsafe {
            (index < LLVMCountStructElementTypes(self.raw))
                .then(|| Type::new(LLVMStructGetTypeAtIndex(self.raw, index)))
        }
    }

    /// The type of an array's elements.
    pub(super) fn element(self) -> Option<Type<'m>> {
        // SAFETY: arrays and vectors have elements.
        self.is_array()
            .then(|| unsafe { Type::new(LLVMGetElementType(self.raw)) })
    }
}

/// How many bytes types take, in one module.
#[derive(Clone, Copy)]
pub(super) struct Sizes<'m> {
    raw: LLVMTargetDataRef,
    of: PhantomData<&'m ()>,
}

impl<'m> Sizes<'m> {
    /// # Safety
    /// The handle belongs to a module that lives as long as `'m`.
    pub(super) unsafe fn new(raw: LLVMTargetDataRef) -> Self {
        let of = PhantomData;
        Sizes { raw, of }
    }

    fn has_size(self, ty: Type<'m>) -> bool {
        let mut innermost = ty;
        while let Some(element) = innermost.element() {
            innermost = element;
        }
        // SAFETY: the type is valid. Scalable vectors have no fixed size.
        innermost.kind() != LLVMScalableVectorTypeKind && unsafe { LLVMTypeIsSized(ty.raw) } != 0
    }

    /// How far elements of an array of it are apart; 0 if that is not known.
    pub(super) fn stride(self, ty: Type<'m>) -> u64 {
        if !self.has_size(ty) {
            return 0;
        }
        // SAFETY: the type has a size.
        unsafe { LLVMABISizeOfType(self.raw, ty.raw) }
    }

    /// How many bytes an access of it touches; 0 if that is not known.
    pub(super) fn accessed(self, ty: Type<'m>) -> u64 {
        if !self.has_size(ty) {
            return 0;
        }
        // SAFETY: the type has a size.
        unsafe { LLVMStoreSizeOfType(self.raw, ty.raw) }
    }

    /// Where a structure's member begins.
    pub(super) fn offset(self, ty: Type<'m>, member: u32) -> u64 {
        if ty.member(member).is_none() || !self.has_size(ty) {
            return 0;
        }
        // SAFETY: it is a structure of a known size that has this member.
        unsafe { LLVMOffsetOfElement(self.raw, ty.raw, member) }
    }
}
