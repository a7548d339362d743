//! From a function's body to its summary: what is known at each place is carried forward until nothing changes, then everything that
//! matters is written down with what is known there.
//!
//! Locksets and acquisition histories are those of the paper's section 4, taken over all ways to a place (what holds on each of them): a pair that they
//! rule out is ruled out whatever way is taken.

mod branch;
mod call;
mod condition;
mod escape;
mod handles;
mod modelled;
mod puts;
mod thread;

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::analysis::Analysis;
use crate::calls;
use crate::deeds::Deeds;
use crate::ir::{BlockId, Function, FunctionId, Kind, Mark, Operand, Terminator, ValueId};
use crate::memory::Memory;
use crate::moment::{Moment, Way};
use crate::pairs::is_covered;
use crate::path::{Base, PathId, Site};
use crate::state::State;
use crate::summary::{Deed, Summary, What};
use crate::values::{Read, Values};

/// What the function of this name does, as far as its callees are known.
pub fn summarise(analysis: &mut Analysis, id: FunctionId) -> Summary {
    let mut flow = Flow::new(analysis, id);
    let states = flow.states();
    flow.collect(&states)
}

/// What a function always reads from memory that only one statement ever writes, or that only ever holds one global's address.
fn always_read(analysis: &mut Analysis, id: FunctionId) -> FxHashMap<ValueId, Read> {
    let function = analysis.program.function(id);
    let mut found = FxHashMap::default();
    for (block, one) in function.blocks.iter().enumerate() {
        for (index, statement) in one.statements.iter().enumerate() {
            let Kind::Load { into, from, .. } = &statement.kind else {
                continue;
            };
            if !function.values[into.index()].is_pointer {
                continue;
            }
            let target = analysis.points.target(id, *from);
            let Some(stored) = target.and_then(|target| analysis.stores.only(target)) else {
                continue;
            };
            let site = Site {
                function: id,
                block: block as u32,
                statement: index as u32,
            };
            let value = stored.value;
            let read = match (value, stored.site) {
                (Operand::Global(..), _) => Read { value, to: None },
                (Operand::Value(_), Some(at))
                    if at.function == id && is_covered(function, site, &[at]) =>
                {
                    let statement = &function.blocks[at.block as usize].statements;
                    match &statement[at.statement as usize].kind {
                        Kind::Store { to, .. } => Read {
                            value,
                            to: Some(*to),
                        },
                        _ => continue,
                    }
                }
                _ => continue,
            };
            found.insert(*into, read);
        }
    }
    found
}

/// One function that is looked at.
struct Flow<'f, 'a> {
    analysis: &'f mut Analysis<'a>,
    id: FunctionId,
    function: &'a Function,
    values: Values<'a>,
    /// Values that are allocated by a call, which nobody else knows then.
    allocated: BTreeSet<ValueId>,
    /// What is written down.
    summary: Summary,
    /// What it does.
    deeds: Deeds,
    is_collecting: bool,
    /// Handles of threads that are moved, by the statement: where they were created, from where, and where to.
    moves: FxHashMap<Site, Vec<(Site, PathId, Option<PathId>)>>,
    /// What was known before the last call.
    thrown: Option<State>,
    /// The statement that is looked at.
    at: Site,
    /// What the function has put where.
    memory: Rc<Memory>,
}

impl<'f, 'a> Flow<'f, 'a> {
    fn new(analysis: &'f mut Analysis<'a>, id: FunctionId) -> Self {
        let program = analysis.program;
        let function = program.function(id);
        let shape = analysis.calls.shapes[id.index()].clone();
        let read = always_read(analysis, id);
        let values = Values::of(program, id, shape, read, &mut analysis.paths);
        let mut flow = Flow {
            analysis,
            id,
            function,
            values,
            allocated: BTreeSet::new(),
            summary: Summary::default(),
            deeds: Deeds::default(),
            is_collecting: false,
            moves: FxHashMap::default(),
            thrown: None,
            at: Site::default(),
            memory: Rc::default(),
        };
        flow.find_results();
        flow.find_puts();
        flow
    }

