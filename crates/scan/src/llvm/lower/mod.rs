//! From a module of LLVM to a program of our own.

mod addresses;
mod aggregate;
mod call;
mod constant;
mod function;
mod global;
mod instruction;
mod part;
mod pointee;
mod terminator;

use rustc_hash::FxHashMap;

use super::debug::{Layouts, Places};
use super::module::Module;
use super::node::Node;
use super::types::{Sizes, Type};
use super::value::Value;
use crate::ir::{Function, FunctionId, GlobalId, Program, SignatureId};
use deadheat_code::demangled;

/// What is known while a module is lowered.
struct Lowering<'m> {
    sizes: Sizes<'m>,
    places: Places<'m>,
    layouts: Layouts<'m>,
    functions: FxHashMap<Value<'m>, FunctionId>,
    globals: FxHashMap<Value<'m>, GlobalId>,
    /// What the debug information says about global variables.
    variables: FxHashMap<Value<'m>, Node<'m>>,
    /// Functions by the linker's name.
    named: FxHashMap<String, FunctionId>,
    signatures: FxHashMap<Type<'m>, SignatureId>,
    program: Program,
}

/// The program in a module.
pub(super) fn program(module: &Module) -> Program {
    let functions = module.functions();
    let units = module.units().into_iter();
    let subprograms = functions.iter().filter_map(|each| each.subprogram());
    let local_types = functions.iter().flat_map(|each| function::mentioned(*each));
    let roots: Vec<Node> = units.chain(subprograms).chain(local_types).collect();
    let mut lowering = Lowering {
        sizes: module.sizes(),
        places: Places::default(),
        layouts: Layouts::reachable(roots),
        functions: FxHashMap::default(),
        globals: FxHashMap::default(),
        variables: FxHashMap::default(),
        named: FxHashMap::default(),
        signatures: FxHashMap::default(),
        program: Program::default(),
    };
    lowering.declare_functions(module);
    lowering.declare_globals(module);
    lowering.fill_globals();
    for function in functions {
        if let Some(id) = lowering.functions.get(&function).copied() {
            lowering.fill_function(function, id);
        }
    }
    lowering.name_aliases(module);
    let assembly = module.assembly();
    if !assembly.trim().is_empty() {
        let lines = assembly.lines().count();
        let note = format!("{lines} lines of assembly outside of functions");
        lowering.program.unread.push(note);
    }
    lowering.program.layouts = lowering.layouts.layouts;
    lowering.program.places = lowering.places.places;
    lowering.program.files = lowering.places.files;
    lowering.program
}

impl<'m> Lowering<'m> {
    fn declare_functions(&mut self, module: &'m Module) {
        let functions = module.functions().into_iter();
        let called = functions.filter(|function| !function.is_intrinsic());
        for function in called.chain(module.chosen()) {
            let signature = function.contents_type().map(|ty| self.signature(ty));
            let subprogram = function.subprogram();
            let place = subprogram.and_then(|node| self.places.declared(node));
            let id = self.add_function(Function {
                name: function.name(),
                shown: demangled(&function.name()),
                parameters: u32::try_from(function.parameters().len()).unwrap_or(0),
                place,
                is_external: function.is_external(),
                is_address_taken: constant::is_address_taken(function),
                section: function.section(),
                signature: signature.unwrap_or_default(),
                ..Function::default()
            });
            self.functions.insert(function, id);
        }
    }

    fn add_function(&mut self, function: Function) -> FunctionId {
        let id = FunctionId::new(self.program.functions.len());
        self.named.insert(function.name.clone(), id);
        self.program.functions.push(function);
        id
    }

    /// The function that the linker knows under this name, which need not be in the module.
    fn function_named(&mut self, name: &str) -> FunctionId {
        if let Some(known) = self.named.get(name) {
            return *known;
        }
        let (name, shown) = (name.to_owned(), name.to_owned());
        self.add_function(Function {
            name,
            shown,
            is_external: true,
            ..Function::default()
        })
    }

    /// Number 0 stays for functions of which no type is known.
    fn signature(&mut self, ty: Type<'m>) -> SignatureId {
        let next = SignatureId::new(self.signatures.len() + 1);
        *self.signatures.entry(ty).or_insert(next)
    }

    /// Notes under which other names functions are known.
    fn name_aliases(&mut self, module: &'m Module) {
        for alias in module.aliases() {
            let Some(crate::ir::Operand::Function(id)) =
                alias.aliased().map(|behind| self.constant(behind))
            else {
                continue;
            };
            if alias.is_external() {
                self.program.functions[id.index()].is_external = true;
            }
            self.program.aliases.push((alias.name(), id));
        }
    }
}
