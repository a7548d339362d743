//! What is new since an earlier report.

use std::collections::BTreeSet;

use deadheat_report::Finding;

/// How findings compare with those of an earlier report, by their names.
#[derive(Debug, PartialEq, Eq)]
pub struct Compared {
    /// Those that are to be shown and were not there.
    pub new: Vec<Finding>,
    /// How many of those that were to be shown were there.
    pub known: usize,
    /// How many that were there are no longer, shown or not.
    pub gone: usize,
}

/// The names of findings.
pub fn names(findings: &[Finding]) -> BTreeSet<String> {
    findings.iter().map(|finding| finding.id.clone()).collect()
}

/// Compares findings with an earlier report: of those that are `shown`, and of all that there are `now`.
pub fn compare(shown: Vec<Finding>, now: &BTreeSet<String>, before: &BTreeSet<String>) -> Compared {
    let (known, new): (Vec<_>, Vec<_>) = shown
        .into_iter()
        .partition(|finding| before.contains(&finding.id));
    Compared {
        new,
        known: known.len(),
        gone: before.difference(now).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_report::{Kind, Rung};

    fn finding(id: &str) -> Finding {
        let mut finding = Finding::new(Kind::Race, Rung::Witness, "hb", Vec::new());
        finding.id = id.to_owned();
        finding
    }

    #[test]
    fn new_known_and_gone() {
        let shown = vec![finding("a"), finding("b")];
        let now = names(&[finding("a"), finding("b"), finding("hidden")]);
        let before = names(&[finding("b"), finding("hidden"), finding("c")]);
        let compared = compare(shown, &now, &before);
        assert_eq!(compared.new, [finding("a")]);
        assert_eq!((compared.known, compared.gone), (1, 1));
    }
}
