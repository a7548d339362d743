//! Which memory a pointer may point at, roughly: one pass over the program, in almost linear time (Steensgaard 1996).
//!
//! Memory is divided into classes; a pointer points into one of them, at an offset if that is known. Whatever one pointer is assigned
//! to another, their classes become one, also if one begins within the other. Fields are kept apart as long as everybody agrees where they are; a class
//! that is looked at in another way becomes one that has only one field (as data structure analysis does). It is the first division of the paper, and what decides
//! where its more exact reasoning has to look.

mod addresses;
mod classes;
mod given;
mod held;
pub(crate) mod methods;
mod modelled;
mod rows;
mod through;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{
    Callee, Function, FunctionId, GlobalId, Kind, LayoutId, Offset, Operand, Program, Terminator,
    ValueId,
};
use crate::members::Members;
use crate::model::Model;
use crate::path::Site;

use classes::Classes;
pub use classes::{ClassId, Target};
use held::Held;
use rows::Row;
use through::Through;

/// What pointers may point at.
pub struct Points<'a> {
    program: &'a Program,
    model: &'a Model,
    classes: Classes,
    globals: Vec<Target>,
    functions: Vec<Target>,
    /// Where values point, by function and value.
    values: Vec<FxHashMap<ValueId, Target>>,
    results: Vec<Target>,
    heap: FxHashMap<Site, Target>,
    /// Calls through pointers, and what they may call as far as that is known.
    indirect: Vec<Through>,
    /// Functions in members of structures.
    held: Held,
    linked: FxHashSet<(Site, FunctionId)>,
    /// Where in a table calls through tables look.
    slots: FxHashMap<Site, Option<i64>>,
    /// The functions in tables, once somebody has asked.
    tables: Option<FxHashMap<i64, Vec<FunctionId>>>,
    /// Values of the function that is looked at that are fields of structures.
    parts: FxHashMap<ValueId, (i64, LayoutId)>,
    /// What is copied, to where and from where.
    copies: Vec<(Target, Target)>,
    /// Threads that run a virtual function of an object.
    methods: Vec<(Site, Operand, u32)>,
    /// Threads that run a boxed closure.
    closures: Vec<(Site, Operand)>,
    /// What such threads are given.
    given: FxHashMap<Site, Operand>,
    /// And which functions are in it, by their offsets.
    functions_given: FxHashMap<Site, Vec<(i64, FunctionId)>>,
}

impl<'a> Points<'a> {
    /// Looks at the whole program.
    pub fn of(program: &'a Program, model: &'a Model, members: &Members) -> Self {
        let mut points = Points {
            program,
            model,
            classes: Classes::default(),
            globals: Vec::new(),
            functions: Vec::new(),
            values: vec![FxHashMap::default(); program.functions.len()],
            results: Vec::new(),
            heap: FxHashMap::default(),
            indirect: Vec::new(),
            held: Held::of(program, members),
            linked: FxHashSet::default(),
            slots: FxHashMap::default(),
            tables: None,
            parts: FxHashMap::default(),
            copies: Vec::new(),
            methods: Vec::new(),
            closures: Vec::new(),
            given: FxHashMap::default(),
            functions_given: FxHashMap::default(),
        };
        for _ in &program.globals {
            let target = points.classes.fresh();
            points.globals.push(target);
        }
        for id in program.function_ids() {
            let target = points.classes.fresh();
            points.classes.add_function(target, id);
            points.functions.push(target);
            let result = points.classes.fresh();
            points.results.push(result);
        }
        for (number, global) in program.globals.iter().enumerate() {
            for (offset, operand) in &global.holds {
                let at = points.globals[number];
                let at = points.classes.shifted(at, *offset as i64);
                if let Some(target) = points.operand(FunctionId::default(), *operand) {
                    points.classes.store(at, target);
                }
            }
        }
        for id in program.function_ids() {
            points.function(id);
        }
        points.resolve();
        points
    }

