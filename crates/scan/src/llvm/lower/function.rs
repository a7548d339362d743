//! Bodies of functions: numbers for values and blocks, names for variables.

use llvm_sys::LLVMOpcode::LLVMStore;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Lowering, addresses, global::operand};
use crate::ir::{
    self, BlockId, FunctionId, Kind, Operand, PlaceId, Statement, Terminator, ValueId,
};
use crate::llvm::debug::pointed;
use crate::llvm::node::Node;
use crate::llvm::value::{Block, Value};

/// A body while it is lowered.
pub(super) struct Body<'l, 'm> {
    pub(super) lowering: &'l mut Lowering<'m>,
    values: FxHashMap<Value<'m>, ValueId>,
    blocks: FxHashMap<Block<'m>, BlockId>,
    lowered: Vec<ir::Value>,
    names: FxHashMap<Value<'m>, String>,
    /// Numbers that are addresses.
    pub(super) numbers: FxHashSet<Value<'m>>,
    /// What variables of the source text say their addresses point at.
    pub(super) variable_pointees: FxHashMap<Value<'m>, Node<'m>>,
    /// What is known of addresses by now.
    pub(super) pointees: FxHashMap<Value<'m>, Option<Node<'m>>>,
    /// The members of structures that were read one by one.
    pub(super) taken_apart: FxHashMap<Value<'m>, Vec<Operand>>,
    pub(super) statements: Vec<Statement>,
    pub(super) place: Option<PlaceId>,
}

impl<'m> Lowering<'m> {
    pub(super) fn fill_function(&mut self, function: Value<'m>, id: FunctionId) {
        let blocks = function.blocks();
        let parameters = function.parameters();
        let mut body = Body {
            lowering: self,
            values: FxHashMap::default(),
            blocks: FxHashMap::default(),
            lowered: Vec::new(),
            names: FxHashMap::default(),
            numbers: addresses::numbers(&blocks),
            variable_pointees: FxHashMap::default(),
            pointees: FxHashMap::default(),
            taken_apart: FxHashMap::default(),
            statements: Vec::new(),
            place: None,
        };
        body.name_variables(&blocks);
        for parameter in parameters {
            body.name_parameter(parameter);
            body.number(parameter);
        }
        for (index, block) in blocks.iter().enumerate() {
            body.blocks.insert(*block, BlockId::new(index));
            for instruction in block.instructions() {
                if !instruction.ty().is_void() {
                    body.number(instruction);
                }
            }
        }
        let lowered_blocks = blocks.iter().map(|block| body.block(*block)).collect();
        body.find_pointees();
        let values = body.lowered;
        let function = &mut self.program.functions[id.index()];
        function.values = values;
        function.blocks = lowered_blocks;
    }
}

