//! The paths of a function's values, in its own terms.
//!
//! Values are assigned once, so a value that is computed from others by steps has the path of those steps; one that comes together from several
//! branches, or from a call that nobody knows, begins a path of its own. What is read from memory is taken to be the same each time, unless the
//! function itself writes there: that is where the paper's update sequences end.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Function, FunctionId, Kind, Offset, Operand, Program, ValueId};
use crate::memory::Memory;
use crate::path::{Base, PathId, Paths, Site, Step};
use crate::shape::{Loop, Shape};

/// Where a value of a function is assigned.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// In which block.
    pub block: u32,
    /// By which statement.
    pub statement: u32,
}

/// What is always read somewhere.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// The address.
    pub value: Operand,
    /// Where the function itself has put it on every way there; `None` if it is there whoever reads.
    pub to: Option<Operand>,
}

/// The values of one function.
pub struct Values<'a> {
    program: &'a Program,
    id: FunctionId,
    definitions: FxHashMap<ValueId, Definition>,
    known: FxHashMap<ValueId, Option<PathId>>,
    busy: FxHashSet<ValueId>,
    /// The function's loops.
    shape: Rc<Shape>,
    /// What calls return, as far as that is known.
    results: FxHashMap<ValueId, PathId>,
    /// What is always read, by what it is read into.
    read: FxHashMap<ValueId, Read>,
    /// Memory that the function writes: what is read there is not the same each time.
    written: FxHashSet<PathId>,
    /// What it has put where.
    memory: Rc<Memory>,
}

impl<'a> Values<'a> {
    /// Those of this function, as long as nobody knows what calls return.
    pub fn of(
        program: &'a Program,
        id: FunctionId,
        shape: Rc<Shape>,
        read: FxHashMap<ValueId, Read>,
        paths: &mut Paths,
    ) -> Self {
        let function = program.function(id);
        let mut definitions = FxHashMap::default();
        for (block, one) in function.blocks.iter().enumerate() {
            for (statement, what) in one.statements.iter().enumerate() {
                if let Some(into) = what.kind.assigned() {
                    let definition = Definition {
                        block: block as u32,
                        statement: statement as u32,
                    };
                    definitions.insert(into, definition);
                }
            }
        }
        let mut values = Values {
            program,
            id,
            definitions,
            known: FxHashMap::default(),
            busy: FxHashSet::default(),
            shape,
            results: FxHashMap::default(),
            read,
            written: FxHashSet::default(),
            memory: Rc::default(),
        };
        values.settle(paths);
        values
    }

    /// What a call returns.
    pub fn set_result(&mut self, value: ValueId, path: PathId) {
        self.results.insert(value, path);
        self.known.clear();
    }

    /// Finds out what the function writes, with all that is known of calls.
    pub fn settle(&mut self, paths: &mut Paths) {
        self.known.clear();
        self.find_written(paths);
    }

    /// What the function has put where, as far as that is known.
    pub fn set_memory(&mut self, memory: Rc<Memory>) {
        self.memory = memory;
        self.known.clear();
    }

