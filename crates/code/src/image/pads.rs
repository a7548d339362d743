//! Where exceptions are caught: the landing pads of calls, from the tables that unwinders read
//! (`.eh_frame`, and the language-specific areas in `.gcc_except_table`).

use std::collections::BTreeMap;

use gimli::{
    BaseAddresses, CieOrFde, EhFrame, EndianSlice, LittleEndian, Pointer, Reader, UnwindSection,
    constants,
};
use object::{Object, ObjectSection};

/// That where an exception goes on is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unknown;

/// The landing pads of a program.
#[derive(Debug, Default)]
pub(crate) struct Pads {
    functions: Vec<(u64, u64)>,
    /// Ranges of calls by their first address: where they end, and their pad.
    ranges: BTreeMap<u64, (u64, Option<u64>)>,
    /// Functions whose tables cannot be read.
    unreadable: BTreeMap<u64, u64>,
}

/// The first address of a range of calls; its end, and its pad.
type Range = (u64, (u64, Option<u64>));
type Bytes<'a> = EndianSlice<'a, LittleEndian>;

impl Pads {
    pub fn of(object: &object::File<'_>) -> Pads {
        let mut pads = Pads::default();
        let section = |name: &str| {
            let section = object.section_by_name(name)?;
            Some((section.address(), section.data().ok()?))
        };
        let Some((address, bytes)) = section(".eh_frame") else {
            return pads;
        };
        let mut bases = BaseAddresses::default().set_eh_frame(address);
        if let Some((text, _)) = section(".text") {
            bases = bases.set_text(text);
        }
        if let Some((got, _)) = section(".got") {
            bases = bases.set_got(got);
        }
        let frames = EhFrame::new(bytes, LittleEndian);
        let areas = section(".gcc_except_table");
        let mut entries = frames.entries(&bases);
        while let Ok(Some(entry)) = entries.next() {
            let CieOrFde::Fde(partial) = entry else {
                continue;
            };
            let Ok(fde) = partial.parse(EhFrame::cie_from_offset) else {
                continue;
            };
            let start = fde.initial_address();
            let end = start.saturating_add(fde.len());
            pads.functions.push((start, end));
            let ranges = match (fde.lsda(), areas) {
                (None, _) => continue,
                (Some(Pointer::Direct(area)), Some((address, bytes))) => {
                    let offset = area.checked_sub(address).map(|offset| offset as usize);
                    offset
                        .and_then(|offset| bytes.get(offset..))
                        .and_then(|bytes| calls(EndianSlice::new(bytes, LittleEndian), start))
                }
                _ => None,
            };
            match ranges {
                Some(ranges) => pads.ranges.extend(ranges),
                None => {
                    pads.unreadable.insert(start, end);
                }
            }
        }
        pads
    }

    /// All functions that unwinders know.
    pub fn functions(&self) -> &[(u64, u64)] {
        &self.functions
    }

    pub fn of_call(&self, call: u64) -> Result<Option<u64>, Unknown> {
        let unreadable = self.unreadable.range(..=call).next_back();
        if unreadable.is_some_and(|(_, end)| call < *end) {
            return Err(Unknown);
        }
        let range = self.ranges.range(..=call).next_back();
        Ok(range.and_then(|(_, (end, pad))| pad.filter(|_| call < *end)))
    }
}

/// The ranges of calls in a function's area: their first address, and their end and pad.
fn calls(mut area: Bytes<'_>, function: u64) -> Option<Vec<Range>> {
    let base = match area.read_u8().ok()? {
        encoding if encoding == constants::DW_EH_PE_omit.0 => function,
        _ => return None,
    };
    if area.read_u8().ok()? != constants::DW_EH_PE_omit.0 {
        area.read_uleb128().ok()?;
    }
    let encoding = area.read_u8().ok()?;
    let length = area.read_uleb128().ok()?;
    let mut table = area;
    table.truncate(usize::try_from(length).ok()?).ok()?;
    let number = |table: &mut Bytes<'_>| match constants::DwEhPe(encoding) {
        constants::DW_EH_PE_uleb128 => table.read_uleb128().ok(),
        constants::DW_EH_PE_udata4 => table.read_u32().ok().map(u64::from),
        _ => None,
    };
    let mut ranges = Vec::new();
    while !table.is_empty() {
        let start = function.checked_add(number(&mut table)?)?;
        let end = start.checked_add(number(&mut table)?)?;
        let pad = number(&mut table)?;
        table.read_uleb128().ok()?;
        let pad = (pad != 0).then(|| base.wrapping_add(pad));
        ranges.push((start, (end, pad)));
    }
    Some(ranges)
}
