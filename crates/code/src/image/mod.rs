//! A program's code as the analysis sees it: its functions, what their calls mean, which memory
//! never changes.

mod pads;

use std::collections::BTreeMap;

use object::{
    Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionFlags,
    SymbolKind, elf,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::arch::{Architecture, Reference};
use crate::callee::{self, Callee};

/// Imported functions have no address; they get one that no code has.
const IMPORTS: u64 = 0xFFFF_8000_0000_0000;

/// A program's code.
#[derive(Default)]
pub(crate) struct Image<'a> {
    code: Vec<Section<'a>>,
    /// Memory that never changes, by its first address.
    constant: BTreeMap<u64, u64>,
    /// What is read from there, if it is needed.
    data: Vec<Section<'a>>,
    /// Functions by their first address, and where they end.
    functions: BTreeMap<u64, u64>,
    /// Where the code of functions goes on that were cut in two, by its first address.
    fragments: FxHashSet<u64>,
    /// What functions of known names mean.
    known: FxHashMap<u64, Callee>,
    /// Slots that hold addresses, such as those of functions in other modules.
    slots: FxHashMap<u64, u64>,
    /// Functions with the hook at their entry.
    instrumented: FxHashSet<u64>,
    has_symbols: bool,
    /// Whether the program makes locks robust.
    robust: bool,
    /// Landing pads of calls.
    pads: pads::Pads,
}

#[derive(Clone, Copy)]
struct Section<'a> {
    address: u64,
    bytes: &'a [u8],
}

impl<'a> Section<'a> {
    fn from(&self, address: u64) -> Option<&'a [u8]> {
        let offset = address.checked_sub(self.address)?;
        let bytes = self.bytes.get(usize::try_from(offset).ok()?..)?;
        (!bytes.is_empty()).then_some(bytes)
    }
}

impl<'a> Image<'a> {
    /// What a file holds. A part of it that cannot be read is as if it were not there.
    pub fn of(data: &'a [u8], architecture: &mut dyn Architecture) -> Image<'a> {
        let Ok(object) = object::File::parse(data) else {
            return Image::default();
        };
        let mut image = Image::default();
        image.sections(&object);
        image.symbols(&object);
        image.imports(&object);
        image.pads = pads::Pads::of(&object);
        for &(start, end) in image.pads.functions() {
            image.functions.entry(start).or_insert(end);
        }
        image.stubs(&object, architecture);
        image.find_instrumented(architecture);
        image
    }

    /// One instrumented function, and what the functions that it calls mean.
    #[cfg(test)]
    pub fn of_function(address: u64, bytes: &'a [u8], known: &[(u64, Callee)]) -> Image<'a> {
        Image {
            code: vec![Section { address, bytes }],
            functions: BTreeMap::from([(address, address + bytes.len() as u64)]),
            instrumented: FxHashSet::from_iter([address]),
            known: known.iter().copied().collect(),
            ..Image::default()
        }
    }

    fn sections(&mut self, object: &object::File<'a>) {
        for section in object.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
                continue;
            };
            let has = |flag: elf::SectionFlags| sh_flags.0 & flag.0 != 0;
            let (start, size) = (section.address(), section.size());
            let Ok(bytes) = section.data() else { continue };
            if !has(elf::SHF_ALLOC) || has(elf::SHF_TLS) || size == 0 {
                continue;
            }
            let address = start;
            if has(elf::SHF_EXECINSTR) {
                self.code.push(Section { address, bytes });
                continue;
            }
            let name = section.name().unwrap_or_default();
            let settled = name == ".got" || name == ".got.plt" || name.starts_with(".data.rel.ro");
            if !has(elf::SHF_WRITE) || settled {
                self.constant.insert(start, start.saturating_add(size));
                self.data.push(Section { address, bytes });
            }
        }
    }

