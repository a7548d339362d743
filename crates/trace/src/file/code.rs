//! From addresses of code to [`Pc`]s, which do not change from run to run.

use std::collections::HashMap;

use crate::{Module, Pc};

/// Pcs of code that lies in no module (made at run time) count from here.
const ELSEWHERE: u32 = 0xF000_0000;

/// The pc of an address, if it lies in a module; the newest counts where modules overlap.
pub(super) fn locate(modules: &[Module], address: u64) -> Option<Pc> {
    let module = modules.iter().rev().find(|m| (m.start..m.end).contains(&address))?;
    Some(Pc(module.first_pc.0 + (address - module.start) as u32))
}

/// Translates addresses; remembers the module of the last one.
#[derive(Clone, Debug)]
pub(super) struct CodeMap {
    modules: Vec<Module>,
    start: u64,
    end: u64,
    first: u32,
    elsewhere: HashMap<u64, Pc>,
}

impl CodeMap {
    pub fn new(modules: &[Module]) -> Self {
        CodeMap {
            modules: modules.to_vec(),
            start: 0,
            end: 0,
            first: 0,
            elsewhere: HashMap::new(),
        }
    }

    #[inline]
    pub fn pc(&mut self, address: u64) -> Pc {
        if address.wrapping_sub(self.start) < self.end - self.start {
            return Pc(self.first + (address - self.start) as u32);
        }
        self.pc_elsewhere(address)
    }

    #[cold]
    fn pc_elsewhere(&mut self, address: u64) -> Pc {
        if address == 0 {
            return Pc::UNKNOWN;
        }
        let found = self.modules.iter().rev().find(|m| (m.start..m.end).contains(&address));
        if let Some(module) = found {
            // Where a newer module overlaps, only what lies beside it may be remembered: then
            // nothing is.
            let alone = self.modules.iter().filter(|m| m.start < module.end && module.start < m.end);
            if alone.count() == 1 {
                (self.start, self.end, self.first) = (module.start, module.end, module.first_pc.0);
            }
            return Pc(module.first_pc.0 + (address - module.start) as u32);
        }
        let next = Pc(ELSEWHERE.wrapping_add(self.elsewhere.len() as u32));
        *self.elsewhere.entry(address).or_insert(next)
    }
}
