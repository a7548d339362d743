//! Which reads can reach which conditions and addresses: a fixpoint over a function's graph.

mod calls;
pub(crate) mod sets;
mod state;
mod transfer;
mod value;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::arch::{Bound, Convention, Flow, Instruction};
use crate::callee::Callee;
use crate::graph::{Block, Graph, Indirect};
use crate::image::Image;
use sets::{Set, Sets};
use state::State;
use transfer::Transfer;
use value::{Origin, Shape};

/// A jump table has no more entries.
const LARGEST_TABLE: u64 = 4096;

/// What was found out about a function.
pub(crate) struct Solution {
    pub sets: Sets,
    /// What conditions depend on, by the numbers of their branches.
    pub conditions: FxHashMap<usize, Set>,
    /// What accesses are done to depends on this, by the numbers of their calls. For indirect
    /// calls: what is called.
    pub sites: FxHashMap<usize, Set>,
    /// Where jumps and calls through registers and memory go, as far as that is known.
    pub indirect: Indirect,
    /// Whether there is a jump of which it is not known.
    pub lost: bool,
}

/// Follows all values through a function. `site` gives the number of a call that may make events.
pub(crate) fn solve(
    graph: &Graph,
    image: &Image<'_>,
    convention: &'static Convention,
    site: &FxHashMap<usize, u32>,
) -> Solution {
    let mut solver = Solver {
        graph,
        site,
        transfer: Transfer::new(image, convention),
        frame: None,
    };
    let mut states: Vec<Option<State>> = vec![None; graph.blocks.len()];
    states[0] = Some(State::at_entry(convention.stack));
    let mut open = BTreeSet::from([0]);
    while let Some(block) = open.pop_first() {
        let Some(state) = states[block].clone() else {
            continue;
        };
        let state = solver.block(block, state, None);
        let Block { next, pad, .. } = &graph.blocks[block];
        let mut send = |to: usize, state: &State, solver: &mut Solver<'_>| {
            let changed = match &mut states[to] {
                Some(known) => known.join(state, &mut solver.transfer.sets),
                none => {
                    *none = Some(state.clone());
                    true
                }
            };
            if changed {
                open.insert(to);
            }
        };
        for &to in next {
            send(to, &state, &mut solver);
        }
        if let Some(to) = *pad {
            let state = solver.at_pad(state);
            send(to, &state, &mut solver);
        }
    }
    let mut found = Found::default();
    for (block, state) in states.into_iter().enumerate() {
        if let Some(state) = state {
            solver.block(block, state, Some(&mut found));
        }
    }
    Solution {
        sets: solver.transfer.sets,
        conditions: found.conditions,
        sites: found.sites,
        indirect: found.indirect,
        lost: found.lost,
    }
}

#[derive(Default)]
struct Found {
    conditions: FxHashMap<usize, Set>,
    sites: FxHashMap<usize, Set>,
    indirect: Indirect,
    lost: bool,
}

struct Solver<'a> {
    graph: &'a Graph,
    site: &'a FxHashMap<usize, u32>,
    transfer: Transfer<'a>,
    /// The stack pointer once the function's frame stands.
    frame: Option<Shape>,
}

