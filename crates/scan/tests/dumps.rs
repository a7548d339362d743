//! Small programs, one for each thing that languages have, as the analyses see them.

use std::path::Path;

use deadheat_scan::ir::{Callee, Kind};
use deadheat_scan::ir::{Function, Offset, Operand, Program, Terminator, Text, ValueId};
use deadheat_scan::{llvm, source};

/// The program in a file of `tests/programs`.
fn program(file: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(file);
    let bitcode = source::bitcode(&[path], None, &[]).expect("it compiles");
    let program = llvm::read(bitcode.paths()).expect("it is read");
    for function in &program.functions {
        check(&program, function);
    }
    program
}

/// What every analysis relies on: each value is assigned once, and every number leads somewhere.
fn check(program: &Program, function: &Function) {
    let name = &function.name;
    let mut assigned = vec![false; function.values.len()];
    let parameters = function.parameters as usize;
    assigned[..parameters].fill(true);
    for statement in function.blocks.iter().flat_map(|block| &block.statements) {
        if let Some(into) = statement.kind.assigned() {
            let before = std::mem::replace(&mut assigned[into.index()], true);
            assert!(!before, "{name}: %{} is assigned twice", into.0);
        }
    }
    let operand = |operand: &Operand| match operand {
        Operand::Value(value) => assert!(
            assigned[value.index()],
            "{name}: %{} is not assigned",
            value.0
        ),
        Operand::Global(id, _) => assert!(id.index() < program.globals.len()),
        Operand::Function(id) => assert!(id.index() < program.functions.len()),
        Operand::Integer(_) | Operand::Null | Operand::Other => {}
    };
    let value = |value: ValueId| operand(&Operand::Value(value));
    for block in &function.blocks {
        for statement in &block.statements {
            assert!(
                statement
                    .place
                    .is_none_or(|place| place.index() < program.places.len())
            );
            match &statement.kind {
                Kind::Local { .. } | Kind::Fence => {}
                Kind::Load { from, .. } => operand(from),
                Kind::Store { to, value, .. } => [to, value].into_iter().for_each(operand),
                Kind::Update { at, value, .. } => [at, value].into_iter().for_each(operand),
                Kind::Copy { from, .. } => {
                    for (from, block) in from {
                        operand(from);
                        assert!(block.is_none_or(|block| block.index() < function.blocks.len()));
                    }
                }
                Kind::Part {
                    base,
                    offset,
                    layout,
                    ..
                } => {
                    operand(base);
                    assert!(layout.is_none_or(|layout| layout.index() < program.layouts.len()));
                    if let Offset::Element { index, .. } = offset {
                        value(*index);
                    }
                }
                Kind::Compute { from, .. } => from.iter().for_each(operand),
                Kind::Compare { operands, .. } => operands.iter().for_each(operand),
                Kind::Call {
                    callee, arguments, ..
                } => {
                    arguments.iter().for_each(operand);
                    match callee {
                        Callee::Direct(id) => operand(&Operand::Function(*id)),
                        Callee::Indirect(pointer, _) => operand(pointer),
                        Callee::Assembly => {}
                    }
                }
            }
        }
        for next in block.terminator.successors() {
            assert!(
                next.index() < function.blocks.len(),
                "{name}: no block {}",
                next.0
            );
        }
        match &block.terminator {
            Terminator::Branch { condition, .. } => operand(condition),
            Terminator::Switch { on, .. } => operand(on),
            Terminator::Return(Some(value)) => operand(value),
            _ => {}
        }
    }
}

macro_rules! dumps {
    ($($name:ident: $file:literal;)*) => {$(
        #[test]
        fn $name() {
            let program = program($file);
            insta::assert_snapshot!(Text(&program).to_string());
        }
    )*};
}

dumps! {
    fields: "fields.c";
    arrays: "arrays.c";
    branches: "branches.c";
    calls: "calls.c";
    atomics: "atomics.c";
    globals: "globals.c";
    memory: "memory.c";
    casts: "casts.c";
    assembly: "assembly.c";
    classes: "classes.cc";
    exceptions: "exceptions.cc";
    lambdas: "lambdas.cc";
}

/// What the compiler of Rust makes of a program changes with its version: only what matters is looked at.
#[test]
fn rust() {
    let program = program("statics.rs");
    let text = Text(&program).to_string();
    for line in [
        "function deposit(%0 account, %1 amount), external",
        "of statics::Account",
        "load 8 [@statics::PLAIN]",
    ] {
        assert!(text.contains(line), "no {line} in\n{text}");
    }
    let layout = program
        .layouts
        .iter()
        .find(|layout| layout.name == "statics::Account");
    let layout = layout.expect("the structure is known");
    let balance = layout.fields.iter().find(|field| field.name == "balance");
    assert_eq!(balance.map(|field| field.size), Some(8));
}

/// Of every part of a structure in these programs its name is known.
#[test]
fn parts_of_structures_have_names() {
    let (mut parts, mut named) = (0, 0);
    for file in ["fields.c", "globals.c", "casts.c", "exceptions.cc"] {
        let program = program(file);
        let blocks = program
            .functions
            .iter()
            .flat_map(|function| &function.blocks);
        for statement in blocks.flat_map(|block| &block.statements) {
            if let Kind::Part {
                offset: Offset::Constant(1..),
                layout,
                ..
            } = &statement.kind
            {
                parts += 1;
                named += usize::from(layout.is_some());
            }
        }
    }
    assert!(parts > 10, "only {parts} parts");
    assert_eq!(parts, named);
}
