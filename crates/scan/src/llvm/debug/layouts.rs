//! What structures consist of, and which structure of the source text a structure of LLVM is.
//!
//! LLVM calls a structure `struct.account` or `class.bank::account.12`: its name in the source text with the kind before it, without
//! the arguments of templates, and with a number after it if there are several. Structures without a name are recognised only by
//! what is known of the address that leads to them.

use llvm_sys::debuginfo::{LLVMDIFlagBitField, LLVMDIFlagFwdDecl};
use rustc_hash::{FxHashMap, FxHashSet};

use super::describe::{self, operand, stripped, tag};
use crate::ir::{Field, Layout, LayoutId};
use crate::llvm::node::{Node, kind};
use crate::llvm::types::{Sizes, Type};

/// All structures of the debug information.
#[derive(Default)]
pub(in crate::llvm) struct Layouts<'m> {
    pub(in crate::llvm) layouts: Vec<Layout>,
    by_contents: FxHashMap<Layout, LayoutId>,
    by_node: FxHashMap<Node<'m>, Option<LayoutId>>,
    /// Records with this name, without arguments of templates.
    named: FxHashMap<String, Vec<Node<'m>>>,
    /// Names that only `typedef` gives.
    typedefs: FxHashMap<Node<'m>, String>,
    by_type: FxHashMap<Type<'m>, Option<Node<'m>>>,
}

impl<'m> Layouts<'m> {
    /// Those that can be reached from these nodes.
    pub(in crate::llvm) fn reachable(roots: impl IntoIterator<Item = Node<'m>>) -> Self {
        let mut layouts = Layouts::default();
        let mut seen = FxHashSet::default();
        let mut rest: Vec<Node<'m>> = roots.into_iter().collect();
        // From the last to the first, and what stands first comes first.
        rest.reverse();
        while let Some(node) = rest.pop() {
            if node.has_operands() && node.kind() != kind::FILE && seen.insert(node) {
                layouts.note(node);
                rest.extend(node.operands());
            }
        }
        layouts
    }

    fn note(&mut self, node: Node<'m>) {
        if describe::is_record(node) && !node.has_flags(LLVMDIFlagFwdDecl) {
            if let Some(name) = qualified_name(node) {
                let all = self.named.entry(without_arguments(&name)).or_default();
                all.push(node);
            }
        } else if node.tag() == tag::TYPEDEF
            && let Some(name) = node.text(operand::NAME)
            && let Some(record) = node.operand(operand::BASE)
            && describe::is_record(record)
            && record.text(operand::NAME).is_none()
            // Not what a template calls a type that it was given.
            && record.operand(operand::SCOPE) == node.operand(operand::SCOPE)
        {
            self.named.entry(name.clone()).or_default().push(record);
            self.typedefs.entry(record).or_insert(name);
        }
    }

