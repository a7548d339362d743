//! A program as the analyses see it: functions of blocks of statements, globals, and the names from the debug information.
//!
//! It is what is left of LLVM's representation when everything is dropped that no analysis asks about: arithmetic is one
//! statement, casts are copies, types are gone but for sizes and the names of fields. Everything is a number into a vector.

mod id;
mod names;
mod statement;
mod text;

pub use id::{BlockId, FileId, FunctionId, GlobalId, LayoutId, PlaceId, SignatureId, ValueId};
pub use names::{Field, Layout, Place};
pub use statement::{Callee, Comparison, Kind, Mark, Offset, Operand, Statement, Terminator};
pub use text::Text;

/// A whole program, or as much of it as was given.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// All functions, also those of which only the name is known.
    pub functions: Vec<Function>,
    /// All global variables.
    pub globals: Vec<Global>,
    /// What structures consist of.
    pub layouts: Vec<Layout>,
    /// Places in the source text.
    pub places: Vec<Place>,
    /// Source files.
    pub files: Vec<String>,
    /// Other names that the linker knows functions by.
    pub aliases: Vec<(String, FunctionId)>,
    /// What could not be read, in words: module-level assembly, instructions that nobody knows.
    pub unread: Vec<String>,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// As the linker knows it.
    pub name: String,
    /// As people write it.
    pub shown: String,
    /// Its first values are its parameters: how many.
    pub parameters: u32,
    /// Its values.
    pub values: Vec<Value>,
    /// Its body; the first block is its entry. Empty: it has none here.
    pub blocks: Vec<Block>,
    /// Where it is defined.
    pub place: Option<PlaceId>,
    /// Whether other modules can call it.
    pub is_external: bool,
    /// Whether its address is used other than to call it.
    pub is_address_taken: bool,
    /// The section it was put into, if any.
    pub section: Option<String>,
    /// Which functions it could be mistaken for in a call through a pointer: equal for equal types.
    pub signature: SignatureId,
}

/// A value of a function: assigned once.
#[derive(Clone, Debug, Default)]
pub struct Value {
    /// The variable of the source text that it is, if it is one.
    pub name: Option<String>,
    /// Whether it is an address or holds one: a pair that a call returns, a number that an address was made into.
    pub is_pointer: bool,
    /// The structure that it points at, or at an array of them.
    pub pointee: Option<LayoutId>,
}

/// A global variable.
#[derive(Clone, Debug, Default)]
pub struct Global {
    /// As the linker knows it.
    pub name: String,
    /// As people write it.
    pub shown: String,
    /// How many bytes it has; 0 if that is not known.
    pub size: u64,
    /// What it consists of, if it is a structure, or an array of them.
    pub layout: Option<LayoutId>,
    /// Whether it never changes.
    pub is_constant: bool,
    /// Whether each thread has its own.
    pub is_thread_local: bool,
    /// Whether other modules can use it.
    pub is_external: bool,
    /// Addresses that it holds from the beginning, by their offset.
    pub holds: Vec<(u64, Operand)>,
    /// Where it is declared.
    pub place: Option<PlaceId>,
    /// The section it was put into, if any.
    pub section: Option<String>,
}

/// Statements without a branch between them.
#[derive(Clone, Debug)]
pub struct Block {
    /// What is done.
    pub statements: Vec<Statement>,
    /// Where it goes on.
    pub terminator: Terminator,
}

impl Program {
    /// A function.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    /// A global variable.
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.index()]
    }

    /// All functions.
    pub fn function_ids(&self) -> impl Iterator<Item = FunctionId> + use<> {
        (0..self.functions.len()).map(FunctionId::new)
    }

    /// The function that the linker knows by this name.
    pub fn named(&self, name: &str) -> Option<FunctionId> {
        let mut ids = self.function_ids();
        let alias = || self.aliases.iter().find(|(alias, _)| alias == name);
        ids.find(|id| self.function(*id).name == name)
            .or_else(|| alias().map(|(_, id)| *id))
    }
}

impl Function {
    /// Whether there is a body.
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// All its blocks.
    pub fn block_ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.blocks.len()).map(BlockId::new)
    }
}
