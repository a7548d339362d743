//! What assembly in the program's own functions may order, and nobody sees.
//!
//! Two accesses that nothing orders, as far as is seen, may be ordered by a lock that is made of assembly. So in a program that
//! has such instructions only that is called a race which was seen to stand: both threads in front of their accesses. All
//! else is a warning that names the place.

use deadheat_report::{Binaries, Evidence, Finding, Kind, Names, Rung, own_place};
use deadheat_trace::Tables;

/// How many places are named.
const SHOWN: usize = 3;

/// Where the program's own code, as it was recorded, has atomic instructions in assembly.
pub fn places(tables: &Tables) -> Vec<String> {
    let names = Names::of(tables);
    let binaries = Binaries::of(tables);
    let mut places = Vec::new();
    for module in &tables.modules {
        let Some((binary, _)) = binaries.find_address(module.start) else {
            continue;
        };
        for address in binary.unannounced_atomics() {
            let place = own_place(&names.frames_at(address.wrapping_add(module.bias) + 1));
            let told = place.told();
            if !place.is_foreign() && place.line.is_some() && !places.contains(&told) {
                places.push(told);
            }
        }
    }
    places
}

/// Takes races back that assembly may refute; what to tell the user, if there were such.
pub fn take_back(findings: &mut [Finding], tables: &Tables) -> Option<String> {
    let rests = |finding: &&mut Finding| {
        let stood =
            finding.rung == Rung::Confirmed && finding.evidence != Some(Evidence::Unordered);
        finding.kind == Kind::Race && finding.rung > Rung::Warning && !stood
    };
    if !findings.iter_mut().any(|finding| rests(&finding)) {
        return None;
    }
    let places = places(tables);
    if places.is_empty() {
        return None;
    }
    let shown = places[..places.len().min(SHOWN)].join(", ");
    for finding in findings.iter_mut().filter(rests) {
        finding.rung = Rung::Warning;
        finding
            .reasons
            .push(format!("assembly at {shown} may order the accesses unseen"));
    }
    Some(format!(
        "atomic instructions in assembly are not seen ({shown}): races that did not stand when they were enforced are warnings"
    ))
}
