//! Handles of threads: where they are kept, and who waits for the thread.

use std::collections::BTreeSet;

use crate::calls;
use crate::ir::{Kind, Operand};
use crate::model::Effect;
use crate::path::{Base, PathId, Site, Step};
use crate::state::State;

use super::Flow;

/// How many bytes a handle has.
const HANDLE: u64 = 8;

impl Flow<'_, '_> {
    /// Where a handle is put. It may be moved on at once: that is remembered.
    pub(super) fn keep(&mut self, site: Site, first: Operand) -> Option<PathId> {
        let at = self.path(first);
        let moved = at.and_then(|at| self.moved(at));
        let last = moved.map_or(first, |(_, to)| to);
        if let Some(target) = self.analysis.points.target(self.id, last) {
            self.analysis.handles.insert(site, target.class);
        }
        if let (Some(at), Some((by, to))) = (at, moved) {
            let to = self.path(to);
            let moves = self.moves.entry(by).or_default();
            if !moves.contains(&(site, at, to)) {
                moves.push((site, at, to));
            }
        }
        at
    }

    /// A statement moves handles.
    pub(super) fn move_handles(&mut self, by: Site, state: &mut State) {
        for (site, from, to) in self.moves.get(&by).into_iter().flatten() {
            if let Some(at) = state.live.get_mut(site)
                && *at == Some(*from)
            {
                *at = *to;
            }
        }
    }

    /// Where what is at a path is moved, and by which statement.
    fn moved(&mut self, at: PathId) -> Option<(Site, Operand)> {
        let function = self.function;
        let mut read = BTreeSet::new();
        let statements = function.block_ids().flat_map(|block| {
            let statements = function.blocks[block.index()].statements.iter();
            statements
                .enumerate()
                .map(move |(index, statement)| (block, index, statement))
        });
        for (block, index, statement) in statements {
            let to = match &statement.kind {
                Kind::Load {
                    into,
                    from,
                    size: HANDLE,
                    ..
                } => {
                    if self.path(*from) == Some(at) {
                        read.insert(*into);
                    }
                    continue;
                }
                Kind::Store {
                    to,
                    value: Operand::Value(value),
                    ..
                } if read.contains(&self.values.same(*value)) => *to,
                kind @ Kind::Call { arguments, .. } => {
                    let effects = calls::effects(self.analysis.program, self.analysis.model, kind);
                    match (effects, &arguments[..]) {
                        (Some([Effect::Copy { .. }, ..]), [to, from, ..])
                            if self.path(*from) == Some(at) =>
                        {
                            *to
                        }
                        _ => continue,
                    }
                }
                _ => continue,
            };
            if self.path(to) != Some(at) {
                return Some((self.site(block, index), to));
            }
        }
        None
    }

    /// Where the handle is that a thread is waited for with.
    pub(super) fn handle(
        &mut self,
        arguments: &[Operand],
        number: u32,
        by_address: bool,
    ) -> Option<PathId> {
        let operand = arguments.get(number as usize)?;
        if by_address {
            return self.path(*operand);
        }
        // A handle is a number: it has no path, but where it is read from has one.
        let Operand::Value(value) = operand else {
            return None;
        };
        match self.values.definition(self.values.same(*value))? {
            Kind::Load { from, .. } => self.path(*from),
            _ => None,
        }
    }

    /// A thread is waited for.
    pub(super) fn wait_for(
        &mut self,
        arguments: &[Operand],
        number: u32,
        (by_address, offset): (bool, i64),
        state: &mut State,
    ) {
        if let Some(handle) = self.handle(arguments, number, by_address) {
            let handle = self.analysis.paths.field(handle, offset);
            self.join(handle, false, state);
            state.joined.insert(handle);
        } else if let Some(Operand::Value(value)) = arguments.get(number as usize)
            && let value = self.values.same(*value)
            && value.0 < self.function.parameters
            && !by_address
        {
            state.joined_parameters.insert(value.0);
        }
    }

