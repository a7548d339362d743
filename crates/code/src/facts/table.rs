//! Facts as plain numbers: what is kept in memory, and on disk as it is.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

/// The table's parts, all of them lists of 32-bit numbers.
///
/// *Nodes* are the sites by their pcs, then for each function its entry and its exit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// The lowest address that occurs; others are told as distances from it.
    pub base: u64,
    /// Sites in ascending order.
    pub pcs: Vec<u32>,
    /// The function of each site, with [`CALL`] if it calls one, with [`STEADY`] if it is such an access.
    pub site_functions: Vec<u32>,
    /// What each site's access depends on.
    pub site_depends: Vec<u32>,
    /// Functions in ascending order: where they start and end.
    pub functions: Vec<u32>,
    /// Where each node's ways start in `ways`, and at last where those of the last end.
    pub way_starts: Vec<u32>,
    /// Ways in pairs: to which node, and 0 or what is passed depends on plus 1.
    pub ways: Vec<u32>,
    /// Where each set's members start in `members`, and at last where those of the last end. The
    /// first set is empty, the second stands for everything.
    pub depends_starts: Vec<u32>,
    /// Sites, and [`BEFORE`].
    pub members: Vec<u32>,
    /// Sets that are there already.
    known: FxHashMap<Vec<u32>, u32>,
}

/// The set of nothing.
pub(super) const NOTHING: u32 = 0;
/// The set of everything.
pub(super) const EVERYTHING: u32 = 1;
/// The member that stands for what was read before the function was entered.
pub(super) const BEFORE: u32 = u32::MAX;
/// With the function of a site: a function is called there that is no hook and not intercepted.
pub(super) const CALL: u32 = 1 << 31;
/// With the function of a site: an atomic access that is no compare-and-swap.
pub(super) const STEADY: u32 = 1 << 30;
/// The number of the disk format.
pub(super) const VERSION: u32 = 3;

const MAGIC: &[u8; 8] = b"DHFACTS\n";
const PARTS: usize = 8;

impl Table {
    pub fn new(base: u64) -> Table {
        Table {
            base,
            depends_starts: vec![0, 0, 0],
            way_starts: vec![0],
            ..Table::default()
        }
    }

    /// An address as a distance. One that is too far gets a number that no query has.
    fn distance(&self, address: u64) -> u32 {
        u32::try_from(address.wrapping_sub(self.base)).unwrap_or(u32::MAX)
    }

    /// A site; `flags` are [`CALL`] and [`STEADY`].
    pub fn add_site(&mut self, pc: u64, function: u32, flags: u32, depends: u32) {
        self.pcs.push(self.distance(pc));
        self.site_functions.push(function | flags);
        self.site_depends.push(depends);
    }

    pub fn add_function(&mut self, (start, end): (u64, u64)) {
        let range = [self.distance(start), self.distance(end)];
        self.functions.extend(range);
    }

    /// The number of a set of sites and what was read before; `None` is everything.
    pub fn add_depends(&mut self, sources: Option<(Vec<u32>, bool)>) -> u32 {
        let Some((mut members, before)) = sources else {
            return EVERYTHING;
        };
        members.extend(before.then_some(BEFORE));
        if members.is_empty() {
            return NOTHING;
        }
        let next = self.depends_starts.len() as u32 - 1;
        let number = *self.known.entry(members.clone()).or_insert(next);
        if number == next {
            self.members.extend(members);
            self.depends_starts.push(self.members.len() as u32);
        }
        number
    }

    /// All ways at once, of so many nodes.
    pub fn set_ways(&mut self, nodes: u32, ways: &BTreeMap<(u32, u32), Option<u32>>) {
        let mut ways = ways.iter().peekable();
        self.way_starts.clear();
        for node in 0..nodes {
            self.way_starts.push(self.ways.len() as u32 / 2);
            while let Some((&(_, to), passed)) = ways.next_if(|((from, _), _)| *from == node) {
                self.ways
                    .extend([to, passed.map_or(0, |depends| depends + 1)]);
            }
        }
        self.way_starts.push(self.ways.len() as u32 / 2);
        self.known = FxHashMap::default();
    }

