//! From the address of an access to the member that it is of: through the steps of its function, and down into the structure.

use rustc_hash::FxHashMap;

use crate::calls;
use crate::ir::{Function, Kind, Layout, LayoutId, Offset, Operand, Program, ValueId};
use crate::model::{Effect, Model, Object};

use super::{DEEPEST, Member};

/// What a statement accesses or locks: the address, how many bytes, and whether it is written.
pub(crate) fn accessed(program: &Program, model: &Model, kind: &Kind) -> Vec<(Operand, u64, bool)> {
    match kind {
        Kind::Load { from, size, .. } => vec![(*from, *size, false)],
        Kind::Store { to, size, .. } => vec![(*to, *size, true)],
        Kind::Update { at, size, .. } => vec![(*at, *size, true)],
        Kind::Call { arguments, .. } => {
            let effects = calls::effects(program, model, kind);
            let all = effects.into_iter().flatten().flat_map(|effect| {
                let told: Vec<(u32, bool)> = match effect {
                    Effect::Lock {
                        object: Object::Argument(number),
                        ..
                    } => vec![(*number, false)],
                    Effect::Read(number) | Effect::AtomicRead(number) => vec![(*number, false)],
                    Effect::Write(number) | Effect::Free(number) | Effect::Atomic(number) => {
                        vec![(*number, true)]
                    }
                    Effect::Copy { to, from } => vec![(*to, true), (*from, false)],
                    _ => Vec::new(),
                };
                told.into_iter().filter_map(|(number, writes)| {
                    Some((*arguments.get(number as usize)?, 0, writes))
                })
            });
            all.collect()
        }
        _ => Vec::new(),
    }
}

/// The member that a call locks, if the model names it: `sighand_struct.siglock`.
pub(super) fn locked_by_name(program: &Program, model: &Model, kind: &Kind) -> Option<Member> {
    let effects = calls::effects(program, model, kind)?;
    let number = effects.iter().find_map(|effect| match effect {
        Effect::Lock {
            object: Object::Named(number),
            ..
        } => Some(*number),
        _ => None,
    })?;
    let (structure, field) = model.name(number).split_once('.')?;
    let is_it = |layout: &Layout| layout.name.strip_prefix("struct ") == Some(structure);
    let layout = program.layouts.iter().position(is_it)?;
    let mut fields = program.layouts[layout].fields.iter();
    let field = fields.find(|one| one.name == field)?;
    let within = vec![(LayoutId::new(layout), field.offset as i64)];
    let open = within.clone();
    Some(Member {
        within,
        size: field.size,
        open,
    })
}

/// Where each value of a function is assigned.
pub(super) fn definitions(function: &Function) -> FxHashMap<ValueId, &Kind> {
    let statements = function.blocks.iter().flat_map(|block| &block.statements);
    statements
        .filter_map(|statement| Some((statement.kind.assigned()?, &statement.kind)))
        .collect()
}

/// What is needed to see where an address leads.
pub(super) struct Address<'a> {
    pub program: &'a Program,
    pub model: &'a Model,
    /// Which structures are a concern of the program's own.
    pub is_open: &'a [bool],
    pub function: &'a Function,
    pub definitions: &'a FxHashMap<ValueId, &'a Kind>,
}

