//! Which memory a pointer may point at, roughly: one pass over the program, in almost linear time (Steensgaard 1996).
//!
//! Memory is divided into classes; a pointer points into one of them, at an offset if that is known. Whatever one pointer is assigned
//! to another, their classes become one. Fields are kept apart as long as everybody agrees where they are; a class that is looked at
//! in another way becomes one that has only one field (as data structure analysis does). It is the first division of the paper, and what decides
//! where its more exact reasoning has to look.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{
    Callee, Function, FunctionId, GlobalId, Kind, Offset, Operand, Program, Terminator, ValueId,
};
use crate::model::{Effect, Model};
use crate::path::Site;

/// A class of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(u32);

impl ClassId {
    /// Its number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// Where a pointer points: into a class, so many bytes from the beginning of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The class.
    pub class: ClassId,
    /// The offset; 0 in a class whose fields are not kept apart.
    pub offset: i64,
}

impl Target {
    /// Where nothing is.
    pub const NOWHERE: Target = Target {
        class: ClassId(u32::MAX),
        offset: 0,
    };
}

#[derive(Clone, Debug, Default)]
struct Class {
    /// What addresses that are stored there point at, by offset.
    fields: BTreeMap<i64, Target>,
    is_collapsed: bool,
    functions: Vec<FunctionId>,
}

/// What pointers may point at.
pub struct Points<'a> {
    program: &'a Program,
    model: &'a Model,
    parents: Vec<u32>,
    classes: Vec<Class>,
    globals: Vec<Target>,
    functions: Vec<Target>,
    /// Where values point, by function and value.
    values: Vec<FxHashMap<ValueId, Target>>,
    results: Vec<Target>,
    heap: FxHashMap<Site, Target>,
    /// Calls through pointers, and what they may call as far as that is known.
    indirect: Vec<(Site, Operand, Vec<Operand>, Option<ValueId>)>,
    linked: FxHashSet<(Site, FunctionId)>,
}

impl<'a> Points<'a> {
    /// Looks at the whole program.
    pub fn of(program: &'a Program, model: &'a Model) -> Self {
        let mut points = Points {
            program,
            model,
            parents: Vec::new(),
            classes: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            values: vec![FxHashMap::default(); program.functions.len()],
            results: Vec::new(),
            heap: FxHashMap::default(),
            indirect: Vec::new(),
            linked: FxHashSet::default(),
        };
        for _ in &program.globals {
            let target = points.fresh();
            points.globals.push(target);
        }
        for id in program.function_ids() {
            let target = points.fresh();
            points.classes[target.class.0 as usize].functions.push(id);
            points.functions.push(target);
            let result = points.fresh();
            points.results.push(result);
        }
        for (number, global) in program.globals.iter().enumerate() {
            for (offset, operand) in &global.holds {
                let at = points.globals[number];
                let at = points.shifted(at, *offset as i64);
                if let Some(target) = points.operand(FunctionId::default(), *operand) {
                    points.store(at, target);
                }
            }
        }
        for id in program.function_ids() {
            points.function(id);
        }
        points.resolve();
        points
    }

    fn fresh(&mut self) -> Target {
        let class = ClassId(self.classes.len() as u32);
        self.parents.push(class.0);
        self.classes.push(Class::default());
        Target { class, offset: 0 }
    }

    fn root(&mut self, class: ClassId) -> ClassId {
        let mut at = class.0;
        while self.parents[at as usize] != at {
            let up = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = up;
            at = up;
        }
        ClassId(at)
    }

    /// The same target, by the class's present name.
    fn now(&mut self, target: Target) -> Target {
        let class = self.root(target.class);
        let offset = match self.classes[class.0 as usize].is_collapsed {
            true => 0,
            false => target.offset,
        };
        Target { class, offset }
    }

    fn shifted(&mut self, target: Target, by: i64) -> Target {
        let target = self.now(target);
        self.now(Target {
            offset: target.offset.saturating_add(by),
            ..target
        })
    }

    /// From now on the class has one field only.
    fn collapse(&mut self, class: ClassId) {
        let class = self.root(class);
        let one = &mut self.classes[class.0 as usize];
        if one.is_collapsed {
            return;
        }
        one.is_collapsed = true;
        let fields = std::mem::take(&mut one.fields);
        let mut all = fields.into_values();
        if let Some(first) = all.next() {
            self.classes[class.0 as usize].fields.insert(0, first);
            for other in all {
                self.unify(first, other);
            }
        }
    }

