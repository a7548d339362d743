//! Calls: of functions, through pointers, of assembly, and of what the compiler itself knows.

use llvm_sys::LLVMValueKind::*;

use super::function::Body;
use super::instruction::copy;
use crate::ir::{Callee, Kind, Operand};
use crate::llvm::types::Type;
use crate::llvm::value::Value;

/// Intrinsics that do nothing that an analysis asks about.
const DROPPED: [&str; 17] = [
    "llvm.assume",
    "llvm.codeview",
    "llvm.dbg.",
    "llvm.debugtrap",
    "llvm.donothing",
    "llvm.experimental.noalias.scope.decl",
    "llvm.instrprof",
    "llvm.invariant.",
    "llvm.lifetime.",
    "llvm.prefetch",
    "llvm.pseudoprobe",
    "llvm.sideeffect",
    "llvm.stackrestore",
    "llvm.trap",
    "llvm.ubsantrap",
    "llvm.va_end",
    "llvm.var.annotation",
];

/// Intrinsics that return their first argument.
const COPIES: [&str; 10] = [
    "llvm.annotation",
    "llvm.expect",
    "llvm.launder.invariant.group",
    "llvm.preserve.array.access",
    "llvm.preserve.union.access",
    "llvm.ptr.annotation",
    "llvm.ptrmask",
    "llvm.ssa.copy",
    "llvm.strip.invariant.group",
    "llvm.threadlocal.address",
];

/// Intrinsics that are functions of the C library.
const LIBRARY: [(&str, &str); 4] = [
    ("llvm.memcpy", "memcpy"),
    ("llvm.memmove", "memmove"),
    ("llvm.memset", "memset"),
    ("llvm.va_copy", "memcpy"),
];

/// How many bytes `va_list` has.
const ARGUMENT_LIST: i64 = 24;

impl<'m> Body<'_, 'm> {
    /// Adds a call.
    pub(super) fn call(&mut self, instruction: Value<'m>) {
        let Some(callee) = instruction.callee() else {
            return;
        };
        if callee.is_intrinsic() {
            return self.intrinsic(instruction, &callee.name());
        }
        let callee = match callee.kind() {
            LLVMInlineAsmValueKind => Callee::Assembly,
            _ => match self.operand(callee) {
                Operand::Function(function) => Callee::Direct(function),
                pointer => {
                    let ty = instruction.callee_type();
                    let signature = ty.map(|ty| self.lowering.signature(ty));
                    Callee::Indirect(pointer, signature.unwrap_or_default())
                }
            },
        };
        let arguments = self.arguments(instruction);
        let into = self.id(instruction);
        self.push(Kind::Call {
            into,
            callee,
            arguments,
        });
    }

    fn arguments(&mut self, instruction: Value<'m>) -> Vec<Operand> {
        let mut arguments = Vec::new();
        for (index, value) in (0..).zip(instruction.arguments()) {
            let argument = self.operand(value);
            arguments.push(match instruction.copied_argument(index) {
                Some(ty) => self.copied(value, argument, ty),
                None => argument,
            });
        }
        arguments
    }

    /// A copy for the function that is called; LLVM says only that there is one.
    fn copied(&mut self, value: Value<'m>, from: Operand, ty: Type<'m>) -> Operand {
        let size = self.lowering.sizes.stride(ty);
        let layout = self.layout_at(value);
        let into = self.fresh(true);
        self.push(Kind::Local { into, size, layout });
        let copy = Operand::Value(into);
        let size = Operand::Integer(i64::try_from(size).unwrap_or(0));
        self.call_named("memcpy", vec![copy, from, size]);
        copy
    }

    fn intrinsic(&mut self, instruction: Value<'m>, name: &str) {
        let is = |prefix: &&str| name.starts_with(*prefix);
        if DROPPED.iter().any(&is) {
            return;
        }
        let into = self.id(instruction);
        let mut arguments = self.arguments(instruction);
        if let Some((prefix, function)) = LIBRARY.iter().find(|(prefix, _)| is(prefix)) {
            if *prefix == "llvm.va_copy" {
                arguments.push(Operand::Integer(ARGUMENT_LIST));
            }
            // Behind the three there is whether it is volatile.
            arguments.truncate(3);
            return self.call_named(function, arguments);
        }
        if name.starts_with("llvm.is.constant") {
            self.unread(&arguments);
            arguments.clear();
        }
        let kind = match (into, arguments.first()) {
            (Some(into), Some(first)) if COPIES.iter().any(is) => copy(into, [*first]),
            (Some(into), _) => {
                let from = arguments;
                Kind::Compute { into, from }
            }
            (None, _) => return self.call_named(name.trim_end_matches(".p0"), arguments),
        };
        self.push(kind);
    }

    /// The compiler is only asked whether it knows a value: then nothing is read to find out.
    fn unread(&mut self, arguments: &[Operand]) {
        let last = self.statements.last().map(|statement| &statement.kind);
        if let (Some(Kind::Load { into, .. }), [Operand::Value(value)]) = (last, arguments)
            && into == value
        {
            self.statements.pop();
        }
    }

    fn call_named(&mut self, name: &str, arguments: Vec<Operand>) {
        let callee = Callee::Direct(self.lowering.function_named(name));
        self.push(Kind::Call {
            into: None,
            callee,
            arguments,
        });
    }
}