impl Address<'_> {
    /// The member at an address; `None` if no structure is known there.
    pub fn member(&self, operand: Operand, size: u64) -> Option<Member> {
        let mut within = Vec::new();
        let (mut is_field, mut is_element) = (false, false);
        let mut at = operand;
        for _ in 0..DEEPEST {
            match at {
                Operand::Global(id, offset) => {
                    if let Some(layout) = self.program.global(id).layout {
                        self.add(&mut within, layout, offset);
                    }
                    break;
                }
                Operand::Value(value) => match self.definitions.get(&value) {
                    Some(Kind::Part {
                        base,
                        offset,
                        layout,
                        ..
                    }) => {
                        match (offset, layout) {
                            (Offset::Constant(by), Some(layout))
                            | (Offset::Element { constant: by, .. }, Some(layout)) => {
                                let is_first = within.is_empty() && !is_element;
                                is_field |= is_first && matches!(offset, Offset::Constant(_));
                                self.add(&mut within, *layout, *by);
                            }
                            (Offset::Element { .. }, None) => is_element = true,
                            (Offset::Constant(0), None) => {}
                            _ => break,
                        }
                        at = *base;
                    }
                    Some(Kind::Copy { from, .. }) if from.len() == 1 => at = from[0].0,
                    Some(kind @ Kind::Call { arguments, .. }) => {
                        let effects = calls::effects(self.program, self.model, kind);
                        let returned = effects.into_iter().flatten().find_map(|one| match one {
                            Effect::Returns(number) => arguments.get(*number as usize),
                            _ => None,
                        });
                        match returned {
                            Some(operand) => at = *operand,
                            None => break,
                        }
                    }
                    _ => break,
                },
                _ => break,
            }
        }
        if within.is_empty()
            && !is_element
            && let Operand::Value(value) = operand
        {
            // The structure itself, or its first member.
            let pointee = self.function.values.get(value.index())?.pointee;
            within.extend(pointee.map(|layout| (layout, 0)));
        }
        within.reverse();
        let (layout, offset) = *within.last()?;
        let size = match size {
            0 => self.extent(layout, offset, is_field),
            size => size,
        };
        descend(self.program, &mut within, size);
        let is_open = |(layout, _): &&(LayoutId, i64)| self.is_open[layout.index()];
        let open = within.iter().take_while(is_open).copied().collect();
        Some(Member { within, size, open })
    }

    /// One structure further out. An element of an array of those that are known is the one that is known.
    fn add(&self, within: &mut Vec<(LayoutId, i64)>, layout: LayoutId, offset: i64) {
        if within.last().is_none_or(|(inner, _)| *inner != layout) {
            within.push((layout, inside(self.program, layout, offset)));
        }
    }

    /// How many bytes the member has that begins there; all of the structure if no field of it was named.
    fn extent(&self, layout: LayoutId, offset: i64, is_field: bool) -> u64 {
        let Some(layout) = self.program.layouts.get(layout.index()) else {
            return 0;
        };
        let mut fields = layout.fields.iter();
        match offset {
            0 if !is_field => layout.size,
            _ => fields
                .find(|field| field.offset as i64 == offset)
                .map_or(0, |field| field.size),
        }
    }
}

/// Where an offset lies in a structure, if all elements of an array are its first: of those of the structure, and of what lies in it.
pub(super) fn inside(program: &Program, layout: LayoutId, offset: i64) -> i64 {
    let Some(layout) = program.layouts.get(layout.index()) else {
        return offset;
    };
    // An array without a length begins where its structure ends.
    let is_field = layout
        .fields
        .iter()
        .any(|field| field.offset as i64 == offset);
    let offset = match offset.checked_rem_euclid(layout.size as i64) {
        Some(within) if !is_field => within,
        _ => offset,
    };
    let mut fields = layout.fields.iter();
    let around = fields.find(|field| {
        let from = field.offset as i64;
        (from..from.saturating_add(field.size as i64)).contains(&offset)
    });
    match around.and_then(|field| Some((field.offset as i64, field.stride?))) {
        Some((from, stride)) if stride > 0 => from + (offset - from) % stride as i64,
        _ => offset,
    }
}

/// The innermost structure that so many bytes at an offset of a structure lie in, and where in there.
pub fn innermost(program: &Program, layout: LayoutId, offset: i64, size: u64) -> (LayoutId, i64) {
    let offset = inside(program, layout, offset);
    let mut within = vec![(layout, offset)];
    descend(program, &mut within, size);
    within.last().copied().unwrap_or((layout, offset))
}

/// Down to the innermost structure that so many bytes lie in.
pub(super) fn descend(program: &Program, within: &mut Vec<(LayoutId, i64)>, size: u64) {
    for _ in 0..DEEPEST {
        let Some((outer, mut offset)) = within.last().copied() else {
            return;
        };
        let Some(outer) = program.layouts.get(outer.index()) else {
            return;
        };
        let has = |from: u64, wide: u64| {
            let (from, end) = (from as i64, from.saturating_add(wide) as i64);
            from <= offset && offset.saturating_add(size.max(1) as i64) <= end
        };
        let mut fields = outer.fields.iter();
        let field = fields.find(|field| has(field.offset, field.size));
        let Some((inner, field)) = field.and_then(|field| Some((field.layout?, field))) else {
            return;
        };
        offset -= field.offset as i64;
        if let Some(stride) = field.stride.filter(|stride| *stride > 0) {
            offset %= stride as i64;
        }
        let whole = program.layouts.get(inner.index());
        if size > whole.map_or(0, |layout| layout.size) {
            return;
        }
        within.push((inner, offset));
    }
}
