//! What the analysis needs to know of an instruction, whatever machine it is for.

mod x86_64;

use smallvec::SmallVec;

pub(crate) use x86_64::X86_64;

/// A machine's instructions and calling convention.
pub(crate) trait Architecture {
    /// Decodes the instruction at the start of `bytes`; `None` if it is not understood.
    fn decode(&mut self, bytes: &[u8], address: u64) -> Option<Instruction>;

    /// The target of the stub at the start of `bytes` that jumps through a slot: the slot's
    /// address.
    fn stub_slot(&mut self, bytes: &[u8], address: u64) -> Option<u64>;

    /// All places in `code` that may call or jump to one of the targets, directly or through a
    /// slot; a few that do not are no harm.
    fn places_that_call(
        &self,
        code: &[u8],
        address: u64,
        is_target: &mut dyn FnMut(Reference) -> bool,
    ) -> Vec<u64>;

    /// The registers that have a role.
    fn convention(&self) -> &'static Convention;
}

/// How code refers to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// By its address, or that of a stub for it.
    Direct(u64),
    /// Through a slot that holds its address.
    Slot(u64),
}

/// A register, or the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Register(pub u8);

impl Register {
    /// As an index into a table of [`Register::COUNT`] entries.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// How many registers are told apart.
    pub const COUNT: usize = 49;
}

/// A part of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// Its lowest byte.
    LowByte,
    /// Some other part; or it is not always written.
    Some,
}

/// Registers with a role in calls.
#[derive(Debug)]
pub(crate) struct Convention {
    pub stack: Register,
    pub frame: Register,
    pub flags: Register,
    pub result: Register,
    pub arguments: [Register; 6],
    /// Those that a function leaves as they were.
    pub kept: &'static [Register],
}

/// An address: `base + index * scale + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub base: Option<Register>,
    pub index: Option<(Register, u8)>,
    pub offset: i64,
    /// Relative to the thread's own block.
    pub thread: bool,
}

/// A piece of memory that an instruction accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    /// `None`: somewhere.
    pub address: Option<Address>,
    /// In bytes; 0 if it is not known.
    pub size: u32,
    pub read: bool,
    pub written: bool,
}

/// Where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// To the next instruction.
    Next,
    /// There.
    Jump(u64),
    /// There or to the next one.
    Branch(u64),
    /// To what a register or memory says.
    JumpIndirect,
    /// Into a function, and then on.
    Call(u64),
    /// The same by register or memory.
    CallIndirect,
    /// Into the kernel or the like.
    Trap,
    /// Back.
    Return,
    /// Nowhere.
    Stop,
}

/// What is known of an instruction's result beyond what it is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Result {
    /// Nothing.
    Computed,
    /// The first output is this register's value.
    Copy(Register),
    /// The first output is this number.
    Constant(u64),
    /// The first output is this address.
    Address(Address),
    /// The first output is what the memory holds, all of it, no more.
    Load,
    /// The memory's new content is this register's value, all of it.
    Store(Register),
    /// The memory's new content is this number.
    StoreConstant(u64),
    /// The stack pointer is set to the frame pointer and the latter taken from the stack.
    Leave,
}

/// What an instruction says about how large a number is: tables are looked into behind
/// `cmp index, last; ja elsewhere`, or with `and index, last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Nothing.
    No,
    /// It compares with its immediate.
    Compares,
    /// It branches if what was compared is above, as an unsigned number.
    BranchesAbove,
    /// Its result is not above this.
    AtMost(u64),
    /// Its result is not above its input.
    Keeps,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub address: u64,
    pub length: u8,
    pub flow: Flow,
    /// What kind of instruction it is: with the same inputs the same kind gives the same output.
    pub code: u16,
    /// A constant in it.
    pub immediate: u64,
    /// Whether `code`, `immediate` and `inputs` say all about the first output.
    pub pure_function: bool,
    /// Whether it reads something that is not followed.
    pub reads_unknown: bool,
    /// Registers among the operands, in order; those that make up addresses are not among them.
    pub inputs: SmallVec<[Register; 3]>,
    /// All registers that are read, addresses' included, and which part of them.
    pub reads: SmallVec<[(Register, Part); 4]>,
    /// All registers that are written, and which part of them.
    pub outputs: SmallVec<[(Register, Part); 2]>,
    pub memory: SmallVec<[Memory; 1]>,
    pub result: Result,
    pub bound: Bound,
    /// What is added to the stack pointer, besides what `outputs` say.
    pub stack_change: i64,
}

impl Instruction {
    /// The address behind it.
    pub fn next(&self) -> u64 {
        self.address + u64::from(self.length)
    }
}
