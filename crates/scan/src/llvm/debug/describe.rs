//! Asking nodes of the debug information what type they describe.

use llvm_sys::debuginfo::LLVMDIFlagStaticMember;

use crate::llvm::node::{Node, kind};
use crate::llvm::types::{Sizes, Type};

/// Tags of DWARF.
pub(super) mod tag {
    pub(in crate::llvm::debug) const ARRAY: u16 = 0x01;
    pub(in crate::llvm::debug) const CLASS: u16 = 0x02;
    pub(in crate::llvm::debug) const MEMBER: u16 = 0x0d;
    pub(in crate::llvm::debug) const POINTER: u16 = 0x0f;
    pub(in crate::llvm::debug) const REFERENCE: u16 = 0x10;
    pub(in crate::llvm::debug) const STRUCTURE: u16 = 0x13;
    pub(in crate::llvm::debug) const TYPEDEF: u16 = 0x16;
    pub(in crate::llvm::debug) const UNION: u16 = 0x17;
    pub(in crate::llvm::debug) const INHERITANCE: u16 = 0x1c;
    pub(in crate::llvm::debug) const CONST: u16 = 0x26;
    pub(in crate::llvm::debug) const VARIANT_PART: u16 = 0x33;
    pub(in crate::llvm::debug) const VOLATILE: u16 = 0x35;
    pub(in crate::llvm::debug) const RESTRICT: u16 = 0x37;
    pub(in crate::llvm::debug) const RVALUE_REFERENCE: u16 = 0x42;
    pub(in crate::llvm::debug) const TEMPLATE_ALIAS: u16 = 0x43;
    pub(in crate::llvm::debug) const ATOMIC: u16 = 0x47;
    pub(in crate::llvm::debug) const IMMUTABLE: u16 = 0x4b;
}

/// Operands of types.
pub(super) mod operand {
    pub(in crate::llvm::debug) const SCOPE: usize = 1;
    pub(in crate::llvm::debug) const NAME: usize = 2;
    pub(in crate::llvm::debug) const BASE: usize = 3;
    pub(in crate::llvm::debug) const ELEMENTS: usize = 4;
    pub(in crate::llvm::debug) const STORAGE: usize = 4;
    pub(in crate::llvm::debug) const IDENTIFIER: usize = 7;
}

/// No chain of types in a real program is longer.
const DEPTH: usize = 64;

/// The type without names for it and without qualifiers.
pub(in crate::llvm) fn stripped(mut node: Node) -> Option<Node> {
    for _ in 0..DEPTH {
        match node.tag() {
            tag::TYPEDEF | tag::CONST | tag::VOLATILE | tag::RESTRICT | tag::ATOMIC => {}
            tag::IMMUTABLE | tag::TEMPLATE_ALIAS | tag::MEMBER | tag::INHERITANCE => {}
            _ => return Some(node),
        }
        node = node.operand(operand::BASE)?;
    }
    None
}

/// What a pointer or reference points at; nothing is known of `void *`.
pub(in crate::llvm) fn pointed(node: Node) -> Option<Node> {
    let node = stripped(node)?;
    match node.tag() {
        tag::POINTER | tag::REFERENCE | tag::RVALUE_REFERENCE => node.operand(operand::BASE),
        _ => None,
    }
}

/// Whether it is a structure, a class or a union.
pub(super) fn is_record(node: Node) -> bool {
    node.kind() == kind::COMPOSITE
        && matches!(
            node.tag(),
            tag::STRUCTURE | tag::CLASS | tag::UNION | tag::VARIANT_PART
        )
}

/// How many bytes a type has.
pub(super) fn size(node: Node) -> u64 {
    stripped(node).map_or(0, |node| node.bits() / 8)
}

/// What the elements of an array are, whatever its dimensions.
pub(super) fn element(node: Node) -> Option<Node> {
    let is_array = node.kind() == kind::COMPOSITE && node.tag() == tag::ARRAY;
    is_array.then(|| node.operand(operand::BASE)).flatten()
}

/// The members of a record that are in its memory.
pub(super) fn members(record: Node) -> Vec<Node> {
    let elements = record.operand(operand::ELEMENTS);
    let all = elements.into_iter().flat_map(Node::operands);
    all.filter(|each| match each.tag() {
        tag::MEMBER | tag::INHERITANCE => !each.has_flags(LLVMDIFlagStaticMember),
        tag::VARIANT_PART => true,
        _ => false,
    })
    .collect()
}

/// What lies so many bytes into a type, such that it can be accessed as a type of LLVM. Without that: the outermost thing that begins there.
pub(in crate::llvm) fn at_offset<'m>(
    node: Node<'m>,
    offset: u64,
    accessed: Option<Type<'m>>,
    sizes: Sizes<'m>,
) -> Option<Node<'m>> {
    descend(node, offset, accessed, sizes, DEPTH)
}

fn descend<'m>(
    node: Node<'m>,
    offset: u64,
    accessed: Option<Type<'m>>,
    sizes: Sizes<'m>,
    depth: usize,
) -> Option<Node<'m>> {
    let whole = stripped(node)?;
    if depth == 0 {
        return None;
    }
    if offset == 0 && accessed.is_none_or(|accessed| is_like(whole, accessed, sizes)) {
        return Some(whole);
    }
    if let Some(element) = element(whole) {
        let stride = size(element);
        let within = offset.checked_rem(stride)?;
        return descend(element, within, accessed, sizes, depth - 1);
    }
    if !is_record(whole) {
        return None;
    }
    members(whole).into_iter().find_map(|member| {
        let start = member.bit_offset() / 8;
        let end = start + size(member);
        let inside = start <= offset && offset < end;
        inside.then(|| descend(member, offset - start, accessed, sizes, depth - 1))?
    })
}

/// Whether something of this type can be what LLVM accesses.
fn is_like<'m>(node: Node<'m>, accessed: Type<'m>, sizes: Sizes<'m>) -> bool {
    let is_pointer = matches!(
        node.tag(),
        tag::POINTER | tag::REFERENCE | tag::RVALUE_REFERENCE
    );
    size(node) == sizes.stride(accessed)
        && is_record(node) == accessed.is_struct()
        && element(node).is_some() == accessed.is_array()
        && is_pointer == accessed.is_pointer()
}
