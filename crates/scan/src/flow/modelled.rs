//! Calls of functions that the model knows: each of their effects in turn.

use std::collections::BTreeSet;

use crate::ir::{Mark, Operand, ValueId};
use crate::model::{Effect, Fails, Object};
use crate::path::{PathId, Site, Step};
use crate::points::methods::with_object;
use crate::state::{Fact, Held, Released, State};
use crate::summary::What;

use super::Flow;

impl Flow<'_, '_> {
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

    pub(super) fn tell(
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
