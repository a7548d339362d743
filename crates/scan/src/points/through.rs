//! Calls through pointers, and what they may call.

use crate::ir::{FunctionId, Operand, SignatureId, ValueId};
use crate::path::Site;

use super::Points;

/// A call through a pointer, or what a modelled function calls or starts.
#[derive(Clone)]
pub(super) struct Through {
    pub site: Site,
    pub pointer: Operand,
    /// The type that it is called with; `None` if that is for somebody else to know.
    pub signature: Option<SignatureId>,
    pub arguments: Vec<Operand>,
    pub into: Option<ValueId>,
}

/// How often it is looked again at what is copied before fields are not told apart there any more.
const PATIENCE: usize = 8;

impl Points<'_> {
    /// Links calls through pointers to what they may call, until there is nothing new.
    pub(super) fn resolve(&mut self) {
        for (site, object, slot) in std::mem::take(&mut self.methods) {
            self.link_method(site, object, slot);
        }
        for (site, at) in std::mem::take(&mut self.closures) {
            self.link_closure(site, at);
        }
        for round in 0.. {
            let before = self.linked.len();
            for number in 0..self.indirect.len() {
                let through = self.indirect[number].clone();
                for callee in self.callees(&through) {
                    self.link(through.site, callee, &through.arguments, through.into);
                }
            }
            let mut is_new = self.linked.len() > before;
            for (to, from) in self.copies.clone() {
                let has_news = self.copied(to, from);
                is_new |= has_news;
                // What is copied in circles, each time to another offset, would have no end of fields.
                if has_news && round >= PATIENCE {
                    self.classes.collapse(to.class);
                    self.classes.collapse(from.class);
                }
            }
            if !is_new {
                return;
            }
        }
    }

    /// What a call through a pointer may call: what is stored in the member that it is read from, or else all in its class. If functions of the
    /// type that is called are among it, only those.
    fn callees(&mut self, through: &Through) -> Vec<FunctionId> {
        let function = through.site.function;
        if let Operand::Function(id) = through.pointer {
            return vec![id];
        }
        let held = self.held.callees(function, through.pointer);
        let mut functions = match held {
            Some(held) => held.to_vec(),
            None => {
                let Some(target) = self.operand(function, through.pointer) else {
                    return Vec::new();
                };
                let target = self.classes.now(target);
                self.classes.functions(target)
            }
        };
        let program = self.program;
        let fits = |id: &FunctionId| Some(program.function(*id).signature) == through.signature;
        if functions.iter().any(fits) {
            functions.retain(fits);
        }
        self.keep_of_slot(through, &mut functions);
        functions.sort_unstable();
        functions.dedup();
        functions
    }

    /// What a call through a pointer, a thread's creation or a call back at this statement may call.
    pub fn callees_at(&self, site: Site) -> Vec<FunctionId> {
        let here = self.linked.iter().filter(|(at, _)| *at == site);
        let mut functions: Vec<FunctionId> = here.map(|(_, function)| *function).collect();
        functions.sort_unstable();
        functions
    }
}
