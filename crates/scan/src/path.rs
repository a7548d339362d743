//! Addresses in symbols: where one comes from, and by which steps it is reached from there.
//!
//! Two pointers with the same path are the same pointer, whoever holds them: that is the must-alias of the paper for what is not
//! assigned anew. Paths of a function begin with its parameters and are put into its callers' terms at each call (its summaries). Each
//! is kept once, so paths are compared by their numbers.

use rustc_hash::FxHashMap;

use crate::ir::{FunctionId, GlobalId, ValueId};

/// A path, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(u32);

/// A statement of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// Of which function.
    pub function: FunctionId,
    /// In which block.
    pub block: u32,
    /// Which of its statements; as many as it has for its terminator.
    pub statement: u32,
}

/// Where an address comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// A parameter of the function in whose terms this is.
    Parameter(u32),
    /// A global variable.
    Global(GlobalId),
    /// A local variable that lives in memory.
    Local(FunctionId, ValueId),
    /// What this call has allocated.
    Heap(Site),
    /// Some value of a function that has no better name.
    Value(FunctionId, ValueId),
    /// What the callers of an entry of a module hand over: one for all that have the same type.
    Given(u32),
    /// What belongs to the thread that asks for it: the result of this function.
    Own(FunctionId),
    /// A lock that has no address, by its number in the model.
    Named(u32),
}

/// A step from one address to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// So many bytes further.
    Field(i64),
    /// An element of an array: which one is that value of a function, if it is known at all.
    Element(u64, Option<(FunctionId, ValueId)>),
    /// The address that is stored there.
    Load,
    /// What the thread that was created there got for itself: each of several has another.
    Own(Site),
}

/// How many steps a path may have.
const LONGEST: u32 = 12;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Base(Base),
    Step(PathId, Step),
}

/// All paths.
#[derive(Default)]
pub struct Paths {
    nodes: Vec<Node>,
    lengths: Vec<u32>,
    numbers: FxHashMap<Node, PathId>,
    /// Those without marks of what belongs to one thread, as far as somebody asked.
    plain: FxHashMap<PathId, PathId>,
}

impl Paths {
    fn add(&mut self, node: Node, length: u32) -> PathId {
        let next = PathId(self.nodes.len() as u32);
        let id = *self.numbers.entry(node).or_insert(next);
        if id == next {
            self.nodes.push(node);
            self.lengths.push(length);
        }
        id
    }

    /// The path of a base alone.
    pub fn base(&mut self, base: Base) -> PathId {
        self.add(Node::Base(base), 0)
    }

    /// One step further; `None` if that is too far.
    pub fn step(&mut self, path: PathId, step: Step) -> Option<PathId> {
        if let Step::Field(offset) = step {
            return Some(self.field(path, offset));
        }
        let length = self.lengths[path.0 as usize] + 1;
        (length <= LONGEST).then(|| self.add(Node::Step(path, step), length))
    }

    /// So many bytes further. Neighbouring steps of this kind are one.
    pub fn field(&mut self, path: PathId, offset: i64) -> PathId {
        let (from, before) = match self.nodes[path.0 as usize] {
            Node::Step(from, Step::Field(before)) => (from, before),
            _ => (path, 0),
        };
        match before.saturating_add(offset) {
            0 => from,
            sum => {
                let length = self.lengths[from.0 as usize] + 1;
                self.add(Node::Step(from, Step::Field(sum)), length)
            }
        }
    }

    /// The last step and what comes before it; `None` for a base.
    pub fn last(&self, path: PathId) -> Option<(PathId, Step)> {
        match self.nodes[path.0 as usize] {
            Node::Base(_) => None,
            Node::Step(before, step) => Some((before, step)),
        }
    }

    /// Where it begins.
    pub fn origin(&self, mut path: PathId) -> Base {
        loop {
            match self.nodes[path.0 as usize] {
                Node::Base(base) => return base,
                Node::Step(before, _) => path = before,
            }
        }
    }

