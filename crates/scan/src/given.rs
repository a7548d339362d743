//! What the callers of a module's entries hand over, by its type: one object for all that have the same.
//!
//! An entry that is handed a part of something (a work item, a timer, a list's link) and steps back to what it lies in is handed that.

use rustc_hash::FxHashSet;

use crate::ir::{Function, Kind, LayoutId, Offset, Operand, Program, ValueId};

/// The structure that a parameter of an entry points into, and where.
pub fn structure(
    program: &Program,
    function: &Function,
    parameter: u32,
) -> Option<(LayoutId, i64)> {
    around(program, function, parameter).or_else(|| {
        let value = function.values.get(parameter as usize)?;
        value.pointee.map(|layout| (layout, 0))
    })
}

/// The structure around what a parameter points at, if the function steps back to its beginning.
fn around(program: &Program, function: &Function, parameter: u32) -> Option<(LayoutId, i64)> {
    let statements = || function.blocks.iter().flat_map(|block| &block.statements);
    // Values that lie before what the parameter points at, and how far.
    let mut before: Vec<(ValueId, i64)> = Vec::new();
    let mut same: FxHashSet<ValueId> = FxHashSet::from_iter([ValueId(parameter)]);
    let mut found = None;
    for statement in statements() {
        match &statement.kind {
            Kind::Copy { into, from } => {
                if let [(Operand::Value(only), _)] = from[..] {
                    if same.contains(&only) {
                        same.insert(*into);
                    }
                    let back = before.iter().find(|(value, _)| *value == only);
                    before.extend(
                        back.map(|(_, by)| (*into, *by))
                            .into_iter()
                            .collect::<Vec<_>>(),
                    );
                }
            }
            Kind::Part {
                into,
                base: Operand::Value(base),
                offset: Offset::Constant(by),
                layout,
            } => {
                let back = before.iter().find(|(value, _)| value == base);
                let so_far = match back {
                    Some((_, so_far)) => *so_far,
                    None if same.contains(base) => 0,
                    None => continue,
                };
                match layout {
                    None if *by < 0 => before.push((*into, so_far - by)),
                    Some(layout) if so_far > 0 => {
                        let size = program
                            .layouts
                            .get(layout.index())
                            .map(|one| one.size as i64);
                        if size.is_some_and(|size| so_far < size) {
                            found = found.max(Some((so_far, *layout)));
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    found.map(|(offset, layout)| (layout, offset))
}
