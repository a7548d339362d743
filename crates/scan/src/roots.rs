//! Where a program begins: at `main`, or, without one, at everything that others can call.
//!
//! Who calls the functions of a module, and under which locks, is told by the [model](crate::model): tables of operations, functions that are handed
//! to somebody, fields that hold addresses, sections. What nobody knows of may be called at any time, also twice at once.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{
    Callee, FunctionId, Kind, LayoutId, Offset, Operand, Program, SignatureId, ValueId,
};
use crate::model::{Entry, Model, Phase, Which, matches};
use crate::pairs::Root;

/// The beginnings of a program.
pub fn of(program: &Program, model: &Model) -> Vec<Root> {
    let main = program
        .named("main")
        .filter(|id| program.function(*id).is_defined());
    if let Some(function) = main {
        return vec![Root::of(function, false)];
    }
    let uses = Uses::of(program);
    let mut roots = Vec::new();
    for id in program.function_ids() {
        let function = program.function(id);
        if !function.is_defined() || model.of(&function.name).is_some() {
            continue;
        }
        let fits = |entry: &&Entry| uses.fit(program, id, &entry.which);
        match model.entries().iter().find(fits) {
            Some(entry) if entry.phase == Phase::Always => roots.push(Root {
                function: id,
                is_parallel: entry.is_parallel,
                locks: entry.locks.clone(),
            }),
            Some(_) => {}
            None if function.is_external
                || (function.is_address_taken && !uses.is_own(program, id)) =>
            {
                roots.push(Root::of(id, true));
            }
            None => {}
        }
    }
    roots
}

/// Where the addresses of functions are used.
#[derive(Default)]
struct Uses {
    /// In fields of constant structures: the structure's name, and the field's.
    tables: FxHashMap<FunctionId, Vec<(String, String)>>,
    /// As an argument of a call.
    arguments: FxHashMap<FunctionId, Vec<(String, u32)>>,
    /// Stored into a field: `structure.field`.
    stored: FxHashMap<FunctionId, Vec<String>>,
    /// In arrays of functions that only the program itself can see.
    own: FxHashSet<FunctionId>,
    /// Types of functions that are called through pointers.
    called: FxHashSet<SignatureId>,
}

impl Uses {
    fn of(program: &Program) -> Self {
        let mut uses = Uses::default();
        for global in &program.globals {
            for (offset, operand) in &global.holds {
                let Operand::Function(id) = operand else {
                    continue;
                };
                let Some(layout) = global.layout else {
                    if global.is_constant && !global.is_external {
                        uses.own.insert(*id);
                    }
                    continue;
                };
                let name = structure(program, layout);
                let field = field(program, layout, *offset as i64);
                uses.tables.entry(*id).or_default().push((name, field));
            }
        }
        for function in &program.functions {
            let mut parts: FxHashMap<ValueId, String> = FxHashMap::default();
            for statement in function.blocks.iter().flat_map(|block| &block.statements) {
                match &statement.kind {
                    Kind::Part {
                        into,
                        offset: Offset::Constant(offset),
                        layout: Some(layout),
                        ..
                    } => {
                        let name = structure(program, *layout);
                        let field = field(program, *layout, *offset);
                        parts.insert(*into, format!("{name}.{field}"));
                    }
                    Kind::Store {
                        to,
                        value: Operand::Function(id),
                        ..
                    } => {
                        let name = match to {
                            Operand::Value(value) => parts.get(value).cloned(),
                            _ => None,
                        };
                        uses.stored
                            .entry(*id)
                            .or_default()
                            .push(name.unwrap_or_default());
                    }
                    Kind::Call {
                        callee: Callee::Indirect(_, signature),
                        ..
                    } => drop(uses.called.insert(*signature)),
                    Kind::Call {
                        callee: Callee::Direct(callee),
                        arguments,
                        ..
                    } => {
                        for (number, argument) in arguments.iter().enumerate() {
                            if let Operand::Function(id) = argument {
                                let name = program.function(*callee).name.clone();
                                uses.arguments
                                    .entry(*id)
                                    .or_default()
                                    .push((name, number as u32));
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        uses
    }

    /// Whether the program itself calls a function, through its own table or what it was handed to, and nobody else does.
    fn is_own(&self, program: &Program, id: FunctionId) -> bool {
        let handed = self.arguments.get(&id).map_or(&[][..], |all| all);
        let is_inside = |(name, _): &(String, u32)| {
            let callee = program.named(name);
            callee.is_some_and(|callee| program.function(callee).is_defined())
        };
        let is_seen = self.own.contains(&id) || !handed.is_empty();
        is_seen
            && handed.iter().all(is_inside)
            && !self.tables.contains_key(&id)
            && !self.stored.contains_key(&id)
            && self.called.contains(&program.function(id).signature)
    }

    fn fit(&self, program: &Program, id: FunctionId, which: &Which) -> bool {
        match which {
            Which::Section(name) => program.function(id).section.as_deref() == Some(name),
            Which::Table(pattern, fields) => self.tables.get(&id).is_some_and(|all| {
                all.iter().any(|(name, field)| {
                    matches(pattern, name) && (fields.is_empty() || fields.contains(field))
                })
            }),
            Which::Register(names, argument) => self.arguments.get(&id).is_some_and(|all| {
                all.iter().any(|(name, number)| {
                    number == argument && names.iter().any(|pattern| matches(pattern, name))
                })
            }),
            Which::Stored(pattern) => self
                .stored
                .get(&id)
                .is_some_and(|all| all.iter().any(|name| matches(pattern, name))),
        }
    }
}

/// The name of a structure without its kind.
fn structure(program: &Program, layout: LayoutId) -> String {
    let name = &program.layouts[layout.index()].name;
    let bare = name.strip_prefix("struct ").or(name.strip_prefix("union "));
    bare.unwrap_or(name).to_owned()
}

/// The name of the field at an offset of a structure, or of an element of an array of them.
fn field(program: &Program, layout: LayoutId, offset: i64) -> String {
    let layout = &program.layouts[layout.index()];
    let offset = match layout.size {
        0 => offset,
        size => offset.rem_euclid(size as i64),
    };
    let mut fields = layout.fields.iter();
    let found = fields.find(|field| field.offset as i64 == offset);
    found.map_or_else(String::new, |field| field.name.clone())
}
