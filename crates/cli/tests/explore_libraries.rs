//! What code of libraries does belongs to the line that calls it, and a wait in it is one.

mod support;

use serde_json::Value;
use support::Sandbox;
use support::findings::of_kind;

fn explore(here: &Sandbox, file: &str, more: &[&str]) -> Value {
    let options = ["explore", "--format", "json", "-o", "found.json"];
    let told = here.told(here.deadheat(options).args(more).arg(file));
    assert!(told.starts_with("exit: 66"), "{told}");
    let report = std::fs::read_to_string(here.path().join("found.json")).unwrap();
    serde_json::from_str(&report).unwrap()
}

/// Both stores are one instruction of the standard library.
const STORES: &str = r#"
use std::sync::atomic::{AtomicI32, Ordering};
static A: AtomicI32 = AtomicI32::new(0);
fn main() {
    let reader = std::thread::spawn(|| unsafe { *A.as_ptr() });
    let writer = std::thread::spawn(|| {
        A.store(1, Ordering::Release);
        A.store(2, Ordering::Release);
    });
    let _ = (reader.join(), writer.join());
}
"#;

#[test]
fn a_race_is_found_for_each_line_that_calls_a_library() {
    let here = Sandbox::new();
    here.file("p.rs", STORES);
    let report = explore(&here, "p.rs", &[]);
    let races = of_kind(&report, "race");
    assert!(races.iter().all(|race| race["rung"] == "confirmed"));
    let mut lines: Vec<u64> = races
        .iter()
        .flat_map(|race| race["accesses"].as_array().unwrap())
        .filter_map(|access| access["line"].as_u64())
        .filter(|line| *line > 5)
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, [7, 8], "{report:#}");
}

/// Nobody else comes to the barrier.
const BARRIER: &str = r#"
#include <barrier>
#include <thread>
std::barrier<> both(2);
int main() {
    std::thread one([] { both.arrive_and_wait(); });
    one.join();
}
"#;

#[test]
fn a_deadlock_at_a_barrier_of_cpp20_is_confirmed() {
    let here = Sandbox::new();
    here.file("p.cpp", BARRIER);
    let report = explore(&here, "p.cpp", &["--cflags", "-std=c++20 -O0"]);
    let deadlocks = of_kind(&report, "deadlock");
    assert_eq!(deadlocks.len(), 1, "{report:#}");
    assert_eq!(deadlocks[0]["rung"], "confirmed", "{report:#}");
    assert_eq!(deadlocks[0]["accesses"][0]["line"], 6, "{report:#}");
}

/// Two rounds of a barrier of Rust's, and what is handed over in each.
const ROUNDS: &str = r#"
use std::sync::{Arc, Barrier};
static mut FIRST: i32 = 0;
static mut SECOND: i32 = 0;
fn main() {
    let barrier = Arc::new(Barrier::new(2));
    let same = barrier.clone();
    let thread = std::thread::spawn(move || {
        unsafe { FIRST = 3 };
        same.wait();
        same.wait();
        unsafe { SECOND }
    });
    barrier.wait();
    unsafe { SECOND = FIRST };
    barrier.wait();
    assert_eq!(thread.join().unwrap(), 3);
}
"#;

#[test]
fn whoever_leaves_a_barrier_of_rust_knows_what_all_did_before() {
    let here = Sandbox::new();
    here.file("p.rs", ROUNDS);
    let told = here.told(&mut here.deadheat(["explore", "p.rs"]));
    assert!(told.starts_with("exit: 0"), "{told}");
    assert!(told.contains("all orders that can be told apart"), "{told}");
    assert!(!told.contains("unconfirmed"), "{told}");
}
