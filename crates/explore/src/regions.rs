//! Addresses said so that they mean the same in another run: as offsets in blocks of the heap and in threads' stacks,
//! whose addresses depend on the schedule, and as they are in modules.

use deadheat_trace::{Extents, Tables};
use deadheat_wire::plan::Region;

/// The blocks that are alive, and the modules.
#[derive(Default)]
pub struct Regions {
    /// With their regions.
    blocks: Extents<u32>,
    count: u32,
}

impl Regions {
    /// No blocks.
    pub fn new() -> Self {
        Regions {
            blocks: Extents::default(),
            count: Region::FIRST_BLOCK,
        }
    }

    /// How many regions there are so far.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// A block was handed out: its region.
    pub fn allocate(&mut self, start: u64, bytes: u64) -> u32 {
        let end = start.saturating_add(bytes.max(1));
        self.blocks.remove_within(start, end);
        let region = self.count;
        self.count += 1;
        self.blocks.insert(start, end - start, region);
        region
    }

    /// A block is given back.
    pub fn free(&mut self, start: u64) {
        self.blocks.remove(start);
    }

    /// An address as region and offset.
    pub fn locate(&self, address: u64, tables: &Tables) -> (Region, u64) {
        // Libraries may be loaded elsewhere; the program comes first among the modules. There are no blocks in it.
        let program = tables.modules.first();
        if program.is_some_and(|module| (module.start..module.end).contains(&address)) {
            return (Region::FIXED, address);
        }
        match self.blocks.around(address) {
            Some(block) => (Region(block.what), address - block.start),
            None => (Region::ANY, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_lives() {
        let mut regions = Regions::new();
        let tables = Tables::default();
        let first = regions.allocate(0x1000, 16);
        assert_eq!(regions.locate(0x100f, &tables), (Region(first), 15));
        assert_eq!(regions.locate(0x1010, &tables), (Region::ANY, 0));
        regions.free(0x1000);
        assert_eq!(regions.locate(0x1000, &tables), (Region::ANY, 0));
        let second = regions.allocate(0x1008, 8);
        assert_ne!(first, second);
        assert_eq!(regions.locate(0x1008, &tables), (Region(second), 0));
        // A release that nobody saw.
        let third = regions.allocate(0x1000, 32);
        assert_eq!(regions.locate(0x100c, &tables), (Region(third), 12));
        assert_eq!(regions.count(), third + 1);
    }
}
