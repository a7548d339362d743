//! What the pointers in structures and global variables point at: the structures that are read through them anywhere in the program.

use rustc_hash::FxHashMap;

use crate::ir::{Function, GlobalId, Kind, LayoutId, Offset, Operand, Program, ValueId};

/// Where a pointer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pointer {
    /// In a structure, so many bytes from its beginning.
    Field(LayoutId, i64),
    /// In a global variable.
    Global(GlobalId, i64),
}

/// The structures that pointers point at.
#[derive(Default)]
pub struct Pointees {
    of: FxHashMap<Pointer, LayoutId>,
}

impl Pointees {
    /// Looks at everything that is read.
    pub fn of(program: &Program) -> Self {
        let mut pointees = Pointees::default();
        for function in &program.functions {
            pointees.look_at(function);
        }
        pointees
    }

    fn look_at(&mut self, function: &Function) {
        let mut fields: FxHashMap<ValueId, Pointer> = FxHashMap::default();
        let statements = || function.blocks.iter().flat_map(|block| &block.statements);
        for statement in statements() {
            if let Kind::Part {
                into,
                offset: Offset::Constant(by),
                layout: Some(layout),
                ..
            } = &statement.kind
            {
                fields.insert(*into, Pointer::Field(*layout, *by));
            }
        }
        for statement in statements() {
            let Kind::Load { into, from, .. } = &statement.kind else {
                continue;
            };
            let pointer = match from {
                Operand::Global(id, offset) => Some(Pointer::Global(*id, *offset)),
                Operand::Value(value) => fields.get(value).copied(),
                _ => None,
            };
            let value = function.values.get(into.index());
            let pointee = value.and_then(|value| value.pointee);
            if let (Some(pointer), Some(pointee)) = (pointer, pointee) {
                self.of.entry(pointer).or_insert(pointee);
            }
        }
    }

    /// What a pointer points at.
    pub fn at(&self, pointer: Pointer) -> Option<LayoutId> {
        self.of.get(&pointer).copied()
    }
}