    /// Makes two targets one.
    fn unify(&mut self, one: Target, other: Target) {
        let mut work = vec![(one, other)];
        while let Some((one, other)) = work.pop() {
            let (one, other) = (self.now(one), self.now(other));
            if one == other {
                continue;
            }
            if one.class == other.class {
                self.collapse(one.class);
                continue;
            }
            if one.offset != other.offset {
                self.collapse(one.class);
                self.collapse(other.class);
                work.push((one, other));
                continue;
            }
            let (mut kept, mut gone) = (one.class, other.class);
            let size = |class: ClassId| self.classes[class.0 as usize].fields.len();
            if size(kept) < size(gone) {
                std::mem::swap(&mut kept, &mut gone);
            }
            let is_collapsed = self.classes[kept.0 as usize].is_collapsed
                || self.classes[gone.0 as usize].is_collapsed;
            if is_collapsed {
                self.collapse(kept);
                self.collapse(gone);
                let (now_kept, now_gone) = (self.root(kept), self.root(gone));
                if now_kept != kept || now_gone != gone {
                    work.push((one, other));
                    continue;
                }
            }
            self.parents[gone.0 as usize] = kept.0;
            let old = std::mem::take(&mut self.classes[gone.0 as usize]);
            let class = &mut self.classes[kept.0 as usize];
            class.functions.extend(old.functions);
            for (offset, target) in old.fields {
                match class.fields.get(&offset) {
                    Some(known) => work.push((*known, target)),
                    None => {
                        class.fields.insert(offset, target);
                    }
                }
            }
        }
    }

    /// What an address that is stored there points at.
    fn pointee(&mut self, at: Target) -> Target {
        let at = self.now(at);
        if let Some(target) = self.classes[at.class.0 as usize].fields.get(&at.offset) {
            let target = *target;
            return self.now(target);
        }
        let target = self.fresh();
        let fields = &mut self.classes[at.class.0 as usize].fields;
        fields.insert(at.offset, target);
        target
    }

