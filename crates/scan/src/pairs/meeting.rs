//! Which groups of accesses can meet at all, by the types of what they access: in a large class of memory most are of members of different structures.

use std::collections::BTreeMap;

use crate::analysis::Analysis;
use crate::members;

use super::Group;

/// Who can meet whom.
pub(super) struct Meeting {
    /// Which of the lists is a group's.
    list_of: Vec<usize>,
    /// Groups that those of one member may meet, in their order.
    lists: Vec<Vec<usize>>,
}

impl Meeting {
    /// Looks at the groups of one class.
    pub fn of(analysis: &Analysis, groups: &[Group]) -> Self {
        let mut by_member: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
        for (number, group) in groups.iter().enumerate() {
            let deed = &group.deeds[0];
            let member = analysis.members.number(deed.site, deed.writes());
            by_member.entry(member).or_default().push(number);
        }
        let mut meeting = Meeting {
            list_of: vec![0; groups.len()],
            lists: Vec::new(),
        };
        for (member, own) in &by_member {
            let fits = |other: &Option<u32>| {
                let [one, other] = [member, other]
                    .map(|number| number.and_then(|number| analysis.members.get(number)));
                one.is_none()
                    || other.is_none()
                    || members::may_be_same(analysis.program, (one, 0), (other, 0))
            };
            let fitting = by_member.iter().filter(|(other, _)| fits(other));
            let mut all: Vec<usize> = fitting.flat_map(|(_, numbers)| numbers).copied().collect();
            all.sort_unstable();
            for number in own {
                meeting.list_of[*number] = meeting.lists.len();
            }
            meeting.lists.push(all);
        }
        meeting
    }

    /// The groups that one may meet: itself and later ones.
    pub fn from(&self, group: usize) -> &[usize] {
        let all = &self.lists[self.list_of[group]];
        let from = all.partition_point(|number| *number < group);
        &all[from..]
    }
}