    fn parts(&self) -> [&Vec<u32>; PARTS] {
        [
            &self.pcs,
            &self.site_functions,
            &self.site_depends,
            &self.functions,
            &self.way_starts,
            &self.ways,
            &self.depends_starts,
            &self.members,
        ]
    }

    /// The table as a file: magic, version, the length of the build id and of each part, the base,
    /// the build id, the parts, a checksum over all of it. All padded to words of 8 bytes.
    pub fn to_bytes(&self, build_id: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let mut number = |number: u32| bytes.extend(number.to_le_bytes());
        number(VERSION);
        number(build_id.len() as u32);
        for part in self.parts() {
            number(part.len() as u32);
        }
        bytes.extend(self.base.to_le_bytes());
        bytes.extend(build_id);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        for part in self.parts() {
            bytes.extend(part.iter().flat_map(|number| number.to_le_bytes()));
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// The table from a file, if the file is whole and for this build id.
    pub fn from_bytes(bytes: &[u8], build_id: &[u8]) -> Option<Table> {
        let (content, sum) = bytes.split_last_chunk::<8>()?;
        if content.len() % 8 != 0 || checksum(content) != u64::from_le_bytes(*sum) {
            return None;
        }
        let mut rest = content.strip_prefix(MAGIC)?;
        let mut number = || {
            let (first, behind) = rest.split_first_chunk::<4>()?;
            rest = behind;
            Some(u32::from_le_bytes(*first))
        };
        let (version, id_length) = (number()?, number()? as usize);
        let mut lengths = [0; PARTS];
        for length in &mut lengths {
            *length = number()? as usize;
        }
        let (base, rest) = rest.split_first_chunk::<8>()?;
        if version != VERSION || rest.get(..id_length)? != build_id {
            return None;
        }
        let mut rest = rest.get(id_length.next_multiple_of(8)..)?;
        let mut parts = lengths.map(|length| {
            let (part, behind) = rest.split_at_checked(length.checked_mul(4)?)?;
            rest = behind;
            let numbers = part.chunks_exact(4);
            let numbers =
                numbers.map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]));
            Some(numbers.collect::<Vec<u32>>())
        });
        let mut next = 0;
        let mut part = || {
            next += 1;
            parts[next - 1].take()
        };
        let table = Table {
            base: u64::from_le_bytes(*base),
            pcs: part()?,
            site_functions: part()?,
            site_depends: part()?,
            functions: part()?,
            way_starts: part()?,
            ways: part()?,
            depends_starts: part()?,
            members: part()?,
            known: FxHashMap::default(),
        };
        table.is_sound().then_some(table)
    }

    /// Whether all its numbers point to where something is.
    fn is_sound(&self) -> bool {
        let sites = self.pcs.len();
        let functions = self.functions.len() / 2;
        let nodes = sites + 2 * functions;
        let sets = self.depends_starts.len().saturating_sub(1);
        let below = |list: &[u32], bound: usize| list.iter().all(|n| (*n as usize) < bound);
        let ascending = |list: &[u32], end: usize| {
            list.first() == Some(&0)
                && list.is_sorted()
                && list.last().map(|n| *n as usize) == Some(end)
        };
        let members = self.members.iter().filter(|member| **member != BEFORE);
        self.pcs.is_sorted()
            && self.site_functions.len() == sites
            && self.site_depends.len() == sites
            && self.functions.len().is_multiple_of(2)
            && self.ways.len().is_multiple_of(2)
            && self
                .site_functions
                .iter()
                .all(|function| ((function & !(CALL | STEADY)) as usize) < functions)
            && below(&self.site_depends, sets)
            && self.way_starts.len() == nodes + 1
            && ascending(&self.way_starts, self.ways.len() / 2)
            && ascending(&self.depends_starts, self.members.len())
            && sets >= 2
            && self
                .ways
                .chunks_exact(2)
                .all(|way| (way[0] as usize) < nodes && way[1] as usize <= sets)
            && members.copied().all(|member| (member as usize) < sites)
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(8).map(|eight| {
        let mut word = [0; 8];
        word.copy_from_slice(eight);
        u64::from_le_bytes(word)
    });
    deadheat_wire::checksum(&words.collect::<Vec<_>>())
}
