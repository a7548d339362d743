//! Functions that came with the compiler, in headers or as generic code, become part of those who call them.
//!
//! In C++ and Rust a thread's creation, a guard or a smart pointer is a dozen small functions deep, all of them templates that the whole
//! program shares. Seen from outside they mix up whatever passes through them. As part of their callers they are
//! what they are there, and every access in them has a place in the program's own text: the one that it was inlined at. What the model
//! knows stays a call.
//!
//! Only unoptimised code is inlined, so no access is lost. What would make a caller too large stays where it is.

use llvm_sys::LLVMAttributeFunctionIndex;
use llvm_sys::core::*;
use rustc_hash::FxHashMap;

use deadheat_report::is_foreign_file;

use super::debug::file_of;
use super::module::Module;
use super::value::Value;

/// How many instructions a function may have that is inlined, with all that is inlined into it.
const LARGEST: usize = 4000;

/// Marks functions of others that are to be inlined, unless they are known. Whether there are any.
pub(super) fn foreign(module: &Module, is_known: &dyn Fn(&str) -> bool) -> bool {
    if !module.is_in(&["DW_LANG_C_plus_plus", "DW_LANG_Rust"]) {
        return false;
    }
    let mut sizes = Sizes::default();
    for function in module.functions() {
        if is_known(&function.name()) {
            unmark(function);
        }
        if !function.blocks().is_empty() && is_foreign(function) && !is_known(&function.name()) {
            sizes.of.insert(function, Size::Open);
        }
    }
    let candidates: Vec<Value> = sizes.of.keys().copied().collect();
    for function in &candidates {
        sizes.measure(*function);
    }
    let mut any = false;
    for function in candidates {
        if sizes
            .of
            .get(&function)
            .is_some_and(|size| matches!(size, Size::Known(size) if *size <= LARGEST))
        {
            mark(function);
            any = true;
        }
    }
    any
}

fn is_foreign(function: Value) -> bool {
    let file = function.subprogram().and_then(file_of);
    file.is_some_and(|file| is_foreign_file(&file))
}

/// How large a function is with what is inlined into it.
#[derive(Clone, Copy)]
enum Size {
    Open,
    Busy,
    Known(usize),
}

/// Of all functions that may be inlined.
#[derive(Default)]
struct Sizes<'m> {
    of: FxHashMap<Value<'m>, Size>,
}

impl<'m> Sizes<'m> {
    /// How many instructions a call of a function becomes. One that calls itself stays a call.
    fn measure(&mut self, function: Value<'m>) -> usize {
        match self.of.get(&function) {
            None | Some(Size::Busy) => return 0,
            Some(Size::Known(size)) if *size > LARGEST => return 0,
            Some(Size::Known(size)) => return *size,
            Some(Size::Open) => {}
        }
        self.of.insert(function, Size::Busy);
        let mut size = 0;
        for block in function.blocks() {
            for instruction in block.instructions() {
                size += 1;
                if let Some(callee) = instruction.callee() {
                    size += self.measure(callee);
                }
            }
        }
        self.of.insert(function, Size::Known(size));
        if size > LARGEST { 0 } else { size }
    }
}

/// What is known is not inlined, whatever its author says.
fn unmark(function: Value) {
    let name = c"alwaysinline";
    // SAFETY: a function of the module, and an attribute that LLVM knows by name.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr(), name.count_bytes());
        LLVMRemoveEnumAttributeAtIndex(function.raw(), LLVMAttributeFunctionIndex, kind);
    }
}

fn mark(function: Value) {
    let raw = function.raw();
    // SAFETY: a function of the module, and attributes that LLVM knows by name and that have no value.
    unsafe {
        for name in [c"noinline", c"optnone"] {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr(), name.count_bytes());
            LLVMRemoveEnumAttributeAtIndex(raw, LLVMAttributeFunctionIndex, kind);
        }
        let name = c"alwaysinline";
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr(), name.count_bytes());
        let attribute = LLVMCreateEnumAttribute(function.context(), kind, 0);
        LLVMAddAttributeAtIndex(raw, LLVMAttributeFunctionIndex, attribute);
    }
}
