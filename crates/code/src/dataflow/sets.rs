//! Sets of reads, each kept once, so that they are compared and joined by number.

use rustc_hash::FxHashMap;

/// A set of sites whose reads something depends on, by its number in [`Sets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Set(u32);

impl Set {
    /// No read.
    pub const NOTHING: Set = Set(0);
    /// All reads, and whatever is not known.
    pub const EVERYTHING: Set = Set(1);
    /// What was read before the function was entered.
    pub const BEFORE: Set = Set(2);
}

/// A larger set counts as everything.
const LARGEST: usize = 128;
/// The member that stands for what was read before.
const BEFORE_MEMBER: u32 = 0;

/// All sets of one function. A member is [`BEFORE_MEMBER`] or the number of a site plus 1.
#[derive(Debug)]
pub(crate) struct Sets {
    members: Vec<Box<[u32]>>,
    numbers: FxHashMap<Box<[u32]>, Set>,
    unions: FxHashMap<(Set, Set), Set>,
}

impl Default for Sets {
    fn default() -> Self {
        let members: Vec<Box<[u32]>> = vec![
            Box::default(),
            Box::new([u32::MAX]),
            Box::new([BEFORE_MEMBER]),
        ];
        let numbers = members
            .iter()
            .cloned()
            .zip([Set::NOTHING, Set::EVERYTHING, Set::BEFORE]);
        Sets {
            numbers: numbers.collect(),
            members,
            unions: FxHashMap::default(),
        }
    }
}

impl Sets {
    /// The set of one site.
    pub fn site(&mut self, site: u32) -> Set {
        self.number(Box::new([site + 1]))
    }

    /// All members of either.
    pub fn union(&mut self, one: Set, other: Set) -> Set {
        if one == other || other == Set::NOTHING {
            return one;
        }
        if one == Set::NOTHING {
            return other;
        }
        if one == Set::EVERYTHING || other == Set::EVERYTHING {
            return Set::EVERYTHING;
        }
        let key = (one.min(other), one.max(other));
        if let Some(&known) = self.unions.get(&key) {
            return known;
        }
        let mut members = self.members[one.0 as usize].to_vec();
        members.extend_from_slice(&self.members[other.0 as usize]);
        members.sort_unstable();
        members.dedup();
        let set = match members.len() {
            0..=LARGEST => self.number(members.into()),
            _ => Set::EVERYTHING,
        };
        self.unions.insert(key, set);
        set
    }

    /// The sites of a set in ascending order, and whether it has what was read before. `None` for
    /// [`Set::EVERYTHING`].
    pub fn sources(&self, set: Set) -> Option<(Vec<u32>, bool)> {
        if set == Set::EVERYTHING {
            return None;
        }
        let members = &self.members[set.0 as usize];
        let before = members.first() == Some(&BEFORE_MEMBER);
        let sites = members.iter().filter(|member| **member != BEFORE_MEMBER);
        Some((sites.map(|member| member - 1).collect(), before))
    }

    fn number(&mut self, members: Box<[u32]>) -> Set {
        if let Some(&known) = self.numbers.get(&members) {
            return known;
        }
        let set = Set(self.members.len() as u32);
        self.members.push(members.clone());
        self.numbers.insert(members, set);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_have_all_members_once() {
        let mut sets = Sets::default();
        let (one, two) = (sets.site(1), sets.site(2));
        let both = sets.union(one, two);
        assert_eq!(sets.union(two, one), both);
        assert_eq!(sets.union(both, one), both);
        assert_eq!(sets.sources(both), Some((vec![1, 2], false)));
        let given = sets.union(Set::BEFORE, both);
        assert_eq!(sets.sources(given), Some((vec![1, 2], true)));
        assert_eq!(sets.union(given, Set::EVERYTHING), Set::EVERYTHING);
        assert_eq!(sets.union(Set::NOTHING, given), given);
        assert_eq!(sets.sources(Set::EVERYTHING), None);
    }

    #[test]
    fn a_set_that_grows_too_large_is_everything() {
        let mut sets = Sets::default();
        let mut set = Set::NOTHING;
        for site in 0..LARGEST as u32 {
            let more = sets.site(site);
            set = sets.union(set, more);
        }
        assert_eq!(sets.sources(set).unwrap().0.len(), LARGEST);
        let more = sets.site(LARGEST as u32);
        assert_eq!(sets.union(set, more), Set::EVERYTHING);
    }
}