    fn store(&mut self, at: Target, target: Target) {
        let pointee = self.pointee(at);
        self.unify(pointee, target);
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
                Some(self.shifted(target, offset))
            }
            Operand::Function(id) => Some(self.functions[id.index()]),
            Operand::Integer(_) | Operand::Null | Operand::Other => None,
        }
    }

    fn value(&mut self, function: FunctionId, value: ValueId) -> Target {
        if let Some(target) = self.values[function.index()].get(&value) {
            let target = *target;
            return self.now(target);
        }
        let target = self.fresh();
        self.values[function.index()].insert(value, target);
        target
    }

    fn assign(&mut self, function: FunctionId, into: ValueId, target: Target) {
        match self.values[function.index()].get(&into) {
            Some(known) => {
                let known = *known;
                self.unify(known, target);
            }
            None => {
                self.values[function.index()].insert(into, target);
            }
        }
    }

    fn function(&mut self, id: FunctionId) {
        let function: &Function = self.program.function(id);
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
                self.unify(result, target);
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
                    let target = self.pointee(at);
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
                    let target = self.pointee(at);
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
                        self.collapse(target.class);
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
                    Offset::Constant(by) => self.shifted(target, *by),
                    // All elements are one.
                    Offset::Element { constant, .. } => self.shifted(target, *constant),
                    Offset::Unknown => {
                        self.collapse(target.class);
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

    fn stored(&mut self, function: FunctionId, to: Operand, value: Operand) {
        if let (Some(at), Some(target)) =
            (self.operand(function, to), self.operand(function, value))
        {
            self.store(at, target);
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
            Callee::Indirect(operand, _) => {
                self.indirect
                    .push((site, operand, arguments.to_vec(), into));
            }
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

    fn modelled(
        &mut self,
        site: Site,
        into: Option<ValueId>,
        effects: &[Effect],
        arguments: &[Operand],
    ) {
        let id = site.function;
        let argument = |number: u32| arguments.get(number as usize).copied();
        for effect in effects {
            match effect {
                Effect::Allocate => {
                    if let Some(into) = into {
                        let target = self.fresh();
                        self.heap.insert(site, target);
                        self.assign(id, into, target);
                    }
                }
                Effect::Returns(number) => {
                    if let (Some(into), Some(operand)) = (into, argument(*number))
                        && let Some(target) = self.operand(id, operand)
                    {
                        self.assign(id, into, target);
                    }
                }
                Effect::Copy { to, from } => {
                    let (to, from) = (argument(*to), argument(*from));
                    let to = to.and_then(|to| self.operand(id, to));
                    let from = from.and_then(|from| self.operand(id, from));
                    if let (Some(to), Some(from)) = (to, from) {
                        self.copied(to, from);
                    }
                }
                Effect::Create { start, data, .. } => {
                    let data: Vec<Operand> = data.and_then(argument).into_iter().collect();
                    if let Some(start) = argument(*start) {
                        self.indirect.push((site, start, data, None));
                    }
                }
                Effect::Calls { function, with } => {
                    let with: Vec<Operand> = with.iter().filter_map(|one| argument(*one)).collect();
                    if let Some(function) = argument(*function) {
                        self.indirect.push((site, function, with, None));
                    }
                }
                Effect::Once { run, .. } => {
                    if let Some(run) = argument(*run) {
                        self.indirect.push((site, run, Vec::new(), None));
                    }
                }
                Effect::CreateMethod { object, slot, .. } => {
                    let at = argument(*object).and_then(|object| self.operand(id, object));
                    if let Some(at) = at {
                        let object = self.pointee(at);
                        self.method(site, object, *slot);
                    }
                }
                _ => {}
            }
        }
    }

    /// Pointers at the same offsets point at the same; other parts of the classes stay apart.
    fn copied(&mut self, to: Target, from: Target) {
        let (to, from) = (self.now(to), self.now(from));
        if to.class == from.class {
            return;
        }
        let fields = &self.classes[from.class.0 as usize].fields;
        let fields: Vec<(i64, Target)> = fields.iter().map(|(at, what)| (*at, *what)).collect();
        // What is not known yet may be stored later: the two are one then.
        if fields.is_empty() {
            return;
        }
        for (offset, target) in fields {
            let at = self.shifted(to, offset - from.offset);
            self.store(at, target);
        }
    }

    /// A thread runs one of the virtual functions of what an object's first word points at.
    fn method(&mut self, site: Site, object: Target, slot: u32) {
        let table = self.pointee(object);
        let entry = self.shifted(table, i64::from(slot) * 8);
        let target = self.pointee(entry);
        let functions = self.classes[target.class.0 as usize].functions.clone();
        for function in functions {
            if self.linked.insert((site, function)) {
                self.assign(function, ValueId(0), object);
            }
        }
    }

    /// Links calls through pointers to what they may call, until there is nothing new.
    fn resolve(&mut self) {
        loop {
            let before = self.linked.len();
            for number in 0..self.indirect.len() {
                let (site, operand, arguments, into) = self.indirect[number].clone();
                for callee in self.callees(site.function, operand) {
                    self.link(site, callee, &arguments, into);
                }
            }
            if self.linked.len() == before {
                return;
            }
        }
    }

    fn callees(&mut self, function: FunctionId, operand: Operand) -> Vec<FunctionId> {
        if let Operand::Function(id) = operand {
            return vec![id];
        }
        let Some(target) = self.operand(function, operand) else {
            return Vec::new();
        };
        let target = self.now(target);
        let mut functions = self.classes[target.class.0 as usize].functions.clone();
        functions.sort_unstable();
        functions.dedup();
        functions
    }

    /// What a call through a pointer, a thread's creation or a call back at this statement may call.
    pub fn callees_at(&self, site: Site) -> Vec<FunctionId> {
        let here = self.linked.iter().filter(|(at, _)| *at == site);
        let mut functions: Vec<FunctionId> = here.map(|(_, function)| *function).collect();
        functions.sort_unstable();
        functions
    }

    /// All statements that call something, with what they call.
    pub fn links(&self) -> impl Iterator<Item = (Site, FunctionId)> {
        self.linked.iter().copied()
    }

    /// Where an operand points.
    pub fn target(&mut self, function: FunctionId, operand: Operand) -> Option<Target> {
        let target = self.operand(function, operand)?;
        Some(self.now(target))
    }

    /// The class of a global variable.
    pub fn of_global(&mut self, global: GlobalId) -> Target {
        let target = self.globals[global.index()];
        self.now(target)
    }

    /// The class of what a statement allocates.
    pub fn of_heap(&mut self, site: Site) -> Option<Target> {
        let target = *self.heap.get(&site)?;
        Some(self.now(target))
    }

    /// All classes that can be reached from these.
    pub fn closure(&mut self, from: impl IntoIterator<Item = ClassId>) -> FxHashSet<ClassId> {
        let mut work: Vec<ClassId> = from.into_iter().collect();
        let mut seen = FxHashSet::default();
        while let Some(class) = work.pop() {
            let class = self.root(class);
            if seen.insert(class) {
                let fields = &self.classes[class.0 as usize].fields;
                work.extend(fields.values().map(|target| target.class));
            }
        }
        seen
    }
}