    fn symbols(&mut self, object: &object::File<'a>) {
        self.has_symbols = object.symbol_table().is_some();
        for symbol in object.symbols().chain(object.dynamic_symbols()) {
            let named = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown);
            if symbol.is_undefined() || !named || symbol.address() == 0 {
                continue;
            }
            let (start, size) = (symbol.address(), symbol.size());
            let Ok(name) = symbol.name() else { continue };
            if let Some(callee) = callee::by_name(name) {
                self.known.insert(start, callee);
            }
            if symbol.kind() != SymbolKind::Text || size == 0 {
                continue;
            }
            let end = self.functions.entry(start).or_default();
            *end = (*end).max(start.saturating_add(size));
            if name.contains(".cold") {
                self.fragments.insert(start);
            }
        }
    }

    /// What the loader puts into slots.
    fn imports(&mut self, object: &object::File<'a>) {
        let mut imports = FxHashMap::default();
        let names = object.dynamic_symbol_table();
        for (slot, relocation) in object.dynamic_relocations().into_iter().flatten() {
            let target = match relocation.target() {
                RelocationTarget::Absolute
                    if relocation.flags()
                        == (RelocationFlags::Elf {
                            r_type: elf::R_X86_64_RELATIVE,
                        }) =>
                {
                    relocation.addend() as u64
                }
                RelocationTarget::Symbol(index) => {
                    let Some(symbol) = names
                        .as_ref()
                        .and_then(|t| object::ObjectSymbolTable::symbol_by_index(t, index).ok())
                    else {
                        continue;
                    };
                    if symbol.address() != 0 {
                        symbol.address().wrapping_add_signed(relocation.addend())
                    } else {
                        let Ok(name) = symbol.name() else { continue };
                        self.robust |= name == callee::MAKES_ROBUST;
                        let next = IMPORTS + imports.len() as u64 * 16;
                        let address = *imports.entry(name.to_owned()).or_insert(next);
                        if let Some(callee) = callee::by_name(name) {
                            self.known.insert(address, callee);
                        }
                        address
                    }
                }
                _ => continue,
            };
            self.slots.insert(slot, target);
        }
    }

    /// Stubs through which imported functions are called mean what these mean.
    fn stubs(&mut self, object: &object::File<'a>, architecture: &mut dyn Architecture) {
        for section in object.sections() {
            let name = section.name().unwrap_or_default();
            let (true, Ok(bytes)) = (name.starts_with(".plt"), section.data()) else {
                continue;
            };
            for offset in (0..bytes.len()).step_by(8) {
                let address = section.address() + offset as u64;
                let slot = architecture.stub_slot(&bytes[offset..], address);
                if let Some(target) = slot.and_then(|slot| self.slots.get(&slot))
                    && let Some(callee) = self.known.get(target).copied()
                {
                    self.known.insert(address, callee);
                }
            }
        }
    }

    fn find_instrumented(&mut self, architecture: &mut dyn Architecture) {
        let found = self.functions_that_call(architecture, |callee| *callee == Callee::Enter);
        self.instrumented = found.into_iter().map(|(start, _)| start).collect();
    }

    /// The functions, or parts of functions, that call hooks, in ascending order.
    pub fn hooked(&self, architecture: &mut dyn Architecture) -> Vec<(u64, u64)> {
        let is_hook = |callee: &Callee| {
            use Callee::{Access, Atomic, Enter, Exit};
            matches!(callee, Enter | Exit | Access { .. } | Atomic { .. })
        };
        let found = self.functions_that_call(architecture, is_hook);
        let mut found: Vec<(u64, u64)> = found.into_iter().collect();
        found.sort_unstable();
        found
    }

    fn functions_that_call(
        &self,
        architecture: &mut dyn Architecture,
        is_meant: impl Fn(&Callee) -> bool,
    ) -> FxHashSet<(u64, u64)> {
        let mut found = FxHashSet::default();
        for section in &self.code {
            let places =
                architecture.places_that_call(section.bytes, section.address, &mut |reference| {
                    let target = match reference {
                        Reference::Direct(target) => Some(target),
                        Reference::Slot(slot) => self.slots.get(&slot).copied(),
                    };
                    let callee = target.and_then(|target| self.known.get(&target));
                    callee.is_some_and(&is_meant)
                });
            found.extend(
                places
                    .into_iter()
                    .filter_map(|place| self.function_of(place)),
            );
        }
        found
    }

    /// The function that an address lies in: where it starts and ends.
    pub fn function_of(&self, address: u64) -> Option<(u64, u64)> {
        let (&start, &end) = self.functions.range(..=address).next_back()?;
        (address < end).then_some((start, end))
    }

    /// All instrumented functions in ascending order.
    pub fn instrumented(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.instrumented.iter().copied().collect();
        all.sort_unstable();
        all
    }

    /// Whether a jump to the start of a function is a jump into another part of the function that
    /// jumps: instrumented functions end with a hook and not with a jump to another function, so
    /// everything that is not a function of its own right is taken for a part.
    pub fn is_function_of_its_own(&self, address: u64) -> bool {
        self.instrumented.contains(&address) && !self.fragments.contains(&address)
    }

    /// Whether an address is in such a part, by its symbol.
    pub fn is_fragment(&self, address: u64) -> bool {
        let function = self.function_of(address);
        function.is_some_and(|(start, _)| self.fragments.contains(&start))
    }

    /// Whether there is a table of all symbols.
    pub fn has_symbols(&self) -> bool {
        self.has_symbols
    }

    /// The code from an address on.
    pub fn code(&self, address: u64) -> Option<&'a [u8]> {
        self.code.iter().find_map(|section| section.from(address))
    }

    /// What a call of this address means.
    pub fn callee(&self, address: u64) -> Callee {
        if self.instrumented.contains(&address) {
            return Callee::Instrumented;
        }
        let callee = self.known.get(&address).copied();
        let callee = callee.unwrap_or(Callee::Opaque);
        match self.robust {
            true => callee.with_robust_locks(),
            false => callee,
        }
    }

    /// Whether the address is that of a function of known meaning, or of another module.
    pub fn is_known(&self, address: u64) -> bool {
        address >= IMPORTS || self.known.contains_key(&address)
    }

    /// Whether memory at an address never changes.
    pub fn is_constant(&self, address: u64) -> bool {
        let before = self.constant.range(..=address).next_back();
        before.is_some_and(|(_, end)| address < *end)
    }

    /// The address that constant memory holds at an address, if the loader puts one there.
    pub fn pointer_at(&self, address: u64) -> Option<u64> {
        self.slots.get(&address).copied()
    }

    /// Some bytes of constant memory.
    pub fn constant_bytes<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let sections = self.data.iter().chain(&self.code);
        let mut bytes = sections.filter_map(|section| section.from(address));
        bytes.find_map(|bytes| bytes.get(..N)?.try_into().ok())
    }

    /// Where an exception in a call goes on, if it is caught. `Err`: that is not known.
    pub fn landing_pad(&self, call: u64) -> Result<Option<u64>, pads::Unknown> {
        self.pads.of_call(call)
    }
}
