//! What a function stores where, seen from its values alone: enough to find tables and functions that were stored by the same function.

use rustc_hash::FxHashMap;

use crate::ir::{Function, FunctionId, GlobalId, Kind, Offset, Operand, ValueId};

/// Through how many addresses that were stored and read again somebody looks for where one comes from.
const MOST_READS: u32 = 8;

/// A value of a function, and how far from there.
pub(super) type Address = (ValueId, i64);

/// What a function stores through which values.
pub(super) struct Addresses<'f> {
    function: &'f Function,
    definitions: FxHashMap<ValueId, &'f Kind>,
    pub(super) stores: Vec<(Address, Operand)>,
}

impl<'f> Addresses<'f> {
    pub(super) fn of(function: &'f Function) -> Self {
        let statements = || function.blocks.iter().flat_map(|block| &block.statements);
        let definitions = statements()
            .filter_map(|statement| Some((statement.kind.assigned()?, &statement.kind)))
            .collect();
        let mut addresses = Addresses {
            function,
            definitions,
            stores: Vec::new(),
        };
        for statement in statements() {
            if let Kind::Store { to, value, .. } = &statement.kind
                && *value != Operand::Null
                && let Some(to) = addresses.of_operand(*to)
            {
                let value = addresses.same(*value);
                addresses.stores.push((to, value));
            }
        }
        addresses
    }

    /// Where an operand points, from the value that it is computed from.
    pub(super) fn of_operand(&self, operand: Operand) -> Option<Address> {
        self.of_read(operand, MOST_READS)
    }

    /// The same, through so many addresses at most that are read on the way.
    pub(super) fn of_read(&self, operand: Operand, reads: u32) -> Option<Address> {
        let Operand::Value(mut value) = operand else {
            return None;
        };
        let mut offset = 0;
        for _ in 0..self.function.values.len() {
            match self.definitions.get(&value) {
                Some(Kind::Part {
                    base: Operand::Value(base),
                    offset: Offset::Constant(by),
                    ..
                }) => {
                    value = *base;
                    offset += by;
                }
                Some(Kind::Copy { from, .. }) => match from[..] {
                    [(Operand::Value(only), _)] => value = only,
                    _ => break,
                },
                // What was put there and is read again.
                Some(Kind::Load { from, .. }) if reads > 0 => {
                    let from = self.of_read(*from, reads - 1);
                    let stored = from.map(|from| self.stored(from));
                    match stored.as_deref() {
                        Some([Operand::Value(only)]) if *only != value => value = *only,
                        _ => break,
                    }
                }
                _ => break,
            }
        }
        Some((value, offset))
    }

    /// All functions that are stored in what an operand points at.
    pub(super) fn functions_in(&self, object: Operand) -> Vec<(i64, FunctionId)> {
        let Some((base, from)) = self.of_operand(object) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for (to, value) in &self.stores {
            if let (true, Operand::Function(function)) = (to.0 == base, value) {
                all.push((to.1 - from, *function));
            }
        }
        all
    }

    /// Where a value is read that may be copied and merged on the way.
    pub(super) fn read_from(&self, value: ValueId, depth: u32) -> Option<Address> {
        match self.definitions.get(&value)? {
            Kind::Load { from, .. } => self
                .of_operand(*from)
                .filter(|(base, _)| base.0 < self.function.parameters),
            Kind::Copy { from, .. } if depth > 0 => {
                from.iter().find_map(|(operand, _)| match operand {
                    Operand::Value(other) => self.read_from(*other, depth - 1),
                    _ => None,
                })
            }
            _ => None,
        }
    }

    /// How far from the beginning of a table a value is read.
    pub(super) fn slot(&self, value: ValueId) -> Option<i64> {
        let Some(Kind::Load {
            from: Operand::Value(at),
            ..
        }) = self.definitions.get(&value)
        else {
            return None;
        };
        let (table, offset) = match self.definitions.get(at) {
            Some(Kind::Part {
                base: Operand::Value(table),
                offset: Offset::Constant(by),
                ..
            }) => (*table, *by),
            _ => (*at, 0),
        };
        let is_read = matches!(self.definitions.get(&table), Some(Kind::Load { .. }));
        is_read.then_some(offset)
    }

    /// The global variable that an operand points at.
    pub(super) fn global(&self, operand: Operand) -> Option<GlobalId> {
        match operand {
            Operand::Global(id, 0) => Some(id),
            Operand::Value(value) => match self.definitions.get(&value) {
                Some(Kind::Copy { from, .. }) => match from[..] {
                    [(only, _)] => self.global(only),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// The value that an operand is the same as.
    pub(super) fn same(&self, operand: Operand) -> Operand {
        match self.of_operand(operand) {
            Some((value, 0)) => Operand::Value(value),
            _ => operand,
        }
    }

    /// All that is stored at an address, in the order of the text.
    pub(super) fn stored(&self, at: Address) -> Vec<Operand> {
        let here = self.stores.iter().filter(|(to, _)| *to == at);
        here.map(|(_, value)| *value).collect()
    }
}
