//! When memory that a function has allocated becomes known to others: what is done to it before is nobody else's business.

use crate::ir::{BlockId, Kind, Operand, ValueId};
use crate::path::Base;
use crate::state::State;

use super::Flow;

impl Flow<'_, '_> {
    /// A value is stored: if it is an address in something, that is known to others now, unless it is stored in the same thing.
    pub(super) fn store_escapes(&mut self, to: Operand, value: Operand, state: &mut State) {
        let Some(stored) = self.path(value) else {
            self.class_escapes(value, state);
            return;
        };
        let paths = &self.analysis.paths;
        let origin = paths.origin(stored);
        if paths.loads(stored) || matches!(origin, Base::Value(..)) {
            self.class_escapes(value, state);
            return;
        }
        if let Some(to) = self.path(to) {
            let paths = &self.analysis.paths;
            if paths.origin(to) == origin && !paths.loads(to) {
                return;
            }
        }
        self.escapes(origin, state);
    }

    /// An address is handed to somebody who may keep it.
    pub(super) fn operand_escapes(&mut self, operand: Operand, state: &mut State) {
        let path = self.path(operand);
        let origin = path.map(|path| self.analysis.paths.origin(path));
        let is_direct = path.is_some_and(|path| !self.analysis.paths.loads(path));
        match origin {
            Some(Base::Value(..)) | None => self.class_escapes(operand, state),
            Some(origin) if is_direct => self.escapes(origin, state),
            Some(_) => self.class_escapes(operand, state),
        }
    }

    /// An address is handed to a function of which nothing is known: it may keep those of objects, but not those of local variables, which do not live
    /// longer than their function.
    pub(super) fn handed_out(&mut self, operand: Operand, state: &mut State) {
        let path = self.path(operand);
        let origin = path.map(|path| self.analysis.paths.origin(path));
        if !matches!(origin, Some(Base::Local(..))) {
            self.operand_escapes(operand, state);
        }
    }

    /// Nobody knows which of several addresses is handed over: all that it may be are known to others now.
    fn class_escapes(&mut self, operand: Operand, state: &mut State) {
        let Some(target) = self.analysis.points.target(self.id, operand) else {
            return;
        };
        let is_same = |flow: &mut Self, value: ValueId| {
            let points = &mut flow.analysis.points;
            let other = points.target(flow.id, Operand::Value(value));
            other.is_some_and(|other| other.class == target.class)
        };
        for number in 0..self.function.parameters {
            if is_same(self, ValueId(number))
                && let Some(escapes) = self.summary.escapes.get_mut(number as usize)
            {
                *escapes = true;
            }
        }
        let fresh: Vec<ValueId> = state.fresh.iter().copied().collect();
        for value in fresh {
            if is_same(self, value) {
                state.fresh.remove(&value);
            }
        }
    }

    fn escapes(&mut self, origin: Base, state: &mut State) {
        match origin {
            Base::Parameter(number) => {
                if let Some(escapes) = self.summary.escapes.get_mut(number as usize) {
                    *escapes = true;
                }
            }
            Base::Heap(_) => {
                let gone: Vec<ValueId> = state
                    .fresh
                    .iter()
                    .copied()
                    .filter(|value| self.origin_of(*value) == Some(origin))
                    .collect();
                for value in gone {
                    state.fresh.remove(&value);
                }
            }
            Base::Local(function, local) => drop(self.analysis.published.insert((function, local))),
            _ => {}
        }
    }

    fn origin_of(&mut self, value: ValueId) -> Option<Base> {
        let path = self.path(Operand::Value(value))?;
        Some(self.analysis.paths.origin(path))
    }

    /// What comes together from several branches is new if it is on each of them.
    pub(super) fn merge_fresh(&mut self, from: BlockId, to: BlockId, state: &mut State) {
        let function = self.function;
        for statement in &function.blocks[to.index()].statements {
            let Kind::Copy { into, from: all } = &statement.kind else {
                continue;
            };
            if !function.values[into.index()].is_pointer {
                continue;
            }
            let mut all = all.iter();
            let Some((operand, _)) = all.find(|(_, block)| *block == Some(from)) else {
                continue;
            };
            let is_fresh = match operand {
                Operand::Null => true,
                Operand::Value(value) => state.fresh.contains(&self.values.same(*value)),
                _ => false,
            };
            match is_fresh {
                true => drop(state.fresh.insert(*into)),
                false => drop(state.fresh.remove(into)),
            }
        }
    }

    /// Whether what is returned was allocated here and nobody else knows it.
    pub(super) fn is_fresh_result(&mut self, result: Operand, state: &State) -> bool {
        match result {
            Operand::Null => true,
            Operand::Value(value) => {
                let Some(path) = self.path(result) else {
                    return false;
                };
                let origin = self.analysis.paths.origin(path);
                let is_whole = self.analysis.paths.last(path).is_none();
                let fresh: Vec<ValueId> = state.fresh.iter().copied().collect();
                is_whole
                    && (self.allocated.contains(&value)
                        || fresh.iter().any(|one| self.origin_of(*one) == Some(origin)))
                    && fresh.iter().any(|one| self.origin_of(*one) == Some(origin))
            }
            _ => false,
        }
    }
}
