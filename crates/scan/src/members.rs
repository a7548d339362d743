//! Which member of which structure an access is of, by the types of the source text.
//!
//! Classes of memory lose their fields where structures are reached from within (`container_of`, lists): what is accessed as a member of one structure is
//! then taken apart from members of others. The paper's shared variables are such members. Beyond C's rules, which allow the same: a structure that
//! is accessed as another one by a cast is missed, unless one of the two is accessed without any type.

use rustc_hash::FxHashMap;

use crate::analysis::{Analysis, overlap};
use crate::calls;
use crate::ir::{Function, Kind, LayoutId, Offset, Operand, Program, ValueId};
use crate::model::{Effect, Model, Object};
use crate::path::{Base, PathId, Site, Step};
use crate::pointees::Pointer;

/// How many structures deep it is looked.
const DEEPEST: usize = 8;

/// A piece of a structure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// The structures that it lies in, the outermost first, and where in each.
    pub within: Vec<(LayoutId, i64)>,
    /// How many bytes it has; 0 if that is not known.
    pub size: u64,
    /// Whether it is nobody's concern here: a part of a lock, of a work item.
    pub is_opaque: bool,
}

/// The members that all accesses of a program are of.
#[derive(Default)]
pub struct Members {
    all: Vec<Member>,
    of: FxHashMap<(Site, bool), u32>,
}

impl Members {
    /// Looks at all accesses, and at what is locked.
    pub fn of(program: &Program, model: &Model) -> Self {
        let mut members = Members::default();
        let mut numbers: FxHashMap<Member, u32> = FxHashMap::default();
        for id in program.function_ids() {
            let function = program.function(id);
            let definitions = definitions(function);
            for (block, one) in function.blocks.iter().enumerate() {
                for (statement, what) in one.statements.iter().enumerate() {
                    let site = Site {
                        function: id,
                        block: block as u32,
                        statement: statement as u32,
                    };
                    for (operand, size, writes) in accessed(program, model, &what.kind) {
                        let at = Address {
                            program,
                            model,
                            function,
                            definitions: &definitions,
                        };
                        let Some(member) = at.member(operand, size) else {
                            continue;
                        };
                        let next = members.all.len() as u32;
                        let number = *numbers.entry(member.clone()).or_insert(next);
                        if number == next {
                            members.all.push(member);
                        }
                        members.of.insert((site, writes), number);
                    }
                }
            }
        }
        members
    }

    /// What a statement reads or writes, or locks (which is no write).
    pub fn at(&self, site: Site, writes: bool) -> Option<&Member> {
        let number = self.of.get(&(site, writes))?;
        self.all.get(*number as usize)
    }

    /// The member that a path leads to, as far as types of pointers tell.
    pub fn on_path(analysis: &Analysis, path: PathId, size: u64) -> Option<Member> {
        let mut layout = match analysis.paths.origin(path) {
            Base::Given(number) => Some(LayoutId(number)),
            Base::Global(global) => analysis.program.global(global).layout,
            _ => None,
        };
        let mut offset = 0i64;
        for step in analysis.paths.steps(path) {
            match step {
                Step::Field(by) => offset = offset.saturating_add(by),
                Step::Load => {
                    layout = layout
                        .and_then(|layout| analysis.pointees.at(Pointer::Field(layout, offset)));
                    offset = 0;
                }
                Step::Element(..) | Step::Own(_) => {}
            }
        }
        let layout = layout?;
        let whole = analysis.program.layouts.get(layout.index())?.size as i64;
        if !(0..whole).contains(&offset) {
            return None;
        }
        let mut within = vec![(layout, inside(analysis.program, layout, offset))];
        descend(analysis.program, &mut within, size);
        Some(Member {
            within,
            size,
            is_opaque: false,
        })
    }

    /// A member's name: `net_local.lock`.
    pub fn name(&self, program: &Program, member: &Member) -> Option<String> {
        let (layout, offset) = *member.within.first()?;
        let name = &program.layouts.get(layout.index())?.name;
        let name = name.strip_prefix("struct ").unwrap_or(name);
        let field = program.field_path(layout, offset.unsigned_abs(), member.size.max(1));
        Some(match field {
            Some(field) => format!("{name}.{field}"),
            None => name.to_owned(),
        })
    }

