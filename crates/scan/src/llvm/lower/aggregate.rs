//! Structures that are values: what a function returns in two registers, and exchanges.
//!
//! LLVM reads, writes and returns them as one value. Here their members are read and written one by one, so that each keeps its address.

use llvm_sys::LLVMOpcode::*;

use super::function::Body;
use super::instruction::{copy, mark};
use crate::ir::{Comparison, Kind, LayoutId, Offset, Operand, ValueId};
use crate::llvm::types::Type;
use crate::llvm::value::Value;

/// Larger ones are passed in memory.
const MOST_MEMBERS: usize = 8;

impl<'m> Body<'_, 'm> {
    /// The offsets and types of a structure's members, if it is one that is taken apart.
    fn members(&self, ty: Type<'m>) -> Option<Vec<(u64, Type<'m>)>> {
        if !ty.is_struct() {
            return None;
        }
        let sizes = self.lowering.sizes;
        let members: Vec<_> = (0..)
            .map_while(|index| Some((sizes.offset(ty, index), ty.member(index)?)))
            .collect();
        let is_flat = members
            .iter()
            .all(|(_, member)| !member.is_struct() && !member.is_array());
        (is_flat && members.len() <= MOST_MEMBERS).then_some(members)
    }

    fn part_of(&mut self, base: Operand, offset: u64, layout: Option<LayoutId>) -> Operand {
        let into = self.fresh(true);
        let offset = Offset::Constant(i64::try_from(offset).unwrap_or(i64::MAX));
        self.push(Kind::Part {
            into,
            base,
            offset,
            layout,
        });
        Operand::Value(into)
    }

    /// The structure that an address points at.
    pub(super) fn layout_at(&mut self, address: Value<'m>) -> Option<LayoutId> {
        let pointee = self.pointee(address)?;
        self.lowering.layouts.layout(pointee)
    }

    /// Reads a structure member by member; `None` if it is read as a whole.
    pub(super) fn load_members(&mut self, instruction: Value<'m>, into: ValueId) -> Option<Kind> {
        let members = self.members(instruction.ty())?;
        let address = instruction.operand(0)?;
        let (base, layout) = (self.operand(address), self.layout_at(address));
        let mut read = Vec::new();
        for (index, (offset, ty)) in (0..).zip(members) {
            let from = self.part_of(base, offset, layout);
            // Pointers to member functions are read as numbers.
            let becomes_address = instruction
                .users()
                .iter()
                .any(|user| user.member_indices() == [index] && self.numbers.contains(user));
            let member = self.fresh(ty.is_pointer() || becomes_address);
            self.push(Kind::Load {
                into: member,
                from,
                size: self.lowering.sizes.accessed(ty),
                mark: mark(instruction),
            });
            read.push(Operand::Value(member));
        }
        self.taken_apart.insert(instruction, read.clone());
        Some(Kind::Compute { into, from: read })
    }

    /// Writes a structure member by member; `false` if it is written as a whole.
    pub(super) fn store_members(&mut self, instruction: Value<'m>) -> bool {
        let (Some(value), Some(to)) = (instruction.operand(0), instruction.operand(1)) else {
            return false;
        };
        let Some(members) = self.members(value.ty()) else {
            return false;
        };
        let (base, layout) = (self.operand(to), self.layout_at(to));
        for (index, (offset, ty)) in (0..).zip(members) {
            let to = self.part_of(base, offset, layout);
            let value = match self.member(value, vec![index]) {
                Member::Known(operand) => operand,
                Member::Of(whole) => {
                    let into = self.fresh(ty.is_pointer());
                    let from = vec![whole];
                    self.push(Kind::Compute { into, from });
                    Operand::Value(into)
                }
            };
            self.push(Kind::Store {
                to,
                value,
                size: self.lowering.sizes.accessed(ty),
                mark: mark(instruction),
            });
        }
        true
    }

    /// A member of a structure as a statement.
    pub(super) fn extracted(&mut self, instruction: Value<'m>, into: ValueId) -> Option<Kind> {
        let whole = instruction.operand(0)?;
        let wanted = instruction.member_indices();
        // An exchange gives what was there, and whether it took place: if what was there was expected.
        if whole.opcode() == Some(LLVMAtomicCmpXchg) {
            let was = self.operand(whole);
            return Some(match wanted.as_slice() {
                [0] => copy(into, [was]),
                _ => Kind::Compare {
                    into,
                    how: Comparison::Equal,
                    operands: [was, self.operand(whole.operand(1)?)],
                },
            });
        }
        Some(match self.member(whole, wanted) {
            Member::Known(operand) => copy(into, [operand]),
            Member::Of(whole) => Kind::Compute {
                into,
                from: vec![whole],
            },
        })
    }

    /// What was put there, if that is seen, or else something of the whole.
    fn member(&mut self, mut whole: Value<'m>, mut wanted: Vec<u32>) -> Member {
        while whole.opcode() == Some(LLVMInsertValue) {
            let put = whole.member_indices();
            let rest = wanted.strip_prefix(put.as_slice()).map(<[u32]>::to_vec);
            let next = match &rest {
                Some(_) => whole.operand(1),
                None if put.starts_with(&wanted) => break,
                None => whole.operand(0),
            };
            let Some(next) = next else { break };
            whole = next;
            if let Some(rest) = rest {
                wanted = rest;
            }
            if wanted.is_empty() {
                return Member::Known(self.operand(whole));
            }
        }
        if let [index] = *wanted.as_slice()
            && let Some(members) = self.taken_apart.get(&whole)
            && let Some(member) = members.get(index as usize)
        {
            return Member::Known(*member);
        }
        if whole.is_constant()
            && let [index] = *wanted.as_slice()
            && let Some(member) = whole.operand(index)
        {
            return Member::Known(self.operand(member));
        }
        Member::Of(self.operand(whole))
    }
}

/// What is known of a member.
enum Member {
    Known(Operand),
    Of(Operand),
}