    /// The structure of the source text that LLVM's is. What an address is known to point at decides between several.
    pub(in crate::llvm) fn record(
        &mut self,
        ty: Type<'m>,
        known: Option<Node<'m>>,
        sizes: Sizes<'m>,
    ) -> Option<Node<'m>> {
        let size = sizes.stride(ty);
        let known = known.and_then(|node| self.defined(node));
        let fits = |node: &Node<'m>| describe::size(*node) == size;
        let known = known.filter(|node| describe::is_record(*node)).filter(fits);
        if let Some(name) = ty.struct_name() {
            let candidates = self.named.get(&source_name(&name));
            if let Some(known) = known
                && candidates.is_none_or(|all| all.contains(&known))
            {
                return Some(known);
            }
            if let Some(found) = self.by_type.get(&ty) {
                return found.or(known);
            }
            let is_part = name.ends_with(".base");
            let found = candidates.and_then(|all| {
                let exact = all.iter().find(|node| fits(node));
                let larger = || all.iter().find(|node| describe::size(**node) >= size);
                exact.or_else(|| is_part.then(larger)?).copied()
            });
            self.by_type.insert(ty, found);
            return found.or(known);
        }
        known
    }

    /// A record for one that is only declared.
    fn defined(&self, node: Node<'m>) -> Option<Node<'m>> {
        let node = stripped(node)?;
        if !node.has_flags(LLVMDIFlagFwdDecl) {
            return Some(node);
        }
        let name = without_arguments(&qualified_name(node)?);
        self.named.get(&name)?.first().copied()
    }

    /// What a type consists of, if it is a structure or an array of them.
    pub(in crate::llvm) fn layout(&mut self, node: Node<'m>) -> Option<LayoutId> {
        let mut node = self.defined(node)?;
        while let Some(element) = describe::element(node) {
            node = self.defined(element)?;
        }
        if let Some(known) = self.by_node.get(&node) {
            return *known;
        }
        // A structure that contains itself is none; this ends the search.
        self.by_node.insert(node, None);
        if !describe::is_record(node) {
            return None;
        }
        let layout = Layout {
            name: self.shown_name(node),
            size: describe::size(node),
            fields: self.fields(node),
        };
        let next = LayoutId::new(self.layouts.len());
        let id = *self.by_contents.entry(layout.clone()).or_insert(next);
        if id == next {
            self.layouts.push(layout);
        }
        self.by_node.insert(node, Some(id));
        Some(id)
    }

    fn fields(&mut self, record: Node<'m>) -> Vec<Field> {
        let mut fields: Vec<Field> = Vec::new();
        let mut bits_at = None;
        for member in describe::members(record) {
            let is_bits = member.has_flags(LLVMDIFlagBitField);
            let name = member.text(operand::NAME).unwrap_or_default();
            // Neighbouring bit fields are one place in memory.
            if is_bits {
                let storage = member.number(operand::STORAGE);
                let start = storage.map_or(member.bit_offset(), |bits| bits.unsigned_abs());
                let end = (member.bit_offset() + member.bits()).div_ceil(8);
                if bits_at == Some(start)
                    && let Some(together) = fields.last_mut()
                {
                    together.name = format!("{}|{name}", together.name);
                    together.size = end.saturating_sub(together.offset);
                    continue;
                }
                bits_at = Some(start);
                let offset = start / 8;
                fields.push(Field {
                    name,
                    offset,
                    size: end.saturating_sub(offset),
                    layout: None,
                    stride: None,
                });
                continue;
            }
            bits_at = None;
            let contents = match member.tag() {
                tag::VARIANT_PART => Some(member),
                _ => stripped(member),
            };
            let is_base = member.tag() == tag::INHERITANCE;
            let element = contents.and_then(describe::element);
            fields.push(Field {
                name: if is_base { String::new() } else { name },
                offset: member.bit_offset() / 8,
                size: describe::size(member),
                layout: contents.and_then(|contents| self.layout(contents)),
                stride: element.map(describe::size),
            });
        }
        fields.sort_by_key(|field| field.offset);
        fields
    }

    fn shown_name(&self, record: Node<'m>) -> String {
        if let Some(name) = self.typedefs.get(&record) {
            return name.clone();
        }
        let kind = match record.tag() {
            tag::UNION => "union",
            tag::CLASS => "class",
            _ => "struct",
        };
        match qualified_name(record) {
            // Only the languages in which the bare name is enough give types such an identifier.
            Some(name) if record.text(operand::IDENTIFIER).is_some() => name,
            Some(name) => format!("{kind} {name}"),
            None => format!("{kind} (unnamed)"),
        }
    }
}

/// The name with the namespaces and classes around it.
fn qualified_name(record: Node) -> Option<String> {
    let mut name = record.text(operand::NAME)?;
    let mut around = record.operand(operand::SCOPE);
    while let Some(scope) = around {
        let outer = match scope.kind() {
            // A namespace's operands are its file, its scope and its name, as those of types.
            kind::NAMESPACE => scope
                .text(operand::NAME)
                .unwrap_or_else(|| "(anonymous namespace)".to_owned()),
            kind::COMPOSITE => scope.text(operand::NAME)?,
            _ => break,
        };
        name = format!("{outer}::{name}");
        around = scope.operand(operand::SCOPE);
    }
    Some(name)
}

/// The name of the source text in a name of LLVM's.
fn source_name(name: &str) -> String {
    let prefixes = ["struct.", "class.", "union."];
    let mut rest = name;
    for prefix in prefixes {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    while let Some((before, after)) = rest.rsplit_once('.')
        && (after == "base" || after.bytes().all(|byte| byte.is_ascii_digit()))
    {
        rest = before;
    }
    without_arguments(rest)
}

/// The name without the arguments of templates.
fn without_arguments(name: &str) -> String {
    let mut depth = 0_u32;
    let mut plain = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{source_name, without_arguments};

    #[test]
    fn names_of_llvm_are_those_of_the_source_text() {
        assert_eq!(source_name("struct.account"), "account");
        assert_eq!(source_name("struct.account.17"), "account");
        assert_eq!(source_name("class.bank::Account.base"), "bank::Account");
        assert_eq!(source_name("union.value"), "value");
        assert_eq!(
            source_name("struct.std::_Vector_base<int, std::allocator<int>>::_Vector_impl"),
            "std::_Vector_base::_Vector_impl"
        );
    }

    #[test]
    fn arguments_of_templates_are_left_out() {
        assert_eq!(without_arguments("vector<pair<int, int> >"), "vector");
        assert_eq!(without_arguments("plain"), "plain");
    }
}
