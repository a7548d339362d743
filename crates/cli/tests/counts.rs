//! Prediction across joins by reference counts: threads of a scope, handles that are dropped.

mod support;

use support::Sandbox;
use support::findings::{found, of_kind};

const ZOO: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../programs/rust/zoo/src/bin"
);
const SEEDS: u32 = 6;

/// Two threads of a scope take two mutexes in opposite orders.
const OPPOSITE: &str = r#"
use std::sync::Mutex;
use std::thread;

static A: Mutex<u32> = Mutex::new(0);
static B: Mutex<u32> = Mutex::new(0);

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut a = A.lock().unwrap();
            let mut b = B.lock().unwrap();
            (*a, *b) = (*a + 1, *b + 1);
        });
        scope.spawn(|| {
            let mut b = B.lock().unwrap();
            let mut a = A.lock().unwrap();
            (*a, *b) = (*a + 1, *b + 1);
        });
    });
    println!("{} {}", *A.lock().unwrap(), *B.lock().unwrap());
}
"#;

/// What `check` finds in one run, without trying other orders. (The program prints, too.)
fn checked(here: &Sandbox, seed: u32, source: &str) -> serde_json::Value {
    let seed = seed.to_string();
    let mut check = here.deadheat(["check", "--seed", &seed, "--orders", "0", source]);
    let output = check.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 66)), "{told}");
    found(here, &["report"])
}

/// Of how many recorded runs it is proven and confirmed, without trying other orders.
fn confirmed(here: &Sandbox, source: &str, kind: &str) -> u32 {
    let is_confirmed = |seed: &u32| {
        let report = checked(here, *seed, source);
        let findings = of_kind(&report, kind);
        findings
            .iter()
            .any(|finding| finding["rung"] == "confirmed")
    };
    (0..SEEDS).filter(is_confirmed).count() as u32
}

#[test]
fn a_race_of_scoped_threads_is_proven_from_most_runs() {
    let source = format!("{ZOO}/scoped_counter_race.rs");
    assert!(confirmed(&Sandbox::new(), &source, "race") > SEEDS / 2);
}

#[test]
fn a_deadlock_of_scoped_threads_is_proven_from_most_runs() {
    let here = Sandbox::new();
    here.file("opposite.rs", OPPOSITE);
    assert!(confirmed(&here, "opposite.rs", "deadlock") > SEEDS / 2);
}

#[test]
fn what_the_count_orders_is_no_race() {
    for program in ["scoped_order", "arc_last_owner", "arc_exact_count"] {
        let source = format!("{ZOO}/{program}.rs");
        assert_eq!(confirmed(&Sandbox::new(), &source, "race"), 0, "{program}");
    }
}

/// A witness that skips the release: what it tells, its replay, and prediction from its trace.
#[test]
fn a_witness_without_the_release_is_as_good_as_any() {
    let here = Sandbox::new();
    let source = format!("{ZOO}/scoped_counter_race.rs");
    let runs = (0..SEEDS).find_map(|seed| {
        let report = checked(&here, seed, &source);
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
    assert!(race["interleaving"].is_object(), "{race}");
    let id = race["id"].as_str().unwrap();
    for more in [["--times", "3"], ["--order", "ab"], ["--order", "ba"]] {
        let output = here.deadheat(["replay", id]).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(66), "{output:?}");
    }
    // None of what is skipped is a goal.
    let skipped = file["skipped"][0].as_array().unwrap();
    let (first, last) = (skipped[1].as_u64(), skipped[2].as_u64());
    for next in file["next"].as_array().unwrap() {
        let index = next["index"].as_u64();
        assert!(index < first || index > last, "{file}");
    }
}