    /// Behind a loop that waits for threads whose handles are somewhere in memory, all of those have ended.
    pub(super) fn join_class(&mut self, handle: Operand, state: &mut State) {
        let Some(target) = self.analysis.points.target(self.id, handle) else {
            return;
        };
        let analysis = &self.analysis;
        state.live.retain(|site, at| {
            let is_there = analysis.handles.get(site) == Some(&target.class)
                && at.is_none_or(|at| {
                    let origin = analysis.paths.origin(at);
                    analysis.paths.loads(at) || matches!(origin, Base::Heap(_) | Base::Value(..))
                });
            let spawn = analysis.spawns.get(site);
            !(is_there && spawn.is_none_or(|spawn| spawn.leaves.is_empty()))
        });
    }

    /// Threads whose handle is there have ended. Behind a loop, all of an array.
    pub(super) fn join(&mut self, handle: PathId, is_loop: bool, state: &mut State) {
        let plain = self.analysis.paths.nameless(handle);
        let array = self.array_of(plain);
        if array.is_some() && !is_loop {
            return;
        }
        let live: Vec<(Site, Option<PathId>)> =
            state.live.iter().map(|(site, at)| (*site, *at)).collect();
        for (site, at) in live {
            let same = at.is_some_and(|at| {
                let at = self.analysis.paths.nameless(at);
                let (whole, _) = self.analysis.paths.whole(at);
                at == plain || array.is_some_and(|array| array == at || array == whole)
            });
            let leaves = self.analysis.spawns.get(&site);
            let is_last = leaves.is_none_or(|spawn| spawn.leaves.is_empty());
            if same && is_last {
                state.live.remove(&site);
            }
        }
    }

    /// A thread will not be waited for: its handle is nobody's.
    pub(super) fn detach(&mut self, handle: PathId, state: &mut State) {
        let plain = self.analysis.paths.nameless(handle);
        for at in state.live.values_mut() {
            let same = at.is_some_and(|at| self.analysis.paths.nameless(at) == plain);
            if same {
                *at = None;
            }
        }
    }

    /// A thread is waited for whose handle is in the last argument: what the handle and the thread's closure both lead to tells which.
    /// Behind a loop, all of them.
    pub(super) fn join_holder(&mut self, arguments: &[Operand], is_loop: bool, state: &mut State) {
        let points = &mut self.analysis.points;
        let target = arguments
            .last()
            .and_then(|handle| points.target(self.id, *handle));
        let Some(target) = target else {
            return;
        };
        let held = points.pointed_from(target.class);
        let mut same = Vec::new();
        for site in state.live.keys() {
            let given = self.analysis.points.given_at(*site);
            let data = given.and_then(|data| self.analysis.points.target(site.function, data));
            let Some(data) = data else {
                continue;
            };
            let leads_to = self.analysis.points.pointed_from(data.class);
            let spawn = self.analysis.spawns.get(site);
            let is_one = spawn.is_none_or(|spawn| !spawn.is_multiple);
            let is_last = spawn.is_none_or(|spawn| spawn.leaves.is_empty());
            let is_joined = is_loop || is_one;
            if is_joined && is_last && leads_to.iter().any(|class| held.contains(class)) {
                same.push(*site);
            }
        }
        if same.len() == 1 || is_loop {
            for site in same {
                state.live.remove(&site);
            }
        }
    }

    /// A result is waited for: threads that were given what it comes in have ended.
    pub(super) fn await_result(&mut self, result: PathId, state: &mut State) {
        let live: Vec<Site> = state.live.keys().copied().collect();
        for site in live {
            let Some(spawn) = self.analysis.spawns.get(&site) else {
                continue;
            };
            let (Some(data), false) = (spawn.data, spawn.is_multiple) else {
                continue;
            };
            let paths = &mut self.analysis.paths;
            let data = paths.plain(data);
            let holds = self.memory.places().any(|place| {
                paths.whole(place).0 == data
                    && self.memory.at(self.function, paths, place, site) == Some(result)
            });
            if holds {
                state.live.remove(&site);
            }
        }
    }

    /// The array whose element this is.
    fn array_of(&self, path: PathId) -> Option<PathId> {
        let (whole, _) = self.analysis.paths.whole(path);
        match self.analysis.paths.last(whole) {
            Some((array, Step::Element(..))) => Some(array),
            _ => None,
        }
    }
}