    /// Where an operand points, if it is an address.
    fn operand(&mut self, function: FunctionId, operand: Operand) -> Option<Target> {
        match operand {
            Operand::Value(value) => {
                let is_pointer = self.program.function(function).values[value.index()].is_pointer;
                is_pointer.then(|| self.value(function, value))
            }
            Operand::Global(global, offset) => {
                let target = self.globals[global.index()];
                Some(self.classes.shifted(target, offset))
            }
            Operand::Function(id) => Some(self.functions[id.index()]),
            Operand::Integer(_) | Operand::Null | Operand::Other => None,
        }
    }

    fn value(&mut self, function: FunctionId, value: ValueId) -> Target {
        if let Some(target) = self.values[function.index()].get(&value) {
            let target = *target;
            return self.classes.now(target);
        }
        let target = self.classes.fresh();
        self.values[function.index()].insert(value, target);
        target
    }

    fn assign(&mut self, function: FunctionId, into: ValueId, target: Target) {
        match self.values[function.index()].get(&into) {
            Some(known) => {
                let known = *known;
                self.classes.unify(known, target);
            }
            None => {
                self.values[function.index()].insert(into, target);
            }
        }
    }

    fn function(&mut self, id: FunctionId) {
        let function: &Function = self.program.function(id);
        let statements = function.blocks.iter().flat_map(|block| &block.statements);
        self.parts = statements
            .filter_map(|statement| match &statement.kind {
                Kind::Part {
                    into,
                    offset: Offset::Constant(by),
                    layout: Some(layout),
                    ..
                } => Some((*into, (*by, *layout))),
                _ => None,
            })
            .collect();
        for (number, block) in function.blocks.iter().enumerate() {
            for (index, statement) in block.statements.iter().enumerate() {
                let site = Site {
                    function: id,
                    block: number as u32,
                    statement: index as u32,
                };
                self.statement(site, &statement.kind, function);
            }
            if let Terminator::Return(Some(operand)) = block.terminator
                && let Some(target) = self.operand(id, operand)
            {
                let result = self.results[id.index()];
                self.classes.unify(result, target);
            }
        }
    }

    fn statement(&mut self, site: Site, kind: &Kind, function: &Function) {
        let id = site.function;
        let is_pointer = |value: &ValueId| function.values[value.index()].is_pointer;
        match kind {
            Kind::Local { into, .. } => {
                self.value(id, *into);
            }
            Kind::Load { into, from, .. } if is_pointer(into) => {
                if let Some(at) = self.operand(id, *from) {
                    let target = self.classes.pointee(at);
                    self.assign(id, *into, target);
                }
            }
            Kind::Store { to, value, .. } => self.stored(id, *to, *value),
            Kind::Update {
                into, at, value, ..
            } => {
                self.stored(id, *at, *value);
                if is_pointer(into)
                    && let Some(at) = self.operand(id, *at)
                {
                    let target = self.classes.pointee(at);
                    self.assign(id, *into, target);
                }
            }
            Kind::Copy { into, from } if is_pointer(into) => {
                for (operand, _) in from {
                    if let Some(target) = self.operand(id, *operand) {
                        self.assign(id, *into, target);
                    }
                }
            }
            Kind::Compute { into, from } if is_pointer(into) => {
                for operand in from {
                    if let Some(target) = self.operand(id, *operand) {
                        self.classes.collapse(target.class);
                        self.assign(id, *into, target);
                    }
                }
            }
            Kind::Part {
                into, base, offset, ..
            } => {
                let Some(target) = self.operand(id, *base) else {
                    return;
                };
                let target = match offset {
                    Offset::Constant(by) => self.classes.shifted(target, *by),
                    Offset::Element {
                        stride, constant, ..
                    } => {
                        let row = self.row(*base, target, *stride);
                        self.classes.add_row(target.class, row);
                        self.classes.shifted(target, *constant)
                    }
                    Offset::Unknown => {
                        self.classes.collapse(target.class);
                        target
                    }
                };
                self.assign(id, *into, target);
            }
            Kind::Call {
                into,
                callee,
                arguments,
            } => self.call(site, *into, *callee, arguments),
            _ => {}
        }
    }