    /// All steps, the first first.
    pub fn steps(&self, mut path: PathId) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Some((before, step)) = self.last(path) {
            steps.push(step);
            path = before;
        }
        steps.reverse();
        steps
    }

    /// The same with other beginnings: `of` tells what a base is now; `None` if it is nothing that can be said, or too long.
    pub fn substitute(
        &mut self,
        path: PathId,
        of: &mut dyn FnMut(&mut Paths, Base) -> Option<PathId>,
    ) -> Option<PathId> {
        self.rebuild(path, of, &|_, _| None)
    }

    /// The same, and `read` tells which address is stored at a path, if anybody knows.
    pub fn rebuild(
        &mut self,
        path: PathId,
        of: &mut dyn FnMut(&mut Paths, Base) -> Option<PathId>,
        read: &dyn Fn(&mut Paths, PathId) -> Option<PathId>,
    ) -> Option<PathId> {
        match self.nodes[path.0 as usize] {
            Node::Base(base) => of(self, base),
            Node::Step(before, Step::Load) => {
                let before = self.rebuild(before, of, read)?;
                let known = read(self, before);
                known.or_else(|| self.step(before, Step::Load))
            }
            Node::Step(before, step) => {
                let before = self.rebuild(before, of, read)?;
                self.step(before, step)
            }
        }
    }

    /// Without the marks of what belongs to one thread.
    pub fn plain(&mut self, path: PathId) -> PathId {
        if let Some(known) = self.plain.get(&path) {
            return *known;
        }
        let plain = self.make_plain(path);
        self.plain.insert(path, plain);
        plain
    }

    fn make_plain(&mut self, path: PathId) -> PathId {
        match self.nodes[path.0 as usize] {
            Node::Base(_) => path,
            Node::Step(before, Step::Own(_)) => self.plain(before),
            Node::Step(before, step) => {
                let before = self.plain(before);
                // It was not too long before.
                self.step(before, step).unwrap_or(path)
            }
        }
    }

    /// The same, whichever elements of arrays it leads to.
    pub fn nameless(&mut self, path: PathId) -> PathId {
        match self.nodes[path.0 as usize] {
            Node::Base(_) => path,
            Node::Step(before, step) => {
                let before = self.nameless(before);
                let step = match step {
                    Step::Element(stride, _) => Step::Element(stride, None),
                    other => other,
                };
                // It was not too long before.
                self.step(before, step).unwrap_or(path)
            }
        }
    }

    /// What it is a part of, and where in there: the longest beginning without a field at its end.
    pub fn whole(&self, path: PathId) -> (PathId, i64) {
        match self.nodes[path.0 as usize] {
            Node::Step(before, Step::Field(offset)) => (before, offset),
            _ => (path, 0),
        }
    }

    /// Whether an address is read on the way.
    pub fn loads(&self, mut path: PathId) -> bool {
        while let Some((before, step)) = self.last(path) {
            if step == Step::Load {
                return true;
            }
            path = before;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_add_up() {
        let mut paths = Paths::default();
        let base = paths.base(Base::Parameter(0));
        let eight = paths.field(base, 8);
        assert_eq!(paths.field(eight, -8), base);
        let twelve = paths.field(eight, 4);
        assert_eq!(paths.field(base, 12), twelve);
        assert_eq!(paths.whole(twelve), (base, 12));
    }

    #[test]
    fn callers_give_parameters_their_meaning() {
        let mut paths = Paths::default();
        let parameter = paths.base(Base::Parameter(0));
        let inner = paths.field(parameter, 16);
        let inner = paths.step(inner, Step::Load).unwrap();
        let global = paths.base(Base::Global(GlobalId(3)));
        let outer = paths.substitute(inner, &mut |paths, base| match base {
            Base::Parameter(0) => Some(paths.field(global, 8)),
            _ => None,
        });
        let expected = paths.field(global, 24);
        assert_eq!(outer, paths.step(expected, Step::Load));
    }

    #[test]
    fn paths_do_not_grow_for_ever() {
        let mut paths = Paths::default();
        let mut path = Some(paths.base(Base::Parameter(0)));
        for _ in 0..100 {
            path = path.and_then(|path| paths.step(path, Step::Load));
        }
        assert_eq!(path, None);
    }
}
