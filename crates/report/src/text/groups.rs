//! Many findings of one variable are one group: the first few in full, some more in a line each, and how many there are.
//!
//! A variable is what was declared at one place, or all that was allocated at one place.

use rustc_hash::FxHashMap;

use super::{Look, finding, in_a_line, printable};
use crate::finding::{Finding, Kind, Memory, Rung};

/// Up to so many findings of a variable are all told in full.
const FEW: usize = 8;
/// Of more so many are,
const IN_FULL: usize = 3;
/// and so many in a line.
const IN_A_LINE: usize = 10;

/// What findings have in common: what they are, and the variable's name.
type Key = (Kind, Rung, String);

/// Findings in a few lines each, one after the other; those of a group that are not told in full behind its last one that is.
pub fn findings<'f>(all: impl IntoIterator<Item = &'f Finding>, look: &Look) -> Vec<String> {
    let all: Vec<&Finding> = all.into_iter().collect();
    let mut groups: FxHashMap<Key, Vec<&Finding>> = FxHashMap::default();
    let keys: Vec<Option<Key>> = all.iter().map(|finding| key(finding)).collect();
    for (finding, key) in all.iter().zip(&keys) {
        if let Some(key) = key {
            groups.entry(key.clone()).or_default().push(finding);
        }
    }
    let mut told: FxHashMap<&Key, usize> = FxHashMap::default();
    let mut out = Vec::new();
    for (one, key) in all.iter().zip(&keys) {
        let group = key.as_ref().and_then(|key| Some((key, groups.get(key)?)));
        let Some((key, group)) = group.filter(|(_, group)| group.len() > FEW) else {
            out.push(finding(one, look));
            continue;
        };
        let number = told.entry(key).or_default();
        *number += 1;
        if *number <= IN_FULL {
            out.push(finding(one, look));
        }
        if *number == IN_FULL {
            out.push(rest(&key.2, &group[IN_FULL..]));
        }
    }
    out
}

fn rest(variable: &str, group: &[&Finding]) -> String {
    let (kind, name) = (group[0].kind.name(), printable(variable));
    let mut out = format!("{} more of this {kind} on {name}:\n", group.len());
    for finding in group.iter().take(IN_A_LINE) {
        out.push_str(&format!("  {}\n", in_a_line(finding)));
    }
    match group.len().saturating_sub(IN_A_LINE) {
        0 => {}
        more => out.push_str(&format!(
            "  and {more} more, which all other forms of the report have\n"
        )),
    }
    out
}

fn key(finding: &Finding) -> Option<Key> {
    let object = finding.object.as_ref()?;
    let variable = match &object.memory {
        Memory::Global { variable, .. } => variable.clone(),
        Memory::Heap { allocated_at, .. } => match allocated_at.is_empty() {
            true => return None,
            false => {
                let at = crate::own_place(allocated_at).told();
                format!("memory that was allocated at {at}")
            }
        },
        Memory::Variable => object.name.clone(),
        Memory::Stack { .. } | Memory::Unknown => return None,
    };
    Some((finding.kind, finding.rung, variable))
}
