//! From addresses of code to [`Pc`]s, which do not change from run to run.

use std::collections::BTreeMap;

use crate::hash::FastMap;
use crate::{Module, Pc};

/// Pcs of code that lies in no module (made at run time) count from here.
pub(super) const ELSEWHERE: u32 = 0xF000_0000;
/// How many addresses of such code are told apart; the rest is [`Pc::UNKNOWN`].
const MOST_ELSEWHERE: usize = 1 << 20;

/// The code of all modules, as stretches in order that do not overlap.
#[derive(Debug)]
pub(super) struct CodeMap {
    stretches: Vec<Stretch>,
}

/// Addresses that follow each other, and so do their pcs.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    start: u64,
    length: u64,
    first: u32,
}

impl Stretch {
    #[inline]
    fn pc(&self, address: u64) -> Option<Pc> {
        let offset = address.wrapping_sub(self.start);
        (offset < self.length).then(|| Pc(self.first.wrapping_add(offset as u32)))
    }

    fn end(&self) -> u64 {
        self.start + self.length
    }

    /// Its parts before and from `address` on, which lies inside.
    fn split(self, address: u64) -> (Stretch, Stretch) {
        let length = address - self.start;
        let before = Stretch { length, ..self };
        let behind = Stretch {
            start: address,
            length: self.length - length,
            first: self.first + length as u32,
        };
        (before, behind)
    }
}

impl CodeMap {
    /// The code of these modules. Where they overlap (one was unloaded, another took its place)
    /// the later one counts.
    pub fn new(modules: &[Module]) -> Self {
        let mut stretches = BTreeMap::new();
        for module in modules {
            cut(&mut stretches, module.start);
            cut(&mut stretches, module.end);
            let covered = stretches
                .range(module.start..module.end)
                .map(|(start, _)| *start);
            for start in covered.collect::<Vec<_>>() {
                stretches.remove(&start);
            }
            let stretch = Stretch {
                start: module.start,
                length: module.end - module.start,
                first: module.first_pc.0,
            };
            stretches.insert(module.start, stretch);
        }
        let stretches = stretches.into_values().collect();
        CodeMap { stretches }
    }

    fn stretch_at(&self, address: u64) -> Option<Stretch> {
        let after = self
            .stretches
            .partition_point(|stretch| stretch.start <= address);
        let stretch = self.stretches.get(after.checked_sub(1)?)?;
        (address < stretch.end()).then_some(*stretch)
    }

    /// The pc of an address, if it lies in a module.
    pub fn locate(&self, address: u64) -> Option<Pc> {
        self.stretch_at(address)?.pc(address)
    }
}

/// Makes a stretch that reaches across `address` two.
fn cut(stretches: &mut BTreeMap<u64, Stretch>, address: u64) {
    if let Some((_, stretch)) = stretches.range_mut(..address).next_back()
        && address < stretch.end()
    {
        let (before, behind) = stretch.split(address);
        *stretch = before;
        stretches.insert(address, behind);
    }
}

/// Translates addresses; remembers where the last one lay.
#[derive(Clone, Debug)]
pub(super) struct Locator<'a> {
    map: &'a CodeMap,
    last: Stretch,
    elsewhere: FastMap<u64, Pc>,
}

impl<'a> Locator<'a> {
    pub fn new(map: &'a CodeMap) -> Self {
        Locator {
            map,
            last: Stretch::default(),
            elsewhere: FastMap::default(),
        }
    }

    /// The pc of an address near the last one.
    #[inline]
    pub fn near(&self, address: u64) -> Option<Pc> {
        self.last.pc(address)
    }

    /// The pc of an address.
    #[inline]
    pub fn pc(&mut self, address: u64) -> Pc {
        match self.near(address) {
            Some(pc) => pc,
            None => self.far(address),
        }
    }

    #[cold]
    fn far(&mut self, address: u64) -> Pc {
        if let Some(stretch) = self.map.stretch_at(address) {
            self.last = stretch;
            return stretch.pc(address).unwrap_or(Pc::UNKNOWN);
        }
        if address == 0 {
            return Pc::UNKNOWN;
        }
        let known = self.elsewhere.len();
        match self.elsewhere.get(&address) {
            Some(pc) => *pc,
            None if known == MOST_ELSEWHERE => Pc::UNKNOWN,
            None => {
                let pc = Pc(ELSEWHERE + known as u32);
                self.elsewhere.insert(address, pc);
                pc
            }
        }
    }

    /// How many things it remembers.
    pub fn weight(&self) -> usize {
        self.elsewhere.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Modules of these addresses, with their pcs end to end.
    fn modules(ranges: &[(u64, u64)]) -> Vec<Module> {
        let mut first = 0;
        let mut all = Vec::new();
        for &(start, length) in ranges {
            all.push(Module {
                path: "lib.so".into(),
                build_id: Vec::new(),
                start,
                end: start + length,
                bias: 0,
                first_pc: Pc(first),
            });
            first += length as u32;
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_last_module_at_an_address_counts(ranges in vec((0u64..60, 1u64..30), 0..8)) {
            let modules = modules(&ranges);
            let map = CodeMap::new(&modules);
            let mut locator = Locator::new(&map);
            for address in (0..100).chain((0..100).rev()) {
                let module = modules.iter().rev().find(|m| (m.start..m.end).contains(&address));
                let pc = module.map(|m| Pc(m.first_pc.0 + (address - m.start) as u32));
                prop_assert_eq!(map.locate(address), pc);
                let located = locator.pc(address);
                match pc {
                    Some(pc) => prop_assert_eq!(located, pc),
                    None => prop_assert!(located.0 >= ELSEWHERE),
                }
            }
        }
    }

    #[test]
    fn too_much_code_elsewhere_has_no_number() {
        let map = CodeMap::new(&[]);
        let mut locator = Locator::new(&map);
        let most = MOST_ELSEWHERE as u64;
        for address in 1..=most {
            assert_eq!(locator.pc(address), Pc(ELSEWHERE + address as u32 - 1));
        }
        assert_eq!(locator.pc(most + 1), Pc::UNKNOWN);
        assert_eq!(locator.pc(1), Pc(ELSEWHERE));
        assert_eq!(locator.weight(), MOST_ELSEWHERE);
    }
}
