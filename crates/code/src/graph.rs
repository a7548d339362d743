//! A function's instructions as blocks, and where control goes between them.
//!
//! The code is followed from the function's entry, into parts of it that the compiler put
//! elsewhere, to landing pads, and through jump tables once it is known where they are. If
//! anything is met that is not understood there is no graph: a way that is overlooked could bring
//! a value that is overlooked.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::arch::{Architecture, Flow, Instruction};
use crate::callee::Callee;
use crate::image::Image;

/// Functions with more instructions are not looked at.
const MOST_INSTRUCTIONS: usize = 100_000;

/// That the way through a function is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotUnderstood;

/// What was found out about jumps and calls through registers and memory, by their addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Indirect {
    /// Where jumps go.
    pub jumps: FxHashMap<u64, Vec<u64>>,
    /// What is called.
    pub calls: FxHashMap<u64, u64>,
}

/// A function's blocks; the first is its entry.
#[derive(Debug)]
pub(crate) struct Graph {
    pub instructions: Vec<Instruction>,
    /// What is called, by the numbers of instructions; jumps out of the function are calls too.
    pub callees: FxHashMap<usize, Callee>,
    pub blocks: Vec<Block>,
}

/// Instructions that are executed one after the other.
#[derive(Debug)]
pub(crate) struct Block {
    /// The numbers of its instructions.
    pub start: usize,
    pub end: usize,
    pub next: SmallVec<[usize; 2]>,
    /// Where an exception in its last call goes on.
    pub pad: Option<usize>,
}

/// Where control goes behind an instruction.
#[derive(Default)]
struct After {
    next: SmallVec<[u64; 2]>,
    pad: Option<u64>,
    /// Whether the block ends here.
    ends: bool,
}

struct Builder<'a> {
    image: &'a Image<'a>,
    indirect: &'a Indirect,
    range: (u64, u64),
    instructions: BTreeMap<u64, (Instruction, Option<Callee>)>,
    starts: BTreeSet<u64>,
}

impl Graph {
    /// The graph of the function that starts at `entry`.
    pub fn of(
        entry: u64,
        image: &Image<'_>,
        indirect: &Indirect,
        architecture: &mut dyn Architecture,
    ) -> Result<Graph, NotUnderstood> {
        let mut builder = Builder {
            image,
            indirect,
            range: image.function_of(entry).ok_or(NotUnderstood)?,
            instructions: BTreeMap::new(),
            starts: BTreeSet::from([entry]),
        };
        builder.explore(entry, architecture)?;
        builder.finish(entry)
    }
}

