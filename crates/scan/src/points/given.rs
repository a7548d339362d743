//! What callers of entries hand over is one class for each type.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::given;
use crate::ir::{FunctionId, Kind, LayoutId, Offset, Operand, ValueId};

use super::{Points, Target};

impl Points<'_> {
    /// What callers of these functions hand over: all that has the same type is one, also what is used as such elsewhere, other than local variables.
    pub fn give(&mut self, entries: &[FunctionId]) {
        let mut by_layout: FxHashMap<LayoutId, Target> = FxHashMap::default();
        for entry in entries {
            let function = self.program.function(*entry);
            for number in 0..function.parameters {
                let Some((layout, offset)) = given::structure(self.program, function, number)
                else {
                    continue;
                };
                let target = self.value(*entry, ValueId(number));
                let whole = self.classes.shifted(target, -offset);
                let known = *by_layout.entry(layout).or_insert(whole);
                self.classes.unify(known, whole);
            }
        }
        for id in self.program.function_ids() {
            let function = self.program.function(id);
            let statements = || function.blocks.iter().flat_map(|block| &block.statements);
            let locals: FxHashSet<ValueId> = statements()
                .filter(|statement| matches!(statement.kind, Kind::Local { .. }))
                .filter_map(|statement| statement.kind.assigned())
                .collect();
            for statement in statements() {
                if let Kind::Part {
                    base: Operand::Value(base),
                    offset: Offset::Constant(_),
                    layout: Some(layout),
                    ..
                } = &statement.kind
                    && !locals.contains(base)
                    && let Some(known) = by_layout.get(layout)
                {
                    let target = self.value(id, *base);
                    self.classes.unify(*known, target);
                }
            }
        }
        self.resolve();
    }
}