    /// The array whose elements are so large, one of which is at `base`.
    fn row(&self, base: Operand, target: Target, stride: u64) -> Row {
        let stride = stride.min(i64::MAX as u64);
        let within = |layout: LayoutId, offset: i64| {
            let (from, to) = rows::extent(self.program, layout, offset, stride)?;
            Some((from - offset, to - offset))
        };
        let around = match base {
            Operand::Global(id, offset) => {
                let global = self.program.global(id);
                let size = global.size as i64;
                let whole = (size > 0).then_some((-offset, size - offset));
                match global.layout {
                    // An array of structures, or something in one.
                    Some(layout) => match self.program.layouts[layout.index()].size {
                        own if own > 0 && stride.is_multiple_of(own) => whole,
                        own => within(layout, offset.checked_rem(own as i64).unwrap_or(offset)),
                    },
                    None => whole,
                }
            }
            Operand::Value(value) => {
                let part = self.parts.get(&value).copied();
                part.and_then(|(by, layout)| within(layout, by))
            }
            _ => None,
        };
        let (before, after) = around.unwrap_or((0, i64::MAX));
        Row {
            from: target.offset.saturating_add(before),
            to: target.offset.saturating_add(after),
            stride: stride as i64,
        }
    }

    fn stored(&mut self, function: FunctionId, to: Operand, value: Operand) {
        if let (Some(at), Some(target)) =
            (self.operand(function, to), self.operand(function, value))
        {
            self.classes.store(at, target);
        }
    }

    fn call(&mut self, site: Site, into: Option<ValueId>, callee: Callee, arguments: &[Operand]) {
        match callee {
            Callee::Direct(callee) => {
                let name = &self.program.function(callee).name;
                match self.model.of(name) {
                    Some(effects) => self.modelled(site, into, effects, arguments),
                    None => self.link(site, callee, arguments, into),
                }
            }
            Callee::Indirect(pointer, signature) => self.indirect.push(Through {
                site,
                pointer,
                signature: Some(signature),
                arguments: arguments.to_vec(),
                into,
            }),
            Callee::Assembly => {}
        }
    }

    /// Arguments become parameters, and what is returned the result.
    fn link(
        &mut self,
        site: Site,
        callee: FunctionId,
        arguments: &[Operand],
        into: Option<ValueId>,
    ) {
        if !self.linked.insert((site, callee)) {
            return;
        }
        let parameters = self.program.function(callee).parameters as usize;
        for (number, argument) in arguments.iter().enumerate().take(parameters) {
            if let Some(target) = self.operand(site.function, *argument) {
                self.assign(callee, ValueId::new(number), target);
            }
        }
        if let Some(into) = into
            && self.program.function(site.function).values[into.index()].is_pointer
        {
            let result = self.results[callee.index()];
            self.assign(site.function, into, result);
        }
    }

    /// All statements that call something, with what they call.
    pub fn links(&self) -> impl Iterator<Item = (Site, FunctionId)> {
        self.linked.iter().copied()
    }

    /// Where an operand points.
    pub fn target(&mut self, function: FunctionId, operand: Operand) -> Option<Target> {
        let target = self.operand(function, operand)?;
        Some(self.classes.now(target))
    }

    /// So many bytes further.
    pub fn shifted(&mut self, target: Target, by: i64) -> Target {
        self.classes.shifted(target, by)
    }

    /// Which bytes of its class so many bytes at a target may be, and how many; 0 if nobody knows where they end.
    pub fn range(&self, target: Target, size: u64) -> (i64, u64) {
        self.classes.range(target, size)
    }

    /// The classes that pointers in a class lead to.
    pub fn pointed_from(&mut self, class: ClassId) -> Vec<ClassId> {
        let fields = self.classes.fields(class);
        let targets = fields
            .into_iter()
            .map(|(_, target)| self.classes.now(target).class);
        targets.collect()
    }

    /// The class of a global variable.
    pub fn of_global(&mut self, global: GlobalId) -> Target {
        let target = self.globals[global.index()];
        self.classes.now(target)
    }

    /// The class of what a statement allocates.
    pub fn of_heap(&mut self, site: Site) -> Option<Target> {
        let target = *self.heap.get(&site)?;
        Some(self.classes.now(target))
    }

    /// All classes that can be reached from these.
    pub fn closure(&mut self, from: impl IntoIterator<Item = ClassId>) -> FxHashSet<ClassId> {
        self.classes.closure(from)
    }
}
