//! Puts the halves of races and the parts of deadlocks of one file together, and finds those
//! without partners.

use crate::mark::{DeadlockClaim, RaceClaim};
use crate::{Deadlock, Located, Problem, Race};

/// Every pair of mirrored marks once; a mark without its mirror is an error. Marks whose partner is
/// in another file are left out.
pub(crate) fn races(claims: &[RaceClaim], line_count: u32) -> Located<Vec<Race>> {
    let mut races = Vec::new();
    for claim in claims.iter().filter(|claim| claim.file.is_none()) {
        if claim.partner > line_count {
            return Err((claim.line, Problem::NoSuchLine(claim.partner)));
        }
        let mirrored = claims.iter().any(|other| {
            (other.line, other.partner) == (claim.partner, claim.line)
                && other.file.is_none()
                && (&other.object, other.weak) == (&claim.object, claim.weak)
        });
        if !mirrored {
            let object = claim.object.clone();
            return Err((
                claim.line,
                Problem::Unmirrored {
                    partner: claim.partner,
                    object,
                },
            ));
        }
        let lines = (claim.line.min(claim.partner), claim.line.max(claim.partner));
        races.push(Race {
            lines,
            object: claim.object.clone(),
            weak: claim.weak,
        });
    }
    races.sort();
    races.dedup();
    Ok(races)
}

/// Every deadlock once: the requests that name each other.
pub(crate) fn deadlocks(claims: &[DeadlockClaim], line_count: u32) -> Located<Vec<Deadlock>> {
    let mut deadlocks = Vec::new();
    for claim in claims {
        let line = claim.request.line;
        let mut requests = Vec::new();
        for &partner in &claim.partners {
            if partner > line_count {
                return Err((line, Problem::NoSuchLine(partner)));
            }
            let mirror = claims.iter().find(|other| {
                other.request.line == partner && waiting_lines(other) == waiting_lines(claim)
            });
            let Some(mirror) = mirror else {
                let object = claim.request.waits_for.clone();
                return Err((line, Problem::Unmirrored { partner, object }));
            };
            requests.push(mirror.request.clone());
        }
        requests.push(claim.request.clone());
        requests.sort();

        let awaited = |held: &&String| requests.iter().any(|request| request.waits_for == **held);
        if let Some(in_vain) = claim.request.holds.iter().find(|held| !awaited(held)) {
            return Err((line, Problem::HeldInVain(in_vain.clone())));
        }
        deadlocks.push(Deadlock { requests });
    }
    deadlocks.sort();
    deadlocks.dedup();
    Ok(deadlocks)
}

/// The lines on which the threads of a claimed deadlock wait, its own included.
fn waiting_lines(claim: &DeadlockClaim) -> Vec<u32> {
    let mut lines = claim.partners.clone();
    lines.push(claim.request.line);
    lines.sort_unstable();
    lines
}

#[cfg(test)]
mod tests {
    use crate::Oracle;

    fn error(text: &str) -> String {
        Oracle::parse("a.c", text).unwrap_err().to_string()
    }

    #[test]
    fn a_pair_is_one_race_whichever_way_it_is_read() {
        let text = "x++; // RACE: x with line 3\n\nx++; // RACE: x with line 1\n";
        let oracle = Oracle::parse("a.c", text).unwrap();
        assert_eq!(oracle.races.len(), 1);
        assert_eq!(oracle.race(3, 1), oracle.race(1, 3));
        assert!(oracle.race(1, 1).is_none());
    }

    #[test]
    fn a_line_that_races_with_itself_mirrors_itself() {
        let oracle = Oracle::parse("a.c", "x++; // RACE: x with line 1\n").unwrap();
        assert_eq!(oracle.races[0].lines, (1, 1));
    }

    #[test]
    fn a_race_needs_its_mirror() {
        let missing = "x++; // RACE: x with line 2\nx++;\n";
        assert_eq!(
            error(missing),
            "a.c:1: line 2 does not mirror this mark for `x`"
        );
        let other_object = "x++; // RACE: x with line 2\ny++; // RACE: y with line 1\n";
        assert_eq!(
            error(other_object),
            "a.c:1: line 2 does not mirror this mark for `x`"
        );
        let half_weak = "x++; // RACE: x with line 2 (weak)\nx++; // RACE: x with line 1\n";
        assert_eq!(
            error(half_weak),
            "a.c:1: line 2 does not mirror this mark for `x`"
        );
        assert_eq!(
            error("x++; // RACE: x with line 2\n"),
            "a.c:1: there is no line 2"
        );
    }

    #[test]
    fn a_cycle_of_three_is_one_deadlock() {
        let text = "\
lock(b); // DEADLOCK: waits for b holding a, with lines 2, 3
lock(c); // DEADLOCK: waits for c holding b, with lines 1, 3
lock(a); // DEADLOCK: waits for a holding c, with lines 2, 1
";
        let oracle = Oracle::parse("a.c", text).unwrap();
        assert_eq!(oracle.deadlocks.len(), 1);
        assert_eq!(oracle.deadlock(&[3, 1, 2]).unwrap().requests.len(), 3);
        assert!(oracle.deadlock(&[1, 2]).is_none());
    }

    #[test]
    fn two_threads_on_one_line_are_two_requests() {
        let text = "lock(b); // DEADLOCK: waits for m holding m, with line 1\n";
        let oracle = Oracle::parse("a.c", text).unwrap();
        assert_eq!(oracle.deadlocks[0].requests.len(), 2);
        assert!(oracle.deadlock(&[1, 1]).is_some());

        let alone = Oracle::parse("a.c", "lock(b); // DEADLOCK: waits for m holding m\n").unwrap();
        assert_eq!(alone.deadlocks[0].requests.len(), 1);
    }

    #[test]
    fn a_deadlock_needs_all_its_mirrors() {
        let text = "\
lock(b); // DEADLOCK: waits for b holding a, with line 2
lock(a); // DEADLOCK: waits for a holding b, with lines 1, 3
lock(c); // DEADLOCK: waits for c holding c
";
        assert_eq!(
            error(text),
            "a.c:1: line 2 does not mirror this mark for `b`"
        );
        let far = "lock(b); // DEADLOCK: waits for b holding a, with line 7\n";
        assert_eq!(error(far), "a.c:1: there is no line 7");
    }

    #[test]
    fn what_is_held_in_a_deadlock_is_waited_for() {
        let text = "\
lock(b); // DEADLOCK: waits for b holding a, with line 2
lock(c); // DEADLOCK: waits for c holding b, with line 1
";
        let unrelated = "`a` is held here, but no request of this deadlock waits for it";
        assert_eq!(error(text), format!("a.c:1: {unrelated}"));
    }

    #[test]
    fn verdicts_do_not_contradict_each_other() {
        let racy = "// NORACE\nx++; // RACE: x with line 2\n";
        assert_eq!(
            error(racy),
            "a.c:2: `NORACE` and `RACE` contradict each other"
        );
        let same_line = "x++; // RACE: x with line 1 // NORACE: x\n";
        assert_eq!(
            error(same_line),
            "a.c:1: `NORACE` and `RACE` contradict each other"
        );
        let stuck = "// NODEADLOCK\nlock(m); // DEADLOCK: waits for m holding m\n";
        assert_eq!(
            error(stuck),
            "a.c:2: `NODEADLOCK` and `DEADLOCK` contradict each other"
        );
    }
}