impl Builder<'_> {
    fn explore(
        &mut self,
        entry: u64,
        architecture: &mut dyn Architecture,
    ) -> Result<(), NotUnderstood> {
        let mut open = vec![entry];
        while let Some(mut address) = open.pop() {
            while !self.instructions.contains_key(&address) {
                if self.instructions.len() > MOST_INSTRUCTIONS {
                    return Err(NotUnderstood);
                }
                let code = self.image.code(address).ok_or(NotUnderstood)?;
                let instruction = architecture.decode(code, address).ok_or(NotUnderstood)?;
                let callee = self.callee(&instruction);
                let after = self.after(&instruction, callee)?;
                let next = instruction.next();
                self.instructions.insert(address, (instruction, callee));
                if !after.ends {
                    address = next;
                    continue;
                }
                for target in after.next.iter().copied().chain(after.pad) {
                    self.starts.insert(target);
                    open.push(target);
                }
                break;
            }
        }
        Ok(())
    }

    /// What the instruction calls.
    fn callee(&self, instruction: &Instruction) -> Option<Callee> {
        match instruction.flow {
            Flow::Call(target) => Some(self.image.callee(target)),
            Flow::CallIndirect => {
                let target = self.indirect.calls.get(&instruction.address);
                Some(target.map_or(Callee::Opaque, |target| self.image.callee(*target)))
            }
            Flow::Trap => Some(Callee::Opaque),
            Flow::Jump(target) | Flow::Branch(target) if self.leaves(target) => {
                Some(self.image.callee(target))
            }
            _ => None,
        }
    }

    /// Whether a jump leaves the function.
    fn leaves(&self, target: u64) -> bool {
        let inside = (self.range.0..self.range.1).contains(&target);
        !inside && (self.image.is_known(target) || self.image.is_function_of_its_own(target))
    }

    fn after(
        &self,
        instruction: &Instruction,
        callee: Option<Callee>,
    ) -> Result<After, NotUnderstood> {
        let mut after = After {
            ends: true,
            ..After::default()
        };
        let next = instruction.next();
        if callee == Some(Callee::Again) {
            return Err(NotUnderstood);
        }
        match instruction.flow {
            Flow::Next => after.ends = false,
            Flow::Return | Flow::Stop => {}
            Flow::Jump(_) if callee.is_some() => {}
            Flow::Jump(target) => after.next.push(target),
            // A branch out of the function is not what compilers make of instrumented code.
            Flow::Branch(_) if callee.is_some() => return Err(NotUnderstood),
            Flow::Branch(target) => after.next.extend([next, target]),
            Flow::JumpIndirect => {
                let known = self.indirect.jumps.get(&instruction.address);
                after.next.extend(known.into_iter().flatten().copied());
            }
            Flow::Call(_) | Flow::CallIndirect | Flow::Trap => {
                let unwinds = matches!(
                    callee,
                    Some(
                        Callee::Opaque | Callee::Instrumented | Callee::Never | Callee::Library(_)
                    )
                );
                if unwinds {
                    let pad = self.image.landing_pad(instruction.address);
                    after.pad = pad.map_err(|_| NotUnderstood)?;
                }
                let returns = callee != Some(Callee::Never) && !self.runs_out(next);
                after.ends = after.pad.is_some() || !returns;
                if after.ends && returns {
                    after.next.push(next);
                }
            }
        }
        Ok(after)
    }

    /// Whether the code ends here: behind a call that does not return another function starts.
    fn runs_out(&self, next: u64) -> bool {
        let function = self.image.function_of(next - 1);
        function.is_some_and(|(_, end)| next >= end)
    }

    fn finish(self, entry: u64) -> Result<Graph, NotUnderstood> {
        let mut graph = Graph {
            instructions: Vec::with_capacity(self.instructions.len()),
            callees: FxHashMap::default(),
            blocks: Vec::new(),
        };
        // Blocks in the order of addresses, but the entry first.
        let first = self.instructions.range(entry..);
        let rest = self.instructions.range(..entry);
        let mut numbers: FxHashMap<u64, usize> = FxHashMap::default();
        let mut ends = Vec::new();
        let mut expected = None;
        let mut last = (0, 0);
        for (&address, (instruction, callee)) in first.chain(rest) {
            let number = graph.instructions.len();
            let follows = expected == Some(address);
            // Two ways to read the same bytes are one too many.
            if last.0 < address && address < last.1 {
                return Err(NotUnderstood);
            }
            last = (address, instruction.next());
            if !follows || self.starts.contains(&address) {
                numbers.insert(address, graph.blocks.len());
                graph.blocks.push(Block {
                    start: number,
                    end: number,
                    next: SmallVec::new(),
                    pad: None,
                });
                ends.push(After::default());
            }
            let after = self.after(instruction, *callee)?;
            let next = instruction.next();
            let (Some(block), Some(end)) = (graph.blocks.last_mut(), ends.last_mut()) else {
                return Err(NotUnderstood);
            };
            block.end = number + 1;
            expected = (!after.ends).then_some(next);
            *end = after;
            if !end.ends {
                end.next.push(next);
            }
            if let Some(callee) = callee {
                graph.callees.insert(number, *callee);
            }
            graph.instructions.push(instruction.clone());
        }
        for (block, end) in graph.blocks.iter_mut().zip(ends) {
            for target in end.next {
                block.next.push(*numbers.get(&target).ok_or(NotUnderstood)?);
            }
            if let Some(pad) = end.pad {
                block.pad = Some(*numbers.get(&pad).ok_or(NotUnderstood)?);
            }
        }
        Ok(graph)
    }
}