impl Solver<'_> {
    /// Goes through a block; notes what there is to note.
    fn block(&mut self, block: usize, mut state: State, mut found: Option<&mut Found>) -> State {
        let Block { start, end, .. } = self.graph.blocks[block];
        self.transfer.start(&mut state);
        for number in start..end {
            let instruction = &self.graph.instructions[number];
            match self.graph.callees.get(&number) {
                Some(&callee) => {
                    let depends = self.call(&mut state, number, callee, &mut found);
                    if let Some(found) = &mut found {
                        found.sites.insert(number, depends);
                    }
                }
                None => {
                    if let Some(found) = &mut found {
                        self.note(&mut state, number, found, block);
                    }
                    self.transfer.step(&mut state, instruction);
                }
            }
        }
        state
    }

    fn call(
        &mut self,
        state: &mut State,
        number: usize,
        callee: Callee,
        found: &mut Option<&mut Found>,
    ) -> Set {
        let instruction = &self.graph.instructions[number];
        let target = match instruction.flow {
            Flow::CallIndirect => Some(self.transfer.target(state, instruction)),
            _ => None,
        };
        if let (Some(target), Some(found)) = (target, found)
            && let Shape::Constant(address) = target.shape
        {
            found.indirect.calls.insert(instruction.address, address);
        }
        if callee == Callee::Enter {
            self.frame = Some(state.registers[self.transfer.convention.stack.index()].shape);
        }
        let site = self.site.get(&number).copied().unwrap_or(u32::MAX - 1);
        let done_to = self.transfer.call(state, callee, site);
        match (callee, target) {
            (Callee::Opaque | Callee::Instrumented, Some(target)) => target.depends,
            (Callee::Opaque | Callee::Instrumented, None) => Set::NOTHING,
            _ => done_to,
        }
    }

    /// Notes what a branch depends on, and where an indirect jump goes.
    fn note(&mut self, state: &mut State, number: usize, found: &mut Found, block: usize) {
        let instruction = &self.graph.instructions[number];
        let depends = match instruction.flow {
            Flow::Branch(_) => {
                let mut depends = Set::NOTHING;
                for &(read, part) in &instruction.reads {
                    let read = state.depends(read, part);
                    depends = self.transfer.sets.union(depends, read);
                }
                depends
            }
            Flow::JumpIndirect => {
                let target = self.transfer.target(state, instruction);
                match self.table(target.shape, block) {
                    Some(targets) => {
                        found.indirect.jumps.insert(instruction.address, targets);
                    }
                    None => found.lost = true,
                }
                target.depends
            }
            _ => return,
        };
        found.conditions.insert(number, depends);
    }

    /// An exception comes to a landing pad with the frame as it stands outside of calls. Where
    /// arguments lie on the stack during the call, the unwinder takes them off.
    fn at_pad(&mut self, mut state: State) -> State {
        let stack = &mut state.registers[self.transfer.convention.stack.index()];
        if self.frame != Some(stack.shape) {
            stack.shape = Shape::Other;
            stack.depends = Set::EVERYTHING;
            state.hidden = true;
            state.forget_slots();
        }
        state
    }

    /// The targets of a jump through a table of addresses, or of distances from the table.
    fn table(&self, target: Shape, block: usize) -> Option<Vec<u64>> {
        let names = &self.transfer.names;
        let (entry, base) = match names.origin(target)? {
            _ if target != unshifted(target) => return None,
            Origin::Entry(entry) if entry.size == 8 => (entry, None),
            Origin::Sum(Shape::Constant(base), distance) => {
                let mut origin = names.origin(distance)?;
                // The distance is made wider on its way.
                while let Origin::Computed { inputs, .. } = origin
                    && inputs[1] == Shape::Other
                {
                    origin = names.origin(inputs[0])?;
                }
                match origin {
                    Origin::Entry(entry) if entry.size == 4 => (entry, Some(base)),
                    _ => return None,
                }
            }
            _ => return None,
        };
        let (table, size) = (entry.table, u64::from(entry.size));
        let count = entry.last.map(|last| last.saturating_add(1));
        let count = count.or_else(|| self.bound(block));
        if count.is_none() && !self.transfer.image.has_symbols() {
            return None;
        }
        let mut targets = Vec::new();
        for index in 0..count.unwrap_or(LARGEST_TABLE).min(LARGEST_TABLE) {
            let entry = self.table_entry(table + index * size, base);
            let possible = |entry: &u64| match count {
                Some(_) => self.transfer.image.code(*entry).is_some(),
                None => self.is_own(*entry),
            };
            match entry.filter(possible) {
                Some(entry) => targets.push(entry),
                None if count.is_some() => return None,
                None => break,
            }
        }
        targets.sort_unstable();
        targets.dedup();
        (!targets.is_empty()).then_some(targets)
    }

    fn table_entry(&self, at: u64, base: Option<u64>) -> Option<u64> {
        let image = self.transfer.image;
        match base {
            Some(base) => {
                let distance = i32::from_le_bytes(image.constant_bytes(at)?);
                Some(base.wrapping_add_signed(distance.into()))
            }
            None => {
                let plain = || image.constant_bytes(at).map(u64::from_le_bytes);
                image.pointer_at(at).or_else(plain)
            }
        }
    }

    /// Whether an address is in this function's code, as far as the symbols tell.
    fn is_own(&self, address: u64) -> bool {
        let image = self.transfer.image;
        let entry = &self.graph.instructions[self.graph.blocks[0].start];
        let own = image.function_of(entry.address);
        own.is_some() && image.function_of(address) == own || image.is_fragment(address)
    }

    /// How many entries a table has, by the comparison before it. Without one a table ends where
    /// its entries are no longer in the function; that needs the symbols of all its parts.
    fn bound(&self, block: usize) -> Option<u64> {
        let blocks = self.graph.blocks.iter();
        let mut before = blocks.filter(|before| before.next.contains(&block));
        let (Some(only), None) = (before.next(), before.next()) else {
            return None;
        };
        let (branch, rest) = self.graph.instructions[only.start..only.end].split_last()?;
        let flags = self.transfer.convention.flags;
        let sets_flags = |instruction: &&Instruction| {
            let mut outputs = instruction.outputs.iter();
            outputs.any(|(output, _)| *output == flags)
        };
        let compare = rest.iter().rev().find(sets_flags)?;
        let bounded = compare.bound == Bound::Compares
            && branch.bound == Bound::BranchesAbove
            && only.next.first() == Some(&block);
        bounded.then(|| compare.immediate.saturating_add(1))
    }
}

/// The same name without an offset.
fn unshifted(shape: Shape) -> Shape {
    match shape {
        Shape::Name(name, _) => Shape::Name(name, 0),
        other => other,
    }
}
