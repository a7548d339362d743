//! Prediction across joins by reference counts: threads of a scope, handles that are dropped.

mod support;

use std::path::Path;

use support::findings::{found, of_kind};
use support::{Sandbox, succeed};

const ZOO: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../programs/rust/zoo/src/bin"
);
const SEEDS: u32 = 6;

/// Of how many recorded runs it is proven and confirmed, without trying other orders.
fn confirmed(program: &str, kind: &str) -> u32 {
    let here = Sandbox::new();
    let source = Path::new(ZOO).join(program).with_extension("rs");
    let source = source.display().to_string();
    let is_confirmed = |seed: &u32| {
        let seed = seed.to_string();
        let report = found(&here, &["check", "--seed", &seed, "--orders", "0", &source]);
        let findings = of_kind(&report, kind);
        findings
            .iter()
            .any(|finding| finding["rung"] == "confirmed")
    };
    (0..SEEDS).filter(is_confirmed).count() as u32
}

#[test]
fn a_race_of_scoped_threads_is_proven_from_most_runs() {
    assert!(confirmed("scoped_counter_race", "race") > SEEDS / 2);
}

#[test]
fn a_deadlock_of_scoped_threads_is_proven_from_most_runs() {
    assert!(confirmed("scoped_mutex_deadlock", "deadlock") > SEEDS / 2);
}

#[test]
fn what_the_count_orders_is_no_race() {
    for program in ["scoped_order", "arc_last_owner", "arc_exact_count"] {
        assert_eq!(confirmed(program, "race"), 0, "{program}");
    }
}

/// A witness that skips the release: what it tells, its replay, and prediction from its trace.
#[test]
fn a_witness_without_the_release_is_as_good_as_any() {
    let here = Sandbox::new();
    let source = format!("{ZOO}/scoped_counter_race.rs");
    let runs = (0..SEEDS).find_map(|seed| {
        let seed = seed.to_string();
        let report = found(&here, &["check", "--seed", &seed, "--orders", "0", &source]);
        let race = of_kind(&report, "race").first().cloned().cloned()?;
        let witness = here.path().join(race["witness"].as_str()?);
        let text = std::fs::read_to_string(witness).unwrap();
        let file: serde_json::Value = serde_json::from_str(&text).unwrap();
        let skips = file["skipped"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        skips.then_some((race, file))
    });
    let (race, file) = runs.expect("a run in which the creator was the last owner");
    let (threads, next) = (file["schedule"].to_string(), file["next"].to_string());
    assert!(race["interleaving"].is_object(), "{race}");
    let id = race["id"].as_str().unwrap();
    succeed(&mut here.deadheat(["replay", id, "--times", "3"]));
    for order in ["ab", "ba"] {
        succeed(&mut here.deadheat(["replay", id, "--order", order]));
    }
    assert!(!threads.is_empty() && next.contains("thread"), "{file}");
}
