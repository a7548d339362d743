//! Calls: of functions that have a summary, of those that the model knows, and the creation of threads.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::ir::{Callee, FunctionId, Kind, Mark, Operand, ValueId};
use crate::model::{Effect, Fails, Object};
use crate::path::{Base, PathId, Paths, Site, Step};
use crate::points::methods::with_object;
use crate::state::{Fact, Held, Released, State};
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

    fn given(&mut self, arguments: &[Operand]) -> Vec<Option<PathId>> {
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
    fn calls(
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
            if self.is_too_much(callee, summary.deeds.len()) {
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
    fn is_too_much(&self, callee: FunctionId, deeds: usize) -> bool {
        let budget = self.analysis.budget;
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

    /// A function that the model knows.
    pub(super) fn modelled(
        &mut self,
        site: Site,
        into: Option<ValueId>,
        effects: &[Effect],
        arguments: &[Operand],
        state: &mut State,
    ) -> Option<()> {
        let argument = |number: u32| arguments.get(number as usize).copied();
        let mut returns = true;
        for effect in effects {
            match effect {
                Effect::Lock {
                    object,
                    mode,
                    fails,
                    is_again,
                } => {
                    let (path, _) = self.object(object, arguments);
                    let has_it = state.held.iter().any(|held| Some(held.lock) == path);
                    if !(*is_again && has_it) {
                        self.lock(site, object, arguments, (*mode, *fails), state);
                    }
                }
                Effect::Down { semaphore, fails } => {
                    let object = Object::Argument(*semaphore);
                    let (path, target) = self.object(&object, arguments);
                    match self.is_binary(target) {
                        true => {
                            self.lock(
                                site,
                                &object,
                                arguments,
                                (Default::default(), *fails),
                                state,
                            );
                        }
                        false if *fails == Fails::Never && self.is_message(target) => {
                            state.after.extend(path.map(Fact::Waited));
                        }
                        false => {}
                    }
                }
                Effect::LockAny { argument, is_guard } => {
                    self.lock_any(site, *argument, *is_guard, arguments, state);
                }
                Effect::Unlock { object } => {
                    let (path, target) = self.object(object, arguments);
                    state.unlock(released(path, target));
                }
                Effect::Up { semaphore } => {
                    let object = Object::Argument(*semaphore);
                    let (path, target) = self.object(&object, arguments);
                    self.tell(What::Signal, site, path, target, state);
                    if self.is_binary(target) {
                        state.unlock(released(path, target));
                    }
                    state.maybe.extend(path.map(Fact::Signalled));
                }
                Effect::Wait {
                    condition,
                    is_timed,
                } => {
                    let (path, _) = self.object(condition, arguments);
                    state.wait();
                    if !is_timed {
                        state.after.extend(path.map(Fact::Waited));
                    }
                }
                Effect::Signal { condition } => {
                    let (path, target) = self.object(condition, arguments);
                    self.tell(What::Signal, site, path, target, state);
                    state.maybe.extend(path.map(Fact::Signalled));
                }
                Effect::Barrier { barrier } => {
                    let (path, target) = self.object(&Object::Argument(*barrier), arguments);
                    self.tell(What::Barrier, site, path, target, state);
                    state.after.extend(path.map(Fact::Passed));
                    state.maybe.extend(path.map(Fact::Passed));
                }
                Effect::Arrive { barrier } => {
                    let (path, target) = self.object(&Object::Argument(*barrier), arguments);
                    self.tell(What::Barrier, site, path, target, state);
                    state.maybe.extend(path.map(Fact::Passed));
                }
                Effect::Pass { barrier } => {
                    let (path, _) = self.object(&Object::Argument(*barrier), arguments);
                    state.after.extend(path.map(Fact::Passed));
                }
                Effect::Await { object } => {
                    let (path, _) = self.object(&Object::Argument(*object), arguments);
                    state.after.extend(path.map(Fact::Waited));
                    if let Some(path) = path {
                        self.await_result(path, state);
                    }
                }
                Effect::Create { data, handle, .. } => {
                    let data = data.and_then(argument);
                    let given = data.and_then(|data| self.path(data));
                    let handle = handle.and_then(argument);
                    self.create(site, &[given], data, handle, state);
                }
                Effect::CreateMethod { object, handle, .. } => {
                    let known = self.analysis.points.given_at(site);
                    let object = match known {
                        Some(object) => self.path(object),
                        None => {
                            let at = argument(*object).and_then(|object| self.path(object));
                            at.and_then(|at| self.analysis.paths.step(at, Step::Load))
                        }
                    };
                    let handle = handle.and_then(argument);
                    self.create(site, &[object], known, handle, state);
                }
                Effect::CreateClosure { .. } => {
                    let data = self.analysis.points.given_at(site);
                    let object = data.and_then(|data| self.path(data));
                    self.create(site, &[object], data, into.map(Operand::Value), state);
                }
                Effect::Detach { handle } => {
                    if let Some(handle) = self.handle(arguments, *handle, true) {
                        self.detach(handle, state);
                    }
                }
                Effect::JoinHolder => self.join_holder(arguments, false, state),
                Effect::CallsClosure { data } => {
                    let data: Vec<Operand> = argument(*data).into_iter().collect();
                    let given = self.given(&data);
                    let targets = self.analysis.calls.targets(site).to_vec();
                    if let Some(after) = self.calls(site, &targets, (&data, &given), state) {
                        *state = after;
                    }
                }
                Effect::Join {
                    handle,
                    by_address,
                    offset,
                } => {
                    self.wait_for(arguments, *handle, (*by_address, *offset), state);
                }
                Effect::Once { flag, .. } => {
                    let (flag, target) = self.object(&Object::Argument(*flag), arguments);
                    self.once(site, flag, target, &[], state);
                }
                Effect::OnceClosure { flag, data } => {
                    let (flag, target) = self.object(&Object::Argument(*flag), arguments);
                    let data: Vec<Operand> = argument(*data).into_iter().collect();
                    self.once(site, flag, target, &data, state);
                }
                Effect::Done { flag } => {
                    let (flag, _) = self.object(&Object::Argument(*flag), arguments);
                    state.after.extend(flag.map(Fact::Once));
                }
                Effect::CallsObject { object, .. } => {
                    let targets = self.analysis.calls.targets(site).to_vec();
                    let called = targets.first();
                    let function = called.map(|id| self.analysis.program.function(*id));
                    let object = function.zip(argument(*object));
                    let object = object.map(|(function, object)| with_object(function, object));
                    let object = object.unwrap_or_default();
                    let given = self.given(&object);
                    let after = self.calls(site, &targets, (&object, &given), state);
                    if let Some(after) = after {
                        *state = after;
                    }
                }
                Effect::Calls { with, .. } => {
                    let with: Vec<Operand> = with.iter().filter_map(|one| argument(*one)).collect();
                    let targets = self.analysis.calls.targets(site).to_vec();
                    let paths = &mut self.analysis.paths;
                    let elements: Vec<Option<PathId>> = with
                        .iter()
                        .map(|one| {
                            let path = self.values.path(paths, *one)?;
                            paths.step(path, Step::Element(1, None))
                        })
                        .collect();
                    if let Some(after) = self.calls(site, &targets, (&with, &elements), state) {
                        *state = after;
                    }
                }
                Effect::Allocate => state.fresh.extend(into),
                Effect::Ends => returns = false,
                Effect::Read(number) => self.touch(site, argument(*number), false, state),
                Effect::Write(number) | Effect::Free(number) => {
                    self.touch(site, argument(*number), true, state);
                }
                Effect::Copy { to, from } => {
                    self.touch(site, argument(*from), false, state);
                    self.touch(site, argument(*to), true, state);
                }
                Effect::Atomic(number) => {
                    if let (true, Some(operand)) = (self.is_collecting, argument(*number)) {
                        self.access(site, operand, 0, true, Mark::Atomic, state);
                    }
                }
                Effect::AtomicRead(number) => {
                    if let (true, Some(operand)) = (self.is_collecting, argument(*number)) {
                        self.access(site, operand, 0, false, Mark::Atomic, state);
                    }
                }
                Effect::Count { .. }
                | Effect::Returns(_)
                | Effect::Registers { .. }
                | Effect::Own
                | Effect::IsDone { .. }
                | Effect::IsRunning { .. }
                | Effect::JoinsOwn
                | Effect::RunsStored(_)
                | Effect::Nothing => {}
            }
        }
        returns.then_some(())
    }

    fn touch(&mut self, site: Site, operand: Option<Operand>, writes: bool, state: &State) {
        if let (true, Some(operand)) = (self.is_collecting, operand) {
            self.access(site, operand, 0, writes, Mark::Plain, state);
        }
    }

    fn tell(
        &mut self,
        what: What,
        site: Site,
        path: Option<PathId>,
        target: Option<crate::points::Target>,
        state: &State,
    ) {
        if self.is_collecting {
            let deed = self.deed(what, site, path, target, state);
            self.add(deed, state);
        }
    }

    fn lock(
        &mut self,
        site: Site,
        object: &Object,
        arguments: &[Operand],
        (mode, fails): (crate::model::Mode, Fails),
        state: &mut State,
    ) {
        let (path, target) = self.object(object, arguments);
        // Who only tries does not wait: there is no deadlock in that.
        if fails == Fails::Never {
            self.tell(What::Lock(mode), site, path, target, state);
            if let Some(lock) = path {
                state.lock(Held {
                    lock,
                    target: target.map(|target| (target.class.number(), target.offset)),
                    mode,
                    depth: 1,
                    at: site,
                    since: BTreeSet::new(),
                });
            }
        }
    }

    /// A lock is taken by somebody who holds others only as long as none has to be waited for.
    fn lock_any(
        &mut self,
        site: Site,
        argument: u32,
        is_guard: bool,
        arguments: &[Operand],
        state: &mut State,
    ) {
        let (mut path, mut target) = self.object(&Object::Argument(argument), arguments);
        if is_guard && let Some(guard) = path {
            let known = self
                .memory
                .at(self.function, &mut self.analysis.paths, guard, site);
            path = known.or_else(|| self.analysis.paths.step(guard, Step::Load));
            target = None;
        }
        if let Some(lock) = path {
            state.lock(Held {
                lock,
                target: target.map(|target| (target.class.number(), target.offset)),
                mode: Default::default(),
                depth: 1,
                at: site,
                since: BTreeSet::new(),
            });
        }
    }

    /// What runs once runs alone, and whoever comes back from there comes after it.
    fn once(
        &mut self,
        site: Site,
        flag: Option<PathId>,
        target: Option<crate::points::Target>,
        arguments: &[Operand],
        state: &mut State,
    ) {
        let given = self.given(arguments);
        let targets = self.analysis.calls.targets(site).to_vec();
        let mut inside = state.clone();
        if let Some(lock) = flag {
            inside.lock(Held {
                lock,
                target: target.map(|target| (target.class.number(), target.offset)),
                mode: Default::default(),
                depth: 1,
                at: site,
                since: BTreeSet::new(),
            });
        }
        if let Some(mut after) = self.calls(site, &targets, (arguments, &given), &inside) {
            after.unlock(released(flag, target));
            // It may have run in another thread.
            let before = state.clone();
            *state = after;
            state.meet(&before);
        }
        state.after.extend(flag.map(Fact::Once));
    }
}

fn released(lock: Option<PathId>, target: Option<crate::points::Target>) -> Released {
    Released {
        lock,
        target: target.map(|target| (target.class.number(), target.offset)),
    }
}