impl<'m> Body<'_, 'm> {
    fn number(&mut self, value: Value<'m>) {
        let id = ValueId::new(self.lowered.len());
        self.lowered.push(ir::Value {
            name: self.names.get(&value).cloned(),
            is_pointer: addresses::holds_address(value.ty()) || self.numbers.contains(&value),
            pointee: None,
        });
        self.values.insert(value, id);
    }

    /// What values point at, as far as that is known.
    fn find_pointees(&mut self) {
        let all: Vec<(Value<'m>, ValueId)> = self
            .values
            .iter()
            .map(|(value, id)| (*value, *id))
            .collect();
        for (value, id) in all {
            if value.ty().is_pointer() {
                self.lowered[id.index()].pointee = self.layout_at(value);
            }
        }
    }

    /// A value that LLVM has no name for.
    pub(super) fn fresh(&mut self, is_pointer: bool) -> ValueId {
        let id = ValueId::new(self.lowered.len());
        self.lowered.push(ir::Value {
            is_pointer,
            ..ir::Value::default()
        });
        id
    }

    pub(super) fn id(&self, value: Value<'m>) -> Option<ValueId> {
        self.values.get(&value).copied()
    }

    pub(super) fn block_id(&self, block: Block<'m>) -> BlockId {
        self.blocks.get(&block).copied().unwrap_or_default()
    }

    /// Gives values the names of the variables that they are.
    fn name_variables(&mut self, blocks: &[Block<'m>]) {
        let instructions = blocks.iter().flat_map(|block| block.instructions());
        for mention in instructions.filter_map(mention) {
            let Some(value) = mention.value else { continue };
            if let Some(name) = mention.variable.text(operand::NAME) {
                self.names.entry(value).or_insert(name);
            }
            let Some(node) = mention.variable.operand(operand::TYPE) else {
                continue;
            };
            let pointee = if mention.is_address {
                Some(node)
            } else {
                pointed(node)
            };
            if let Some(pointee) = pointee {
                self.variable_pointees.entry(value).or_insert(pointee);
            }
        }
    }

    /// A parameter whose variable lives in memory has its name, too.
    fn name_parameter(&mut self, parameter: Value<'m>) {
        if self.names.contains_key(&parameter) {
            return;
        }
        let stores = parameter
            .users()
            .into_iter()
            .filter(|user| user.opcode() == Some(LLVMStore) && user.operand(0) == Some(parameter));
        let mut variables = stores.filter_map(|store| self.names.get(&store.operand(1)?));
        if let Some(name) = variables.next() {
            self.names.insert(parameter, name.clone());
        }
    }

    fn block(&mut self, block: Block<'m>) -> ir::Block {
        let mut terminator = Terminator::Unreachable;
        for instruction in block.instructions() {
            let location = instruction.location();
            self.place = location.and_then(|location| self.lowering.places.at(location));
            self.instruction(instruction);
            if let Some(end) = self.terminator(instruction) {
                terminator = end;
            }
        }
        ir::Block {
            statements: std::mem::take(&mut self.statements),
            terminator,
        }
    }

    pub(super) fn push(&mut self, kind: Kind) {
        let place = self.place;
        self.statements.push(Statement { kind, place });
    }

    /// A value as an operand. A constant that holds several addresses becomes a value that may be each of them.
    pub(super) fn operand(&mut self, value: Value<'m>) -> Operand {
        if let Some(id) = self.id(value) {
            return Operand::Value(id);
        }
        let operand = self.lowering.constant(value);
        if operand != Operand::Other {
            return operand;
        }
        let addresses = self.lowering.scattered(value);
        if addresses.is_empty() {
            return Operand::Other;
        }
        let into = self.fresh(true);
        let from = addresses.into_iter().map(|each| (each, None)).collect();
        self.push(Kind::Copy { into, from });
        Operand::Value(into)
    }

    /// All that a value may be, without a statement for it.
    pub(super) fn alternatives(&self, value: Value<'m>) -> Vec<Operand> {
        if let Some(id) = self.id(value) {
            return vec![Operand::Value(id)];
        }
        let operand = self.lowering.constant(value);
        let addresses = match operand {
            Operand::Other => self.lowering.scattered(value),
            _ => Vec::new(),
        };
        if addresses.is_empty() {
            return vec![operand];
        }
        addresses
    }
}

/// What the debug information says about a value.
struct Mention<'m> {
    value: Option<Value<'m>>,
    variable: Node<'m>,
    /// Whether the variable is what the value points at, not the value.
    is_address: bool,
}

fn mention<'m>(instruction: Value<'m>) -> Option<Mention<'m>> {
    let callee = instruction
        .callee()
        .filter(|callee| callee.is_intrinsic())?;
    let is_address = match callee.name().as_str() {
        "llvm.dbg.declare" => true,
        "llvm.dbg.value" => false,
        _ => return None,
    };
    Some(Mention {
        value: instruction.operand(0)?.metadata()?.value(),
        variable: instruction.operand(1)?.metadata()?,
        is_address,
    })
}

/// The variables that a function's body mentions.
pub(super) fn mentioned<'m>(function: Value<'m>) -> Vec<Node<'m>> {
    let blocks = function.blocks().into_iter();
    let instructions = blocks.flat_map(Block::instructions);
    let mentions = instructions.filter_map(mention);
    mentions.map(|mention| mention.variable).collect()
}