    /// The same as a number: equal for equal members.
    pub fn number(&self, site: Site, writes: bool) -> Option<u32> {
        self.of.get(&(site, writes)).copied()
    }

    /// The member with this number.
    pub fn get(&self, number: u32) -> Option<&Member> {
        self.all.get(number as usize)
    }
}

/// Whether two accesses of so many bytes may be of the same memory, by their types.
pub fn may_be_same(
    program: &Program,
    (one, long): (Option<&Member>, u64),
    (other, wide): (Option<&Member>, u64),
) -> bool {
    let (Some(one), Some(other)) = (one, other) else {
        return long == wide || long == 0 || wide == 0;
    };
    let (long, wide) = (long.max(one.size), wide.max(other.size));
    for (layout, offset) in &one.within {
        for (there, at) in &other.within {
            if layout == there {
                return overlap((*offset, long), (*at, wide));
            }
        }
    }
    // All of a structure, in which the other one lies.
    let holds = |one: &Member, other: &Member| {
        let (Some((outer, at)), Some((inner, _))) = (one.within.last(), other.within.first())
        else {
            return false;
        };
        let size = program.layouts.get(outer.index()).map(|layout| layout.size);
        *at == 0 && size == Some(one.size) && contains(program, *outer, *inner, DEEPEST)
    };
    holds(one, other) || holds(other, one)
}

impl Member {
    /// The outermost structure that is not somebody else's concern, and where in there.
    pub fn outermost(&self, program: &Program, model: &Model) -> Option<(LayoutId, i64)> {
        let mut all = self.within.iter().filter(|(layout, _)| {
            let layout = program.layouts.get(layout.index());
            layout.is_some_and(|layout| !model.is_opaque(&layout.name))
        });
        all.next().copied()
    }
}

/// Whether two locks are the same member of the same type of structure.
pub fn is_same_class(program: &Program, model: &Model, one: &Member, other: &Member) -> bool {
    let names = |member: &Member| -> Vec<(LayoutId, i64)> {
        let all = member.within.iter().filter(|(layout, _)| {
            let layout = program.layouts.get(layout.index());
            layout.is_some_and(|layout| !model.is_opaque(&layout.name))
        });
        all.copied().collect()
    };
    let there = names(other);
    names(one).iter().any(|place| there.contains(place))
}

/// Whether a structure lies in another one.
fn contains(program: &Program, outer: LayoutId, inner: LayoutId, deep: usize) -> bool {
    let Some(layout) = program.layouts.get(outer.index()) else {
        return false;
    };
    let mut within = layout.fields.iter().filter_map(|field| field.layout);
    deep > 0 && within.any(|field| field == inner || contains(program, field, inner, deep - 1))
}

/// What a statement accesses or locks: the address, how many bytes, and whether it is written.
fn accessed(program: &Program, model: &Model, kind: &Kind) -> Vec<(Operand, u64, bool)> {
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
                    Effect::Read(number) => vec![(*number, false)],
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

/// Where each value of a function is assigned.
fn definitions(function: &Function) -> FxHashMap<ValueId, &Kind> {
    let statements = function.blocks.iter().flat_map(|block| &block.statements);
    statements
        .filter_map(|statement| Some((statement.kind.assigned()?, &statement.kind)))
        .collect()
}

/// What is needed to see where an address leads.
struct Address<'a> {
    program: &'a Program,
    model: &'a Model,
    function: &'a Function,
    definitions: &'a FxHashMap<ValueId, &'a Kind>,
}

impl Address<'_> {
    /// The member at an address; `None` if no structure is known there.
    fn member(&self, operand: Operand, size: u64) -> Option<Member> {
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
        let is_opaque = within.iter().any(|(layout, _)| {
            let layout = self.program.layouts.get(layout.index());
            layout.is_some_and(|layout| self.model.is_opaque(&layout.name))
        });
        Some(Member {
            within,
            size,
            is_opaque,
        })
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
fn inside(program: &Program, layout: LayoutId, offset: i64) -> i64 {
    let Some(layout) = program.layouts.get(layout.index()) else {
        return offset;
    };
    let offset = offset.checked_rem_euclid(layout.size as i64);
    let offset = offset.unwrap_or_default();
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
fn descend(program: &Program, within: &mut Vec<(LayoutId, i64)>, size: u64) {
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
