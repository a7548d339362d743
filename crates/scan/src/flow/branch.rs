//! What a branch tells: whether an attempt to take a lock succeeded, and that a loop is over.

use crate::calls;
use crate::ir::{BlockId, Comparison, Kind, Operand, Terminator, ValueId};
use crate::model::{Effect, Fails, Mode, Object};
use crate::path::{Base, PathId, Site, Step};
use crate::state::{Fact, Held, State};

use super::Flow;
use super::condition::{decided, last_condition};

/// How the names of guards of local static variables begin.
const GUARD: &str = "_ZGV";

/// A lock that was tried.
struct Attempt {
    lock: Option<PathId>,
    target: Option<crate::points::Target>,
    mode: Mode,
    fails: Fails,
    at: Site,
}

impl Flow<'_, '_> {
    /// What is known behind a block, by where it goes on.
    pub(super) fn onward(&mut self, block: BlockId, state: &State) -> Vec<(BlockId, State)> {
        let terminator = &self.function.blocks[block.index()].terminator;
        let mut all: Vec<(BlockId, State)> = Vec::new();
        match terminator {
            Terminator::Branch {
                condition,
                then,
                otherwise,
            } => {
                let told = decided(&self.values, *condition);
                let exchange = self.exchanged(*condition);
                for (next, holds) in [(*then, true), (*otherwise, false)] {
                    let mut state = state.clone();
                    if let Some((value, if_equal)) = exchange
                        && holds == if_equal
                    {
                        self.has_exchanged(value, &mut state);
                    }
                    if let Some((value, if_nonzero)) = told {
                        self.attempted(value, holds == if_nonzero, &mut state);
                    }
                    all.push((next, state));
                }
            }
            Terminator::Switch {
                on: Operand::Value(value),
                cases,
                otherwise,
            } => {
                for (number, next) in cases {
                    let mut state = state.clone();
                    self.attempted(*value, *number != 0, &mut state);
                    all.push((*next, state));
                }
                all.push((*otherwise, state.clone()));
            }
            other => {
                let next = other.successors().into_iter();
                all.extend(next.map(|next| (next, state.clone())));
            }
        }
        for (next, state) in &mut all {
            self.leave_loops(block, *next, state);
            self.merge_fresh(block, *next, state);
        }
        all
    }

    /// The result of a call is 0, or it is not.
    fn attempted(&mut self, value: ValueId, is_nonzero: bool, state: &mut State) {
        let (value, is_nonzero) = last_condition(&self.values, value, is_nonzero);
        let value = self.values.same(value);
        if let Some(flag) = self.asked(value, is_nonzero) {
            state.after.insert(Fact::Once(flag));
        }
        if !is_nonzero && let Some(handle) = self.ended(value) {
            self.join(handle, false, state);
        }
        let Some(attempt) = self.attempt(value) else {
            return;
        };
        let has_failed = match attempt.fails {
            Fails::Never => return,
            Fails::NonZero => is_nonzero,
            Fails::Zero => !is_nonzero,
        };
        if !has_failed && let Some(lock) = attempt.lock {
            let target = attempt.target;
            state.lock(Held {
                lock,
                target: target.map(|target| (target.class.number(), target.offset)),
                mode: attempt.mode,
                depth: 1,
                at: attempt.at,
                since: Default::default(),
            });
        }
    }

    /// The atomic operation of an inlined function whose result a condition compares with what was expected, and whether the condition holds if
    /// that is what it was.
    fn exchanged(&self, condition: Operand) -> Option<(ValueId, bool)> {
        let Operand::Value(mut value) = condition else {
            return None;
        };
        let mut if_equal = true;
        for _ in 0..8 {
            value = self.values.same(value);
            let Kind::Compare { how, operands, .. } = self.values.definition(value)? else {
                return None;
            };
            match how {
                Comparison::Equal => {}
                Comparison::Unequal => if_equal = !if_equal,
                _ => return None,
            }
            for operand in operands {
                if let Operand::Value(was) = operand
                    && let was = self.values.same(*was)
                    && let Some(site) = self.values.site(was)
                    && self.analysis.inlined_at(site).is_some()
                {
                    return Some((was, if_equal));
                }
            }
            // A comparison of the answer with no.
            match operands {
                [Operand::Value(inner), Operand::Integer(0)] => {
                    value = *inner;
                    if_equal = !if_equal;
                }
                _ => return None,
            }
        }
        None
    }

    /// An atomic operation of an inlined function has found what it expected.
    fn has_exchanged(&mut self, value: ValueId, state: &mut State) {
        let (Some(site), Some(kind)) = (self.values.site(value), self.values.definition(value))
        else {
            return;
        };
        let at = match kind {
            Kind::Update { at, .. } => *at,
            Kind::Load { from, .. } => *from,
            _ => return,
        };
        let Some(effects) = self.analysis.inlined_at(site) else {
            return;
        };
        for effect in effects {
            match effect {
                Effect::Lock {
                    object,
                    mode,
                    fails,
                    ..
                } if *fails != Fails::Never => {
                    let (lock, target) = self.object(object, &[at]);
                    if let Some(lock) = lock {
                        state.lock(Held {
                            lock,
                            target: target.map(|target| (target.class.number(), target.offset)),
                            mode: *mode,
                            depth: 1,
                            at: site,
                            since: Default::default(),
                        });
                    }
                }
                Effect::IsDone { flag, .. } => {
                    let (flag, _) = self.object(&Object::Argument(*flag), &[at]);
                    state.after.extend(flag.map(Fact::Once));
                }
                _ => {}
            }
        }
    }

