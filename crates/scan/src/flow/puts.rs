//! What a function puts where, for those who read it there: see [`Memory`].

use std::rc::Rc;

use crate::calls;
use crate::ir::{Kind, Operand, Terminator};
use crate::memory::Memory;
use crate::model::Effect;
use crate::path::{Base, PathId, Paths, Site};
use crate::summary::Arguments;

use super::Flow;

/// How often what is read from memory is looked at again, to find what is put through it.
const ROUNDS: usize = 3;

impl Flow<'_, '_> {
    /// Finds out what is put where.
    pub(super) fn find_puts(&mut self) {
        let mut before = 0;
        for _ in 0..ROUNDS {
            let (memory, count) = self.puts();
            let is_new = count != before;
            self.memory = Rc::new(memory);
            self.values.set_memory(Rc::clone(&self.memory));
            if !is_new {
                break;
            }
            before = count;
            self.find_results();
        }
    }

    /// All that is put anywhere, and how much that is.
    fn puts(&mut self) -> (Memory, usize) {
        let mut memory = Memory::default();
        let mut count = 0;
        let function = self.function;
        let order = self.analysis.calls.shapes[self.id.index()].order.clone();
        for block in order {
            for (index, statement) in function.blocks[block.index()].statements.iter().enumerate() {
                let site = self.site(block, index);
                match &statement.kind {
                    Kind::Store { to, value, .. } if *value != Operand::Null => {
                        if let Some(to) = self.place(*to) {
                            let value = self.path(*value);
                            count += usize::from(value.is_some());
                            memory.put(&mut self.analysis.paths, site, to, value);
                        }
                    }
                    Kind::Call { arguments, .. } => {
                        count += self.put_by_call(&mut memory, site, &statement.kind, arguments);
                    }
                    _ => {}
                }
            }
        }
        (memory, count)
    }

    /// Where an operand points, if that is memory of the function's own, or a variable of its thread.
    fn place(&mut self, operand: Operand) -> Option<PathId> {
        let path = self.path(operand)?;
        let is_own = match self.analysis.paths.origin(path) {
            Base::Local(function, _) => function == self.id,
            Base::Heap(_) | Base::Parameter(_) => true,
            Base::Global(global) => self.analysis.program.global(global).is_thread_local,
            _ => false,
        };
        is_own.then_some(path)
    }

    fn put_by_call(
        &mut self,
        memory: &mut Memory,
        site: Site,
        kind: &Kind,
        arguments: &[Operand],
    ) -> usize {
        let mut count = 0;
        if let Some(effects) = calls::effects(self.analysis.program, self.analysis.model, kind) {
            for effect in effects {
                let Effect::Copy { to, from } = effect else {
                    continue;
                };
                let operand = |number: &u32| arguments.get(*number as usize).copied();
                let paths = [operand(to), operand(from)]
                    .map(|operand| operand.and_then(|operand| self.place(operand)));
                let size = match arguments.get(2) {
                    Some(Operand::Integer(size)) => Some(*size),
                    _ => None,
                };
                if let [Some(to), Some(from)] = paths {
                    memory.moved(&mut self.analysis.paths, site, [to, from], size);
                    count += 1;
                }
            }
            return count;
        }
        let Kind::Call {
            callee: crate::ir::Callee::Direct(callee),
            ..
        } = kind
        else {
            return count;
        };
        let Some(summary) = self.analysis.summaries[callee.index()].clone() else {
            return count;
        };
        if summary.put.is_empty() {
            return count;
        }
        let given: Vec<Option<PathId>> = arguments
            .iter()
            .map(|operand| self.path(*operand))
            .collect();
        let known = Rc::clone(&self.memory);
        let function = self.function;
        let read = |paths: &mut Paths, place| known.at(function, paths, place, site);
        let mut terms = Arguments::new(*callee, &given, &read);
        for (to, value) in &summary.put {
            let paths = &mut self.analysis.paths;
            let (Some(to), value) = (terms.path(paths, *to), terms.path(paths, *value)) else {
                continue;
            };
            count += usize::from(value.is_some());
            memory.put(paths, site, to, value);
        }
        count
    }

    /// Addresses that are in what the parameters point at whenever the function returns.
    pub(super) fn left_in_parameters(&mut self) -> Vec<(PathId, PathId)> {
        let mut left = Vec::new();
        let memory = Rc::clone(&self.memory);
        let returns: Vec<Site> = self
            .function
            .block_ids()
            .filter(|block| {
                let terminator = &self.function.blocks[block.index()].terminator;
                matches!(terminator, Terminator::Return(_))
            })
            .map(|block| {
                let statements = self.function.blocks[block.index()].statements.len();
                self.site(block, statements)
            })
            .collect();
        let mut places: Vec<PathId> = memory.places().collect();
        places.sort_unstable();
        for place in places {
            let paths = &mut self.analysis.paths;
            if !matches!(paths.origin(place), Base::Parameter(_)) {
                continue;
            }
            let mut found = returns
                .iter()
                .map(|site| memory.at(self.function, paths, place, *site));
            let Some(Some(value)) = found.next() else {
                continue;
            };
            if !found.all(|other| other == Some(value)) {
                continue;
            }
            let is_meaningful = matches!(
                paths.origin(value),
                Base::Parameter(_) | Base::Global(_) | Base::Heap(_)
            );
            if is_meaningful {
                left.push((place, value));
            }
        }
        left
    }
}