    fn function(&self) -> &'a Function {
        self.program.function(self.id)
    }

    fn find_written(&mut self, paths: &mut Paths) {
        self.written.clear();
        let mut written = FxHashSet::default();
        for block in &self.function().blocks {
            for statement in &block.statements {
                // Nobody reads through the null pointer that a moved one leaves behind.
                if let Kind::Store { to, value, .. } = &statement.kind
                    && *value != Operand::Null
                {
                    written.extend(self.path(paths, *to));
                }
            }
        }
        self.written = written;
        self.known.clear();
    }

    /// Where a value is assigned; `None` for a parameter.
    pub fn definition(&self, value: ValueId) -> Option<&'a Kind> {
        let at = self.definitions.get(&value)?;
        let block = &self.function().blocks[at.block as usize];
        Some(&block.statements[at.statement as usize].kind)
    }

    /// The statement that assigns a value.
    pub fn site(&self, value: ValueId) -> Option<Site> {
        let at = self.definitions.get(&value)?;
        Some(Site {
            function: self.id,
            block: at.block,
            statement: at.statement,
        })
    }

    /// The block in which a value is assigned.
    pub fn block_of(&self, value: ValueId) -> Option<u32> {
        self.definitions.get(&value).map(|at| at.block)
    }

    /// The path of an operand, if it is an address.
    pub fn path(&mut self, paths: &mut Paths, operand: Operand) -> Option<PathId> {
        match operand {
            Operand::Value(value) => self.value(paths, value),
            Operand::Global(global, offset) => {
                let base = paths.base(Base::Global(global));
                Some(paths.field(base, offset))
            }
            _ => None,
        }
    }

    fn value(&mut self, paths: &mut Paths, value: ValueId) -> Option<PathId> {
        if let Some(path) = self.known.get(&value) {
            return *path;
        }
        if !self.busy.insert(value) {
            return None;
        }
        let path = self.compute(paths, value);
        self.busy.remove(&value);
        self.known.insert(value, path);
        path
    }

    fn compute(&mut self, paths: &mut Paths, value: ValueId) -> Option<PathId> {
        if value.0 < self.function().parameters {
            return Some(paths.base(Base::Parameter(value.0)));
        }
        if let Some(result) = self.results.get(&value) {
            return Some(*result);
        }
        let own = |paths: &mut Paths, id| Some(paths.base(Base::Value(id, value)));
        let id = self.id;
        match self.definition(value)? {
            Kind::Local { .. } => Some(paths.base(Base::Local(id, value))),
            Kind::Copy { from, .. } => {
                let others = from.iter().map(|(operand, _)| *operand);
                let mut others: Vec<Operand> = others
                    .filter(|operand| {
                        *operand != Operand::Value(value) && *operand != Operand::Null
                    })
                    .collect();
                others.dedup();
                // What comes from the round before has the same name, but is something else.
                if self.is_of_last_round(value, &others) {
                    return own(paths, id);
                }
                let mut all = Vec::new();
                for operand in others {
                    all.push(self.path(paths, operand));
                }
                match all[..] {
                    [] => None,
                    [only] => only.or_else(|| own(paths, id)),
                    [Some(first), ..] if all.iter().all(|one| *one == Some(first)) => Some(first),
                    _ => own(paths, id),
                }
            }
            Kind::Part { base, offset, .. } => {
                let base = self.path(paths, *base)?;
                let path = match offset {
                    Offset::Constant(by) => Some(paths.field(base, *by)),
                    Offset::Element {
                        stride,
                        index,
                        constant,
                    } => {
                        let index = self.same(*index);
                        let element = Step::Element(*stride, Some((id, index)));
                        let element = paths.step(base, element);
                        element.map(|element| paths.field(element, *constant))
                    }
                    Offset::Unknown => paths.step(base, Step::Element(1, None)),
                };
                path.or_else(|| own(paths, id))
            }
            Kind::Load { from, .. } => {
                let from = self.path(paths, *from)?;
                if let Some(read) = self.read.get(&value).copied()
                    && self.is_the_same(paths, from, read.to)
                {
                    let path = self.path(paths, read.value);
                    return path.or_else(|| own(paths, id));
                }
                if let Some(site) = self.site(value)
                    && let Some(path) = self.memory.at(self.function(), paths, from, site)
                {
                    return Some(path);
                }
                match self.written.contains(&from) {
                    true => own(paths, id),
                    false => paths.step(from, Step::Load).or_else(|| own(paths, id)),
                }
            }
            _ => own(paths, id),
        }
    }

    /// Whether what is read is what the function has put there. Others may have put something else into a global variable, or into what is
    /// reached through memory.
    fn is_the_same(&mut self, paths: &mut Paths, from: PathId, to: Option<Operand>) -> bool {
        let Some(to) = to else {
            return true;
        };
        let is_own = !paths.loads(from) && !matches!(paths.origin(from), Base::Global(_));
        is_own && self.path(paths, to) == Some(from)
    }

    /// Whether a value is assigned in each round of a loop, from something that the round before has assigned.
    fn is_of_last_round(&self, value: ValueId, from: &[Operand]) -> bool {
        let Some(block) = self.block_of(value) else {
            return false;
        };
        let around = |round: &&Loop| round.head == block as usize;
        self.shape.loops.iter().filter(around).any(|round| {
            from.iter().any(|operand| match operand {
                Operand::Value(other) => {
                    let at = self.block_of(*other);
                    at.is_some_and(|at| round.blocks[at as usize])
                }
                _ => false,
            })
        })
    }

    /// The number of a loop's round, or anything else that grows by the same amount in each round: another one in each. The loop.
    pub fn counts(&self, value: ValueId) -> Option<u32> {
        let value = self.same(value);
        let Kind::Copy { from, .. } = self.definition(value)? else {
            return None;
        };
        let block = self.block_of(value)?;
        let mut loops = self.shape.loops.iter().enumerate();
        let (number, round) = loops.find(|(_, round)| round.head == block as usize)?;
        let mut next = from
            .iter()
            .filter(|(_, block)| block.is_some_and(|block| round.blocks[block.index()]));
        let grows = next.all(|(operand, _)| match operand {
            Operand::Value(next) => match self.definition(self.same(*next)) {
                Some(Kind::Compute { from, .. }) => match from[..] {
                    [Operand::Value(before), Operand::Integer(by)] => {
                        self.same(before) == value && by != 0
                    }
                    _ => false,
                },
                _ => false,
            },
            _ => false,
        });
        grows.then_some(number as u32)
    }

    /// The value that this one is only a copy of: numbers are widened before they are used as an index.
    pub fn same(&self, mut value: ValueId) -> ValueId {
        while let Some(Kind::Copy { from, .. }) = self.definition(value)
            && let [(Operand::Value(other), _)] = from[..]
        {
            value = other;
        }
        value
    }
}
