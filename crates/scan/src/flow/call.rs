//! Calls: of functions that have a summary, of those that the model knows, and the creation of threads.

use std::rc::Rc;

use crate::ir::{Callee, FunctionId, Kind, Operand, ValueId};
use crate::model::Effect;
use crate::path::{Base, PathId, Paths, Site};
use crate::state::State;
use crate::summary::{Arguments, What};

use super::Flow;

impl Flow<'_, '_> {
    /// What calls return: the paths of it, callees' results in terms of this function.
    pub(super) fn find_results(&mut self) {
        let order = self.analysis.calls.shapes[self.id.index()].order.clone();
        let function = self.function;
        for block in order {
            for (index, statement) in function.blocks[block.index()].statements.iter().enumerate() {
                let Kind::Call {
                    into: Some(into),
                    callee,
                    arguments,
                } = &statement.kind
                else {
                    continue;
                };
                if !function.values[into.index()].is_pointer {
                    continue;
                }
                let site = self.site(block, index);
                if let Some(path) = self.result(site, *into, *callee, arguments) {
                    self.values.set_result(*into, path);
                }
            }
        }
        self.values.settle(&mut self.analysis.paths);
    }

    fn result(
        &mut self,
        site: Site,
        into: ValueId,
        callee: Callee,
        arguments: &[Operand],
    ) -> Option<PathId> {
        let Callee::Direct(id) = callee else {
            return None;
        };
        if let Some(effects) = self
            .analysis
            .model
            .of(&self.analysis.program.function(id).name)
        {
            let is_new = effects.contains(&Effect::Allocate);
            if is_new {
                self.allocated.insert(into);
                return Some(self.analysis.paths.base(Base::Heap(site)));
            }
            if effects.contains(&Effect::Own) {
                return Some(self.analysis.paths.base(Base::Own(id)));
            }
            let returned = effects.iter().find_map(|effect| match effect {
                Effect::Returns(number) => arguments.get(*number as usize),
                _ => None,
            });
            return returned.and_then(|operand| self.path(*operand));
        }
        let summary = self.analysis.summaries[id.index()].clone()?;
        if summary.returns_fresh {
            self.allocated.insert(into);
            return Some(self.analysis.paths.base(Base::Heap(site)));
        }
        let result = summary.result?;
        let given = self.given(arguments);
        let memory = Rc::clone(&self.memory);
        let function = self.function;
        let read = |paths: &mut Paths, place| memory.at(function, paths, place, site);
        Arguments::new(id, &given, &read).path(&mut self.analysis.paths, result)
    }

    pub(super) fn given(&mut self, arguments: &[Operand]) -> Vec<Option<PathId>> {
        arguments
            .iter()
            .map(|operand| self.path(*operand))
            .collect()
    }

    /// A call; `None` if it does not return.
    pub(super) fn call(
        &mut self,
        site: Site,
        into: Option<ValueId>,
        callee: Callee,
        arguments: &[Operand],
        state: &mut State,
    ) -> Option<()> {
        if let Callee::Direct(id) = callee {
            let name = &self.analysis.program.function(id).name;
            if let Some(effects) = self.analysis.model.of(name) {
                return self.modelled(site, into, effects, arguments, state);
            }
        }
        let targets: Vec<FunctionId> = match callee {
            Callee::Direct(id) => vec![id],
            _ => self.analysis.calls.targets(site).to_vec(),
        };
        if targets.is_empty() && self.is_collecting {
            self.analysis.unresolved.insert(site);
        }
        let given = self.given(arguments);
        let after = self.calls(site, &targets, (arguments, &given), state)?;
        *state = after;
        if let Some(into) = into
            && self.allocated.contains(&into)
        {
            state.fresh.insert(into);
        }
        Some(())
    }

