//! Which addresses are stored where, in the whole program: memory that only ever holds one address needs no reading.
//!
//! Along with the paths of a function's values this is what the paper's update sequences are for: a lock that is reached through a
//! pointer is the one that was stored there, if nothing else was.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls;
use crate::ir::{Callee, FunctionId, Kind, Operand, Program};
use crate::model::{Effect, Model};
use crate::path::Site;
use crate::points::{ClassId, Points, Target};

/// Who stores an address: a statement, or nobody, if it is there from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The statement.
    pub site: Option<Site>,
    /// The address.
    pub value: Operand,
}

/// All addresses that are stored.
#[derive(Default)]
pub struct Stores {
    all: FxHashMap<Target, Vec<Stored>>,
    /// Classes where somebody stores whom nobody knows.
    wild: FxHashSet<ClassId>,
}

impl Stores {
    /// Looks at all globals. Statements come later.
    pub fn of(program: &Program, points: &mut Points) -> Self {
        let mut stores = Stores::default();
        for (number, global) in program.globals.iter().enumerate() {
            let id = crate::ir::GlobalId::new(number);
            for (offset, value) in &global.holds {
                let at = Operand::Global(id, *offset as i64);
                stores.add(points, FunctionId::default(), at, None, *value);
            }
        }
        stores
    }

    fn add(
        &mut self,
        points: &mut Points,
        function: FunctionId,
        at: Operand,
        site: Option<Site>,
        value: Operand,
    ) {
        let Some(target) = points.target(function, at) else {
            return;
        };
        // Nobody reads through the null pointer.
        if value == Operand::Null {
            return;
        }
        let known = self.all.entry(target).or_default();
        let stored = Stored { site, value };
        // Two are enough to know that it is not one.
        if known.len() < 2 && !known.contains(&stored) {
            known.push(stored);
        }
    }

    /// Looks at a statement.
    pub fn note(
        &mut self,
        program: &Program,
        model: &Model,
        points: &mut Points,
        site: Site,
        kind: &Kind,
    ) {
        let function = site.function;
        match kind {
            Kind::Store { to, value, .. } => self.add(points, function, *to, Some(site), *value),
            Kind::Update { at, .. } => self.run_wild(points, function, *at),
            Kind::Call {
                callee, arguments, ..
            } => match calls::effects(program, model, kind) {
                Some(effects) => {
                    for effect in effects {
                        let argument = |number: &u32| arguments.get(*number as usize).copied();
                        match effect {
                            Effect::Copy { to, from } => {
                                if let (Some(to), Some(from)) = (argument(to), argument(from)) {
                                    self.copied(program, points, site, to, from);
                                }
                            }
                            Effect::Write(number) | Effect::Atomic(number) => {
                                if let Some(at) = argument(number) {
                                    self.run_wild(points, function, at);
                                }
                            }
                            _ => {}
                        }
                    }
                }
                None => {
                    let is_known = match callee {
                        Callee::Direct(id) => program.function(*id).is_defined(),
                        _ => !points.callees_at(site).is_empty(),
                    };
                    if !is_known {
                        for argument in arguments {
                            self.run_wild(points, function, *argument);
                        }
                    }
                }
            },
            _ => {}
        }
    }

    /// What a constant holds is stored where it is copied to.
    fn copied(
        &mut self,
        program: &Program,
        points: &mut Points,
        site: Site,
        to: Operand,
        from: Operand,
    ) {
        match (from, points.target(site.function, to)) {
            (Operand::Global(id, start), Some(target)) if program.global(id).is_constant => {
                for (offset, value) in &program.global(id).holds {
                    let at = points.shifted(target, *offset as i64 - start);
                    let stored = Stored {
                        site: Some(site),
                        value: *value,
                    };
                    self.all.entry(at).or_default().push(stored);
                }
            }
            _ => self.run_wild(points, site.function, to),
        }
    }

    fn run_wild(&mut self, points: &mut Points, function: FunctionId, at: Operand) {
        let target = points.target(function, at);
        self.wild.extend(target.map(|target| target.class));
    }

    /// The address that is always stored there: always by the same statement, or always the same global's.
    pub fn only(&self, target: Target) -> Option<Stored> {
        if self.wild.contains(&target.class) {
            return None;
        }
        let all = self.all.get(&target)?;
        let first = *all.first()?;
        let is_global = matches!(first.value, Operand::Global(..));
        let is_one = |stored: &Stored| match is_global {
            true => stored.value == first.value,
            false => *stored == first,
        };
        all.iter().all(is_one).then_some(first)
    }

    /// Whether no address is ever stored there, as far as anybody knows.
    pub fn has_none(&self, target: Target) -> bool {
        !self.wild.contains(&target.class) && !self.all.contains_key(&target)
    }
}