    fn site(&self, block: BlockId, statement: usize) -> Site {
        Site {
            function: self.id,
            block: block.0,
            statement: statement as u32,
        }
    }

    fn path(&mut self, operand: Operand) -> Option<PathId> {
        self.values.path(&mut self.analysis.paths, operand)
    }

    /// What is known at the beginning of each block that can be reached.
    fn states(&mut self) -> Vec<Option<State>> {
        let mut states: Vec<Option<State>> = vec![None; self.function.blocks.len()];
        if let Some(first) = states.first_mut() {
            *first = Some(State::default());
        }
        let order = self.analysis.calls.shapes[self.id.index()].order.clone();
        let mut is_waiting: Vec<bool> = vec![true; self.function.blocks.len()];
        let mut rounds = 0;
        while is_waiting.iter().any(|waiting| *waiting) && rounds < 50 {
            rounds += 1;
            let mut any = false;
            for block in &order {
                if !std::mem::take(&mut is_waiting[block.index()]) {
                    continue;
                }
                let Some(state) = states[block.index()].clone() else {
                    continue;
                };
                let (after, thrown) = self.through_or_thrown(*block, state);
                let mut onward = match &after {
                    Some(state) => self.onward(*block, state),
                    None => Vec::new(),
                };
                if let Terminator::Call { unwind, .. } =
                    self.function.blocks[block.index()].terminator
                {
                    onward.retain(|(next, _)| *next != unwind);
                    onward.extend(thrown.map(|state| (unwind, state)));
                }
                for (next, state) in onward {
                    let changed = match &mut states[next.index()] {
                        Some(known) => known.meet(&state),
                        none => {
                            *none = Some(state);
                            true
                        }
                    };
                    if changed {
                        is_waiting[next.index()] = true;
                        any = true;
                    }
                }
            }
            if !any {
                break;
            }
        }
        states
    }

    /// Through a block, and what is known if the call at its end throws: nobody knows whether it has done yet what it does.
    fn through_or_thrown(
        &mut self,
        block: BlockId,
        state: State,
    ) -> (Option<State>, Option<State>) {
        let one = &self.function.blocks[block.index()];
        if !matches!(one.terminator, Terminator::Call { .. }) {
            return (self.through(block, state), None);
        }
        self.thrown = None;
        let after = self.through(block, state);
        // What the model knows either does what it does, or throws.
        let last = one.statements.iter().rev();
        let mut calls = last.filter(|statement| matches!(statement.kind, Kind::Call { .. }));
        let is_known = calls.next().is_some_and(|call| {
            calls::effects(self.analysis.program, self.analysis.model, &call.kind).is_some()
        });
        let thrown = self.thrown.take().map(|mut before| {
            if let (Some(after), false) = (&after, is_known) {
                before.meet(after);
            }
            before
        });
        (after, thrown)
    }

    /// Through a block; `None` if its end is not reached.
    fn through(&mut self, block: BlockId, mut state: State) -> Option<State> {
        let function = self.function;
        let one = &function.blocks[block.index()];
        let throws = matches!(one.terminator, Terminator::Call { .. });
        for (index, statement) in one.statements.iter().enumerate() {
            let site = self.site(block, index);
            self.at = site;
            if throws && matches!(statement.kind, Kind::Call { .. }) {
                self.thrown = Some(state.clone());
            }
            if self.is_collecting {
                self.note(site, &statement.kind, &state);
            }
            self.step(site, &statement.kind, &mut state)?;
        }
        Some(state)
    }

    /// One statement; `None` if it does not come to its end.
    fn step(&mut self, site: Site, kind: &Kind, state: &mut State) -> Option<()> {
        if !self.moves.is_empty() {
            self.move_handles(site, state);
        }
        match kind {
            Kind::Store { to, value, .. } => self.store_escapes(*to, *value, state),
            Kind::Update {
                into, at, value, ..
            } => {
                self.store_escapes(*at, *value, state);
                if let Some(effects) = self.analysis.inlined_at(site) {
                    return self.modelled(site, Some(*into), effects, &[*at], state);
                }
            }
            Kind::Call {
                into,
                callee,
                arguments,
            } => return self.call(site, *into, *callee, arguments, state),
            _ => {}
        }
        Some(())
    }

