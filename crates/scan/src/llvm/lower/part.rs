//! Steps into structures and arrays: how far, and into which structure.

use llvm_sys::LLVMOpcode;

use super::global::innermost;
use super::{Lowering, function::Body};
use crate::ir::{Kind, Offset, Operand, ValueId};
use crate::llvm::debug::{at_offset, stripped};
use crate::llvm::node::Node;
use crate::llvm::types::Type;
use crate::llvm::value::Value;

/// What a step consists of.
pub(super) struct Steps<'m> {
    /// So many bytes in any case.
    pub(super) constant: i64,
    /// Indices that are not constant, with how many bytes each counts for.
    pub(super) variables: Vec<(u64, Value<'m>)>,
    /// The first structure on the way.
    pub(super) structure: Option<Type<'m>>,
    /// What is there in the end.
    pub(super) reached: Type<'m>,
}

/// Whether a number is the second half of a pointer to a member function: how far the object lies from where the function expects it.
fn adjusts_member(index: Value) -> bool {
    let pair = index.operand(0).map(|pair| pair.ty());
    let halves = pair.map(|pair| [0, 1, 2].map(|half| pair.member(half)));
    let is_number = |ty: &Option<Type>| ty.is_some_and(|ty| ty.integer_width() == Some(64));
    let is_read = index.operand(0).and_then(Value::opcode) == Some(LLVMOpcode::LLVMLoad);
    index.member_indices() == [1]
        && is_read
        && halves.is_some_and(|[one, other, rest]| {
            is_number(&one) && is_number(&other) && rest.is_none()
        })
}

impl<'m> Lowering<'m> {
    /// The steps of an instruction or expression; `None` for those that are done for several addresses at once.
    pub(super) fn steps(&self, value: Value<'m>) -> Option<Steps<'m>> {
        let source = value.stepped_type()?;
        let mut steps = Steps {
            constant: 0,
            variables: Vec::new(),
            structure: None,
            reached: source,
        };
        for (nth, index) in value.operands().skip(1).enumerate() {
            let before = steps.reached;
            index.ty().integer_width()?;
            let stride = if nth == 0 {
                self.sizes.stride(before)
            } else if before.is_struct() {
                let member = u32::try_from(index.integer()?).ok()?;
                steps.structure = steps.structure.or(Some(before));
                let offset = self.sizes.offset(before, member);
                steps.constant = steps.constant.wrapping_add_unsigned(offset);
                steps.reached = before.member(member)?;
                continue;
            } else {
                steps.reached = before.element()?;
                self.sizes.stride(steps.reached)
            };
            match index.integer() {
                Some(number) => {
                    let bytes = number.wrapping_mul(i64::try_from(stride).unwrap_or(0));
                    steps.constant = steps.constant.wrapping_add(bytes);
                }
                // Where a base class lies in a derived one: nearly always at its beginning.
                None if stride == 1 && adjusts_member(index) => {}
                None => steps.variables.push((stride, index)),
            }
        }
        // An element of an array of structures, of which no member is named.
        let element = innermost(source);
        if steps.structure.is_none() && element.is_struct() {
            steps.structure = Some(element);
        }
        Some(steps)
    }

    /// The structure that is stepped into, and what the address is known to point at afterwards.
    pub(super) fn stepped_into(
        &mut self,
        steps: &Steps<'m>,
        known: Option<Node<'m>>,
    ) -> (Option<Node<'m>>, Option<Node<'m>>) {
        let sizes = self.sizes;
        if let Some(structure) = steps.structure {
            let element = known.and_then(|node| at_offset(node, 0, Some(structure), sizes));
            let Some(record) = self.layouts.record(structure, element, sizes) else {
                return (None, None);
            };
            let size = i64::try_from(sizes.stride(structure)).unwrap_or(0);
            let within = steps.constant.checked_rem_euclid(size).unwrap_or(0);
            let reached = at_offset(record, within.unsigned_abs(), Some(steps.reached), sizes);
            return (Some(record), reached);
        }
        let Some(known) = known.and_then(stripped) else {
            return (None, None);
        };
        let Ok(offset) = u64::try_from(steps.constant) else {
            return (None, None);
        };
        // Bytes are counted by code that knows better than the type what lies there.
        let counts_bytes = sizes.stride(steps.reached) == 1;
        let inside = offset < known.bits() / 8;
        if counts_bytes && inside && steps.variables.is_empty() {
            return (Some(known), at_offset(known, offset, None, sizes));
        }
        let offset = if inside { offset } else { 0 };
        (None, at_offset(known, offset, Some(steps.reached), sizes))
    }
}

impl<'m> Body<'_, 'm> {
    /// A step as a statement.
    pub(super) fn part(&mut self, into: ValueId, value: Value<'m>) -> Kind {
        let base_value = value.operand(0);
        let base = base_value.map_or(Operand::Other, |base| self.operand(base));
        let Some(steps) = self.lowering.steps(value) else {
            let (offset, layout) = (Offset::Unknown, None);
            return Kind::Part {
                into,
                base,
                offset,
                layout,
            };
        };
        let offset = match *steps.variables.as_slice() {
            [] => Offset::Constant(steps.constant),
            [(stride, index)] => match self.operand(index) {
                Operand::Value(index) => Offset::Element {
                    stride,
                    index,
                    constant: steps.constant,
                },
                _ => Offset::Unknown,
            },
            _ => Offset::Unknown,
        };
        let known = base_value.and_then(|base| self.pointee(base));
        let (record, _) = self.lowering.stepped_into(&steps, known);
        let layout = record.and_then(|record| self.lowering.layouts.layout(record));
        Kind::Part {
            into,
            base,
            offset,
            layout,
        }
    }
}
