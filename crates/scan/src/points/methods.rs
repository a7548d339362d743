//! Threads that run a function from a table: a virtual function of an object, or a boxed closure.

use rustc_hash::FxHashMap;

use crate::ir::{Callee, Function, FunctionId, Kind, Operand, Program, ValueId};
use crate::model::Effect;
use crate::path::Site;

use super::addresses::Addresses;
use super::{Points, Through};

/// Where in a table of Rust's the function is that calls a closure: behind what drops it, its size and its alignment.
const CALL: i64 = 24;
/// And the one that leaves the closure where it is.
const CALL_AGAIN: i64 = 32;

impl Points<'_> {
    /// A thread runs a virtual function of an object whose address is where an operand points: that of the table that was stored there last.
    /// If that is not in sight, one of those whose tables are stored by the same function, or by what that calls. (By classes alone all
    /// objects that are ever made into threads would be one.)
    pub(super) fn link_method(&mut self, site: Site, object: Operand, slot: u32) {
        let Some(at) = self.operand(site.function, object) else {
            return;
        };
        let function = self.program.function(site.function);
        if let Some((made, method)) = self.last_method(function, object, slot)
            && let Some(target) = self.operand(site.function, made)
        {
            self.given.insert(site, made);
            self.linked.insert((site, method));
            self.assign(method, ValueId(0), target);
            let functions = Addresses::of(function).functions_in(made);
            self.functions_given.insert(site, functions);
            return;
        }
        let object = self.classes.pointee(at);
        let mut functions = Vec::new();
        self.stored_methods(site.function, slot, 3, &mut functions);
        for function in functions {
            if self.linked.insert((site, function)) {
                self.assign(function, ValueId(0), object);
            }
        }
    }

    /// The object whose address is stored where an operand points, and the virtual function of the table that it got last.
    fn last_method(
        &self,
        function: &Function,
        at: Operand,
        slot: u32,
    ) -> Option<(Operand, FunctionId)> {
        let addresses = Addresses::of(function);
        let at = addresses.of_operand(at)?;
        let mut objects = addresses.stored(at);
        objects.retain(|object| matches!(object, Operand::Value(_)));
        let [object] = objects[..] else {
            return None;
        };
        let tables = addresses.stored(addresses.of_operand(object)?);
        let mut methods = tables.iter().rev().filter_map(|table| {
            let Operand::Global(table, offset) = *table else {
                return None;
            };
            self.entry(table, offset + i64::from(slot) * 8)
        });
        Some((object, methods.next()?))
    }

    /// A thread runs a closure whose data and table lie side by side somewhere in what an operand points at.
    pub(super) fn link_closure(&mut self, site: Site, at: Operand) {
        let function = self.program.function(site.function);
        let addresses = Addresses::of(function);
        let Some((base, from)) = addresses.of_operand(at) else {
            return;
        };
        let mut found = None;
        for (to, value) in &addresses.stores {
            let (Operand::Global(table, offset), true) = (*value, to.0 == base && to.1 >= from)
            else {
                continue;
            };
            if let Some(method) = self.entry(table, offset + CALL) {
                let data = addresses.stored((base, to.1 - 8)).last().copied();
                found = Some((data, method));
            }
        }
        let Some((data, method)) = found else {
            return;
        };
        self.linked.insert((site, method));
        if let Some(data) = data
            && let Some(target) = self.operand(site.function, data)
        {
            self.given.insert(site, data);
            self.assign(method, ValueId(0), target);
        }
    }

    /// A closure is called that somebody else keeps.
    pub(super) fn link_borrowed(&mut self, site: Site, data: Operand, table: Operand) {
        let Operand::Global(table, offset) = table else {
            return;
        };
        let by_reference = self.entry(table, offset + CALL_AGAIN);
        if let Some(method) = by_reference.or_else(|| self.entry(table, offset + CALL)) {
            self.link(site, method, &[data], None);
        }
    }

    /// A function object is called: what is stored in it at an offset.
    pub(super) fn link_object(&mut self, site: Site, object: Operand, offset: i64) {
        let addresses = Addresses::of(self.program.function(site.function));
        let Some((base, from)) = addresses.of_operand(object) else {
            return;
        };
        for stored in addresses.stored((base, from + offset)) {
            if let Operand::Function(function) = stored {
                let arguments = with_object(self.program.function(function), object);
                self.link(site, function, &arguments, None);
            }
        }
    }

    /// The variable that a function runs the contents of, if it is one that does.
    pub(super) fn runs_stored(&self, function: Operand) -> Option<String> {
        let Operand::Function(id) = function else {
            return None;
        };
        let effects = self.model.of(&self.program.function(id).name)?;
        effects.iter().find_map(|effect| match effect {
            Effect::RunsStored(name) => Some(self.model.name(*name).to_owned()),
            _ => None,
        })
    }

    /// What was last stored in a variable of this name is run.
    pub(super) fn link_stored(&mut self, site: Site, variable: &str) {
        let function = self.program.function(site.function);
        let addresses = Addresses::of(function);
        let mut last = None;
        for (block, one) in function.blocks.iter().enumerate() {
            for (index, statement) in one.statements.iter().enumerate() {
                let is_before = (block as u32, index as u32) < (site.block, site.statement);
                if let Kind::Store {
                    to,
                    value: Operand::Function(run),
                    ..
                } = &statement.kind
                    && let Some(global) = addresses.global(*to)
                    && self.program.global(global).name == variable
                    && (is_before || last.is_none())
                {
                    last = Some(*run);
                }
            }
        }
        if let Some(run) = last {
            self.link(site, run, &[], None);
        }
    }

    /// The function at an offset of a table, if it has a body.
    fn entry(&self, table: crate::ir::GlobalId, at: i64) -> Option<FunctionId> {
        let holds = &self.program.global(table).holds;
        let entry = holds.iter().find(|(offset, _)| *offset as i64 == at);
        match entry {
            Some((_, Operand::Function(id))) if self.program.function(*id).is_defined() => {
                Some(*id)
            }
            _ => None,
        }
    }

    /// The virtual functions of this number in all tables that a function stores, or one that it calls.
    fn stored_methods(
        &self,
        function: FunctionId,
        slot: u32,
        depth: u32,
        found: &mut Vec<FunctionId>,
    ) {
        let blocks = &self.program.function(function).blocks;
        for statement in blocks.iter().flat_map(|block| &block.statements) {
            match &statement.kind {
                Kind::Store {
                    value: Operand::Global(table, offset),
                    ..
                } => {
                    let method = self.entry(*table, offset + i64::from(slot) * 8);
                    found.extend(method.filter(|method| !found.contains(method)));
                }
                Kind::Call {
                    callee: Callee::Direct(callee),
                    ..
                } if depth > 0 => self.stored_methods(*callee, slot, depth - 1, found),
                _ => {}
            }
        }
    }

    /// Of several functions that a call through a table may call, those that stand where it looks in any table.
    pub(super) fn keep_of_slot(&mut self, call: &Through, functions: &mut Vec<FunctionId>) {
        let (Operand::Value(value), true) = (call.pointer, functions.len() > 1) else {
            return;
        };
        let program = self.program;
        let slot = *self.slots.entry(call.site).or_insert_with(|| {
            let addresses = Addresses::of(program.function(call.site.function));
            addresses.slot(value)
        });
        let Some(slot) = slot else {
            return;
        };
        let tables = self.tables.get_or_insert_with(|| tables(program));
        let there = tables.get(&slot).map_or(&[][..], |there| there);
        if functions.iter().any(|function| there.contains(function)) {
            functions.retain(|function| there.contains(function));
        }
    }

    /// The functions that an object holds which is given to a thread, by their offsets.
    pub fn functions_given(&self, site: Site) -> &[(i64, FunctionId)] {
        self.functions_given
            .get(&site)
            .map_or(&[], |functions| functions)
    }

    /// Where in what its function is first given a call finds out what it calls.
    pub fn called_field(&self, site: Site) -> Option<i64> {
        let function = self.program.function(site.function);
        let statements = &function.blocks[site.block as usize].statements;
        let Kind::Call {
            callee: Callee::Indirect(Operand::Value(value), _),
            ..
        } = &statements[site.statement as usize].kind
        else {
            return None;
        };
        let (base, offset) = Addresses::of(function).read_from(*value, 8)?;
        (base == ValueId(0)).then_some(offset)
    }

    /// What a thread that runs a function from a table is given.
    pub fn given_at(&self, site: Site) -> Option<Operand> {
        self.given.get(&site).copied()
    }
}

/// The functions in constant tables, by their places there.
fn tables(program: &Program) -> FxHashMap<i64, Vec<FunctionId>> {
    let mut tables: FxHashMap<i64, Vec<FunctionId>> = FxHashMap::default();
    for global in program.globals.iter().filter(|one| one.is_constant) {
        // Tables of C++ begin with two entries that describe the object.
        let start = match global.name.starts_with("_ZTV") {
            true => 16,
            false => 0,
        };
        for (offset, operand) in &global.holds {
            if let Operand::Function(id) = operand {
                tables.entry(*offset as i64 - start).or_default().push(*id);
            }
        }
    }
    tables
}

/// What a function gets that is called for a function object: the object, behind where its result goes, if that is larger.
pub(crate) fn with_object(function: &Function, object: Operand) -> Vec<Operand> {
    let before = (function.parameters as usize).saturating_sub(1);
    let mut arguments = vec![Operand::Other; before];
    arguments.push(object);
    arguments
}
