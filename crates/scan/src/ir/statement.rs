//! Statements, and where blocks go on.

use super::{BlockId, FunctionId, GlobalId, LayoutId, PlaceId, SignatureId, ValueId};

/// Something that a function does.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What.
    pub kind: Kind,
    /// Where that stands.
    pub place: Option<PlaceId>,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A local variable that lives in memory.
    Local {
        /// Its address.
        into: ValueId,
        /// How many bytes it has; 0 if that is not known.
        size: u64,
        /// What it consists of.
        layout: Option<LayoutId>,
    },
    /// A read.
    Load {
        /// What was read.
        into: ValueId,
        /// The address.
        from: Operand,
        /// How many bytes.
        size: u64,
        /// Whether it may happen together with others.
        mark: Mark,
    },
    /// A write.
    Store {
        /// The address.
        to: Operand,
        /// What is written.
        value: Operand,
        /// How many bytes.
        size: u64,
        /// Whether it may happen together with others.
        mark: Mark,
    },
    /// A read and a write at once, always atomic.
    Update {
        /// What was there.
        into: ValueId,
        /// The address.
        at: Operand,
        /// What is written or added.
        value: Operand,
        /// How many bytes.
        size: u64,
    },
    /// A fence.
    Fence,
    /// The same value again: one of these (a merge of branches, or a choice), or the only one (a cast).
    Copy {
        /// The copy.
        into: ValueId,
        /// What it may be a copy of. For a merge of branches with the block that it comes from.
        from: Vec<(Operand, Option<BlockId>)>,
    },
    /// An address within what another one points at.
    Part {
        /// The address.
        into: ValueId,
        /// The other one.
        base: Operand,
        /// How far from there.
        offset: Offset,
        /// The structure that is stepped into, if there is one, or that the elements of an array are. The constant part of the offset
        /// counts from its beginning, or from that of the array of them.
        layout: Option<LayoutId>,
    },
    /// Anything that is computed. If the result is or holds an address, it is one of those that it is computed from, at any distance.
    Compute {
        /// The result.
        into: ValueId,
        /// What it is computed from.
        from: Vec<Operand>,
    },
    /// A comparison.
    Compare {
        /// The answer.
        into: ValueId,
        /// The question.
        how: Comparison,
        /// What is compared.
        operands: [Operand; 2],
    },
    /// A call.
    Call {
        /// What it returns.
        into: Option<ValueId>,
        /// What is called.
        callee: Callee,
        /// With what.
        arguments: Vec<Operand>,
    },
}

/// How far an address lies from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Offset {
    /// So many bytes.
    Constant(i64),
    /// Some element of an array.
    Element {
        /// How many bytes an element has.
        stride: u64,
        /// The number of the element.
        index: ValueId,
        /// So many bytes further.
        constant: i64,
    },
    /// Anywhere in there.
    Unknown,
}

/// Whether an access may happen together with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// It may not.
    Plain,
    /// It is volatile.
    Volatile,
    /// It is atomic.
    Atomic,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// Both are the same.
    Equal,
    /// They are not.
    Unequal,
    /// The first is less (signed).
    Less,
    /// The first is less or the same (signed).
    LessOrEqual,
    /// The first is greater (signed).
    Greater,
    /// The first is greater or the same (signed).
    GreaterOrEqual,
    /// Something else.
    Other,
}

/// What a statement works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A value of the function.
    Value(ValueId),
    /// An address in a global variable.
    Global(GlobalId, i64),
    /// A function's address.
    Function(FunctionId),
    /// A number.
    Integer(i64),
    /// The null pointer.
    Null,
    /// Anything else: floating-point numbers, undefined values, larger constants.
    Other,
}

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A function.
    Direct(FunctionId),
    /// What a pointer points at, which has this type.
    Indirect(Operand, SignatureId),
    /// Assembly.
    Assembly,
}

/// Where a block goes on.
#[derive(Clone, Debug)]
pub enum Terminator {
    /// There.
    Goto(BlockId),
    /// There or there.
    Branch {
        /// What decides.
        condition: Operand,
        /// If it holds.
        then: BlockId,
        /// If it does not.
        otherwise: BlockId,
    },
    /// Where a number tells.
    Switch {
        /// The number.
        on: Operand,
        /// Where each goes.
        cases: Vec<(i64, BlockId)>,
        /// Where all others go.
        otherwise: BlockId,
    },
    /// One of these, nobody knows which: an indirect jump.
    Any(Vec<BlockId>),
    /// After a call that may throw.
    Call {
        /// If it returns.
        then: BlockId,
        /// If it throws.
        unwind: BlockId,
    },
    /// Back to the caller.
    Return(Option<Operand>),
    /// Nowhere.
    Unreachable,
}

impl Terminator {
    /// Where it can go on.
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Terminator::Goto(next) => vec![*next],
            Terminator::Branch {
                then, otherwise, ..
            } => vec![*then, *otherwise],
            Terminator::Switch {
                cases, otherwise, ..
            } => {
                let mut all: Vec<BlockId> = cases.iter().map(|(_, block)| *block).collect();
                all.push(*otherwise);
                all
            }
            Terminator::Any(blocks) => blocks.clone(),
            Terminator::Call { then, unwind } => vec![*then, *unwind],
            Terminator::Return(_) | Terminator::Unreachable => Vec::new(),
        }
    }
}

impl Kind {
    /// The value that is assigned, if any.
    pub fn assigned(&self) -> Option<ValueId> {
        match self {
            Kind::Local { into, .. }
            | Kind::Load { into, .. }
            | Kind::Update { into, .. }
            | Kind::Copy { into, .. }
            | Kind::Part { into, .. }
            | Kind::Compute { into, .. }
            | Kind::Compare { into, .. } => Some(*into),
            Kind::Call { into, .. } => *into,
            Kind::Store { .. } | Kind::Fence => None,
        }
    }
}