    /// Writes down an access.
    fn note(&mut self, site: Site, kind: &Kind, state: &State) {
        match kind {
            Kind::Load {
                from, size, mark, ..
            } => self.access(site, *from, *size, false, *mark, state),
            Kind::Store { to, size, mark, .. } => {
                self.access(site, *to, *size, true, *mark, state);
            }
            Kind::Update { at, size, .. } => {
                self.access(site, *at, *size, true, Mark::Atomic, state);
            }
            _ => {}
        }
    }

    /// An access of what an operand points at.
    fn access(
        &mut self,
        site: Site,
        operand: Operand,
        size: u64,
        writes: bool,
        mark: Mark,
        state: &State,
    ) {
        let Some(target) = self.analysis.points.target(self.id, operand) else {
            return;
        };
        if !self.analysis.matters(target, size, (site, writes)) {
            return;
        }
        let path = self.path(operand);
        let what = What::Access { writes, size, mark };
        let deed = self.deed(what, site, path, Some(target), state);
        self.add(deed, state);
    }

    /// Something that is done here.
    fn deed(
        &mut self,
        what: What,
        site: Site,
        path: Option<PathId>,
        target: Option<crate::points::Target>,
        state: &State,
    ) -> Deed {
        Deed {
            what,
            site,
            path,
            target,
            moment: self.analysis.moments.keep(Moment::of(state)),
            chain: Vec::new(),
            calls: Way::default(),
        }
    }

    /// Adds a deed, unless nobody else can see it, or it is there.
    fn add(&mut self, deed: Deed, state: &State) {
        if matches!(deed.what, What::Access { .. })
            && deed.chain.is_empty()
            && deed.path.is_some_and(|path| self.is_private(path, state))
        {
            return;
        }
        self.deeds.add(deed);
    }

    /// Whether a path lies in something that the function has allocated and nobody else knows yet.
    fn is_private(&mut self, path: PathId, state: &State) -> bool {
        let origin = self.analysis.paths.origin(path);
        if !matches!(origin, Base::Heap(_) | Base::Value(..)) || self.analysis.paths.loads(path) {
            return false;
        }
        state.fresh.iter().any(|value| {
            let own = self
                .values
                .path(&mut self.analysis.paths, Operand::Value(*value));
            own.is_some_and(|own| self.analysis.paths.origin(own) == origin)
        })
    }

    /// The second pass: everything that matters, with what is known there.
    fn collect(mut self, states: &[Option<State>]) -> Summary {
        self.is_collecting = true;
        self.summary.escapes = vec![false; self.function.parameters as usize];
        let order = self.analysis.calls.shapes[self.id.index()].order.clone();
        let mut results: Vec<Option<PathId>> = Vec::new();
        let mut is_fresh = true;
        let mut exit: Option<State> = None;
        for block in order {
            let Some(state) = states[block.index()].clone() else {
                continue;
            };
            let Some(state) = self.through(block, state) else {
                continue;
            };
            let Terminator::Return(result) = self.function.blocks[block.index()].terminator else {
                continue;
            };
            if let Some(result) = result {
                is_fresh &= self.is_fresh_result(result, &state);
                let path = self.path(result);
                if result != Operand::Null {
                    results.push(path);
                }
            }
            match &mut exit {
                Some(exit) => {
                    exit.meet(&state);
                }
                none => *none = Some(state),
            }
        }
        if let Some(exit) = &mut exit {
            exit.fresh.clear();
            exit.bound();
        }
        let first = results.first().copied().flatten();
        let is_one = results.iter().all(|result| *result == first);
        let is_own = first.is_some_and(|path| {
            let origin = self.analysis.paths.origin(path);
            matches!(origin, Base::Local(..) | Base::Value(..))
        });
        self.summary.result = first.filter(|_| is_one && !is_own);
        self.summary.returns_fresh = is_fresh && first.is_some();
        self.summary.exit = exit;
        self.summary.put = self.left_in_parameters();
        self.summary.deeds = self.deeds.all();
        self.summary
    }
}
