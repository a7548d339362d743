//! What is new since an earlier report.
//!
//! Findings are the same if their names are. A name has the lines of the places, and lines move when other code
//! changes: a finding with a new name stands for one that is gone if both have the same fingerprint.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_report::Finding;

/// How findings compare with those of an earlier report.
#[derive(Debug, PartialEq, Eq)]
pub struct Compared {
    /// Those that are to be shown and were not there.
    pub new: Vec<Finding>,
    /// How many of those that were to be shown were there.
    pub known: usize,
    /// How many that were there are no longer, shown or not.
    pub gone: usize,
}

/// Compares findings with an earlier report: those that are `shown`, and the `others` of the same reports.
pub fn compare(shown: Vec<Finding>, others: &[Finding], before: &[Finding]) -> Compared {
    let then: BTreeSet<&str> = before.iter().map(|finding| &*finding.id).collect();
    let now = shown.iter().chain(others);
    let now: BTreeSet<String> = now.map(|finding| finding.id.clone()).collect();
    // What is gone, by fingerprint: how often.
    let mut gone: BTreeMap<String, usize> = BTreeMap::new();
    for finding in before.iter().filter(|finding| !now.contains(&finding.id)) {
        *gone.entry(finding.fingerprint()).or_default() += 1;
    }
    let mut is_known = |finding: &Finding| {
        if then.contains(&*finding.id) {
            return true;
        }
        let moved = gone.get_mut(&finding.fingerprint());
        let moved = moved.filter(|many| **many > 0);
        moved.map(|many| *many -= 1).is_some()
    };
    let (known, new): (Vec<Finding>, Vec<Finding>) = shown.into_iter().partition(&mut is_known);
    for other in others {
        is_known(other);
    }
    Compared {
        new,
        known: known.len(),
        gone: gone.values().sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_report::{Kind, Memory, Object, Rung};

    fn finding(id: &str, object: &str) -> Finding {
        let mut finding = Finding::new(Kind::Race, Rung::Witness, "hb", Vec::new());
        finding.id = id.to_owned();
        finding.object = Some(Object {
            name: object.to_owned(),
            address: 0,
            size: 1,
            memory: Memory::Unknown,
        });
        finding
    }

    #[test]
    fn new_known_and_gone() {
        let shown = vec![finding("a", "x"), finding("b", "y")];
        let others = [finding("hidden", "z")];
        let before = [finding("b", "y"), finding("hidden", "z"), finding("c", "w")];
        let compared = compare(shown, &others, &before);
        assert_eq!(compared.new, [finding("a", "x")]);
        assert_eq!((compared.known, compared.gone), (1, 1));
    }

    #[test]
    fn what_has_moved_is_known_once() {
        let before = [finding("a", "x"), finding("b", "y")];
        let shown = vec![finding("moved", "x"), finding("second", "x")];
        let compared = compare(shown, &[finding("hidden", "y")], &before);
        assert_eq!(compared.new, [finding("second", "x")]);
        assert_eq!((compared.known, compared.gone), (1, 0));
    }
}