    /// The handle of a thread that was waited for, or let go, if a value is 0.
    fn ended(&mut self, value: ValueId) -> Option<PathId> {
        let kind = self.values.definition(value)?;
        let Kind::Call { arguments, .. } = kind else {
            return None;
        };
        let effects = calls::effects(self.analysis.program, self.analysis.model, kind)?;
        effects.iter().find_map(|effect| match effect {
            Effect::IsRunning { handle } => self.handle(arguments, *handle, true),
            _ => None,
        })
    }

    /// What has surely run if a value is 0, or is not: by a function that tells, or by the guard of a local static variable.
    fn asked(&mut self, value: ValueId, is_nonzero: bool) -> Option<PathId> {
        let kind = self.values.definition(value)?;
        match kind {
            Kind::Load {
                from: Operand::Global(global, 0),
                ..
            } if is_nonzero => {
                let is_guard = self
                    .analysis
                    .program
                    .global(*global)
                    .name
                    .starts_with(GUARD);
                is_guard.then(|| self.analysis.paths.base(Base::Global(*global)))
            }
            Kind::Call { arguments, .. } => {
                let effects = calls::effects(self.analysis.program, self.analysis.model, kind)?;
                let (flag, if_zero) = effects.iter().find_map(|effect| match effect {
                    Effect::IsDone { flag, if_zero } => Some((*flag, *if_zero)),
                    _ => None,
                })?;
                let (path, _) = self.object(&Object::Argument(flag), arguments);
                path.filter(|_| is_nonzero != if_zero)
            }
            _ => None,
        }
    }

    fn attempt(&mut self, value: ValueId) -> Option<Attempt> {
        let kind = self.values.definition(value)?;
        let Kind::Call { arguments, .. } = kind else {
            return None;
        };
        let effects = calls::effects(self.analysis.program, self.analysis.model, kind)?;
        let at = self.values.site(value)?;
        for effect in effects {
            let (object, mode, fails) = match effect {
                Effect::Lock {
                    object,
                    mode,
                    fails,
                    ..
                } => (object.clone(), *mode, *fails),
                Effect::Down { semaphore, fails } => {
                    (Object::Argument(*semaphore), Mode::Write, *fails)
                }
                _ => continue,
            };
            let (lock, target) = self.object(&object, arguments);
            if matches!(effect, Effect::Down { .. }) && !self.is_binary(target) {
                continue;
            }
            return Some(Attempt {
                lock,
                target,
                mode,
                fails,
                at,
            });
        }
        None
    }

    /// A lock or a condition that a call is about: its path and class.
    pub(super) fn object(
        &mut self,
        object: &Object,
        arguments: &[Operand],
    ) -> (Option<PathId>, Option<crate::points::Target>) {
        match object {
            Object::Named(number) => {
                let path = self.analysis.paths.base(Base::Named(*number));
                (Some(path), None)
            }
            Object::Pointed(number, offset) => {
                let site = self.at;
                let pointer = arguments.get(*number as usize);
                let Some(pointer) = pointer.and_then(|pointer| self.path(*pointer)) else {
                    return (None, None);
                };
                let paths = &mut self.analysis.paths;
                let place = paths.field(pointer, *offset);
                let known = self.memory.at(self.function, paths, place, site);
                (known.or_else(|| paths.step(place, Step::Load)), None)
            }
            Object::Argument(number) => {
                let Some(operand) = arguments.get(*number as usize) else {
                    return (None, None);
                };
                let path = self.path(*operand);
                let target = self.analysis.points.target(self.id, *operand);
                (path, target)
            }
        }
    }

    /// Whether a semaphore is used as a lock.
    pub(super) fn is_binary(&self, target: Option<crate::points::Target>) -> bool {
        target.is_some_and(|target| self.analysis.is_binary(target))
    }

    /// Whether nobody comes past a semaphore before somebody else has been there.
    pub(super) fn is_message(&self, target: Option<crate::points::Target>) -> bool {
        let known = target.and_then(|target| self.analysis.semaphores.get(&target));
        known == Some(&Some(0))
    }

    /// Behind a loop that waits for a condition it holds; behind one that waits for threads of an array, they have ended.
    fn leave_loops(&mut self, from: BlockId, to: BlockId, state: &mut State) {
        let shape = &self.analysis.calls.shapes[self.id.index()];
        let left: Vec<u32> = shape.left(from, to).collect();
        if left.is_empty() {
            return;
        }
        let function = self.function;
        for (block, one) in function.blocks.iter().enumerate() {
            let shape = &self.analysis.calls.shapes[self.id.index()];
            let around = shape.loop_around(block as u32);
            if !around.is_some_and(|around| left.contains(&around)) {
                continue;
            }
            for statement in &one.statements {
                let kind = &statement.kind;
                let Some(effects) =
                    calls::effects(self.analysis.program, self.analysis.model, kind)
                else {
                    continue;
                };
                let Kind::Call { arguments, .. } = kind else {
                    continue;
                };
                for effect in effects {
                    match effect {
                        Effect::Wait {
                            condition,
                            is_timed: false,
                        } => {
                            let (path, _) = self.object(condition, arguments);
                            state.after.extend(path.map(Fact::Waited));
                        }
                        Effect::JoinHolder => self.join_holder(arguments, true, state),
                        Effect::Join {
                            handle,
                            by_address,
                            offset,
                        } => {
                            let kept = self.handle(arguments, *handle, *by_address);
                            if let Some(handle) = kept {
                                let handle = self.analysis.paths.field(handle, *offset);
                                self.join(handle, true, state);
                            }
                            if let (true, Some(handle)) =
                                (*by_address, arguments.get(*handle as usize))
                            {
                                self.join_class(*handle, state);
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}