    /// One of several functions is called. What is known then; `None` if none of them returns.
    pub(super) fn calls(
        &mut self,
        site: Site,
        targets: &[FunctionId],
        arguments: (&[Operand], &[Option<PathId>]),
        state: &State,
    ) -> Option<State> {
        let mut after: Option<State> = None;
        for target in targets {
            let mut next = state.clone();
            if !self.enter(site, *target, arguments, &mut next) {
                continue;
            }
            match &mut after {
                Some(after) => {
                    after.meet(&next);
                }
                none => *none = Some(next),
            }
        }
        match targets.is_empty() {
            true => Some(state.clone()),
            false => after,
        }
    }

    /// A function is called; whether it returns.
    fn enter(
        &mut self,
        site: Site,
        callee: FunctionId,
        (arguments, given): (&[Operand], &[Option<PathId>]),
        state: &mut State,
    ) -> bool {
        let Some(summary) = self.analysis.summaries[callee.index()].clone() else {
            if !self.analysis.program.function(callee).is_defined() {
                // Nobody knows what it does with what it gets.
                for argument in arguments {
                    self.handed_out(*argument, state);
                }
                if self.is_collecting {
                    self.analysis.unknown.entry(callee).or_insert(site);
                }
            }
            return true;
        };
        for (argument, escapes) in arguments.iter().zip(&summary.escapes) {
            if *escapes {
                self.operand_escapes(*argument, state);
            }
        }
        let (memory, function) = (Rc::clone(&self.memory), self.function);
        let read = |paths: &mut Paths, place| memory.at(function, paths, place, site);
        let mut terms = Arguments::new(callee, given, &read);
        if self.is_collecting {
            for spawned in &summary.spawned {
                if let Some(spawn) = self.analysis.spawns.get_mut(spawned) {
                    spawn.live_before.extend(state.live.keys());
                }
            }
            self.summary.spawned.extend(&summary.spawned);
            if self.is_too_much(callee, summary.deeds.len(), self.analysis.budget) {
                self.analysis.cut.insert(callee);
                self.tell(What::Enter(callee), site, None, None, state);
            } else {
                for deed in &summary.deeds {
                    let kept = (&mut self.analysis.paths, &mut self.analysis.moments);
                    let deed = terms.deed(kept, deed, state, site);
                    self.add(deed, state);
                }
            }
        }
        let Some(exit) = &summary.exit else {
            return false;
        };
        for parameter in &exit.joined_parameters {
            self.wait_for(arguments, *parameter, (false, 0), state);
        }
        let mut exit = terms.state(&mut self.analysis.paths, exit);
        let name = &self.analysis.program.function(callee).name;
        if self.analysis.model.joins_own(name) {
            exit.live.clear();
        }
        self.returned(exit, state);
        true
    }

    /// Whether what a callee does is not told in this function's terms, because there is too much of it, or no end to it: both call each
    /// other.
    pub(super) fn is_too_much(&self, callee: FunctionId, deeds: usize, budget: usize) -> bool {
        let has_circle = callee != self.id && self.analysis.calls.call_each_other(self.id, callee);
        has_circle || deeds > budget / 64 && self.deeds.len() + deeds > budget
    }

    /// What a callee leaves behind.
    fn returned(&mut self, exit: State, state: &mut State) {
        for handle in &exit.joined {
            self.join(*handle, false, state);
        }
        for released in &exit.released {
            state.unlock(*released);
        }
        if exit.has_waited {
            state.wait();
        }
        for held in &mut state.held {
            let own = held.lock;
            held.since
                .extend(exit.acquired.iter().filter(|lock| **lock != own));
        }
        state.acquired.extend(&exit.acquired);
        for held in exit.held {
            match state.held.iter_mut().find(|one| one.lock == held.lock) {
                Some(one) => one.depth += held.depth,
                None => state.held.push(held),
            }
        }
        state.held.sort_by_key(|held| held.lock);
        state.live.extend(exit.live);
        state.after.extend(exit.after);
        state.maybe.extend(exit.maybe);
    }
}
