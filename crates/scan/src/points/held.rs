//! Which functions are stored in which members of structures: what a call through such a member may call.
//!
//! Tables of operations have a type of their own. A call through a member of that type calls what somebody stores in that member, not whatever
//! else the classes of memory have mixed with it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Function, FunctionId, Kind, LayoutId, Operand, Program, ValueId};
use crate::members::{Members, innermost};
use crate::path::Site;

/// A member of a structure: the innermost one, and where in there.
type Place = (LayoutId, i64);

/// Functions in members of structures.
#[derive(Default)]
pub(super) struct Held {
    functions: FxHashMap<Place, Vec<FunctionId>>,
    /// Members into which something is stored of which nobody knows what it is.
    open: FxHashSet<Place>,
    /// Where values are read from that are members.
    read: FxHashMap<(FunctionId, ValueId), Place>,
}

impl Held {
    /// Looks at the whole program.
    pub fn of(program: &Program, members: &Members) -> Self {
        let mut held = Held::default();
        for global in &program.globals {
            let Some(layout) = global.layout else {
                continue;
            };
            for (offset, operand) in &global.holds {
                if let Operand::Function(id) = operand {
                    let place = innermost(program, layout, *offset as i64, POINTER);
                    held.functions.entry(place).or_default().push(*id);
                }
            }
        }
        for id in program.function_ids() {
            held.look_at(members, id, program.function(id));
        }
        held
    }

    fn look_at(&mut self, members: &Members, id: FunctionId, function: &Function) {
        for (block, one) in function.blocks.iter().enumerate() {
            for (statement, what) in one.statements.iter().enumerate() {
                let site = Site {
                    function: id,
                    block: block as u32,
                    statement: statement as u32,
                };
                let at = |writes| {
                    let member = members.at(site, writes)?;
                    member.within.last().copied()
                };
                match &what.kind {
                    Kind::Load { into, .. } => {
                        if let Some(place) = at(false) {
                            self.read.insert((id, *into), place);
                        }
                    }
                    Kind::Store { value, .. } => match (at(true), value) {
                        (Some(place), Operand::Function(id)) => {
                            self.functions.entry(place).or_default().push(*id);
                        }
                        (_, Operand::Null | Operand::Integer(_)) | (None, _) => {}
                        (Some(place), _) => drop(self.open.insert(place)),
                    },
                    _ => {}
                }
            }
        }
    }

    /// What a call through this value may call; `None` if it was not read from a member of which everything is known.
    pub fn callees(&self, function: FunctionId, operand: Operand) -> Option<&[FunctionId]> {
        let Operand::Value(value) = operand else {
            return None;
        };
        let place = self.read.get(&(function, value))?;
        if self.open.contains(place) {
            return None;
        }
        Some(self.functions.get(place).map_or(&[], |all| all))
    }
}

/// How many bytes a pointer has.
const POINTER: u64 = 8;
