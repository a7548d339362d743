//! Findings of several reports as one list, each finding once.

use rustc_hash::FxHashMap;

use crate::Finding;

/// Every finding once: of those with the same name the surest, counted together. Races first, surest first.
///
/// ```
/// use deadheat_report::{Finding, Kind, Rung, merged};
/// let one = Finding::new(Kind::Race, Rung::Warning, "hybrid", Vec::new());
/// let same = Finding::new(Kind::Race, Rung::Witness, "maximal", Vec::new());
/// let all = merged([one, same]);
/// assert_eq!((all.len(), all[0].rung, all[0].count), (1, Rung::Witness, 2));
/// ```
pub fn merged(findings: impl IntoIterator<Item = Finding>) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    for finding in findings {
        let Some(at) = places.get(&finding.id) else {
            places.insert(finding.id.clone(), all.len());
            all.push(finding);
            continue;
        };
        let known = &mut all[*at];
        let count = known.count.saturating_add(finding.count);
        if finding.rung > known.rung {
            *known = finding;
        }
        known.count = count;
    }
    all.sort_by_key(|finding| (finding.kind, std::cmp::Reverse(finding.rung)));
    all
}
