//! Which member of which structure an access is of, by the types of the source text.
//!
//! Classes of memory lose their fields where structures are reached from within (`container_of`, lists): what is accessed as a member of one structure is
//! then taken apart from members of others. The paper's shared variables are such members. Beyond C's rules, which allow the same: a structure that
//! is accessed as another one by a cast is missed, unless one of the two is accessed without any type.

mod address;

use rustc_hash::FxHashMap;

use crate::analysis::{Analysis, overlap};
use crate::ir::{LayoutId, Program};
use crate::model::Model;
use crate::path::{Base, PathId, Site, Step};
use crate::pointees::Pointer;

pub(crate) use address::accessed;
pub use address::innermost;
use address::{Address, definitions, descend, inside, locked_by_name};

/// How many structures deep it is looked.
const DEEPEST: usize = 8;

/// A piece of a structure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// The structures that it lies in, the outermost first, and where in each.
    pub within: Vec<(LayoutId, i64)>,
    /// How many bytes it has; 0 if that is not known.
    pub size: u64,
    /// The outermost of the structures, down to the first whose insides are no concern of the program's own.
    pub open: Vec<(LayoutId, i64)>,
}

/// The members that all accesses of a program are of.
#[derive(Default)]
pub struct Members {
    all: Vec<Member>,
    of: FxHashMap<(Site, bool), u32>,
    /// Which types belong to whoever is handed one.
    owned: Vec<bool>,
}

impl Members {
    /// Looks at all accesses, and at what is locked.
    pub fn of(program: &Program, model: &Model) -> Self {
        let layouts = program.layouts.iter();
        let is_open: Vec<bool> = layouts
            .clone()
            .map(|layout| !model.is_opaque(&layout.name))
            .collect();
        let mut members = Members {
            owned: layouts.map(|layout| model.is_owned(&layout.name)).collect(),
            ..Members::default()
        };
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
                    if let Some(member) = locked_by_name(program, model, &what.kind) {
                        members.add(&mut numbers, (site, false), member);
                    }
                    for (operand, size, writes) in accessed(program, model, &what.kind) {
                        let at = Address {
                            program,
                            model,
                            is_open: &is_open,
                            function,
                            definitions: &definitions,
                        };
                        let Some(member) = at.member(operand, size) else {
                            continue;
                        };
                        members.add(&mut numbers, (site, writes), member);
                    }
                }
            }
        }
        members
    }

    fn add(&mut self, numbers: &mut FxHashMap<Member, u32>, at: (Site, bool), member: Member) {
        let next = self.all.len() as u32;
        let number = *numbers.entry(member.clone()).or_insert(next);
        if number == next {
            self.all.push(member);
        }
        self.of.insert(at, number);
    }

    /// What a statement reads or writes, or locks (which is no write).
    pub fn at(&self, site: Site, writes: bool) -> Option<&Member> {
        let number = self.of.get(&(site, writes))?;
        self.all.get(*number as usize)
    }

    /// Whether what has this type belongs to whoever is handed it.
    pub fn is_owned(&self, layout: LayoutId) -> bool {
        self.owned.get(layout.index()).copied().unwrap_or_default()
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
        let open = within.clone();
        Some(Member { within, size, open })
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
    /// Whether its insides are nobody's concern here: a part of a lock, of a work item.
    pub fn is_opaque(&self) -> bool {
        self.open.len() < self.within.len()
    }

    /// The outermost structure that is a concern of the program's own, and where in there.
    pub fn outermost(&self) -> Option<(LayoutId, i64)> {
        self.open.first().copied()
    }

    /// Whether two locks are the same member of the same type of structure.
    pub fn is_same_class(&self, other: &Member) -> bool {
        self.open.iter().any(|place| other.open.contains(place))
    }
}

/// Whether a structure lies in another one.
fn contains(program: &Program, outer: LayoutId, inner: LayoutId, deep: usize) -> bool {
    let Some(layout) = program.layouts.get(outer.index()) else {
        return false;
    };
    let mut within = layout.fields.iter().filter_map(|field| field.layout);
    deep > 0 && within.any(|field| field == inner || contains(program, field, inner, deep - 1))
}
