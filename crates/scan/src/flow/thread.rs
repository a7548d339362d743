//! Threads: their creation, what each of them gets for itself, and waiting for them to end.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::ir::{FunctionId, Operand};
use crate::path::{Base, PathId, Paths, Site, Step};
use crate::shape::Shape;
use crate::state::State;
use crate::summary::{Arguments, What};
use crate::values::Values;

use super::Flow;

/// So many times as much of new threads as of callees is told in their creator's terms: what they are given tells their memory apart.
const ROOM_FOR_THREADS: usize = 16;

impl Flow<'_, '_> {
    /// A thread is created.
    pub(super) fn create(
        &mut self,
        site: Site,
        given: &[Option<PathId>],
        data: Option<Operand>,
        handle: Option<Operand>,
        state: &mut State,
    ) {
        let handle = handle.and_then(|handle| self.keep(site, handle));
        let given: Vec<Option<PathId>> = given
            .iter()
            .map(|path| path.map(|path| self.owned_here(site, path)))
            .collect();
        if self.is_collecting {
            let targets = self.analysis.calls.targets(site).to_vec();
            let is_multiple = !self.analysis.calls.is_once(site);
            let has_number = data.is_some_and(|data| self.is_number(site, data));
            let mut leaves = BTreeSet::new();
            for target in &targets {
                if let Some(summary) = &self.analysis.summaries[target.index()] {
                    let exit = summary.exit.as_ref();
                    leaves.extend(exit.into_iter().flat_map(|exit| exit.live.keys().copied()));
                }
            }
            let spawn = self.analysis.spawns.entry(site).or_default();
            spawn.live_before.extend(state.live.keys());
            spawn.is_multiple = is_multiple;
            spawn.targets.clone_from(&targets);
            spawn.leaves = leaves;
            spawn.data = given.first().copied().flatten();
            spawn.has_number = has_number;
            self.summary.spawned.insert(site);
            for target in targets {
                self.thread(site, target, &given, state);
            }
        }
        if let Some(data) = data {
            self.operand_escapes(data, state);
        }
        state.live.insert(site, handle);
    }

    /// What a new thread does.
    fn thread(&mut self, site: Site, target: FunctionId, given: &[Option<PathId>], state: &State) {
        let Some(summary) = self.analysis.summaries[target.index()].clone() else {
            return;
        };
        let (memory, function) = (Rc::clone(&self.memory), self.function);
        let shape = Rc::clone(&self.analysis.calls.shapes[self.id.index()]);
        let (values, id) = (&self.values, self.id);
        let read = |paths: &mut Paths, place| {
            let read = memory.at(function, paths, place, site)?;
            Some(owned((&shape, values, id), paths, site, read))
        };
        let mut terms = Arguments::new(target, given, &read);
        // It has none of its creator's locks, but comes after all that has happened.
        let begin = State {
            after: state.after.clone(),
            maybe: state.maybe.clone(),
            ..State::default()
        };
        let budget = self.analysis.budget * ROOM_FOR_THREADS;
        if self.is_too_much(target, summary.deeds.len(), budget) {
            self.analysis.cut.insert(target);
            let mut deed = self.deed(What::Enter(target), site, None, None, &begin);
            deed.chain.push(site);
            self.deeds.add(deed);
            return;
        }
        let mut deeds = Vec::with_capacity(summary.deeds.len());
        let functions = self.analysis.points.functions_given(site).to_vec();
        let mut fields = BTreeMap::new();
        for deed in &summary.deeds {
            // Whoever is given a function calls that one, and no other that somebody else is given.
            if let (Some(call), false) = (deed.calls.iter().next(), functions.is_empty()) {
                let points = &self.analysis.points;
                let field = *fields
                    .entry(*call)
                    .or_insert_with(|| points.called_field(*call));
                let given = functions.iter().rev().find(|(at, _)| Some(*at) == field);
                let called = deed.calls.iter().nth(1).unwrap_or(&deed.site).function;
                if given.is_some_and(|(_, given)| *given != called) {
                    continue;
                }
            }
            // What the library does for itself before and after the program's own function is no business of the program's.
            let is_access = matches!(deed.what, What::Access { .. });
            if is_access && deed.chain.is_empty() && !self.analysis.is_own(deed) {
                continue;
            }
            let kept = (&mut self.analysis.paths, &mut self.analysis.moments);
            let mut deed = terms.deed(kept, deed, &begin, site);
            deed.chain.insert(0, site);
            deeds.push(deed);
        }
        for deed in deeds {
            self.add(deed, state);
        }
    }

    /// What a thread is given, marked as its own if each that is created there gets another.
    fn owned_here(&mut self, site: Site, path: PathId) -> PathId {
        let shape = &self.analysis.calls.shapes[self.id.index()];
        let paths = &mut self.analysis.paths;
        owned((shape, &self.values, self.id), paths, site, path)
    }

    /// Whether each thread that is created there is given another number: that of the loop's round.
    fn is_number(&self, site: Site, data: Operand) -> bool {
        let shape = &self.analysis.calls.shapes[self.id.index()];
        let Operand::Value(value) = data else {
            return false;
        };
        let counter = self.values.counts(value);
        counter.is_some() && counter == shape.loop_around(site.block)
    }
}

/// What a thread is given or finds there, marked as its own if each that is created at a statement gets another: an element by a loop's variable, or
/// something that was allocated in the same round.
fn owned(
    (shape, values, id): (&Shape, &Values, FunctionId),
    paths: &mut Paths,
    site: Site,
    path: PathId,
) -> PathId {
    let Some(around) = shape.loop_around(site.block) else {
        return path;
    };
    let in_loop = |block: u32| shape.loops[around as usize].blocks[block as usize];
    let counts = |index| values.counts(index).is_some_and(|by| by == around);
    let is_own = match paths.origin(path) {
        _ if paths.loads(path) => false,
        Base::Heap(at) if at.function == id && in_loop(at.block) => true,
        _ => paths.steps(path).iter().any(|step| match step {
            Step::Element(_, Some((function, index))) => *function == id && counts(*index),
            _ => false,
        }),
    };
    match is_own {
        true => paths.step(path, Step::Own(site)).unwrap_or(path),
        false => path,
    }
}
